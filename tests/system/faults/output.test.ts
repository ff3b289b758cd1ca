import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { LoopEvent } from "../../../src/engine/loop/types.js";
import { useBuiltCli } from "./support/built.js";
import { expectNoTrace, expectWhole, type Place, until } from "./support/place.js";

const place = useBuiltCli();

const shell = (here: Place, command: string) =>
  spawnSync("/bin/sh", ["-c", command], { cwd: here.cwd, env: here.env, encoding: "utf8" });

const full = "research-ralph: There is no space left on the disk that stdout goes to; free some space and run again.\n";

test.skipIf(!existsSync("/dev/full"))(
  "stdout on a full disk is one sentence and exit code 1; a run ends after its iteration, and a later one completes it",
  async () => {
    const here = place();
    expect(shell(here, `${here.shellCommand("list")} > /dev/full`)).toMatchObject({ status: 1, stderr: full });
    expect(shell(here, `${here.shellCommand("run", "--agent", "baseline", "--json")} > /dev/full`)).toMatchObject({
      status: 129,
      stderr: full,
    });
    expect(here.ledger().length).toBeLessThanOrEqual(1);
    expect(here.left()).toEqual([]);
    expect((await here.cli(["run", "--agent", "baseline"])).code).toBe(0);
    expectWhole(here);
  },
);

test.skipIf(!existsSync("/dev/full")).each([["tools"], ["--help"], ["memory help"]])(
  "ralph %s with stdout on a full disk is one sentence and exit code 1 too",
  (words) => {
    const here = place();
    expect(shell(here, `${here.assistant} ${words} > /dev/full`)).toMatchObject({
      status: 1,
      stderr: full.replace("research-ralph", "ralph"),
    });
  },
);

test.skipIf(!existsSync("/dev/full"))("stderr on a full disk, as of a log, is no reason to end a run", () => {
  const here = place();
  expect(shell(here, `${here.shellCommand("run", "--agent", "baseline")} 2> /dev/full`)).toMatchObject({
    status: 0,
    stdout: "<promise>COMPLETE</promise>\n",
  });
  expectWhole(here);
});

test("with all three streams closed, as some schedulers start it, a run completes", () => {
  const here = place();
  const { status, stderr } = shell(here, `${here.shellCommand("run", "--agent", "baseline")} <&- >&- 2>&-`);
  expectNoTrace(stderr);
  expect(status).toBe(0);
  expectWhole(here);
});

/** Says so much in lines of so many characters, then goes on. */
const loud = (megabytes: number, width: number, then: string) =>
  `#!/bin/sh\nhead -c ${megabytes}000000 /dev/zero | tr '\\0' 'x' | fold -w ${width}\n${then}\n`;

test.each([
  ["a research", "nobody reads", 216, 1000, "run", `exec '${process.execPath}' "$FAULTS_BASELINE"`],
  ["a task", "nobody reads", 216, 1000, "task", "cat > /dev/null; : > a.txt"],
  ["a task", "is read slowly", 216, 400, "task", "cat > /dev/null; : > a.txt"],
] as const)(
  "--json of %s into a pipe that %s keeps %d MB of an agent's words out of memory, and loses nothing else",
  async (_, reader, megabytes, width, command, then) => {
    const here = place();
    const agent = join(here.top, "loud.sh");
    writeFileSync(agent, loud(megabytes, width, then), { mode: 0o755 });
    const folder = command === "task" ? join(here.top, "task") : here.cwd;
    mkdirSync(folder, { recursive: true });
    const criteria = [{ type: "file_exists", path: "a.txt" }];
    if (command === "task")
      writeFileSync(join(folder, "ralph.json"), JSON.stringify({ task: "x", acceptance_criteria: criteria }));
    const how = ["--agent", `cmd:${agent}`, "--unconfined", "--json", ...(command === "task" ? [] : ["-i", "1"])];
    const run = spawn(process.execPath, [join(here.env.FAULTS_BASELINE, "..", "cli.js"), command, ...how], {
      cwd: folder,
      env: here.env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const ended = once(run, "close");
    // The lock is given up once the run has ended; what it printed waits for a reader.
    const lock = join(command === "task" ? folder : here.research, ".ralph", "lock");
    await until(() => existsSync(lock));
    let read = "";
    let peak = 0;
    // A run whose output was read ends soon after its lock, so its peak is seen until then.
    const isOver = (): boolean => {
      const status = existsSync(`/proc/${run.pid}/status`) ? readFileSync(`/proc/${run.pid}/status`, "utf8") : "";
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1000);
      return !existsSync(lock);
    };
    while (!isOver() && reader === "is read slowly") {
      read += String(run.stdout.read() ?? "");
      await sleep(20);
    }
    await until(isOver);
    const lines = (read + (await text(run.stdout))).trim().split("\n");
    await ended;
    expect(peak).toBeGreaterThan(0);
    // A quiet run takes some 100 MB, and one that kept these words more than 300.
    expect(peak).toBeLessThan(200);
    const events = lines.map((line) => JSON.parse(line) as LoopEvent);
    const types = new Set(events.map(({ type }) => type));
    for (const type of ["run-started", "iteration-started", "iteration-ended", "run-ended"] as const)
      expect(types).toContain(type);
    const notices = events.flatMap((event) => (event.type === "notice" ? event.message : []));
    expect(notices.join("\n")).toMatch(/\d+ events of agents were left out here, because stdout was read too slowly\./);
    expect(here.left()).toEqual([]);
  },
);
