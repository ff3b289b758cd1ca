import { Worker } from "node:worker_threads";
import { messageOf } from "../lib/errors.js";
import { maxStepSeconds, memoryNotice, stepNotice, type TaskAnswer, type TaskRequest } from "./task-process.js";

/**
 * Code of a thread that watches the task process. A thread, because an endless loop stops all timers of the process,
 * and because V8's heap limit does not count buffers. It kills the process if it exceeds its memory limit, if a step
 * takes too long, or if its parent has ended.
 */
const watchThreadCode = `
const { writeSync } = require("node:fs");
const { workerData } = require("node:worker_threads");
const { cells, places, parent, maxStep, memoryNotice, stepNotice } = workerData;
let [step, since] = [0, 0];
setInterval(() => {
  const { user, system } = process.cpuUsage();
  const now = Atomics.load(cells, places.step);
  if (now !== step) [step, since] = [now, user + system];
  const isFull = process.memoryUsage.rss() > Atomics.load(cells, places.memory) * 1024 * 1024;
  const isLong = Atomics.load(cells, places.isStepping) === 1 && user + system - since > maxStep * 1e6;
  if (isFull) writeSync(2, memoryNotice);
  else if (isLong) writeSync(2, stepNotice);
  if (isFull || isLong || process.ppid !== parent) process.kill(process.pid, "SIGKILL");
}, 20);
`;

/** Positions in `cells`: the number of steps begun, whether a step is running, and the memory limit in MB. */
const places = { step: 0, isStepping: 1, memory: 2 };
const cells = new Int32Array(new SharedArrayBuffer(12));

/**
 * Tells the watch thread that a new step of a task begins, such as a page. From the first step to the end of the task,
 * no step may take more than `maxStep` CPU seconds. Outside a task process this does nothing.
 */
export function beginStep(): void {
  Atomics.add(cells, places.step, 1);
  Atomics.store(cells, places.isStepping, 1);
}

/**
 * The child's side of `openTaskProcess`: runs the tasks that the parent sends, one at a time, until the parent ends.
 * `step`: maximum CPU time of a step in seconds.
 */
export function serveTasks(
  tasks: Readonly<Record<string, (...args: never[]) => unknown>>,
  { step = maxStepSeconds }: { readonly step?: number } = {},
): void {
  const [maxMemory = 0, parent] = process.argv.slice(2).map(Number);
  Atomics.store(cells, places.memory, Math.ceil(maxMemory / 1024 / 1024));
  new Worker(watchThreadCode, {
    eval: true,
    workerData: { cells, places, parent, maxStep: step, memoryNotice, stepNotice },
  }).unref();
  process.on("disconnect", () => process.exit());
  process.on("message", ({ id, task, args, memory = maxMemory }: TaskRequest) => {
    const limit = Math.min(maxMemory, process.memoryUsage.rss() + memory);
    Atomics.store(cells, places.memory, Math.ceil(limit / 1024 / 1024));
    void runTask(tasks[task], task, args).then((answer) => {
      Atomics.store(cells, places.isStepping, 0);
      process.send?.({ id, rss: process.memoryUsage.rss(), ...answer } satisfies TaskAnswer);
    });
  });
}

async function runTask(
  task: ((...args: never[]) => unknown) | undefined,
  name: string,
  args: readonly unknown[],
): Promise<{ readonly value: unknown } | { readonly error: string }> {
  if (task === undefined) return { error: `There is no task ${name}.` };
  try {
    return { value: await task(...(args as never[])) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}
