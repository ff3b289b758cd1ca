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

/** What a person is asked through: on stderr, because stdout carries results. */
type Asking = Pick<Io, "stdin" | "terminal" | "isDumb">;

/** Lets the person pick one; throws ExpectedError when they would rather not. */
export async function choose(
  io: Asking,
  message: string,
  options: readonly { readonly value: string; readonly label: string }[],
): Promise<string> {
  if (io.isDumb === true) return chooseByNumber(io, message, options);
  const { select, isCancel } = await import("@clack/prompts");
  const choice = await select({ message, options: [...options], input: io.stdin, output: io.terminal });
  if (isCancel(choice)) throw new ExpectedError("Nothing was chosen, nothing was started.", 2);
  return choice;
}

/** The same as lines and a number, for a terminal that can't be repainted. */
async function chooseByNumber(
  io: Asking,
  message: string,
  options: readonly { readonly value: string; readonly label: string }[],
): Promise<string> {
  const lines = options.map(({ label }, index) => `  ${index + 1} ${label}\n`);
  io.terminal.write(`${message}\n${lines.join("")}`);
  const answer = await typedLine(io, "Number: ");
  const chosen = options[Number(answer) - 1];
  if (chosen === undefined) throw new ExpectedError("Nothing was chosen, nothing was started.", 2);
  return chosen.value;
}

/** The line that the person types; empty after Ctrl+C or the end of the input. */
async function typedLine({ stdin, terminal }: Asking, prompt: string): Promise<string> {
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
 * The topic of a new project, from the person. @throws ExpectedError (exit code 2) where nobody can be asked, or
 * nothing is said.
 */
export async function askForTopic(io: Io): Promise<string> {
  const example = 'research-ralph new "sim2real transfer for dexterous manipulation"';
  if (!io.canAsk) throw new ExpectedError(`The topic is missing; give one, such as ${example}.`, 2);
  const topic = await askForLine(io, "What do you want to research? A topic in a few words, or a question.");
  if (topic.trim() === "") throw new ExpectedError("Nothing was said, nothing was started.", 2);
  return topic;
}

/** One line from the person; throws ExpectedError when they would rather not. On stderr: stdout carries results. */
async function askForLine(io: Asking, message: string): Promise<string> {
  if (io.isDumb === true) return typedLine(io, `${message}\n> `);
  const { text, isCancel } = await import("@clack/prompts");
  const said = await text({ message, input: io.stdin, output: io.terminal });
  if (isCancel(said)) throw new ExpectedError("Nothing was said, nothing was started.", 2);
  return said ?? "";
}

/**
 * Has the person agree to what was just said. @throws ExpectedError (exit code 2), with what then was not done, where
 * they do not, or nobody can be asked.
 */
export async function agreed(
  io: Pick<Io, "canAsk"> & Asking,
  { yes, toBegin, otherwise }: { readonly yes: boolean; readonly toBegin: string; readonly otherwise: string },
): Promise<void> {
  if (yes) return;
  if (!io.canAsk) throw new ExpectedError(`${otherwise}; add --yes to agree to these costs.`, 2);
  if (!(await isConfirmed(io, toBegin))) throw new ExpectedError(`${otherwise}.`, 2);
}

async function isConfirmed(io: Asking, toBegin: string): Promise<boolean> {
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

/** For commands that ask only at their end: said before an agent has worked for it. */
export function needTerminal(io: Io): void {
  if (!io.canAsk)
    throw new ExpectedError("--ask needs a terminal; answer in open_questions of rrd.json instead, or omit --ask.", 2);
}

/**
 * Puts the open questions to the person and writes the answers down as their defaults. Without answers nothing changes.
 * `left`: the person did not want to answer all.
 */
export async function askOpenQuestions(
  folder: string,
  rrd: Rrd,
  git: boolean,
  io: Io,
): Promise<{ readonly rrd: Rrd; readonly left: boolean }> {
  const questions = (rrd.open_questions ?? []).filter(isQuestion);
  const answers = await askAll(questions, io);
  const left = questions.some(({ question }) => !answers.has(question));
  if (answers.size === 0) return { rrd, left };
  const notify = (_: string, message: string) => say(io, message);
  const edited = await editResearch(folder, (before) => withAnswers(before, answers), { derive, git, notify });
  return { rrd: edited.rrd, left };
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
 * The state with these answers, by question, as defaults of its open questions, and each in the field that its question
 * names, as far as the answer fits there. Pure.
 */
export function withAnswers(rrd: Rrd, answers: ReadonlyMap<string, string>): Rrd {
  let answered = rrd;
  for (const question of (rrd.open_questions ?? []).filter(isQuestion)) {
    const answer = answers.get(question.question);
    const path = (question.field ?? "").split(/[./]/).filter((part) => part !== "");
    if (answer === undefined || path.length === 0) continue;
    const changed = setAt(answered, path, answer);
    if (changed !== undefined && problemsOf("rrd", changed).length === 0) answered = changed as Rrd;
  }
  const open_questions = (rrd.open_questions ?? []).map((question) =>
    isQuestion(question) && answers.has(question.question)
      ? { ...question, current_default: answers.get(question.question) ?? null }
      : question,
  );
  return { ...answered, open_questions };
}

/**
 * A copy with the field at `path` answered, in the kind of value that stands there; undefined where there is no such
 * field.
 */
function setAt(value: unknown, [first = "", ...rest]: readonly string[], answer: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, first))
    return undefined;
  const before = (value as Record<string, unknown>)[first];
  const after = rest.length === 0 ? asBefore(before, answer) : setAt(before, rest, answer);
  return after === undefined ? undefined : { ...value, [first]: after };
}

function asBefore(before: unknown, answer: string): unknown {
  if (typeof before === "number") {
    const number = Number(/-?\d+(?:\.\d+)?/.exec(answer.replaceAll(",", ""))?.[0]);
    return Number.isNaN(number) ? undefined : number;
  }
  if (typeof before === "boolean") return /^(yes|true|on|y)\b/i.test(answer.trim());
  if (Array.isArray(before))
    return answer
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  return typeof before === "string" || before === null ? answer : undefined;
}

/** The open questions, for people to read: what was assumed, and where to change it. */
export const questionLines = (rrd: Rrd, columns: number): string[] =>
  (rrd.open_questions ?? [])
    .filter(isQuestion)
    .map(
      ({ question, current_default }) => `${oneLine(question)} Assumed: ${oneLine(String(current_default ?? "open"))}`,
    )
    .flatMap((text) => wrap(text, columns - 4).map((line, index) => `${index === 0 ? "  ? " : "    "}${line}`));
