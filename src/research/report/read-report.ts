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

/** What a report is made of, and what could not be read, a sentence each. */
export interface ReadReport {
  readonly input: ReportInput;
  readonly notices: readonly string[];
  /** rrd.json is broken, and this is made from its last good version. */
  readonly fromLastGood: boolean;
}

/** Every file that is read for a report. */
const inputs = [rrdName, ledgerName, queriesName, answersName, reportDataName, ideasName, reportName];

/** A hash of all that a report would be made of now, and of the version that makes it. */
export async function hashOfInputs(folder: string): Promise<string> {
  const hash = createHash("sha256").update(packageVersion());
  for (const name of inputs) {
    const found = await versionAt(join(folder, name));
    hash.update(`\0${name}\0${found.kind}\0`);
    if (found.kind === "file") hash.update(found.bytes);
  }
  return hash.digest("hex");
}

/** Files of a narrative are small; anything larger is not read. */
const maxBytes = 20_000_000;

/**
 * Reads all that the report of a project is made of, without its lock and without changing anything. Of a broken
 * rrd.json the last good version is read, and a notice says so.
 * @throws ExpectedError when rrd.json is missing or invalid and there is no good version.
 */
export async function readReportInput(folder: string, now: Date): Promise<ReadReport> {
  const { rrd, ledger, notices } = await readState(folder);
  const read = await readBeside(folder, rrd, ledger, now);
  return { ...read, notices: [...notices, ...read.notices], fromLastGood: notices.length > 0 };
}

/**
 * The records of a project, without its lock; of a broken rrd.json those of its last good version, with a notice.
 * @throws ExpectedError when rrd.json is missing or invalid and there is no good version.
 */
export async function readState(
  folder: string,
): Promise<{ readonly rrd: Rrd; readonly ledger: readonly LedgerLine[]; readonly notices: readonly string[] }> {
  try {
    return { ...(await readResearch(folder)), notices: [] };
  } catch (error) {
    const good =
      error instanceof ExpectedError ? await readRrdFile(lastGoodFile(folder)).catch(() => undefined) : undefined;
    if (good?.ok === undefined) throw error;
    const at = (await stat(lastGoodFile(folder))).mtime.toISOString().slice(0, 16).replace("T", " ");
    const notice = `${rrdFile(folder)} can't be read, so this is made from its last good version, of ${at} UTC. 'research-ralph verify --files' names every problem.`;
    return { rrd: good.ok, ledger: (await readLedger(folder)).lines, notices: [notice] };
  }
}

/**
 * The same for a state that is known already. A narrative of an earlier iteration than the last report does not count.
 */
export async function readBeside(
  folder: string,
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  now: Date,
): Promise<ReadReport> {
  const shown = await withPassages(textsFolder(folder), rrd);
  const [paragraphs, queries, answers, data, ideas, oldReport] = await Promise.all([
    paragraphsOf(textsFolder(folder), shown.papers_pool),
    readQueries(folder),
    readAnswers(folder),
    readFileOf<ReportFile>(folder, reportDataName, "report"),
    readFileOf<ProductIdeas>(folder, ideasName, "product-ideas"),
    textOf(join(folder, reportName)),
  ]);
  const last = currentAccepted(ledger).get("report");
  const isOlder = data.value?.iteration !== undefined && last !== undefined && data.value.iteration !== last;
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
      rrd: shown,
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

/** A JSON file by its schema; one that is not such a file is named in `notices` and left out. */
async function readFileOf<Value>(
  folder: string,
  name: string,
  schema: "report" | "product-ideas",
): Promise<{ readonly value?: Value; readonly notices: readonly string[] }> {
  const path = join(folder, name);
  const text = await textOf(path);
  if (text === undefined) return { notices: [] };
  const left = (why: string) => ({ notices: [`${path} ${why}, so the report is made without it.`] });
  if (text.length > maxBytes) return left(`has ${Math.round(text.length / 1e6)} MB`);
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return left("is not valid JSON");
  }
  if (isNewer(value)) return left("was written by a later version of this program");
  const [problem] = problemsOf(schema, value);
  return problem === undefined
    ? { value: value as Value, notices: [] }
    : left(`is not valid at ${problem.pointer || "its top"}: ${problem.message}`);
}
