import type { EngineConfig } from "../../engine/generated/config.js";
import type { Redact } from "../../engine/lib/redact.js";
import type { Tell } from "../../engine/loop/types.js";
import type { Participant } from "../../engine/points/points.js";

/** What extensions know of the configuration. */
export interface ExtensionConfig extends Pick<EngineConfig, "sandbox_env"> {
  readonly plugins: NonNullable<EngineConfig["plugins"]>;
  readonly unconfined: boolean;
}

/** Where a command was started. */
export interface ExtensionPlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What `doctor` and `verify --files` say of one part of an extension. */
export interface ExtensionCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** The run that an extension takes part in. */
export interface ExtendedRun {
  /** Of the project, and of the work where that is another; what takes part may read them. */
  readonly folders: readonly string[];
  /** The folder of the research project that the run is of; absent: it is of other work. */
  readonly research?: string;
  readonly tell: Tell;
  readonly redact: Redact;
  /** Aborted when the run ends at once. */
  readonly signal: AbortSignal;
}

/** What adds to commands and runs without being known by them; loaded where the configuration has a use for it. */
export interface Extension {
  isUsed(config: ExtensionConfig): boolean;
  load(): Promise<LoadedExtension>;
}

export interface LoadedExtension {
  /**
   * Makes known what it adds to commands, such as sources, and says what each of its parts is, or why it can't be used.
   * Called once a command.
   */
  addTo(config: ExtensionConfig, place: ExtensionPlace): Promise<readonly ExtensionCheck[]>;
  /** Who takes part in a run; what went wrong with that is told. */
  takePart(config: ExtensionConfig, place: ExtensionPlace, run: ExtendedRun): Promise<Participant>;
}
