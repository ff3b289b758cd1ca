import { type ChildProcess, fork } from "node:child_process";
import type { Readable } from "node:stream";
import { messageOf } from "../lib/errors.js";
import { signalChild } from "./descendants.js";

/** How a task ended. Only `ok` and `failed` come from the task itself. */
export type TaskEnd<Value> =
  | { readonly status: "ok"; readonly value: Value }
  /** It threw; `message` is that of the error. */
  | { readonly status: "failed"; readonly message: string }
  /** The process was ended at a limit, or ended by itself, while the task ran. */
  | { readonly status: "cut"; readonly limit: "time" | "step" | "memory" | "crash" }
  | { readonly status: "aborted" }
  /** The process could not be started: this says nothing about the task. */
  | { readonly status: "not-started"; readonly message: string };

interface TaskProcessOptions {
  /**
   * Finds the JavaScript file of a program that calls `serveTasks`. Asked when the process is first needed, and at each
   * new start.
   */
  readonly program: () => string | Promise<string>;
  /** Bytes of resident memory, buffers included; above them the process is killed. */
  readonly maxMemory: number;
}

export interface TaskOptions {
  /** Wall time of the task alone, in milliseconds; the wait for its turn is not counted. */
  readonly maxMs: number;
  /** Bytes that the process may take for the task beyond what it has, within its own limit; by default all of that. */
  readonly memory?: number;
  readonly signal?: AbortSignal;
}

/** A child process that carries out tasks one after another, each within bounds. */
export interface TaskProcess {
  /** Carries out a task by its name. Never throws for what the task or the process does. */
  run<Value>(task: string, args: readonly unknown[], options: TaskOptions): Promise<TaskEnd<Value>>;
  /** Ends the process; a later task starts another. */
  close(): void;
}

/** What goes over the channel to the child, and what comes back. */
export interface TaskRequest {
  readonly id: number;
  readonly task: string;
  readonly args: readonly unknown[];
  readonly memory?: number;
}
export type TaskAnswer = { readonly id: number; readonly rss: number } & (
  | { readonly value: unknown }
  | { readonly error: string }
);

/**
 * CPU seconds that one step of a task may take, such as a page of a document, where the task tells its steps. A map or
 * plot of 800,000 lines takes five on a usual machine.
 */
export const maxStep = 30;
/** What the child writes on stderr before it kills itself for a step that takes too long. */
export const stepNotice = "over the time of a step";
/** What the child writes on stderr before it kills itself for its memory; V8 writes the other when its heap is full. */
export const memoryNotice = "over the memory limit";
const heapNotice = "heap out of memory";

/**
 * A process that keeps more than this share of its limit after a task is replaced, so that one task does not pay for
 * another.
 */
const maxLeftover = 0.4;
/** V8's own heap, as a share of the limit: what does not fit into it is told apart from a crash. */
const heapShare = 0.7;
const stderrKept = 8 * 1024;

interface Child {
  readonly process: ChildProcess;
  stderr: string;
  readonly ended: Promise<void>;
  kill(): void;
}

/**
 * A child process for work on what strangers made: a loop without an end, a memory without a bound or a crash there
 * costs one task. Nothing is started before the first task. The process gets no environment variables that could hold a
 * secret, is in a process group of its own, and never keeps its parent from ending. When the parent ends, it ends.
 */
