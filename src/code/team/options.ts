import type { TaskState } from "../../task/generated/ralph-state.js";
import type { CodePlan } from "../../task/generated/ralph-state.js";
import type { Snapshots } from "../../task/project-files/snapshots.js";
import type { TaskOptions } from "../../task/workflow/frame.js";
import type { loadMachine } from "../round/next-role.js";
import type { Fixes } from "../vault/fixes.js";

/** The project's files by their distance from where it fails. */
export interface Ranking {
  /** The files as a text of at most so many tokens, the nearest first. */
  text(state: TaskState, tokens: number): Promise<string>;
  /** The plan of the librarian without a model: failing places and what they import. */
  plan(state: TaskState): Promise<CodePlan>;
}

/** What the text for a role is made of besides the records. */
export interface RoleMeans {
  /** Absolute path of the project. */
  readonly workspace: string;
  readonly snapshots: Pick<Snapshots, "changes" | "diff">;
  readonly fixes: Pick<Fixes, "recall">;
  readonly ranking: Ranking;
  /** Tokens that the librarian's model takes in one request. */
  readonly window: number;
  /** Whether the artisan runs commands itself. */
  readonly shell: boolean;
}

/** How a task is worked on by a team. */
export interface TeamOptions extends TaskOptions, RoleMeans {
  /** Absolute path of the folder that holds the task's records. */
  readonly folder: string;
  readonly snapshots: Snapshots;
  readonly fixes: Fixes;
  /** A folder for an agent that does not work in the project. */
  readonly roleFolder: (iteration: number) => string;
  readonly placeOf: Awaited<ReturnType<typeof loadMachine>>;
  readonly hasAdversary: boolean;
  /** The librarian is code. */
  readonly isBuiltIn: boolean;
  readonly keepTests: boolean;
  readonly temperatures: Readonly<Record<string, number>>;
}
