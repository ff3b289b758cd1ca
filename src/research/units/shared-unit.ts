import type { LedgerLine } from "../../engine/generated/ledger.js";
import { isLastThinkingPart, thinkingRoles } from "../../engine/loop/think.js";
import { type AgentNotes, openLines, readNoted, unitsWithNotes } from "../../engine/storage/noted.js";
import type { CritiqueResult } from "../generated/result-critique.js";
import type { Unit } from "../../engine/loop/types.js";
import type { ResearchState, Sharing } from "./unit-kind.js";

/** The parts of a batch that several agents screen. */
export const readerRoles = ["reader-1", "reader-2", "reader-3"] as const;

export const isReader = ({ role }: Pick<Unit, "role">): boolean =>
  role !== undefined && (readerRoles as readonly string[]).includes(role);

export const isThought = ({ role }: AgentNotes): boolean => Object.hasOwn(thinkingRoles, role);

/** What earlier agents left for the unit, the oldest first. */
export const notedOf = ({ noted }: ResearchState, { id }: Pick<Unit, "id">): readonly AgentNotes[] =>
  noted.get(id) ?? [];

/** The draft, or the last answer, that a critic judges and an answer mends. */
export const draftOf = (state: ResearchState, unit: Unit): AgentNotes | undefined =>
  notedOf(state, unit).findLast(({ role }) => role === thinkingRoles.draft || role === thinkingRoles.answer);

export type Finding = CritiqueResult["findings"][number];

/** What a critic holds against it. */
export const findingsOf = (state: ResearchState, unit: Unit): readonly Finding[] =>
  (notedOf(state, unit).findLast(({ role }) => role === thinkingRoles.critic)?.value as Finding[] | undefined) ?? [];

/** Whether what this part leaves is judged as the unit's result, whatever it says; where nobody shares it, always. */
export const isJudged = ({ role, round = 1 }: Unit, { think }: Sharing): boolean =>
  role === undefined || (think !== undefined && isLastThinkingPart({ role, round }, think.rounds));

/** Whether the unit's last refusal is one of the same part: no agent sees why another one was refused. */
export const isOwnRefusal = ({ ledger }: ResearchState, { id, role }: Unit): boolean => {
  const last = openLines(ledger, id).at(-1);
  return role === undefined || (last?.outcome === "refused" && last.role === role);
};

/** What is noted of all units. */
interface LoadedNotes {
  readonly noted: ReadonlyMap<string, readonly AgentNotes[]>;
  /** Lines of what can't be used and was not done again: its file is gone or was changed, or what it rests on was. */
  readonly lost: readonly LedgerLine[];
}

/** Reads what is noted. `basisOf`: what stands now for the material of the unit that a line is about. */
export async function loadNoted(
  folder: string,
  ledger: readonly LedgerLine[],
  basisOf: (line: LedgerLine) => string,
): Promise<LoadedNotes> {
  const noted = new Map<string, readonly AgentNotes[]>();
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
    noted.set(
      unit,
      usable.filter((each) => each !== undefined),
    );
  }
  return { noted, lost };
}
