import { isUtf8 } from "node:buffer";
import { stat } from "node:fs/promises";
import type { Rrd } from "../generated/rrd.js";
import { ExpectedError, hasCode } from "../../engine/lib/errors.js";
import { readRegularFile, requireRegular } from "../../engine/storage/regular-file.js";
import { locateSyntaxError, mostLevels, tooDeepAt } from "../../engine/storage/json-syntax.js";
import { readRrdShape } from "./legacy/read-rrd.js";
import { explaining } from "../../engine/storage/explain-system-error.js";
import { type Problem, problemsOf } from "../../engine/storage/schema-check.js";

/** 10,000 papers with their analyses are 60 MB; a file above this is something else. */
export const largestRrd = 200_000_000;

/** `changes`: what was read in another shape than the schema's, for a person; the file itself is not touched. */
type ParsedRrd =
  | { readonly ok: Rrd; readonly changes: readonly Problem[]; readonly problems?: undefined }
  | { readonly ok?: undefined; readonly changes: readonly Problem[]; readonly problems: readonly Problem[] };

/**
 * Reads the text of an rrd.json: valid in syntax, schema and ids, or every problem found (of the syntax only the first).
 * A byte order mark and any line ends are accepted, older shapes read as today's, unknown fields kept. `path` is named in problems about the whole file.
 */
export function parseRrd(text: string, path: string): ParsedRrd {
  if (text.length > largestRrd) return { changes: [], problems: [tooLarge(path, text.length)] };
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  let value: unknown;
  try {
    value = JSON.parse(plain);
  } catch {
    const { line, column, message, hint } = locateSyntaxError(plain);
    const problem = { pointer: "", message: `${path}:${line}:${column}: ${message}` };
    return { changes: [], problems: [hint === undefined ? problem : { ...problem, hint }] };
  }
  // Before any walk through it: where one breaks at the depth, it would break every command.
  const deep = tooDeepAt(value);
  if (deep !== undefined)
    return {
      changes: [],
      problems: [{ pointer: deep, message: `is nested deeper than ${mostLevels} levels`, hint: "Remove it." }],
    };
  const read = readRrdShape(value);
  const problems = [...problemsOf("rrd", read.value), ...repeatedIds(read.value)];
  return problems.length > 0 ? { changes: read.changes, problems } : { ok: read.value as Rrd, changes: read.changes };
}

/**
 * Reads and parses the file at `path`.
 * @throws ExpectedError when there is no such file or it can't be read.
 */
export async function readRrdFile(path: string): Promise<ParsedRrd> {
  const { text, problem } = await readRrdText(path);
  return problem === undefined ? parseRrd(text, path) : { changes: [], problems: [problem] };
}

/**
 * The text of the file at `path`, and what keeps it from being read as one.
 * @throws ExpectedError when there is no such file or it can't be read.
 */
export async function readRrdText(path: string): Promise<{ readonly text: string; readonly problem?: Problem }> {
  const bytes = await readBytes(path);
  if (typeof bytes === "number") return { text: "", problem: tooLarge(path, bytes) };
  const text = bytes.toString("utf8");
  // Read on, every letter outside ASCII would be lost with the next write.
  return isUtf8(bytes)
    ? { text }
    : { text, problem: { pointer: "", message: `${path} is not UTF-8`, hint: "Save it as UTF-8 in your editor." } };
}

/** The text of an rrd.json as this program writes it: two spaces, fields in their order, a line feed at the end. */
export const formatRrd = (rrd: Rrd): string => `${JSON.stringify(rrd, null, 2)}\n`;

/** One sentence for an invalid rrd.json: its first three problems and how many more there are. */
export function summarise(path: string, problems: readonly Problem[]): string {
  const named = problems.slice(0, 3).map(({ pointer, message, hint }) => {
    const place = pointer === "" ? "" : `${pointer} `;
    return `${place}${message}${hint === undefined ? "" : ` (${hint.replace(/\.$/, "")})`}`;
  });
  // A problem of the whole file names it, with the line where that is known.
  if (problems.length === 1 && named[0]?.startsWith(path)) return named[0];
  const more = problems.length > 3 ? `; and ${problems.length - 3} more` : "";
  return `${path} is not valid: ${named.join("; ")}${more}`;
}

async function readBytes(path: string): Promise<Buffer | number> {
  try {
    const found = await stat(path);
    requireRegular(found, path);
    return found.size > largestRrd ? found.size : await explaining(path, () => readRegularFile(path));
  } catch (error) {
    if (hasCode(error, "ENOENT")) throw new ExpectedError(`There is no ${path}.`);
    throw error;
  }
}

const tooLarge = (path: string, size: number): Problem => ({
  pointer: "",
  message: `${path} is ${Math.round(size / 1_000_000)} MB, more than the ${largestRrd / 1_000_000} MB a research can have`,
});

/** Two papers with one id can't be told apart. Ids of insights were repeated by agents of the original tool and are let pass. */
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
      const hint = "Remove one of them, or give it an id of its own.";
      problems.push({
        pointer: `/papers_pool/${index}/id`,
        message: `"${id}" is the id of /papers_pool/${first} too`,
        hint,
      });
    }
  }
  return problems;
}
