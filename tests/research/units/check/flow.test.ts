import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ReportFile } from "../../../../src/research/generated/report.js";
import { readResearch } from "../../../../src/research/project-files/research.js";
import { meaningOf } from "../../../../src/research/report/narrative/meaning.js";
import type { CheckAnswer } from "../../../../src/research/units/check/sentence.js";
import { resetResearch, type ResetTarget } from "../../../../src/research/units/reset.js";
import { derive } from "../../../../src/research/workflow/derive.js";
import { statusOf } from "../../../../src/research/workflow/next-unit.js";
import { answerByWords, readPapers, type ShownSentence } from "../../../support/projects/passages-for-controls.js";
import { goodAgent, narrative, paper, researchFolder, rrdWith } from "../../../support/projects/research.js";

const project = () => rrdWith([paper("p1"), ...readPapers()], { handoff: { product_ideation: { enabled: false } } });

/** An agent that writes three findings, of which one says too much and one is made up, and judges by this. */
const agentThat = (
  judges: (shown: ShownSentence) => Omit<CheckAnswer, "number">,
  mends: (sentence: string) => string | null,
) =>
  goodAgent((unit) => {
    const shown = (unit["sentences"] ?? []) as readonly ShownSentence[];
    if (unit["kind"] === "report")
      return {
        result: narrative({
          findings: [
            { text: "Fourteen minutes are enough.", rests_on: ["p1#2"] },
            { text: "It needs 14 minutes on every machine.", rests_on: ["p1#2"] },
            { text: "It is cheaper than all others.", rests_on: ["p1#1"] },
          ],
        }),
      };
    if (unit["kind"] === "check")
      return { result: { unit: "check", answers: shown.map((each) => ({ number: each.number, ...judges(each) })) } };
    if (unit["kind"] === "mend")
      return {
        result: { unit: "mend", sentences: shown.map(({ number, sentence }) => ({ number, text: mends(sentence) })) },
      };
    return undefined;
  });

const judges = (shown: ShownSentence): Omit<CheckAnswer, "number"> => {
  const { sentence, passages } = shown;
  if (!passages.some(({ paper }) => paper === "p1")) return answerByWords(shown);
  if (sentence.includes("every machine"))
    return { verdict: "overstated", why: "One machine.", better: "It needs 14 minutes on one machine." };
  return sentence.includes("cheaper")
    ? { verdict: "not-supported", why: "Nothing of costs." }
    : { verdict: "supported" };
};

test("a checker whose answers ceased to count later does not unsay what was taken out", async () => {
  const given = researchFolder(project());
  const { rrd } = await given.run(
    agentThat(judges, () => null),
    40,
    { check: "reports" },
  );
  const said = JSON.parse(readFileSync(join(given.folder, "report.json"), "utf8")) as ReportFile;
  expect(said.not_borne_out).not.toHaveLength(0);
  const fallen = { scripted: { borne_out: { asked: 10, right: 5 }, not_borne_out: { asked: 10, right: 10 } } };
  const { says } = meaningOf(said, { ...rrd, meaning: { checkers: fallen } }) ?? { says: "" };
  expect(says).toContain("it did when sentences were taken out");
  expect(says).not.toContain("nothing was taken out");
});

test("a sentence that a checker whose answers do not count has judged too is not counted as supported", async () => {
  const given = researchFolder(project());
  const { rrd } = await given.run(
    agentThat(judges, () => null),
    40,
    { check: "reports" },
  );
  const said = JSON.parse(readFileSync(join(given.folder, "report.json"), "utf8")) as ReportFile;
  const countOf = (by: readonly string[]): number | undefined => {
    const findings = said.findings.map((each) => ({ ...each, check: each.check && { ...each.check, by: [...by] } }));
    return meaningOf({ ...said, findings } as ReportFile, rrd)?.supported;
  };
  const alone = countOf(["scripted"]) ?? 0;
  expect(alone).toBeGreaterThan(0);
  expect(countOf(["scripted", "newcomer"])).toBeLessThan(alone);
});

