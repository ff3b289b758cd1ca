import type { LedgerLine } from "../../engine/generated/ledger.js";
import { isLastThinkingPart, thinkingRoles } from "../../engine/loop/think.js";
import { type AgentNotes, openLines, readNoted, unitsWithNotes } from "../../engine/storage/agent-notes.js";
import type { CritiqueResult } from "../generated/result-critique.js";
import type { Unit } from "../../engine/loop/types.js";
import type { ResearchState, Sharing } from "./unit-kind.js";

/** The roles of agents that screen the same batch. */
export const readerRoles = ["reader-1", "reader-2", "reader-3"] as const;

export const isReader = ({ role }: Pick<Unit, "role">): boolean =>
  role !== undefined && (readerRoles as readonly string[]).includes(role);

export const isThinkingNote = ({ role }: AgentNotes): boolean => Object.hasOwn(thinkingRoles, role);

/** The notes of earlier agents of the unit, oldest first. */
export const notesOf = ({ agentNotes }: ResearchState, { id }: Pick<Unit, "id">): readonly AgentNotes[] =>
  agentNotes.get(id) ?? [];

/** The draft or last answer: the critic judges it, and the next answer improves it. */
export const draftOf = (state: ResearchState, unit: Unit): AgentNotes | undefined =>
  notesOf(state, unit).findLast(({ role }) => role === thinkingRoles.draft || role === thinkingRoles.answer);

export type Finding = CritiqueResult["findings"][number];

/** The critic's findings about the draft. */
export const findingsOf = (state: ResearchState, unit: Unit): readonly Finding[] =>
  (notesOf(state, unit).findLast(({ role }) => role === thinkingRoles.critic)?.value as Finding[] | undefined) ?? [];

/** Whether the result of this part counts as the unit's result. Always true if no other agent shares the unit. */
export const isJudged = ({ role, round = 1 }: Unit, { think }: Sharing): boolean =>
  role === undefined || (think !== undefined && isLastThinkingPart({ role, round }, think.rounds));

/** Whether the unit's last refusal was of the same part. Agents do not see refusals of other parts. */
export const wasLastRefused = ({ ledger }: ResearchState, { id, role }: Unit): boolean => {
  const last = openLines(ledger, id).at(-1);
  return role === undefined || (last?.outcome === "refused" && last.role === role);
};

/** The notes of all units. */
interface LoadedNotes {
  readonly agentNotes: ReadonlyMap<string, readonly AgentNotes[]>;
  /**
   * Ledger lines whose notes can't be used and were not made again: their file is missing or was changed, or their
   * basis has changed.
   */
  readonly lostLines: readonly LedgerLine[];
}

/** Reads the notes of all units. `basisOf`: the present basis of the unit in a ledger line. */
export async function loadAgentNotes(
  folder: string,
  ledger: readonly LedgerLine[],
  basisOf: (line: LedgerLine) => string,
): Promise<LoadedNotes> {
  const notesByUnit = new Map<string, readonly AgentNotes[]>();
  const lost: LedgerLine[] = [];
  for (const unit of unitsWithNotes(ledger)) {
    const lines = openLines(ledger, unit).filter(({ outcome }) => outcome === "noted");
    const read = await readNoted(folder, lines);
    const [line] = lines;
    if (line === undefined) continue;
    const basis = basisOf(line);
    const usable = read.map((each) => (each?.basis === basis ? each : undefined));
    const isDoneAgain = ({ role, round }: LedgerLine, index: number) =>
      lines.slice(index + 1).some((later) => later.role === role && later.round === round);
    lost.push(...lines.filter((line, index) => usable[index] === undefined && !isDoneAgain(line, index)));
    notesByUnit.set(
      unit,
      usable.filter((each) => each !== undefined),
    );
  }
  return { agentNotes: notesByUnit, lostLines: lost };
}
