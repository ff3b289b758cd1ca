import type { LedgerLine } from "../generated/ledger.js";
import type { Unit } from "./types.js";

/**
 * The roles in a unit with critique: one agent writes a draft, a critic lists its errors, and the first agent answers.
 */
export const thinkingRoles = { draft: "draft", critic: "critic", answer: "answer" } as const;

/** One part of a unit that several agents share. */
export type Part = Required<Pick<Unit, "role" | "round">>;

/**
 * The next part of a unit with critique; undefined if one agent continues alone, because an answer was refused and only
 * needs a correction.
 *
 * `lines`: the ledger lines of the unit since it was last accepted or reset, without failures. `notedParts`: the parts
 * with the outcome `noted` whose file is unchanged, oldest first; without a draft they can't be used. `rounds`: maximum
 * number of critiques.
 */
export function nextThinkingPart(
  lines: readonly LedgerLine[],
  notedParts: readonly Part[],
  rounds: number,
): Part | undefined {
  const lastRefused = lines.findLast(({ outcome }) => outcome === "refused");
  if (lastRefused !== undefined && lastRefused.role !== thinkingRoles.draft) return undefined;
  const lastPart =
    notedParts.findLastIndex(({ role }) => role === thinkingRoles.draft) === -1 ? undefined : notedParts.at(-1);
  if (lastPart === undefined) return { role: thinkingRoles.draft, round: 1 };
  if (lastPart.role === thinkingRoles.draft) return { role: thinkingRoles.critic, round: 1 };
  if (lastPart.role === thinkingRoles.critic) return { role: thinkingRoles.answer, round: lastPart.round };
  // The allowed number of rounds may have been reduced since.
  return lastPart.round < rounds ? { role: thinkingRoles.critic, round: lastPart.round + 1 } : lastPart;
}

/** Whether the answer of this part is always judged as the unit's result. */
export const isLastThinkingPart = (part: Part, rounds: number): boolean =>
  part.role === thinkingRoles.answer && part.round >= rounds;
