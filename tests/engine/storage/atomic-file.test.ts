import fs, {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  existsSync,
  readlinkSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import fc from "../../support/runner/fast-check.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import {
  appendOnce,
  coarsestTimeStepMs,
  sizeOf,
  stampOf,
  removeTemporaryFiles,
  timeStepMsAt,
  writeFileAtomic,
  writePiecesAtomic,
} from "../../../src/engine/storage/atomic-file.js";
import { explainSystemError } from "../../../src/engine/storage/explain-system-error.js";
import { temporaryFolder } from "../../support/folders.js";

const text = (path: string) => readFileSync(path, "utf8");

describe("an atomic write", () => {
  it("replaces the text, keeps the permissions and leaves nothing else behind", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    await writeFileAtomic(path, "one");
    chmodSync(path, 0o666);
    await writeFileAtomic(path, "two");
    expect(text(path)).toBe("two");
    expect(statSync(path).mode & 0o777).toBe(0o666);
    expect(readdirSync(join(path, ".."))).toEqual(["rrd.json"]);
  });

  it("replaces a symbolic link and leaves what it points at alone", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "secret"), "secret");
    symlinkSync(join(folder, "secret"), join(folder, "rrd.json"));
    await writeFileAtomic(join(folder, "rrd.json"), "ours");
    expect(text(join(folder, "secret"))).toBe("secret");
    expect(lstatSync(join(folder, "rrd.json")).isSymbolicLink()).toBe(false);
  });

  it("is made over the version that was expected, and tells the new one, also where the copy may be lost", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    const first = await writeFileAtomic(path, "one");
    const second = await writeFileAtomic(path, "two, longer", { expectedStamp: first! });
    expect(text(path)).toBe("two, longer");
    expect(second).toBe(stampOf(path));
    expect(second).not.toBe(first);
    await writeFileAtomic(path, "three", { isDurable: false });
    await writeFileAtomic(join(path, "..", "new.json"), "four", { isDurable: false });
    expect([text(path), text(join(path, "..", "new.json"))]).toEqual(["three", "four"]);
  });

  it("is not made over a version that was not expected", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    const first = await writeFileAtomic(path, "one");
    expect(first).toBe(stampOf(path));
    writeFileSync(path, "by hand");
    expect(await writeFileAtomic(path, "two", { expectedStamp: first! })).toBeUndefined();
    expect(text(path)).toBe("by hand");
    expect(readdirSync(join(path, ".."))).toEqual(["rrd.json"]);
  });

  it("into a folder that is gone, or over a folder, is an error a person can read", async () => {
    const folder = temporaryFolder();
    await expect(writeFileAtomic(join(folder, "gone", "rrd.json"), "x")).rejects.toThrow(ExpectedError);
    mkdirSync(join(folder, "rrd.json"));
    await expect(writeFileAtomic(join(folder, "rrd.json"), "x")).rejects.toThrow(/is a folder where a file belongs/);
    expect(readdirSync(folder)).toEqual(["rrd.json"]);
  });

  it("leaves only temporary files that the sweep knows, and the sweep takes nothing else", async () => {
    const folder = temporaryFolder();
    for (const name of [".rrd.json.0123456789ab.ralph-tmp", "rrd.json", ".hidden", "mine.ralph-tmp"])
      writeFileSync(join(folder, name), "");
    await removeTemporaryFiles(folder);
    expect(readdirSync(folder).toSorted()).toEqual([".hidden", "mine.ralph-tmp", "rrd.json"]);
    await removeTemporaryFiles(join(folder, "absent"));
    await expect(removeTemporaryFiles(join(folder, "rrd.json"))).rejects.toThrow(
      `${join(folder, "rrd.json")} is a file where a folder belongs; move it away.`,
    );
  });
});

describe("an atomic write in pieces", () => {
  it("is the same text, whatever the pieces, and takes pieces only as it writes", async () => {
    const path = join(temporaryFolder(), "report.html");
    const pieces = Array.from({ length: 3000 }, (_, index) => `${"é–".repeat(index % 700)}${index}\n`);
    await writePiecesAtomic(path, pieces);
    expect(text(path)).toBe(pieces.join(""));
    await writePiecesAtomic(path, []);
    expect(text(path)).toBe("");
  });

  it("keeps a quarter of a megabyte of them in memory, and writes no less at once", async () => {
    const folder = temporaryFolder();
    const written: number[] = [];
    const pieces = function* () {
      for (const length of [128_000, 128_000, 255_999, 1]) {
        yield "x".repeat(length);
        written.push(...readdirSync(folder).map((name) => sizeOf(join(folder, name))));
      }
    };
    await writePiecesAtomic(join(folder, "report.html"), pieces());
    expect(written).toEqual([0, 256_000, 256_000, 512_000]);
  });

  it("leaves the old text and nothing else where a piece can't be made", async () => {
    const path = join(temporaryFolder(), "report.html");
    await writePiecesAtomic(path, ["old"]);
    const failing = function* () {
      yield "x".repeat(600_000);
      throw new Error("no piece");
    };
    await expect(writePiecesAtomic(path, failing())).rejects.toThrow("no piece");
    expect(text(path)).toBe("old");
    expect(readdirSync(join(path, ".."))).toEqual(["report.html"]);
  });
});

