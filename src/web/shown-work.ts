import type { Steering } from "../engine/generated/memory.js";
import type { SteeredWork } from "../engine/storage/state/from-outside.js";
import type { Standing } from "../engine/ui/standing.js";
import type { WorkCosts } from "../research/overview/costs.js";

/** A project or a task as the pages show it and a person leads it; handed to them by the command. */
export interface ShownWork {
  /** Stands in addresses; those of all that is shown are different. */
  readonly name: string;
  readonly folder: string;
  readonly isProject: boolean;
  /** Files whose change tells of its state. */
  readonly files: readonly string[];
  /** How it stands; undefined where it is gone. */
  look(): Promise<Standing | undefined>;
  readonly steered: SteeredWork;
  /** What its agents were told and have heard. */
  heard(): Promise<readonly Steering[]>;
  costs(): Promise<WorkCosts>;
}
