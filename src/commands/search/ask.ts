import { basename } from "node:path";
import { rememberAgent, requireAgents, withLastAgent } from "../../compose/agents.js";
import { checkOf, type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import { drive } from "../../compose/drive.js";
import { checkerNamesOf } from "../../compose/sharing.js";
import { needsModelMessage } from "../run/check-meaning.js";
import { checkAnswer } from "./check-answer.js";
import { type Answered, finishWriting, openQuestion } from "./open-question.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { zeroSpending, addSpending } from "../../engine/loop/stop-conditions/budget.js";
import type { Spending } from "../../engine/loop/types.js";
import type { Io } from "../../engine/ui/io.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import { findProjects, findResearch, nameFor } from "../../research/overview/find-research.js";
import { updateReport } from "../../research/report/documents/show-in-report.js";
import { withOpenCheck } from "../../research/overview/questions/answer-as-report.js";
import { namesByKey } from "../../research/overview/questions/pool.js";
import { poolOf } from "../../research/overview/questions/stored-pool.js";
import { questionFolders, isAnswerUnit, readAnswers } from "../../research/project-files/logs/answers-log.js";
import { remainingLimits } from "../run/remaining-limits.js";
import { answerLines, withKeys } from "./answer-lines.js";
import { standings } from "./answers.js";
import { say } from "../../engine/ui/terminal/format.js";

interface AskArguments {
  /** Projects, and the question as the last of them; with `again` projects alone. */
  readonly words: readonly string[];
  readonly again: boolean;
  /** Have a second reader judge the sentences of the answer. */
  readonly check: boolean;
  readonly fetch: boolean;
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
  readonly json: boolean;
}

/** Characters of a question at most. */
const maxQuestion = 2_000;

/**
 * Puts a question to one or more projects and prints what their papers answer, each sentence with its quotes. In the
 * place of a question the id of an answer has that one checked.
 */
export async function askCommand(args: AskArguments, io: Io): Promise<number> {
  const { words, again } = args;
  const chosen = await resolveConfig(io, args.flags);
  if (again) {
    const projects = await findProjects(io.cwd, words);
    const config = checking(args, await withLastAgent(chosen, projects[0], io));
    return askAgain(args, projects, config, io);
  }
  const [named, last] = await projectsFirst(io.cwd, words);
  const question = questionOf(last);
  const folders = await findProjects(io.cwd, named);
  const config = checking(args, await withLastAgent(chosen, folders[0], io));
  if (isAnswerUnit(question)) return checkKept(question, folders[0], args, config, io);
  await requireAgents(config, io, false, checkerNamesOf(config));
  for (const folder of folders) await rememberAgent(config, folder, io);
  const { code } = await put(question, folders, args, config, io);
  if (code === 0) await inReport(folders[0], config, io);
  return code;
}

const inReport = (folder: string, { git, stateDir }: ResolvedConfig, io: Io): Promise<void> =>
  updateReport(folder, { git, stateDir, now: io.clock.now, notify: (message) => say(io, message) });

/** The words for projects, and the question: the only word that names no project, or has spaces; else the last one. */
async function projectsFirst(cwd: string, words: readonly string[]): Promise<[readonly string[], string]> {
  const isProject = (word: string) =>
    findResearch(cwd, word).then(
      () => true,
      () => false,
    );
  const others: string[] = [];
  for (const word of words) if (!(await isProject(word))) others.push(word);
  const sentences = others.filter((word) => /\s/.test(word.trim()));
  const [question = words.at(-1) ?? ""] = [others, sentences].find(({ length }) => length === 1) ?? [];
  return [words.toSpliced(words.lastIndexOf(question), 1), question];
}

/**
 * Puts a question of the local page with the agent of the configuration; what came of it, one sentence. The answer is
 * kept in the project. @throws ExpectedError as `askCommand`.
 */
export async function askForPage(folder: string, words: string, io: Io): Promise<string> {
  const config = checking({ check: false }, await withLastAgent(await resolveConfig(io, {}), folder, io));
  const question = questionOf(words);
  await requireAgents(config, io, false, checkerNamesOf(config));
  const unseen = { ...io, stdout: () => undefined };
  const { code, isAnswered, reason } = await put(
    question,
    [folder],
    { fetch: false, quiet: true, json: false },
    config,
    unseen,
  );
  if (code === 0) await inReport(folder, config, io);
  return isAnswered ? "The answer stands among the questions below." : reason;
}

/** The settings with who checks the answer; who asks for a check by name wants it, whatever is set for reports. */
function checking({ check }: Pick<AskArguments, "check">, config: ResolvedConfig): ResolvedConfig {
  const { check: set, ...rest } = config;
  if (!check) return set?.all === true ? config : rest;
  const checked = { ...config, check: set ?? checkOf(undefined) };
  if (Object.keys(checkerNamesOf(checked)).length > 0) return checked;
  throw new ExpectedError(needsModelMessage, 2);
}

/**
 * Has the sentences of an answer judged that was kept before, from where its check was stopped.
 * @throws ExpectedError (exit code 2) where there is no such answer, or nobody is to check it.
 */
async function checkKept(
  id: string,
  folder: string,
  args: Pick<AskArguments, "check" | "quiet" | "json">,
  config: ResolvedConfig,
  io: Io,
): Promise<number> {
  const name = shellWord(nameFor(io.cwd, folder));
  await finishWriting(folder, { config, now: io.clock.now, notify: (_, message) => say(io, message) });
  const answer = (await readAnswers(folder)).lines.find((each) => each.id === id);
  if (answer === undefined)
    throw new ExpectedError(`${name} has no ${id}; 'research-ralph ask ${name} --list' lists its answers.`, 2);
  if (!args.check)
    throw new ExpectedError(
      `${id} is an answer, not a question: 'research-ralph ask ${name} ${id} --check' has its sentences checked.`,
      2,
    );
  const opened = withOpenCheck(answer);
  if (opened.open === undefined) {
    say(io, `No sentence of ${id} is left to check; 'research-ralph ask ${name} --list' shows what was said of them.`);
    return 0;
  }
  await requireAgents(config, io, false, checkerNamesOf(config));
  const pool = await poolOf(questionFolders(folder, answer));
  const asked = { answer: opened, pool, names: namesByKey(pool.papers) };
  const { code } = await checkAnswer(asked, folder, args, config, io, true);
  await inReport(folder, config, io);
  return code;
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

/** What a question came to. */
interface Put {
  readonly code: number;
  readonly spent: Spending;
  readonly isAnswered: boolean;
  /** Why the run that answered ended. */
  readonly reason: string;
}

async function put(
  question: string,
  folders: readonly [string, ...string[]],
  { fetch, quiet, json }: Pick<AskArguments, "fetch" | "quiet" | "json">,
  config: ResolvedConfig,
  io: Io,
): Promise<Put> {
  const began = io.clock.now();
  const isChecked = Object.keys(checkerNamesOf(config)).length > 0;
  let answer: Answered | undefined;
  let spent = zeroSpending;
  const answered = (said: Answered) => {
    answer = said;
  };
  const paid = (now: Spending) => {
    spent = now;
  };
  const verdict = await drive(config, io, { quiet, json, iterations: 4, hasRun: true }, (run) =>
    openQuestion({ folders, question, fetch, isChecked, answered, paid }, config, io, run),
  );
  if (answer !== undefined) {
    const { open: _, ...said } = answer.answer;
    io.stdout(
      json
        ? `${JSON.stringify({ type: "answer", ...withKeys(said, answer.names) })}\n`
        : `${answerLines(said, answer.names, io).join("\n")}\n`,
    );
  }
  const code = exitCodeOf(verdict);
  const ended = { isAnswered: answer !== undefined, reason: verdict.reason };
  if (answer === undefined || code !== 0) return { code, spent, ...ended };
  const left = remainingLimits(config, { ...spent, iterations: 0 }, io.clock.now() - began);
  const checked = await checkAnswer(answer, folders[0], { quiet, json }, left ?? config, io, left !== undefined);
  return { code: checked.code, spent: addSpending(spent, checked.spent), ...ended };
}

/**
 * Asks every question again whose latest answer no longer stands, within the limits of the command as a whole. What
 * can't be checked is told and passed by; the exit code is the first that is not 0.
 */
async function askAgain(
  args: AskArguments,
  folders: readonly string[],
  config: ResolvedConfig,
  io: Io,
): Promise<number> {
  await requireAgents(config, io, false, checkerNamesOf(config));
  const began = io.clock.now();
  let spent = zeroSpending;
  let exitCode = 0;
  for (const folder of folders) {
    const stale = (await standings(folder, io)).filter(({ latest, why }) => latest && why.length > 0);
    if (stale.length === 0 && !args.quiet) say(io, `Every answer of ${basename(folder)} stands.`);
    let isAnswered = false;
    let code = 0;
    for (const { answer, projects, why, isUnchecked } of stale) {
      if (isUnchecked === true) {
        say(io, `${answer.id} of ${basename(folder)} was not asked again: ${oneLine(why.join("; "))}.`);
        code = 2;
      } else {
        const limits = remainingLimits(config, { ...spent, iterations: 0 }, io.clock.now() - began);
        if (limits === undefined) {
          say(io, `The limit of this command is reached; ${answer.id} of ${basename(folder)} was not asked again.`);
          code = 3;
        } else {
          if (!args.quiet && !args.json) io.stdout(`${oneLine(answer.question)}\n\n`);
          const done = await put(answer.question, projects, args, limits, io);
          spent = addSpending(spent, done.spent);
          isAnswered ||= done.code === 0;
          code = done.code;
        }
      }
      if (exitCode === 0) exitCode = code;
      // A signal, or a limit: what follows would end in the same way.
      if (code === 3 || code > 128) break;
    }
    if (isAnswered) await inReport(folder, config, io);
    if (code === 3 || code > 128) break;
  }
  return exitCode;
}
