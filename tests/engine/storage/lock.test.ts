import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { acquireLock, withLock } from "../../../src/engine/storage/lock.js";
import { startOfProcess } from "../../../src/engine/process/process-identity.js";
import { deadHolder } from "../../support/dead-holder.js";
import { temporaryFolder } from "../../support/folders.js";

const describe = "The research";
const lockFile = () => join(temporaryFolder(), "lock");
const holderIn = (file: string) => JSON.parse(readFileSync(file, "utf8"));

it("a lock says who holds it and is gone after release", async () => {
  const file = lockFile();
  const lock = await acquireLock(file, { describe });
  expect(holderIn(file)).toMatchObject({
    pid: process.pid,
    host: hostname(),
    started: await startOfProcess(process.pid),
  });
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
