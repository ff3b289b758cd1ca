import { basename, dirname } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../../engine/lib/errors.js";
import { lastGoodOf } from "../../engine/lib/layout.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { stampOf, writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { linesOf, locateSyntaxError, maxLevels, repeatedName, tooDeepAt } from "../../engine/storage/json-syntax.js";
import { readRegularUpTo, writtenText } from "../../engine/storage/regular-file.js";
import { type Problem, problemsOf } from "../../engine/storage/schema-check.js";
import { readOnceSaved } from "../../engine/storage/state/hand-edits/wait-for-editor.js";
import type { Criterion, RalphTask } from "../generated/ralph.js";
import { isObject } from "../../engine/lib/json-fields.js";

/** Every type of criterion there is. */
export const criterionTypes = [
  "file_exists",
  "command_succeeds",
  "tests_pass",
  "new_test_passes",
  "no_type_errors",
  "lint_clean",
  "coverage",
  "contains_text",
  "json_valid",
  "http_ok",
  "all_of",
  "any_of",
  "not",
] as const satisfies readonly Criterion["type"][];

const known = [
  ...[
    "$schema",
    "task",
    "acceptance_criteria",
    "max_iterations",
    "budget",
    "agent",
    "sandbox",
    "context",
    "team",
    "target",
  ],
] as const;

/** A larger file is not a task. */
const maxBytes = 1_000_000;

interface ReadTask {
  readonly task: RalphTask;
  /** Fields of the file that nothing is known of, a sentence each. */
  readonly notices: readonly string[];
  /** What the file holds. */
  readonly text: string;
}

/**
 * Reads a task, such as ./ralph.json.
 * @throws ExpectedError (exit code 2) with pointer and hint where it is missing or no task, and with the way back to
 * the version that agents worked by last.
 */
export async function readTask(path: string): Promise<ReadTask> {
  try {
    const text = await taskText(path);
    const value = taskValue(text, path);
    const notices = unknownFields(value).map(({ pointer, message }) => `${path}: ${pointer} ${message}.`);
    return { task: checkedTask(value, path, text), notices, text };
  } catch (error) {
    const copy = copyOf(path);
    if (!(error instanceof ExpectedError) || stampOf(copy) === undefined) throw error;
    const wayBack = `copy its last good version, ${copy}, there`;
    if (stampOf(path) === undefined) throw new ExpectedError(`There is no ${path}; ${wayBack}.`, 2);
    throw new ExpectedError(`${error.message.replace(/\.$/, "")}; correct it, or ${wayBack}.`, 2);
  }
}

/**
 * Reads the task at `path` again and again while agents work by it. A file that a person is just saving is waited for,
 * and of each new version a copy is kept in the folder's records, which is the way back where a later one is broken.
 * @throws ExpectedError as readTask.
 */
export function taskAsSaved(path: string): () => Promise<RalphTask> {
  let copied: string | undefined;
  return async () => {
    const { task, text } = await readOnceSaved(path, () => readTask(path));
    if (text !== copied) await writeFileAtomic(copyOf(path), text, { durable: false });
    copied = text;
    return task;
  };
}

/** Where the last good version of the task at `path` is kept. */
const copyOf = (path: string): string => lastGoodOf(dirname(path), basename(path));

/** The value of a task's text. @throws ExpectedError (exit code 2) naming line and column where it is not JSON. */
export function taskValue(text: string, path: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { line, column, message, hint } = locateSyntaxError(text);
    throw wrong(`${path}:${line}:${column}: ${message}`, hint);
  }
  const twice = repeatedName(text);
  if (twice !== undefined) throw wrong(`${path} has ${twice} twice in one object`, "Keep one of them.");
  return value;
}

