import { randomUUID } from "node:crypto";
import { closeSync, openSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import { execa } from "execa";
import {
  killGroupOnExit,
  isGroupAlive,
  hookMarkVariable,
  killDescendants,
  markVariable,
  nextMark,
  sendSignal,
} from "./descendants.js";
import { startStopwatch, systemClock } from "../lib/clock.js";
import { messageOf } from "../lib/errors.js";
import { splitLines } from "./lines.js";
import type { Redact } from "../lib/redact.js";
import { openTranscript } from "./transcript.js";
import { temporaryRoot } from "../lib/layout.js";
import type { ProcessAccess } from "./access.js";

const maxLineBytes = 8 * 1024 * 1024;
const maxStderrBytes = 16 * 1024;
const maxTranscriptBytes = 32 * 1024 * 1024;

/** A program to run. Times are in milliseconds. */
export interface ProcessRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment; no other variables are inherited. */
  readonly env: NodeJS.ProcessEnv;
  /** Set for a hook. Other programs do not inherit the hook mark, even if a hook starts them. */
  readonly isHook?: true;
  readonly stdin: string;
  /** Maximum wall time. */
  readonly timeoutMs: number;
  /** Maximum time without output on stdout and stderr; 0: no limit. */
  readonly idleMs: number;
  /** Whether the program has reported that it is done; it is then ended after `settleMs` without output. */
  readonly isFinished: () => boolean;
  readonly signal: AbortSignal;
  /** Path of a file for the raw stdout, at most 32 MB. */
  readonly transcript?: string;
  /** Removes secrets from the transcript. */
  readonly redact?: Redact;
  /** Time between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
  /** Time to read on after the program has ended, if another process still holds the pipe open. */
  readonly pipeMs?: number;
  readonly settleMs?: number;
  /**
   * Yields stdout as chunks of text, including line ends, instead of line by line. A line costs a microsecond, so
   * 300 MB of short lines would take minutes.
   */
  readonly isChunked?: true;
  /** The program's file descriptors from 3 on, by number: bytes that it can read once, or "nothing" for /dev/null. */
  readonly descriptors?: ReadonlyMap<number, Uint8Array | "nothing">;
  /** Files and hosts that the program needs; a sandbox allows only these. Absent: only the system's programs. */
  readonly access?: ProcessAccess;
  /** Called with the pid, which is also the id of the process group, as soon as the program runs. */
  readonly onStart?: (pid: number) => void;
}

/** How a process ended: by itself, or why this program ended it. */
export interface ProcessEnd {
  /**
   * `settled`: it reported that it was done but did not exit, so it was ended. `resources`: it used more memory, disk
   * or processes than the sandbox allows.
   */
  readonly cause: "exited" | "timeout" | "idle" | "aborted" | "settled" | "not-started" | "resources";
  readonly exitCode?: number;
  readonly signal?: string;
  /** Why it could not be started: a code such as ENOENT and a message. */
  readonly startError?: { readonly code?: string; readonly message: string };
  /** The exceeded resource, for the cause `resources`. */
  readonly resource?: string;
  /** The last 16 KB of stderr. */
  readonly stderr: string;
  /** Why the transcript is incomplete. */
  readonly transcriptProblem?: string;
  /** Sentences for a person about the sandbox, such as refused hosts. */
  readonly notices?: readonly string[];
}

/**
 * Runs a program, on this machine or in a sandbox, and yields its stdout line by line. `runProcess` is the version for
 * this machine.
 */
export type Exec = (request: ProcessRequest) => AsyncGenerator<string, ProcessEnd>;

/**
 * Runs a program in its own process group and yields its stdout, line by line or in chunks, with bounded memory and
 * backpressure. Returns how it ended; never throws because of what the program does. After the end of the generator,
 * also after an early `return`, no process of the group runs, and on Linux no descendant that left the group.
 */
export const runProcess: Exec = (request) => runProgram(request, startChild);

