import { existsSync } from "node:fs";
import type { SteeredWork } from "../../engine/storage/state/from-outside.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import { stateFile, taskFile, taskName } from "./layout.js";
import { newState, taskFormat } from "./state-file.js";
import { readTask } from "./task-file.js";

/** A task as a person leads it from outside; `where`: as the person knows it. */
export const steeredTask = (folder: string, where: string): SteeredWork => ({
  folder,
  where,
  formats: taskFormat,
  finished: async () => {
    if (!existsSync(stateFile(folder))) return false;
    const read = await readRecords(folder, taskFormat).catch(() => undefined);
    return read?.state.status === "success";
  },
  goOn: `research-ralph task${where === "." ? "" : ` ${where}`}`,
  more: "change the task or its criteria",
});

/** The state of a task, as it would begin where no run has begun it, and its ledger. */
export const taskRecords = async (folder: string) =>
  existsSync(stateFile(folder))
    ? await readRecords(folder, taskFormat)
    : { state: newState((await readTask(taskFile(folder))).task, folder, taskName), ledger: [] };
