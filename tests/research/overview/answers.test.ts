import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { buildText } from "../../../src/text/documents/text/document-text.js";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { estimateTokens } from "../../../src/engine/lib/tokens.js";
import { checkEvidence } from "../../../src/text/evidence/check-evidence.js";
import type { Answer } from "../../../src/research/generated/answer.js";
import type { Evidence, Paper } from "../../../src/research/generated/rrd.js";
import { checkAnswer } from "../../../src/research/overview/questions/judge-answer.js";
import {
  type AskedText,
  openPool,
  passagesFor,
  maxPassageTokens,
} from "../../../src/research/overview/questions/pool.js";
import { type ProjectState, staleReasons } from "../../../src/research/overview/questions/stale.js";
import { paper, rrdWith } from "../../support/projects/research.js";

const question = "How long does the calibration of a hand take?";
const abstract = "We report that the calibration of a hand takes eleven minutes in our laboratory.";
const inText = "The calibration of the left hand took nine minutes, and that of the right one ten.";
const inAbstract = "the calibration of a hand takes eleven minutes in our laboratory";
const textOf = (...sentences: readonly string[]) =>
  buildText([{ label: "§ 1", text: sentences.join(" ") }], { kind: "markdown", depth: "full", title: "Hands" });
const first = textOf(inText, "Nothing else was done that day in the laboratory.");

/** A paper read with this text: its quotes as the reading's check leaves them. */
function readWith(id: string, text: ReturnType<typeof textOf> | undefined, ...quotes: readonly string[]): Paper {
  const claimed = quotes.map((quote) => ({ claim: "It takes time.", quote }));
  const evidence: Evidence[] = [...checkEvidence(claimed, text, abstract).evidence];
  return paper(id, { status: "presented", abstract, analysis: { summary: "s", evidence } });
}

interface Project {
  readonly papers: readonly Paper[];
  readonly texts?: Readonly<Record<string, AskedText>>;
  readonly ledger?: readonly LedgerLine[];
}
const folderOf = (index: number) => `/projects/${index}`;
const poolOf = (projects: readonly Project[]) =>
  openPool(
    projects.map(({ papers }, index) => ({ folder: folderOf(index), rrd: rrdWith([...papers]) })),
    async (folder, { id }) => projects.find((_, index) => folderOf(index) === folder)?.texts?.[id],
  );
const reading = (iteration: number, unit: string): LedgerLine => ({
  iteration,
  at: "2026-11-22T10:00:00.000Z",
  unit,
  phase: "ANALYSIS",
  outcome: "accepted",
});

/** An answer that rests on these handles, and on these new quotes, as the check leaves it. */
async function answered(
  projects: readonly Project[],
  rests_on: readonly string[],
  quotes: readonly { readonly id: string; readonly paper: string; readonly quote: string }[] = [],
  over: Partial<Answer> = {},
): Promise<Answer> {
  const checked = await checkAnswer(await poolOf(projects), question, {
    quotes: [...quotes],
    statements: [{ text: "The calibration of a hand takes minutes.", rests_on: [...rests_on] }],
  });
  expect(checked.quotes).toHaveLength(rests_on.length);
  return {
    id: "answer-1",
    at: "2026-11-21T10:00:00.000Z",
    question,
    seen: 5,
    statements: [...checked.statements],
    quotes: [...checked.quotes],
    ...over,
  };
}
const stale = async (answer: Answer, projects: readonly Project[]): Promise<string[]> =>
  staleReasons(
    answer,
    projects.map(({ ledger = [] }, index): ProjectState => ({ folder: folderOf(index), ledger })),
    await poolOf(projects),
  );

describe("an answer stands", () => {
  const withText = { papers: [readWith("p1", first, inText, inAbstract)], texts: { p1: first } };

  test("on quotes of the record, whether they were found in the text or in the abstract", async () => {
    expect(withText.papers[0]?.analysis?.evidence?.map(({ locator }) => locator)).toEqual(["§ 1", "abstract"]);
    expect(await stale(await answered([withText], ["p1#1", "p1#2"]), [withText])).toEqual([]);
  });

  test("where a text was fetched that is another than the one that was read, and holds the quote", async () => {
    const clone = { papers: withText.papers };
    const fetched = { ...clone, texts: { p1: textOf("A new heading.", inText) } };
    expect(await stale(await answered([clone], ["p1#1", "p1#2"]), [fetched])).toEqual([]);
    expect(await stale(await answered([fetched], ["p1#1", "p1#2"]), [fetched])).toEqual([]);
  });

  test("on a new quote of the abstract, once a text is kept", async () => {
    const clone = { papers: withText.papers };
    const answer = await answered([clone], ["p1#q1"], [{ id: "q1", paper: "p1", quote: inAbstract }]);
    expect(await stale(answer, [withText])).toEqual([]);
  });
});

