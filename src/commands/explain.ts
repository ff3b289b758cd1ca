import { ExpectedError, faultOfMachine } from "../engine/lib/errors.js";
import { sanitise } from "../engine/lib/sanitise.js";
import { bugSentence } from "../engine/ui/bug-report.js";
import type { Io } from "../engine/ui/io.js";
import { flowed } from "../engine/ui/terminal/format.js";
import { summaries } from "./help-text.js";

/** Says what went wrong in one sentence, never with a stack trace, and returns the exit code it deserves. */
export function explain(error: unknown, io: Io, args: readonly string[]): number {
  const { message, exitCode } = judge(error, io, args);
  if (message === undefined) return exitCode;
  if (args.includes("--json")) io.stdout(`${JSON.stringify({ error: message })}\n`);
  else io.stderr(`${flowed(`research-ralph: ${sanitise(message)}`, io)}\n`);
  return exitCode;
}

function judge(error: unknown, io: Io, args: readonly string[]): { message?: string; exitCode: number } {
  if (error instanceof ExpectedError) return { message: error.message, exitCode: error.exitCode };
  if (isUsageError(error)) {
    // Help and version end this way too.
    return error.exitCode === 0 ? { exitCode: 0 } : { message: usageSentence(error.message, args), exitCode: 2 };
  }
  const fault = faultOfMachine(error);
  if (fault !== undefined) return { message: fault, exitCode: 1 };
  return { message: bugSentence(error, io, "research-ralph", args), exitCode: 1 };
}

/** Commander's own error, without importing commander for it. */
const isUsageError = (error: unknown): error is Error & { exitCode: number; code: string } =>
  error instanceof Error && "code" in error && String(error.code).startsWith("commander.") && "exitCode" in error;

/** "error: unknown option '--agnet'\n(Did you mean --agent?)" as one sentence that says where to look. */
function usageSentence(message: string, args: readonly string[]): string {
  // Commander's whole message where 'help' is asked for a command that there is not.
  if (message === "(outputHelp)") return `unknown command '${args.at(-1)}'; see research-ralph --help.`;
  const [said = "", ...hint] = message.replace(/^error: /, "").split("\n");
  const suggestion = /\((Did you mean .*)\)/.exec(hint.join(" "))?.[1];
  const command = args.find((arg) => arg in summaries);
  const sentence = said.replace(/\.$/, "");
  if (suggestion !== undefined) return `${sentence}. ${suggestion}`;
  return `${sentence}; see research-ralph ${sentence.startsWith("unknown command") || command === undefined ? "" : `${command} `}--help.`;
}
