import { type ChildProcess, fork } from "node:child_process";
import type { Readable } from "node:stream";
import { messageOf } from "../lib/errors.js";
import { signalChild } from "./descendants.js";

/** The end of a task. Only `ok` and `failed` come from the task itself. */
export type TaskEnd<Value> =
  | { readonly status: "ok"; readonly value: Value }
  /** The task threw an error with this message. */
  | { readonly status: "failed"; readonly message: string }
  /** The process exceeded a limit or crashed during the task. */
  | { readonly status: "cut"; readonly limit: "time" | "step" | "memory" | "crash" }
  | { readonly status: "aborted" }
  /** The process could not be started; the task did not run. */
  | { readonly status: "not-started"; readonly message: string };

interface TaskProcessOptions {
  /**
   * Returns the path of the JavaScript file of a program that calls `serveTasks`. Called before each start of the
   * process.
   */
  readonly program: () => string | Promise<string>;
  /** Maximum resident memory in bytes, including buffers; above it, the process is killed. */
  readonly maxMemoryBytes: number;
}

export interface TaskOptions {
  /** Maximum wall time of the task in milliseconds, without the time before its turn. */
  readonly maxMs: number;
  /**
   * Bytes that the task may use in addition to the memory that the process already uses. The limit of the process
   * applies too; if this field is absent, only that limit applies.
   */
  readonly memoryBytes?: number;
  readonly signal?: AbortSignal;
}

/** A child process that runs tasks one after another, with limits. */
export interface TaskProcess {
  /** Runs a task by its name. Never throws for errors of the task or the process. */
  run<Value>(task: string, args: readonly unknown[], options: TaskOptions): Promise<TaskEnd<Value>>;
  /** Ends the process; the next task starts a new one. */
  close(): void;
}

/** The message to the child. */
export interface TaskRequest {
  readonly id: number;
  readonly task: string;
  readonly args: readonly unknown[];
  readonly memoryBytes?: number;
}
export type TaskAnswer = { readonly id: number; readonly rss: number } & (
  | { readonly value: unknown }
  | { readonly error: string }
);

/**
 * Maximum CPU time of one step of a task in seconds, such as a page of a document, if the task reports its steps. A map
 * or plot with 800,000 lines takes five seconds on a usual machine.
 */
export const maxStepSeconds = 30;
/** The text on stderr before the child kills itself because of a step that takes too long. */
export const stepNotice = "over the time of a step";
/**
 * The text on stderr before the child kills itself because of its memory. V8 writes `heapNotice` when its heap is full.
 */
export const memoryNotice = "over the memory limit";
const heapNotice = "heap out of memory";

/**
 * If a process uses more than this share of its memory limit after a task, it is replaced, so that the next task has
 * enough memory.
 */
const maxLeftoverShare = 0.4;
/** V8's heap limit as a share of the memory limit; a full heap can then be distinguished from a crash. */
const heapShare = 0.7;
const maxStderrBytes = 8 * 1024;

interface Child {
  readonly process: ChildProcess;
  stderr: string;
  readonly exit: Promise<void>;
  kill(): void;
}

/**
 * Creates a child process for work on untrusted data: an endless loop, unlimited memory or a crash ends only one task.
 * The process starts with the first task. It gets no environment variables with secrets, has its own process group, and
 * does not keep its parent running. It ends when its parent ends.
 */
