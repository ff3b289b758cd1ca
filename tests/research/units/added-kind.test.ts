import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stateText } from "../../../src/engine/ui/state-text.js";
import { researchStanding } from "../../../src/research/overview/project-standing.js";
import { readResearch } from "../../../src/research/project-files/research.js";
import type { Brief } from "../../../src/engine/loop/types.js";
import { contextOf } from "../../../src/research/report/page/context.js";
import { reportPage } from "../../../src/research/report/page/page.js";
import { reportModel } from "../../../src/research/report/model.js";
import type { Section } from "../../../src/research/report/sections/section.js";
import { sections } from "../../../src/research/report/sections/sections.js";
import { kinds } from "../../../src/research/units/kinds.js";
import { resetResearch } from "../../../src/research/units/reset.js";
import type { UnitKind } from "../../../src/research/units/unit-kind.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { forecastOf } from "../../../src/research/workflow/forecast.js";
import { objections } from "../../fixtures/units/objections/kind.js";
import { objections as section } from "../../fixtures/units/objections/section.js";
import { goodAgent, paper, researchFolder, rrdWith } from "../../support/projects/research.js";

const added = [
  { list: kinds as UnitKind[], one: objections as UnitKind, behind: "report" },
  { list: sections as Section[], one: section, behind: "findings" },
];

// The line that a kind takes, and the line of its section.
beforeAll(() => {
  for (const { list, one, behind } of added as { list: { name: string }[]; one: { name: string }; behind: string }[])
    list.splice(list.findIndex(({ name }) => name === behind) + 1, 0, one);
});
afterAll(() => {
  for (const { list, one } of added as { list: unknown[]; one: unknown }[]) list.splice(list.indexOf(one), 1);
});

const handoff = { product_ideation: { enabled: false } };
const wanting = () => rrdWith([paper("p1")], { handoff, objections: [] } as object);
const last = "Done.\n\n<promise>COMPLETE</promise>";

test("a further kind of unit is a folder and a line: brief, schema, refusal, fold, forecast and section", async () => {
  const given = researchFolder(wanting());
  writeFileSync(join(given.root, "prompt.md"), "# OBJECTIONS\n\nObject to {{UNIT}} of {{PROJECT}}.\n");
  expect(forecastOf(wanting(), [], { usage: { paper: { tokens: 1, minutes: 1 } }, from: "" })?.iterations).toBe(3);

  const briefs: string[] = [];
  const left = [
    { unit: "objections", findings: [{ where: "p1" }] },
    { unit: "objections", findings: [{ where: "p9", problem: "It has one machine." }] },
    { unit: "objections", findings: [{ where: "p1", problem: "It has one machine." }] },
  ];
  const agent = goodAgent((unit, text) => {
    if (unit["kind"] !== "objections") return undefined;
    briefs.push(text);
    return { result: left[briefs.length - 1], message: last };
  });
  const { verdict, rrd, ledger } = await given.run(agent);

  const [first = "", repaired = "", third = ""] = briefs;
  expect(first).toContain("Object to objections of ");
  expect(first).toContain('"papers": [\n  "p1"');
  expect(first).toContain("<promise>COMPLETE</promise>");
  // By the schema, then by a rule of its own.
  expect(repaired).toContain('/findings/0 "problem" is missing');
  expect(third).toContain("p9 is not a paper of this project");
  expect(ledger.map(({ unit, outcome }) => `${unit} ${outcome}`)).toEqual([
    "p1 accepted",
    "report accepted",
    ...["objections refused", "objections refused", "objections accepted"],
  ]);
  expect(ledger.at(-1)).toMatchObject({ phase: "ANALYSIS", sentinel: "seen" });

  expect(rrd).toMatchObject({ phase: "COMPLETE", objections: [{ where: "p1", problem: "It has one machine." }] });
  expect(verdict).toEqual({
    verdict: "complete",
    reason: "The one paper is read, the report and the objections are written.",
  });
  const file = (name: string) => readFileSync(join(given.folder, name), "utf8");
  expect(file("progress.txt")).toMatch(/## \d{4}-\d\d-\d\d - Objections\n\nMade: 1\n\nIteration: 5\n/);
  expect(file("research-report.md")).toContain("## Objections\n\n- p1: It has one machine.\n");
  const model = reportModel({ rrd, ledger, queries: [], answers: [], now: new Date(0) });
  const page = [...reportPage(await contextOf(model))].join("");
  expect(page).toContain('<section id="objections"><h2>Objections</h2><p>p1: It has one machine.</p></section>');
  expect(page).toContain('<a href="#objections">Objections</a>');
});

test("what an agent at work on it does, and what a reset of it takes back, is said by the kind", async () => {
  const given = researchFolder(wanting());
  writeFileSync(join(given.root, "prompt.md"), "# OBJECTIONS\n\nObject.\n");
  const found = { unit: "objections", findings: [{ where: "p1", problem: "It has one machine." }] };
  await given.run(goodAgent(({ kind }) => (kind === "objections" ? { result: found, message: last } : undefined)));
  const { rrd, ledger } = await readResearch(given.folder);
  const [since, unit, title] = [ledger.at(-1)?.at ?? "", "objections", "Objections"];
  const underWay = [{ iteration: 9, unit, title, phase: "ANALYSIS", since }];
  const outside = { running: true, abandoned: false, held: [], underWay };
  const standing = researchStanding({ folder: given.folder, where: "x" }, { rrd, ledger }, outside);
  expect(stateText(standing, 0).doing).toEqual(["#9 objects to the report"]);

  expect(rrd.phase).toBe("COMPLETE");
  const at = { derive, git: false, now: () => Date.parse(since) };
  expect(await resetResearch(given.folder, { unit }, at)).toContain("Objections will be made again.");
  expect((await readResearch(given.folder)).rrd).toMatchObject({ phase: "ANALYSIS", objections: [] });
});

test("where a project does not ask for it, nothing is different", async () => {
  const given = researchFolder(rrdWith([paper("p1")], { handoff }));
  const briefs: Brief["text"][] = [];
  const { verdict, ledger } = await given.run(goodAgent((_, text) => (briefs.push(text), undefined)));
  expect(verdict).toEqual({ verdict: "complete", reason: "The one paper is read and the report is written." });
  expect(ledger.map(({ unit }) => unit)).toEqual(["p1", "report"]);
  expect(readFileSync(join(given.folder, "research-report.md"), "utf8")).not.toContain("Objections");
});
