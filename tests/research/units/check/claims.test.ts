import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ReportFile } from "../../../../src/research/generated/report.js";
import { checkerRoles } from "../../../../src/research/units/check/kind.js";
import { sentencesOf } from "../../../../src/research/units/narrative/sentences.js";
import { readPapers } from "../../../support/projects/passages-for-controls.js";
import { paper, researchFolder, rrdWith } from "../../../support/projects/research.js";
import { judgingAgent } from "../../../support/projects/judging-agent.js";

const project = (...ids: string[]) =>
  rrdWith([...ids.map((id) => paper(id)), ...readPapers()], { handoff: { product_ideation: { enabled: false } } });

test("where all is checked, so are the claims of readings: before the report, each once, and none of it twice", async () => {
  const given = researchFolder(project("p1", "p2"));
  const { agent, seen } = judgingAgent(() => ({ verdict: "supported" }));
  const { verdict, rrd, ledger } = await given.run(agent, 40, { check: "all" });
  expect(verdict.verdict).toBe("complete");
  expect(ledger.map(({ unit }) => unit)).toEqual(["p1", "p2", "claims", "report", "check"]);
  const read = rrd.papers_pool.filter(({ id }) => ["p1", "p2"].includes(id));
  expect(read.flatMap(({ analysis }) => (analysis?.evidence ?? []).map(({ check }) => check?.verdict))).toEqual(
    Array.from({ length: 4 }, () => "supported"),
  );
  expect(rrd.meaning).not.toHaveProperty("claims");
  const claims = seen.filter(({ unit }) => unit === "claims").flatMap(({ sentences: shown }) => shown);
  const others = seen.filter(({ unit }) => unit === "check").flatMap(({ sentences: shown }) => shown);
  for (const { analysis } of read)
    for (const { claim } of analysis?.evidence ?? []) {
      expect(claims.filter(({ sentence }) => sentence === claim)).not.toHaveLength(0);
      expect(others.filter(({ sentence }) => sentence === claim)).toHaveLength(0);
    }
});

test("two checkers judge the claims of readings, each once", async () => {
  const given = researchFolder(project("p1"));
  const { agent } = judgingAgent(() => ({ verdict: "supported" }));
  const { ledger } = await given.run(agent, 12, { check: "all", sharing: { checkers: checkerRoles } });
  expect(ledger.flatMap(({ unit, role }) => (role === undefined ? [] : [`${unit} ${role}`]))).toEqual([
    ...["claims checker-1", "claims checker-2", "check checker-1", "check checker-2"],
  ]);
});

test("where reports alone are checked, so are the claims that one cites, and no others", async () => {
  const given = researchFolder(project("p1", "p2"));
  const { agent } = judgingAgent(() => ({ verdict: "supported" }));
  const { rrd, ledger } = await given.run(agent, 40, { check: "reports" });
  expect(ledger.map(({ unit }) => unit)).toEqual(["p1", "p2", "report", "check"]);
  const report = JSON.parse(readFileSync(join(given.folder, "report.json"), "utf8")) as ReportFile;
  const cited = new Set(sentencesOf(report).flatMap(([, { rests_on = [] }]) => rests_on));
  const checked = rrd.papers_pool.flatMap(({ id, analysis }) =>
    (analysis?.evidence ?? []).flatMap(({ check }, index) => (check === undefined ? [] : [`${id}#${index + 1}`])),
  );
  expect(new Set(checked)).toEqual(cited);
});

test("nobody is asked where nothing is to be checked", async () => {
  const given = researchFolder(project("p1"));
  const { agent } = judgingAgent(() => ({ verdict: "supported" }));
  const { ledger, rrd } = await given.run(agent, 40);
  expect(ledger.map(({ unit }) => unit)).toEqual(["p1", "report"]);
  expect(rrd.meaning).toBeUndefined();
});

test("a checker of claims whose results can't be used keeps nobody from reading and writing", async () => {
  const given = researchFolder(project("p1"));
  const { agent } = judgingAgent((_, unit) =>
    unit === "claims" ? { verdict: "overstated", better: "It needs 99 minutes." } : { verdict: "supported" },
  );
  const { verdict, ledger } = await given.run(agent, 40, { check: "all" });
  expect(verdict.verdict).toBe("complete");
  expect(ledger.map(({ unit, outcome }) => `${unit} ${outcome}`)).toEqual([
    ...["p1 accepted", "claims refused", "claims refused", "claims refused", "report accepted", "check accepted"],
  ]);
});
