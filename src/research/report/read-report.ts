import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../../engine/lib/errors.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { ledgerName } from "../../engine/lib/layout.js";
import { packageVersion } from "../../engine/lib/package-root.js";
import { versionAt } from "../../engine/storage/guard/file-snapshot.js";
import { currentAccepted, readLedger } from "../../engine/storage/state/ledger.js";
import { isNewer } from "../../engine/storage/state/format-version.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { problemsOf } from "../../engine/storage/schema-check.js";
import { withPassages } from "../full-text/old-passages.js";
import { paragraphsOf } from "../full-text/paragraphs.js";
import { readAnswers } from "../project-files/logs/answers-log.js";
import { readQueries } from "../project-files/logs/query-log.js";
import {
  answersName,
  ideasName,
  lastGoodFile,
  queriesName,
  reportDataName,
  reportName,
  rrdFile,
  rrdName,
  textsFolder,
} from "../project-files/layout.js";
import { readRrdFile } from "../project-files/rrd-file.js";
import { readResearch } from "../project-files/research.js";
import type { ProductIdeas } from "../generated/product-ideas.js";
import type { ReportFile } from "../generated/report.js";
import type { Rrd } from "../generated/rrd.js";
import type { ReportInput } from "./model.js";

/** The data of a report, and what could not be read, one sentence each. */
export interface ReadReport {
  readonly input: ReportInput;
  readonly notices: readonly string[];
  /** True if rrd.json is broken, and its last good version was used. */
  readonly fromLastGood: boolean;
}

/** The files that are read for a report. */
const inputNames = [rrdName, ledgerName, queriesName, answersName, reportDataName, ideasName, reportName];

/** A hash of all inputs of a report and of the version of this program. */
export async function hashOfInputs(folder: string): Promise<string> {
  const hash = createHash("sha256").update(packageVersion());
  for (const name of inputNames) {
    const version = await versionAt(join(folder, name));
    hash.update(`\0${name}\0${version.kind}\0`);
    if (version.kind === "file") hash.update(version.bytes);
  }
  return hash.digest("hex");
}

/** Maximum size of report.json and product-ideas.json. Larger files are not read. */
const maxBytes = 20_000_000;

/**
 * Reads the data of a report, without its lock and without changing anything. If rrd.json is broken, its last good
 * version is read, with a notice.
 * @throws ExpectedError if rrd.json is missing, or invalid without a good version.
 */
export async function readReportInput(folder: string, now: Date): Promise<ReadReport> {
  const { rrd, ledger, notices } = await readState(folder);
  const report = await readInputFor(folder, rrd, ledger, now);
  return { ...report, notices: [...notices, ...report.notices], fromLastGood: notices.length > 0 };
}

/**
 * Reads the records of a project without its lock. If rrd.json is broken, its last good version is read, with a notice.
 * @throws ExpectedError if rrd.json is missing, or invalid without a good version.
 */
export async function readState(
  folder: string,
): Promise<{ readonly rrd: Rrd; readonly ledger: readonly LedgerLine[]; readonly notices: readonly string[] }> {
  try {
    return { ...(await readResearch(folder)), notices: [] };
  } catch (error) {
    const lastGood =
      error instanceof ExpectedError ? await readRrdFile(lastGoodFile(folder)).catch(() => undefined) : undefined;
    if (lastGood?.ok === undefined) throw error;
    const modified = (await stat(lastGoodFile(folder))).mtime.toISOString().slice(0, 16).replace("T", " ");
    const notice = `${rrdFile(folder)} can't be read, so this is made from its last good version, of ${modified} UTC. 'research-ralph verify --files' names every problem.`;
    return { rrd: lastGood.ok, ledger: (await readLedger(folder)).lines, notices: [notice] };
  }
}

/**
 * Reads the data of a report for a known state. A narrative from an earlier iteration than the last report is ignored.
 */
export async function readInputFor(
  folder: string,
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  now: Date,
): Promise<ReadReport> {
  const withStoredPassages = await withPassages(textsFolder(folder), rrd);
  const [paragraphs, queries, answers, data, ideas, oldReport] = await Promise.all([
    paragraphsOf(textsFolder(folder), withStoredPassages.papers_pool),
    readQueries(folder),
    readAnswers(folder),
    readJsonFile<ReportFile>(folder, reportDataName, "report"),
    readJsonFile<ProductIdeas>(folder, ideasName, "product-ideas"),
    textOf(join(folder, reportName)),
  ]);
  const reportIteration = currentAccepted(ledger).get("report");
  const isOlder =
    data.value?.iteration !== undefined && reportIteration !== undefined && data.value.iteration !== reportIteration;
  const report = isOlder ? undefined : data.value;
  const notices = [
    ...queries.notices,
    ...answers.notices,
    ...data.notices,
    ...ideas.notices,
    ...(isOlder
      ? [`${reportDataName} belongs to another iteration than the last report, so the report is made without it.`]
      : []),
  ];
  return {
    input: {
      rrd: withStoredPassages,
      ledger,
      queries: queries.lines,
      answers: answers.lines,
      paragraphs,
      now,
      ...withoutUndefined({ report }),
      ...(report === undefined && oldReport !== undefined ? { oldReport } : {}),
      ...withoutUndefined({ ideas: ideas.value }),
    },
    notices,
    fromLastGood: false,
  };
}

const textOf = (path: string): Promise<string | undefined> =>
  readRegularText(path).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return undefined;
    throw new ExpectedError(`${path} can't be read: ${messageOf(error)}`);
  });

/** Reads a JSON file and checks it with its schema. An invalid file is left out, with a notice. */
async function readJsonFile<Value>(
  folder: string,
  name: string,
  schema: "report" | "product-ideas",
): Promise<{ readonly value?: Value; readonly notices: readonly string[] }> {
  const path = join(folder, name);
  const text = await textOf(path);
  if (text === undefined) return { notices: [] };
  const leftOut = (why: string) => ({ notices: [`${path} ${why}, so the report is made without it.`] });
  if (text.length > maxBytes) return leftOut(`has ${Math.round(text.length / 1e6)} MB`);
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return leftOut("is not valid JSON");
  }
  if (isNewer(value)) return leftOut("was written by a later version of this program");
  const [problem] = problemsOf(schema, value);
  return problem === undefined
    ? { value: value as Value, notices: [] }
    : leftOut(`is not valid at ${problem.pointer || "its top"}: ${problem.message}`);
}
