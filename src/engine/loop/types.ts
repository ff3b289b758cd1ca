/**
 * The types of the loop. Read run-loop.ts first; this file defines what its parts require of each other.
 * Types that are written to a file or sent to another process are generated from a JSON Schema.
 */
import type {
  AgentEnd,
  AgentEvent,
  Billing,
  Failure,
  Forecast,
  LoopEvent,
  Outcome,
  Progress,
  Usage,
  Verdict,
} from "../generated/event.js";
import type { Digest } from "./run-record/digest.js";
import type { Compression, LoopMemory } from "./run-record/loop-memory.js";
import type { Clock, Span } from "../lib/clock.js";

export type { AgentEnd, AgentEvent, Billing, Failure, Forecast, LoopEvent, Outcome, Progress, Usage, Verdict };

/** An event without its time, which is added when the event is delivered. */
export type NewEvent = LoopEvent extends infer Event ? (Event extends LoopEvent ? Omit<Event, "at"> : never) : never;

/**
 * Reports an event to the terminal, JSON lines and hooks. Resolves after all of them have handled it, including a
 * running hook. A caller that awaits it is slowed down, so an agent that prints a gigabyte does not fill the memory.
 * Rejects only for a bug in this program.
 */
export type Tell = (event: NewEvent) => Promise<void>;

/** A piece of work for one iteration, chosen by the workflow. */
export interface Unit {
  /** Kind of work; only the workflow interprets it. */
  readonly kind: string;
  /** Unique within the workflow. A unit for a record has the id of the record. */
  readonly id: string;
  readonly phase: string;
  /** The title that the user sees. */
  readonly title: string;
  /** The part that this iteration does if several agents share the unit, such as `critic`. It determines the agent. */
  readonly role?: string;
  /** The number of times that the part has been done, including this time; at least 1. */
  readonly round?: number;
}

/**
 * The access of an agent in one iteration. Adapters translate it into flags of their CLI. The default is the least
 * access.
 */
export interface Access {
  /** Whether the agent may search the web and open web pages. */
  readonly web: boolean;
  /**
   * Whether the agent may read files in the workspace, for a text that is too long for the brief. It may always write
   * result.json.
   */
  readonly read: boolean;
  /** Classic mode: the agent works in the user's own folder with its own tools and settings, without confinement. */
  readonly everything: boolean;
  /**
   * True: the agent works on a folder with its own tools, but without the user's settings. In a sandbox it also has a
   * shell.
   */
  readonly shell?: true;
  /** Absolute paths in the workspace that the agent may read but not change; a sandbox enforces this. */
  readonly readOnly?: readonly string[];
  /** Tools of research-ralph; only for an agent with `takesTools`. */
  readonly tools?: ToolServer;
}

/** A program that serves read-only tools over MCP on its stdin and stdout. The CLI of the agent starts and ends it. */
export interface ToolServer {
  readonly command: string;
  readonly args: readonly string[];
  /** The names of the tools. */
  readonly names: readonly string[];
  /** Environment variables that the server needs in addition to PATH and HOME. No other variable contains a secret. */
  readonly env: readonly string[];
  /** In a sandbox: the unix socket of a server that runs outside, for an agent that can't start programs. */
  readonly socket?: string;
  /** For an agent that is part of this package and loads the tools into its own process. */
  readonly inProcess?: InProcessTools;
}

/** The settings of an agent that loads the tools of a brief into its own process. Paths are absolute. */
export interface InProcessTools {
  /** Flags that select the tools. */
  readonly flags: readonly string[];
  readonly read: readonly string[];
  /** Files and folders outside the workspace that the tools write: rate limits of hosts, cached answers. */
  readonly write: readonly string[];
}

/** The input of an agent. `text` is sent to its stdin, unchanged; the agent gets no other text. */
export interface Brief {
  /** Number of this iteration over the life of the project, from 1. */
  readonly iteration: number;
  readonly text: string;
  /** Estimated tokens of `text`. */
  readonly tokens: number;
  /** SHA-256 of the prompt template of `text`; absent without a template. */
  readonly prompt?: string;
  /** Absolute path of the folder in which the agent works. It exists, and contains only files that the brief names. */
  readonly workspace: string;
  readonly access: Access;
  /** Temperature of the model, 0 to 1. Agents without this setting use their own. */
  readonly temperature?: number;
}

/**
 * The part of a brief that a workflow provides. The loop adds the rest: `iteration`, an estimate for `tokens`, and the
 * least `access`.
 */
export type BriefText = Pick<Brief, "text" | "workspace"> &
  Partial<Omit<Brief, "text" | "workspace" | "access">> & { readonly access?: Partial<Access> };