test("advice is put to no checker, and has no mark", async () => {
  const given = researchFolder(project());
  const asked: string[] = [];
  const agent = agentThat(
    (shown) => {
      asked.push(shown.sentence);
      return judges(shown);
    },
    () => null,
  );
  await given.run(agent, 40, { check: "reports" });
  const said = JSON.parse(readFileSync(join(given.folder, "report.json"), "utf8")) as ReportFile;
  const [advice] = said.recommendations;
  expect(advice?.rests_on).not.toHaveLength(0);
  expect(asked.length).toBeGreaterThan(0);
  expect(asked).not.toContain(advice?.text);
  expect(advice).not.toHaveProperty("check");
});

test("what is overstated is mended, what is made up is removed, and both are told", async () => {
  const given = researchFolder(project());
  const agent = agentThat(judges, (sentence) =>
    sentence.includes("every machine") ? "It needs 14 minutes on one machine." : sentence,
  );
  const { verdict, rrd, ledger } = await given.run(agent, 40, { check: "reports" });
  expect(verdict.verdict).toBe("complete");
  expect(ledger.map(({ unit, outcome }) => `${unit} ${outcome}`)).toEqual([
    ...["p1 accepted", "report accepted", "check accepted", "mend accepted", "check accepted"],
  ]);
  expect(rrd.meaning?.open).toBeUndefined();
  expect(rrd.papers_pool[0]?.analysis?.evidence?.map(({ check }) => check?.verdict)).toEqual([
    "supported",
    "supported",
  ]);
  const said = JSON.parse(readFileSync(join(given.folder, "report.json"), "utf8")) as ReportFile;
  expect(said.findings.map(({ text, check }) => [text, check?.verdict])).toEqual([
    ["Fourteen minutes are enough.", "supported"],
    ["It needs 14 minutes on one machine.", "supported"],
  ]);
  expect(said.findings[1]?.check).toMatchObject({ was: "It needs 14 minutes on every machine.", by: ["scripted"] });
  expect(said.not_borne_out).toMatchObject([
    { text: "It is cheaper than all others.", check: { verdict: "not-supported", why: "Nothing of costs." } },
  ]);
  const markdown = readFileSync(join(given.folder, "research-report.md"), "utf8");
  expect(markdown).toContain(
    "supported by the sentences they cite, checked by scripted, which wrote them, in a fresh context; 1 corrected; 1 removed.",
  );
  expect(markdown).toContain(
    "## Not supported\n\n- It is cheaper than all others. **[not supported, says scripted: Nothing of costs.]**",
  );
});

test("a reset of the check brings the report back as its writer left it, and the check is due again", async () => {
  const given = researchFolder(project());
  const mends = (sentence: string) =>
    sentence.includes("every machine") ? "It needs 14 minutes on one machine." : null;
  const { rrd: before } = await given.run(agentThat(judges, mends), 40, { check: "reports" });
  const reset = (target: ResetTarget) =>
    resetResearch(given.folder, target, { derive, git: false, now: () => Date.UTC(2026, 1, 3) });
  const said = () => JSON.parse(readFileSync(join(given.folder, "report.json"), "utf8")) as ReportFile;

  await expect(reset({ unit: "mend" })).rejects.toThrow("No sentence waits to be mended");
  expect(await reset({ unit: "check" })).toContain("The sentences of the report will be checked again.");
  expect(said().findings.map(({ text }) => text)).toEqual([
    ...["Fourteen minutes are enough.", "It needs 14 minutes on every machine.", "It is cheaper than all others."],
  ]);
  expect(JSON.stringify(said())).not.toContain('"check"');
  const { rrd, ledger } = await readResearch(given.folder);
  expect(JSON.stringify(rrd.papers_pool)).not.toContain('"check"');
  expect(rrd.meaning).toMatchObject({ checkers: before.meaning?.checkers, open: { step: "check" } });
  const done = ["discovery", "claims", "paper", "report", "ideas"];
  expect(statusOf(rrd, ledger)).toMatchObject({ phase: "ANALYSIS", done });

  const again = await given.run(agentThat(judges, mends), 40, { check: "reports" });
  expect(again.verdict.verdict).toBe("complete");
  expect(again.ledger.slice(5).map(({ unit, outcome }) => `${unit} ${outcome}`)).toEqual([
    ...["check reset", "check accepted", "mend accepted", "check accepted"],
  ]);
  expect(said().not_borne_out).toMatchObject([{ text: "It is cheaper than all others." }]);

  // Back to before the first check: the documents too.
  await reset({ to: 2 });
  expect(said()).not.toHaveProperty("not_borne_out");
  expect(readFileSync(join(given.folder, "research-report.md"), "utf8")).not.toContain("## Not supported");
});

