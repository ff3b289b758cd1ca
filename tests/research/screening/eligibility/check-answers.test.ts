import { describe, expect, test } from "vitest";
import { buildText } from "../../../../src/text/documents/text/document-text.js";
import type { Answers } from "../../../../src/research/generated/result-analysis.js";
import type { Criterion, Paper } from "../../../../src/research/generated/rrd.js";
import { paper, rrdWith } from "../../../support/projects/research.js";
import { changedCriteriaSentences, criterionHash } from "../../../../src/research/screening/eligibility/eligibility.js";
import { checkFullText, checkScreening } from "../../../../src/research/screening/eligibility/check-answers.js";

const c1: Criterion = { id: "c1", kind: "include", text: "randomised trial" };
const allocated = "Patients were allocated at random to two groups.";
const screen = async (said: Answers | undefined, record: { title?: string; abstract?: string | null }) =>
  (await checkScreening([c1], said, { title: "A trial of gloves in winter", ...record }))[0];

describe("an answer from title and abstract", () => {
  test("counts with a quote of the abstract or the title, whatever its spacing", async () => {
    const quote = "patients were  allocated at random";
    expect(await screen({ c1: { answer: "yes", quote } }, { abstract: `First. ${allocated} Last.` })).toEqual({
      criterion: "c1",
      asked: criterionHash(c1),
      stage: "screening",
      answer: "yes",
      locator: "abstract",
      passage: allocated,
      quoted: "0-33",
    });
    expect(
      await screen({ c1: { answer: "no", quote: "trial of gloves in winter" } }, { abstract: null }),
    ).toMatchObject({ answer: "no", locator: "title" });
  });

  test.each<[string, Answers | undefined]>([
    ["a quote that nobody wrote", { c1: { answer: "yes", quote: "Patients were chosen by their doctors." } }],
    ["a quote that is too short", { c1: { answer: "yes", quote: "two" } }],
    ["no quote", { c1: { answer: "no" } }],
    ["an empty quote", { c1: { answer: "no", quote: "  " } }],
    ["no answer to it", { c2: { answer: "yes", quote: allocated } }],
    ["no answers", undefined],
    ["unclear", { c1: { answer: "unclear", quote: allocated } }],
  ])("is unclear with %s", async (_, said) => {
    expect(await screen(said, { abstract: allocated })).toMatchObject({ answer: "unclear" });
  });

  test.each([[null], [""], ["   "]])("is unclear where the abstract is %j, whatever is quoted", async (abstract) => {
    const answer = await screen({ c1: { answer: "no", quote: allocated } }, { abstract });
    expect(answer).toMatchObject({ answer: "unclear", said: "no", quote: allocated });
  });

  test("is found at the end of an abstract of 40,000 and of 400,000 characters", async () => {
    for (const length of [40_000, 400_000]) {
      const abstract = `${"We say nothing of it here. ".repeat(length / 27)}${allocated}`;
      expect(await screen({ c1: { answer: "yes", quote: allocated } }, { abstract })).toMatchObject({ answer: "yes" });
    }
  });

  test("is found in another script", async () => {
    const quote = "参与者被随机分配到治疗组和对照组";
    expect(await screen({ c1: { answer: "yes", quote } }, { abstract: `背景。${quote}，为期十二周。` })).toMatchObject({
      answer: "yes",
      passage: `${quote}，为期十二周。`,
      quoted: `0-${quote.length}`,
    });
  });

  test("is never one that an object has by itself", async () => {
    const own: Criterion = { id: "constructor", kind: "include", text: "x" };
    expect(await checkScreening([own], {}, { title: "t" })).toMatchObject([{ answer: "unclear" }]);
  });

  test("a quote of 100,000 characters is cut, not kept", async () => {
    const answer = await screen({ c1: { answer: "yes", quote: "never said ".repeat(9_000) } }, { abstract: allocated });
    expect(answer?.answer).toBe("unclear");
    expect(answer?.quote?.length).toBeLessThanOrEqual(600);
  });
});

describe("an answer from the text", () => {
  const text = buildText(
    [
      { label: "§ 2 Methods", text: `## 2 Methods\n\n${allocated}` },
      { label: "§ References", text: "## References\n\n[1] A. Author. Trials that were run in mice and men. 2020.\n" },
    ],
    { kind: "markdown", depth: "full", title: "A trial" },
  );
  const read = async (quote: string, abstract: string | null = null) =>
    (await checkFullText([c1], { c1: { answer: "yes", quote } }, text, { title: "A trial", abstract }))[0];

  test("says where the quote stands", async () => {
    expect(await read(allocated)).toMatchObject({ stage: "full_text", answer: "yes", locator: "§ 2 Methods" });
  });
  test("counts with a quote of the abstract that the agent was shown", async () => {
    const quote = "Both groups were followed for a year.";
    expect(await read(quote, `Summary. ${quote}`)).toMatchObject({ answer: "yes", locator: "abstract" });
  });
  test("is unclear with the title of a cited work", async () => {
    expect(await read("Trials that were run in mice and men.")).toMatchObject({ answer: "unclear", said: "yes" });
  });
  test("is unclear with a number that differs", async () => {
    expect(await read("Patients were allocated at random to three groups.")).toMatchObject({ answer: "unclear" });
  });
});

test("an answer belongs to the text that it was asked with, unless a person has decided", async () => {
  const answers = await checkScreening([c1], { c1: { answer: "unclear" } }, { title: "t" });
  const sentencesWith = (criterion: Criterion, over: Partial<Paper> = {}) =>
    changedCriteriaSentences(
      rrdWith([paper("p1", { answers, status: "rejected", ...over })], {
        requirements: { target_papers: 1, criteria: [criterion] },
      }),
    );
  const changed = { ...c1, text: `${c1.text}, twice` };
  expect(sentencesWith(c1)).toEqual([]);
  expect(sentencesWith(changed)).toEqual([
    expect.stringMatching(
      /^The text of c1 was changed after 1 record was judged by an earlier one: .*reset <project> --criteria'/,
    ),
  ]);
  expect(
    sentencesWith(changed, { override: { decision: "include", why: "fits", at: "2026-11-22T10:00:00Z" } }),
  ).toEqual([]);
  // It is judged again when it is read, and then by its full text.
  const again = { stage: "full_text" as const, criterion: "c1", answer: "no" as const, asked: criterionHash(changed) };
  expect(sentencesWith(changed, { status: "pending" })).toEqual([]);
  expect(sentencesWith(changed, { answers: [...answers, again] })).toEqual([]);
});
