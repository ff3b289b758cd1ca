import { execFileSync } from "node:child_process";
import { hostname } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { acquireLock, isHeld } from "../../../src/engine/storage/lock.js";
import { isSameProcess, startTimeOf } from "../../../src/engine/process/process-identity.js";
import { deadHolder } from "../../support/processes/dead-holder.js";
import { temporaryFolder } from "../../support/folders.js";

/** What the file system answers before the real one is asked. */
type Calls = Partial<Record<"link" | "open" | "rename" | "writeFile" | "readFile", (path: string) => unknown>>;
const fs = vi.hoisted(() => ({ before: {} as Calls, answer: undefined as string | undefined }));
vi.mock("node:fs", async (importOriginal) => {
  const real = await importOriginal<typeof import("node:fs")>();
  const asked =
    (name: keyof Calls, call: (...args: never[]) => unknown) =>
    (...args: never[]): unknown => {
      fs.before[name]?.(String(args[0]));
      return name === "readFile" && fs.answer !== undefined ? fs.answer : call(...args);
    };
  const names = ["link", "open", "rename", "writeFile", "readFile"] as const;
  return {
    ...real,
    ...Object.fromEntries(
      names.map((name) => [`${name}Sync`, asked(name, real[`${name}Sync`] as (...args: never[]) => unknown)]),
    ),
  };
});
const { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } =
  await vi.importActual<typeof import("node:fs")>("node:fs");
beforeEach(() => {
  fs.before = {};
  fs.answer = undefined;
});

const what = { subject: "The research" };
const lockFile = () => join(temporaryFolder(), "lock");
const beside = (file: string) => readdirSync(dirname(file)).filter((name) => name !== basename(file));
const fail = (code: string) => (): never => {
  throw Object.assign(new Error(`${code}: it failed`), { code });
};
/** Fails the first time it is asked, as of a file that was taken away in that moment. */
function sweptOnce(): (path: string) => void {
  let swept = false;
  return (path) => {
    if (!swept) rmSync(path);
    swept = true;
  };
}

describe("a lock that was held a moment ago", () => {
  it("is no longer held once its file is another's, in another file or in the same, or gone; and held again with the first one back", async () => {
    const file = lockFile();
    const lock = await acquireLock(file, what);
    const mine = readFileSync(file, "utf8");
    expect([await lock.isStillHeld(), await lock.isStillHeld()]).toEqual([true, true]);
    const { token, ...rest } = JSON.parse(mine);
    const other = JSON.stringify({
      ...rest,
      token: token.replace(/^./, (first: string) => (first === "0" ? "1" : "0")),
    });
    writeFileSync(file, other);
    expect(await lock.isStillHeld()).toBe(false);
    writeFileSync(file, mine);
    expect([await lock.isStillHeld(), await lock.isStillHeld()]).toEqual([true, true]);
    rmSync(file);
    expect(await lock.isStillHeld()).toBe(false);
    writeFileSync(file, other);
    expect([await lock.isStillHeld(), await lock.isStillHeld()]).toEqual([false, false]);
  });
});

describe("on a file system without hard links", () => {
  it.each(["EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP"])(
    "that says %s, a lock is taken, refused, released and taken over all the same",
    async (code) => {
      fs.before.link = fail(code);
      const file = lockFile();
      const lock = await acquireLock(file, what);
      expect([await lock.isStillHeld(), JSON.parse(readFileSync(file, "utf8")).pid, beside(file)]).toEqual([
        true,
        process.pid,
        [],
      ]);
      await expect(acquireLock(file, what)).rejects.toThrow(`in use by process ${process.pid}`);
      expect([await lock.isStillHeld(), beside(file)]).toEqual([true, []]);
      await lock.release();
      expect(existsSync(file)).toBe(false);
      await deadHolder(file);
      expect(await (await acquireLock(file, what)).isStillHeld()).toBe(true);
      expect(beside(file)).toEqual([]);
    },
  );

  it.skipIf(process.platform !== "linux")("its file is not held open", async () => {
    fs.before.link = fail("EPERM");
    const file = lockFile();
    await acquireLock(file, what);
    const open = readdirSync("/proc/self/fd").flatMap((name) => {
      try {
        return [readlinkSync(`/proc/self/fd/${name}`)];
      } catch {
        return [];
      }
    });
    expect(open).not.toContain(file);
  });

  it("what fails otherwise is an error, not a lock", async () => {
    const file = lockFile();
    fs.before = { link: fail("EPERM"), writeFile: (path) => path === file && fail("EIO")() };
    await expect(acquireLock(file, what)).rejects.toThrow("EIO");
    expect(beside(file)).toEqual([]);
  });

  it("a folder that is gone is an error, not a lock", async () => {
    const file = lockFile();
    fs.before.link = () => {
      rmSync(dirname(file), { recursive: true });
      fail("EPERM")();
    };
    await expect(acquireLock(file, what)).rejects.toThrow(dirname(file));
  });
});

