import { existsSync } from "node:fs";
import type { SteeredWork } from "../../engine/storage/state/from-outside.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import { readLedger } from "../../engine/storage/state/ledger.js";
import { carried, isToCarry, oldCodeName } from "./carry-over.js";
import { stateFile, taskFile, taskLedger, taskName } from "./layout.js";
import { newState, taskFormat } from "./state-file.js";
import { readTask } from "./task-file.js";

/** A task as a person leads it from outside; `where`: as the person knows it. */
export const steeredTask = (folder: string, where: string): SteeredWork => ({
  folder,
  where,
  formats: isToCarry(folder) ? { ...taskFormat, file: oldCodeName } : taskFormat,
  finished: async () => {
    if (isToCarry(folder)) return (await carried(folder).catch(() => undefined))?.status === "success";
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
    : isToCarry(folder)
      ? { state: await carried(folder), ledger: (await readLedger(folder, taskLedger)).lines }
      : { state: newState((await readTask(taskFile(folder))).task, folder, taskName), ledger: [] };
