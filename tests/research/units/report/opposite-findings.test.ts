import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { estimateTokens } from "../../../../src/engine/lib/tokens.js";
import type { ReportFile } from "../../../../src/research/generated/report.js";
import type { Evidence, Outcome, Paper } from "../../../../src/research/generated/rrd.js";
import { readReportInput } from "../../../../src/research/report/read-report.js";
import { reportModel } from "../../../../src/research/report/model.js";
import { contextOf } from "../../../../src/research/report/page/context.js";
import { reportPage } from "../../../../src/research/report/page/page.js";
import { doubtsOf } from "../../../../src/research/report/narrative/check.js";
import { maxPairs, findPairs } from "../../../../src/research/units/report/opposite-findings.js";
import {
  goodAgent,
  library,
  narrative,
  paper,
  paperText,
  reading,
  researchFolder,
  rrdWith,
  shownHandle,
} from "../../../support/projects/research.js";

const about = (direction: Outcome["direction"], compared = "touch against vision", outcome = "success rate") => ({
  outcome,
  compared,
  direction,
});
const evidence = (stated: Outcome | undefined, over: Partial<Evidence> = {}): Evidence => ({
  claim: "It changed.",
  quote: "The rate changed from 41 to 87 percent.",
  status: "verified",
  ...(stated === undefined ? {} : { about: stated }),
  ...over,
});
const read = (id: string, stated: Outcome | undefined, over: Partial<Evidence> = {}, of: Partial<Paper> = {}) =>
  paper(id, { status: "presented", analysis: { summary: "s", evidence: [evidence(stated, over)] }, ...of });
const stands = (...papers: Paper[]) =>
  findPairs(papers).map(({ stand, sides }) => [stand, ...sides.map(({ handle }) => handle)]);

describe("quotes on one outcome stand side by side", () => {
  test.each([
    ["the same way: agreed", about("up"), about("up"), "agreed"],
    ["the other way: opposite", about("up"), about("down"), "opposite"],
    ["the comparison turned round, and so its direction", about("up"), about("down", "vision against touch"), "agreed"],
    [
      "both without a difference: agreed, turned round as well",
      about("none"),
      about("none", "vision vs touch"),
      "agreed",
    ],
    ["one without a difference contradicts nothing", about("up"), about("none"), "apart"],
    [
      "endings, spelling and order of words are no difference",
      about("up", "randomisation against no training", "rate of success"),
      about("up", "randomization compared with training", "success rates"),
      "agreed",
    ],
    [
      "arms that share a word, turned round",
      about("up", "high dose vs low dose"),
      about("down", "low dose vs high dose"),
      "agreed",
    ],
    [
      "arms that share a word, in the same order",
      about("up", "touch sensing vs vision sensing"),
      about("down", "touch sensing vs vision sensing"),
      "opposite",
    ],
    [
      "one arm within the other, turned round",
      about("up", "vision and touch against touch"),
      about("down", "touch against vision and touch"),
      "agreed",
    ],
    ["a comparison that names one arm alone", about("up", "touch"), about("down", "touch against vision"), "opposite"],
  ])("%s", (_, one, other, stand) => {
    expect(stands(read("a", one), read("b", other))).toEqual([[stand, "a#1", "b#1"]]);
  });

  test.each([
    ["another outcome", read("b", about("down", "touch against vision", "cost of a hand")), read("a", about("up"))],
    ["another comparison", read("b", about("down", "gravity against vision")), read("a", about("up"))],
    ["another comparator", read("b", about("down", "touch against gravity")), read("a", about("up"))],
    [
      "another dose of the same",
      read("b", about("down", "low-dose aspirin vs placebo", "mortality")),
      read("a", about("up", "high-dose aspirin vs placebo", "mortality")),
    ],
    [
      "one arm alone, which is the other's comparator",
      read("b", about("down", "vision sensing vs touch sensing")),
      read("a", about("up", "touch sensing")),
    ],
    [
      "an order that nobody can tell",
      read("b", about("down", "sensing of touch vs sensing of force")),
      read("a", about("up", "sensing vs sensing")),
    ],
    ["nothing stated", read("b", undefined), read("a", about("up"))],
    ["a quote that is not in the text", read("b", about("down"), { status: "not-in-text" }), read("a", about("up"))],
    [
      "a quote that nobody could check",
      read("b", about("down"), { status: "could-not-check" }),
      read("a", about("up")),
    ],
    ["a retracted paper", read("b", about("down"), {}, { retracted: true }), read("a", about("up"))],
    [
      "an outcome without a word",
      read("b", about("down", "touch against vision", "—")),
      read("a", about("up", "touch against vision", "—")),
    ],
  ])("%s makes no pair", (_, ...papers) => {
    expect(stands(...papers)).toEqual([]);
  });

  test("a paper is not held against itself", () => {
    const one = read("a", about("up"));
    const both = { ...one, analysis: { summary: "s", evidence: [evidence(about("up")), evidence(about("down"))] } };
    expect(stands(both)).toEqual([]);
  });

  test("at most twelve, opposite ones first, and every outcome before a second pair of any", () => {
    const many = Array.from({ length: 40 }, (_, n) => read(`m${n}`, about("up")));
    const other = ["a", "b"].map((id) => read(id, about("up", "touch against vision", "time taken")));
    const against = ["c", "d"].map((id, n) =>
      read(id, about(n === 0 ? "up" : "down", "glue against tape", "grip force")),
    );
    const pairs = findPairs([...many, ...other, ...against]);
    expect(pairs).toHaveLength(maxPairs);
    expect(pairs[0]).toMatchObject({ stand: "opposite", outcome: "grip force" });
    expect(new Set(pairs.map(({ outcome }) => outcome)).size).toBe(3);
  });
});

