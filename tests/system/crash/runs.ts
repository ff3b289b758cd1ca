import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { LoopEvent } from "../../../src/engine/loop/types.js";
import { killProcesses } from "../../support/processes/kill-processes.js";
import type { World } from "./world.js";

/** What one run of the command line said, and how it ended. */
export interface RunEnd {
  readonly events: readonly LoopEvent[];
  readonly stderr: string;
  /** Undefined where it was killed. */
  readonly code?: number;
  /** Milliseconds from its start to its first iteration; undefined where it was not reached. */
  readonly readyMs?: number;
}

export interface Kill {
  /** Milliseconds after its start, or after it has begun its first iteration and ended so many more. */
  readonly delayMs: number;
  readonly ended?: number;
  /** Kill git as well. It runs in a group of its own, which the kill of the run's group leaves alone. */
  readonly gitToo: boolean;
}

/** Runs the research to the end, or until the kill: SIGKILL to the run's whole process group. */
export async function startRun(cli: string, world: World, kill?: Kill): Promise<RunEnd> {
  const begun = performance.now();
  const child = spawn(process.execPath, [cli, ...world.args], {
    cwd: world.root,
    env: world.env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${cli} did not start`);
  let [stdout, stderr] = ["", ""];
  let readyMs: number | undefined;
  const reached = new Promise<void>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (!stdout.includes('"type":"iteration-started"')) return;
      readyMs ??= performance.now() - begun;
      if (stdout.split('"type":"iteration-ended"').length > (kill?.ended ?? 0)) resolve();
    });
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const closed = once(child, "close") as Promise<[number | null]>;

  if (kill !== undefined) {
    if (kill.ended !== undefined) await Promise.race([reached, closed]);
    await Promise.race([sleep(kill.delayMs), closed]);
    if (child.exitCode === null && child.signalCode === null) {
      process.kill(-pid, "SIGKILL");
      if (kill.gitToo) killProcesses(gitProcessesIn(world.root));
    }
  }
  const [code] = await closed;
  const whole = stdout.slice(0, stdout.lastIndexOf("\n") + 1);
  const events = whole
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LoopEvent);
  return { events, stderr, ...(code === null ? {} : { code }), ...(readyMs === undefined ? {} : { readyMs }) };
}

/** Processes of git that work in this world, and nobody else's: known by the folder they run in. */
export function gitProcessesIn(root: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return (
          Number.isInteger(pid) &&
          readFileSync(`/proc/${pid}/comm`, "utf8") === "git\n" &&
          readlinkSync(`/proc/${pid}/cwd`).startsWith(root)
        );
      } catch {
        return false; // it has ended
      }
    });
}

/** Waits until no git of this world runs any more: one that was left alone finishes its commit. */
export async function gitIsIdle(root: string): Promise<void> {
  while (gitProcessesIn(root).length > 0) await sleep(10);
}
