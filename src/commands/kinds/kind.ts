import type { Steering } from "../../engine/generated/memory.js";
import type { Problem } from "../../engine/storage/schema-check.js";
import type { SteeredWork } from "../../engine/storage/state/from-outside.js";
import type { Standing } from "../../engine/ui/standing.js";
import type { Io } from "../../engine/ui/io.js";
import type { ConfigFlags } from "../../compose/config.js";
import type { Costs, WorkCosts } from "../../research/overview/costs.js";

/**
 * What a kind of work offers to the commands that know all kinds: `status`, `show`, `web`, `verify --files`, and those
 * that steer. A further kind is one more entry in find-work.ts. Nothing here takes a lock or writes.
 */
export interface Kind {
  readonly noun: "project" | "task";
  /** The file of its state, within its folder. */
  readonly stateName: string;
  /** The ledger, within its folder. */
  readonly ledger: string;
  /** Whether a folder holds such work. */
  isIn(folder: string): boolean;
  /** The folder that a person means, by default the current one; undefined where it holds no such work. */
  find(cwd: string, argument: string | undefined): Promise<string | undefined>;
  /** The folders of such work here, sorted; absent: it is not listed. */
  list?(cwd: string): Promise<readonly string[]>;
  /** How it stands. @throws ExpectedError where it can't be read. */
  look(folder: string, where: string): Promise<Standing>;
  steered(folder: string, where: string): SteeredWork;
  /** What its agents were told and have heard. @throws ExpectedError where its state can't be read. */
  heard(folder: string): Promise<readonly Steering[]>;
  /** What `status` says of it beyond how it stands. @throws ExpectedError where it can't be read. */
  status(folder: string, io: Io, seen: { readonly standing: Standing; readonly papers: boolean }): Promise<Status>;
  costs(folder: string, io: Io): Promise<WorkCosts & Partial<Costs>>;
  /** What the next agent would be given; absent: no command says so. */
  brief?(folder: string, flags: ConfigFlags, io: Io): Promise<NextBrief | { readonly reason: string }>;
  /** Everything that is wrong with its files; absent: no command says so. */
  validate?(folder: string): Promise<Validated>;
}

/** What `status` prints of work: rows below those that all kinds have, and what follows them. */
export interface Status {
  readonly json: object;
  readonly rows: readonly (readonly [label: string, text: string])[];
  readonly below?: readonly string[];
  readonly warning?: string;
}

/** The text for the next agent, to the letter. */
export interface NextBrief {
  readonly iteration: number;
  readonly unit: string;
  readonly title: string;
  readonly text: string;
  /** What a run would do before, a sentence each. */
  readonly first: readonly string[];
}

/** A problem of a file, or a contradiction that is only worth a warning. */
export interface Finding extends Problem {
  readonly level: "error" | "warning";
  /** The name of the file, where it is not the one that a person writes. */
  readonly file?: string;
  /** The line of the file; absent where the message names it, or no line is meant. */
  readonly line?: number;
  /** What the records say instead of what the file says. */
  readonly derived?: unknown;
}

export interface Validated {
  /** The file that a person writes, absolute. */
  readonly file: string;
  readonly findings: readonly Finding[];
  /** How a broken file becomes whole again: "or …". */
  readonly wayBack: string;
}
