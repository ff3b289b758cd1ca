import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Reach } from "../../engine/process/reach.js";
import type { Exec, ProcessEnd } from "../../engine/process/run-process.js";
import { readRegularUpTo } from "../../engine/storage/regular-file.js";
import { many } from "../../engine/lib/words.js";
import type { TestResults } from "../generated/test-results.js";

/** Where criteria are checked: by the same means and in the same place as the agent works. */
export interface Place {
  readonly exec: Exec;
  /** Absolute path of the folder that is checked. */
  readonly cwd: string;
  /** Without the secrets of the user: what an agent wrote is run here. */
  readonly env: NodeJS.ProcessEnv;
  readonly reach: Reach;
  /** Absolute path of Node there. */
  readonly node: string;
  /** In a sandbox: absolute path of the folder that stands at /home there. */
  readonly home?: string;
  /** A folder for result files that this process and the commands both see. */
  readonly scratch: string;
  /** In a sandbox: what of the user's is not there. */
  readonly missing?: {
    /** Names of variables. */
    readonly variables: readonly string[];
    /** The user's PATH, which programs there are may lie on without being shown. */
    readonly path: string;
  };
  /** How runs of tests see the project where that is another way than commands do. */
  readonly tests?: TestPlace;
  /** Aborted when the check is to end at once. */
  readonly signal: AbortSignal;
}

/** Runs of tests see the project at another path, and can't change it. */
export interface TestPlace {
  /** Absolute path of it there. */
  readonly at: string;
  /** Most milliseconds of a run. */
  readonly maxMs: number;
  /** The folder of packages that the project may be one of: it is what stands there then. */
  readonly packages?: string;
}

