import { dirname, join, relative, sep } from "node:path";
import { stateVersion } from "../../../engine/storage/state/format-version.js";
import { readLogText, parseLog, type ParsedLog } from "../../../engine/storage/state/log-lines.js";
import { problemsOf } from "../../../engine/storage/schema-check.js";
import type { Answer } from "../../generated/answer.js";
import { answersFile } from "../layout.js";

/**
 * Reads the answers of a project. If an answer has several lines, such as after a check, the last one counts. Empty
 * without questions.
 */
export async function readAnswers(folder: string): Promise<ParsedLog<Answer>> {
  const path = answersFile(folder);
  const { lines, ...rest } = parseLog(await readLogText(path), path, parseAnswer);
  return { ...rest, lines: [...new Map(lines.map((answer) => [answer.id, answer])).values()] };
}

function parseAnswer(row: string): Answer | undefined {
  try {
    const answer: Answer = JSON.parse(row);
    return problemsOf("answer", answer).length === 0 ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** The line of an answer in the file, with its line feed. */
export const formatAnswer = (answer: Answer): string => `${JSON.stringify({ ...answer, format: stateVersion })}\n`;

/** Whether a ledger unit answers a question, such as `answer-3`. */
export const isAnswerUnit = (unit: string): boolean => /^answer-\d+$/.test(unit);

/** The unit of the next answer: one above the highest number in the answers and the ledger. */
export function nextAnswerUnit(answers: readonly Answer[], units: readonly string[]): string {
  const numbers = [...answers.map(({ id }) => id), ...units.filter(isAnswerUnit)].map((id) => Number(id.slice(7)));
  return `answer-${Math.max(0, ...numbers) + 1}`;
}

/** The value of `projects` in an answer for these folders. The answer is stored in the first one. */
export const namesOfProjects = (folders: readonly [string, ...string[]]): string[] =>
  folders.map((folder) => relative(dirname(folders[0]), folder).split(sep).join("/"));

/**
 * The folders that a question was about: `folder`, which contains the answer and may have been renamed, then the
 * others.
 */
export const questionFolders = (folder: string, { projects = [] }: Answer): [string, ...string[]] => [
  folder,
  ...projects.slice(1).map((name) => join(dirname(folder), name)),
];

/** A key that is equal for the same question to the same projects. */
export const questionKey = ({ question, projects = [] }: Answer): string =>
  JSON.stringify([question.toLowerCase(), projects.slice(1)]);
