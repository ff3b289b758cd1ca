import { join } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { ledgerName } from "../../engine/lib/layout.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { locateSyntaxError, maxLevels, tooDeepAt } from "../../engine/storage/json-syntax.js";
import { parseJson, plainText } from "../../engine/storage/state/parse-json.js";
import type { Fields, Parsed, StateFormat } from "../../engine/storage/state/format.js";
import { readStateFile, tooLargeProblem } from "../../engine/storage/state/state-file.js";
import { type Problem, problemsOf } from "../../engine/storage/schema-check.js";
import type { Rrd } from "../generated/rrd.js";
import { criteriaProblems } from "./eligibility-criteria.js";
import { formProblems } from "./form.js";
import {
  answersName,
  candidatesFile,
  committedFiles,
  progressName,
  queriesName,
  reportDataName,
  rrdName,
  textsFolder,
  updateFile,
} from "./layout.js";
import { readRrdShape } from "./legacy/read-rrd.js";

/** Maximum size of an rrd.json. 10,000 papers with their analyses need 60 MB. */
export const maxRrdBytes = 200_000_000;

/**
 * Parses and checks an rrd.json: syntax, schema and ids. Returns the state or all problems (of the syntax only the
 * first). Accepts a byte order mark and all line ends, converts older formats, and keeps unknown fields. `path` is used
 * in problems about the whole file.
 */
export function parseRrd(content: string | Buffer, path: string): Parsed<Rrd> {
  if (content.length > maxRrdBytes)
    return { changes: [], problems: [tooLargeProblem(path, content.length, maxRrdBytes, noun)] };
  let value: unknown;
  try {
    value = parseJson(content);
  } catch {
    const { line, column, message, hint } = locateSyntaxError(plainText(content));
    const problem = { pointer: "", message: `${path}:${line}:${column}: ${message}` };
    return { changes: [], problems: [hint === undefined ? problem : { ...problem, hint }] };
  }
  // Checked first, because the recursive checks below would fail on a very deep value.
  const deepPointer = tooDeepAt(value);
  if (deepPointer !== undefined)
    return {
      changes: [],
      problems: [{ pointer: deepPointer, message: `is nested deeper than ${maxLevels} levels`, hint: "Remove it." }],
    };
  const converted = readRrdShape(value);
  const problems = [
    ...problemsOf("rrd", converted.value),
    ...repeatedIds(converted.value),
    ...criteriaProblems(converted.value),
    ...formProblems(converted.value),
  ];
  if (problems.length === 0) return { ok: converted.value as Rrd, changes: converted.changes };
  return { changes: converted.changes, problems };
}

/**
 * Reads and parses the rrd.json at `path`.
 * @throws ExpectedError if the file does not exist or can't be read.
 */
export const readRrdFile = (path: string): Promise<Parsed<Rrd>> => readStateFile(path, researchFormat);

/** The text of an rrd.json: indented by two spaces, fields in their order, a line feed at the end. */
export const formatRrd = (rrd: Rrd): string => `${JSON.stringify(rrd, null, 2)}\n`;

/**
 * A problem for each paper with the id of another paper. Repeated ids of insights are allowed, because agents of the
 * original tool wrote them.
 */
function repeatedIds(value: unknown): Problem[] {
  const pool = typeof value === "object" && value !== null && "papers_pool" in value ? value.papers_pool : undefined;
  if (!Array.isArray(pool)) return [];
  const indexById = new Map<unknown, number>();
  const problems: Problem[] = [];
  for (const [index, paper] of pool.entries()) {
    const id: unknown = paper?.id;
    const firstIndex = indexById.get(id);
    if (firstIndex === undefined) indexById.set(id, index);
    else if (typeof id === "string") {
      const hint = "Remove one of them, or give it another id.";
      problems.push({
        pointer: `/papers_pool/${index}/id`,
        message: `"${id}" is the id of /papers_pool/${firstIndex} too`,
        hint,
      });
    }
  }
  return problems;
}

/** The highest number in these ids of insights; 0 if no id has this program's format. */
export const lastNumber = (ids: readonly string[]): number =>
  ids.reduce((last, id) => Math.max(last, Number(/^insight_(\d+)$/.exec(id)?.[1] ?? 0)), 0);

/** The id of the insight with this number. */
export const insightId = (number: number): string => `insight_${String(number).padStart(3, "0")}`;

const noun = "project";

/** Whether a paper is not read yet. Interrupted runs of the original tool leave the status `analyzing`. */
const isOpenStatus = (status: unknown): boolean => status === "pending" || status === "analyzing";

/** The state of a literature research project, for the record store. */
export const researchFormat: StateFormat<Rrd> = {
  file: rrdName,
  log: progressName,
  ledger: ledgerName,
  otherLogs: [queriesName, answersName],
  rewrittenFiles: (folder) => [candidatesFile(folder), updateFile(folder), join(folder, reportDataName)],
  foldersWithTemporaryFiles: (folder) => [textsFolder(folder)],
  maxBytes: maxRrdBytes,
  top: "rrd",
  parts: ["loop"],
  collections: [
    { name: "papers_pool", key: "id", isUndecided: (field, value) => field === "status" && isOpenStatus(value) },
    {
      name: "insights",
      key: "id",
      numbering: {
        owner: "paper_id",
        content: "insight",
        noun: "insight",
        next: (ids) => insightId(lastNumber(ids) + 1),
      },
    },
  ],
  units: {
    collection: "papers_pool",
    isOpen: ({ status }: Fields) => isOpenStatus(status),
    // The user has joined the paper with another one, and may separate them again.
    isMovedAside: ({ excluded }: Fields, unit) =>
      Array.isArray(excluded) && excluded.some(({ id, before }: Fields) => id === unit && before !== undefined),
    // The ledger line of a reading counts quotes. Without a count, it is unknown whether the unit had a record.
    hadRecord: ({ phase, evidence }: LedgerLine) => phase === "ANALYSIS" && (evidence !== undefined || undefined),
    outputCollections: ["insights"],
    marks: [{ unit: "report", field: "updates_check" }],
  },
  committed: committedFiles.names,
  noun,
  howToBegin: `name a project folder, or create one with 'research-ralph new "<topic>"'`,
  resetCommand: (folder, iteration) => `research-ralph reset ${shellWord(folder)} --to ${iteration}`,
  parse: parseRrd,
  format: formatRrd,
  problemsOf: (rrd) => problemsOf("rrd", rrd),
  iterationOf: ({ loop }) => loop?.iteration,
  phaseOf: ({ phase }) => phase,
};

/** Returns a function: whether blocked_sources has this source, in upper or lower case. */
export function blockedTest(rrd: Rrd): (name: string) => boolean {
  const names = new Set(blockedNames(rrd).map((name) => name.toLowerCase()));
  return (name) => names.has(name.toLowerCase());
}

/** The names of the sources in blocked_sources, which contains objects, or only names in files of earlier versions. */
export function blockedNames(rrd: Rrd): string[] {
  return (rrd.blocked_sources ?? []).map((blocked) => {
    if (typeof blocked === "string") return blocked;
    const { name, source, url } = blocked as Record<string, unknown>;
    return String(name ?? source ?? url ?? JSON.stringify(blocked));
  });
}
