import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Field, Rrd } from "../../../../src/research/generated/rrd.js";
import { editResearch } from "../../../../src/research/project-files/edit-by-command.js";
import { answersFor, fieldAgreements } from "../../../../src/research/units/form/agreement.js";
import { type Filler, reopenForms } from "../../../../src/research/units/form/open-forms.js";
import { derive } from "../../../../src/research/workflow/derive.js";
import { goodAgent, library, paper, reading, researchFolder, rrdWith } from "../../../support/projects/research.js";

const minutes: Field = { id: "minutes", name: "minutes", type: "number" };
const size: Field = { id: "size", name: "sample size", type: "number", ask: "how many samples" };
const takes14 = { value: 14, quotes: ["It needs 14 minutes on one machine."] };
const has1200 = { value: 1200, quotes: ["The method reached 87.5 % accuracy on 1,200 samples."] };

const rrdOf = (fields: readonly Field[], ...ids: string[]): Rrd => {
  const rrd = rrdWith(ids.map((id) => paper(id)));
  const handoff = { product_ideation: { enabled: false } };
  return { ...rrd, handoff, requirements: { ...rrd.requirements, fields: [...fields] } };
};

/** Units of forms that the agent was given, with their briefs; and what each answers. */
function formsBy(answers: (unit: string) => object) {
  const forms: { unit: string; brief: string }[] = [];
  const agent = goodAgent((data, brief) => {
    const unit = String(data["unit"]);
    if (data["kind"] === "paper") return { result: { ...reading(unit), fields: { minutes: takes14 } } };
    if (data["kind"] !== "extract") return undefined;
    forms.push({ unit, brief });
    return { result: { unit, fields: answers(unit) } };
  });
  return { agent, forms };
}

const opened = (folder: string, fields: readonly Field[], ...fillers: Filler[]) =>
  editResearch(
    folder,
    (rrd) => reopenForms({ ...rrd, requirements: { ...rrd.requirements, fields: [...fields] } }, fillers),
    { derive, git: false, notify: () => {} },
  );
const reportIn = (folder: string) => readFileSync(join(folder, "research-report.md"), "utf8");

describe("a field that is added to a finished project", () => {
  test("is asked of each paper that was read, from its text alone, and the table has it", async () => {
    const project = researchFolder(rrdOf([minutes], "p1", "p2"));
    const { agent, forms } = formsBy(() => ({ size: has1200 }));
    expect((await project.run(agent)).verdict.verdict).toBe("complete");
    expect(forms).toEqual([]);
    await opened(project.folder, [minutes, size], "first");
    const { verdict, rrd } = await project.run(agent);
    expect(verdict.verdict).toBe("complete");
    expect(forms.map(({ unit }) => unit)).toEqual(["extract-first-p1", "extract-first-p2"]);
    const [{ brief } = { brief: "" }] = forms;
    expect(brief).toContain("- size (number, the figure alone): sample size: how many samples");
    for (const other of ["minutes (number", "What happened so far", "It is accurate.", "Small matters."])
      expect(brief).not.toContain(other);
    expect(rrd.papers_pool.map((each) => each.extracted)).toMatchObject([
      [{ field: "minutes" }, { field: "size", value: "1200", status: "verified", by: "scripted" }],
      [{ field: "minutes" }, { field: "size", value: "1200", status: "verified" }],
    ]);
    expect(rrd.papers_pool.map((each) => each.fill_form)).toEqual([null, null]);
    expect(reportIn(project.folder)).toContain("[14 ✓](#p1-f1) | [1200 ✓](#p1-f2)");
  });

  test("goes on where a limit or a kill has ended it, and counts to the limits", async () => {
    const project = researchFolder(rrdOf([minutes], "p1", "p2"));
    const { agent, forms } = formsBy(() => ({ size: has1200 }));
    await project.run(agent);
    await opened(project.folder, [minutes, size], "first");
    expect((await project.run(agent, 1)).verdict.verdict).toBe("limit");
    expect((await project.run(agent)).verdict.verdict).toBe("complete");
    expect(forms.map(({ unit }) => unit)).toEqual(["extract-first-p1", "extract-first-p2"]);
  });

  test("is not in the table once it asks something else, until it was asked again", async () => {
    const project = researchFolder(rrdOf([minutes], "p1"));
    const { agent, forms } = formsBy(() => ({ minutes: has1200 }));
    const { rrd: before } = await project.run(agent);
    const [read] = before.papers_pool;
    if (read === undefined) throw new Error("no paper");
    expect(answersFor(read, minutes).final).toMatchObject({ value: "14" });
    const changed = { ...minutes, ask: "how many samples" };
    expect(answersFor(read, changed).final).toBeUndefined();
    await opened(project.folder, [changed], "first");
    const { rrd } = await project.run(agent);
    expect(forms).toHaveLength(1);
    expect(rrd.papers_pool[0]?.extracted).toMatchObject([{ field: "minutes", value: "1200" }]);
  });

  test("is left open, and the run ends complete, where what an agent gives is refused again and again", async () => {
    const project = researchFolder(rrdOf([minutes], "p1"));
    const { agent, forms } = formsBy(() => ({ size: { value: 9, quotes: ["We asked nine hundred people."] } }));
    await project.run(agent);
    await opened(project.folder, [minutes, size], "first");
    const { verdict, rrd } = await project.run(agent);
    expect(verdict.verdict).toBe("complete");
    expect(forms).toHaveLength(3);
    const [, given] = rrd.papers_pool[0]?.extracted ?? [];
    expect(given).toMatchObject({ status: "not-answered", reason: "The agent's answers were refused 3 times." });
    expect(given).not.toHaveProperty("value");
  });

  test("starts no agent for a paper whose text is gone and that has no abstract", async () => {
    const project = researchFolder(rrdOf([minutes], "p1"));
    const { agent, forms } = formsBy(() => ({ size: has1200 }));
    await project.run(agent);
    await opened(project.folder, [minutes, size], "first");
    const gone = library({ text: async () => ({ unavailable: "It is a scan." }) });
    await editResearch(
      project.folder,
      (rrd) => ({ ...rrd, papers_pool: rrd.papers_pool.map((each) => ({ ...each, abstract: null })) }),
      { derive, git: false, notify: () => {} },
    );
    const { verdict, rrd } = await researchFolderAt(project.folder, gone).run(agent);
    expect([verdict.verdict, forms.length]).toEqual(["complete", 0]);
    expect(rrd.papers_pool[0]?.extracted?.[1]).toMatchObject({ status: "not-answered" });
  });
});

