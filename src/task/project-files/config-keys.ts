import { resolve } from "node:path";
import { configKeys, type ValueKind, type NeedsTrust } from "../../engine/config/keys.js";
import { isWithin, realPathOf } from "../../engine/process/search-path.js";
import type { TaskConfig } from "../generated/config.js";

/** A file in another folder needs trust, because programs may be started from that folder. */
const ifInAnotherFolder: NeedsTrust = (value) => (String(value).includes("/") ? value : undefined);

/** The configuration keys of tasks. */
export const taskKeys = configKeys({
  scalars: {
    task_workspace: "text",
    task_plan_file: "text",
    task_record_file: "text",
    task_current_file: "text",
  } satisfies Record<keyof TaskConfig, ValueKind>,
  needsTrust: {
    // Compared by real paths, because a link in the folder may lead out of it.
    task_workspace: (value, folder) =>
      isWithin(realPathOf(resolve(folder, String(value))), realPathOf(folder)) ? undefined : value,
    task_plan_file: ifInAnotherFolder,
    task_record_file: ifInAnotherFolder,
    task_current_file: ifInAnotherFolder,
  },
  defaults: {
    task_workspace: ".",
    task_plan_file: "todo.md",
    task_record_file: "whole.task.md",
    task_current_file: "current.state.md",
  } satisfies TaskConfig,
});
