import { Worker } from "node:worker_threads";
import { messageOf } from "../lib/errors.js";
import { maxStepSeconds, memoryNotice, stepNotice, type TaskAnswer, type TaskRequest } from "./task-process.js";

/**
 * Code of a thread that watches the task process, because an endless loop stops all timers of the main thread, and
 * because V8's heap limit does not count buffers. The thread kills the process if the process exceeds its memory limit,
 * if a step takes too long, or if the parent process has ended.
 */
const watchThreadCode = `
const { writeSync } = require("node:fs");
const { workerData } = require("node:worker_threads");
const { cells, cellIndex, parent, maxStepCpuSeconds, memoryNotice, stepNotice } = workerData;
let [step, stepStart] = [0, 0];
setInterval(() => {
  const { user, system } = process.cpuUsage();
  const currentStep = Atomics.load(cells, cellIndex.step);
  if (currentStep !== step) [step, stepStart] = [currentStep, user + system];
  const isMemoryFull = process.memoryUsage.rss() > Atomics.load(cells, cellIndex.memory) * 1024 * 1024;
  const isStepTooLong = Atomics.load(cells, cellIndex.isStepping) === 1 && user + system - stepStart > maxStepCpuSeconds * 1e6;
  if (isMemoryFull) writeSync(2, memoryNotice);
  else if (isStepTooLong) writeSync(2, stepNotice);
  if (isMemoryFull || isStepTooLong || process.ppid !== parent) process.kill(process.pid, "SIGKILL");
}, 20);
`;

/** Positions in `cells`: the number of steps so far, whether a step is running, and the memory limit in MB. */
const cellIndex = { step: 0, isStepping: 1, memory: 2 };
const cells = new Int32Array(new SharedArrayBuffer(12));

/**
 * Tells the watch thread that a new step of a task begins, such as a page. From the first step to the end of the task,
 * no step may take more than `maxStepCpuSeconds`. Outside a task process this does nothing.
 */
export function beginStep(): void {
  Atomics.add(cells, cellIndex.step, 1);
  Atomics.store(cells, cellIndex.isStepping, 1);
}

/**
 * The child's side of `openTaskProcess`: runs the tasks that the parent sends, one at a time, until the parent ends.
 * `maxStepCpuSeconds`: maximum CPU time of a step.
 */
export function serveTasks(
  tasks: Readonly<Record<string, (...args: never[]) => unknown>>,
  { maxStepCpuSeconds = maxStepSeconds }: { readonly maxStepCpuSeconds?: number } = {},
): void {
  const [maxMemoryBytes = 0, parent] = process.argv.slice(2).map(Number);
  Atomics.store(cells, cellIndex.memory, Math.ceil(maxMemoryBytes / 1024 / 1024));
  new Worker(watchThreadCode, {
    eval: true,
    workerData: { cells, cellIndex, parent, maxStepCpuSeconds, memoryNotice, stepNotice },
  }).unref();
  process.on("disconnect", () => process.exit());
  process.on("message", ({ id, task, args, memoryBytes = maxMemoryBytes }: TaskRequest) => {
    const limitBytes = Math.min(maxMemoryBytes, process.memoryUsage.rss() + memoryBytes);
    Atomics.store(cells, cellIndex.memory, Math.ceil(limitBytes / 1024 / 1024));
    void runTask(tasks[task], task, args).then((answer) => {
      Atomics.store(cells, cellIndex.isStepping, 0);
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
