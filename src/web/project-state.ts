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

/** The records of a project, as they were read last. */
export interface Records {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
  readonly model: ReportModel;
  /** Changes with each version of the files. */
  readonly version: string;
  /** Files that could not be read, a sentence each. */
  readonly notices: readonly string[];
  /** Why the state can't be read now; the rest is the last good version. */
  readonly broken?: string;
}

/** A project that is not there any more, or one that never could be read, and why. */
export interface Unreadable {
  readonly gone: boolean;
  readonly says: string;
}

export const isUnreadable = (records: Records | Unreadable): records is Unreadable => "gone" in records;

/**
 * Reads the records of a project, again only where a file has changed. A state that can't be read is stood in for by
 * the last version that could: of this process, else the copy that runs keep. Never throws for what a folder holds.
 */
export function openRecords(folder: string, now: () => number): () => Promise<Records | Unreadable> {
  let last: Records | undefined;
  let seen: string | undefined;
  let problem: string | undefined;
  return async () => {
    if (!existsSync(rrdFile(folder))) {
      seen = undefined;
      return { gone: true, says: `${folder} is gone: it was deleted or moved.` };
    }
    const version = versionOf(folder);
    if (version === seen && last !== undefined) return problem === undefined ? last : { ...last, broken: problem };
    try {
      last = await read(folder, new Date(now()), version);
      [seen, problem] = [version, undefined];
      return last;
    } catch (error) {
      if (!existsSync(rrdFile(folder))) return { gone: true, says: `${folder} is gone: it was deleted or moved.` };
      problem = messageOf(error).replaceAll(`${folder}/`, "");
      last ??= await readLastGood(folder, new Date(now()));
      seen = version;
      return last === undefined ? { gone: false, says: problem } : { ...last, broken: problem };
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

/** What the last run kept of the state when it was whole; undefined where it is missing. */
async function readLastGood(folder: string, now: Date): Promise<Records | undefined> {
  const text = await readRegularText(lastGoodFile(folder)).catch(() => undefined);
  const parsed = text === undefined ? undefined : parseRrd(text, lastGoodFile(folder));
  if (parsed?.ok === undefined) return undefined;
  const rrd = parsed.ok;
  const model = reportModel({ rrd, ledger: [], queries: [], answers: [], now });
  return { rrd, ledger: [], model, version: "last good", notices: [] };
}