export function openTaskProcess({ program, maxMemoryBytes }: TaskProcessOptions): TaskProcess {
  let child: Child | undefined;
  let lastTask: Promise<unknown> = Promise.resolve();
  let taskCount = 0;

  const dropChild = (target: Child | undefined): void => {
    target?.kill();
    if (child === target) child = undefined;
  };

  async function runInChild<Value>(
    task: string,
    args: readonly unknown[],
    options: TaskOptions,
  ): Promise<TaskEnd<Value>> {
    const { maxMs, memoryBytes, signal } = options;
    if (signal?.aborted === true) return { status: "aborted" };
    try {
      if (child === undefined || child.process.exitCode !== null || child.process.signalCode !== null)
        child = startChild(await program(), maxMemoryBytes);
    } catch (error) {
      return { status: "not-started", message: messageOf(error) };
    }
    const taskChild = child;
    const id = (taskCount += 1);
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
          if (answer.rss > maxLeftoverShare * maxMemoryBytes) dropChild(taskChild);
          resolve(
            "error" in answer
              ? { status: "failed", message: answer.error }
              : { status: "ok", value: answer.value as Value },
          );
        };
        taskChild.process.on("message", onMessage);
        onError = (error) => end({ status: "not-started", message: messageOf(error) });
        taskChild.process.once("error", onError);
        void taskChild.exit.then(() => {
          const isMemoryFull = taskChild.stderr.includes(memoryNotice) || taskChild.stderr.includes(heapNotice);
          const isStepTooLong = taskChild.stderr.includes(stepNotice);
          end({ status: "cut", limit: isMemoryFull ? "memory" : isStepTooLong ? "step" : "crash" });
        });
        // If sending fails, the end of the process reports it.
        const request: TaskRequest = { id, task, args, memoryBytes };
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
      // A task that waits for its turn is aborted at once.
      return await resultOrAbort<TaskEnd<Value>>(result, { status: "aborted" }, options.signal);
    },
    close: () => dropChild(child),
  };
}

/** The result of a promise, or `abortValue` as soon as the signal is aborted. */
async function resultOrAbort<Value>(
  result: Promise<Value>,
  abortValue: Value,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return await result;
  let onAbort = (): void => {};
  try {
    const abortPromise = new Promise<Value>((resolve) => (onAbort = () => resolve(abortValue)));
    signal.addEventListener("abort", onAbort);
    return await (signal.aborted ? abortValue : Promise.race([result, abortPromise]));
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * The environment variables of the child. They contain no keys: the data of a task may contain an attack that searches
 * for keys.
 */
const inheritedVariables = ["PATH", "TZ", "LANG", "TMPDIR", "SystemRoot"];

/**
 * V8's flags for a process with this memory limit in bytes. A larger young generation fits the short-lived objects of a
 * task, and collecting garbage on one thread takes less CPU time than on several; together they save a seventh of the
 * CPU time.
 */
export const flagsOf = (maxMemoryBytes: number): string[] => [
  `--max-old-space-size=${Math.floor((heapShare * maxMemoryBytes) / 1024 / 1024)}`,
  "--max-semi-space-size=64",
  "--min-semi-space-size=64",
  "--single-threaded-gc",
];

function startChild(program: string, maxMemoryBytes: number): Child {
  const env = Object.fromEntries(
    inheritedVariables.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  const childProcess = fork(program, [String(maxMemoryBytes), String(process.pid)], {
    env,
    detached: true,
    serialization: "advanced",
    execArgv: flagsOf(maxMemoryBytes),
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const onExit = (): void => signalChild(childProcess, "SIGKILL");
  process.once("exit", onExit);
  const taskChild: Child = {
    process: childProcess,
    stderr: "",
    // Not the event "exit", because output on stderr may come after it.
    exit: new Promise((resolve) => {
      childProcess.once("close", () => {
        process.off("exit", onExit);
        resolve();
      });
    }),
    kill: onExit,
  };
  childProcess.stderr
    ?.setEncoding("utf8")
    .on("data", (text: string) => (taskChild.stderr = (taskChild.stderr + text).slice(-maxStderrBytes)));
  childProcess.on("error", () => {});
  setKeepsAlive(childProcess, false);
  return taskChild;
}

/** Sets whether a child keeps this process running. An idle child must not. */
function setKeepsAlive(child: ChildProcess, keepsAlive: boolean): void {
  const stderr = child.stderr as (Readable & { ref?(): void; unref?(): void }) | null;
  for (const handle of [child, child.channel, stderr]) {
    if (keepsAlive) handle?.ref?.();
    else handle?.unref?.();
  }
}
