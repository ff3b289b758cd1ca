import { createInterface } from "node:readline";
import type { OpenQuestion, Rrd } from "../../research/generated/rrd.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { editResearch } from "../../research/project-files/edit-by-command.js";
import { say, wrap } from "../../engine/ui/terminal/format.js";
import { problemsOf } from "../../engine/storage/schema-check.js";
import type { Io } from "../../engine/ui/io.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { derive } from "../../research/workflow/derive.js";

const isQuestion = (question: OpenQuestion | string): question is OpenQuestion => typeof question !== "string";

/** The streams for questions: stderr, because stdout is for results. */
type QuestionIo = Pick<Io, "stdin" | "terminal" | "isDumb">;

/** Lets the user choose an option. @throws ExpectedError if the user cancels. */
export async function choose(
  io: QuestionIo,
  message: string,
  options: readonly { readonly value: string; readonly label: string }[],
): Promise<string> {
  if (io.isDumb === true) return chooseByNumber(io, message, options);
  const { select, isCancel } = await import("@clack/prompts");
  const choice = await select({ message, options: [...options], input: io.stdin, output: io.terminal });
  if (isCancel(choice)) throw new ExpectedError("Nothing was chosen, nothing was started.", 2);
  return choice;
}

/** The same with numbered lines, for a terminal that can't be repainted. */
async function chooseByNumber(
  io: QuestionIo,
  message: string,
  options: readonly { readonly value: string; readonly label: string }[],
): Promise<string> {
  const lines = options.map(({ label }, index) => `  ${index + 1} ${label}\n`);
  io.terminal.write(`${message}\n${lines.join("")}`);
  const answer = await typedLine(io, "Number: ");
  const option = options[Number(answer) - 1];
  if (option === undefined) throw new ExpectedError("Nothing was chosen, nothing was started.", 2);
  return option.value;
}

/** The line that the user types; empty after Ctrl+C or at the end of the input. */
async function typedLine({ stdin, terminal }: QuestionIo, prompt: string): Promise<string> {
  const lineReader = createInterface({ input: stdin, output: terminal });
  try {
    return await new Promise<string>((resolve) => {
      lineReader.once("close", () => resolve(""));
      lineReader.once("SIGINT", () => lineReader.close());
      lineReader.question(prompt, (line) => resolve(line.trim()));
    });
  } finally {
    lineReader.close();
  }
}

/**
 * Asks the user for the topic of a new project.
 * @throws ExpectedError (exit code 2) without a terminal or an answer.
 */
export async function askForTopic(io: Io): Promise<string> {
  const example = 'research-ralph new "sim2real transfer for dexterous manipulation"';
  if (!io.canAsk) throw new ExpectedError(`The topic is missing; give one, such as ${example}.`, 2);
  const topic = await askForLine(io, "What do you want to research? A topic in a few words, or a question.");
  if (topic.trim() === "") throw new ExpectedError("You typed nothing, so nothing was started.", 2);
  return topic;
}

/** Asks the user for one line, on stderr. @throws ExpectedError if the user cancels. */
async function askForLine(io: QuestionIo, message: string): Promise<string> {
  if (io.isDumb === true) return typedLine(io, `${message}\n> `);
  const { text, isCancel } = await import("@clack/prompts");
  const line = await text({ message, input: io.stdin, output: io.terminal });
  if (isCancel(line)) throw new ExpectedError("You typed nothing, so nothing was started.", 2);
  return line ?? "";
}

/** What the user agrees to. */
interface Consent {
  readonly yes: boolean;
  readonly toBegin: string;
  /** What was not done without consent. */
  readonly otherwise: string;
  /** The cost for the refusal, if it was not shown before. */
  readonly cost?: string | undefined;
}

/**
 * Asks the user to agree to the plan.
 * @throws ExpectedError (exit code 2) with what was not done, if the user does not agree, or without a terminal.
 */
export async function requireConsent(
  io: Pick<Io, "canAsk"> & QuestionIo,
  { yes, toBegin, otherwise, cost }: Consent,
): Promise<void> {
  if (yes) return;
  if (!io.canAsk)
    throw new ExpectedError(
      `${otherwise}; add --yes to ${cost === undefined ? "agree to this plan" : `begin. Cost: ${cost}`}.`,
      2,
    );
  if (!(await isConfirmed(io, toBegin))) throw new ExpectedError(`${otherwise}.`, 2);
}

