import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  hasChanged,
  isSameVersion,
  copyAside,
  moveAside,
  putVersion,
  snapshotOf,
  versionAt,
} from "../../../../src/engine/storage/guard/file-snapshot.js";
import { read, temporaryFolder } from "../../../support/folders.js";

describe("whether a path has changed", () => {
  const settled = 2_100;
  const names = ["same", "rewritten", "in place, its times set back", "gone", "link", "chmod", "absent", "new"];

  it("is seen without reading what nobody has touched, and never missed for what was", async () => {
    const folder = temporaryFolder();
    const at = (name: string) => join(folder, name);
    for (const name of names.slice(0, 6)) writeFileSync(at(name), `content of ${name}`);
    await new Promise((resolve) => setTimeout(resolve, settled));
    const snapshots = await Promise.all(names.map((name) => snapshotOf(at(name))));
    expect(snapshots.map(({ stamp }) => stamp !== undefined)).toEqual(names.map(() => true));

    writeFileSync(at("rewritten"), "other");
    const { atime, mtime } = statSync(at("in place, its times set back"));
    writeFileSync(at("in place, its times set back"), "CONTENT of in place, its times set back");
    utimesSync(at("in place, its times set back"), atime, mtime);
    rmSync(at("gone"));
    rmSync(at("link"));
    symlinkSync("same", at("link"));
    chmodSync(at("chmod"), 0o600);
    writeFileSync(at("new"), "");
    const changed = await Promise.all(
      names.map((name, index) => hasChanged(at(name), snapshots[index] ?? { version: { kind: "absent" } })),
    );
    expect(names.filter((_, index) => changed[index])).toEqual([
      "rewritten",
      "in place, its times set back",
      "gone",
      "link",
      "new",
    ]);
  });

  it("is looked at by content for a file that was written just before", async () => {
    const path = join(temporaryFolder(), "young");
    writeFileSync(path, "a");
    const snapshot = await snapshotOf(path);
    expect(snapshot).toMatchObject({ version: { kind: "file" } });
    expect(snapshot.stamp).toBeUndefined();
    writeFileSync(path, "b");
    expect(await hasChanged(path, snapshot)).toBe(true);
  });
});

describe("a version of a path", () => {
  it("is told apart by what is there: nothing, a file, a link, something else", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "x");
    expect(await versionAt(path)).toEqual({ kind: "absent" });
    writeFileSync(path, "text");
    chmodSync(path, 0o640);
    expect(await versionAt(path)).toEqual({ kind: "file", bytes: Buffer.from("text"), mode: 0o640 });
    expect(await versionAt(join(path, "below"))).toEqual({ kind: "absent" });
    symlinkSync("nowhere", join(folder, "link"));
    expect(await versionAt(join(folder, "link"))).toEqual({ kind: "link", to: "nowhere" });
    expect(await versionAt(folder)).toEqual({ kind: "other" });
    await expect(versionAt(join(folder, "x".repeat(300)))).rejects.toMatchObject({ code: "ENAMETOOLONG" });
  });

  it("is not read where it is larger than any file of ours", async () => {
    const path = join(temporaryFolder(), "x");
    writeFileSync(path, "");
    truncateSync(path, 256 * 1024 * 1024 + 1);
    expect(await versionAt(path)).toEqual({ kind: "other" });
  });

  it("is the same by bytes or by target, whatever its permissions", () => {
    const file = (bytes: string, mode = 0o644) => ({ kind: "file" as const, bytes: Buffer.from(bytes), mode });
    expect(isSameVersion(file("a"), file("a", 0o600))).toBe(true);
    expect(isSameVersion(file("a"), file("b"))).toBe(false);
    expect(isSameVersion({ kind: "link", to: "a" }, { kind: "link", to: "a" })).toBe(true);
    expect(isSameVersion({ kind: "link", to: "a" }, { kind: "link", to: "b" })).toBe(false);
    expect(isSameVersion(file("a"), { kind: "link", to: "a" })).toBe(false);
    expect(isSameVersion({ kind: "absent" }, { kind: "absent" })).toBe(true);
    expect(isSameVersion({ kind: "absent" }, file(""))).toBe(false);
  });

  it("is put back in one step with its permissions, in a folder that is made where it is gone", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "deep", "er", "x");
    putVersion(path, { kind: "file", bytes: Buffer.from("text"), mode: 0o600 });
    expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["text", 0o600]);
    putVersion(path, { kind: "link", to: "nowhere" });
    expect(readlinkSync(path)).toBe("nowhere");
    expect(readdirSync(dirname(path))).toEqual(["x"]);
    putVersion(path, { kind: "absent" });
    putVersion(join(folder, "none"), { kind: "other" });
    expect([lstatSync(path).isSymbolicLink(), readdirSync(folder)]).toEqual([true, ["deep"]]);
  });

  it("can't be kept where no folder can be made: then what had to go is gone, and that is answered", async () => {
    const folder = temporaryFolder();
    const [path, aside] = [join(folder, "x"), join(folder, "file", "aside", "x")];
    writeFileSync(join(folder, "file"), "");
    writeFileSync(path, "one");
    expect([copyAside(path, await versionAt(path), aside), read(folder, "x")]).toEqual([false, "one"]);
    expect([moveAside(path, aside), existsSync(path)]).toEqual([false, false]);
    writeFileSync(path, "two");
    expect(copyAside(path, await versionAt(path), join(folder, "aside", "x"))).toBe(true);
    expect(moveAside(path, join(folder, "aside", "x"))).toBe(true);
  });

  it("is moved or copied aside over an earlier one, and what can't be moved goes", async () => {
    const folder = temporaryFolder();
    const [path, aside] = [join(folder, "x"), join(folder, "a", "side")];
    const other = join(folder, "another", "one", "y");
    const keep = async (from: string, to: string) => copyAside(from, await versionAt(from), to);
    writeFileSync(path, "one");
    await keep(path, join(aside, "x"));
    expect([read(folder, "x"), read(aside, "x")]).toEqual(["one", "one"]);
    writeFileSync(path, "two");
    await keep(path, join(aside, "x"));
    expect(read(aside, "x")).toBe("two");
    moveAside(path, join(aside, "x"));
    expect([existsSync(path), read(aside, "x")]).toEqual([false, "two"]);
    mkdirSync(join(folder, "y", "deep"), { recursive: true });
    moveAside(join(folder, "y"), other);
    expect(existsSync(join(other, "deep"))).toBe(true);
    writeFileSync(join(folder, "y"), "a file now");
    await keep(join(folder, "y"), other);
    expect(readFileSync(other, "utf8")).toBe("a file now");
    mkdirSync(join(folder, "x", "deep"), { recursive: true });
    await keep(path, join(aside, "x"));
    expect([existsSync(path), read(aside, "x")]).toEqual([false, "two"]);
  });
});
