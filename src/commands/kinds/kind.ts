import type { Steering } from "../../engine/generated/memory.js";
import type { Problem } from "../../engine/storage/schema-check.js";
import type { SteeredWork } from "../../engine/storage/state/from-outside.js";
import type { Standing } from "../../engine/ui/state-text.js";
import type { Io } from "../../engine/ui/io.js";
import type { ConfigFlags } from "../../compose/config.js";
import type { Costs, WorkCosts } from "../../research/overview/costs.js";

/**
 * What the commands for all kinds of work need to know about one kind: `status`, `show`, `web`, `verify --files`, and
 * the commands that steer. A new kind needs an entry in find-work.ts. These functions take no lock and write nothing.
 */
export interface Kind {
  readonly noun: "project" | "task";
  /** Name of its state file. */
  readonly stateName: string;
  /** Path of its ledger in its folder. */
  readonly ledgerPath: string;
  /** Whether a folder contains such work. */
  isIn(folder: string): boolean;
  /** The folder for an argument, by default the current folder; undefined if it contains no such work. */
  find(cwd: string, argument: string | undefined): Promise<string | undefined>;
  /** The folders of such work, sorted; absent if this kind is not listed. */
  list?(cwd: string): Promise<readonly string[]>;
  /** Its current state. @throws ExpectedError if it can't be read. */
  readStanding(folder: string, where: string): Promise<Standing>;
  /** The files and commands by which a user steers it. */
  steeredWork(folder: string, where: string): SteeredWork;
  /** The instructions that its agents have received. @throws ExpectedError if its state can't be read. */
  readInstructions(folder: string): Promise<readonly Steering[]>;
  /**
   * What `status` prints besides the current state. `papers`: list all papers.
   * @throws ExpectedError if the state can't be read.
   */
  status(folder: string, io: Io, options: { readonly standing: Standing; readonly papers: boolean }): Promise<Status>;
  costs(folder: string, io: Io): Promise<WorkCosts & Partial<Costs>>;
  /** The brief for the next agent; absent if no command shows it. */
  brief?(folder: string, flags: ConfigFlags, io: Io): Promise<NextBrief | { readonly reason: string }>;
  /** All errors in its files; absent if no command shows them. */
  validate?(folder: string): Promise<Validation>;
}

/** What `status` prints for work: rows below the common rows, and lines after them. */
export interface Status {
  readonly json: object;
  readonly rows: readonly (readonly [label: string, text: string])[];
  readonly linesBelow?: readonly string[];
  readonly warning?: string;
}

/** The exact text for the next agent. */
export interface NextBrief {
  readonly iteration: number;
  readonly unit: string;
  readonly title: string;
  readonly text: string;
  /** One sentence for each step that a run would do before it starts the agent. */
  readonly firstSteps: readonly string[];
}

/** An error in a file, or a contradiction in it, which is only a warning. */
export interface Finding extends Problem {
  readonly level: "error" | "warning";
  /** The name of the file, if it is not {@link Validation.file}. */
  readonly file?: string;
  /** The line in the file; absent if the message names it, or if there is no line. */
  readonly line?: number;
  /** The value from the records, if it differs from the file. */
  readonly derived?: unknown;
}

/** The result of `verify --files`. */
export interface Validation {
  /** Absolute path of the main file: rrd.json or ralph.json, or the state file if there is no ralph.json. */
  readonly file: string;
  readonly findings: readonly Finding[];
  /** The last part of the advice for a broken file: "Correct the file, " and this. */
  readonly repairHint: string;
}
