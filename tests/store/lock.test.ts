import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ExpectedError } from "../../src/lib/errors.js";
import { acquireLock, withLock } from "../../src/store/lock.js";
import { startOfProcess } from "../../src/store/process-identity.js";
import { compileStore } from "./compiled.js";
import { temporaryFolder } from "./folders.js";

const describe = "The research";
const lockFile = () => join(temporaryFolder(), "lock");
const holderIn = (file: string) => JSON.parse(readFileSync(file, "utf8"));

/** A process that takes the lock when it reads a line, says how that went, and then waits. */
function contender(store: string, file: string): ChildProcess {
  const script = `
    import { acquireLock } from ${JSON.stringify(join(store, "lock.js"))};
    process.stdin.once("data", async () => {
      const word = await acquireLock(${JSON.stringify(file)}, { describe: "It" }).then(() => "got", (error) => error.name);
      process.stdout.write(word + "\\n");
    });
    process.stdout.write("ready\\n");
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

const nextWord = async (child: ChildProcess): Promise<string> => String((await once(child.stdout!, "data"))[0]).trim();

async function deadHolder(file: string): Promise<void> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  writeFileSync(file, JSON.stringify({ pid: child.pid, started: "1", host: hostname(), token: "dead", since: "2026-01-01T00:00:00Z" }));
}

it("a lock says who holds it and is gone after release", async () => {
  const file = lockFile();
  const lock = await acquireLock(file, { describe });
  expect(holderIn(file)).toMatchObject({ pid: process.pid, host: hostname(), started: await startOfProcess(process.pid) });
  expect(await lock.isMine()).toBe(true);
  await lock.release();
  expect(existsSync(file)).toBe(false);
  expect(await lock.isMine()).toBe(false);
});

it("a live holder is named with its start, as an error with exit code 1", async () => {
  const file = lockFile();
  await acquireLock(file, { describe });
  const failure: unknown = await acquireLock(file, { describe }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ExpectedError);
  expect(failure).toMatchObject({
    exitCode: 1,
    message: `The research is in use by process ${process.pid} since ${holderIn(file).since}; wait until it ends, or stop it.`,
  });
});

it("a holder that died is replaced, and what it left beside the lock does not matter", async () => {
  const file = lockFile();
  await deadHolder(file);
  await deadHolder(`${file}.takeover`);
  const lock = await acquireLock(file, { describe });
  expect(await lock.isMine()).toBe(true);
  expect(existsSync(`${file}.takeover`)).toBe(false);
});

it("a live process that was given the pid of a dead holder is not taken for it", async () => {
  const file = lockFile();
  writeFileSync(file, JSON.stringify({ pid: process.pid, started: "1", host: hostname(), token: "dead" }));
  expect(await (await acquireLock(file, { describe })).isMine()).toBe(true);
});

it("a holder on another machine is not judged; the error says how to clear it", async () => {
  const file = lockFile();
  writeFileSync(file, JSON.stringify({ pid: 1, host: "elsewhere", token: "far", since: "2026-01-01T00:00:00Z" }));
  await expect(acquireLock(file, { describe })).rejects.toThrow(
    `on the machine elsewhere since 2026-01-01T00:00:00Z; wait for it, or, if it is gone, delete ${file}.`,
  );
});

it("a lock that a power cut emptied is replaced", async () => {
  const file = lockFile();
  writeFileSync(file, "");
  expect(await (await acquireLock(file, { describe })).isMine()).toBe(true);
});

it("release leaves a lock that became another's", async () => {
  const file = lockFile();
  const lock = await acquireLock(file, { describe });
  writeFileSync(file, JSON.stringify({ pid: 1, host: "elsewhere", token: "far" }));
  await lock.release();
  expect(existsSync(file)).toBe(true);
});

it("waiting for a lock runs one at a time, and gives up after its time", async () => {
  const file = lockFile();
  let inside = 0;
  const work = async () => {
    inside += 1;
    expect(inside).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 5 }, () => withLock(file, { describe, waitMs: 20_000 }, work)));
  await acquireLock(file, { describe });
  await expect(withLock(file, { describe, waitMs: 30 }, work)).rejects.toThrow(ExpectedError);
});

it("a holder killed with SIGKILL, even one nobody waited for, gives way at once", async () => {
  const folder = temporaryFolder();
  const child = contender(compileStore(folder), join(folder, "lock"));
  expect(await nextWord(child)).toBe("ready");
  child.stdin!.write("go\n");
  expect(await nextWord(child)).toBe("got");
  await expect(acquireLock(join(folder, "lock"), { describe })).rejects.toThrow(`process ${child.pid}`);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await (await acquireLock(join(folder, "lock"), { describe })).isMine()).toBe(true);
});

it("of many processes that meet a dead holder at once exactly one gets the lock", async () => {
  const folder = temporaryFolder();
  const store = compileStore(folder);
  for (let round = 0; round < 3; round++) {
    const file = join(folder, `lock-${round}`);
    await deadHolder(file);
    const children = Array.from({ length: 6 }, () => contender(store, file));
    for (const child of children) expect(await nextWord(child)).toBe("ready");
    const words = children.map(nextWord);
    for (const child of children) child.stdin!.write("go\n");
    const said = await Promise.all(words);
    expect(said.toSorted()).toEqual([...Array.from({ length: 5 }, () => "ExpectedError"), "got"]);
    for (const child of children) child.kill("SIGKILL");
  }
  expect(readdirSync(folder).filter((name) => name.endsWith(".ralph-tmp"))).toEqual([]);
});