async function isConfirmed(io: QuestionIo, toBegin: string): Promise<boolean> {
  if (io.isDumb === true) return /^y(?:es)?$/i.test(await typedLine(io, "Begin? (yes, no) "));
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({
    message: "Begin?",
    active: toBegin,
    inactive: "No, change nothing",
    vertical: true,
    input: io.stdin,
    output: io.terminal,
  });
  return !isCancel(answer) && answer;
}

/** For commands that ask only at their end: checked before an agent has worked. */
export function requireTerminal(io: Io): void {
  if (!io.canAsk)
    throw new ExpectedError("--ask needs a terminal; answer in open_questions of rrd.json instead, or omit --ask.", 2);
}

/**
 * Asks the user the open questions and stores the answers as their defaults. Without answers nothing changes.
 * `hasUnanswered`: whether the user did not answer all.
 */
export async function askOpenQuestions(
  folder: string,
  rrd: Rrd,
  git: boolean,
  io: Io,
): Promise<{ readonly rrd: Rrd; readonly hasUnanswered: boolean }> {
  const questions = (rrd.open_questions ?? []).filter(isQuestion);
  const answers = await askAll(questions, io);
  const hasUnanswered = questions.some(({ question }) => !answers.has(question));
  if (answers.size === 0) return { rrd, hasUnanswered };
  const notify = (_: string, message: string) => say(io, message);
  const edited = await editResearch(folder, (before) => withAnswers(before, answers), { derive, git, notify });
  return { rrd: edited.rrd, hasUnanswered };
}

async function askAll(
  questions: readonly OpenQuestion[],
  io: Pick<Io, "stdin" | "terminal">,
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  if (questions.length === 0) return answers;
  const { select, text, isCancel } = await import("@clack/prompts");
  const { stdin: input, terminal: output } = io;
  for (const { question, options = [], current_default } of questions) {
    const initial = String(current_default ?? "");
    const message = oneLine(question);
    const answer =
      options.length > 0
        ? await select({
            message,
            input,
            output,
            initialValue: initial,
            options: [...new Set([initial, ...options])]
              .filter(Boolean)
              .map((value) => ({ value, label: oneLine(value) })),
          })
        : await text({ message, input, output, initialValue: initial });
    if (isCancel(answer)) break;
    answers.set(question, answer);
  }
  return answers;
}

/**
 * The state with these answers, by question: as defaults of its open questions, and in the fields that the questions
 * name if they fit. Pure.
 */
export function withAnswers(rrd: Rrd, answers: ReadonlyMap<string, string>): Rrd {
  let updated = rrd;
  for (const question of (rrd.open_questions ?? []).filter(isQuestion)) {
    const answer = answers.get(question.question);
    const path = (question.field ?? "").split(/[./]/).filter((part) => part !== "");
    if (answer === undefined || path.length === 0) continue;
    const withField = setAt(updated, path, answer);
    if (withField !== undefined && problemsOf("rrd", withField).length === 0) updated = withField as Rrd;
  }
  const open_questions = (rrd.open_questions ?? []).map((question) =>
    isQuestion(question) && answers.has(question.question)
      ? { ...question, current_default: answers.get(question.question) ?? null }
      : question,
  );
  return { ...updated, open_questions };
}

/**
 * A copy with the answer in the field at `path`, converted to the type of its present value; undefined if the field
 * does not exist.
 */
function setAt(value: unknown, [first = "", ...rest]: readonly string[], answer: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, first))
    return undefined;
  const oldValue = (value as Record<string, unknown>)[first];
  const newValue = rest.length === 0 ? convertedLike(oldValue, answer) : setAt(oldValue, rest, answer);
  return newValue === undefined ? undefined : { ...value, [first]: newValue };
}

function convertedLike(oldValue: unknown, answer: string): unknown {
  if (typeof oldValue === "number") {
    const number = Number(/-?\d+(?:\.\d+)?/.exec(answer.replaceAll(",", ""))?.[0]);
    return Number.isNaN(number) ? undefined : number;
  }
  if (typeof oldValue === "boolean") return /^(yes|true|on|y)\b/i.test(answer.trim());
  if (Array.isArray(oldValue))
    return answer
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  return typeof oldValue === "string" || oldValue === null ? answer : undefined;
}

/** The open questions for people, with their assumed answers. */
export const questionLines = (rrd: Rrd, columns: number): string[] =>
  (rrd.open_questions ?? [])
    .filter(isQuestion)
    .map(
      ({ question, current_default }) => `${oneLine(question)} Assumed: ${oneLine(String(current_default ?? "open"))}`,
    )
    .flatMap((text) => wrap(text, columns - 4).map((line, index) => `${index === 0 ? "  ? " : "    "}${line}`));