test("a check that can't be had withholds nothing, and the report says why", async () => {
  const given = researchFolder(project());
  const agent = agentThat(
    () => ({ verdict: "overstated", better: "It needs 99 minutes." }),
    (sentence) => sentence,
  );
  const { verdict, rrd, ledger } = await given.run(agent, 40, { check: "reports" });
  expect(verdict).toEqual({ verdict: "complete", reason: "All 7 papers are read and the report is written." });
  expect(ledger.map(({ unit, outcome }) => `${unit} ${outcome}`)).toEqual([
    ...["p1 accepted", "report accepted", "check refused", "check refused", "check refused", "check accepted"],
  ]);
  expect(ledger[2]?.reasons?.[0]).toContain("numbers that its passages do not: 99 minutes");
  expect(rrd).toMatchObject({ phase: "COMPLETE" });
  const said = JSON.parse(readFileSync(join(given.folder, "report.json"), "utf8")) as ReportFile;
  expect(said.findings).toHaveLength(3);
  expect(said.check?.unchecked).toContain("was refused 3 times");
  // It is complete from now on.
  const again = await given.run(agent, 40, { check: "reports" });
  expect(again.ledger).toHaveLength(6);
});

test("with the last iteration of a run the report is written, and the run is complete", async () => {
  const given = researchFolder(project());
  const { verdict } = await given.run(
    agentThat(judges, () => null),
    2,
    { check: "reports" },
  );
  expect(verdict.verdict).toBe("complete");
  const said = JSON.parse(readFileSync(join(given.folder, "report.json"), "utf8")) as ReportFile;
  expect(said.check?.unchecked).toBe("All 2 iterations of this run are used up");
});

describe("nothing is taken out by the word of a checker that its controls do not prove", () => {
  const written = [
    "Fourteen minutes are enough.",
    "It needs 14 minutes on every machine.",
    "It is cheaper than all others.",
  ];

  test.each<[string, (shown: ShownSentence) => Omit<CheckAnswer, "number">, string]>([
    [
      "refuses everything",
      () => ({ verdict: "not-supported" }),
      "it recognised 0 of 4 true control sentences and 4 of 4 false",
    ],
    [
      "accepts everything",
      () => ({ verdict: "supported" }),
      "it recognised 4 of 4 true control sentences and 0 of 4 false",
    ],
    [
      "answers by the number of a sentence",
      (shown) => ({ verdict: shown.number % 2 === 0 ? "supported" : "contradicted" }),
      "true control sentences and",
    ],
  ])("such as one that %s", async (_, answers, because) => {
    const given = researchFolder(project());
    const agent = agentThat(answers, () => null);
    const { verdict, ledger, events } = await given.run(agent, 40, { check: "reports" });
    expect(verdict.verdict).toBe("complete");
    expect(ledger.map(({ unit }) => unit)).toEqual(["p1", "report", "check"]);
    expect(JSON.stringify(events)).toMatch(/"judged, not counted: \d sentences?, \d claims?"/);
    const said = JSON.parse(readFileSync(join(given.folder, "report.json"), "utf8")) as ReportFile;
    expect(said.findings.map(({ text }) => text)).toEqual(written);
    expect(said.not_borne_out).toBeUndefined();
    const markdown = readFileSync(join(given.folder, "research-report.md"), "utf8");
    expect(markdown).toContain("What scripted says does not count, because");
    expect(markdown).toContain(because);
    expect(markdown).toMatch(/\d sentences put to scripted, .*\. What scripted says does not count, because/);
    expect(markdown).not.toMatch(/\d of \d sentences supported|✓✓/);
    expect(markdown).toContain("nothing was taken out by its word");
  });

  test("such as one that has too few passages to make controls of", async () => {
    const given = researchFolder(rrdWith([paper("p1")], { handoff: { product_ideation: { enabled: false } } }));
    const { ledger } = await given.run(
      agentThat(judges, () => null),
      40,
      { check: "reports" },
    );
    expect(ledger.map(({ unit }) => unit)).toEqual(["p1", "report", "check"]);
    const markdown = readFileSync(join(given.folder, "research-report.md"), "utf8");
    expect(markdown).toMatch(
      /What scripted says does not count, because it has answered \d control sentences?, and at least 8 are needed/,
    );
  });
});
