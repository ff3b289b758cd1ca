import { createHash } from "node:crypto";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { attemptsFormat } from "../../engine/storage/state/format.js";
import { schemaAddress } from "../../engine/storage/schema-check.js";
import type { RalphTask } from "../generated/ralph.js";
import type { TaskState } from "../generated/ralph-state.js";
import { logName, stateName, taskLedger } from "./layout.js";

/** The one unit of a task, its attempts, and the phase that they belong to. */
export const unitId = "task";
export const taskPhase = "TASK";

/** The state of a task, for the record store. */
export const taskFormat = attemptsFormat<TaskState>({
  schema: "ralph-state",
  file: stateName,
  log: logName,
  ledger: taskLedger,
  top: "task",
  phase: taskPhase,
  others: ["rounds"],
  noun: "task",
  howToBegin: "research-ralph task begins one",
  resetCommand: (_folder, iteration) => `research-ralph task --undo ${iteration}`,
});

/**
 * The state of a task that was never worked on. `source`: the file it was read from; absent: the command line. Its id
 * names it in git; two folders of one repository have two.
 */
export function newState(task: RalphTask, folder: string, source: string | undefined): TaskState {
  const words = task.task
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
    id: words === "" ? hash : `${words.endsWith("-") ? words.slice(0, -1) : words}-${hash}`,
    ...withoutUndefined({ source }),
    task,
    checks: [],
    attempts: [],
  };
}
