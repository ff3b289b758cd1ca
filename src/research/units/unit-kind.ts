import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Part } from "../../engine/loop/think.js";
import type { Delay, Delayed, ToolServer, Unit, Verdict } from "../../engine/loop/types.js";
import type { Clock } from "../../engine/lib/clock.js";
import type { AgentNotes } from "../../engine/storage/noted.js";
import type { Kept } from "../../engine/storage/result-file.js";
import type { Reset } from "../../engine/storage/state/reset.js";
import type { Problem, SchemaName } from "../../engine/storage/schema-check.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import type { Standing } from "../derived/status.js";
import type { Refusal, Rrd } from "../generated/rrd.js";
import type { PaperLookups } from "../paper-lookups/paper-lookups.js";
import type { Sources } from "../screening/paper-sources.js";
import { isBrought } from "../papers/records/own-list.js";
import type { Acceptable, Judging, Unacceptable } from "./judged-result.js";

/** The records of a project, its ledger, and where its papers stand. */
export interface Project {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
  readonly status: Standing;
  /** Records to screen that folders and lists hold, where a forecast has counted them. */
  readonly records?: number;
}

/** What the workflow reads off the disk before each iteration. */
export interface ResearchState extends Project {
  readonly status: ProjectStatus;
  /** What agents left for the next one that shares their unit, by the unit; the oldest first. */
  readonly noted: ReadonlyMap<string, readonly AgentNotes[]>;
}

/** Where a project stands: what is done and what is left. */
export interface ProjectStatus extends Standing {
  /** Names of the kinds of units that are done, in their order, up to the first that is not. */
  readonly done: readonly string[];
  readonly phase: Rrd["phase"];
}

/** What the world outside offers to a project. */
export type Library = Sources & PaperLookups;

/** What a preparation may ask. */
export interface Outside extends Clock {
  /** The project's. */
  readonly folder: string;
  readonly library: Library;
  /** Whether a busy host is waited for. */
  readonly isPatient: boolean;
  /** Whether a paper whose text can't be had now is read by its abstract instead of later. */
  readonly abstracts?: boolean;
}