/** Like `runProcess`, but starts the program with `start`. */
export async function* runProgram(request: ProcessRequest, start: StartProgram): AsyncGenerator<string, ProcessEnd> {
  const { graceMs = 3000, pipeMs = 2000, settleMs = 15_000 } = request;
  if (request.signal.aborted) return { cause: "aborted", stderr: "" };
  // Opened before the start, because Node discards the output of a child that exits before anybody reads it.
  const transcript = openTranscript(request.transcript, maxTranscriptBytes, request.redact);
  const program = await start(request);
  if ("startError" in program) {
    transcript.close();
    return { cause: "not-started", startError: program.startError, stderr: "" };
  }
  const { stdin, stdout, stderr, pid, exit, killAll } = program;

  const clock = startStopwatch(systemClock);
  let lastOutputAt = 0;
  let isWaitingForProgram = true; // false while the caller processes the output
  let cause: ProcessEnd["cause"] = "exited";
  let exitResult: Exit | undefined;
  let exitAt = Infinity;
  void exit.then((exitOfProgram) => {
    exitResult = exitOfProgram;
    exitAt = clock.awakeMs();
  });

  let endPromise: Promise<void> | undefined;
  /** Sends SIGTERM, and after the grace period kills the program and its descendants. Runs only once. */
  const endProgram = (endCause: ProcessEnd["cause"]): Promise<void> => {
    if (endPromise === undefined && exitResult === undefined) cause = endCause;
    return (endPromise ??= program.end(graceMs).then(killAll));
  };
  const onAbort = (): void => void endProgram("aborted");
  request.signal.addEventListener("abort", onAbort);

  let pipeKill: Promise<void> | undefined;
  const watchTimer = setInterval(() => {
    const now = clock.awakeMs();
    const silence = isWaitingForProgram ? now - lastOutputAt : 0;
    if (now >= request.timeoutMs) void endProgram("timeout");
    else if (request.isFinished() && silence >= settleMs) void endProgram("settled");
    else if (request.idleMs > 0 && silence >= request.idleMs) void endProgram("idle");
    // Another process holds the pipe of the ended program: kill the descendants that can be found, then stop reading.
    if (now - exitAt >= pipeMs) pipeKill ??= killAll();
    if (now - exitAt >= 2 * pipeMs && (silence >= pipeMs || endPromise !== undefined)) stdout.destroy();
  }, 50);

  const tail = keepTail(maxStderrBytes);
  stderr.on("data", (chunk: Buffer) => {
    lastOutputAt = clock.awakeMs();
    tail.push(chunk);
  });
  // A program may end without reading its stdin (EPIPE); its exit code says enough.
  for (const stream of [stdin, stdout, stderr]) stream.on("error", () => {});

  let transcriptProblem: string | undefined;
  let isOutputRead = false;
  const lines = request.isChunked === true ? chunksOfText() : splitLines(maxLineBytes);
  try {
    if (pid !== undefined) request.onStart?.(pid);
    stdin.end(request.stdin);
    for await (const chunk of untilClosed(stdout)) {
      isWaitingForProgram = false;
      transcript.write(chunk);
      for (const line of lines.push(chunk)) yield line;
      isWaitingForProgram = true;
      lastOutputAt = clock.awakeMs();
    }
    for (const line of lines.end()) yield line;
    await exit;
    isOutputRead = true;
  } finally {
    if (exitResult === undefined) void endProgram("aborted");
    await endPromise;
    await exit;
    await pipeKill;
    await killAll();
    // The process may end before all of its stderr is read, which may contain the reason of a failure.
    if (isOutputRead) await readToEnd(stderr, exitAt + pipeMs - clock.awakeMs());
    clearInterval(watchTimer);
    clock.stop();
    request.signal.removeEventListener("abort", onAbort);
    program.release();
    stdout.destroy();
    stderr.destroy();
    transcriptProblem = transcript.close();
  }
  return { cause, ...exitResult, stderr: tail.text(), transcriptProblem };
}

/** Has the interface of `splitLines`, but returns each chunk as text without splitting it. */
function chunksOfText(): ReturnType<typeof splitLines> {
  const decoder = new StringDecoder("utf8");
  const withoutEmptyText = (text: string): string[] => (text === "" ? [] : [text]);
  return { push: (chunk) => withoutEmptyText(decoder.write(chunk)), end: () => withoutEmptyText(decoder.end()) };
}

type Exit = Pick<ProcessEnd, "exitCode" | "signal">;

/** A running program, on this machine or in a sandbox. */
export interface RunningProgram {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The pid for `ProcessRequest.onStart`; undefined if it is not a process of this machine. */
  readonly pid?: number;
  readonly exit: Promise<Exit>;
  /** Sends SIGTERM, and waits at most `graceMs` milliseconds. */
  end(graceMs: number): Promise<void>;
  /** Kills the program and all its descendants. May be called several times, also after the end. Never rejects. */
  killAll(): Promise<void>;
  /** After this call, the exit of this process does not kill the program. */
  release(): void;
}

