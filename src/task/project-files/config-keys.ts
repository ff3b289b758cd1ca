import { configKeys, type Kind } from "../../engine/config/keys.js";
import type { TaskConfig } from "../generated/config.js";

/** What the wing of tasks reads of a configuration. */
export const taskKeys = configKeys({
  scalars: {
    task_workspace: "text",
    task_plan_file: "text",
    task_record_file: "text",
    task_current_file: "text",
  } satisfies Record<keyof TaskConfig, Kind>,
  defaults: {
    task_workspace: ".",
    task_plan_file: "todo.md",
    task_record_file: "whole.task.md",
    task_current_file: "current.state.md",
  } satisfies TaskConfig,
});
