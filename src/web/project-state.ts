import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LedgerLine } from "../engine/generated/ledger.js";
import { ledgerFile } from "../engine/lib/layout.js";
import { messageOf } from "../engine/lib/errors.js";
import { stampOf } from "../engine/storage/atomic-file.js";
import { readRegularText } from "../engine/storage/regular-file.js";
import {
  ideasName,
  lastGoodFile,
  queriesFile,
  reportDataName,
  reportName,
  rrdFile,
} from "../research/project-files/layout.js";
import { parseRrd } from "../research/project-files/rrd-file.js";
import type { Rrd } from "../research/generated/rrd.js";
import { type ReportModel, reportModel } from "../research/report/model.js";
import { readReportInput } from "../research/report/read-report.js";

/** The latest records of a project. */
export interface Records {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
  readonly model: ReportModel;
  /** Different for each version of the files. */
  readonly version: string;
  /** A sentence for each file that could not be read. */
  readonly notices: readonly string[];
  /** Why the state can't be read now; then the other fields are from the last good version. */
  readonly problem?: string;
}

/** A project that was deleted, or that could never be read. */
export interface UnreadableProject {
  readonly says: string;
}

export const isUnreadable = (records: Records | UnreadableProject): records is UnreadableProject => !("rrd" in records);

/**
 * Creates a function that returns the records of a project, and reads them only if a file has changed. If the state
 * can't be read, it returns the last good version: the one that it read before, or the copy that runs make. Never
 * throws for errors in the folder.
 */
export function openRecords(folder: string, now: () => number): () => Promise<Records | UnreadableProject> {
  const gone = { says: `${folder} is gone: it was deleted or moved.` };
  let lastRecords: Records | undefined;
  let lastVersion: string | undefined;
  let problem: string | undefined;
  return async () => {
    if (!existsSync(rrdFile(folder))) {
      lastVersion = undefined;
      return gone;
    }
    const version = versionOf(folder);
    if (version === lastVersion && lastRecords !== undefined)
      return problem === undefined ? lastRecords : { ...lastRecords, problem };
    try {
      lastRecords = await read(folder, new Date(now()), version);
      [lastVersion, problem] = [version, undefined];
      return lastRecords;
    } catch (error) {
      if (!existsSync(rrdFile(folder))) return gone;
      problem = messageOf(error).replaceAll(`${folder}/`, "");
      lastRecords ??= await readLastGood(folder, new Date(now()));
      lastVersion = version;
      return lastRecords === undefined ? { says: problem } : { ...lastRecords, problem };
    }
  };
}

const versionOf = (folder: string): string =>
  [
    rrdFile(folder),
    ledgerFile(folder),
    queriesFile(folder),
    ...[reportDataName, reportName, ideasName].map((name) => join(folder, name)),
  ]
    .map((path) => stampOf(path) ?? "-")
    .join(" ");

async function read(folder: string, now: Date, version: string): Promise<Records> {
  const { input, notices } = await readReportInput(folder, now);
  const { rrd, ledger } = input;
  return { rrd, ledger, model: reportModel(input), version, notices };
}

/** The copy of the last good state that the last run made; undefined if it is missing. */
async function readLastGood(folder: string, now: Date): Promise<Records | undefined> {
  const text = await readRegularText(lastGoodFile(folder)).catch(() => undefined);
  const parsed = text === undefined ? undefined : parseRrd(text, lastGoodFile(folder));
  if (parsed?.ok === undefined) return undefined;
  const rrd = parsed.ok;
  const model = reportModel({ rrd, ledger: [], queries: [], answers: [], now });
  return { rrd, ledger: [], model, version: "last good", notices: [] };
}
