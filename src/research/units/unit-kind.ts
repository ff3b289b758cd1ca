import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Part } from "../../engine/loop/think.js";
import type { Delay, Delayed, ToolServer, Unit, Verdict } from "../../engine/loop/types.js";
import type { Clock } from "../../engine/lib/clock.js";
import type { AgentNotes } from "../../engine/storage/agent-notes.js";
import type { KeptFields } from "../../engine/storage/result-file.js";
import type { Reset } from "../../engine/storage/state/reset.js";
import type { Problem, SchemaName } from "../../engine/storage/schema-check.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import type { Standing } from "../derived/status.js";
import type { Refusal, Rrd } from "../generated/rrd.js";
import type { PaperLookups } from "../paper-lookups/paper-lookups.js";
import type { Sources } from "../screening/paper-sources.js";
import { isUserSource } from "../papers/records/own-list.js";
import type { Acceptance, JudgingContext, Rejection } from "./judged-result.js";

/** A project: its records, its ledger, and the standing of its papers. */
export interface Project {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
  readonly status: Standing;
  /** Number of unscreened records in folders and lists, if a forecast has counted them. */
  readonly records?: number;
}

/** The state that the workflow reads from the disk before each iteration. */
export interface ResearchState extends Project {
  readonly status: ProjectStatus;
  /** Notes of agents for the next agent of the same unit, by unit id, oldest first. */
  readonly agentNotes: ReadonlyMap<string, readonly AgentNotes[]>;
}

/** The status of a project: what is done and what remains. */
export interface ProjectStatus extends Standing {
  /** Names of the kinds that are done, in order, up to the first that is not. */
  readonly done: readonly string[];
  readonly phase: Rrd["phase"];
}

/** The services that a project can use. */
export type Library = Sources & PaperLookups;

/** What a preparation can use. */
export interface PreparationContext extends Clock {
  /** The project's folder. */
  readonly folder: string;
  readonly library: Library;
  /** Whether to wait for a busy host. */
  readonly isPatient: boolean;
  /** True to read a paper by its abstract if its text is not available now; otherwise it is read later. */
  readonly abstracts?: boolean;
}

