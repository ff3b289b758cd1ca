import { basename, dirname } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../../engine/lib/errors.js";
import { lastGoodOf } from "../../engine/lib/layout.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { stampOf, writeFileAtomic } from "../../engine/storage/atomic-file.js";
import {
  linesOf,
  locateSyntaxError,
  maxLevels,
  findRepeatedName,
  tooDeepAt,
} from "../../engine/storage/json-syntax.js";
import { readRegularUpTo, decodeUserText } from "../../engine/storage/regular-file.js";
import { type Problem, problemsOf } from "../../engine/storage/schema-check.js";
import { readWhenSaved } from "../../engine/storage/state/hand-edits/wait-for-editor.js";
import type { Criterion, RalphTask } from "../generated/ralph.js";
import { fieldsOf, isObject } from "../../engine/lib/json-fields.js";

/** All types of criteria. */
const criterionTypes = [
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

const knownFields = [
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

/** Maximum size of a task file. */
const maxBytes = 1_000_000;

interface TaskFileContent {
  readonly task: RalphTask;
  /** A sentence for each field of the file that is not known. */
  readonly notices: readonly string[];
  /** The text of the file. */
  readonly text: string;
}

/**
 * Reads a task file, such as ./ralph.json.
 * @throws ExpectedError (exit code 2) if the file is missing or invalid, with pointer and hint. The message also names
 * the last good version that agents used, if there is one.
 */
export async function readTaskFile(path: string): Promise<TaskFileContent> {
  try {
    const text = await readTaskText(path);
    const value = parseTask(text, path);
    const notices = unknownFields(value).map(({ pointer, message }) => `${path}: ${pointer} ${message}.`);
    return { task: validateTask(value, path, text), notices, text };
  } catch (error) {
    const copyPath = lastGoodPath(path);
    if (!(error instanceof ExpectedError) || stampOf(copyPath) === undefined) throw error;
    const wayBack = `copy its last good version, ${copyPath}, there`;
    if (stampOf(path) === undefined) throw new ExpectedError(`There is no ${path}; ${wayBack}.`, 2);
    throw new ExpectedError(`${error.message.replace(/\.$/, "")}; correct it, or ${wayBack}.`, 2);
  }
}

/**
 * Creates a function that reads the task at `path`; it is called again and again while agents work. If the user is
 * saving the file, it waits. It stores a copy of each new version, so that the user can restore it.
 * @throws ExpectedError like `readTaskFile`.
 */
export function createTaskReader(path: string): () => Promise<RalphTask> {
  let lastText: string | undefined;
  return async () => {
    const { task, text } = await readWhenSaved(path, () => readTaskFile(path));
    if (text !== lastText) await writeFileAtomic(lastGoodPath(path), text, { isDurable: false });
    lastText = text;
    return task;
  };
}

/** The path of the copy of the last good version of the task at `path`. */
const lastGoodPath = (path: string): string => lastGoodOf(dirname(path), basename(path));

/** Parses the text of a task. @throws ExpectedError (exit code 2) with line and column if it is not JSON. */
export function parseTask(text: string, path: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { line, column, message, hint } = locateSyntaxError(text);
    throw taskError(`${path}:${line}:${column}: ${message}`, hint);
  }
  const duplicateName = findRepeatedName(text);
  if (duplicateName !== undefined)
    throw taskError(`${path} has ${duplicateName} twice in one object`, "Keep one of them.");
  return value;
}

/** Reads the text of a task file. @throws ExpectedError (exit code 2) if it can't be read or is too large. */
export async function readTaskText(path: string): Promise<string> {
  let size: number;
  try {
    const bytes = await readRegularUpTo(path, maxBytes);
    if (typeof bytes !== "number") return decodeUserText(bytes, path);
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
  throw taskError(`${path} is ${size} bytes, more than a task can have`);
}

/**
 * Returns the value as a task if it is valid. Messages name `place`, and also lines if `text`, the text of the value,
 * is given.
 * @throws ExpectedError (exit code 2) with each problem's pointer and hint.
 */
export function validateTask(value: unknown, place: string, text?: string): RalphTask {
  const problems = problemsInTask(value);
  const [firstProblem] = problems;
  if (firstProblem === undefined) return value as RalphTask;
  const pointers = problems.map(({ pointer }) => pointer);
  const lines = text === undefined ? [] : linesOf(text, pointers);
  const problemText = ({ pointer, message }: Problem) => `${pointer === "" ? "" : `${pointer} `}${message}`;
  const [line] = firstProblem.pointer === "" ? [] : lines;
  if (problems.length === 1)
    throw taskError(
      `${line === undefined ? place : `${place}:${line}`}: ${problemText(firstProblem)}`,
      firstProblem.hint,
    );
  const problemTexts = problems.map((problem, index) => {
    const position = problem.pointer === "" || lines[index] === undefined ? "" : `line ${lines[index]}, `;
    return `${position}${problemText(problem)}${hintText(problem.hint)}`;
  });
  throw taskError(`${place} has ${problems.length} errors: ${problemTexts.join("; ")}`);
}

/** All problems of a value as a task: violations of the schema, and criteria that can't be checked. */
export function problemsInTask(value: unknown): Problem[] {
  const deepPointer = tooDeepAt(value);
  if (deepPointer !== undefined)
    return [{ pointer: deepPointer, message: `is nested deeper than ${maxLevels} levels`, hint: "Remove it." }];
  const typeProblems = typeProblemsIn(value);
  // If the type of a criterion is unknown, the schema would report errors of another type.
  const pointersOfUnknown = new Set(typeProblems.map(({ pointer }) => criterionAt(pointer)));
  const schemaProblems = problemsOf("ralph", value).filter(
    ({ pointer }) => !pointersOfUnknown.has(criterionAt(pointer)),
  );
  return [
    ...typeProblems,
    ...schemaProblems.map(withHint),
    ...blankCommandsIn(value),
    ...nulCharactersIn(value),
    ...patternProblemsIn(value),
    ...addressProblemsIn(value),
  ];
}

/** The pointer of the criterion (in the outermost list) that contains a pointer; undefined for other pointers. */
const criterionAt = (pointer: string): string | undefined => /^\/acceptance_criteria\/\d+/.exec(pointer)?.[0];

const criterionHint = 'Add one, such as {"type": "command_succeeds", "command": "npm test"}.';

/** Hints for problems that the schema's message alone does not explain. */
const hints: readonly (readonly [RegExp, string])[] = [
  [/^\/acceptance_criteria$|^\/acceptance_criteria\/.*\/criteria$|^ .*acceptance_criteria/, criterionHint],
  [/^ .*"task" is missing|^\/task /, 'Say in "task" what is to be done, as a text.'],
  [/^\/max_iterations /, "Write how many attempts there may be, at least 1; without it there are 10."],
  [/^\/budget\//, "Leave it out for no such limit."],
];

const withHint = (problem: Problem): Problem => {
  const { pointer, message } = problem;
  const [, hint] = hints.find(([pattern]) => pattern.test(pointer) || pattern.test(`${pointer} ${message}`)) ?? [];
  return hint === undefined ? problem : { ...problem, hint };
};

const hintText = (hint: string | undefined): string => (hint === undefined ? "" : ` (${hint.replace(/\.$/, "")})`);

const taskError = (message: string, hint?: string): ExpectedError =>
  new ExpectedError(`${message}${hintText(hint)}.`, 2);

interface LocatedCriterion {
  readonly pointer: string;
  readonly criterion: Record<string, unknown>;
}

/** All criteria in a task, with nested criteria. The task may be invalid. */
export function criteriaIn(value: unknown): LocatedCriterion[] {
  const criteriaInList = (pointer: string, value: unknown): LocatedCriterion[] =>
    Array.isArray(value) ? value.flatMap((item, index) => criteriaAt(`${pointer}/${index}`, item)) : [];
  const criteriaAt = (pointer: string, criterion: unknown): LocatedCriterion[] =>
    isObject(criterion)
      ? [
          { pointer, criterion },
          ...criteriaInList(`${pointer}/criteria`, criterion["criteria"]),
          ...criteriaAt(`${pointer}/criterion`, criterion["criterion"]),
        ]
      : [];
  return isObject(value) ? criteriaInList("/acceptance_criteria", value["acceptance_criteria"]) : [];
}

const typeProblemsIn = (value: unknown): Problem[] =>
  criteriaIn(value).flatMap(({ pointer, criterion: { type } }) => {
    if ((criterionTypes as readonly unknown[]).includes(type)) return [];
    if (typeof type !== "string")
      return [{ pointer: `${pointer}/type`, message: "is missing", hint: `Use one of ${criterionTypes.join(", ")}.` }];
    const nearest = nearestCandidate(type, criterionTypes);
    const hint =
      nearest === undefined ? `The criteria are ${criterionTypes.join(", ")}.` : `The nearest one is "${nearest}".`;
    return [{ pointer: `${pointer}/type`, message: `"${type}" is not a known criterion`, hint }];
  });

/** Blank commands. The shell ends with exit code 0 for a blank command, so the criterion would always be met. */
const blankCommandsIn = (value: unknown): Problem[] =>
  criteriaIn(value).flatMap(({ pointer, criterion: { command } }) =>
    typeof command === "string" && command !== "" && command.trim() === ""
      ? [{ pointer: `${pointer}/command`, message: "must not be blank", hint: "Write the command that is to succeed." }]
      : [],
  );

/** Texts with a NUL character: a program's argument and a path can't contain one. */
function nulCharactersIn(value: unknown): Problem[] {
  const problems: Problem[] = [];
  const visit = (pointer: string, value: unknown): void => {
    if (typeof value === "string" && value.includes("\0"))
      problems.push({ pointer, message: "holds a NUL character", hint: "Remove the \\u0000." });
    else if (typeof value === "object" && value !== null)
      for (const [name, item] of Object.entries(value)) visit(`${pointer}/${name}`, item);
  };
  visit("", value);
  return problems;
}

/** Criteria `contains_text` without a text, or with an invalid pattern. */
const patternProblemsIn = (value: unknown): Problem[] =>
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

/** Addresses that can't be requested. */
const addressProblemsIn = (value: unknown): Problem[] =>
  criteriaIn(value).flatMap(({ pointer, criterion: { type, url } }) => {
    if (type !== "http_ok" || typeof url !== "string") return [];
    const hint = "Begin it with http:// or https://, such as http://127.0.0.1:3000/.";
    if (!URL.canParse(url)) return [{ pointer: `${pointer}/url`, message: `"${url}" is not an address`, hint }];
    const { protocol } = new URL(url);
    return protocol === "http:" || protocol === "https:"
      ? []
      : [{ pointer: `${pointer}/url`, message: `"${protocol}" can't be asked`, hint }];
  });

/** Fields of a task's file that are not known. */
export const unknownFields = (value: unknown): Problem[] =>
  Object.keys(fieldsOf(value))
    .filter((name) => !(knownFields as readonly string[]).includes(name))
    .map((name) => {
      const nearest = nearestCandidate(name, knownFields);
      const suggestion = nearest === undefined ? "" : `; "${nearest}" is meant`;
      return { pointer: `/${name}`, message: `is not a known field and has no effect${suggestion}` };
    });
