import { resolve } from "node:path";
import { configKeys, type Kind, type NeedsTrust } from "../../engine/config/keys.js";
import { isWithin, realPathOf } from "../../engine/process/search-path.js";
import type { TaskConfig } from "../generated/config.js";

/** A file that we write, in a folder of its own choice: it may be one from which a program is started. */
const inOtherFolder: NeedsTrust = (value) => (String(value).includes("/") ? value : undefined);

/** What the wing of tasks reads of a configuration. */
export const taskKeys = configKeys({
  scalars: {
    task_workspace: "text",
    task_plan_file: "text",
    task_record_file: "text",
    task_current_file: "text",
  } satisfies Record<keyof TaskConfig, Kind>,
  needsTrust: {
    // A link in it may lead out as well.
    task_workspace: (value, folder) =>
      isWithin(realPathOf(resolve(folder, String(value))), realPathOf(folder)) ? undefined : value,
    task_plan_file: inOtherFolder,
    task_record_file: inOtherFolder,
    task_current_file: inOtherFolder,
  },
  defaults: {
    task_workspace: ".",
    task_plan_file: "todo.md",
    task_record_file: "whole.task.md",
    task_current_file: "current.state.md",
  } satisfies TaskConfig,
});