test("what readers state goes from the result over the brief and the report's file to its pages", async () => {
  const words = {
    p1: "Touch raised the success rate from 41 to 87 percent.",
    p2: "Touch lowered the success rate from 52 to 44 percent.",
    p3: "Touch made no significant difference to the success rate.",
  };
  const { folder, run } = researchFolder(
    rrdWith([paper("p1"), paper("p2"), paper("p3")]),
    library({
      text: async ({ id }) => ({
        text: paperText(
          id,
          `${words[id as keyof typeof words]} It says nothing else of the matter, and nothing at all of others.`,
        ),
      }),
    }),
  );
  let brief = "";
  const { verdict } = await run(
    goodAgent((unit, text) => {
      const id = String(unit["unit"]);
      if (unit["kind"] === "paper") {
        const quote = words[id as keyof typeof words];
        const stated = about(id === "p2" ? "down" : "up");
        return {
          result: reading(id, { results: "Well.", evidence: [{ claim: "It changed.", quote, about: stated }] }),
        };
      }
      if (unit["kind"] !== "report") return undefined;
      brief = text;
      const pairs = unit["side_by_side"] as { pair: string; stand: string }[];
      const pair = pairs.find(({ stand }) => stand === "opposite")?.pair ?? "";
      const result = narrative({ side_by_side: [{ pair, text: "The object differs." }] }, shownHandle(unit));
      return { result: { ...result, answer: result.answer.map((said) => ({ ...said, text: "It depends." })) } };
    }),
  );
  expect(verdict).toMatchObject({ verdict: "complete" });
  const unit = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(brief)?.[1] ?? "{}") as { side_by_side: object[] };
  expect(unit.side_by_side).toHaveLength(3);
  expect(unit.side_by_side[0]).toMatchObject({
    stand: "opposite",
    sides: [
      { passage: `“${words.p1}”`, direction: "up" },
      { passage: `“${words.p2}”`, direction: "down" },
    ],
  });

  const kept = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as ReportFile;
  expect(kept.side_by_side).toEqual([{ text: "The object differs.", rests_on: ["p1#1", "p2#1"] }]);
  const model = reportModel((await readReportInput(folder, new Date("2026-11-23T00:00:00Z"))).input);
  expect(doubtsOf(model).filter(({ where }) => where === "Side by side")).toEqual([]);
  const shown = {
    "research-report.md": readFileSync(join(folder, "research-report.md"), "utf8"),
    "report.html": [...reportPage(await contextOf(model))].join(""),
  };
  for (const [name, page] of Object.entries(shown)) {
    const disputed = page.slice(page.lastIndexOf("What is disputed"));
    for (const said of [words.p1, words.p2, "success rate: opposite", "The object differs."])
      expect(disputed, name).toContain(said);
  }
});

test("papers that agree stand under one heading in the report, each quote once", async () => {
  const papers = ["p1", "p2", "p3", "p4"].map((id) => read(id, about("up")));
  expect(findPairs(papers)).toHaveLength(6);
  const { folder, run } = researchFolder(rrdWith(papers));
  await run(goodAgent());
  const model = reportModel((await readReportInput(folder, new Date("2026-11-23T00:00:00Z"))).input);
  expect(model.pairs.map(({ stand, sides }) => [stand, ...sides.map(({ quote }) => quote.paper.id)])).toEqual([
    ["agreed", "p1", "p2", "p3", "p4"],
  ]);
  const markdown = readFileSync(join(folder, "research-report.md"), "utf8");
  expect(markdown.split("success rate: agreed")).toHaveLength(2);
});

test("papers of which two compare other things do not stand under one heading", async () => {
  const doses = ["high dose against placebo", "dose against placebo", "low dose against placebo"];
  const papers = doses.map((compared, index) => read(`p${index + 1}`, about("up", compared)));
  const { folder, run } = researchFolder(rrdWith(papers));
  await run(goodAgent());
  const model = reportModel((await readReportInput(folder, new Date("2026-11-23T00:00:00Z"))).input);
  expect(model.pairs.map(({ sides }) => sides.map(({ quote }) => quote.paper.id))).toEqual([
    ["p1", "p2"],
    ["p2", "p3"],
  ]);
});

test("a pair that is none of the unit's refuses the report", async () => {
  const { run } = researchFolder(rrdWith([paper("p1")]));
  const { ledger } = await run(
    goodAgent((unit) =>
      unit["kind"] === "report"
        ? { result: narrative({ side_by_side: [{ pair: "p9", text: "No." }] }, shownHandle(unit)) }
        : undefined,
    ),
    3,
  );
  expect(ledger.at(-1)).toMatchObject({
    outcome: "refused",
    reasons: [expect.stringContaining('names the pair "p9", which the unit does not have')],
  });
});

test("the brief of a report keeps its bounds however much is stated", async () => {
  const long = (n: number) => `${"The rate of success changed a great deal in trial after trial ".repeat(8)}${n}.`;
  const papers = Array.from({ length: 60 }, (_, n) =>
    paper(`p${n}`, {
      status: "presented",
      analysis: {
        summary: "s ".repeat(200),
        evidence: Array.from({ length: 8 }, (__, k) =>
          evidence(about(n % 2 === 0 ? "up" : "down", "touch ".repeat(30), `rate ${"x".repeat(k + 1)}`), {
            quote: long(n),
          }),
        ),
      },
    }),
  );
  const { run } = researchFolder(rrdWith(papers, { phase: "ANALYSIS" }));
  let tokens = 0;
  await run(
    goodAgent((unit, text) => {
      if (unit["kind"] === "report") tokens = estimateTokens(text);
      return undefined;
    }),
    1,
  );
  expect(tokens).toBeGreaterThan(2_000);
  expect(tokens).toBeLessThanOrEqual(6_000);
});
