import { Session } from "node:inspector/promises";

/**
 * Counts the work of a function: how often each block of JavaScript was carried out, by V8's own coverage, packages
 * included, and the characters that string methods and regular expressions were given. What a regular expression does
 * within is counted by `stepsOf`.
 */
export async function countWork(work: () => unknown): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    await session.post("Profiler.takePreciseCoverage");
    await work();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    let blocks = 0;
    for (const { functions } of result)
      for (const { ranges } of functions) for (const { count } of ranges) blocks += count;
    return blocks;
  } finally {
    await session.post("Profiler.stopPreciseCoverage").catch(() => undefined);
    session.disconnect();
  }
}