/** What a program has left behind. */
export interface Ran {
  readonly end: ProcessEnd;
  /** It ended by itself with exit code 0. */
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** What came of one criterion. */
export interface Found {
  readonly passed: boolean;
  readonly detail: string;
  /** It could not be checked to the end, so that it is not met says nothing of the opposite. */
  readonly undecided?: true;
  /** Of tests: how many fail, and the names of all that there are. */
  readonly failing?: number;
  readonly tests?: readonly string[];
  /** Of tests: those that were there before and are gone or skipped. */
  readonly gone?: readonly string[];
  /** Of tests: files that could not be loaded, and tests that ran before and no longer do. */
  readonly unloaded?: number;
  readonly results?: TestResults;
  /** Of tests that were run once more: those that are not counted, as they fail and pass on the same files. */
  readonly flaky?: readonly string[];
}

interface HowToRun {
  readonly timeoutMs: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Most bytes kept of stdout; of more, the last. */
  readonly maxOutput?: number;
}

/** What is kept of an output that people and agents read. */
const usualOutput = 64 * 1024;

/** Runs a program in the place and waits for its end. Never throws for what it does. */
export async function run(
  { exec, cwd, env, reach, signal }: Place,
  command: string,
  args: readonly string[],
  { timeoutMs, env: more, maxOutput = usualOutput }: HowToRun,
): Promise<Ran> {
  const process = exec({
    command,
    args,
    cwd,
    // Python knows a file that changed by its second and its size alone: with bytecode of an earlier run it would go on
    // with what stood there before an edit, and the project would fill with it.
    env: { PYTHONDONTWRITEBYTECODE: "1", ...env, ...more },
    stdin: "",
    timeoutMs,
    idleMs: 0,
    finished: () => false,
    signal,
    reach: { ...reach, variables: [...reach.variables, ...Object.keys(more ?? {})] },
    graceMs: 500,
    inPieces: true,
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
    if (stdout.length > 2 * maxOutput + slack) stdout = stdout.slice(-maxOutput - 1);
  }
}

/** How much more is let come in before the beginning is cut off: each cut copies what stays. */
const slack = 1_000_000;

/** The last whole lines of a text, as far as there are any, with plain line ends. */
function lastLines(text: string, most: number): string {
  const kept = text.slice(-most);
  const isCut = kept.length < text.length && text.at(-most - 1) !== "\n";
  const first = isCut ? kept.indexOf("\n") : -1;
  const whole = first === -1 || first === kept.length - 1 ? kept : kept.slice(first + 1);
  return whole.replace(/\r\n/g, "\n").replace(/\n$/, "");
}

/** The same of a command line, by the shell. */
export const runShell = (place: Place, line: string, how: HowToRun): Promise<Ran> =>
  run(place, "sh", ["-c", line], how);

/** Of a program that did not come to its own end. */
export const undecidedBy = ({ end }: Ran): Pick<Found, "undecided"> =>
  end.cause === "exited" ? {} : { undecided: true };

/** Most seconds of a command that names none. */
const usualSeconds = 300;

export const timeoutOf = ({ timeout_seconds: seconds = usualSeconds }: { timeout_seconds?: number }): number =>
  seconds * 1000;

/** How a command that failed has ended, in one sentence. */
export function howItEnded({ end }: Ran, timeoutMs: number): string {
  const { cause, exitCode, signal, startError, resource } = end;
  if (cause === "timeout") return `It took longer than ${many(timeoutMs / 1000, "second")} and was ended.`;
  if (cause === "aborted") return "It was interrupted.";
  if (cause === "not-started")
    return `It could not be started: ${startError?.message ?? "the system does not say why"}.`;
  if (cause === "resources") return `It used too much: ${resource ?? "a limit was exceeded"}.`;
  if (signal !== undefined) return `It was ended by ${signal}.`;
  return `It ended with exit code ${exitCode ?? "unknown"}.`;
}

/** The content of a file as the agent sees it, or why it could not be read. At most 10 MB. */
export async function contentOf(
  place: Place,
  path: string,
): Promise<
  { readonly bytes: Buffer; readonly problem?: undefined } | { readonly problem: string; readonly undecided?: true }
> {
  const copy = join(place.scratch, `${randomUUID()}.copy`);
  mkdirSync(place.scratch, { recursive: true });
  // The shell alone and `cat`, which every image has; a block of ulimit has 512 bytes.
  const script = `[ -f "$1" ] || exit 44; ulimit -f ${Math.ceil(maxContent / 512) + 1}; cat < "$1" > "$2"`;
  try {
    const ran = await run(place, "sh", ["-c", script, "sh", path, copy], { timeoutMs: 60_000 });
    if (ran.end.exitCode === 44) return { problem: `There is no file ${path}.` };
    const copied = await readRegularUpTo(copy, maxContent).catch(() => undefined);
    if (typeof copied === "number")
      return { problem: `${path} is larger than ${maxContent / 1_000_000} MB.`, undecided: true };
    if (ran.ok && copied !== undefined) return { bytes: copied };
    const why = lastOf(ran.stderr, 300) || howItEnded(ran, 60_000);
    return { problem: `${path} can't be read: ${why}`, undecided: true };
  } finally {
    rmSync(copy, { force: true });
  }
}

const maxContent = 10_000_000;

/** The end of a text, of at most so many characters, with a mark where something was left out. */
export const lastOf = (text: string, most: number): string => {
  const trimmed = text.trim();
  return trimmed.length <= most ? trimmed : `…${trimmed.slice(trimmed.length - most + 1)}`;
};

/** What a failed command printed, both streams, for a person and an agent. */
export function outputOf({ stdout, stderr }: Pick<Ran, "stdout" | "stderr">, most: number): string {
  const parts = withoutUndefined({ stdout: stdout.trim() || undefined, stderr: stderr.trim() || undefined });
  const both = [parts.stdout, parts.stderr].filter((part) => part !== undefined);
  return both.map((part) => lastOf(part, Math.floor(most / Math.max(1, both.length)))).join("\n");
}

/** Most characters of what a check has found. */
export const maxDetail = 1_500;

/** Whether a command line ends with exit code 0. */
export async function checkCommand(
  line: string,
  limits: { readonly timeout_seconds?: number },
  place: Place,
): Promise<Found> {
  const timeoutMs = timeoutOf(limits);
  const ran = await runShell(place, line, { timeoutMs });
  if (ran.ok) return { passed: true, detail: "It ended with exit code 0." };
  const detail = `${howItEnded(ran, timeoutMs)}\n${outputOf(ran, maxDetail - 100)}`.trim();
  return { passed: false, detail, ...undecidedBy(ran) };
}