/** The notes that the loop adds to every brief. */
export interface Notes {
  /** Reasons why the last result of this unit was refused in this run. */
  readonly refusal?: readonly string[];
  /** Summary of earlier iterations. */
  readonly history?: string;
  /** Advice for the agent if earlier iterations repeated themselves. */
  readonly remediation?: string;
  /** The instructions of the user. */
  readonly steering?: string;
  /** The agent of the iteration. */
  readonly agent?: Pick<Agent, "name" | "confinement">;
}

/** One run of an agent, summarised from its events. */
export interface AgentRun {
  readonly iteration: number;
  readonly agent: string;
  readonly confinement: Agent["confinement"];
  /** The machine of an agent that ran on another machine. */
  readonly worker?: string;
  /** True: the agent uses no model. */
  readonly free?: true;
  readonly model?: string;
  /** Version of the agent's program, if it reports one. */
  readonly version?: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Milliseconds between `startedAt` and `endedAt` in which the machine slept; absent: 0. */
  readonly asleepMs?: number;
  readonly usage: Usage;
  /** US dollars, as the CLI reported them or as an estimate. */
  readonly cost_usd?: number;
  readonly estimated?: true;
  readonly billing?: Billing;
  /** Maximum number of tokens of one request; absent if unknown. */
  readonly window?: number;
  readonly brief: Brief;
  /** The agent's final message; empty after a failure. */
  readonly message: string;
  /** A short form of its actions and messages. */
  readonly digest?: Digest;
  /** Set if the run failed; files of the agent are then ignored. */
  readonly failure?: Failure;
}

/** How to start a CLI and read its output (see agents/). */
export interface Agent {
  readonly name: string;
  /**
   * `workspace`: its own flags keep it in the workspace. `sandbox`: a sandbox confines it. `unconfined`: nothing does.
   */
  readonly confinement: "workspace" | "sandbox" | "unconfined";
  /** True: it passes the `tools` of a brief to its CLI. */
  readonly takesTools?: true;
  /** True: it passes the temperature of a brief to its model. */
  readonly takesTemperature?: true;
  /** True: it uses no model, so it uses no tokens and costs nothing. */
  readonly free?: true;
  /** True: it never reports its usage. */
  readonly reportsNoUsage?: true;
  /**
   * Runs the agent once. Does not throw if the agent fails: the stream ends with exactly one `end` event, and all
   * processes of the agent have ended by then. An error that is thrown is a bug in this program. Aborting `signal` ends
   * the process group of the agent.
   */
  run(brief: Brief, options: RunOptions): AsyncIterable<AgentEvent>;
  /** Releases what the agent keeps between runs. Called once, at the end of the loop, whatever the verdict is. */
  close?(): Promise<void>;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  /** Maximum cost of this iteration in US dollars, for a CLI that can enforce it. */
  readonly maxUsd?: number;
  /** Maximum time of this iteration in milliseconds, if it is less than the time in the settings. */
  readonly maxMs?: number;
}

/** What the workflow may use while it prepares a unit or verifies a result. */
export interface Work {
  /** Aborted if the work should end at once; network requests may then have failed for that reason. */
  readonly signal: AbortSignal;
  readonly tell: Tell;
}

/**
 * The result of a preparation. `ready`: an agent can start. `settled`: the unit needs no agent. `later`: something that
 * the unit needs is not available now.
 */
export type Prepared<P> = { readonly ready: P } | { readonly settled: P } | { readonly later: Delay };

/** A unit that is delayed. The loop forgets the delay after its time. */
export interface Delayed<U extends Unit = Unit> extends Delay {
  readonly unit: U;
}

/** A brief, and the data that its workflow needs again to judge the result. */
export interface Briefing<C> {
  readonly brief: BriefText;
  readonly context: C;
}

/**
 * The input of `accept`: the run of an agent, or the preparation of a unit that needed no agent. `prepareMs`: the time
 * of the preparation.
 */
export type UnitResult<P, C> =
  | { readonly run: AgentRun; readonly context: C; readonly prepareMs?: number }
  | ([P] extends [undefined] ? never : { readonly prepared: P; readonly prepareMs: number });

/**
 * The definition of the work: rules that read and write files. Every unit is prepared, briefed, run by an agent, and
 * accepted.
 * `load`, `prepare`, `brief` and `accept` return a Verdict if the run can't continue for a reason that the user can
 * correct (a broken file, a full disk). They throw only for a bug in this program. `P` is the result of a preparation,
 * `C` the data that a brief passes to `accept`.
 */
