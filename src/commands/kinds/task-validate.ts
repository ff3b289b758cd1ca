import { existsSync } from "node:fs";
import { join } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { readLedger } from "../../engine/storage/state/ledger.js";
import { readStateFile, restoreHint } from "../../engine/storage/state/state-file.js";
import { readCodingRun, hasCodingRun, oldCodeName } from "../../task/project-files/carry-over.js";
import { stateFile, stateName, taskFile, taskLedger } from "../../task/project-files/layout.js";
import { taskFormat } from "../../task/project-files/state-file.js";
import { problemsInTask, readTaskText, parseTask, unknownFields } from "../../task/project-files/task-file.js";
import type { Finding, Validation } from "./kind.js";
import { withLines } from "./project-validate.js";

/** All problems in a task's ralph.json, its state file and its ledger. */
export async function validateTask(folder: string): Promise<Validation> {
  if (hasCodingRun(folder)) return await validateCodingRun(folder);
  const [file, state] = [taskFile(folder), stateFile(folder)];
  const hasState = existsSync(state);
  const isTaskFileUsed = existsSync(file) || !hasState;
  const stateProblems = hasState ? ((await readStateFile(state, taskFormat)).problems ?? []) : [];
  const ledgerNotices = (await readLedger(folder, taskLedger)).notices;
  return {
    file: isTaskFileUsed ? file : state,
    findings: [
      ...(isTaskFileUsed ? await findingsOf(file) : []),
      ...stateProblems.map((problem): Finding => ({ level: "error", file: stateName, ...problem })),
      ...ledgerNotices.map((message): Finding => ({ level: "warning", pointer: "", message })),
    ],
    repairHint:
      stateProblems.length > 0 ? await restoreHint(folder, taskFormat) : "then run research-ralph verify --files again",
  };
}

/** Validates the state file of an older program, which the next run converts. */
async function validateCodingRun(folder: string): Promise<Validation> {
  const baseResult = { file: join(folder, oldCodeName), repairHint: "then run research-ralph verify --files again" };
  try {
    await readCodingRun(folder);
    return { ...baseResult, findings: [] };
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return { ...baseResult, findings: [{ level: "error", pointer: "", message: error.message.replace(/\.$/, "") }] };
  }
}

async function findingsOf(file: string): Promise<Finding[]> {
  try {
    const text = await readTaskText(file);
    const value = parseTask(text, file);
    return withLines(text, [
      ...problemsInTask(value).map((problem): Finding => ({ level: "error", ...problem })),
      ...unknownFields(value).map((problem): Finding => ({ level: "warning", ...problem })),
    ]);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return [{ level: "error", pointer: "", message: error.message.replace(/\.$/, "") }];
  }
}
