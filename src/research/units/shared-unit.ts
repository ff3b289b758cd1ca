import type { LedgerLine } from "../../engine/generated/ledger.js";
import { isLastThought, nextThought, type Part, thinkingRoles } from "../../engine/loop/think.js";
import { type Noted, openLines, readNoted, unitsWithNoted } from "../../engine/storage/noted.js";
import type { CritiqueResult } from "../generated/result-critique.js";
import type { DiscoveryResult } from "../generated/result-discovery.js";
import type { ConflictRule } from "./screening/readers.js";
import type { ScreeningCandidate } from "./screening/search-results.js";
import type { ResearchState, ResearchUnit } from "../derived/status.js";

/** Which units several agents share, and how. Nothing: each is done by one agent. */
export interface Sharing {
  /** Every unit is thought over, in at most so many rounds. */
  readonly think?: { readonly rounds: number };
  /** Discovery batches are screened by two agents, each alone; what becomes of records on which they disagree. */
  readonly readers?: { readonly conflicts: ConflictRule };
}

/** The unit, with the part of it that comes next where agents share it. Pure. */
export function withPart(unit: ResearchUnit, state: ResearchState, sharing: Sharing): ResearchUnit {
  const part = partOf(unit, state, sharing);
  return part === undefined ? unit : { ...unit, ...part };
}

function partOf(unit: ResearchUnit, state: ResearchState, { think, readers }: Sharing): Part | undefined {
  const noted = notedOf(state, unit);
  if (unit.kind === "discovery" && readers !== undefined) return { role: nextReader(noted), round: 1 };
  if (think === undefined) return undefined;
  return nextThought(openLines(state.ledger, unit.id), noted.filter(isThought), think.rounds);
}

/** Who screens next: the first that has not yet; a third one only where the first two disagreed. */
const nextReader = (noted: readonly Noted[]): string =>
  readerRoles.find((wanted) => !noted.some(({ role }) => role === wanted)) ?? "reader-3";

/** The parts of a batch that several agents screen. */
export const readerRoles = ["reader-1", "reader-2", "reader-3"] as const;

export const isReader = ({ role }: Pick<ResearchUnit, "role">): boolean =>
  role !== undefined && (readerRoles as readonly string[]).includes(role);

/** What a reader left. */
export interface NotedScreening {
  readonly result: DiscoveryResult;
  /** The records that all readers judge. */
  readonly candidates: readonly ScreeningCandidate[];
  /** Of the second reader: the ids of those on which the two disagree. */
  readonly conflicts?: readonly string[];
}

/** What the readers of the unit left so far. */
export const screeningsOf = (
  state: ResearchState,
  unit: Pick<ResearchUnit, "id">,
): readonly (Noted & { readonly value: NotedScreening })[] =>
  notedOf(state, unit).flatMap((noted) =>
    isReader(noted) ? [{ ...noted, value: noted.value as NotedScreening }] : [],
  );

/** What a further reader is to judge: what the first one did, and of that a third one what the two disagree on. */
export function candidatesFor(state: ResearchState, unit: ResearchUnit): readonly ScreeningCandidate[] | undefined {
  const [first, second] = screeningsOf(state, unit);
  if (first === undefined || unit.kind !== "discovery") return undefined;
  const { candidates } = first.value;
  if (second === undefined) return candidates;
  const disagreed = new Set(second.value.conflicts);
  return candidates.filter(({ id }) => disagreed.has(id));
}

const isThought = ({ role }: Noted): boolean => Object.hasOwn(thinkingRoles, role);

/** What earlier agents left for the unit, the oldest first. */
export const notedOf = ({ noted }: ResearchState, { id }: Pick<ResearchUnit, "id">): readonly Noted[] =>
  noted.get(id) ?? [];

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

/** Whether the unit's last refusal is one of the same part: no agent sees why another one was refused. */
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
