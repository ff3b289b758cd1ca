import { expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { isLastThinkingPart, nextThinkingPart, type Part } from "../../../src/engine/loop/think.js";

const draft: Part = { role: "draft", round: 1 };
const critic = (round: number): Part => ({ role: "critic", round });
const answer = (round: number): Part => ({ role: "answer", round });
const line = (outcome: LedgerLine["outcome"], role?: string): LedgerLine => ({
  iteration: 1,
  at: "2026-01-01T00:00:00Z",
  unit: "p1",
  phase: "ANALYSIS",
  outcome,
  ...(role === undefined ? {} : { role }),
});

test.each([
  ["nothing", [], draft],
  ["a draft", [draft], critic(1)],
  ["a first critique", [draft, critic(1)], answer(1)],
  ["a first answer", [draft, critic(1), answer(1)], critic(2)],
  ["a second critique", [draft, critic(1), answer(1), critic(2)], answer(2)],
  ["the last answer", [draft, critic(1), answer(1), critic(2), answer(2)], answer(2)],
  ["an answer to more critiques than are allowed by now", [draft, critic(3), answer(3)], answer(3)],
  ["parts whose draft is gone", [critic(1), answer(1)], draft],
])("after %s of two rounds comes the part that is missing", (_, kept, next) => {
  expect(nextThinkingPart([], kept, 2)).toEqual(next);
});

test("once an answer was refused one agent mends it; a draft that was refused is drafted again", () => {
  expect(nextThinkingPart([line("refused", "answer")], [draft, critic(1)], 2)).toBeUndefined();
  expect(nextThinkingPart([line("refused", "answer"), line("noted", "draft")], [draft], 2)).toBeUndefined();
  expect(nextThinkingPart([line("refused")], [], 2)).toBeUndefined();
  expect(nextThinkingPart([line("refused", "draft")], [], 2)).toEqual(draft);
  expect(nextThinkingPart([line("refused", "answer"), line("refused", "draft")], [], 2)).toEqual(draft);
  expect(nextThinkingPart([line("noted", "answer")], [draft, critic(1), answer(1)], 2)).toEqual(critic(2));
});

test("the answer of the last round is the result, and no other part is", () => {
  const parts = [draft, critic(2), answer(1), answer(2), answer(3)];
  expect(parts.map((part) => isLastThinkingPart(part, 2))).toEqual([false, false, false, true, true]);
});
