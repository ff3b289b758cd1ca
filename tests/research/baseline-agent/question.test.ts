import { expect, test } from "vitest";
import { answerQuestion } from "../../../src/research/baseline-agent/question.js";
import type { BriefUnit } from "../../../src/research/baseline-agent/brief.js";

const passage = (paper: string, said: string) => `@@ ${paper} | § 3 Results\n${said}`;
const answer = (weights: Readonly<Record<string, number>>, ...passages: string[]) =>
  answerQuestion(
    { kind: "question", unit: "answer-1", weights, papers: [] } as unknown as BriefUnit,
    passages.join("\n\n"),
  );
const said = "The tactile residual raised the success rate of rotation from 41 to 87 percent.";

test("a passage that holds 60 % of the question's weight is quoted, with its paper", () => {
  const { quotes, statements, not_found } = answer({ tactile: 3, rotation: 3, money: 4 }, passage("p1", said));
  expect({ quotes, not_found }).toEqual({ quotes: [{ id: "q1", paper: "p1", quote: said }], not_found: null });
  expect(statements).toEqual([{ text: said, rests_on: ["p1#q1"] }]);
});

test("one that holds less is not, and neither is anything else: the words that nobody has weigh most", () => {
  expect(answer({ tactile: 3, rotation: 2.9, money: 4 }, passage("p1", said))).toMatchObject({
    quotes: [],
    statements: [],
    not_found: expect.stringContaining("No passage"),
  });
  expect(answer({}, passage("p1", said)).quotes).toEqual([]);
});

test("British and American endings are one word", () => {
  const text = "Randomisation was analysed in each of the forty trials that we ran in two laboratories.";
  expect(answer({ randomization: 3, analyzed: 3 }, passage("p1", text)).quotes).toHaveLength(1);
});

test.each([
  ["a heading of Markdown", "## 3 Results"],
  ["a heading of a PDF", "3 Results"],
  ["a bare heading", "Abstract"],
  ["a page's mark", "[p. 4]"],
  ["a row of a table", "| tactile | rotation |"],
])("%s is no part of a quote", (_, heading) => {
  const { quotes } = answer({ tactile: 3, rotation: 3 }, passage("p1", `${heading}\n${said}`));
  expect(quotes.map(({ quote }) => quote)).toEqual([said]);
});

test("a sentence that two papers have is quoted once, and at most five are", () => {
  const others = Array.from(
    { length: 9 },
    (_, n) => `The tactile residual of series ${n} kept its rotation for an hour.`,
  );
  const { quotes } = answer(
    { tactile: 3, rotation: 3 },
    passage("p1", said),
    passage("p2", [said, ...others].join(" ")),
  );
  expect(quotes).toHaveLength(5);
  expect(new Set(quotes.map(({ quote }) => quote)).size).toBe(5);
});
