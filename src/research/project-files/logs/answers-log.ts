import { dirname, join, relative, sep } from "node:path";
import { stateVersion } from "../../../engine/storage/state/format-version.js";
import { logText, parseLog, type ParsedLog } from "../../../engine/storage/state/log-lines.js";
import { problemsOf } from "../../../engine/storage/schema-check.js";
import type { Answer } from "../../generated/answer.js";
import { answersFile } from "../layout.js";

/**
 * Reads the answers of a project, of one that was checked since the later line; a project that nobody asked has none.
 */
export async function readAnswers(folder: string): Promise<ParsedLog<Answer>> {
  const path = answersFile(folder);
  const { lines, ...rest } = parseLog(await logText(path), path, parseAnswer);
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

/** A line as it stands in the file, with its line feed. */
export const answerLine = (answer: Answer): string => `${JSON.stringify({ ...answer, format: stateVersion })}\n`;

/** The unit of the ledger that answers a question, such as `answer-3`. */
export const isAnswerUnit = (unit: string): boolean => /^answer-\d+$/.test(unit);

/** The unit of the next answer: its number is above those of all that were kept, or that the ledger knows. */
export function nextAnswerUnit(answers: readonly Answer[], units: readonly string[]): string {
  const numbers = [...answers.map(({ id }) => id), ...units.filter(isAnswerUnit)].map((id) => Number(id.slice(7)));
  return `answer-${Math.max(0, ...numbers) + 1}`;
}

/** What `projects` of an answer holds for these folders, the first of which keeps it. */
export const namesOfProjects = (folders: readonly [string, ...string[]]): string[] =>
  folders.map((folder) => relative(dirname(folders[0]), folder).split(sep).join("/"));

/** The folders that an answer kept in `folder` was asked of; that one first, whatever it was called then. */
export const foldersAsked = (folder: string, { projects = [] }: Answer): [string, ...string[]] => [
  folder,
  ...projects.slice(1).map((name) => join(dirname(folder), name)),
];

/** The same for a question that was put again to the same projects. */
export const questionKey = ({ question, projects = [] }: Answer): string =>
  JSON.stringify([question.toLowerCase(), projects.slice(1)]);
