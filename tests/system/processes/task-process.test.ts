import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openTaskProcess, type TaskProcess } from "../../../src/engine/process/task-process.js";
import { compileEntries } from "../../support/processes/compiled.js";

const folder = await compileEntries(mkdtempSync(join(tmpdir(), "tasks-")), {
  tasks: "tests/fixtures/process/tasks.ts",
  parent: "tests/fixtures/process/parent.ts",
});
const program = join(folder, "tasks.js");
const maxMs = 100_000;

let opened: TaskProcess[] = [];
function open(maxMemory = 400 * 1024 * 1024): TaskProcess {
  const tasks = openTaskProcess({ program: () => program, maxMemoryBytes: maxMemory });
  opened.push(tasks);
  return tasks;
}
afterEach(() => {
  for (const tasks of opened) tasks.close();
  opened = [];
});

const pidOf = async (tasks: TaskProcess): Promise<number> => {
  const end = await tasks.run<number>("pid", [], { maxMs });
  return end.status === "ok" ? end.value : Number.NaN;
};
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("a task process", () => {
  it("carries out one task after another in one process, bytes included", async () => {
    const tasks = open();
    const first = await pidOf(tasks);
    expect(await tasks.run("add", [1, 2], { maxMs })).toEqual({ status: "ok", value: 3 });
    expect(await tasks.run("size", [new Uint8Array(3_000_000)], { maxMs })).toEqual({ status: "ok", value: 3_000_000 });
    expect(await Promise.all([pidOf(tasks), pidOf(tasks)])).toEqual([first, first]);
    expect(first).not.toBe(process.pid);
  });

  it("tells an error of a task as its message, and goes on", async () => {
    const tasks = open();
    expect(await tasks.run("fail", [], { maxMs })).toEqual({ status: "failed", message: "no such thing" });
    expect(await tasks.run("missing", [], { maxMs })).toMatchObject({ status: "failed" });
    expect(await tasks.run("add", [1, 2], { maxMs })).toEqual({ status: "ok", value: 3 });
  });

  it("is ended where a task takes too long, and the next task has another", async () => {
    const tasks = open();
    const first = await pidOf(tasks);
    expect(await tasks.run("spin", [], { maxMs: 300 })).toEqual({ status: "cut", limit: "time" });
    const second = await pidOf(tasks);
    expect(second).toBeGreaterThan(0);
    expect(second).not.toBe(first);
    await untilGone(first);
  });

  it.each(["fillBuffers", "fillHeap"])("is ended above its memory, whoever holds it: %s", async (task) => {
    const tasks = open();
    expect(await tasks.run(task, [], { maxMs })).toEqual({ status: "cut", limit: "memory" });
    expect(await tasks.run("add", [1, 2], { maxMs })).toEqual({ status: "ok", value: 3 });
  });

  it("is ended above what one task may take beyond the memory that it has", async () => {
    const tasks = open();
    const memory = 100 * 1024 * 1024;
    expect(await tasks.run("keep", [20], { maxMs, memoryBytes: memory })).toEqual({ status: "ok", value: undefined });
    expect(await tasks.run("fillBuffers", [], { maxMs, memoryBytes: memory })).toEqual({
      status: "cut",
      limit: "memory",
    });
  });

  it("is ended where one step of a task takes too long, and not where all of them do", async () => {
    const tasks = open();
    expect(await tasks.run("stepOn", [8, 100], { maxMs })).toEqual({ status: "ok", value: 8 });
    expect(await tasks.run("stepOn", [1, 100_000], { maxMs })).toEqual({ status: "cut", limit: "step" });
    // A task that tells no steps has none.
    expect(await tasks.run("spin", [], { maxMs: 900 })).toEqual({ status: "cut", limit: "time" });
  });

  it("that keeps much memory behind a task is replaced before the next", async () => {
    const tasks = open();
    const first = await pidOf(tasks);
    await tasks.run("keep", [10], { maxMs });
    expect(await pidOf(tasks)).toBe(first);
    expect(await tasks.run("keep", [200], { maxMs })).toEqual({ status: "ok", value: undefined });
    expect(await pidOf(tasks)).not.toBe(first);
  });

  it("that ends by itself costs the one task", async () => {
    const tasks = open();
    expect(await tasks.run("exit", [], { maxMs })).toEqual({ status: "cut", limit: "crash" });
    expect(await tasks.run("add", [1, 2], { maxMs })).toEqual({ status: "ok", value: 3 });
  });

  it("answers an abort at once, for the task at work and for those that wait", async () => {
    const tasks = open();
    const first = await pidOf(tasks);
    const stop = new AbortController();
    const ends = [0, 1, 2].map(() => tasks.run("spin", [], { maxMs, signal: stop.signal }));
    await new Promise((resolve) => setImmediate(resolve)); // the first has been sent
    stop.abort();
    expect(await Promise.all(ends)).toEqual([{ status: "aborted" }, { status: "aborted" }, { status: "aborted" }]);
    await untilGone(first);
    expect(await tasks.run("add", [1, 2], { maxMs })).toEqual({ status: "ok", value: 3 });
    expect(await tasks.run("add", [1, 2], { maxMs, signal: AbortSignal.abort() })).toEqual({ status: "aborted" });
  });

  it("that cannot be started says nothing about the task", async () => {
    const missing = openTaskProcess({ program: () => Promise.reject(new Error("not built")), maxMemoryBytes: 1 });
    expect(await missing.run("add", [1, 2], { maxMs })).toEqual({ status: "not-started", message: "not built" });
  });

  it("holds no variable of the environment that could be a secret", async () => {
    process.env["SOME_API_KEY"] = "secret";
    const end = await open().run<string[]>("environment", [], { maxMs });
    delete process.env["SOME_API_KEY"];
    expect(end).toMatchObject({ status: "ok" });
    expect(end.status === "ok" ? end.value : ["SOME_API_KEY"]).not.toContain("SOME_API_KEY");
  });

  it("keeps no program from its end, and ends with it", async () => {
    const parent = spawn(process.execPath, [join(folder, "parent.js"), program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    parent.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    await once(parent, "close");
    expect(Number(out)).toBeGreaterThan(0);
    await untilGone(Number(out));
  });

  it("in the middle of a task ends with a program that was killed", async () => {
    const parent = spawn(process.execPath, [join(folder, "parent.js"), program, "busy"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [chunk] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(chunk.toString());
    expect(isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await untilGone(pid);
  });
});
