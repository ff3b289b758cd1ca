import { randomUUID } from "node:crypto";
import { closeSync, openSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import { execa } from "execa";
import { endWithUs, groupAlive, hookMark, killDescendants, marker, nextMark, signal } from "./descendants.js";
import { stopwatch, systemClock } from "../lib/clock.js";
import { messageOf } from "../lib/errors.js";
import { splitLines } from "./lines.js";
import type { Redact } from "../lib/redact.js";
import { openTranscript } from "./transcript.js";
import { temporaryRoot } from "../lib/layout.js";
import type { Reach } from "./reach.js";

const maxLine = 8 * 1024 * 1024;
const stderrKept = 16 * 1024;
const transcriptKept = 32 * 1024 * 1024;

/** What to run. Times are milliseconds. */
export interface ProcessRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing else is inherited. */
  readonly env: NodeJS.ProcessEnv;
  /** It is a hook. Of any other program the mark is taken out, which a run that a hook started has inherited. */
  readonly isHook?: true;
  readonly stdin: string;
  /** Most wall time. */
  readonly timeoutMs: number;
  /** Most silence on stdout and stderr; 0 turns it off. */
  readonly idleMs: number;
  /** Whether the program has said that it is done; it is then given `settleMs` of silence to exit. */
  readonly finished: () => boolean;
  readonly signal: AbortSignal;
  /** Where raw stdout is kept, the first 32 MB of it. */
  readonly transcript?: string;
  /** Takes secrets out of the transcript. */
  readonly redact?: Redact;
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
  /** How long a pipe that a grandchild holds open is waited for after the program's own end. */
  readonly pipeMs?: number;
  readonly settleMs?: number;
  /**
   * Yields stdout as it comes, in pieces of text with their line ends, and not line by line: a line costs a
   * microsecond, so that 300 MB of short ones would take minutes.
   */
  readonly inPieces?: true;
  /** What stands at its descriptors from 3 on, by their numbers: bytes that it can read once, or nothing. */
  readonly descriptors?: ReadonlyMap<number, Uint8Array | "nothing">;
  /** What the program has to reach; a sandbox gives it nothing else. Absent: only the system's own programs. */
  readonly reach?: Reach;
  /** Told the id of the process, which leads its group, as soon as it runs. */
  readonly started?: (pid: number) => void;
}

/** How a process ended. The end we caused is told apart from the one it chose. */
export interface ProcessEnd {
  /**
   * `settled`: it had said that it was done and did not exit, so we ended it. `resources`: it used more memory, disk or
   * processes than a sandbox allows.
   */
  readonly cause: "exited" | "timeout" | "idle" | "aborted" | "settled" | "not-started" | "resources";
  readonly exitCode?: number;
  readonly signal?: string;
  /** Why it could not be started: a code such as ENOENT and a message. */
  readonly startError?: { readonly code?: string; readonly message: string };
  /** What it had too much of, where the cause is `resources`. */
  readonly resource?: string;
  /** The last 16 KB of stderr. */
  readonly stderr: string;
  /** Why the transcript is not whole. */
  readonly transcriptProblem?: string;
  /** What a person should know of where it ran, such as hosts that were refused. One sentence each. */
  readonly notices?: readonly string[];
}

/**
 * Runs a program somewhere (on this machine, in a sandbox) and yields its stdout line by line; see `runProcess`, which
 * is the host's.
 */
export type Exec = (request: ProcessRequest) => AsyncGenerator<string, ProcessEnd>;

/**
 * Runs a program in a process group of its own and yields its stdout, line by line or in pieces, with bounded memory
 * and as fast as it is read. Returns how it ended; never throws for what the program does. When it returns, or is
 * returned from early, the group is gone, and on Linux so is every descendant that left the group.
 */
export const runProcess: Exec = (request) => runStarted(request, startChild);

