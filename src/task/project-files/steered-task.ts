import { existsSync } from "node:fs";
import { commandLineWords } from "../../engine/config/keys.js";
import type { Words } from "../../engine/loop/types.js";
import type { SteeredWork } from "../../engine/storage/state/from-outside.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import { readLedger } from "../../engine/storage/state/ledger.js";
import { readCodingRun, hasCodingRun, oldCodeName } from "./carry-over.js";
import { stateFile, stateName, taskFile, taskLedger, taskName } from "./layout.js";
import { newState, taskFormat } from "./state-file.js";
import { readTaskFile } from "./task-file.js";

/** A task that the user steers from outside its run. `where`: the folder as the user wrote it. */
export const steeredTask = (folder: string, where: string): SteeredWork => ({
  folder,
  typedFolder: where,
  formats: hasCodingRun(folder) ? { ...taskFormat, file: oldCodeName } : taskFormat,
  isFinished: async () => {
    if (hasCodingRun(folder)) return (await readCodingRun(folder).catch(() => undefined))?.status === "success";
    if (!existsSync(stateFile(folder))) return false;
    const records = await readRecords(folder, taskFormat).catch(() => undefined);
    return records?.state.status === "success";
  },
  continueCommand: `research-ralph task${where === "." ? "" : ` ${where}`}`,
  howToAddWork: "change the task or its criteria",
});

/** The state and the ledger of a task. If no run has started yet, the state is a new one. */
export const taskRecords = async (folder: string) =>
  existsSync(stateFile(folder))
    ? await readRecords(folder, taskFormat)
    : hasCodingRun(folder)
      ? { state: await readCodingRun(folder), ledger: (await readLedger(folder, taskLedger)).lines }
      : { state: newState((await readTaskFile(taskFile(folder))).task, folder, taskName), ledger: [] };

/** The phrases for a task in messages about a run. `name`: its file; undefined for a task of the command line. */
export function taskWords(name: string | undefined): Words {
  const fileName = name ?? `a ${taskName}, which --save writes`;
  const steerAdvice = name === undefined ? "say more with research-ralph steer" : `say more in ${name}`;
  return {
    noun: "task",
    budget: (unit) => (unit === "iterations" ? `max_iterations in ${fileName}` : `budget.max_${unit} in ${fileName}`),
    look: `Look at loop.observations in ${stateName}`,
    reasons: `Read the reasons in ${taskLedger}`,
    steer: steerAdvice,
    mend: name === undefined ? steerAdvice : `${steerAdvice}, or take a criterion out`,
    ...commandLineWords,
  };
}
