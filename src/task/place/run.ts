import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { ProcessAccess } from "../../engine/process/access.js";
import type { Exec, ProcessEnd } from "../../engine/process/run-process.js";
import { readRegularUpTo } from "../../engine/storage/regular-file.js";
import { quantity } from "../../engine/lib/words.js";
import type { TestResults } from "../generated/test-results.js";

/** The place where criteria are checked. It uses the same sandbox and folder as the agents. */
export interface Place {
  readonly exec: Exec;
  /** Absolute path of the folder that is checked. */
  readonly cwd: string;
  /** Without the user's secrets, because the work of an agent is run here. */
  readonly env: NodeJS.ProcessEnv;
  readonly access: ProcessAccess;
  /** Absolute path of Node in this place. */
  readonly node: string;
  /** In a sandbox: absolute path of the folder that is mounted at /home. */
  readonly home?: string;
  /** A folder for result files that this process and the commands both see. */
  readonly scratch: string;
  /** In a sandbox: what the user has and the sandbox does not. */
  readonly missing?: {
    /** Names of environment variables. */
    readonly variables: readonly string[];
    /** The user's PATH. Its programs may be missing in the sandbox. */
    readonly path: string;
  };
  /** How test runs see the project, if they see it differently from commands. */
  readonly tests?: TestPlace;
  /** Aborted if the check must end at once. */
  readonly signal: AbortSignal;
}

/** Test runs see the project read-only, at another path. */
export interface TestPlace {
  /** Absolute path of the project in a test run. */
  readonly at: string;
  /** Maximum milliseconds of a test run. */
  readonly maxMs: number;
  /** The outermost package folder, if the project is in one: then that folder is mounted instead of the project. */
  readonly packages?: string;
}