/** Access to the disk, and to sources that need no network. */
export interface Disk extends Omit<Sources, "search"> {
  readonly folder: string;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** The material that a preparation gathered for a unit. Each kind has its own type; others use only the text. */
export interface Material {
  /** The document that the agent reads. */
  readonly text?: DocumentText;
}

/** What the choice of the next unit depends on. */
export interface ChoiceContext {
  /** Ids of units in progress. */
  readonly unitsInProgress: ReadonlySet<string>;
  /** Units that could not be prepared yet. */
  readonly delayedUnits: readonly Delayed[];
  /** The project's folder, for advice in messages. */
  readonly folder: string;
}

/** The estimated usage of one unit, for all requests of its agent. It is used until this machine has measurements. */
export interface UsageEstimate {
  /** Input tokens. */
  readonly input: number;
  /** Output tokens. */
  readonly output: number;
  readonly minutes: number;
}

/** Input tokens of every brief: the CLI's own text, and a brief of maximum size. */
export const briefInput = 2_000 + 6_000;

/**
 * A kind of unit: a folder here, and an entry in `kinds.ts`. Its `kind.ts` has the data that is needed at every start
 * and imports little; `load` imports the rest before the first unit of a run.
 */
export interface UnitKind<M extends Material = Material, Result = unknown> {
  /** The name in units, in the ledger and in `reset --unit`. */
  readonly name: string;
  readonly phase: Exclude<Rrd["phase"], "COMPLETE">;
  /** The part of prompt.md that tells its agent what to do. */
  readonly part: string;
  /** The schema of the result. */
  readonly schema: SchemaName;
  readonly estimate: UsageEstimate;
  /** The name of its product for users, such as "the report"; absent if it has no product. */
  readonly product?: string;
  /** Documents of the project that a unit writes as a whole; absent if it writes no documents. */
  readonly documents?: readonly string[];
  /** What the agent of this unit is doing, such as "reads smith2020". */
  activityText(name: string): string;
  /** Whether the time of its units counts as working time: only the first unit, never, or (if absent) always. */
  readonly timed?: "once" | "never";
  /** Set if no other unit needs its units. If only these remain and can't be done, the project is complete. */
  readonly isOptional?: true;
  /** Whether a ledger line belongs to a unit of this kind. */
  owns(line: Pick<LedgerLine, "unit" | "phase">): boolean;
  /** Whether the project wants this kind; if absent, it always does. */
  isWanted?(project: Project): boolean;
  /** Whether no unit of this kind remains. Called only if all earlier kinds are done. */
  isDone(project: Project): boolean;
  /** The number of remaining units; if absent, one until the kind is done. */
  remainingUnits?(project: Project, isDone: boolean): number;
  /** Values for placeholders in all sections of prompt.md. */
  placeholders?(rrd: Rrd): Readonly<Record<string, string | number>>;
  /** The next unit while the kind is not done. A delay means that the remaining units must wait. Pure. */
  next(project: Project, choosing: ChoiceContext): Unit | "wait" | Delay | Verdict;
  /** The state that the work on a unit depends on and that the user may edit. */
  basis(rrd: Rrd, id: string): readonly unknown[];
  /** More values that a preparation depends on; if absent, none. */
  extraBasis?(state: ResearchState, unit: Unit): readonly unknown[];
  /** The next part of a unit that agents share in this kind's own way, other than by thinking it over. */
  nextPart?(notes: readonly AgentNotes[], sharing: Sharing): Part | undefined;
  /**
   * Resets the units of this kind, for `reset --unit`. Absent if the units are papers, which `reset --paper` resets one
   * by one. Does not change its arguments.
   * @throws ExpectedError if there is nothing to reset.
   */
  reset?(rrd: Rrd, folder: string): KindReset | Promise<KindReset>;
  load(): Promise<UnitWork<M, Result>>;
}

/** The result of resetting a kind of unit. */
export interface KindReset extends Pick<Reset<Rrd>, "files" | "obsoletePaths"> {
  readonly rrd: Rrd;
  /** What was reset, without a full stop. */
  readonly message: string;
  /** More sentences. */
  readonly moreMessages?: readonly string[];
}

/** The functions that do the units of one kind. */
export interface UnitWork<M extends Material, Result> {
  /** Gathers the material of a unit from outside; if absent, the unit needs none. */
  prepare?(outside: PreparationContext, state: ResearchState, unit: Unit, signal: AbortSignal): Promise<M | Delay>;
  /** Gathers the material that earlier preparations stored on the disk. Sends no requests and writes nothing. */
  loadStored?(disk: Disk, state: ResearchState, unit: Unit): Promise<StoredMaterial<M>>;
  /** Whether code can do the unit without an agent; if absent, it never can. */
  needsNoAgent?(project: Project, unit: Unit, material: M): boolean;
  /** Does a unit for which `needsNoAgent` is true. */
  completeByCode?(rrd: Rrd, unit: Unit, material: M, judging: JudgingContext): Acceptance;
  /** Closes an optional kind in a project if its units can't be done. `why`: the reason, one sentence. */
  closeUnfinished?(folder: string, rrd: Rrd, why: string, judging: JudgingContext): Promise<Acceptance>;
  /** The changes if a unit continues without one of its agents; undefined if nothing changes. */
  continueWithFewer?(
    folder: string,
    state: ResearchState,
    unit: Unit,
    why: string,
    judging: JudgingContext,
  ): Promise<Acceptance | undefined>;
  /** Writes the unit's part of a brief. Reads only the disk. */
  brief(request: BriefRequest<M>): UnitBrief<M> | Promise<UnitBrief<M>>;
  /**
   * The parts of a short repair in addition to the reasons, and the accepted fields that the agent must not change.
   * Undefined if the complete brief is needed. If absent, the reasons are enough.
   */
  repair?(refused: RefusedResult<M>): Promise<RepairParts | undefined>;
  /** Handles the result of an agent that shares the unit in this kind's own way; undefined for other agents. */
  receivePart?(shared: SharedResult<M>): Promise<PartOutcome | undefined>;
  /** Checks a result that matches the schema. Returns the changes if it is accepted. Does not change its arguments. */
  judge(
    project: Project,
    unit: Unit,
    result: Result,
    material: M,
    judging: JudgingContext,
  ): Promise<Acceptance | Rejection> | Acceptance | Rejection;
}

export interface StoredMaterial<M extends Material> {
  readonly material: M;
  /** What a run would do before it writes a brief from this material, one sentence each. */
  readonly missingSteps: readonly string[];
}

/** A sentence that says that a run would query services first; empty if nothing is missing. */
export const servicesNotice = (isComplete: boolean): string[] =>
  isComplete ? [] : ["A run would ask services about the papers first; their answers are missing here."];

/** Whether at least one of these sources is not on this machine. */
export const hasOnlineSource = (sources: readonly string[] = ["web"]): boolean =>
  sources.some((name) => name !== "samples" && !isUserSource(name));

/** Starts a server with these tools, for one paper if one is named. */
export type ServeTools = (names: readonly string[], paper?: string) => ToolServer;

/** What a unit's part of a brief is made from. */
export interface BriefRequest<M extends Material> {
  readonly state: ResearchState;
  readonly unit: Unit;
  /** The name of the agent that gets the brief; absent in previews. */
  readonly agent?: string;
  readonly material: M;
  /** An empty folder for files that the agent needs. */
  readonly workspace: string;
  /** How often the unit exceeded a model's context. Each time, the brief shows half as much. */
  readonly contextOverflows: number;
  /** Like `contextOverflows`, plus the space for a draft and its criticism. */
  readonly recordOverflows: number;
  /** True if the brief asks only for corrections of the last result. */
  readonly isRepair: boolean;
  readonly services: Sources["services"];
  /** Set if the agent can use tools. */
  readonly tools?: ServeTools;
}

/** A unit's part of a brief. */
export interface UnitBrief<M extends Material> {
  /** The machine-readable data of the unit. */
  readonly data: UnitData;
  /** Text after the data, such as the text of a paper. */
  readonly body?: string;
  /** Set if the brief must contain nothing else about the project: no description, history, or notes. */
  readonly isBare?: true;
  /** The eligibility criteria that the agent must answer. */
  readonly criteria?: string;
  /** The fields to extract. */
  readonly form?: string;
  /** The user's rubric, if the agent must give points. */
  readonly rubric?: string;
  /** Returns lines about related papers that were read, within this number of tokens. */
  readonly related?: (tokens: number) => readonly string[];
  /** Values of placeholders that depend on the unit. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** Whether the agent needs web search and fetch. */
  readonly web?: boolean;
  /** Whether the agent must read files in the workspace. */
  readonly read?: boolean;
  readonly tools?: ToolServer;
  /** The material for judging, if it differs from the prepared one, for example because only a part was shown. */
  readonly material?: M;
}

export type UnitData = { readonly kind: string; readonly unit: string } & Readonly<Record<string, unknown>>;

/** A refused result that may be corrected by a short repair. */
export interface RefusedResult<M extends Material> {
  readonly state: ResearchState;
  readonly unit: Unit;
  readonly material: M;
  readonly value: unknown;
  /** Violations of the schema. */
  readonly problems: readonly Problem[];
  readonly refusal: Refusal;
  /** How often the unit exceeded a model's context. */
  readonly contextOverflows: number;
}

export interface RepairParts {
  /** Quotes that were not found, each with the reason and the nearest passage of the text. */
  readonly passages: readonly { readonly quote: string; readonly why: string; readonly nearest: string }[];
  /** Accepted fields of the refused result. */
  readonly kept: KeptFields;
}

/** The result of one of several agents, in its workspace. */
export interface SharedResult<M extends Material> {
  readonly state: ResearchState;
  readonly unit: Unit;
  readonly material: M;
  readonly workspace: string;
  readonly sharing: Sharing;
  readonly judging: JudgingContext;
  readonly redact: (text: string) => string;
}

/** How agents share units. If empty, each unit has one agent. */
export interface Sharing {
  /** Every unit is thought over in at most this many rounds. */
  readonly think?: { readonly rounds: number };
  /** Two agents screen each discovery batch independently. `conflicts`: the rule for records on which they disagree. */
  readonly readers?: { readonly conflicts: ConflictRule };
  /**
   * The roles of the agents that check sentences independently. If absent, the agent of all other units checks them.
   */
  readonly checkers?: readonly string[];
  /** Set if a second agent fills in the form of each paper, without seeing the first agent's answers. */
  readonly second?: true;
}

/** The rule for a record on which two readers disagree. */
export type ConflictRule = "include" | "third" | "person";

/** A note from one agent for a later one. */
interface PartNote {
  readonly note: unknown;
  /** One line for the screen and the commit. */
  readonly summary: string;
}

/**
 * The outcome of a part: a note for the next agent, a refusal, or the unit's result. `instead`: an earlier agent's
 * result, which this agent accepted. `judged`: the merged result of several agents.
 */
export type PartOutcome = {
  readonly redacted?: boolean;
  readonly dropped?: readonly string[];
  /** A warning for the user. */
  readonly warning?: string;
} & (
  | PartNote
  | { readonly reasons: readonly string[] }
  | { readonly instead?: { readonly value: unknown; readonly agent: string }; readonly judged?: Acceptance | Rejection }
);
