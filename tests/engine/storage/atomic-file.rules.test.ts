import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { appendOnce, sweepTemporaryFiles, writeFileAtomic } from "../../../src/engine/storage/atomic-file.js";
import { temporaryFolder } from "../../support/folders.js";

const text = (path: string) => readFileSync(path, "utf8");

/** Calls `seen` with each handle that is synced from now on, before it is. */
async function onSync(seen: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle = await open("/dev/null");
  const shared = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { sync } = shared;
  shared.sync = async function (this: FileHandle) {
    await seen(this);
    return sync.call(this);
  };
  onTestFinished(() => void (shared.sync = sync));
}

/** What is synced, in order: the new text before the file has its name, and then the folder that holds the name. */
async function syncsOf(path: string, work: () => Promise<unknown>): Promise<string[]> {
  const synced: string[] = [];
  await onSync(async (handle) => {
    const found = await handle.stat();
    synced.push(
      found.isDirectory()
        ? `folder, ${existsSync(path) ? text(path) : "none"}`
        : `${found.size} bytes, ${existsSync(path) ? text(path) : "none"}`,
    );
  });
  await work();
  return synced;
}

describe("what must survive a power cut", () => {
  it("is a new text on the disk before it takes the old one's place, and then the name", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    writeFileSync(path, "old");
    expect(await syncsOf(path, () => writeFileAtomic(path, "new text"))).toEqual(["8 bytes, old", "folder, new text"]);
  });

  it("is not a copy that may be lost: it costs no wait for the disk", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    expect(await syncsOf(path, () => writeFileAtomic(path, "new text", { durable: false }))).toEqual([]);
  });

  it("is a line of a log, and the name of a log that is new", async () => {
    const path = join(temporaryFolder(), "ledger.jsonl");
    expect(await syncsOf(path, () => appendOnce(path, { offset: 0, text: "one\n" }))).toEqual([
      "4 bytes, one\n",
      "folder, one\n",
    ]);
    expect(await syncsOf(path, () => appendOnce(path, { offset: 4, text: "two\n" }))).toEqual(["8 bytes, one\ntwo\n"]);
  });

  it.each(["EINVAL", "ENOTSUP", "EBADF"])(
    "is asked for in vain on a file system that syncs no folder (%s)",
    async (code) => {
      const path = join(temporaryFolder(), "rrd.json");
      await onSync(async (handle) => {
        if ((await handle.stat()).isDirectory()) throw Object.assign(new Error(code), { code });
      });
      await writeFileAtomic(path, "text");
      expect(text(path)).toBe("text");
    },
  );

  it("is said where the disk fails", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    await onSync(async (handle) => {
      if ((await handle.stat()).isDirectory()) throw Object.assign(new Error("EIO"), { code: "EIO" });
    });
    await expect(writeFileAtomic(path, "text")).rejects.toMatchObject({ code: "EIO" });
  });

  it("leaves the old text where the disk is full, and nothing beside it", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "rrd.json");
    writeFileSync(path, "old");
    await onSync(() => Promise.reject(Object.assign(new Error("ENOSPC"), { code: "ENOSPC" })));
    await expect(writeFileAtomic(path, "new")).rejects.toBeInstanceOf(ExpectedError);
    expect([text(path), readdirSync(folder)]).toEqual(["old", ["rrd.json"]]);
  });
});

it.skipIf(process.platform !== "linux")("no file and no folder stays open", async () => {
  const folder = temporaryFolder();
  const openNow = () =>
    readdirSync("/proc/self/fd").flatMap((fd) => {
      try {
        return [readlinkSync(join("/proc/self/fd", fd))];
      } catch {
        return [];
      }
    });
  await writeFileAtomic(join(folder, "rrd.json"), "text");
  await appendOnce(join(folder, "ledger.jsonl"), { offset: 0, text: "one\n" });
  await sweepTemporaryFiles(folder);
  expect(openNow().filter((path) => path.startsWith(folder))).toEqual([]);
});

describe("a text that is appended once", () => {
  const after = async (before: string, offset: number, added: string) => {
    const path = join(temporaryFolder(), "log");
    writeFileSync(path, before);
    await appendOnce(path, { offset, text: added });
    return text(path);
  };

  it("is completed by its line feed where all the rest of it ends the file", async () => {
    expect(await after("abc", 3, "abc\n")).toBe("abc\n");
    expect(await after("x\nabc", 5, "abc\n")).toBe("x\nabc\n");
  });

  it("is not taken for begun by what a file without a line feed ends in", async () => {
    expect(await after("xa", 2, "ab")).toBe("xa\nab");
    expect(await after("x", 1, "\n")).toBe("x\n\n");
  });

  it("is completed from as little as one byte where that stands at its place", async () => {
    expect(await after("x\na", 2, "abc\n")).toBe("x\nabc\n");
    expect(await after("x\nab", 2, "abc\n")).toBe("x\nabc\n");
    expect(await after("x\na", 1, "abc\n")).toBe("x\nabc\n");
  });

  it("stands by itself where a person wrote something else at its place", async () => {
    expect(await after("xZab", 1, "abc\n")).toBe("xZab\nabc\n");
    expect(await after("x\nZZ", 2, "abc\n")).toBe("x\nZZ\nabc\n");
  });

  it("is there once it stands whole at its place, whatever follows it", async () => {
    expect(await after("x\nabc\nmore\n", 2, "abc\n")).toBe("x\nabc\nmore\n");
    expect(await after("x\nabc\nmore\n", 1, "abc\n")).toBe("x\nabc\nmore\n");
  });
});
