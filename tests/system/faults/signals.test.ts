import { execFileSync, spawn } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useBuiltCli } from "./support/built.js";
import { expectNoTrace, expectWhole, interruptOnce, lastWords, type Place, until } from "./support/place.js";

const place = useBuiltCli();

const isFree = ({ research }: Place): boolean => !existsSync(join(research, ".ralph", "lock"));

test("one SIGINT finishes the iteration and says so; the next run says what it goes on with, and completes it", async () => {
  const here = place();
  const run = await here.startWaiting();
  await interruptOnce(run, run.pid);
  here.go();
  const ended = await run.ended;
  expect({ code: ended.code, out: ended.out }).toEqual({ code: 130, out: "" });
  expect(lastWords(ended)).toBe("interrupted: Ended by Ctrl+C; nothing is lost; run again to continue.");
  expect(here.ledger().map(({ unit, outcome }) => `${unit} ${outcome}`)).toEqual(["discovery-1 accepted"]);
  expect(here.left()).toEqual([]);

  const again = await here.cli(["run", here.research, "--agent", "baseline"]);
  expect(again.err).toMatch(/^\S+ Continuing with iteration 2: 0 of 1 paper done\.$/m);
  expect(again).toMatchObject({ code: 0, out: "<promise>COMPLETE</promise>\n" });
  expectWhole(here);
});

test("two SIGINTs, as Ctrl+C pressed twice sends them to the whole group, end it at once with nothing left running", async () => {
  const here = place();
  const run = await here.startWaiting();
  await interruptOnce(run, -run.pid);
  process.kill(-run.pid, "SIGINT");
  const ended = await run.ended;
  // The agent waits for a word that nobody gives: only its end ends the run.
  expect(ended.code).toBe(130);
  expect(lastWords(ended)).toMatch(/^interrupted: Ended by Ctrl\+C; nothing is lost/);
  expect(here.left()).toEqual([]);
  expect(isFree(here)).toBe(true);
});

test.each([
  ["SIGTERM", 143, "SIGTERM"],
  ["SIGHUP", 129, "SIGHUP"],
  ["SIGQUIT", 143, "SIGTERM"],
  ["SIGUSR2", 143, "SIGTERM"],
] as const)(
  "%s ends the iteration at once, its exit code is %i, and the next run completes the research",
  async (signal, code, told) => {
    const here = place();
    const run = await here.startWaiting();
    process.kill(run.pid, signal);
    const ended = await run.ended;
    expect({ code: ended.code, out: ended.out }).toEqual({ code, out: "" });
    expect(lastWords(ended)).toBe(`interrupted: Ended by ${told}; nothing is lost; run again to continue.`);
    expect(here.left()).toEqual([]);
    expect(isFree(here)).toBe(true);
    expect((await here.cli(["run", here.research, "--agent", "baseline"])).code).toBe(0);
    expectWhole(here);
  },
);

