import { Worker } from "node:worker_threads";
import { messageOf } from "../lib/errors.js";
import { memoryNotice, type TaskAnswer, type TaskRequest } from "./task-process.js";

/**
 * The watch of a task process: a thread, since a loop without an end stops every timer of the process itself, and a
 * limit of V8's heap does not count buffers. It kills the process above its limit, and when its parent is gone.
 */
const watch = `
const { writeSync } = require("node:fs");
const { workerData } = require("node:worker_threads");
setInterval(() => {
  const isFull = process.memoryUsage.rss() > workerData.maxMemory;
  if (isFull) writeSync(2, workerData.notice);
  if (isFull || process.ppid !== workerData.parent) process.kill(process.pid, "SIGKILL");
}, 20);
`;

/**
 * The child's side of `openTaskProcess`: carries out the tasks that the parent names, one at a time, until the parent
 * is gone.
 */
export function serveTasks(tasks: Readonly<Record<string, (...args: never[]) => unknown>>): void {
  const [maxMemory, parent] = process.argv.slice(2).map(Number);
  new Worker(watch, { eval: true, workerData: { maxMemory, parent, notice: memoryNotice } }).unref();
  process.on("disconnect", () => process.exit());
  process.on("message", ({ id, task, args }: TaskRequest) => {
    void carryOut(tasks[task], task, args).then((answer) => {
      process.send?.({ id, rss: process.memoryUsage.rss(), ...answer } satisfies TaskAnswer);
    });
  });
}

async function carryOut(
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