describe("a version of a file", () => {
  it("is another after each write, and none where there is no file", async () => {
    const path = join(temporaryFolder(), "a.json");
    expect([stampOf(path), sizeOf(path)]).toEqual([undefined, 0]);
    writeFileSync(path, "12345");
    expect(sizeOf(path)).toBe(5);
    expect([stampOf(join(path, "below")), sizeOf(join(path, "below"))]).toEqual([undefined, 0]);
    expect(() => stampOf("a\u0000b")).toThrow();
  });
});

it("times that are whole seconds may be of a file system that counts in twos of them", () => {
  expect([timeStepMsAt(5_000), timeStepMsAt(5_000.4), timeStepMsAt(5_004)]).toEqual([coarsestTimeStepMs, 20, 20]);
});

it.each(["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "ENOENT", "EISDIR", "ELOOP"])(
  "the system's %s is explained in one sentence with the path",
  (code) => {
    const explained = explainSystemError(Object.assign(new Error(code), { code }), "/some/rrd.json");
    expect(explained).toBeInstanceOf(ExpectedError);
    expect((explained as Error).message).toMatch(/\/some\/rrd\.json.*[.]$/);
  },
);

it("an error that is nobody's doing stays what it is", () => {
  const bug = new TypeError("bug");
  expect(explainSystemError(bug, "/some/rrd.json")).toBe(bug);
});

describe("appending once", () => {
  const before = "one\ntwo\n";
  const entry = "\n## 2026-01-01 - Paper: sample_1 with a titlé\nRead.\n\n---\n";
  const append = { offset: Buffer.byteLength(before), text: entry };
  const file = (content: string | Buffer) => {
    const path = join(temporaryFolder(), "progress.txt");
    writeFileSync(path, content);
    return path;
  };

  it("gives the same file wherever in its bytes an earlier attempt was cut off, and however often it is repeated", async () => {
    const bytes = Buffer.from(entry);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const path = file(Buffer.concat([Buffer.from(before), bytes.subarray(0, cut)]));
      await appendOnce(path, append);
      await appendOnce(path, append);
      expect(text(path)).toBe(before + entry);
    }
  });

  it("ends a torn line of something else first, also when that was cut off itself", async () => {
    const torn = "one\ntwo\nthr";
    const line = { offset: torn.length, text: '{"iteration":1}\n' };
    const whole = `${torn}\n${line.text}`;
    for (let cut = torn.length; cut <= whole.length; cut++) {
      const path = file(whole.slice(0, cut));
      await appendOnce(path, line);
      await appendOnce(path, line);
      expect(text(path)).toBe(whole);
    }
  });

  it("makes the file where there is none", async () => {
    const path = join(temporaryFolder(), "progress.txt");
    await appendOnce(path, { offset: 0, text: entry });
    expect(text(path)).toBe(entry);
  });

  it("of nothing does nothing", async () => {
    const path = join(temporaryFolder(), "progress.txt");
    await appendOnce(path, { offset: 0, text: "" });
    expect(stampOf(path)).toBeUndefined();
  });

  it("completes a beginning of 24 bytes in a file that changed by hand; a shorter one may stand there by chance", async () => {
    const line = { offset: 500, text: `${"0123456789".repeat(4)}\n` };
    const by = async (length: number) => {
      const path = file(`by hand\n${line.text.slice(0, length)}`);
      await appendOnce(path, line);
      return text(path);
    };
    expect(await by(24)).toBe(`by hand\n${line.text}`);
    expect(await by(40)).toBe(`by hand\n${line.text}`);
    expect(await by(23)).toBe(`by hand\n${line.text.slice(0, 23)}\n${line.text}`);
  });

  it("finds its text again in a file that grew or shrank by hand, and adds it to one that lost it", async () => {
    const grown = file(`A heading\n${before}${entry}more\n`);
    await appendOnce(grown, append);
    expect(text(grown)).toBe(`A heading\n${before}${entry}more\n`);
    const shrunk = file(`two\n${entry}`);
    await appendOnce(shrunk, append);
    expect(text(shrunk)).toBe(`two\n${entry}`);
    const lost = file("two");
    await appendOnce(lost, append);
    expect(text(lost)).toBe(`two\n${entry}`);
    const torn = file(`A heading\n${before}${entry.slice(0, 40)}`);
    await appendOnce(torn, append);
    expect(text(torn)).toBe(`A heading\n${before}${entry}`);
  });

  it("has the text exactly once, and all that stood there, whatever the file became meanwhile", async () => {
    const line = '{"iteration":12,"unit":"sample_12","outcome":"accepted"}\n';
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.nat(80), fc.nat(line.length), async (standing, offset, cut) => {
        const path = file(standing + line.slice(0, cut));
        await appendOnce(path, { offset, text: line });
        await appendOnce(path, { offset, text: line });
        const after = text(path);
        expect(after.split(line)).toHaveLength(2);
        expect(after.startsWith(standing)).toBe(true);
      }),
      { numRuns: 200, examples: [["     ", 61, line.length - 1]] },
    );
  });

  it("refuses a symbolic link", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "secret"), "secret");
    symlinkSync(join(folder, "secret"), join(folder, "progress.txt"));
    await expect(appendOnce(join(folder, "progress.txt"), { offset: 0, text: "x\n" })).rejects.toThrow(/symbolic link/);
    expect(text(join(folder, "secret"))).toBe("secret");
  });
});
/** Lets a test see, or fail, each wait for the disk. */
function onSync(seen: (file: number) => void): void {
  const { fsync, fsyncSync } = fs;
  fs.fsyncSync = (file) => {
    seen(file);
    fsyncSync(file);
  };
  const later = (file: number, done: fs.NoParamCallback): void => {
    seen(file);
    fsync(file, done);
  };
  Object.assign(fs, { fsync: later });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { fsync });
    fs.fsyncSync = fsyncSync;
    syncBuiltinESMExports();
  });
}