test.skipIf(process.platform !== "linux")(
  "under nohup, whose mark is a stdin for writing only, SIGHUP does nothing, and SIGUSR1 opens no debugger",
  async () => {
    const here = place();
    const command = `exec ${here.shellCommand("run", here.research, "--agent", "slow")} 0> /dev/null`;
    const child = spawn("/bin/sh", ["-c", command], {
      cwd: here.cwd,
      env: { ...here.env, FAULTS_GATE: here.gate },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let err = "";
    child.stdout.resume();
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    await until(() => existsSync(join(here.gate, "started")));
    for (const name of ["SIGHUP", "SIGUSR1"] as const) child.kill(name);
    here.go();
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
    expect(err).not.toMatch(/debugger/i);
    expectWhole(here);
  },
);

test("an agent that ignores SIGTERM and whose child has left its group are gone after the second SIGINT", async () => {
  const here = place();
  const agent = join(here.cwd, "stubborn.sh");
  writeFileSync(
    agent,
    `#!/bin/sh\ntrap '' TERM INT HUP\nsetsid sh -c 'trap "" TERM INT HUP; while :; do sleep 1; done' &\n: > ${here.gate}/started\nwhile :; do sleep 1; done\n`,
    { mode: 0o755 },
  );
  const run = here.start(["run", here.research, "--agent", "cmd:./stubborn.sh", "--unconfined"]);
  await until(() => existsSync(join(here.gate, "started")));
  await interruptOnce(run, run.pid);
  process.kill(run.pid, "SIGINT");
  expect((await run.ended).code).toBe(130);
  expect(here.left()).toEqual([]);
});

test("SIGINT during a wait for a service ends the wait", async () => {
  const here = place();
  const agent = join(here.cwd, "limited.sh");
  writeFileSync(agent, "#!/bin/sh\necho 'HTTP error 429: too many requests' >&2\nexit 1\n", { mode: 0o755 });
  const run = here.start(["run", here.research, "--agent", "cmd:./limited.sh", "--unconfined"]);
  let said = "";
  run.child.stderr?.on("data", (text: string) => (said += text));
  await until(() => said.includes("waiting "));
  process.kill(run.pid, "SIGINT");
  const ended = await run.ended;
  expect(ended.code).toBe(130);
  expectNoTrace(ended.err);
});

test("stdout closed by its reader ends the run after the iteration under way, without a stack trace, and a later one completes it", async () => {
  const here = place();
  const shell = `${here.shellCommand("run", here.research, "--agent", "baseline", "--json")} | head -n 1`;
  const child = spawn("/bin/sh", ["-c", shell], { cwd: here.cwd, env: here.env, stdio: ["ignore", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
  await new Promise((resolve) => child.once("close", resolve));
  expect(JSON.parse(said.out)).toMatchObject({ type: "run-started" });
  expect(said.err).toBe("");
  await until(() => here.left().length === 0);
  expect(isFree(here)).toBe(true);
  expect(here.ledger().length).toBeLessThanOrEqual(1);
  expect((await here.cli(["run", here.research, "--agent", "baseline"])).code).toBe(0);
  expectWhole(here);
});

const hasTmux = (() => {
  try {
    execFileSync("tmux", ["-V"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

/** A terminal of its own for a command, on a tmux server that no other test or person shares. */
function terminal(here: Place, command: string) {
  const socket = join(here.top, "tmux");
  const env = { ...here.env, TERM: "xterm-256color", SHELL: "/bin/sh", FAULTS_GATE: here.gate };
  const tmux = (...args: string[]): string =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env,
      cwd: here.cwd,
      stdio: ["ignore", "pipe", "ignore"],
    });
  tmux("new-session", "-d", "-x", "100", "-y", "30", `${command}; echo exit $? > '${here.top}/code'; sleep 60`);
  return {
    resize: (columns: number, rows: number) => tmux("resize-window", "-x", String(columns), "-y", String(rows)),
    screen: () => tmux("capture-pane", "-p"),
    close: () => tmux("kill-server"),
  };
}

test.skipIf(!hasTmux)(
  "a terminal made narrow and wide again shows each permanent line once and no line twice",
  async () => {
    const here = place();
    const window = terminal(here, here.shellCommand("run", here.research, "--agent", "slow"));
    try {
      await until(() => existsSync(join(here.gate, "started")));
      for (const [columns, rows] of [
        [40, 12],
        [160, 50],
        [70, 24],
      ] as const)
        window.resize(columns, rows);
      here.go();
      await until(() => existsSync(join(here.top, "code")));
      const screen = window.screen();
      expect(screen.match(/✓ #1 Discovery/g)).toHaveLength(1);
      expect(screen).toMatch(/✓ complete: The one paper is read/);
      expect(screen).not.toMatch(/iteration \d+ of/);
      expectNoTrace(screen);
    } finally {
      window.close();
    }
    expectWhole(here);
  },
);

test.skipIf(!hasTmux)("a terminal that is closed ends the run and its agent, and nothing is lost", async () => {
  const here = place();
  const window = terminal(here, here.shellCommand("run", here.research, "--agent", "slow"));
  await until(() => existsSync(join(here.gate, "started")));
  window.close();
  await until(() => here.left().length === 0);
  expect(isFree(here)).toBe(true);
  expect(here.ledger().map(({ outcome }) => outcome)).toEqual(["failed"]);
  rmSync(join(here.gate, "started"));
  expect((await here.cli(["run", here.research, "--agent", "baseline"])).code).toBe(0);
  expectWhole(here);
});
