/**
 * The words of the loop. Start with run-loop.ts; come here for what its parts promise each other.
 * Everything that crosses a process or a file is described by a JSON Schema and generated from it.
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

/** An event before its time is put on it. */
export type Told = LoopEvent extends infer Event ? (Event extends LoopEvent ? Omit<Event, "at"> : never) : never;

/**
 * Tells anyone who watches: terminal, JSON lines, hooks. Resolves once all of them have heard it, and a hook at work
 * holds it up, so anyone who awaits it stands still with them: that keeps an agent that prints a gigabyte from filling
 * the memory. Rejects only for our own bugs.
 */
export type Tell = (event: Told) => Promise<void>;

/** What is done next, whatever the workflow calls its work. */
export interface Unit {
  /** Kind of work, known to the workflow alone. */
  readonly kind: string;
  /** Unique within the workflow; the unit of a record has the record's id. */
  readonly id: string;
  readonly phase: string;
  /** What a person reads on the screen. */
  readonly title: string;
  /** Where agents share a unit, the part that this iteration does, such as `critic`; its agent is chosen by it. */
  readonly role?: string;
  /** Which time the part is done, from 1. */
  readonly round?: number;
}

/** What an agent may reach in one iteration. Adapters turn it into the flags of their CLI; the least is the default. */
export interface Access {
  /** Web search and fetch. */
  readonly web: boolean;
  /**
   * Reading files of the workspace, for a text too long to stand in the brief. Writing result.json is always allowed.
   */
  readonly read: boolean;
  /** Classic mode: the agent works on the user's own tree with its own tools and settings, and nothing confines it. */
  readonly everything: boolean;
  /**
   * Working on a folder with the agent's own tools, in a sandbox with a shell too, and nothing of the user's settings.
   */
  readonly shell?: true;
  /** Absolute paths within the workspace that it may read and must not change; a sandbox sees to it. */
  readonly readOnly?: readonly string[];
  /** Our tools; only for an agent that says it takes them. */
  readonly tools?: ToolServer;
}

/** A program that serves read-only tools over MCP on its stdin and stdout. The agent's CLI starts it and ends it. */
export interface ToolServer {
  readonly command: string;
  readonly args: readonly string[];
  /** Names of the tools it serves. */
  readonly names: readonly string[];
  /** Variables that it needs besides PATH and HOME. No other one that holds a secret reaches it. */
  readonly env: readonly string[];
  /** In a sandbox: the unix socket on which the server outside answers, for an agent that can start no program. */
  readonly socket?: string;
  /** For an agent that is our own program, and has the tools in its own process. */
  readonly inProcess?: ToolsInProcess;
}

/** What our own program needs to have the tools of a brief in its own process. Paths are absolute. */
export interface ToolsInProcess {
  /** Flags that say what is served. */
  readonly flags: readonly string[];
  readonly read: readonly string[];
  /** Files and folders besides its workspace that it writes: the pace of hosts, answers that are kept. */
  readonly write: readonly string[];
}

/** All that an agent is given. `text` goes to its stdin whole; nothing else is said to it. */
export interface Brief {
  /** Number of this iteration in the life of the project, from 1. */
  readonly iteration: number;
  readonly text: string;
  /** Estimated tokens of `text`. */
  readonly tokens: number;
  /** SHA-256 of the prompt that `text` was made from, before anything was filled in; absent without one. */
  readonly prompt?: string;
  /** Absolute path of the folder the agent works in; it is there and empty but for what the brief names. */
  readonly workspace: string;
  readonly access: Access;
  /** How freely the model is to answer, 0 to 1; agents that take none use their own. */
  readonly temperature?: number;
}

/**
 * What a workflow gives of a brief. The loop fills in what is left out: `iteration` by how many this run has started,
 * `tokens` by an estimate, and of `access` the least.
 */
export type BriefText = Pick<Brief, "text" | "workspace"> &
  Partial<Omit<Brief, "text" | "workspace" | "access">> & { readonly access?: Partial<Access> };

/** What the loop itself adds to any brief. */
export interface Notes {
  /** Reasons for which the last result of this unit was refused in this run. */
  readonly refusal?: readonly string[];
  /** Summary of earlier iterations. */
  readonly history?: string;
  /** Advice for an agent whose predecessors repeated themselves. */
  readonly remediation?: string;
  /** The user's steering text. */
  readonly steering?: string;
  /** Who is to do it. */
  readonly agent?: Pick<Agent, "name" | "confinement">;
}

