import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hookMarkVariable } from "../../../src/engine/process/descendants.js";
import { type ProcessEnd, type ProcessRequest, runProcess } from "../../../src/engine/process/run-process.js";
import { isAtWork } from "../../support/processes/alive.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "process-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const request = (script: string, more: Partial<ProcessRequest> = {}): ProcessRequest => ({
  command: "sh",
  args: ["-c", script],
  cwd: folder,
  env: process.env,
  stdin: "",
  timeoutMs: 30_000,
  idleMs: 0,
  isFinished: () => false,
  signal: new AbortController().signal,
  graceMs: 400,
  pipeMs: 200,
  ...more,
});

async function run(asked: ProcessRequest): Promise<{ lines: string[]; end: ProcessEnd }> {
  const lines: string[] = [];
  const stream = runProcess(asked);
  for (;;) {
    const step = await stream.next();
    if (step.done === true) return { lines, end: step.value };
    lines.push(step.value);
  }
}

/** Runs a script, and ends it once it has said this line. */
async function endedOnce(said: string, script: string, graceMs = 400) {
  const abort = new AbortController();
  const lines: string[] = [];
  const stream = runProcess(request(script, { graceMs, signal: abort.signal }));
  for (;;) {
    const step = await stream.next();
    if (step.done === true) return { lines, end: step.value };
    lines.push(step.value);
    if (step.value === said) abort.abort();
  }
}

const pidIn = (name: string): number => Number(readFileSync(join(folder, name), "utf8"));
const onLinux = describe.skipIf(process.platform !== "linux");

