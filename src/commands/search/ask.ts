import { basename } from "node:path";
import { rememberAgent, requireAgents, withLastAgent } from "../../compose/agents.js";
import { checkOf, type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import { drive } from "../../compose/drive.js";
import { checkerNamesOf } from "../../compose/sharing.js";
import { needsModelMessage } from "../run/check-meaning.js";
import { checkAnswer } from "./check-answer.js";
import { type AnswerWithPapers, finishInterruptedWrites, openQuestion } from "./open-question.js";
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
import { openStoredPool } from "../../research/overview/questions/stored-pool.js";
import { questionFolders, isAnswerUnit, readAnswers } from "../../research/project-files/logs/answers-log.js";
import { remainingLimits } from "../run/remaining-limits.js";
import { answerLines, withCitationKeys } from "./answer-lines.js";
import { answerStatuses } from "./answers.js";
import { say } from "../../engine/ui/terminal/format.js";

interface AskArguments {
  /** The names of projects, and the question or the id of an answer. With `again`: only the names of projects. */
  readonly words: readonly string[];
  /** True if the questions with outdated answers are asked again. */
  readonly again: boolean;
  /** True if a second reader judges the sentences of the answer. */
  readonly check: boolean;
  /** True if texts that are not stored are fetched. */
  readonly fetch: boolean;
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
  readonly json: boolean;
}

const maxQuestionChars = 2_000;

/**
 * Asks one or more projects a question, and prints the answer of their papers, each sentence with its quotes. If the
 * question is the id of an earlier answer, such as `answer-3`, the sentences of that answer are checked.
 */
export async function askCommand(args: AskArguments, io: Io): Promise<number> {
  const { words, again } = args;
  const baseConfig = await resolveConfig(io, args.flags);
  if (again) {
    const projects = await findProjects(io.cwd, words);
    const config = withCheckSetting(args, await withLastAgent(baseConfig, projects[0], io));
    return askAgain(args, projects, config, io);
  }
  const [projectNames, questionText] = await splitWords(io.cwd, words);
  const question = questionOf(questionText);
  const folders = await findProjects(io.cwd, projectNames);
  const config = withCheckSetting(args, await withLastAgent(baseConfig, folders[0], io));
  if (isAnswerUnit(question)) return checkStoredAnswer(question, folders[0], args, config, io);
  await requireAgents(config, io, false, checkerNamesOf(config));
  for (const folder of folders) await rememberAgent(config, folder, io);
  const { code } = await answerQuestion(question, folders, args, config, io);
  if (code === 0) await showInReport(folders[0], config, io);
  return code;
}

const showInReport = (folder: string, { git, stateDir }: ResolvedConfig, io: Io): Promise<void> =>
  updateReport(folder, { git, stateDir, now: io.clock.now, notify: (message) => say(io, message) });

/**
 * The names of projects, and the question. The question is the only word that names no project; if several words name
 * none, the only one of them with spaces; if none of them has spaces, all words from the first of them on, because the
 * question was typed without quotes; otherwise the last word.
 * @throws ExpectedError (exit code 2) if a project before a question without quotes may also be a word of it.
 */
async function splitWords(cwd: string, words: readonly string[]): Promise<[readonly string[], string]> {
  const isProject = (word: string) =>
    findResearch(cwd, word).then(
      () => true,
      () => false,
    );
  const unknownWords: string[] = [];
  for (const word of words) if (!(await isProject(word))) unknownWords.push(word);
  const wordsWithSpaces = unknownWords.filter((word) => /\s/.test(word.trim()));
  if (unknownWords.length > 1 && wordsWithSpaces.length === 0) {
    const projectNames = words.slice(
      0,
      words.findIndex((word) => unknownWords.includes(word)),
    );
    const ambiguousWord = projectNames.find((word) => /^\p{L}+$/u.test(word));
    if (ambiguousWord !== undefined)
      throw new ExpectedError(
        `'${ambiguousWord}' is the beginning of a project, or the first word of the question; put the question in quotes, as in research-ralph ask ${ambiguousWord} "…?".`,
        2,
      );
    return [projectNames, words.slice(projectNames.length).join(" ")];
  }
  const [question = words.at(-1) ?? ""] = [unknownWords, wordsWithSpaces].find(({ length }) => length === 1) ?? [];
  return [words.toSpliced(words.lastIndexOf(question), 1), question];
}

/**
 * Asks a question of the local page, with the agent of the configuration, and stores the answer in the project. Returns
 * one sentence for the user. @throws ExpectedError as `askCommand`.
 */
export async function askForPage(folder: string, words: string, io: Io): Promise<string> {
  const config = withCheckSetting({ check: false }, await withLastAgent(await resolveConfig(io, {}), folder, io));
  const question = questionOf(words);
  await requireAgents(config, io, false, checkerNamesOf(config));
  const silentIo = { ...io, stdout: () => undefined };
  const { code, isAnswered, reason } = await answerQuestion(
    question,
    [folder],
    { fetch: false, quiet: true, json: false },
    config,
    silentIo,
  );
  if (code === 0) await showInReport(folder, config, io);
  return isAnswered ? "The answer is in the list of questions below." : reason;
}

/**
 * The configuration with the check of this answer. `check`: the user asks for a check, even if the configuration turns
 * checks off. Otherwise an answer is checked only if the configuration says so for all sentences.
 * @throws ExpectedError (exit code 2) if a check is asked for and no model can do it.
 */
function withCheckSetting({ check }: Pick<AskArguments, "check">, config: ResolvedConfig): ResolvedConfig {
  const { check: configuredCheck, ...configWithoutCheck } = config;
  if (!check) return configuredCheck?.all === true ? config : configWithoutCheck;
  const configWithCheck = { ...config, check: configuredCheck ?? checkOf(undefined) };
  if (Object.keys(checkerNamesOf(configWithCheck)).length > 0) return configWithCheck;
  throw new ExpectedError(needsModelMessage, 2);
}

/**
 * Checks the sentences of a stored answer. If an earlier check was stopped, this one continues it.
 * @throws ExpectedError (exit code 2) if there is no such answer, or `--check` is missing.
 */
async function checkStoredAnswer(
  id: string,
  folder: string,
  args: Pick<AskArguments, "check" | "quiet" | "json">,
  config: ResolvedConfig,
  io: Io,
): Promise<number> {
  const name = shellWord(nameFor(io.cwd, folder));
  await finishInterruptedWrites(folder, { config, now: io.clock.now, notify: (_, message) => say(io, message) });
  const answer = (await readAnswers(folder)).lines.find((storedAnswer) => storedAnswer.id === id);
  if (answer === undefined)
    throw new ExpectedError(`${name} has no ${id}; 'research-ralph ask ${name} --list' lists its answers.`, 2);
  if (!args.check)
    throw new ExpectedError(
      `${id} is an answer, not a question: 'research-ralph ask ${name} ${id} --check' checks its sentences.`,
      2,
    );
  const answerWithCheck = withOpenCheck(answer);
  if (answerWithCheck.open === undefined) {
    say(io, `No sentence of ${id} is left to check; 'research-ralph ask ${name} --list' shows the results.`);
    return 0;
  }
  await requireAgents(config, io, false, checkerNamesOf(config));
  const pool = await openStoredPool(questionFolders(folder, answer));
  const answerWithPapers = { answer: answerWithCheck, pool, names: namesByKey(pool.papers) };
  const { code } = await checkAnswer(answerWithPapers, folder, args, config, io, true);
  await showInReport(folder, config, io);
  return code;
}

/** The question on one line. @throws ExpectedError (exit code 2) if it is empty or too long. */
function questionOf(words: string): string {
  const question = oneLine(words);
  if (!/[\p{L}\p{N}]/u.test(question))
    throw new ExpectedError('The question is empty; put it in quotes, as in research-ralph ask <project> "…?".', 2);
  if (question.length > maxQuestionChars)
    throw new ExpectedError(
      `The question has ${question.length} characters; at most ${maxQuestionChars} are allowed.`,
      2,
    );
  return question;
}

/** The result of a question. */
interface QuestionResult {
  readonly code: number;
  readonly spent: Spending;
  readonly isAnswered: boolean;
  /** Why the run ended, one sentence. */
  readonly reason: string;
}

async function answerQuestion(
  question: string,
  folders: readonly [string, ...string[]],
  { fetch, quiet, json }: Pick<AskArguments, "fetch" | "quiet" | "json">,
  config: ResolvedConfig,
  io: Io,
): Promise<QuestionResult> {
  const startedAt = io.clock.now();
  const isChecked = Object.keys(checkerNamesOf(config)).length > 0;
  let answerWithPapers: AnswerWithPapers | undefined;
  let spent = zeroSpending;
  const onAnswer = (newAnswer: AnswerWithPapers) => {
    answerWithPapers = newAnswer;
  };
  const onSpending = (spentSoFar: Spending) => {
    spent = spentSoFar;
  };
  const verdict = await drive(config, io, { quiet, json, iterations: 4, hasRun: true }, (run) =>
    openQuestion({ folders, question, fetch, isChecked, onAnswer, onSpending }, config, io, run),
  );
  if (answerWithPapers !== undefined) {
    const { answer, names } = answerWithPapers;
    const { open: _, ...answerToShow } = answer;
    io.stdout(
      json
        ? `${JSON.stringify({ type: "answer", ...withCitationKeys(answerToShow, names) })}\n`
        : `${answerLines(answerToShow, names, io).join("\n")}\n`,
    );
  }
  const code = exitCodeOf(verdict);
  const outcome = { isAnswered: answerWithPapers !== undefined, reason: verdict.reason };
  if (answerWithPapers === undefined || code !== 0) return { code, spent, ...outcome };
  const remaining = remainingLimits(config, { ...spent, iterations: 0 }, io.clock.now() - startedAt);
  const checkResult = await checkAnswer(
    answerWithPapers,
    folders[0],
    { quiet, json },
    remaining ?? config,
    io,
    remaining !== undefined,
  );
  return { code: checkResult.code, spent: addSpending(spent, checkResult.spent), ...outcome };
}

/**
 * Asks each question again whose newest answer is outdated, within the limits of the whole command. A message tells
 * which answers could not be compared with their projects. The exit code is the first that is not 0.
 */
async function askAgain(
  args: AskArguments,
  folders: readonly string[],
  config: ResolvedConfig,
  io: Io,
): Promise<number> {
  await requireAgents(config, io, false, checkerNamesOf(config));
  const startedAt = io.clock.now();
  let spent = zeroSpending;
  let exitCode = 0;
  for (const folder of folders) {
    const outdatedAnswers = (await answerStatuses(folder, io)).filter(
      ({ isNewest, outdatedReasons }) => isNewest && outdatedReasons.length > 0,
    );
    if (outdatedAnswers.length === 0 && !args.quiet) say(io, `All answers of ${basename(folder)} are up to date.`);
    let isAnswered = false;
    let code = 0;
    for (const { answer, projects, outdatedReasons, isProjectMissing } of outdatedAnswers) {
      if (isProjectMissing === true) {
        say(io, `${answer.id} of ${basename(folder)} was not asked again: ${oneLine(outdatedReasons.join("; "))}.`);
        code = 2;
      } else {
        const limits = remainingLimits(config, { ...spent, iterations: 0 }, io.clock.now() - startedAt);
        if (limits === undefined) {
          say(io, `The limit of this command is reached; ${answer.id} of ${basename(folder)} was not asked again.`);
          code = 3;
        } else {
          if (!args.quiet && !args.json) io.stdout(`${oneLine(answer.question)}\n\n`);
          const result = await answerQuestion(answer.question, projects, args, limits, io);
          spent = addSpending(spent, result.spent);
          isAnswered ||= result.code === 0;
          code = result.code;
        }
      }
      if (exitCode === 0) exitCode = code;
      // After a signal, or at a limit, the next questions would end in the same way.
      if (code === 3 || code > 128) break;
    }
    if (isAnswered) await showInReport(folder, config, io);
    if (code === 3 || code > 128) break;
  }
  return exitCode;
}
