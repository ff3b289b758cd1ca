import type { LedgerLine } from "../generated/ledger.js";
import type { Unit } from "./types.js";

/** The parts of a unit that is thought over: one agent drafts, a critic names what is wrong, the first answers. */
export const thinkingRoles = { draft: "draft", critic: "critic", answer: "answer" } as const;

/** A part of a unit that agents share. */
export type Part = Required<Pick<Unit, "role" | "round">>;

/**
 * The next part of a unit that is thought over; undefined where one agent does it alone, because an answer was refused
 * and only has to be corrected.
 *
 * `lines`: the ledger's lines of the unit since it was last accepted or reset, without failures. `kept`: of these, the
 * noted ones whose file still says what it said, the oldest first; without their draft they say nothing. `rounds`: most
 * critiques.
 */
export function nextThought(lines: readonly LedgerLine[], kept: readonly Part[], rounds: number): Part | undefined {
  const refused = lines.findLast(({ outcome }) => outcome === "refused");
  if (refused !== undefined && refused.role !== thinkingRoles.draft) return undefined;
  const last = kept.findLastIndex(({ role }) => role === thinkingRoles.draft) === -1 ? undefined : kept.at(-1);
  if (last === undefined) return { role: thinkingRoles.draft, round: 1 };
  if (last.role === thinkingRoles.draft) return { role: thinkingRoles.critic, round: 1 };
  if (last.role === thinkingRoles.critic) return { role: thinkingRoles.answer, round: last.round };
  // Fewer rounds may be allowed by now than when it was noted.
  return last.round < rounds ? { role: thinkingRoles.critic, round: last.round + 1 } : last;
}

/** Whether what this part leaves is judged as the unit's result, whatever it says. */
export const isLastThought = (part: Part, rounds: number): boolean =>
  part.role === thinkingRoles.answer && part.round >= rounds;