describe("a lock", () => {
  it("is taken although the holder of another swept what was written beside it", async () => {
    fs.before.link = sweptOnce();
    const file = lockFile();
    expect(await (await acquireLock(file, what)).isStillHeld()).toBe(true);
  });

  it("is taken over although what was written beside it was swept", async () => {
    const file = lockFile();
    await deadHolder(file);
    fs.before.rename = sweptOnce();
    expect(await (await acquireLock(file, what)).isStillHeld()).toBe(true);
    expect(beside(file)).toEqual([]);
  });

  it("is taken over under a guard that says who does so", async () => {
    const file = lockFile();
    await deadHolder(file);
    let guard: unknown;
    fs.before.rename = () => void (guard = JSON.parse(readFileSync(`${file}.takeover`, "utf8")));
    await acquireLock(file, what);
    const holder = JSON.parse(readFileSync(file, "utf8"));
    expect(guard).toEqual({ ...holder, token: expect.stringMatching(/^[0-9a-f]{24}$/) });
    expect(guard).not.toEqual(holder);
  });

  it("that another took over in the meantime is left to it", async () => {
    const file = lockFile();
    await deadHolder(file);
    const live = JSON.stringify({ pid: process.pid, host: hostname(), token: "live" });
    fs.before.writeFile = (path) => path.includes(".takeover") && writeFileSync(file, live);
    await expect(acquireLock(file, what)).rejects.toThrow(`in use by process ${process.pid}`);
    expect([readFileSync(file, "utf8"), beside(file)]).toEqual([live, []]);
  });

  it("that is a FIFO is not waited for, and nobody's when it stands below a file", async () => {
    const file = lockFile();
    execFileSync("mkfifo", [file]);
    await expect(acquireLock(file, what)).rejects.toThrow(
      `${file} is not a regular file; replace it with a regular file.`,
    );
    rmSync(file);
    const lock = await acquireLock(file, what);
    rmSync(dirname(file), { recursive: true });
    writeFileSync(dirname(file), "");
    expect([await lock.isStillHeld(), await lock.release()]).toEqual([false, undefined]);
    await expect(acquireLock(file, what)).rejects.toThrow(
      `${dirname(file)} is a file where a folder belongs; move it away.`,
    );
  });

  it("that can't be looked at any more is given up without a word, and is told where it is needed", async () => {
    const file = lockFile();
    const lock = await acquireLock(file, what);
    fs.before.open = fail("EACCES");
    await expect(lock.isStillHeld()).rejects.toThrow(`There is no permission for ${file}`);
    expect(await lock.release()).toBeUndefined();
  });

  it("that went while its takeover began is simply taken", async () => {
    const file = lockFile();
    await deadHolder(file);
    fs.before.writeFile = (path) => path.includes(".takeover") && rmSync(file, { force: true });
    expect(await (await acquireLock(file, what)).isStillHeld()).toBe(true);
    expect(beside(file)).toEqual([]);
  });

  it.each([
    ["link", "EIO"],
    ["rename", "EIO"],
    ["open", "EIO"],
  ] as const)("is not taken where %s fails by %s, and nothing is left beside it", async (call, code) => {
    const file = lockFile();
    await deadHolder(file);
    fs.before[call] = fail(code);
    await expect(acquireLock(file, what)).rejects.toThrow(code);
    fs.before = {};
    for (const name of beside(file)) expect(name).toBe("lock.takeover");
    expect(await (await acquireLock(file, what)).isStillHeld()).toBe(true);
  });

  it("leaves nothing on a full disk", async () => {
    const file = lockFile();
    fs.before.writeFile = (path) => {
      writeFileSync(path, "");
      fail("ENOSPC")();
    };
    await expect(acquireLock(file, what)).rejects.toThrow("There is no space left on the disk");
    expect(readdirSync(dirname(file))).toEqual([]);
  });

  it("that can't be read is not told to be held", async () => {
    const file = lockFile();
    writeFileSync(file, JSON.stringify({ pid: process.pid, host: hostname(), token: "mine" }));
    expect(await isHeld(file)).toBe(true);
    fs.before.open = fail("EIO");
    expect(await isHeld(file)).toBe(false);
  });
});