/** The text of a task's file. @throws ExpectedError (exit code 2) where it can't be read or is too large. */
export async function taskText(path: string): Promise<string> {
  let size: number;
  try {
    const bytes = await readRegularUpTo(path, maxBytes);
    if (typeof bytes !== "number") return writtenText(bytes, path);
    size = bytes;
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR"))
      throw new ExpectedError(
        `There is no ${path}; 'research-ralph init --task' writes one, or give the task as text: research-ralph task "…" --check "<command>".`,
        2,
      );
    if (hasCode(error, "EISDIR")) throw new ExpectedError(`${path} is a folder; a task is a file.`, 2);
    if (error instanceof ExpectedError) throw new ExpectedError(error.message, 2);
    throw new ExpectedError(`${path} can't be read: ${messageOf(error)}.`, 2);
  }
  throw wrong(`${path} is ${size} bytes, more than a task can have`);
}

/**
 * The value as a task; `where` is named in messages, with a line where `text` is what it was read from.
 * @throws ExpectedError (exit code 2) with each problem's pointer and hint.
 */
export function checkedTask(value: unknown, where: string, text?: string): RalphTask {
  const problems = problemsInTask(value);
  const [first] = problems;
  if (first === undefined) return value as RalphTask;
  const pointers = problems.map(({ pointer }) => pointer);
  const lines = text === undefined ? [] : linesOf(text, pointers);
  const inWords = ({ pointer, message }: Problem) => `${pointer === "" ? "" : `${pointer} `}${message}`;
  const [line] = first.pointer === "" ? [] : lines;
  if (problems.length === 1)
    throw wrong(`${line === undefined ? where : `${where}:${line}`}: ${inWords(first)}`, first.hint);
  const all = problems.map((problem, index) => {
    const at = problem.pointer === "" || lines[index] === undefined ? "" : `line ${lines[index]}, `;
    return `${at}${inWords(problem)}${hintText(problem.hint)}`;
  });
  throw wrong(`${where} has ${problems.length} errors: ${all.join("; ")}`);
}

/** Everything that keeps a value from being a task: by the schema, and criteria that nothing could check. */
export function problemsInTask(value: unknown): Problem[] {
  const deep = tooDeepAt(value);
  if (deep !== undefined)
    return [{ pointer: deep, message: `is nested deeper than ${maxLevels} levels`, hint: "Remove it." }];
  const types = typesIn(value);
  // What the schema says of a criterion of an unknown type would be about another one.
  const unknown = new Set(types.map(({ pointer }) => criterionAt(pointer)));
  const broken = problemsOf("ralph", value).filter(({ pointer }) => !unknown.has(criterionAt(pointer)));
  return [
    ...types,
    ...broken.map(withHint),
    ...blanksIn(value),
    ...nulsIn(value),
    ...patternsIn(value),
    ...addressesIn(value),
  ];
}

/** The criterion of the list to which a pointer leads; undefined where it leads elsewhere. */
const criterionAt = (pointer: string): string | undefined => /^\/acceptance_criteria\/\d+/.exec(pointer)?.[0];

const criterionHint = 'Add one, such as {"type": "command_succeeds", "command": "npm test"}.';

