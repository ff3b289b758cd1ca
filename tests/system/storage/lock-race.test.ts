import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { acquireLock } from "../../../src/engine/storage/lock.js";
import { compileEntries } from "../../support/processes/compiled.js";
import { deadHolder } from "../../support/processes/dead-holder.js";
import { temporaryFolder } from "../../support/folders.js";

const describe = "The research";
const lock = { lock: "src/engine/storage/lock.ts" };

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

it("a holder killed with SIGKILL, even one nobody waited for, gives way at once", async () => {
  const folder = temporaryFolder();
  const child = contender(await compileEntries(folder, lock), join(folder, "lock"));
  expect(await nextWord(child)).toBe("ready");
  child.stdin!.write("go\n");
  expect(await nextWord(child)).toBe("got");
  await expect(acquireLock(join(folder, "lock"), { subject: describe })).rejects.toThrow(`process ${child.pid}`);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await (await acquireLock(join(folder, "lock"), { subject: describe })).isStillHeld()).toBe(true);
});

it("of many processes that meet a dead holder at once exactly one gets the lock", async () => {
  const folder = temporaryFolder();
  const store = await compileEntries(folder, lock);
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
