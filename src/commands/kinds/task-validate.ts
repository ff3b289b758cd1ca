import { existsSync } from "node:fs";
import { join } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { readLedger } from "../../engine/storage/state/ledger.js";
import { readStateFile, restoreHint } from "../../engine/storage/state/state-file.js";
import { readCodingRun, hasCodingRun, oldCodeName } from "../../task/project-files/carry-over.js";
import { stateFile, stateName, taskFile, taskLedger } from "../../task/project-files/layout.js";
import { taskFormat } from "../../task/project-files/state-file.js";
import { problemsInTask, taskText, taskValue, unknownFields } from "../../task/project-files/task-file.js";
import type { Finding, Validated } from "./kind.js";
import { placed } from "./project-validate.js";

/** Everything that is wrong with a task's ralph.json, the state of its runs and its ledger. */
export async function validateTask(folder: string): Promise<Validated> {
  if (hasCodingRun(folder)) return await validateOld(folder);
  const [file, state] = [taskFile(folder), stateFile(folder)];
  const isBegun = existsSync(state);
  const isWritten = existsSync(file) || !isBegun;
  const broken = isBegun ? ((await readStateFile(state, taskFormat)).problems ?? []) : [];
  const ledger = (await readLedger(folder, taskLedger)).notices;
  return {
    file: isWritten ? file : state,
    findings: [
      ...(isWritten ? await findingsOf(file) : []),
      ...broken.map((problem): Finding => ({ level: "error", file: stateName, ...problem })),
      ...ledger.map((message): Finding => ({ level: "warning", pointer: "", message })),
    ],
    wayBack: broken.length > 0 ? await restoreHint(folder, taskFormat) : "then run research-ralph verify --files again",
  };
}

/** The state of a coding run that the next run takes over. */
async function validateOld(folder: string): Promise<Validated> {
  const validated = { file: join(folder, oldCodeName), wayBack: "then run research-ralph verify --files again" };
  try {
    await readCodingRun(folder);
    return { ...validated, findings: [] };
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return { ...validated, findings: [{ level: "error", pointer: "", message: error.message.replace(/\.$/, "") }] };
  }
}

async function findingsOf(file: string): Promise<Finding[]> {
  try {
    const text = await taskText(file);
    const value = taskValue(text, file);
    return placed(text, [
      ...problemsInTask(value).map((problem): Finding => ({ level: "error", ...problem })),
      ...unknownFields(value).map((problem): Finding => ({ level: "warning", ...problem })),
    ]);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return [{ level: "error", pointer: "", message: error.message.replace(/\.$/, "") }];
  }
}