/** A finished run of one agent: the fold of its event stream. */
export interface AgentRun {
  readonly iteration: number;
  readonly agent: string;
  readonly confinement: Agent["confinement"];
  /** Of an agent on another machine: who runs it there. */
  readonly worker?: string;
  /** Of an agent without a model. */
  readonly free?: true;
  readonly model?: string;
  /** Version of the agent's program, where it reports one. */
  readonly version?: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Milliseconds in between in which the machine slept; absent: 0. */
  readonly asleepMs?: number;
  readonly usage: Usage;
  /** US dollars: as the CLI reported them, or our estimate. */
  readonly cost_usd?: number;
  readonly estimated?: true;
  readonly billing?: Billing;
  /** Tokens that the model takes in one request, as far as known. */
  readonly window?: number;
  readonly brief: Brief;
  /** The agent's final message; empty after a failure. */
  readonly message: string;
  /** What it did and said, in short. */
  readonly digest?: Digest;
  /** Set when the run failed; whatever the agent left behind then counts for nothing. */
  readonly failure?: Failure;
}

/** How to start a CLI and read its stream (agents/). */
export interface Agent {
  readonly name: string;
  /** `workspace`: its own flags keep it in the workspace. `sandbox`: our sandbox does. `unconfined`: nothing does. */
  readonly confinement: "workspace" | "sandbox" | "unconfined";
  /** It hands the `tools` of a brief's access to its CLI. */
  readonly takesTools?: true;
  /** It hands the temperature of a brief to its model. */
  readonly takesTemperature?: true;
  /** It uses no model, so it takes no tokens and costs nothing. */
  readonly free?: true;
  /** It never tells what it used. */
  readonly reportsNoUsage?: true;
  /**
   * Runs the agent once. Never throws for a failure of the agent: the stream ends with exactly one `end` event, and
   * by then no process of it is left. Throwing means our own bug. Aborting `signal` ends the agent's process group.
   */
  run(brief: Brief, options: RunOptions): AsyncIterable<AgentEvent>;
  /** Gives back what it holds between its runs. Called once, however the run that it was made for ends. */
  close?(): Promise<void>;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  /** US dollars that this iteration may cost, told to CLIs that can keep to it. */
  readonly maxUsd?: number;
  /** Milliseconds that this iteration may take, where that is less than agents have by their settings. */
  readonly maxMs?: number;
}

/** What the workflow may use while it prepares a unit, or verifies what was done. */
export interface Work {
  /** Aborted when the work should end at once; what is then still asked of a network says nothing. */
  readonly signal: AbortSignal;
  readonly tell: Tell;
}

/**
 * What came of preparing a unit. `ready`: an agent can be briefed. `settled`: code alone does the unit, so no agent is
 * started. `later`: what it needs can't be had for now.
 */
export type Prepared<P> = { readonly ready: P } | { readonly settled: P } | { readonly later: Delay };

/** A unit that is put off. The loop forgets it once its time has come. */
export interface Delayed<U extends Unit = Unit> extends Delay {
  readonly unit: U;
}

/** A brief, and what its workflow wants to know again when the result is judged. */
export interface Briefed<C> {
  readonly brief: BriefText;
  readonly context: C;
}

/**
 * What is to be accepted: the run of an agent, or, of a workflow that prepares, a unit that code alone has settled.
 * `prepareMs`: how long its preparation took.
 */
export type Done<P, C> =
  | { readonly run: AgentRun; readonly context: C; readonly prepareMs?: number }
  | ([P] extends [undefined] ? never : { readonly prepared: P; readonly prepareMs: number });

/**
 * What the work is: policy over files. Every unit is prepared, briefed, run by an agent, and accepted.
 *
 * `load`, `prepare`, `brief` and `accept` answer with a Verdict where the run can't go on for a reason that a person
 * can mend (a broken file, a full disk); they throw only for our own bugs. `P` is what a preparation hands to the
 * brief, `C` what a brief hands to `accept`.
 */
