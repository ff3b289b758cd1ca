import type { ConfigFlags } from "../config/resolve.js";

/** What the command line says to each command, in one shape. `flags` go to resolveConfig as they are. */
interface Output {
  /** Print JSON: one value, or one LoopEvent a line for what runs. */
  readonly json: boolean;
}

export interface RunOptions extends Output {
  /** As typed: a path or a name; undefined: the unfinished research. */
  readonly folder?: string;
  readonly flags: ConfigFlags;
  /** Change the target of a research that has begun. */
  readonly force: boolean;
  readonly classic: boolean;
  /** Ask the open questions before the start. */
  readonly ask: boolean;
  readonly quiet: boolean;
}

export interface NewOptions extends Output {
  readonly topic: string;
  readonly flags: ConfigFlags;
  readonly ask: boolean;
  readonly quiet: boolean;
}

export interface ReadOptions extends Output {
  /** arXiv id, DOI, URL or path of a PDF. */
  readonly reference: string;
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
}

export interface DemoOptions extends Output {
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
}

export interface BriefOptions extends Output {
  readonly folder?: string;
}

export interface ResetOptions extends Output {
  readonly folder: string;
  /** Only this paper. */
  readonly paper?: string;
  /** Everything after this iteration. */
  readonly to?: number;
  readonly flags: ConfigFlags;
}

export interface PatternsOptions extends Output {
  readonly folder?: string;
  /** Number of the pattern to move into AGENTS.md, from 1. */
  readonly accept?: number;
}

export interface FolderOptions extends Output {
  readonly folder?: string;
}

export interface ListOptions extends Output {}

export interface ConfigOptions extends Output {
  /** `key` or `key=value`; undefined: all of them. */
  readonly assignment?: string;
}

export interface DoctorOptions extends Output {
  /** Run one word through this agent. */
  readonly probe?: string;
  readonly flags: ConfigFlags;
}
