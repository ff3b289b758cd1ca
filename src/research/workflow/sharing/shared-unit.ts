import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { isLastThought, nextThought, type Part, thinkingRoles } from "../../../engine/loop/think.js";
import { type Noted, openLines, readNoted, unitsWithNoted } from "../../../engine/storage/noted.js";
import type { CritiqueResult } from "../../generated/result-critique.js";
import type { ResearchState, ResearchUnit } from "../decisions/status.js";

/** Which units several agents share, and how. Nothing: each is done by one agent. */
export interface Sharing {
  /** Every unit is thought over, in at most so many rounds. */
  readonly think?: { readonly rounds: number };
}

/** The unit, with the part of it that comes next where agents share it. Pure. */
export function withPart(unit: ResearchUnit, state: ResearchState, sharing: Sharing): ResearchUnit {
  const part = partOf(unit, state, sharing);
  return part === undefined ? unit : { ...unit, ...part };
}

function partOf(unit: ResearchUnit, state: ResearchState, { think }: Sharing): Part | undefined {
  const lines = openLines(state.ledger, unit.id);
  const noted = notedOf(state, unit);
  return think === undefined ? undefined : nextThought(lines, noted.filter(isThought), think.rounds);
}

const isThought = ({ role }: Noted): boolean => Object.hasOwn(thinkingRoles, role);

/** What earlier agents left for the unit, the oldest first. */
export const notedOf = ({ noted }: ResearchState, { id }: Pick<ResearchUnit, "id">): readonly Noted[] =>
  noted?.get(id) ?? [];

/** The draft, or the last answer, that a critic judges and an answer mends. */
export const draftOf = (state: ResearchState, unit: ResearchUnit): Noted | undefined =>
  notedOf(state, unit).findLast(({ role }) => role === thinkingRoles.draft || role === thinkingRoles.answer);

export type Finding = CritiqueResult["findings"][number];

/** What a critic holds against it. */
export const findingsOf = (state: ResearchState, unit: ResearchUnit): readonly Finding[] =>
  (notedOf(state, unit).findLast(({ role }) => role === thinkingRoles.critic)?.value as Finding[] | undefined) ?? [];

/** Whether what this part leaves is judged as the unit's result, whatever it says; where nobody shares it, always. */
export const isJudged = ({ role, round = 1 }: ResearchUnit, { think }: Sharing): boolean =>
  role === undefined || (think !== undefined && isLastThought({ role, round }, think.rounds));

/** Whether the unit's last refusal is one of the same part: no agent is told what another one was refused for. */
export const isOwnRefusal = ({ ledger }: ResearchState, { id, role }: ResearchUnit): boolean => {
  const last = openLines(ledger, id).at(-1);
  return role === undefined || (last?.outcome === "refused" && last.role === role);
};

/** What is noted of all units. */
interface LoadedNotes {
  readonly noted: ReadonlyMap<string, readonly Noted[]>;
  /** Lines of what can't be used and was not done again: its file is gone or was changed, or what it rests on was. */
  readonly lost: readonly LedgerLine[];
}

/** Reads what is noted. `basisOf`: what stands for the material of a unit now. */
export async function loadNoted(
  folder: string,
  ledger: readonly LedgerLine[],
  basisOf: (unit: string) => string,
): Promise<LoadedNotes> {
  const noted = new Map<string, readonly Noted[]>();
  const lost: LedgerLine[] = [];
  for (const unit of unitsWithNoted(ledger)) {
    const lines = openLines(ledger, unit).filter(({ outcome }) => outcome === "noted");
    const read = await readNoted(folder, lines);
    const basis = basisOf(unit);
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
