import { join } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { ledgerName } from "../../engine/lib/layout.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { locateSyntaxError, maxLevels, tooDeepAt } from "../../engine/storage/json-syntax.js";
import { parseJson, plainText } from "../../engine/storage/state/parse-json.js";
import type { Fields, Parsed, StateFormat } from "../../engine/storage/state/format.js";
import { readStateFile, tooLarge } from "../../engine/storage/state/state-file.js";
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

/** 10,000 papers with their analyses are 60 MB; a file above this is something else. */
export const maxRrdBytes = 200_000_000;

/**
 * Reads the text of an rrd.json, or its bytes: valid in syntax, schema and ids, or every problem found (of the syntax
 * only the first). A byte order mark and any line ends are accepted, older shapes read as today's, unknown fields kept.
 * `path` is named in problems about the whole file. What a person edits during a run is merged field by field, and wins
 * (`engine/storage/state/hand-edits/merge-hand-edits.ts`).
 */
export function parseRrd(content: string | Buffer, path: string): Parsed<Rrd> {
  if (content.length > maxRrdBytes)
    return { changes: [], problems: [tooLarge(path, content.length, maxRrdBytes, noun)] };
  let value: unknown;
  try {
    value = parseJson(content);
  } catch {
    const { line, column, message, hint } = locateSyntaxError(plainText(content));
    const problem = { pointer: "", message: `${path}:${line}:${column}: ${message}` };
    return { changes: [], problems: [hint === undefined ? problem : { ...problem, hint }] };
  }
  // Before any walk through it: where one breaks at the depth, it would break every command.
  const deep = tooDeepAt(value);
  if (deep !== undefined)
    return {
      changes: [],
      problems: [{ pointer: deep, message: `is nested deeper than ${maxLevels} levels`, hint: "Remove it." }],
    };
  const read = readRrdShape(value);
  const problems = [
    ...problemsOf("rrd", read.value),
    ...repeatedIds(read.value),
    ...criteriaProblems(read.value),
    ...formProblems(read.value),
  ];
  if (problems.length === 0) return { ok: read.value as Rrd, changes: read.changes };
  return { changes: read.changes, problems };
}

/**
 * Reads and parses the rrd.json at `path`.
 * @throws ExpectedError when there is no such file or it can't be read.
 */
export const readRrdFile = (path: string): Promise<Parsed<Rrd>> => readStateFile(path, researchFormat);

/** The text of an rrd.json as this program writes it: two spaces, fields in their order, a line feed at the end. */
export const formatRrd = (rrd: Rrd): string => `${JSON.stringify(rrd, null, 2)}\n`;

/**
 * Two papers with one id can't be told apart. Ids of insights were repeated by agents of the original tool and are let
 * pass.
 */
function repeatedIds(value: unknown): Problem[] {
  const pool = typeof value === "object" && value !== null && "papers_pool" in value ? value.papers_pool : undefined;
  if (!Array.isArray(pool)) return [];
  const seen = new Map<unknown, number>();
  const problems: Problem[] = [];
  for (const [index, paper] of pool.entries()) {
    const id: unknown = paper?.id;
    const first = seen.get(id);
    if (first === undefined) seen.set(id, index);
    else if (typeof id === "string") {
      const hint = "Remove one of them, or give it another id.";
      problems.push({
        pointer: `/papers_pool/${index}/id`,
        message: `"${id}" is the id of /papers_pool/${first} too`,
        hint,
      });
    }
  }
  return problems;
}

/** The highest number of these ids of insights; 0 where none is as this program numbers them. */
export const lastNumber = (ids: readonly string[]): number =>
  ids.reduce((last, id) => Math.max(last, Number(/^insight_(\d+)$/.exec(id)?.[1] ?? 0)), 0);

/** The id of the insight of this number. */
export const insightId = (number: number): string => `insight_${String(number).padStart(3, "0")}`;

const noun = "project";

/** What interrupted runs of the original tool leave is `analyzing`. */
const isUnread = (status: unknown): boolean => status === "pending" || status === "analyzing";

/** The state of a literature research project, for the record store. */
export const researchFormat: StateFormat<Rrd> = {
  file: rrdName,
  log: progressName,
  ledger: ledgerName,
  otherLogs: [queriesName, answersName],
  rewritten: (folder) => [candidatesFile(folder), updateFile(folder), join(folder, reportDataName)],
  swept: (folder) => [textsFolder(folder)],
  maxBytes: maxRrdBytes,
  top: "rrd",
  parts: ["loop"],
  collections: [
    { name: "papers_pool", key: "id", isUndecided: (field, value) => field === "status" && isUnread(value) },
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
    isOpen: ({ status }: Fields) => isUnread(status),
    // Joined with another by a person, who may part them again.
    isPutAside: ({ excluded }: Fields, unit) =>
      Array.isArray(excluded) && excluded.some(({ id, before }: Fields) => id === unit && before !== undefined),
    // Of a paper that was read the line counts quotes. One that code settled is told from a report by its changes.
    hadRecord: ({ phase, evidence }: LedgerLine) => phase === "ANALYSIS" && (evidence !== undefined || undefined),
    leaves: ["insights"],
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

/** Names of the sources in blocked_sources: names alone in files of earlier versions, or objects that name one. */
export function blockedNames(rrd: Rrd): string[] {
  return (rrd.blocked_sources ?? []).map((blocked) => {
    if (typeof blocked === "string") return blocked;
    const { name, source, url } = blocked as Record<string, unknown>;
    return String(name ?? source ?? url ?? JSON.stringify(blocked));
  });
}
