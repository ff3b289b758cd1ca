import { join } from "node:path";
import { statSync } from "node:fs";
import { valueAt, fieldsIn } from "../../engine/lib/json-fields.js";
import { parseXml } from "../../text/xml.js";
import { readRegularUpTo } from "../../engine/storage/regular-file.js";
import type { Coverage } from "../generated/test-results.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/** Maximum size of a report; a larger one is not read. */
const maxReportBytes = 20_000_000;

/**
 * Reads the coverage report that a tool has written into the project since `since`, in milliseconds since the epoch:
 * Istanbul's summary (c8, nyc, vitest, jest), the JSON of coverage.py, or Cobertura's XML (tarpaulin, llvm-cov).
 * Reports that can't be read are skipped.
 */
export async function coverageIn(cwd: string, since: number): Promise<Coverage | undefined> {
  for (const [names, read] of readers)
    for (const name of names) {
      const text = await readIfRecent(join(cwd, name), since);
      const coverage = text === undefined ? undefined : await read(text);
      if (coverage !== undefined) return coverage;
    }
  return undefined;
}

const readers: readonly (readonly [readonly string[], (text: string) => Promise<Coverage | undefined>])[] = [
  [["coverage/coverage-summary.json"], async (text) => readIstanbul(text)],
  [["coverage.json"], async (text) => readCoveragePy(text)],
  [
    ["cobertura.xml", "coverage.xml", "target/tarpaulin/cobertura.xml", "coverage/cobertura-coverage.xml"],
    readCobertura,
  ],
];

/** The text of a file that was written after `since`. One second is tolerated, because file systems may round times. */
async function readIfRecent(path: string, since: number): Promise<string | undefined> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.mtimeMs < since - 1_000) return undefined;
  const bytes = await readRegularUpTo(path, maxReportBytes).catch(() => 0);
  return typeof bytes === "number" ? undefined : bytes.toString("utf8");
}

interface Totals {
  readonly covered_lines?: unknown;
  readonly num_statements?: unknown;
  readonly covered_branches?: unknown;
  readonly num_branches?: unknown;
  readonly percent_covered?: unknown;
}

function readIstanbul(text: string): Coverage | undefined {
  const total = fieldsIn(text)?.["total"];
  return coverageOf(percent(valueAt(total, "lines", "pct")), percent(valueAt(total, "branches", "pct")));
}

function readCoveragePy(text: string): Coverage | undefined {
  const { totals } = fieldsIn<{ readonly totals: Totals | null }>(text) ?? {};
  if (totals === undefined || totals === null) return undefined;
  const shareOf = (part: unknown, total: unknown) =>
    typeof part === "number" && typeof total === "number" && total > 0 ? percent((part / total) * 100) : undefined;
  const lines = shareOf(totals.covered_lines, totals.num_statements) ?? percent(totals.percent_covered);
  return coverageOf(lines, shareOf(totals.covered_branches, totals.num_branches));
}

async function readCobertura(text: string): Promise<Coverage | undefined> {
  const parsed = await parseXml(text, [], ["line-rate", "branch-rate", "branches-valid"]);
  if ("reason" in parsed) return undefined;
  const root = (parsed.value as { coverage?: Readonly<Record<string, unknown>> } | undefined)?.coverage;
  const rate = (name: string) => {
    const value = root?.[`@${name}`];
    return typeof value === "string" && value.trim() !== "" ? percent(Number(value) * 100) : undefined;
  };
  // In a project without branches the rate is 0 or 1, depending on the tool.
  const branches = root?.["@branches-valid"] === "0" ? undefined : rate("branch-rate");
  return coverageOf(rate("line-rate"), branches);
}

const percent = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= 100 ? Math.round(value * 100) / 100 : undefined;

const coverageOf = (line: number | undefined, branch: number | undefined): Coverage | undefined =>
  line === undefined && branch === undefined
    ? undefined
    : withoutUndefined({ line_coverage: line, branch_coverage: branch });
