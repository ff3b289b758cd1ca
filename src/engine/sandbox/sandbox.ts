import type { ToolRelay } from "../process/reach.js";
import type { Exec } from "../process/run-process.js";

/** Where programs run so that each reaches what its request names, and nothing else. */
export interface Sandbox {
  readonly name: "bubblewrap" | "docker";
  /** As `runProcess`, in the sandbox. Paths are the same inside; a request's `cwd` must be within its reach. */
  readonly exec: Exec;
  /** How a program inside reaches the tool server of its request, which runs outside. */
  readonly toolRelay: ToolRelay;
  /** Names of the user's variables that stay outside. */
  readonly outside: readonly string[];
  /** Ends and removes what is left of it. */
  close(): Promise<void>;
}

/** What a person may ask for; `auto`: the first that works here. */
export type SandboxChoice = "auto" | "host" | "bubblewrap" | "docker";

export interface SandboxOptions {
  /** The user's environment: its PATH says which programs there are. */
  readonly env: NodeJS.ProcessEnv;
  /**
   * Absolute path of a folder that stands at /home inside and keeps what programs leave there. Absent: /home is empty
   * whenever a program starts.
   */
  readonly home?: string;
  readonly limits?: Partial<Limits>;
  /** Names of variables of `env` that the user lets in, besides those that every program is given. */
  readonly passes?: readonly string[];
  /** The image of a Docker sandbox; absent: by the language of the folder that a program starts in. */
  readonly image?: string;
}

/** The most that the processes of one program may use. Sizes are bytes. */
export interface Limits {
  readonly processes: number;
  /** Of all its processes together. */
  readonly memory: number;
  /** More of the disk than when it was started. */
  readonly disk: number;
  /** What must stay free on that disk. */
  readonly diskLeft: number;
  /** One file. */
  readonly file: number;
  /** Each folder that lies in memory: /tmp, and /home where it is not kept. */
  readonly temporary: number;
}

const gigabyte = 2 ** 30;

export const defaultLimits: Limits = {
  processes: 512,
  memory: 4 * gigabyte,
  disk: 5 * gigabyte,
  diskLeft: gigabyte,
  file: 2 * gigabyte,
  temporary: gigabyte / 2,
};
