// Processor time of child processes, their own children included: other work on the machine does not count.
import { median, mustRun, rounds } from "./measure.mjs";

/** CPU seconds of a command, from its start to its end. `codes`: exit codes that are not a failure. */
export async function cpuOf(command, args, options = {}, codes = [0]) {
  // bash tells user and system time of all it waited for, in milliseconds, on a line of its own.
  const timed = `TIMEFORMAT='%U %S'; exec 3>&2; time "$@" 2>/dev/null`;
  const { stderr } = await mustRun("bash", ["-c", timed, "bash", command, ...args], options, codes);
  const [user, system] = stderr.trim().split("\n").at(-1).split(" ").map(Number);
  if (!Number.isFinite(user + system)) throw new Error(`bash did not say what ${command} took: ${stderr}`);
  return user + system;
}

/** Median CPU seconds of each of `tasks` over `times` rounds, one after the other in each round. */
export async function interleavedCpu(times, tasks) {
  const taken = tasks.map(() => []);
  for (let round = 0; round < rounds(times); round++)
    for (const [index, task] of tasks.entries()) taken[index].push(await task());
  return taken.map(median);
}

export const seconds = (value) => `${value.toFixed(2)} CPU s`;

/** What `work` answers, and the CPU milliseconds of this process until then. */
export async function cpuMs(work) {
  const before = process.cpuUsage();
  const value = await work();
  const { user, system } = process.cpuUsage(before);
  return { value, ms: (user + system) / 1000 };
}