/** What is kept on the disk, and what can be listed without the network. */
export interface Disk extends Omit<Sources, "search"> {
  readonly folder: string;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** What a preparation brought for a unit. Each kind has its own, and nobody else looks into it but for the text. */
export interface Material {
  /** The document that the agent reads. */
  readonly text?: DocumentText;
}

/** What is known when the next unit is chosen. */
export interface Choosing {
  /** Ids of units under way. */
  readonly taken: ReadonlySet<string>;
  /** Units that could not be prepared just now. */
  readonly later: readonly Delayed[];
  /** The project's folder, for advice. */
  readonly folder: string;
}

/** What one unit takes where nothing is known of this machine's own: all requests of its agent together. */
export interface Figure {
  /** Tokens. */
  readonly input: number;
  readonly output: number;
  readonly minutes: number;
}

/** Tokens that every brief takes: what the CLI puts in front of it, and the brief at its bound. */
export const briefInput = 2_000 + 6_000;

/**
 * A kind of unit: a folder here, and a line in `kinds.ts`. What is said of it at every start stands in its `kind.ts`,
 * which loads nothing; what works on it is loaded with the first unit of a run.
 */
export interface UnitKind<M extends Material = Material, Result = unknown> {
  /** As units, the ledger and `reset --unit` name it. */
  readonly name: string;
  readonly phase: Exclude<Rrd["phase"], "COMPLETE">;
  /** The part of prompt.md that tells its agent what to do. */
  readonly part: string;
  /** The schema of its result. */
  readonly schema: SchemaName;
  readonly figure: Figure;
  /** What people call what it writes, such as "the report"; absent: nothing that has a name. */
  readonly product?: string;
  /** Documents of the project that a unit writes whole; absent: none. */
  readonly writes?: readonly string[];
  /** What an agent at work on the unit of this name does: "reads smith2020". */
  doing(name: string): string;
  /** When the time of its units is that of the work: only the first time it is done, or never; absent: always. */
  readonly timed?: "once" | "never";
  /** Nothing waits for its units: a project of which they alone are left is complete where they can't be had. */
  readonly isOptional?: true;
  /** Whether a line of the ledger is about a unit of this kind. */
  owns(line: Pick<LedgerLine, "unit" | "phase">): boolean;
  /** Whether the project asks for it; absent: it always does. */
  isWanted?(project: Project): boolean;
  /** Whether nothing of this kind is left to do. Asked only once all kinds before it are done. */
  isDone(project: Project): boolean;
  /** How many units are left; absent: one until it is done. */
  left?(project: Project, isDone: boolean): number;
  /** Values for placeholders of prompt.md, in whatever part they stand. */
  placeholders?(rrd: Rrd): Readonly<Record<string, string | number>>;
  /** The next unit while it is not done; a delay: what is left of this kind has to wait. Pure. */
  next(project: Project, choosing: Choosing): Unit | "wait" | Delay | Verdict;
  /** What the work on a unit rests on, of what a person may edit. */
  basis(rrd: Rrd, id: string): readonly unknown[];
  /** What a preparation rests on besides; absent: nothing. */
  alsoRestsOn?(state: ResearchState, unit: Unit): readonly unknown[];
  /** The part that comes next where agents share the unit otherwise than by thinking it over. */
  nextPart?(noted: readonly AgentNotes[], sharing: Sharing): Part | undefined;
  /**
   * The project once its units are to be done again, by `reset --unit`; absent: they are papers, and `reset --paper`
   * takes back one. Changes nothing. @throws ExpectedError where there is nothing to do again.
   */
  takeBack?(rrd: Rrd, folder: string): TakenBack | Promise<TakenBack>;
  load(): Promise<UnitWork<M, Result>>;
}

/** What a reset of a kind of unit leaves. */
export interface TakenBack extends Pick<Reset<Rrd>, "files" | "forgets"> {
  readonly rrd: Rrd;
  /** What is done again, without a full stop. */
  readonly says: string;
  /** Further sentences. */
  readonly more?: readonly string[];
}

/** What works on the units of one kind. */
export interface UnitWork<M extends Material, Result> {
  /** Brings what a unit needs from outside; absent: nothing. */
  prepare?(outside: Outside, state: ResearchState, unit: Unit, signal: AbortSignal): Promise<M | Delay>;
  /** The same from what earlier preparations left on the disk. Asks nobody and writes nothing. */
  kept?(disk: Disk, state: ResearchState, unit: Unit): Promise<KeptMaterial<M>>;
  /** Whether code alone can do the unit; absent: never. */
  isSettled?(project: Project, unit: Unit, material: M): boolean;
  /** Does a unit that `isSettled`. */
  settle?(rrd: Rrd, unit: Unit, material: M, judging: Judging): Acceptable;
  /** Ends what is open of an optional kind in the project of this folder; `why`: it can't be had, a sentence. */
  without?(folder: string, rrd: Rrd, why: string, judging: Judging): Promise<Acceptable>;
  /** What is written where the unit goes on without one of several agents that share it; undefined: nothing. */
  withFewer?(
    folder: string,
    state: ResearchState,
    unit: Unit,
    why: string,
    judging: Judging,
  ): Promise<Acceptable | undefined>;
  /** Its part of a brief. Reads the disk and nothing else. */
  brief(request: BriefRequest<M>): UnitBrief<M> | Promise<UnitBrief<M>>;
  /**
   * What a short repair says besides the reasons, and what it leaves to the agent no say in. Undefined where the whole
   * brief has to be given again. Absent: the reasons say all.
   */
  repair?(refused: RefusedResult<M>): Promise<RepairParts | undefined>;
  /** Hears an agent that shares the unit in this kind's own way; undefined where it is not one of those. */
  hear?(shared: SharedResult<M>): Promise<Heard | undefined>;
  /** Checks a result that fits the schema, and says what is written where it is accepted. Changes nothing. */
  judge(
    project: Project,
    unit: Unit,
    result: Result,
    material: M,
    judging: Judging,
  ): Promise<Acceptable | Unacceptable> | Acceptable | Unacceptable;
}

export interface KeptMaterial<M extends Material> {
  readonly material: M;
  /** What a run would do before it wrote a brief of it, a sentence each. */
  readonly first: readonly string[];
}

/** That something is missing which a run would ask for. */
export const asking = (isWhole: boolean): string[] =>
  isWhole ? [] : ["A run would ask services about the papers first; their answers are missing here."];

/** Whether one of these sources can't be had on this machine. */
export const isOnTheWeb = (sources: readonly string[] = ["web"]): boolean =>
  sources.some((name) => name !== "samples" && !isBrought(name));

/** The server of these tools, for one paper where one is named. */
export type ServeTools = (names: readonly string[], paper?: string) => ToolServer;

/** What a unit's part of a brief is made from. */
export interface BriefRequest<M extends Material> {
  readonly state: ResearchState;
  readonly unit: Unit;
  /** The name of the agent that is to do it; absent where nobody is about to. */
  readonly agent?: string;
  readonly material: M;
  /** An empty folder, in which files for the agent may be laid. */
  readonly workspace: string;
  /** How often the unit filled a model's context too far: each time half as much is shown. */
  readonly smaller: number;
  /** The same, with the room that a draft and what is held against it take. */
  readonly records: number;
  /** Only what is wrong with the last result is asked for. */
  readonly isRepair: boolean;
  readonly services: Sources["services"];
  /** Set where the agent takes tools. */
  readonly tools?: ServeTools;
}

/** A unit's part of a brief. */
export interface UnitBrief<M extends Material> {
  /** The machine-readable part: what the unit is about. */
  readonly data: UnitData;
  /** What stands behind the data, such as the text of a paper. */
  readonly body?: string;
  /** Nothing else is said of the project: neither what it is about, nor what happened in it, nor anybody's notes. */
  readonly isBare?: true;
  /** The eligibility criteria that the unit answers. */
  readonly criteria?: string;
  /** The fields to extract. */
  readonly form?: string;
  /** The rubric of the person's own that it gives points by. */
  readonly rubric?: string;
  /** Lines on what was read already and belongs to it, in so many tokens. */
  readonly related?: (tokens: number) => readonly string[];
  /** Placeholders of which this unit knows more than its kind. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** Whether it takes web search and fetch. */
  readonly web?: boolean;
  /** Whether files in the workspace have to be read. */
  readonly read?: boolean;
  readonly tools?: ToolServer;
  /** Where what is judged differs from what was prepared, as by what was shown of it. */
  readonly material?: M;
}

export type UnitData = { readonly kind: string; readonly unit: string } & Readonly<Record<string, unknown>>;

/** A refused result of which a short repair may be asked. */
export interface RefusedResult<M extends Material> {
  readonly state: ResearchState;
  readonly unit: Unit;
  readonly material: M;
  readonly value: unknown;
  /** What breaks the schema. */
  readonly problems: readonly Problem[];
  readonly refusal: Refusal;
  /** How often the unit filled a model's context too far. */
  readonly smaller: number;
}

export interface RepairParts {
  /** For quotes that were not found: why, and the passage of the text that comes nearest. */
  readonly passages: readonly { readonly quote: string; readonly why: string; readonly nearest: string }[];
  /** Fields of the refused result that nobody found fault with. */
  readonly kept: Kept;
}

/** What one of several agents left in its workspace. */
export interface SharedResult<M extends Material> {
  readonly state: ResearchState;
  readonly unit: Unit;
  readonly material: M;
  readonly workspace: string;
  readonly sharing: Sharing;
  readonly judging: Judging;
  readonly redact: (text: string) => string;
}

/** Which units several agents share, and how. Nothing: each is done by one agent. */
export interface Sharing {
  /** Every unit is thought over, in at most so many rounds. */
  readonly think?: { readonly rounds: number };
  /** Discovery batches are screened by two agents, each alone; what becomes of records on which they disagree. */
  readonly readers?: { readonly conflicts: ConflictRule };
  /** The roles of those who check sentences, each alone. Absent: one, the agent of every other unit. */
  readonly checkers?: readonly string[];
  /** A second agent fills in the form of each paper, and sees nothing of what the first gave. */
  readonly second?: true;
}

/** What becomes of a record on which two readers disagree. */
export type ConflictRule = "include" | "third" | "person";

/** What an agent left for one that comes after it. */
interface ToNote {
  readonly note: unknown;
  /** One line for the screen and the commit. */
  readonly summary: string;
}

/**
 * What becomes of a part's result: it is noted for the next agent, refused, or the unit's result is judged; `instead`:
 * that of an earlier agent, which this one has nothing to hold against; `judged`: that of several agents as one.
 */
export type Heard = {
  readonly redacted?: boolean;
  readonly dropped?: readonly string[];
  /** What a person has to know of it. */
  readonly warning?: string;
} & (
  | ToNote
  | { readonly reasons: readonly string[] }
  | {
      readonly instead?: { readonly value: unknown; readonly agent: string };
      readonly judged?: Acceptable | Unacceptable;
    }
);