/** Starts a program. Never rejects: an error is returned as `startError`. */
export type StartProgram = (
  request: ProcessRequest,
) => Promise<RunningProgram | { readonly startError: NonNullable<ProcessEnd["startError"]> }>;

/** Starts a program on this machine. */
export const startChild: StartProgram = async ({ command, args, cwd, env, isHook, descriptors }) => {
  // A hook gets a mark without `ownMarkPrefix`: it is a person's command, which may continue if this process is killed.
  const mark = isHook === true ? randomUUID() : nextMark();
  const options = {
    cwd,
    env: { ...env, [markVariable]: mark, [hookMarkVariable]: isHook && "1" },
    extendEnv: false,
    detached: true,
    buffer: false,
    reject: false,
  } as const;
  let openedDescriptors: ReturnType<typeof openDescriptors> | undefined;
  try {
    openedDescriptors = descriptors && openDescriptors(descriptors);
    const child = execa(command, args, {
      ...options,
      stdio: ["pipe", "pipe", "pipe", ...((openedDescriptors?.stdio ?? []) as "ignore"[])],
    });
    const { pid } = child;
    if (pid === undefined) {
      const { code, originalMessage, shortMessage } = await child;
      return { startError: { code, message: originalMessage ?? shortMessage ?? "it could not be started" } };
    }
    const exit = new Promise<Exit>((resolve) => {
      child.once("exit", (code, name) => resolve({ exitCode: code ?? undefined, signal: name ?? undefined }));
    });
    const release = killGroupOnExit(pid);
    const { stdin, stdout, stderr } = child;
    return {
      stdin,
      stdout,
      stderr,
      exit,
      pid,
      // SIGTERM to the group, after a grace period SIGKILL to the group, then to descendants outside the group.
      end: (graceMs) => terminateGroup(pid, graceMs),
      async killAll() {
        sendSignal(-pid, "SIGKILL");
        await killDescendants(mark);
      },
      release,
    };
  } catch (error) {
    return { startError: { message: messageOf(error) } };
  } finally {
    openedDescriptors?.close();
  }
};

/** Opens the files for the file descriptors of a child from number 3. */
function openDescriptors(descriptors: ReadonlyMap<number, Uint8Array | "nothing">) {
  const files = new Map(
    [...descriptors].map(([descriptor, content]) => [
      descriptor,
      content === "nothing" ? openSync("/dev/null", "r+") : openFileWith(content),
    ]),
  );
  // Descriptors that are not in the map are inherited.
  const stdio = Array.from(
    { length: Math.max(2, ...descriptors.keys()) - 2 },
    (_, index) => files.get(index + 3) ?? "ignore",
  );
  return { stdio, close: () => files.forEach((file) => closeSync(file)) };
}

/** Opens a file with these bytes and removes its name. With a pipe, the child would have to wait for this process. */
function openFileWith(bytes: Uint8Array): number {
  const path = join(temporaryRoot(), `rr-${randomUUID()}`);
  writeFileSync(path, bytes, { flag: "wx", mode: 0o600 });
  try {
    return openSync(path, "r");
  } finally {
    unlinkSync(path);
  }
}

/** Sends SIGTERM to a process group, and waits at most `graceMs` milliseconds until all its processes have ended. */
export async function terminateGroup(pid: number, graceMs: number): Promise<void> {
  sendSignal(-pid, "SIGTERM");
  const deadline = performance.now() + graceMs;
  while (performance.now() < deadline && isGroupAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 25));
}

/** Waits until a stream is read to its end, at most `maxMs` milliseconds if another process holds it open. */
async function readToEnd(stream: Readable, maxMs: number): Promise<void> {
  if (stream.readableEnded || stream.destroyed) return;
  const timeoutController = new AbortController();
  const timer = setTimeout(() => timeoutController.abort(), Math.max(0, maxMs));
  await finished(stream, { signal: timeoutController.signal, writable: false }).catch(() => undefined);
  clearTimeout(timer);
}

/** The chunks of a stream that may be destroyed while it is read. */
async function* untilClosed(stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>;
  } catch {
    // This process destroyed the stream; the chunks before that were read.
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
        const lastBytes = Buffer.concat(chunks).subarray(-maxBytes);
        chunks = [Buffer.from(lastBytes)];
        size = lastBytes.length;
      }
    },
    text: () => Buffer.concat(chunks).subarray(-maxBytes).toString("utf8"),
  };
}
