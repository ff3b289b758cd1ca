import { spawn } from "node:child_process";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findBubblewrap } from "../../../src/engine/sandbox/bubblewrap.js";
import { isValid } from "../../../src/engine/storage/schema-check.js";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { TaskState } from "../../../src/task/generated/ralph-state.js";
import { sharedPackage } from "../../support/processes/built.js";
import { killedOrFinished, killProcesses } from "../../support/processes/kill-processes.js";

/** Attempts that the task needs: each makes one file more. */
const files = 8;
const criteria = Array.from({ length: files }, (_, index) => ({ type: "file_exists", path: `${index + 1}.txt` }));

/** Numbers that are the same in every run of the test. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const linesOf = (folder: string): LedgerLine[] => {
  const path = join(folder, ".ralph/ledger.jsonl");
  if (!existsSync(path)) return [];
  const whole = readFileSync(path, "utf8");
  // A torn last line is mended by the next start.
  return whole
    .slice(0, whole.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
};

/** Processes that were started for this folder. */
function processesOf(folder: string): string[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
      } catch {
        return false;
      }
    });
}

function prepare(): { folder: string; args: string[] } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "kills-")));
  execFileSync("git", ["init", "-q", folder]);
  const agent = join(folder, "agent.sh");
  writeFileSync(
    agent,
    `#!/bin/sh\ncat > /dev/null\nsleep 0.0$(( $$ % 10 ))\nn=$(ls [0-9]*.txt 2>/dev/null | wc -l)\n: > $(( n + 1 )).txt\necho done\n`,
  );
  chmodSync(agent, 0o755);
  writeFileSync(
    join(folder, "ralph.json"),
    JSON.stringify({ task: "Make them all", acceptance_criteria: criteria, max_iterations: 5_000 }),
  );
  return { folder, args: ["task", "--agent", "cmd:./agent.sh", "--json"] };
}

const start = async (folder: string, args: readonly string[]) => {
  const program = join(await sharedPackage(), "dist/cli.js");
  return spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: `${folder}-home`,
      XDG_STATE_HOME: join(folder, "..", `${folder.split("/").at(-1)}-state`),
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
};

async function killed(kills: number, sandbox: string): Promise<void> {
  const next = numbers(kills * 7 + sandbox.length);
  let done = 0;
  while (done < kills) {
    const { folder, args } = prepare();
    let counted = 0;
    for (let finished = false; !finished && done < kills;) {
      const child = await start(folder, [
        ...args,
        ...(sandbox === "host" ? ["--unconfined"] : []),
        "--sandbox",
        sandbox,
      ]);
      const timer = setTimeout(() => child.pid !== undefined && killProcesses([-child.pid]), 120 + next() * 1_800);
      const { how } = await killedOrFinished(child).finally(() => clearTimeout(timer));
      finished = how === "finished";
      if (!finished) done += 1;
      if (!existsSync(join(folder, "ralph.state.json"))) continue;
      const state: TaskState = JSON.parse(readFileSync(join(folder, "ralph.state.json"), "utf8"));
      expect(isValid("ralph-state", state)).toBe(true);
      const lines = linesOf(folder);
      const numbered = lines.map(({ iteration }) => iteration);
      expect(new Set(numbered).size).toBe(numbered.length);
      // The ledger is written after the state, so of one fold that was interrupted it may lack the line.
      expect(state.attempts.length - numbered.length).toBeGreaterThanOrEqual(0);
      expect(state.attempts.length - numbered.length).toBeLessThanOrEqual(1);
      expect(state.attempts.length).toBeGreaterThanOrEqual(counted);
      counted = state.attempts.length;
    }
    // Started once more, it comes to its end, and what it counts is what its ledger says.
    const last = await start(folder, [...args, ...(sandbox === "host" ? ["--unconfined"] : []), "--sandbox", sandbox]);
    expect((await killedOrFinished(last)).how).toBe("finished");
    const state: TaskState = JSON.parse(readFileSync(join(folder, "ralph.state.json"), "utf8"));
    expect(state).toMatchObject({ done: true, status: "success" });
    expect(state.attempts.map(({ iteration }) => iteration)).toEqual(linesOf(folder).map(({ iteration }) => iteration));
    expect(state.attempts.length).toBeLessThanOrEqual(files);
    expect(processesOf(folder)).toEqual([]);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** RR_TASK_KILLS=100 makes the whole campaign, three of five on the host. */
const most = Number(process.env["RR_TASK_KILLS"] ?? 40);
const onHost = Math.round(most * 0.6);

it.concurrent(
  `a task that is killed at any of ${onHost} instants on the host goes on with the right count`,
  () => killed(onHost, "host"),
  600_000,
);

const bubblewrap = await findBubblewrap(process.env);
it.skipIf("problem" in bubblewrap).concurrent(
  `a task that is killed at any of ${most - onHost} instants in bubblewrap goes on with the right count, and leaves no process`,
  () => killed(most - onHost, "bubblewrap"),
  600_000,
);