/** What is synced, in order: the new text before the file has its name, and then the folder that holds the name. */
async function syncsOf(path: string, work: () => unknown): Promise<string[]> {
  const synced: string[] = [];
  onSync((file) => {
    const found = fs.fstatSync(file);
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

  it("is a text above 4 MB too, and one in pieces, which nothing else waits for meanwhile", async () => {
    const path = join(temporaryFolder(), "report.html");
    const blocking = vi.spyOn(fs, "fsyncSync");
    const whole = vi.spyOn(fs, "writeFileSync");
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    const large = "é".repeat(2_000_001);
    await writeFileAtomic(path, large);
    expect(text(path) === large).toBe(true);
    await writePiecesAtomic(path, ["new"]);
    // What blocks is the wait for the folder alone.
    expect([text(path), blocking.mock.calls.length, whole.mock.calls.length]).toEqual(["new", 2, 0]);
    await writeFileAtomic(path, "small");
    expect([text(path), blocking.mock.calls.length, whole.mock.calls.length]).toEqual(["small", 4, 1]);
  });

  it("is no folder on Windows, which opens none", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    const { platform } = process;
    Object.defineProperty(process, "platform", { value: "win32" });
    onTestFinished(() => void Object.defineProperty(process, "platform", { value: platform }));
    expect(await syncsOf(path, () => writeFileAtomic(path, "text"))).toEqual(["4 bytes, none"]);
  });

  it("is not a copy that may be lost: it costs no wait for the disk", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    expect(await syncsOf(path, () => writeFileAtomic(path, "new text", { isDurable: false }))).toEqual([]);
  });

  it("is a line of a log, and the name of a log that is new", async () => {
    const path = join(temporaryFolder(), "ledger.jsonl");
    expect(await syncsOf(path, () => appendOnce(path, { offset: 0, text: "one\n" }))).toEqual([
      "4 bytes, one\n",
      "folder, one\n",
    ]);
    expect(await syncsOf(path, () => appendOnce(path, { offset: 4, text: "two\n" }))).toEqual(["8 bytes, one\ntwo\n"]);
  });

  it.each(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "EBADF"])(
    "is asked for in vain on a file system that syncs no folder (%s)",
    async (code) => {
      const path = join(temporaryFolder(), "rrd.json");
      onSync((file) => {
        if (fs.fstatSync(file).isDirectory()) throw Object.assign(new Error(code), { code });
      });
      await writeFileAtomic(path, "text");
      expect(text(path)).toBe("text");
    },
  );

  it.each(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"])(
    "is asked for in vain on one that syncs nothing (%s)",
    async (code) => {
      const [path, log] = ["rrd.json", "ledger.jsonl"].map((name) => join(temporaryFolder(), name)) as [string, string];
      onSync(() => {
        throw Object.assign(new Error(code), { code });
      });
      await writeFileAtomic(path, "text");
      await appendOnce(log, { offset: 0, text: "one\n" });
      expect([text(path), text(log)]).toEqual(["text", "one\n"]);
    },
  );

  it("is said where the disk fails", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    onSync((file) => {
      if (fs.fstatSync(file).isDirectory()) throw Object.assign(new Error("EIO"), { code: "EIO" });
    });
    await expect(writeFileAtomic(path, "text")).rejects.toThrow(
      `The disk of ${path} fails or is gone (EIO); check it and its connection, and run again.`,
    );
  });

  it("leaves the old text where the disk is full, and nothing beside it", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "rrd.json");
    writeFileSync(path, "old");
    onSync(() => {
      throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    });
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
  await removeTemporaryFiles(folder);
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