/** As `runProcess`, of a program that `start` starts in its own way. */
export async function* runStarted(request: ProcessRequest, start: Start): AsyncGenerator<string, ProcessEnd> {
  const { graceMs = 3000, pipeMs = 2000, settleMs = 15_000 } = request;
  if (request.signal.aborted) return { cause: "aborted", stderr: "" };
  // Before the start: Node throws away what a child said if nobody listens by the time it exits.
  const transcript = openTranscript(request.transcript, transcriptKept, request.redact);
  const started = await start(request);
  if ("startError" in started) {
    transcript.close();
    return { cause: "not-started", startError: started.startError, stderr: "" };
  }
  const { stdin, stdout, stderr, pid, exited, sweep } = started;

  const clock = stopwatch(systemClock);
  let heard = 0;
  let waiting = true; // for the program; false while our own reader is the slow one
  let cause: ProcessEnd["cause"] = "exited";
  let exit: Exit | undefined;
  let exitAt = Infinity;
  void exited.then((how) => {
    exit = how;
    exitAt = clock.awakeMs();
  });

  let ending: Promise<void> | undefined;
  /** Asks it to end, and after a grace ends it and whatever it left. Once, no matter who asks. */
  const endIt = (why: ProcessEnd["cause"]): Promise<void> => {
    if (ending === undefined && exit === undefined) cause = why;
    return (ending ??= started.end(graceMs).then(sweep));
  };
  const onAbort = (): void => void endIt("aborted");
  request.signal.addEventListener("abort", onAbort);

  let held: Promise<void> | undefined;
  const watch = setInterval(() => {
    const now = clock.awakeMs();
    const silence = waiting ? now - heard : 0;
    if (now >= request.timeoutMs) void endIt("timeout");
    else if (request.finished() && silence >= settleMs) void endIt("settled");
    else if (request.idleMs > 0 && silence >= request.idleMs) void endIt("idle");
    // Somebody holds the pipe of a program that has ended: first what we can find is killed, then we stop listening.
    if (now - exitAt >= pipeMs) held ??= sweep();
    if (now - exitAt >= 2 * pipeMs && (silence >= pipeMs || ending !== undefined)) stdout.destroy();
  }, 50);

  const tail = keepTail(stderrKept);
  stderr.on("data", (chunk: Buffer) => {
    heard = clock.awakeMs();
    tail.push(chunk);
  });
  // A program may end without reading its stdin (EPIPE); how it ended says what there is to say.
  for (const stream of [stdin, stdout, stderr]) stream.on("error", () => {});

  let transcriptProblem: string | undefined;
  let isHeard = false;
  const lines = request.inPieces === true ? piecesOfText() : splitLines(maxLine);
  try {
    if (pid !== undefined) request.started?.(pid);
    stdin.end(request.stdin);
    for await (const chunk of untilClosed(stdout)) {
      waiting = false;
      transcript.write(chunk);
      for (const line of lines.push(chunk)) yield line;
      waiting = true;
      heard = clock.awakeMs();
    }
    for (const line of lines.end()) yield line;
    await exited;
    isHeard = true;
  } finally {
    if (exit === undefined) void endIt("aborted");
    await ending;
    await exited;
    await held;
    await sweep();
    // The end of a process may be known before its last words are read, and they say why it failed.
    if (isHeard) await endOf(stderr, exitAt + pipeMs - clock.awakeMs());
    clearInterval(watch);
    clock.stop();
    request.signal.removeEventListener("abort", onAbort);
    started.release();
    stdout.destroy();
    stderr.destroy();
    transcriptProblem = transcript.close();
  }
  return { cause, ...exit, stderr: tail.text(), transcriptProblem };
}

/** As `splitLines`, without the splitting. */
function piecesOfText(): ReturnType<typeof splitLines> {
  const decoder = new StringDecoder("utf8");
  const some = (text: string): string[] => (text === "" ? [] : [text]);
  return { push: (chunk) => some(decoder.write(chunk)), end: () => some(decoder.end()) };
}

type Exit = Pick<ProcessEnd, "exitCode" | "signal">;

/** A program that runs, wherever that is. */
export interface Started {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** As `ProcessRequest.started` gets it; undefined where it is not a process of this machine's. */
  readonly pid?: number;
  readonly exited: Promise<Exit>;
  /** Asks it to end, and waits for that; milliseconds at most. */
  end(graceMs: number): Promise<void>;
  /** Ends it and all that it started, at once. Called more than once, also after its end. Never rejects. */
  sweep(): Promise<void>;
  /** Forgets the process: our own exit no longer has to end it. */
  release(): void;
}