describe("a process", () => {
  const on = (platform: NodeJS.Platform) => {
    const real = Object.getOwnPropertyDescriptor(process, "platform") as PropertyDescriptor;
    Object.defineProperty(process, "platform", { ...real, value: platform });
    onTestFinished(() => void Object.defineProperty(process, "platform", real));
  };
  const asked = (code?: string) => {
    const kill = vi.spyOn(process, "kill").mockImplementation(() => (code === undefined ? true : fail(code)()));
    onTestFinished(() => kill.mockRestore());
  };
  /** A `ps` that says so, and writes down how it was asked. */
  const psSays = (text: string, exit = 0) => {
    const folder = temporaryFolder();
    const log = join(folder, "log");
    writeFileSync(join(folder, "ps"), `#!/bin/sh\necho "$LC_ALL $*" > '${log}'\nprintf '${text}'\nexit ${exit}\n`, {
      mode: 0o755,
    });
    const { PATH: before } = process.env;
    process.env["PATH"] = `${folder}${delimiter}${before}`;
    onTestFinished(() => void (process.env["PATH"] = before));
    return () => readFileSync(log, "utf8").trim();
  };

  it("of another person's is alive, one that can't be found is not", async () => {
    on("win32");
    asked("EPERM");
    expect(await isSameProcess(2 ** 22 + 1, "then")).toBe(true);
    vi.mocked(process.kill).mockImplementation(fail("ESRCH"));
    expect(await isSameProcess(2 ** 22 + 1, "then")).toBe(false);
  });

  it("is what ps says of it, in the words of every language", async () => {
    on("darwin");
    const how = psSays(" Sun Nov 22 05:56:01 2026 \\n");
    expect(await startTimeOf(77)).toBe("Sun Nov 22 05:56:01 2026");
    expect(how()).toBe("C -o lstart= -p 77");
    psSays("Sun Nov 22 05:56:01 2026", 1);
    expect(await startTimeOf(77)).toBeUndefined();
    psSays(" \\n");
    expect(await startTimeOf(77)).toBeUndefined();
  });

  it.skipIf(process.platform !== "linux").each([
    ["R", true],
    ["Z", false],
    ["X", false],
  ])("in state %s is alive: %s", async (state, alive) => {
    fs.answer = `77 (a b) ${state} ${Array.from({ length: 18 }, () => 0).join(" ")} 4711 0`;
    expect(await isSameProcess(77, "4711")).toBe(alive);
    expect(await isSameProcess(77, "4712")).toBe(false);
  });

  it.skipIf(process.platform !== "linux")(
    "that ended while it was looked at is none; one that can't be looked at for another reason is an error",
    async () => {
      asked();
      for (const code of ["ENOENT", "ESRCH"]) {
        fs.before.readFile = fail(code);
        expect(await startTimeOf(77)).toBeUndefined();
      }
      fs.before.readFile = fail("EIO");
      await expect(startTimeOf(77)).rejects.toThrow("EIO");
    },
  );
});