describe("an answer is stale where its paper was read anew", () => {
  const before = { papers: [readWith("p1", first, inText)], texts: { p1: first } };
  const second = textOf(inText, "A correction followed, in which the right hand took twelve minutes.");

  test.each([
    ["with its text", { papers: [readWith("p1", second, inText)], texts: { p1: second } }],
    ["in a clone, which has the record alone", { papers: [readWith("p1", second, inText)] }],
    ["and another quote has its number", { papers: [readWith("p1", first, inAbstract, inText)] }],
    ["and nothing was found", { papers: [readWith("p1", undefined)] }],
  ])("%s", async (_, after) => {
    expect(await stale(await answered([before], ["p1#1"]), [after])).toEqual(["p1 was read anew"]);
  });

  test("of a new quote by its text; in a clone by the ledger", async () => {
    const answer = await answered([before], ["p1#q1"], [{ id: "q1", paper: "p1", quote: inText }]);
    expect(await stale(answer, [{ ...before, texts: { p1: second } }])).toEqual(["p1 was read anew"]);
    const clone = { papers: before.papers };
    expect(await stale(answer, [{ ...clone, ledger: [reading(5, "p1")] }])).toEqual([]);
    expect(await stale(answer, [{ ...clone, ledger: [reading(9, "p1")] }])).toEqual(["p1 was read anew"]);
  });
});

test("of several projects, a paper read since in any of them is newer, each by its own iterations", async () => {
  const home = { papers: [readWith("p1", first, inText)], texts: { p1: first }, ledger: [reading(5, "p1")] };
  const text = textOf("The calibration of a robot's hand takes an hour where nobody helps.");
  const other = (at: number) => ({
    papers: [readWith("other", text, "The calibration of a robot's hand takes an hour")],
    texts: { other: text },
    ledger: [reading(at, "other")],
  });
  const seen = { projects: ["0", "1"], seen_in: [5, 40] };
  const answer = await answered([home, other(40)], ["1:p1#1"], [], seen);
  expect(await stale(answer, [home, other(40)])).toEqual([]);
  expect(await stale(answer, [home, other(41)])).toEqual(["2:other was read since"]);
  // One that was kept before says nothing of the second.
  const { seen_in: _, ...old } = answer;
  expect(await stale(old, [home, other(41)])).toEqual([]);
});

describe("what an answer names", () => {
  const check = async (project: Project, quotes: Parameters<typeof answered>[2], rests_on: readonly string[]) =>
    checkAnswer(await poolOf([project]), question, {
      quotes: [...(quotes ?? [])],
      statements: rests_on.map((handle) => ({ text: "The calibration takes minutes.", rests_on: [handle] })),
    });
  const read = { papers: [readWith("p1", first, inText, inAbstract)] };
  const unfounded = { text: "The calibration takes minutes.", why: "None of its quotes was found." };

  test("of the record is looked for again where another text is kept by now", async () => {
    const corrected = textOf("The calibration of the left hand took ninety minutes.", "The first figure was wrong.");
    const { found, leftOut, missing } = await check({ ...read, texts: { p1: corrected } }, [], ["p1#1", "p1#2"]);
    expect({ found, leftOut }).toEqual({ found: 1, leftOut: [unfounded] });
    expect(missing.map(({ quote }) => quote)).toEqual([inText]);
    expect(await check({ ...read, texts: { p1: textOf("Corrected.", inText) } }, [], ["p1#1"])).toMatchObject({
      quotes: [{ handle: "p1#1", text_sha256: first.sha256 }],
      missing: [],
    });
  });

  test("by an id that two quotes of one paper have is neither of them", async () => {
    const twice = (quote: string) => [inText, quote].map((each) => ({ id: "q1", paper: "p1", quote: each }));
    const project = { ...read, texts: { p1: first } };
    const { found, leftOut, missing } = await check(project, twice("Nothing else was done that day"), ["p1#q1"]);
    expect({ found, leftOut }).toEqual({ found: 0, leftOut: [unfounded] });
    expect(missing).toMatchObject([{ why: "two quotes of p1 have the id q1; each needs its own" }]);
    expect(await check(project, twice(inText), ["p1#q1"])).toMatchObject({ found: 1, missing: [] });
  });
});

test("passages keep to their tokens in scripts of three bytes a character too", async () => {
  const chinese = (id: string) => {
    const text = Array.from(
      { length: 900 },
      (_, n) => `第${n}次试验中机械手 hand 的校准需要十一分钟，结果与先前一致。`,
    ).join("");
    const english = Array.from({ length: 300 }, (_, n) => `In trial ${n} the hand was calibrated again.`).join(" ");
    const whole = id === "mixed" ? `${english}\n\n${text}` : text;
    return { text: whole, marks: [], sha256: createHash("sha256").update(whole).digest("hex") };
  };
  const ids = ["one", "two", "mixed"];
  const project = {
    papers: ids.map((id) => paper(id, { status: "presented" })),
    texts: Object.fromEntries(ids.map((id) => [id, chinese(id)])),
  };
  const pool = await poolOf([project]);
  const shown = await passagesFor(pool, pool.query("How is a hand calibrated?"), maxPassageTokens);
  const tokens = estimateTokens(shown.map(({ text }) => text).join("\n\n"));
  expect(tokens).toBeLessThanOrEqual(maxPassageTokens);
  expect(tokens).toBeGreaterThan(maxPassageTokens * 0.8);
  expect(new Set(shown.map(({ key }) => key))).toEqual(new Set(ids));
});