/** The result of a program. */
export interface ProgramResult {
  readonly end: ProcessEnd;
  /** The program ended by itself with exit code 0. */
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** The result of a check. */
export interface CheckResult {
  readonly passed: boolean;
  readonly detail: string;
  /** The check was not completed: so the opposite of the criterion is not proved either. */
  readonly undecided?: true;
  /** For tests: how many fail, and the names of all. */
  readonly failing?: number;
  readonly tests?: readonly string[];
  /** For tests: tests that ran before and are now missing or skipped. */
  readonly gone?: readonly string[];
  /** For tests: the number of files that could not be loaded and of tests that ran before and no longer do. */
  readonly unloaded?: number;
  readonly results?: TestResults;
  /** For tests that were run again: tests that fail and pass on the same files. They are not counted. */
  readonly flaky?: readonly string[];
}

interface RunOptions {
  readonly timeoutMs: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Maximum bytes of stdout that are returned; the last ones of a longer output. */
  readonly maxOutput?: number;
}

/** The default for output that people and agents read. */
const defaultOutputBytes = 64 * 1024;

/** Runs a program in the place and waits for its end. Never throws for what the program does. */
export async function run(
  { exec, cwd, env, access, signal }: Place,
  command: string,
  args: readonly string[],
  { timeoutMs, env: extraEnv, maxOutput = defaultOutputBytes }: RunOptions,
): Promise<ProgramResult> {
  const process = exec({
    command,
    args,
    cwd,
    // Python compares only the size of a file and the second of its change. With bytecode of an earlier run it could
    // use the code before an edit, and bytecode files would fill the project.
    env: { PYTHONDONTWRITEBYTECODE: "1", ...env, ...extraEnv },
    stdin: "",
    timeoutMs,
    idleMs: 0,
    isFinished: () => false,
    signal,
    access: { ...access, variables: [...access.variables, ...Object.keys(extraEnv ?? {})] },
    graceMs: 500,
    isChunked: true,
  });
  let stdout = "";
  for (;;) {
    const step = await process.next();
    if (step.done === true) {
      const end = step.value;
      const ok = end.cause === "exited" && end.exitCode === 0 && end.signal === undefined;
      return { end, ok, stdout: lastLines(stdout, maxOutput), stderr: end.stderr };
    }
    stdout += step.value;
    if (stdout.length > 2 * maxOutput + maxExtraChars) stdout = stdout.slice(-maxOutput - 1);
  }
}

/** The output may grow by so many characters before its beginning is cut off, because each cut copies the rest. */
const maxExtraChars = 1_000_000;

/** The last whole lines of a text, with plain line ends. If the last line alone is too long, its end. */
function lastLines(text: string, maxChars: number): string {
  const lastPart = text.slice(-maxChars);
  const isCut = lastPart.length < text.length && text.at(-maxChars - 1) !== "\n";
  const firstLineEnd = isCut ? lastPart.indexOf("\n") : -1;
  const wholeLines =
    firstLineEnd === -1 || firstLineEnd === lastPart.length - 1 ? lastPart : lastPart.slice(firstLineEnd + 1);
  return wholeLines.replace(/\r\n/g, "\n").replace(/\n$/, "");
}

/** Like `run`, for a command line of the shell. */
export const runShell = (place: Place, line: string, options: RunOptions): Promise<ProgramResult> =>
  run(place, "sh", ["-c", line], options);

/** `undecided` for a program that was ended before its own end. */
export const undecidedIf = ({ end }: ProgramResult): Pick<CheckResult, "undecided"> =>
  end.cause === "exited" ? {} : { undecided: true };

/** Default limit of a command, in seconds. */
const defaultSeconds = 300;

export const timeoutOf = ({ timeout_seconds: seconds = defaultSeconds }: { timeout_seconds?: number }): number =>
  seconds * 1000;

/** A sentence that says how a failed command ended. */
export function endSentence({ end }: ProgramResult, timeoutMs: number): string {
  const { cause, exitCode, signal, startError, resource } = end;
  if (cause === "timeout") return `It took longer than ${quantity(timeoutMs / 1000, "second")} and was ended.`;
  if (cause === "aborted") return "It was interrupted.";
  if (cause === "not-started")
    return `It could not be started: ${startError?.message ?? "the system does not say why"}.`;
  if (cause === "resources") return `It used too much: ${resource ?? "a limit was exceeded"}.`;
  if (signal !== undefined) return `It was ended by ${signal}.`;
  return `It ended with exit code ${exitCode ?? "unknown"}.`;
}

/** The content of a file as the agent sees it, or why it can't be read. At most 10 MB. */
export async function contentOf(
  place: Place,
  path: string,
): Promise<
  { readonly bytes: Buffer; readonly problem?: undefined } | { readonly problem: string; readonly undecided?: true }
> {
  const copy = join(place.scratch, `${randomUUID()}.copy`);
  mkdirSync(place.scratch, { recursive: true });
  // Uses only the shell and `cat`, which every image has. `ulimit -f` counts blocks of 512 bytes.
  const script = `[ -f "$1" ] || exit 44; ulimit -f ${Math.ceil(maxContentBytes / 512) + 1}; cat < "$1" > "$2"`;
  try {
    const result = await run(place, "sh", ["-c", script, "sh", path, copy], { timeoutMs: 60_000 });
    if (result.end.exitCode === 44) return { problem: `There is no file ${path}.` };
    const bytes = await readRegularUpTo(copy, maxContentBytes).catch(() => undefined);
    if (typeof bytes === "number")
      return { problem: `${path} is larger than ${maxContentBytes / 1_000_000} MB.`, undecided: true };
    if (result.ok && bytes !== undefined) return { bytes };
    const reason = lastCharsOf(result.stderr, 300) || endSentence(result, 60_000);
    return { problem: `${path} can't be read: ${reason}`, undecided: true };
  } finally {
    rmSync(copy, { force: true });
  }
}

const maxContentBytes = 10_000_000;

/** The last `maxChars` characters of a text, with "…" if it was cut. */
export const lastCharsOf = (text: string, maxChars: number): string => {
  const trimmed = text.trim();
  return trimmed.length <= maxChars ? trimmed : `…${trimmed.slice(trimmed.length - maxChars + 1)}`;
};

/** The output of a failed command, both streams, for people and agents. */
export function outputOf({ stdout, stderr }: Pick<ProgramResult, "stdout" | "stderr">, maxChars: number): string {
  const parts = withoutUndefined({ stdout: stdout.trim() || undefined, stderr: stderr.trim() || undefined });
  const streams = [parts.stdout, parts.stderr].filter((part) => part !== undefined);
  return streams.map((part) => lastCharsOf(part, Math.floor(maxChars / Math.max(1, streams.length)))).join("\n");
}

/** Maximum characters of a check's detail. */
export const maxDetailChars = 1_500;

/** Whether a command line ends with exit code 0. */
export async function checkCommand(
  line: string,
  limits: { readonly timeout_seconds?: number },
  place: Place,
): Promise<CheckResult> {
  const timeoutMs = timeoutOf(limits);
  const result = await runShell(place, line, { timeoutMs });
  if (result.ok) return { passed: true, detail: "It ended with exit code 0." };
  const detail = `${endSentence(result, timeoutMs)}\n${outputOf(result, maxDetailChars - 100)}`.trim();
  return { passed: false, detail, ...undecidedIf(result) };
}