/** What to write there, where the schema alone does not say it. */
const hints: readonly (readonly [RegExp, string])[] = [
  [/^\/acceptance_criteria$|^\/acceptance_criteria\/.*\/criteria$|^ .*acceptance_criteria/, criterionHint],
  [/^ .*"task" is missing|^\/task /, 'Say in "task" what is to be done, as a text.'],
  [/^\/max_iterations /, "Write how many attempts there may be, at least 1; without it there are 10."],
  [/^\/budget\//, "Leave it out for no such limit."],
];

const withHint = (problem: Problem): Problem => {
  const { pointer, message } = problem;
  const [, hint] = hints.find(([where]) => where.test(pointer) || where.test(`${pointer} ${message}`)) ?? [];
  return hint === undefined ? problem : { ...problem, hint };
};

const hintText = (hint: string | undefined): string => (hint === undefined ? "" : ` (${hint.replace(/\.$/, "")})`);

const wrong = (message: string, hint?: string): ExpectedError => new ExpectedError(`${message}${hintText(hint)}.`, 2);

interface Placed {
  readonly pointer: string;
  readonly criterion: Record<string, unknown>;
}

/** Every criterion in a task that may be broken, inner ones included. */
export function criteriaIn(value: unknown): Placed[] {
  const list = (at: string, inner: unknown): Placed[] =>
    Array.isArray(inner) ? inner.flatMap((each, index) => one(`${at}/${index}`, each)) : [];
  const one = (pointer: string, criterion: unknown): Placed[] =>
    isObject(criterion)
      ? [
          { pointer, criterion },
          ...list(`${pointer}/criteria`, criterion["criteria"]),
          ...one(`${pointer}/criterion`, criterion["criterion"]),
        ]
      : [];
  return isObject(value) ? list("/acceptance_criteria", value["acceptance_criteria"]) : [];
}

const typesIn = (value: unknown): Problem[] =>
  criteriaIn(value).flatMap(({ pointer, criterion: { type } }) => {
    if ((criterionTypes as readonly unknown[]).includes(type)) return [];
    if (typeof type !== "string")
      return [{ pointer: `${pointer}/type`, message: "is missing", hint: `Use one of ${criterionTypes.join(", ")}.` }];
    const near = nearestCandidate(type, criterionTypes);
    const hint =
      near === undefined ? `The criteria are ${criterionTypes.join(", ")}.` : `The nearest one is "${near}".`;
    return [{ pointer: `${pointer}/type`, message: `"${type}" is not a known criterion`, hint }];
  });

/** The shell ends such a command with exit code 0: the criterion would be met by nothing. */
const blanksIn = (value: unknown): Problem[] =>
  criteriaIn(value).flatMap(({ pointer, criterion: { command } }) =>
    typeof command === "string" && command !== "" && command.trim() === ""
      ? [{ pointer: `${pointer}/command`, message: "must not be blank", hint: "Write the command that is to succeed." }]
      : [],
  );

/** No program can be given one, and no path holds one. */
function nulsIn(value: unknown): Problem[] {
  const found: Problem[] = [];
  const walk = (at: string, inner: unknown): void => {
    if (typeof inner === "string" && inner.includes("\0"))
      found.push({ pointer: at, message: "holds a NUL character", hint: "Remove the \\u0000." });
    else if (typeof inner === "object" && inner !== null)
      for (const [name, each] of Object.entries(inner)) walk(`${at}/${name}`, each);
  };
  walk("", value);
  return found;
}

/** A text to look for, and patterns that can't be read. */
const patternsIn = (value: unknown): Problem[] =>
  criteriaIn(value).flatMap(({ pointer, criterion: { type, text, pattern, flags } }) => {
    if (type !== "contains_text") return [];
    if (text === undefined && pattern === undefined)
      return [{ pointer, message: `"text" is missing`, hint: `Add "text", or "pattern" for a regular expression.` }];
    if (typeof pattern !== "string") return [];
    try {
      return RegExp(pattern, typeof flags === "string" ? flags : "") && [];
    } catch (error) {
      const hint = String.raw`Put a \\ before a character that is meant as it is, or use "text".`;
      return [{ pointer: `${pointer}/pattern`, message: `is not a regular expression: ${messageOf(error)}`, hint }];
    }
  });

/** Addresses that nothing here can ask. */
const addressesIn = (value: unknown): Problem[] =>
  criteriaIn(value).flatMap(({ pointer, criterion: { type, url } }) => {
    if (type !== "http_ok" || typeof url !== "string") return [];
    const hint = "Begin it with http:// or https://, such as http://127.0.0.1:3000/.";
    if (!URL.canParse(url)) return [{ pointer: `${pointer}/url`, message: `"${url}" is not an address`, hint }];
    const { protocol } = new URL(url);
    return protocol === "http:" || protocol === "https:"
      ? []
      : [{ pointer: `${pointer}/url`, message: `"${protocol}" can't be asked`, hint }];
  });

/** Fields of a task's file that nothing is known of. */
export const unknownFields = (value: unknown): Problem[] =>
  Object.keys(isObject(value) ? value : {})
    .filter((name) => !(known as readonly string[]).includes(name))
    .map((name) => {
      const near = nearestCandidate(name, known);
      const meant = near === undefined ? "" : `; "${near}" is meant`;
      return { pointer: `/${name}`, message: `is not a known field and has no effect${meant}` };
    });