export interface Workflow<State, U extends Unit = Unit, P = undefined, C = undefined> {
  readonly name: string;
  /**
   * A validated read of the disk. `isAtWork`: whether an agent is, so that what lies there may be its doing; what a
   * person left for the run waits then.
   */
  load(tell: Tell, isAtWork: boolean): Promise<State | Verdict>;
  /**
   * What to do next. Pure; it never asks whether a text is there. `busy`: units under preparation or with an agent.
   * `later`: units that are put off. `wait`: nothing now, something after a busy unit has ended; a delay: nothing
   * before its time.
   */
  next(state: State, busy: readonly U[], later: readonly Delayed<U>[]): U | "wait" | Delay | Verdict;
  /**
   * Brings what the unit needs from outside: searches, fetches, runs tests. It works while agents run, may take
   * minutes, ends soon after `work.signal` aborts, and never folds. Absent: no unit needs anything.
   */
  prepare?(state: State, unit: U, work: Work): Promise<Prepared<P> | Verdict>;
  /**
   * The text for the agent and a fresh workspace. Reads the disk and nothing else; bounded, however large the state is.
   * `stale`: the state has changed since the unit was prepared, so it is prepared again.
   */
  brief(state: State, unit: U, prepared: P, notes: Notes): Promise<Briefed<C> | "stale" | Verdict>;
  /**
   * Verifies what was done, then folds it into the state, or refuses it with reasons. `stale`, only of a unit that code
   * settled: the state has changed since it was prepared, so nothing is folded and it is prepared again. Verifying may
   * take minutes, as tests do; it ends soon after `work.signal` aborts, and what the agent has used is kept then too.
   */
  accept(state: State, unit: U, done: Done<P, C>, work: Work): Promise<Outcome | "stale" | Verdict>;
  /**
   * Does `work`, in which several results are accepted one after the other and the state is loaded between them, and
   * writes what it changes only at its end, all at once. Absent: one result is taken at a time.
   */
  together?(work: () => Promise<void>): Promise<Verdict | void>;
  /** How far the work is, for people. Pure. */
  progress(state: State): Progress;
  /** What the work has cost in its whole life, what it may cost, and what the rest of it will. Pure. */
  account?(state: State): Account;
  /** What it remembers of earlier iterations, for stop conditions and briefs. Pure. */
  memory?(state: State): LoopMemory;
  /** Whether the work can go on without this unit. Absent: it needs each. */
  isOptional?(unit: U): boolean;
  /** Keeps a summary of the history. Throws ExpectedError as `load` may answer. */
  remember?(compression: Compression): Promise<void>;
  /**
   * How the run ends instead, where what it ends for is nothing that the work waits for; `again`: it goes on without
   * that. `about`: the unit that no agent could be had for, or that failed last. Absent, or undefined: it ends as it
   * does.
   */
  concede?(verdict: Verdict, tell: Tell, about: string | undefined): Promise<Verdict | "again" | undefined>;
  /**
   * Puts everything away. Called once, before the end of the run is reported, so that what goes wrong only now is still
   * heard. `verdict`: how the run ends; absent after a bug in this program.
   */
  readonly close?: (verdict?: Verdict) => Promise<void>;
}

/** What was used up. Tokens are those in and out, cached ones included; minutes are those in which agents worked. */
export interface Spent {
  readonly iterations: number;
  readonly tokens: number;
  readonly usd: number;
  readonly minutes: number;
}

/** The most that may be used up; absent: no limit. */
export type Budget = Partial<Spent>;

/** The work's own books. */
export interface Account {
  /** In its whole life, earlier runs included. */
  readonly spent: Spent;
  /** In this run besides its iterations: summaries of the history by a model. Part of `spent`. */
  readonly beside?: Spent;
  /** For its whole life. */
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
  /** As far as it has come. */
  readonly run: AgentRun;
}

/** What the rules of a run call the work, in the sentences that a person reads. */
export interface Words {
  /** What is worked on, as in "The budget of this project". */
  readonly noun: string;
  /** Where a person raises a budget, as in "budget.max_usd in its state file". */
  readonly budget: (unit: keyof Spent) => string;
  /** How a person allows one run more, as in "--max-usd"; absent: by whatever started it. */
  readonly allow?: (unit: keyof Spent) => string;
  /** What to look at where iterations repeat themselves; the beginning of a sentence. */
  readonly look: string;
  /** What to read where nothing was accepted; the beginning of a sentence. */
  readonly reasons: string;
  /** What a person does about repetitions, and about work without a result. */
  readonly steer: string;
  readonly mend: string;
  /** What helps against both as well, as in "use another --agent"; absent: nothing that is known. */
  readonly otherwise?: string;
}