describe("what a process says", () => {
  it("gets the text on stdin and hands stdout over line by line", async () => {
    const { lines, end } = await run(request("cat; echo last", { stdin: "one\ntwo\n" }));
    expect(lines).toEqual(["one", "two", "last"]);
    expect(end).toEqual({ cause: "exited", exitCode: 0, stderr: "" });
  });

  it("has the mark of a hook only where it is one, also where a hook started us", async () => {
    const env = { ...process.env, [hookMarkVariable]: "1" };
    const script = `echo "[\${${hookMarkVariable}:-none}]"`;
    expect((await run(request(script, { env }))).lines).toEqual(["[none]"]);
    expect((await run(request(script, { isHook: true }))).lines).toEqual(["[1]"]);
  });

  it("takes an exit code and a signal for what they are: a killed child is never exit 0", async () => {
    expect((await run(request("exit 7"))).end).toMatchObject({ cause: "exited", exitCode: 7 });
    const { end } = await run(request("kill -KILL $$"));
    expect(end).toMatchObject({ cause: "exited", signal: "SIGKILL" });
    expect(end.exitCode).toBeUndefined();
  });

  it("survives a program that ends without reading a large stdin", async () => {
    const { end } = await run(request("exec <&-; echo done; exit 3", { stdin: "x".repeat(1_000_000) }));
    expect(end).toMatchObject({ cause: "exited", exitCode: 3 });
  });

  it("reports a program that is not there as a value", async () => {
    const { end } = await run(request("", { command: join(folder, "no-such-program"), args: [] }));
    expect(end).toMatchObject({ cause: "not-started", startError: { code: "ENOENT" } });
  });

  it("reports an argument list that is too long as a value", async () => {
    const { end } = await run(request("true", { args: ["-c", "true", "x".repeat(4_000_000)] }));
    expect(end).toMatchObject({ cause: "not-started", startError: { code: "E2BIG" } });
  });

  it("keeps the last 16 KB of stderr", async () => {
    const { end } = await run(request("head -c 300000 /dev/zero | tr '\\0' a >&2; echo end >&2"));
    expect(end.stderr.length).toBe(16 * 1024);
    expect(end.stderr.endsWith("aend\n")).toBe(true);
  });

  it("has its last words also beside another that ends in the same moment", async () => {
    // The system's one word of an ended child is good for all: the second's end is then known before it is heard out.
    for (let round = 0; round < 5; round++) {
      const both = await Promise.all([1, 2].map(() => run(request("echo why >&2; exit 3"))));
      expect(both.map(({ end }) => end.stderr)).toEqual(["why\n", "why\n"]);
    }
  });

  it("is waited for on stderr as long as on stdout, and no longer", async () => {
    const held = "env -i setsid sh -c 'echo $$ > hidden; exec sleep 30' > out 2>&4";
    const { end } = await run(request(`exec 4>&2; ${held} & while [ ! -s hidden ]; do sleep 0.02; done; echo why >&2`));
    expect(end).toMatchObject({ cause: "exited", exitCode: 0, stderr: "why\n" });
    expect(isAtWork(pidIn("hidden"))).toBe(true);
    process.kill(pidIn("hidden"), "SIGKILL");
  });

  it("tolerates bytes that are not UTF-8", async () => {
    const { lines } = await run(request("printf 'a\\377b\\n'"));
    expect(lines).toEqual(["a\uFFFDb"]);
  });

  it("keeps raw stdout in the transcript", async () => {
    const transcript = join(folder, "deep", "1.log");
    await run(request("printf 'one\\n\\377two'", { transcript }));
    expect(readFileSync(transcript, "latin1")).toBe("one\n\u00fftwo");
  });

  it("goes on without a transcript that can't be written, and says so", async () => {
    const { lines, end } = await run(request("echo one", { transcript: "/dev/null/1.log" }));
    expect(lines).toEqual(["one"]);
    expect(end).toMatchObject({ exitCode: 0, transcriptProblem: expect.stringContaining("/dev/null/1.log") });
  });

  it("reads 300 MB in one line and in many with flat memory, keeping 32 MB of them", async () => {
    const transcript = join(folder, "1.log");
    const before = process.memoryUsage().rss;
    let most = 0;
    let lines = 0;
    let longest = 0;
    const script = `head -c 150000000 /dev/zero | tr '\\0' a; echo; yes ${"0123456789".repeat(60)} | head -n 250000`;
    for await (const line of runProcess(request(script, { transcript }))) {
      lines++;
      longest = Math.max(longest, line.length);
      if (lines % 5000 === 1) most = Math.max(most, process.memoryUsage().rss);
    }
    expect(lines).toBe(1 + 250_000);
    expect(longest).toBeLessThan(8 * 1024 * 1024 + 100);
    expect(most - before).toBeLessThan(150 * 1024 * 1024);
    expect(statSync(transcript).size).toBeLessThan(33 * 1024 * 1024);
    expect(readFileSync(transcript).subarray(-60).toString()).toContain("more bytes were not kept");
  });

  it("does not read ahead of a slow reader", async () => {
    const stream = runProcess(
      request("i=0; while :; do i=$((i+1)); echo $i > progress; head -c 65536 /dev/zero; echo; done"),
    );
    await stream.next();
    // A line is as large as the pipe; some more are in the buffers of both sides. One who reads ahead never stands still.
    let [before, now] = [0, pidIn("progress")];
    for (; now !== before && now < 50; [before, now] = [now, pidIn("progress")])
      await new Promise((resolve) => setTimeout(resolve, 300));
    expect(now).toBeLessThan(50);
    await stream.return({ cause: "aborted", stderr: "" });
  });
});

