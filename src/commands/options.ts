import type { ConfigFlags } from "../config/resolve.js";

/** What the command line says to the commands that start no agent loop. */
interface Output {
  /** Print one JSON value. */
  readonly json: boolean;
}

export interface FolderOptions extends Output {
  /** As typed: a path or a name; undefined: the only research there is. */
  readonly folder?: string;
}

export interface ConfigOptions extends Output {
  /** `key` or `key=value`; undefined: all of them. */
  readonly assignment?: string;
}

export interface DoctorOptions extends Output {
  /** Run one word through this agent. */
  readonly probe?: string;
  readonly flags: ConfigFlags;
}
