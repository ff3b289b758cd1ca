import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
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
  /** The environment, without the user's secrets, because code of an agent is run here. */
  readonly env: NodeJS.ProcessEnv;
  readonly access: ProcessAccess;
  /** Absolute path of Node in this place. */
  readonly node: string;
  /** In a sandbox: absolute path of the folder that is mounted at /home. */
  readonly home?: string;
  /** A folder for result files. This process and the commands can both read it. */
  readonly scratch: string;
  /** In a sandbox: what exists on the user's machine but not in the sandbox. */
  readonly missingInSandbox?: {
    /** Names of environment variables. */
    readonly variables: readonly string[];
    /** The user's PATH, whose programs may be missing in the sandbox. */
    readonly path: string;
  };
  /** Where test runs see the project; absent if they see it as commands do. */
  readonly testPlace?: TestPlace;
  /** Aborted if the check must end at once. */
  readonly signal: AbortSignal;
}

/** Test runs see the project read-only, at another path. */
export interface TestPlace {
  /** Absolute path of the project in a test run. */
  readonly path: string;
  /** Maximum milliseconds of a test run. */
  readonly maxMs: number;
  /** The outermost package folder that contains the project, if there is one. It is mounted instead of the project. */
  readonly packageFolder?: string;
}

/** The result of a program. */
export interface ProgramResult {
  readonly end: ProcessEnd;
  /** Whether the program ended by itself with exit code 0. */
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** The result of a check. */
export interface CheckResult {
  readonly passed: boolean;
  readonly detail: string;
  /** True: the check was not completed, so it proves neither the criterion nor its opposite. */
  readonly isUndecided?: true;
  /** For tests: the number of failing tests. */
  readonly failing?: number;
  /** For tests: the names of all tests. */
  readonly tests?: readonly string[];
  /** For tests: the names of tests that ran before and are now missing or skipped. */
  readonly missingTests?: readonly string[];
  /** For tests: the number of files that could not be loaded, plus the number of `missingTests`. */
  readonly unloaded?: number;
  readonly results?: TestResults;
  /** For tests that were run again: the names of tests that fail and pass on the same files. They are not counted. */
  readonly flaky?: readonly string[];
}

interface RunOptions {
  readonly timeoutMs: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Maximum bytes of stdout that are returned. Of a longer output, the last bytes are returned. */
  readonly maxOutputBytes?: number;
}

/** Default of `maxOutputBytes`, for output that people and agents read. */
const defaultOutputBytes = 64 * 1024;

/** Runs a program in the place and waits for its end. Never throws, whatever the program does. */
export async function run(
  { exec, cwd, env, access, signal }: Place,
  command: string,
  args: readonly string[],
  { timeoutMs, env: extraEnv, maxOutputBytes = defaultOutputBytes }: RunOptions,
): Promise<ProgramResult> {
  const process = exec({
    command,
    args,
    cwd,
    // Python must write no bytecode: it compares only the size of a file and the second of its last change, so it could
    // use the bytecode of the file before an edit. The bytecode files would also fill the project.
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
      return { end, ok, stdout: lastLines(stdout, maxOutputBytes), stderr: end.stderr };
    }
    stdout += step.value;
    if (stdout.length > 2 * maxOutputBytes + maxExtraChars) stdout = stdout.slice(-maxOutputBytes - 1);
  }
}

/** The output may grow by so many characters before its beginning is removed, because each removal copies the rest. */
const maxExtraChars = 1_000_000;

/** The last whole lines of a text, with line feeds as line ends. If the last line alone is too long, its end. */
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

/** The field `isUndecided` for a program that was ended from outside; empty if it ended by itself. */
export const undecidedField = ({ end }: ProgramResult): Pick<CheckResult, "isUndecided"> =>
  end.cause === "exited" ? {} : { isUndecided: true };

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

/** The content of a file as the agent sees it, at most 10 MB; or the reason why it can't be read. */
export async function contentOf(
  place: Place,
  path: string,
): Promise<
  { readonly bytes: Buffer; readonly problem?: undefined } | { readonly problem: string; readonly isUndecided?: true }
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
      return { problem: `${path} is larger than ${maxContentBytes / 1_000_000} MB.`, isUndecided: true };
    if (result.ok && bytes !== undefined) return { bytes };
    const reason = lastCharsOf(result.stderr, 300) || endSentence(result, 60_000);
    return { problem: `${path} can't be read: ${reason}`, isUndecided: true };
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

/** The output of a failed command on both streams, for people and agents. */
export function outputOf({ stdout, stderr }: Pick<ProgramResult, "stdout" | "stderr">, maxChars: number): string {
  const streams = [stdout, stderr].map((text) => text.trim()).filter((text) => text !== "");
  return streams.map((text) => lastCharsOf(text, Math.floor(maxChars / Math.max(1, streams.length)))).join("\n");
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
  return { passed: false, detail, ...undecidedField(result) };
}