/** The project of this folder with another library. */
function researchFolderAt(folder: string, given: ReturnType<typeof library>) {
  const rrd = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
  return researchFolder(rrd, given);
}

describe("a second agent", () => {
  const design: Field = { id: "design", name: "design", type: "choice", choices: ["one machine", "many machines"] };

  test("fills in the form alone, and where the two differ both passages are shown and a person decides", async () => {
    const project = researchFolder(rrdOf([minutes], "p1", "p2"));
    const { agent, forms } = formsBy((unit) => ({
      minutes: unit === "extract-second-p1" ? has1200 : { value: "14.0", quotes: takes14.quotes },
    }));
    const { rrd } = await project.run(agent, 40, { sharing: { second: true } });
    expect(forms.map(({ unit }) => unit)).toEqual(["extract-second-p1", "extract-second-p2"]);
    for (const { brief } of forms) for (const said of ["“", "verified", '"14"']) expect(brief).not.toContain(said);
    expect(rrd.papers_pool.map((each) => answersFor(each, minutes).agree)).toEqual([false, true]);
    expect(fieldAgreements(rrd)).toMatchObject([{ compared: 2, agreed: 1 }]);
    const report = reportIn(project.folder);
    expect(report).toContain("- minutes: 1 of 2 papers (50 %)");
    expect(report).toMatch(
      /\*\*scripted \(first\):\*\* 14 ✓[\s\S]*It needs[\s\S]*\*\*scripted \(second\):\*\* 1200 ✓[\s\S]*1,200 samples/,
    );
    const [first] = rrd.papers_pool;
    if (first === undefined) throw new Error("no paper");
    const settled = [{ field: "minutes", take: "second" as const, at: "2026-11-28T00:00:00.000Z" }];
    expect(answersFor({ ...first, settled }, minutes).final).toMatchObject({ value: "1200" });
  });

  test("agrees by chance as well, which kappa takes out for a choice", () => {
    const given = (value: string) => [{ field: "design", value, status: "verified" as const, evidence: [] }];
    const papers = ["one machine", "one machine", "many machines", "one machine"].map((value, index) =>
      paper(`p${index}`, {
        status: "presented",
        analysis: { summary: "It works." },
        extracted: given(value),
        extracted_again: given(index === 3 ? "many machines" : value),
      }),
    );
    const rrd = { ...rrdWith(papers), requirements: { fields: [design] } };
    // Observed 3/4; by chance 3/4 · 2/4 + 1/4 · 2/4 = 1/2.
    expect(fieldAgreements(rrd)).toMatchObject([{ compared: 4, agreed: 3, kappa: 0.5 }]);
  });
});
