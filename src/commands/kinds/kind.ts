import type { Steering } from "../../engine/generated/memory.js";
import type { Problem } from "../../engine/storage/schema-check.js";
import type { SteeredWork } from "../../engine/storage/state/from-outside.js";
import type { Standing } from "../../engine/ui/state-text.js";
import type { Io } from "../../engine/ui/io.js";
import type { ConfigFlags } from "../../compose/config.js";
import type { Costs, WorkCosts } from "../../research/overview/costs.js";

/**
 * The functions of a kind of work for the commands that work with all kinds: `status`, `show`, `web`, `verify --files`,
 * and those that steer. A new kind needs an entry in find-work.ts. These functions take no lock and write nothing.
 */
export interface Kind {
  readonly noun: "project" | "task";
  /** Name of its state file. */
  readonly stateName: string;
  /** Path of its ledger in its folder. */
  readonly ledger: string;
  /** Whether a folder contains such work. */
  isIn(folder: string): boolean;
  /** The folder for an argument, by default the current folder; undefined if it contains no such work. */
  find(cwd: string, argument: string | undefined): Promise<string | undefined>;
  /** The folders of such work, sorted; absent if this kind is not listed. */
  list?(cwd: string): Promise<readonly string[]>;
  /** Its current state. @throws ExpectedError if it can't be read. */
  look(folder: string, where: string): Promise<Standing>;
  steered(folder: string, where: string): SteeredWork;
  /** The instructions that its agents have received. @throws ExpectedError if its state can't be read. */
  heard(folder: string): Promise<readonly Steering[]>;
  /** What `status` prints besides the current state. @throws ExpectedError if it can't be read. */
  status(folder: string, io: Io, seen: { readonly standing: Standing; readonly papers: boolean }): Promise<Status>;
  costs(folder: string, io: Io): Promise<WorkCosts & Partial<Costs>>;
  /** The brief for the next agent; absent if no command shows it. */
  brief?(folder: string, flags: ConfigFlags, io: Io): Promise<NextBrief | { readonly reason: string }>;
  /** All errors in its files; absent if no command shows them. */
  validate?(folder: string): Promise<Validated>;
}

/** What `status` prints for work: rows below the common rows, and lines after them. */
export interface Status {
  readonly json: object;
  readonly rows: readonly (readonly [label: string, text: string])[];
  readonly below?: readonly string[];
  readonly warning?: string;
}

/** The exact text for the next agent. */
export interface NextBrief {
  readonly iteration: number;
  readonly unit: string;
  readonly title: string;
  readonly text: string;
  /** What a run would do before, a sentence each. */
  readonly first: readonly string[];
}

/** A problem in a file, or a contradiction, which is only a warning. */
export interface Finding extends Problem {
  readonly level: "error" | "warning";
  /** The name of the file, if it is not the file that people write. */
  readonly file?: string;
  /** The line in the file; absent if the message names it, or if there is no line. */
  readonly line?: number;
  /** The value from the records, if it differs from the file. */
  readonly derived?: unknown;
}

export interface Validated {
  /** Absolute path of the file that people write. */
  readonly file: string;
  readonly findings: readonly Finding[];
  /** How to repair a broken file: "or …". */
  readonly wayBack: string;
}
