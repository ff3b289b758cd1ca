import { join } from "node:path";
import { statSync } from "node:fs";
import { at, fieldsIn } from "../../engine/lib/json-fields.js";
import { parseXml } from "../../text/xml.js";
import { readRegularUpTo } from "../../engine/storage/regular-file.js";
import type { Coverage } from "../generated/test-results.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/** A larger report is not read. */
const maxBytes = 20_000_000;

/**
 * What a coverage tool has left in the project since then, in milliseconds since the epoch: Istanbul's summary (c8,
 * nyc, vitest, jest), the JSON of coverage.py, or Cobertura's XML (tarpaulin, llvm-cov). What can't be read says
 * nothing.
 */
export async function coverageIn(cwd: string, since: number): Promise<Coverage | undefined> {
  for (const [names, read] of readers)
    for (const name of names) {
      const text = await fresh(join(cwd, name), since);
      const found = text === undefined ? undefined : await read(text);
      if (found !== undefined) return found;
    }
  return undefined;
}

const readers: readonly (readonly [readonly string[], (text: string) => Promise<Coverage | undefined>])[] = [
  [["coverage/coverage-summary.json"], async (text) => ofIstanbul(text)],
  [["coverage.json"], async (text) => ofCoveragePy(text)],
  [["cobertura.xml", "coverage.xml", "target/tarpaulin/cobertura.xml", "coverage/cobertura-coverage.xml"], ofCobertura],
];

/** A run may begin within the same coarse tick of the file system's clock. */
async function fresh(path: string, since: number): Promise<string | undefined> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.mtimeMs < since - 1_000) return undefined;
  const bytes = await readRegularUpTo(path, maxBytes).catch(() => 0);
  return typeof bytes === "number" ? undefined : bytes.toString("utf8");
}

interface Totals {
  readonly covered_lines?: unknown;
  readonly num_statements?: unknown;
  readonly covered_branches?: unknown;
  readonly num_branches?: unknown;
  readonly percent_covered?: unknown;
}

function ofIstanbul(text: string): Coverage | undefined {
  const total = fieldsIn(text)?.["total"];
  return covered(percent(at(total, "lines", "pct")), percent(at(total, "branches", "pct")));
}

function ofCoveragePy(text: string): Coverage | undefined {
  const { totals } = fieldsIn<{ readonly totals: Totals | null }>(text) ?? {};
  if (totals === undefined || totals === null) return undefined;
  const share = (some: unknown, all: unknown) =>
    typeof some === "number" && typeof all === "number" && all > 0 ? percent((some / all) * 100) : undefined;
  const lines = share(totals.covered_lines, totals.num_statements) ?? percent(totals.percent_covered);
  return covered(lines, share(totals.covered_branches, totals.num_branches));
}

async function ofCobertura(text: string): Promise<Coverage | undefined> {
  const parsed = await parseXml(text, [], ["line-rate", "branch-rate", "branches-valid"]);
  if ("reason" in parsed) return undefined;
  const root = (parsed.value as { coverage?: Readonly<Record<string, unknown>> } | undefined)?.coverage;
  const rate = (name: string) => {
    const value = root?.[`@${name}`];
    return typeof value === "string" && value.trim() !== "" ? percent(Number(value) * 100) : undefined;
  };
  // Of a project without branches the rate is 0 or 1, by the tool.
  const branches = root?.["@branches-valid"] === "0" ? undefined : rate("branch-rate");
  return covered(rate("line-rate"), branches);
}

const percent = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= 100 ? Math.round(value * 100) / 100 : undefined;

const covered = (line: number | undefined, branch: number | undefined): Coverage | undefined =>
  line === undefined && branch === undefined
    ? undefined
    : withoutUndefined({ line_coverage: line, branch_coverage: branch });