export interface Workflow<State, U extends Unit = Unit, P = undefined, C = undefined> {
  readonly name: string;
  /**
   * Reads and validates the state. `isAtWork`: whether an agent is running and may have changed files; files with the
   * user's requests are then read later.
   */
  load(tell: Tell, isAtWork: boolean): Promise<State | Verdict>;
  /**
   * Chooses the next unit. Pure; does not check whether texts are available. `busy`: units that are prepared or that an
   * agent works on. `later`: delayed units. Returns `wait` if there is something to do only after a busy unit ends, and
   * a delay if there is nothing to do before its time.
   */
  next(state: State, busy: readonly U[], later: readonly Delayed<U>[]): U | "wait" | Delay | Verdict;
  /**
   * Gets data for the unit from outside: searches, downloads, test results. It runs in parallel with agents, may take
   * minutes, ends soon after `work.signal` aborts, and never changes the state. Absent: no unit needs a preparation.
   */
  prepare?(state: State, unit: U, work: Work): Promise<Prepared<P> | Verdict>;
  /**
   * Writes the text for the agent and creates an empty workspace. Reads only the disk; the text is bounded, however
   * large the state is. `stale`: the state has changed since the preparation, so the unit is prepared again.
   */
  brief(state: State, unit: U, prepared: P, notes: Notes): Promise<Briefing<C> | "stale" | Verdict>;
  /**
   * Verifies a result and changes the state by it, or refuses it with reasons. `stale` (only for a unit without an
   * agent): the state has changed since the preparation, so nothing is written and the unit is prepared again. May take
   * minutes, if tests run; ends soon after `work.signal` aborts, and still records the usage of the agent.
   */
  accept(state: State, unit: U, done: UnitResult<P, C>, work: Work): Promise<Outcome | "stale" | Verdict>;
  /**
   * Runs `work`, which accepts several results one after the other and loads the state between them. Writes all their
   * changes at once, at the end. Absent: results are written one by one.
   */
  together?(work: () => Promise<void>): Promise<Verdict | void>;
  /** The progress of the work, for the user. Pure. */
  progress(state: State): Progress;
  /** The cost of the work over its whole life, its budget and the forecast. Pure. */
  account?(state: State): Account;
  /** The memory of earlier iterations, for stop conditions and briefs. Pure. */
  memory?(state: State): LoopMemory;
  /** Whether the work can continue without this unit. Absent: it needs every unit. */
  isOptional?(unit: U): boolean;
  /** Stores a summary of the history. Throws ExpectedError for problems that the user can correct. */
  remember?(compression: Compression): Promise<void>;
  /**
   * Changes the end of the run if the work does not depend on what failed. Returns another verdict, or `again` to
   * continue without it. `about`: the unit that failed last, or that no agent was available for. Undefined, or absent:
   * the verdict stays.
   */
  concede?(verdict: Verdict, tell: Tell, about: string | undefined): Promise<Verdict | "again" | undefined>;
  /**
   * Releases everything. Called once, before the end of the run is reported, so that problems are still shown.
   * `verdict`: the end of the run; absent after a bug in this program.
   */
  readonly close?: (verdict?: Verdict) => Promise<void>;
}

/** Usage. Tokens are input and output, including cached ones; minutes are working time of agents. */
export interface Spending {
  readonly iterations: number;
  readonly tokens: number;
  readonly usd: number;
  readonly minutes: number;
}

/** Limits of the usage; absent: no limit. */
export type Budget = Partial<Spending>;

/** The cost of the work. */
export interface Account {
  /** Over its whole life, including earlier runs. */
  readonly spent: Spending;
  /** Usage in this run outside iterations: summaries of the history by a model. Part of `spent`. */
  readonly beside?: Spending;
  /** Limits for its whole life. */
  readonly budget: Budget;
  readonly forecast?: Forecast;
}

/** An iteration of this run that has ended. */
export interface PastIteration {
  readonly iteration: number;
  readonly unit: Unit;
  /** Name of the agent. */
  readonly agent: string;
  readonly outcome: Outcome;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly usage: Usage;
  readonly cost_usd?: number;
}

/** An iteration under way. */
export interface LiveIteration {
  readonly unit: Unit;
  /** The record of its run so far. */
  readonly run: AgentRun;
}

/** Phrases about the work, for the messages that say why a run ended. */
export interface Words {
  /** The noun for the work, as in "The budget of this project". */
  readonly noun: string;
  /** The place where the user can raise a budget, as in "budget.max_usd in its state file". */
  readonly budget: (unit: keyof Spending) => string;
  /** The option that allows one run more, such as "--max-usd"; absent: unknown. */
  readonly allow?: (unit: keyof Spending) => string;
  /** What the user should look at if iterations repeat themselves; the beginning of a sentence. */
  readonly look: string;
  /** What the user should read if no result was accepted; the beginning of a sentence. */
  readonly reasons: string;
  /** What the user should do if iterations repeat themselves; the end of the sentence. */
  readonly steer: string;
  /** What the user should do if no result was accepted; the end of the sentence. */
  readonly mend: string;
  /** Another remedy in both cases, as in "use another --agent"; absent: none. */
  readonly otherwise?: string;
}