export function openTaskProcess({ program, maxMemory }: TaskProcessOptions): TaskProcess {
  let child: Child | undefined;
  let lastTask: Promise<unknown> = Promise.resolve();
  let count = 0;

  const dropChild = (target: Child | undefined): void => {
    target?.kill();
    if (child === target) child = undefined;
  };

  async function runInChild<Value>(
    task: string,
    args: readonly unknown[],
    options: TaskOptions,
  ): Promise<TaskEnd<Value>> {
    const { maxMs, memory, signal } = options;
    if (signal?.aborted === true) return { status: "aborted" };
    try {
      if (child === undefined || child.process.exitCode !== null || child.process.signalCode !== null)
        child = start(await program(), maxMemory);
    } catch (error) {
      return { status: "not-started", message: messageOf(error) };
    }
    const taskChild = child;
    const id = (count += 1);
    setKeepsAlive(taskChild.process, true);
    let timer: NodeJS.Timeout | undefined;
    let onAbort: (() => void) | undefined;
    let onMessage: ((answer: TaskAnswer) => void) | undefined;
    let onError: ((error: Error) => void) | undefined;
    try {
      return await new Promise<TaskEnd<Value>>((resolve) => {
        const end = (taskEnd: TaskEnd<Value>): void => {
          dropChild(taskChild);
          resolve(taskEnd);
        };
        timer = setTimeout(() => end({ status: "cut", limit: "time" }), maxMs);
        onAbort = () => end({ status: "aborted" });
        signal?.addEventListener("abort", onAbort, { once: true });
        onMessage = (answer) => {
          if (answer.id !== id) return;
          if (answer.rss > maxLeftover * maxMemory) dropChild(taskChild);
          resolve(
            "error" in answer
              ? { status: "failed", message: answer.error }
              : { status: "ok", value: answer.value as Value },
          );
        };
        taskChild.process.on("message", onMessage);
        onError = (error) => end({ status: "not-started", message: messageOf(error) });
        taskChild.process.once("error", onError);
        void taskChild.ended.then(() => {
          const isFull = taskChild.stderr.includes(memoryNotice) || taskChild.stderr.includes(heapNotice);
          const isLong = taskChild.stderr.includes(stepNotice);
          end({ status: "cut", limit: isFull ? "memory" : isLong ? "step" : "crash" });
        });
        // An error of sending shows at the process's end.
        const request: TaskRequest = { id, task, args, memory };
        taskChild.process.send(request, () => {});
      });
    } finally {
      clearTimeout(timer);
      if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
      if (onMessage !== undefined) taskChild.process.off("message", onMessage);
      if (onError !== undefined) taskChild.process.off("error", onError);
      setKeepsAlive(taskChild.process, false);
    }
  }

  return {
    async run<Value>(task: string, args: readonly unknown[], options: TaskOptions): Promise<TaskEnd<Value>> {
      const result = lastTask.then(() => runInChild<Value>(task, args, options));
      lastTask = result.catch(() => undefined);
      // A task that waits for its turn is given up at once.
      return await unlessAborted<TaskEnd<Value>>(result, { status: "aborted" }, options.signal);
    },
    close: () => dropChild(child),
  };
}

/** What a promise gives, or `aborted` as soon as the signal is set. */
async function unlessAborted<Value>(
  result: Promise<Value>,
  aborted: Value,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return await result;
  let onAbort = (): void => {};
  try {
    const abortion = new Promise<Value>((resolve) => (onAbort = () => resolve(aborted)));
    signal.addEventListener("abort", onAbort);
    return await (signal.aborted ? aborted : Promise.race([result, abortion]));
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Not the keys of agents and services: what is read here may be made to look for them. */
const inheritedVariables = ["PATH", "TZ", "LANG", "TMPDIR", "SystemRoot"];

/**
 * V8's flags for a process of so many bytes. Short-lived objects of a task of some seconds fit into a larger young
 * generation, and to clear it away on several threads takes more CPU time than on one: together they save a seventh of
 * it.
 */
export const flagsOf = (maxMemory: number): string[] => [
  `--max-old-space-size=${Math.floor((heapShare * maxMemory) / 1024 / 1024)}`,
  "--max-semi-space-size=64",
  "--min-semi-space-size=64",
  "--single-threaded-gc",
];

function start(program: string, maxMemory: number): Child {
  const env = Object.fromEntries(
    inheritedVariables.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  const childProcess = fork(program, [String(maxMemory), String(process.pid)], {
    env,
    detached: true,
    serialization: "advanced",
    execArgv: flagsOf(maxMemory),
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const onExit = (): void => signalChild(childProcess, "SIGKILL");
  process.once("exit", onExit);
  const taskChild: Child = {
    process: childProcess,
    stderr: "",
    // Not "exit": what it said on stderr may come after it.
    ended: new Promise((resolve) => {
      childProcess.once("close", () => {
        process.off("exit", onExit);
        resolve();
      });
    }),
    kill: onExit,
  };
  childProcess.stderr
    ?.setEncoding("utf8")
    .on("data", (text: string) => (taskChild.stderr = (taskChild.stderr + text).slice(-stderrKept)));
  childProcess.on("error", () => {});
  setKeepsAlive(childProcess, false);
  return taskChild;
}

/** Whether a child keeps this process running. An idle one must not. */
function setKeepsAlive(child: ChildProcess, keepsAlive: boolean): void {
  const stderr = child.stderr as (Readable & { ref?(): void; unref?(): void }) | null;
  for (const each of [child, child.channel, stderr]) {
    if (keepsAlive) each?.ref?.();
    else each?.unref?.();
  }
}
