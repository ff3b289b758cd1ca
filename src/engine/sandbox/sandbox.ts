import type { ToolRelay } from "../process/access.js";
import type { Exec } from "../process/run-process.js";

/** Runs programs so that each program has only the access that its request names. */
export interface Sandbox {
  readonly name: "bubblewrap" | "docker";
  /** Same as `runProcess`, but in the sandbox. Paths are the same inside; the request must have access to `cwd`. */
  readonly exec: Exec;
  /** How a program inside reaches the tool server of its request, which runs outside. */
  readonly toolRelay: ToolRelay;
  /** Names of the user's variables that stay outside. */
  readonly hiddenVariables: readonly string[];
  /** Ends the sandbox and removes its remaining files and processes. */
  close(): Promise<void>;
}

/** The sandbox that the user chooses; `auto`: the first one that works on this machine. */
export type SandboxChoice = "auto" | "host" | "bubblewrap" | "docker";

export interface SandboxOptions {
  /** The user's environment; its PATH is searched for programs. */
  readonly env: NodeJS.ProcessEnv;
  /**
   * Absolute path of a folder that is mounted at /home, so that programs find the files of earlier programs. Absent:
   * /home is empty whenever a program starts.
   */
  readonly home?: string;
  readonly limits?: Partial<Limits>;
  /** Names of variables of `env` that the user allows, in addition to those that every program gets. */
  readonly allowedVariables?: readonly string[];
  /** The image of a Docker sandbox; absent: chosen by the programming language of the program's working folder. */
  readonly image?: string;
}

/** Limits of the processes of one program. Sizes are in bytes. */
export interface Limits {
  readonly maxProcesses: number;
  /** Memory of all its processes together. */
  readonly maxMemoryBytes: number;
  /** Disk space that the program may use in addition to the space that was used when it started. */
  readonly maxDiskBytes: number;
  /** Space that must stay free on the disk. */
  readonly minFreeDiskBytes: number;
  /** Size of one file. */
  readonly maxFileBytes: number;
  /** Size of each folder that is only in memory: /tmp, and /home if no `home` is set. */
  readonly maxTemporaryBytes: number;
}

const gigabyte = 2 ** 30;

export const defaultLimits: Limits = {
  maxProcesses: 512,
  maxMemoryBytes: 4 * gigabyte,
  maxDiskBytes: 5 * gigabyte,
  minFreeDiskBytes: gigabyte,
  maxFileBytes: 2 * gigabyte,
  maxTemporaryBytes: gigabyte / 2,
};
