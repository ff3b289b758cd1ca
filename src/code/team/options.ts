import type { TaskState } from "../../task/generated/ralph-state.js";
import type { CodePlan } from "../../task/generated/ralph-state.js";
import type { Snapshots } from "../../task/project-files/snapshots.js";
import type { TaskOptions } from "../../task/workflow/frame.js";
import type { loadMachine } from "../round/next-role.js";
import type { Fixes } from "../vault/fixes.js";

/** The project's files by their distance from the failures. */
export interface Ranking {
  /** The text of the nearest files, nearest first, in at most `tokens` tokens. */
  text(state: TaskState, tokens: number): Promise<string>;
  /** The librarian's plan without a model: the places of the failures and the files that they import. */
  plan(state: TaskState): Promise<CodePlan>;
}

/** The data for the brief of a role, in addition to the records. */
export interface RoleContext {
  /** Absolute path of the project. */
  readonly workspace: string;
  readonly snapshots: Pick<Snapshots, "changes" | "diff">;
  readonly fixes: Pick<Fixes, "recall">;
  readonly ranking: Ranking;
  /** The context window of the librarian's model, in tokens. */
  readonly window: number;
  /** Whether the artisan can run commands. */
  readonly shell: boolean;
}

/** The options of a task that a team works on. */
export interface TeamOptions extends TaskOptions, RoleContext {
  /** Absolute path of the folder that holds the task's records. */
  readonly folder: string;
  readonly snapshots: Snapshots;
  readonly fixes: Fixes;
  /** The folder of an agent that does not work in the project. */
  readonly roleFolder: (iteration: number) => string;
  readonly nextStepOf: Awaited<ReturnType<typeof loadMachine>>;
  readonly hasAdversary: boolean;
  /** Whether the librarian is a built-in function, without a model. */
  readonly isBuiltIn: boolean;
  readonly keepTests: boolean;
  readonly temperatures: Readonly<Record<string, number>>;
}
