import { join } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../../engine/lib/errors.js";
import { isNewer } from "../../engine/storage/records/format-version.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { problemsOf } from "../../engine/storage/schema-check.js";
import { readQueries } from "../folder/logs/query-log.js";
import { ideasName, reportDataName, reportName } from "../folder/layout.js";
import { readResearch } from "../folder/research.js";
import type { ProductIdeas } from "../generated/product-ideas.js";
import type { ReportFile } from "../generated/report.js";
import type { ReportInput } from "./model.js";

/** What a report is made of, and what could not be read, a sentence each. */
export interface ReadReport {
  readonly input: ReportInput;
  readonly notices: readonly string[];
}

/** Files of a narrative are small; anything larger is none. */
const maxBytes = 20_000_000;

/**
 * Reads all that the report of a project is made of, without its lock and without changing anything.
 * @throws ExpectedError when rrd.json is missing or invalid.
 */
export async function readReportInput(folder: string, now: Date): Promise<ReadReport> {
  const { rrd, ledger } = await readResearch(folder);
  const [queries, report, ideas, oldReport] = await Promise.all([
    readQueries(folder),
    readFileOf<ReportFile>(folder, reportDataName, "report"),
    readFileOf<ProductIdeas>(folder, ideasName, "product-ideas"),
    textOf(join(folder, reportName)),
  ]);
  const notices = [...queries.notices, ...report.notices, ...ideas.notices];
  return {
    input: {
      ...{ rrd, ledger, queries: queries.lines, now },
      ...(report.value === undefined ? {} : { report: report.value }),
      ...(report.value === undefined && oldReport !== undefined ? { oldReport } : {}),
      ...(ideas.value === undefined ? {} : { ideas: ideas.value }),
    },
    notices,
  };
}

const textOf = (path: string): Promise<string | undefined> =>
  readRegularText(path).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return undefined;
    throw new ExpectedError(`${path} can't be read: ${messageOf(error)}`);
  });

/** A JSON file by its schema; one that is no such file is named in `notices` and left out. */
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
