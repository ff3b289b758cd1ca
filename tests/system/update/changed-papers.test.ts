import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ReportFile } from "../../../src/research/generated/report.js";
import { invented, textOf } from "../../fixtures/invented-papers.js";
import { finished, finishedOutsideGit, since } from "./finished-project.js";

const pageOf = (key: string): string => textOf(invented.find((paper) => paper.key === key) ?? never());
/** Some days after the papers were read. */
const later = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);

const never = (): never => {
  throw new Error("there is no such paper");
};

describe("a paper that was read, in an update", () => {
  it("is read again where a correction came with another text, and only then", async () => {
    const { alter, pages, update, read, lines, git, text } = await finished();
    // The text of the one is corrected, that of the other is as it was.
    const other = pageOf("p06").replaceAll("83 percent", "38 percent").replaceAll("four times", "nine times in a row");
    pages.set("p06", other.replaceAll("The controller runs at 100 Hz on a small computer", "A human guides the hand"));
    const notices = [{ type: "correction", date: later }];
    const corrected = alter("p06", { notices });
    const same = alter("p05", { notices: [{ type: "addendum", date: later }] });
    const had = lines().length;
    const dry = await update(...since, "--dry-run");
    expect({ code: dry.code, status: git("status", "--porcelain") }).toEqual({ code: 0, status: "" });
    expect(dry.out).toContain(`changed: ${corrected.id}: a correction of ${later}\n`);
    expect(dry.out).toContain(`changed: ${same.id}: an addendum of ${later}, the same text\n`);
    expect(dry.out).toMatch(/^Forecast: .*1 paper/m);

    const done = await update(...since);
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    const read1 = lines().slice(had);
    expect(read1.filter(({ agent }) => agent !== undefined).map(({ unit }) => unit)).toEqual([corrected.id, "report"]);
    const { updates = [], papers_pool: pool, insights } = read();
    expect(updates[0]?.changed).toEqual([
      expect.objectContaining({ id: corrected.id, read_again: true }),
      expect.objectContaining({ id: same.id, read_again: false }),
    ]);
    expect(updates[0]).toMatchObject({ new: [], report: "written" });
    const now = pool.find(({ id }) => id === corrected.id);
    expect(now?.text_sha256).not.toBe(corrected.text_sha256);
    expect(JSON.stringify(now?.analysis)).toContain("38 percent");
    // What an earlier reading left is gone with it.
    const all = insights ?? [];
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(JSON.stringify(all.filter(({ paper_id }) => paper_id === corrected.id))).not.toContain("83 percent");
    const report = text("research-report.md");
    expect(report).toMatch(new RegExp(`- \\*\\*Changed:\\*\\* .*a correction of ${later}; read again`));
    expect(report).toMatch(new RegExp(`- \\*\\*Changed:\\*\\* .*an addendum of ${later}; the same text`));

    const again = await update(...since);
    expect([again.code, again.out]).toEqual([0, expect.stringContaining("nothing new")]);
    expect(git("status", "--porcelain")).toBe("");
  });

  it("that is corrected in a month of which no day is told is not passed over", async () => {
    const { alter, update } = await finishedOutsideGit();
    const month = new Date().toISOString().slice(0, 7);
    const corrected = alter("p05", { notices: [{ type: "correction", date: month }] });
    expect((await update(...since, "--dry-run")).out).toContain(`changed: ${corrected.id}: a correction of ${month}`);
  });

  it("whose text can't be had is not called the same, and is compared the next time", async () => {
    const { alter, pages, update, read, text } = await finishedOutsideGit();
    const before = alter("p03", { version: { number: 2, date: later } });
    // As where a page is a landing page alone: there is no text in it.
    pages.set("p03", "");
    expect((await update(...since)).code).toBe(0);
    const says = `a newer version of ${later}`;
    const told = { id: before.id, says, read_again: false, compared: false };
    expect(read().updates?.[0]).toMatchObject({ changed: [told], report: "rendered" });
    expect(text("research-report.md")).toContain(`${says}; its text could not be compared`);
    expect((await update(...since)).out).toContain("nothing new");
    pages.set("p03", pageOf("p03").replaceAll("no camera is used", "two cameras look on from above the table"));
    expect((await update(...since)).code).toBe(0);
    expect(read().updates?.[1]?.changed).toEqual([{ id: before.id, says, read_again: true }]);
    expect((await update(...since)).out).toContain("nothing new");
  });

  it("is read again where a later version on arXiv says something else", async () => {
    const { alter, pages, update, read } = await finishedOutsideGit();
    const before = alter("p03", { version: { number: 2, date: later } });
    pages.set("p03", pageOf("p03").replaceAll("no camera is used", "two cameras look on from above the table"));
    expect((await update(...since)).code).toBe(0);
    const { updates = [], papers_pool: pool } = read();
    expect(updates[0]?.changed).toEqual([{ id: before.id, says: `a newer version of ${later}`, read_again: true }]);
    expect(pool.find(({ id }) => id === before.id)?.text_sha256).not.toBe(before.text_sha256);
  });

  it("is known to be published where only a look-up of its name says so, and once", async () => {
    const { alter, update, read, lines, git } = await finished();
    // Its own record alone tells: no keyword leads to it.
    const printed = { doi: "10.5555/inv.99", venue: "Journal of Invented Robotics", printed: "2026-06-25" };
    const before = alter("p04", { ...printed, abstract: "Otherwise.", title: "Holding Sponges" });
    const had = lines().length;
    const done = await update(...since);
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    expect(read().updates?.[0]).toMatchObject({
      changed: [
        { id: before.id, says: "published in Journal of Invented Robotics as 10.5555/inv.99", read_again: false },
      ],
      report: "rendered",
    });
    expect(
      lines()
        .slice(had)
        .every(({ agent }) => agent === undefined),
    ).toBe(true);
    expect((await update(...since)).out).toContain("nothing new");
    expect(git("status", "--porcelain")).toBe("");
  });

  it("that is retracted and carries no finding costs no agent: the report is rendered again", async () => {
    const { alter, folder, update, read, lines, git, text } = await finished();
    const gone = alter("p06", { retracted: true });
    const narrative = JSON.parse(text("report.json")) as ReportFile;
    const isOf = ({ rests_on = [] }: { rests_on?: readonly string[] }) =>
      rests_on.some((handle) => handle.startsWith(gone.id));
    const without = {
      ...narrative,
      findings: narrative.findings.filter((each) => !isOf(each)),
      answer: narrative.answer.filter((a) => !isOf(a)),
      agreed: [],
      gaps: [],
      recommendations: narrative.recommendations.filter((each) => !isOf(each)),
      quotes: Object.fromEntries(Object.entries(narrative.quotes ?? {}).filter(([at]) => !at.startsWith(gone.id))),
    };
    writeFileSync(join(folder, "report.json"), `${JSON.stringify(without, null, 2)}\n`);
    git("commit", "-qam", "Nothing rests on it");
    const had = lines().length;
    const dry = await update(...since, "--dry-run");
    expect(dry.out).toContain("No agent is needed: the report is rendered again.\n");
    const done = await update(...since);
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    expect(
      lines()
        .slice(had)
        .flatMap(({ agent = [], tokens = [] }) => [agent, tokens].flat()),
    ).toEqual([]);
    expect(read().updates?.[0]).toMatchObject({ retracted: [gone.id], report: "rendered", new: [], changed: [] });
    const report = text("research-report.md");
    expect(report).toContain(`## What changed`);
    expect(report).toMatch(/- \*\*Retracted:\*\* /);
    expect(report).toMatch(/Findings: 5 kept\. No finding gained or lost a paper\./);
    expect(JSON.parse(text("report.json"))).toMatchObject({ findings: without.findings });
    // The person's own edit of the report is kept beside it.
    expect(git("status", "--porcelain")).toMatch(/^\?\? \S+report\.json\.edited-\S+\n$/);
  });

  it("whose second reading is refused keeps its first one, and the report says so", async () => {
    const { alter, pages, folder, ralph, read, text } = await finishedOutsideGit();
    const before = alter("p03", { version: { number: 2, date: later } });
    pages.set("p03", pageOf("p03").replaceAll("no camera is used", "two cameras look on from above the table"));
    // Reads nothing: every result for a paper is refused; the baseline then writes the report.
    const bad = "cmd:echo '{}' > result.json";
    const stopped = await ralph("update", folder, ...since, "--agent", bad, "--unconfined", "--iterations", "3");
    expect(stopped.code).not.toBe(0);
    expect(read().papers_pool.find(({ id }) => id === before.id)?.refusals).toHaveLength(3);
    expect((await ralph("update", folder, "--agent", "baseline")).code).toBe(0);
    const { updates = [], papers_pool: pool } = read();
    expect(updates[0]?.closed_at).toBeDefined();
    expect(pool.find(({ id }) => id === before.id)).toMatchObject({ status: before.status, analysis: before.analysis });
    expect(text("research-report.md")).toContain(`a newer version of ${later}; it could not be read again`);
  });
});