/** What stop conditions judge by. Times are milliseconds since the epoch. */
export interface RunSoFar {
  readonly startedAt: number;
  readonly now: number;
  /** In which the machine slept since then: time of no run and no iteration; absent: none. */
  readonly sleeps?: readonly Span[];
  /** Oldest first. */
  readonly iterations: readonly PastIteration[];
  /** So many of them, the oldest, failed for what the work then went on without; absent: 0. */
  readonly conceded?: number;
  /** Under way, besides the one that a stop condition is asked about; absent: none. */
  readonly inFlight?: readonly LiveIteration[];
  /** Units under preparation, besides the one that a stop condition is asked about; absent: 0. */
  readonly preparing?: number;
  readonly account?: Account;
  readonly memory?: LoopMemory;
}

/** A wait before the next iteration. */
export interface Delay {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly reason: string;
  /** For a limit whose stated end is more than a quarter of an hour away, while agents of other units can work. */
  readonly isLongLimit?: true;
}

/** A rule that may stop or delay the loop. It is asked before every iteration and changes nothing. */
export type StopCondition = (soFar: RunSoFar) => Verdict | Delay | undefined;

/** Names the agent of the unit's next iteration, and why it is this one where it is not the first choice. Pure. */
export type Choose = (soFar: RunSoFar, unit: Unit) => Choice | Delay | Verdict;

interface Choice {
  readonly agent: Agent;
  /** One sentence. */
  readonly reason?: string;
  /** Name of the first choice for the unit's role, where that has agents of its own. */
  readonly first?: string;
  /** US dollars that the iteration may cost. */
  readonly maxUsd?: number;
  /** Milliseconds that the iteration may take. */
  readonly maxMs?: number;
}

/** Asked whenever an agent at work tells what it has used; `inFlight` are then the others. Pure. */
export type Watch = (live: LiveIteration, soFar: RunSoFar) => Alarm | undefined;

/** What a person has to know of an iteration that has ended: one sentence. Pure. */
export type Review = (ended: LiveIteration, soFar: RunSoFar) => string | undefined;

interface Alarm {
  /** Told once an iteration. */
  readonly warning?: string;
  /** Ends the iteration, with this as its failure. */
  readonly end?: Failure;
}

/** The rules by which a run stops, waits and chooses its agents; `rulesFor` in rules-of-run.ts makes a set of them. */
export interface Rules {
  /** Asked before each iteration. That a run ends once `finish` is aborted needs none. */
  readonly stopConditions: readonly StopCondition[];
  readonly choose: Choose;
  readonly watches: readonly Watch[];
  /** Asked once an iteration has ended; each warning is sent once a run. */
  readonly reviews: readonly Review[];
}

/** How a loop is run. Rules that are left out are those of `rulesFor` for the one agent, without any limit. */
export interface LoopOptions extends Partial<Rules> {
  /** Told each event, in order. Absent: nobody is told, and nothing is printed. */
  readonly tell?: Tell;
  /** Most agents at work at the same time; absent: 1. */
  readonly jobs?: number;
  /** Absent: the machine's own time. */
  readonly clock?: Clock;
  /**
   * Aborted when the loop should end after the iterations under way; the verdict is then `interrupted`, and names the
   * signal where that is the abort's reason. It ends preparations at once: nobody will need them.
   */
  readonly finish?: AbortSignal;
  /** Aborted, besides `finish`, when the iteration under way should end at once: its agent's processes are ended. */
  readonly abort?: AbortSignal;
}

/** An iteration that a run has begun and not ended, for anyone who looks at the project from outside. */
export interface UnderWay {
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

/** What is seen of a piece of work without its state: whether a process works on it, and what keeps others from it. */
export interface Outside {
  readonly running: boolean;
  /** A process that is gone has left its lock. */
  readonly abandoned: boolean;
  /** Names of the files that end a run before its next iteration and keep others from starting. */
  readonly held: readonly string[];
  readonly underWay: readonly UnderWay[];
}

export const isVerdict = (value: unknown): value is Verdict =>
  typeof value === "object" && value !== null && "verdict" in value;