describe("how a process is ended", () => {
  it("ends after its wall time, however much it says", async () => {
    const { end } = await run(request("while :; do echo tick; sleep 0.05; done", { timeoutMs: 300 }));
    expect(end).toMatchObject({ cause: "timeout", signal: "SIGTERM" });
  });

  it("keeps the timeout as the cause although the program answers SIGTERM with exit 0", async () => {
    const { lines, end } = await run(
      request("trap 'echo COMPLETE; exit 0' TERM; while :; do sleep 0.05; done", { timeoutMs: 1500 }),
    );
    expect(lines).toEqual(["COMPLETE"]);
    expect(end).toMatchObject({ cause: "timeout", exitCode: 0 });
  });

  it("ends after silence, and 0 turns that off", async () => {
    expect((await run(request("echo one; sleep 20", { idleMs: 200 }))).end.cause).toBe("idle");
    expect((await run(request("sleep 0.5", { idleMs: 0 }))).end.cause).toBe("exited");
  });

  it("takes stderr for a sign of life", async () => {
    const signs = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo . >&2; sleep 0.1; done";
    const { end } = await run(request(signs, { idleMs: 1000 }));
    expect(end.cause).toBe("exited");
  });

  it("ends a program that has said it is done and does not exit", async () => {
    let finished = false;
    const stream = runProcess(request("echo result; sleep 20", { isFinished: () => finished, settleMs: 100 }));
    await stream.next();
    finished = true;
    expect((await stream.next()).value).toMatchObject({ cause: "settled" });
  });

  it("ends when the user aborts, and does not start when they already have", async () => {
    const abort = new AbortController();
    const stream = runProcess(request("echo up; sleep 20", { signal: abort.signal }));
    await stream.next();
    abort.abort();
    expect((await stream.next()).value).toMatchObject({ cause: "aborted", signal: "SIGTERM" });
    expect((await run(request("touch started", { signal: abort.signal }))).end.cause).toBe("aborted");
    expect(existsSync(join(folder, "started"))).toBe(false);
  });

  it("sends TERM first and KILL to whoever ignores it", async () => {
    const script = "trap 'echo term' TERM; echo $$ > pid; echo up; while :; do sleep 0.05; done";
    const { lines, end } = await endedOnce("up", script, 1500);
    expect(lines).toContain("term");
    expect(end).toMatchObject({ cause: "aborted", signal: "SIGKILL" });
    expect(isAtWork(pidIn("pid"))).toBe(false);
  });
});

onLinux("what a process leaves behind", () => {
  it("ends the children of the group that ignore SIGTERM", async () => {
    await endedOnce("up", "(trap '' TERM; sh -c 'echo $$ > child; echo up; sleep 30') & sleep 30");
    expect(isAtWork(pidIn("child"))).toBe(false);
  });

  it("ends a tool that runs in a session of its own", async () => {
    await endedOnce("up", "setsid sh -c 'echo $$ > tool; echo up; sleep 30' & sleep 30");
    expect(isAtWork(pidIn("tool"))).toBe(false);
  });

  it("ends what a successful run left in the background", async () => {
    const script =
      "setsid nohup sh -c 'echo $$ > left; sleep 30' >/dev/null 2>&1 & while [ ! -s left ]; do sleep 0.02; done";
    const { end } = await run(request(script));
    expect(end).toMatchObject({ cause: "exited", exitCode: 0 });
    expect(isAtWork(pidIn("left"))).toBe(false);
  });

  it("does not wait for a grandchild that holds stdout, even one that it can't find", async () => {
    const hidden = "env -i setsid sh -c 'echo $$ > hidden; exec sleep 30'";
    const { lines, end } = await run(request(`${hidden} & while [ ! -s hidden ]; do sleep 0.02; done; echo answer`));
    expect(lines).toEqual(["answer"]);
    expect(end).toMatchObject({ cause: "exited", exitCode: 0 });
    process.kill(pidIn("hidden"), "SIGKILL");
  });

  it("loses nothing of what a program said before it ended, however slowly we read", async () => {
    const stream = runProcess(request("yes 0123456789 | head -n 6000", { pipeMs: 50 }));
    let lines = 0;
    for await (const _ of stream) if (++lines === 1) await new Promise((resolve) => setTimeout(resolve, 500));
    expect(lines).toBe(6000);
  });

  it("ends the program when nobody reads on", async () => {
    const stream = runProcess(request("echo $$ > pid; echo one; sleep 30"));
    await stream.next();
    await stream.return({ cause: "aborted", stderr: "" });
    expect(isAtWork(pidIn("pid"))).toBe(false);
  });
});

onLinux("where it is noted", () => {
  it("leaves no process behind where noting it fails", async () => {
    let noted: number | undefined;
    const asked = request("sleep 100", {
      onStart(pid) {
        noted = pid;
        throw new Error("no space left");
      },
    });
    await expect(run(asked)).rejects.toThrow("no space left");
    expect(isAtWork(noted ?? 0)).toBe(false);
  });
});