/** Never rejects: what goes wrong is the answer. */
export type Start = (
  request: ProcessRequest,
) => Promise<Started | { readonly startError: NonNullable<ProcessEnd["startError"]> }>;

/** Starts a program on this machine. */
export const startChild: Start = async ({ command, args, cwd, env, isHook, descriptors }) => {
  // A command of the user, which may go on although this process was killed.
  const mark = isHook === true ? randomUUID() : nextMark();
  const options = {
    cwd,
    env: { ...env, [marker]: mark, [hookMark]: isHook && "1" },
    extendEnv: false,
    detached: true,
    buffer: false,
    reject: false,
  } as const;
  let more: ReturnType<typeof openDescriptors> | undefined;
  try {
    more = descriptors && openDescriptors(descriptors);
    const child = execa(command, args, {
      ...options,
      stdio: ["pipe", "pipe", "pipe", ...((more?.stdio ?? []) as "ignore"[])],
    });
    const { pid } = child;
    if (pid === undefined) {
      const { code, originalMessage, shortMessage } = await child;
      return { startError: { code, message: originalMessage ?? shortMessage ?? "it could not be started" } };
    }
    const exited = new Promise<Exit>((resolve) => {
      child.once("exit", (code, name) => resolve({ exitCode: code ?? undefined, signal: name ?? undefined }));
    });
    const release = endWithUs(pid);
    const { stdin, stdout, stderr } = child;
    return {
      stdin,
      stdout,
      stderr,
      exited,
      pid,
      // TERM to the group, a grace, KILL to the group, then to whatever left the group.
      end: (graceMs) => terminateGroup(pid, graceMs),
      async sweep() {
        signal(-pid, "SIGKILL");
        await killDescendants(mark);
      },
      release,
    };
  } catch (error) {
    return { startError: { message: messageOf(error) } };
  } finally {
    more?.close();
  }
};

/** What a child is started with at the descriptors from 3 on. */
function openDescriptors(wanted: ReadonlyMap<number, Uint8Array | "nothing">) {
  const opened = new Map(
    [...wanted].map(([at, what]) => [at, what === "nothing" ? openSync("/dev/null", "r+") : fileOf(what)]),
  );
  // Of what is not named the child gets what it inherits.
  const stdio = Array.from(
    { length: Math.max(2, ...wanted.keys()) - 2 },
    (_, index) => opened.get(index + 3) ?? "ignore",
  );
  return { stdio, close: () => opened.forEach((file) => closeSync(file)) };
}

/** An open file without a name. A pipe would have the child wait for us. */
function fileOf(bytes: Uint8Array): number {
  const path = join(temporaryRoot(), `rr-${randomUUID()}`);
  writeFileSync(path, bytes, { flag: "wx", mode: 0o600 });
  try {
    return openSync(path, "r");
  } finally {
    unlinkSync(path);
  }
}

/** SIGTERM, then at most `graceMs` until nobody of the group is left. */
export async function terminateGroup(pid: number, graceMs: number): Promise<void> {
  signal(-pid, "SIGTERM");
  const until = performance.now() + graceMs;
  while (performance.now() < until && groupAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 25));
}

/** Waits until all of a stream is read, `ms` milliseconds at most where somebody holds it open. */
async function endOf(stream: Readable, ms: number): Promise<void> {
  if (stream.readableEnded || stream.destroyed) return;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), Math.max(0, ms));
  await finished(stream, { signal: limit.signal, writable: false }).catch(() => undefined);
  clearTimeout(timer);
}

/** The chunks of a stream that may be destroyed while it is read. */
async function* untilClosed(stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>;
  } catch {
    // Destroyed by us; what came before has been read.
  }
}

interface Tail {
  push(chunk: Buffer): void;
  text(): string;
}

/** Keeps the last `maxBytes` bytes of a stream, for error messages. */
function keepTail(maxBytes: number): Tail {
  let chunks: Buffer[] = [];
  let size = 0;
  return {
    push(chunk) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > 4 * maxBytes) {
        const last = Buffer.concat(chunks).subarray(-maxBytes);
        chunks = [Buffer.from(last)];
        size = last.length;
      }
    },
    text: () => Buffer.concat(chunks).subarray(-maxBytes).toString("utf8"),
  };
}
