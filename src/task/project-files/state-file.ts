import { createHash } from "node:crypto";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { attemptsFormat } from "../../engine/storage/state/format.js";
import { schemaAddress } from "../../engine/storage/schema-check.js";
import type { RalphTask } from "../generated/ralph.js";
import type { TaskState } from "../generated/ralph-state.js";
import { logName, stateName, taskLedger } from "./layout.js";

/** The id of the only unit of a task, its attempts, and the phase of that unit. */
export const unitId = "task";
export const taskPhase = "TASK";

/** The format of a task's state, for the record store. */
export const taskFormat = attemptsFormat<TaskState>({
  schema: "ralph-state",
  file: stateName,
  log: logName,
  ledger: taskLedger,
  top: "task",
  phase: taskPhase,
  otherCollections: ["rounds"],
  noun: "task",
  howToBegin: "research-ralph task begins one",
  resetCommand: (_folder, iteration) => `research-ralph task --undo ${iteration}`,
});

/**
 * The state of a new task. `source`: the file of the task; undefined for a task of the command line. The id is used in
 * names of git refs. It contains a hash of the folder, because two folders of one repository may have equal tasks.
 */
export function newState(task: RalphTask, folder: string, source: string | undefined): TaskState {
  const slug = task.task
    .toLowerCase()
    .normalize("NFKD")
    .split(/[^a-z0-9]/)
    .filter((word) => word !== "")
    .join("-")
    .slice(0, 32);
  const hash = createHash("sha256")
    .update(JSON.stringify([folder, source ?? task.task]))
    .digest("hex")
    .slice(0, 8);
  return {
    $schema: schemaAddress("ralph-state"),
    id: slug === "" ? hash : `${slug.endsWith("-") ? slug.slice(0, -1) : slug}-${hash}`,
    ...withoutUndefined({ source }),
    task,
    checks: [],
    attempts: [],
  };
}
