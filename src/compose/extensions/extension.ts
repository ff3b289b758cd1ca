import type { EngineConfig } from "../../engine/generated/config.js";
import type { Redact } from "../../engine/lib/redact.js";
import type { Tell } from "../../engine/loop/types.js";

/** The part of the configuration that extensions see. */
export interface ExtensionConfig extends Pick<EngineConfig, "sandbox_env"> {
  readonly plugins: NonNullable<EngineConfig["plugins"]>;
  readonly unconfined: boolean;
}

/** Where a command was started. */
export interface ExtensionPlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A result of `doctor` or `verify --files` for one part of an extension. */
export interface ExtensionCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** The run that an extension takes part in. */
export interface ExtendedRun {
  /** The folder of the project, and the folder of the work if it is another one. Participants may read them. */
  readonly folders: readonly string[];
  /** The folder of the research project; absent for other work. */
  readonly research?: string;
  readonly tell: Tell;
  readonly redact: Redact;
  /** Aborted when the run ends at once. */
  readonly signal: AbortSignal;
}
