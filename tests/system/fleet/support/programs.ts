import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { generateKeyPairSync } from "node:crypto";
import { fleetKeyFile } from "../../../../src/engine/lib/layout.js";
import { packageFile } from "../../../../src/engine/lib/package-root.js";
import type { RedisServer } from "../../../support/network/redis.js";
import { run as runBuilt } from "../../../support/processes/built.js";
import { compileEntries } from "../../../support/processes/compiled.js";
import { fresh, until } from "./rig.js";

/** The built program with short times; answers with its file. */
export async function quickProgram(): Promise<string> {
  const folder = fresh("rr-quick-");
  const out = await compileEntries(folder, {
    cli: "tests/system/fleet/support/quick-cli.ts",
    "baseline-agent": "tests/system/fleet/support/quick-baseline.ts",
    reader: "src/research/full-text/reader-main.ts",
  });
  for (const name of ["demo", "prompt.md", "AGENTS.md", "CLAUDE.md"])
    symlinkSync(packageFile(name), join(folder, name));
  return join(out, "cli.js");
}

/** A program that was started. */
export interface Program {
  readonly child: ChildProcess;
  /** All that it printed so far on stdout and stderr. */
  said(): string;
  /** How it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

const key = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });

/** Makes this folder a home of the one user that all programs of a test are started by, on however many machines. */
export function homeOfUser(home: string): void {
  mkdirSync(dirname(fleetKeyFile(home)), { recursive: true });
  writeFileSync(fleetKeyFile(home), key, { mode: 0o600 });
}

/** Runs it to its end, in `cwd`, which is HOME too. */
export const run: typeof runBuilt = (command, args, cwd, env) => {
  homeOfUser(cwd);
  return runBuilt(command, args, cwd, env);
};

/** Starts it in `cwd`, which is HOME too. */
export function start(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Program {
  homeOfUser(cwd);
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: {
      PATH: process.env["PATH"],
      TMPDIR: process.env["TMPDIR"],
      HOME: cwd,
      RESEARCH_RALPH_TRUST: "true",
      RESEARCH_RALPH_CHECK: "false",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal }) as Awaited<Program["ended"]>);
  return { child, said: () => said, ended };
}

/** The environment in which a lock that is gone is soon missed; `more`: further times of the fleet, milliseconds. */
export const quickTimes = (more: Record<string, number> = {}): Record<string, string> => ({
  TEST_FLEET_TIMES: JSON.stringify({ stallCheckInterval: 500, ...more }),
});

/**
 * The locks of all jobs run out now. A lock that is short enough to be waited for runs out under a worker that lives,
 * too, where the machine is busy.
 */
export async function letLocksRunOut({ redis }: Pick<RedisServer, "redis">): Promise<void> {
  const locks = await redis.keys("rr:*:lock");
  if (locks.length > 0) await redis.del(...locks);
}

/** The arguments of a worker on this machine that offers an agent without confinement. */
export const offering = (agent: string, redis: string): string[] => [
  ...["worker", "--agent", agent, "--unconfined", "--sandbox", "host"],
  ...["--redis", redis],
];

/** Once a worker has said what it offers. */
export async function offered<Started extends Program>(worker: Started): Promise<Started> {
  await until(() => worker.said().includes("offers"));
  return worker;
}

/** Whether a run has said that an agent of a worker without confinement works on its first iteration. */
export const hasBegun = (project: Program): boolean => /#1 on \S+ \(unconfined\)/.test(project.said());

/** The processes of this machine whose environment or command line holds a text, this one aside. Linux. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .filter((pid) => {
      try {
        if (/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"))) return false;
        return ["environ", "cmdline"].some((name) => readFileSync(`/proc/${pid}/${name}`, "utf8").includes(text));
      } catch {
        return false;
      }
    });
}