/** The state of a run that stop conditions use. Times are milliseconds since the epoch. */
export interface RunSoFar {
  readonly startedAt: number;
  readonly now: number;
  /** Spans since the start in which the machine slept; limits of time do not count them. Absent: none. */
  readonly sleeps?: readonly Span[];
  /** Oldest first. */
  readonly iterations: readonly PastIteration[];
  /** Number of oldest iterations whose failures are ignored, because the work continued without them; absent: 0. */
  readonly conceded?: number;
  /** Iterations under way, except the iteration that a rule is called for; absent: none. */
  readonly inFlight?: readonly LiveIteration[];
  /** Number of units under preparation, except the unit that a rule is called for; absent: 0. */
  readonly preparing?: number;
  readonly account?: Account;
  readonly memory?: LoopMemory;
}

/** A wait before the next iteration. */
export interface Delay {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly reason: string;
  /** True: a limit that ends in more than 15 minutes, while agents of other units can work. */
  readonly isLongLimit?: true;
}

/** A rule that may stop or delay the loop. Called before every iteration; changes nothing. */
export type StopCondition = (soFar: RunSoFar) => Verdict | Delay | undefined;

/** Chooses the agent for the next iteration of the unit, with the reason if it is not the first choice. Pure. */
export type Choose = (soFar: RunSoFar, unit: Unit) => Choice | Delay | Verdict;

interface Choice {
  readonly agent: Agent;
  /** One sentence. */
  readonly reason?: string;
  /** Name of the first choice, if the role of the unit has its own agents. */
  readonly first?: string;
  /** Maximum cost of the iteration in US dollars. */
  readonly maxUsd?: number;
  /** Maximum time of the iteration in milliseconds. */
  readonly maxMs?: number;
}

/** Called whenever an agent reports its usage; `inFlight` then contains the other iterations. Pure. */
export type Watch = (live: LiveIteration, soFar: RunSoFar) => Alarm | undefined;

/** Returns a warning about an ended iteration, in one sentence. Pure. */
export type Review = (ended: LiveIteration, soFar: RunSoFar) => string | undefined;

interface Alarm {
  /** Shown once for each iteration. */
  readonly warning?: string;
  /** Ends the iteration with this failure. */
  readonly end?: Failure;
}

/** The rules by which a run stops, waits and chooses its agents; created by `rulesFor` in rules-of-run.ts. */
export interface Rules {
  /** Checked before each iteration. The end after `finish` is aborted needs no stop condition. */
  readonly stopConditions: readonly StopCondition[];
  readonly choose: Choose;
  readonly watches: readonly Watch[];
  /** Called after each iteration; the same warning is shown once in a run. */
  readonly reviews: readonly Review[];
}

/** The options of a loop. If rules are absent, the loop uses those of `rulesFor` for its agent, without limits. */
export interface LoopOptions extends Partial<Rules> {
  /** Gets each event, in order. Absent: events are dropped. */
  readonly tell?: Tell;
  /** Maximum number of agents at the same time; absent: 1. */
  readonly jobs?: number;
  /** Absent: the system's clock. */
  readonly clock?: Clock;
  /**
   * Aborted if the loop should end after the iterations under way. The verdict is then `interrupted`; it names the
   * signal if that is the reason of the abort. Preparations end at once, because they are not needed.
   */
  readonly finish?: AbortSignal;
  /**
   * Aborted in addition to `finish` if the iterations under way should end at once; this ends the processes of agents.
   */
  readonly abort?: AbortSignal;
}

/** An iteration under way, as it is visible outside the process of the run. */
export interface RunningUnit {
  readonly iteration: number;
  readonly unit: string;
  readonly title: string;
  readonly phase: string;
  readonly agent?: string;
  readonly role?: string;
  readonly round?: number;
  /** ISO 8601 in UTC. */
  readonly since: string;
}

/** What other processes can see of a run without the state. */
export interface RunStatus {
  readonly running: boolean;
  /** True: the process has ended without removing its lock. */
  readonly abandoned: boolean;
  /** Names of the files (PAUSE, STOP) that end a run before its next iteration and prevent new runs. */
  readonly held: readonly string[];
  readonly underWay: readonly RunningUnit[];
}

export const isVerdict = (value: unknown): value is Verdict =>
  typeof value === "object" && value !== null && "verdict" in value;
