import { basename } from "node:path";
import { requireAgents } from "../../compose/agents.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import { drive } from "../../compose/drive.js";
import { openQuestion } from "./open-question.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { exitCodeOf } from "../../engine/ui/sink.js";
import type { Answer } from "../../research/generated/answer.js";
import { findResearch } from "../../research/overview/find-research.js";
import { answerLines } from "./answer-lines.js";
import { standings } from "./answers.js";

interface AskArguments {
  /** Projects, and the question as the last of them; with `again` projects alone. */
  readonly words: readonly string[];
  readonly again: boolean;
  readonly fetch: boolean;
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
  readonly json: boolean;
}

/** Characters of a question at most. */
const maxQuestion = 2_000;

/** Puts a question to one or more projects and prints what their papers answer, each sentence with its quotes. */
export async function askCommand(args: AskArguments, io: Io): Promise<number> {
  const { words, again } = args;
  const config = await resolveConfig({ flags: args.flags, env: io.env, cwd: io.cwd });
  if (again) return askAgain(args, config, io);
  const question = questionOf(words.at(-1) ?? "");
  const folders = await foldersOf(words.slice(0, -1), io);
  await requireAgents(config, io);
  return put(question, folders, args, config, io);
}

/** @throws ExpectedError (exit code 2) for a question that is empty or too long. */
function questionOf(words: string): string {
  const question = oneLine(words);
  if (!/[\p{L}\p{N}]/u.test(question))
    throw new ExpectedError('The question is empty; put it in quotes, as in research-ralph ask <project> "…?".', 2);
  if (question.length > maxQuestion)
    throw new ExpectedError(`The question has ${question.length} characters; at most ${maxQuestion} are allowed.`, 2);
  return question;
}

async function foldersOf(named: readonly string[], io: Io): Promise<[string, ...string[]]> {
  const found: string[] = [];
  for (const name of named.length === 0 ? [undefined] : named) {
    const folder = await findResearch(io.cwd, name);
    if (!found.includes(folder)) found.push(folder);
  }
  return found as [string, ...string[]];
}

async function put(
  question: string,
  folders: readonly [string, ...string[]],
  { fetch, quiet, json }: AskArguments,
  config: ResolvedConfig,
  io: Io,
): Promise<number> {
  let answer: Answer | undefined;
  const answered = (given: Answer) => {
    answer = given;
  };
  const verdict = await drive(config, io, { quiet, json, iterations: 4 }, (run) =>
    openQuestion({ folders, question, fetch, answered }, config, io, run),
  );
  if (answer !== undefined)
    io.stdout(json ? `${JSON.stringify({ type: "answer", ...answer })}\n` : `${answerLines(answer, io).join("\n")}\n`);
  return exitCodeOf(verdict);
}

/** Asks every question again whose latest answer no longer stands. */
async function askAgain(args: AskArguments, config: ResolvedConfig, io: Io): Promise<number> {
  const folders = await foldersOf(args.words, io);
  await requireAgents(config, io);
  for (const folder of folders) {
    const stale = (await standings(folder, io)).filter(({ latest, why }) => latest && why.length > 0);
    if (stale.length === 0) {
      if (!args.quiet) io.stderr(`Every answer of ${basename(folder)} stands.\n`);
      continue;
    }
    for (const { answer, projects } of stale) {
      if (!args.quiet && !args.json) io.stdout(`${oneLine(answer.question)}\n\n`);
      const code = await put(answer.question, projects, args, config, io);
      if (code !== 0) return code;
    }
  }
  return 0;
}
