import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { doneFolder, journalFolder } from "../../../../src/engine/lib/layout.js";
import { appendOnce, writeFileAtomic } from "../../../../src/engine/storage/atomic-file.js";
import { foldersBetween, clearObstacles, folderStates } from "../../../../src/engine/storage/guard/clear-obstacles.js";
import { type GuardEntry, type Finding, openGuard } from "../../../../src/engine/storage/guard/guard.js";
import {
  approvedLog,
  heldEditEntries,
  holdAddedLines,
  waitingEdit,
} from "../../../../src/engine/storage/guard/held-edits.js";
import { restoreAfterKill, openRecordedGuard } from "../../../../src/engine/storage/guard/guard-record.js";
import { recordedContent, announceMove, announceWrite } from "../../../../src/engine/storage/guard/own-writes.js";
import { markDone } from "../../../../src/engine/storage/state/journal.js";
import { read, temporaryFolder } from "../../../support/folders.js";

/** A folder with a state, a log and a journal, guarded; `kill` makes its record that of a process that is gone. */
async function guarded() {
  const [folder, kept] = [temporaryFolder(), join(temporaryFolder(), "guards")];
  mkdirSync(doneFolder(folder), { recursive: true });
  writeFileSync(join(folder, "state.json"), "{}");
  writeFileSync(join(folder, "log"), "one\n");
  const describe: GuardEntry["describe"] = (found) =>
    found.map(({ path, kind }) => `${path.slice(folder.length + 1)} ${kind}`);
  const entries: GuardEntry[] = [
    { rule: "restore", files: ["state.json", "log", "config"].map((name) => join(folder, name)), describe },
    { rule: "set aside", folders: [{ path: journalFolder(folder) }], describe },
  ];
  const where = { folder, iteration: 1, places: [], rescue: join(kept, "rescued") };
  const guard = await openRecordedGuard(kept, {}, where, entries);
  const [record = ""] = readdirSync(kept);
  const kill = (): void => {
    const text = readFileSync(join(kept, record), "utf8");
    writeFileSync(join(kept, record), text.replace(/"pid":\d+/, '"pid":4194304'));
  };
  const heal = () => restoreAfterKill(kept, folder, () => Promise.resolve(entries));
  return {
    folder,
    guard,
    record: join(kept, record),
    kill,
    heal,
    end: () => guard.end({ agent: "a", during: "a ran" }),
  };
}

/** All ways in which a fold writes. */
async function fold(folder: string): Promise<void> {
  const entry = join(journalFolder(folder), "1.json");
  await writeFileAtomic(entry, "entry");
  await writeFileAtomic(join(folder, "state.json"), '{"n":1}');
  await appendOnce(join(folder, "log"), { offset: 4, text: "two\n" });
  markDone(folder, 1);
}

it("what this process writes itself while an agent works is as it wrote it, and nobody is accused", async () => {
  const { folder, end, record } = await guarded();
  await fold(folder);
  expect(await end()).toEqual([]);
  expect([read(folder, "state.json"), read(folder, "log")]).toEqual(['{"n":1}', "one\ntwo\n"]);
  expect([readdirSync(doneFolder(folder)), existsSync(record)]).toEqual([["1.json"], false]);
});

it("what an agent forges beside that goes back to what this process wrote last", async () => {
  const { folder, end } = await guarded();
  writeFileSync(join(folder, "log"), "forged\n");
  await fold(folder);
  writeFileSync(join(folder, "state.json"), "forged");
  writeFileSync(join(journalFolder(folder), "9.json"), "forged");
  expect(recordedContent(join(folder, "state.json"))).toEqual(Buffer.from('{"n":1}'));
  expect(recordedContent(join(journalFolder(folder), "9.json"))).toBeUndefined();
  expect(await end()).toEqual(["state.json changed", "log changed", ".ralph/journal/9.json new"]);
  expect([read(folder, "state.json"), read(folder, "log")]).toEqual(['{"n":1}', "one\ntwo\n"]);
  expect(recordedContent(join(folder, "state.json"))).toBe("unwatched");
});

it("a start after a kill puts back what the agent left, and leaves what was folded until then", async () => {
  const { folder, kill, heal, record } = await guarded();
  await fold(folder);
  writeFileSync(join(folder, "config"), "planted");
  expect(await heal()).toEqual([]);
  kill();
  expect(await heal()).toEqual([`${folder}: config new`]);
  expect([existsSync(join(folder, "config")), read(join(folder, ".ralph/set-aside/1"), "config")]).toEqual([
    false,
    "planted",
  ]);
  expect([read(folder, "state.json"), readdirSync(doneFolder(folder))]).toEqual(['{"n":1}', ["1.json"]]);
  expect([await heal(), existsSync(record)]).toEqual([[], false]);
});

it("a kill between the note of a write and the write itself costs neither content", async () => {
  const { folder, kill, heal, record } = await guarded();
  const note = (path: string, more: object) => appendFileSync(record, `${JSON.stringify({ path, ...more })}\n`);
  note(join(folder, "state.json"), { kind: "file", mode: 420, bytes: Buffer.from('{"n":1}').toString("base64") });
  note(join(journalFolder(folder), "1.json"), { sha256: "0".repeat(64) });
  appendFileSync(record, '{"path": "torn');
  kill();
  expect(await heal()).toEqual([]);
  expect(read(folder, "state.json")).toBe("{}");
});

it("a note torn by a full disk costs no other note, and no start after a kill", async () => {
  const { folder, record, kill, heal } = await guarded();
  const torn = JSON.stringify({ path: join(folder, "state.json"), kind: "file", bytes: "AAAA" }).slice(0, -6);
  appendFileSync(record, torn);
  await fold(folder);
  writeFileSync(join(folder, "config"), "planted");
  appendFileSync(record, torn);
  kill();
  expect(await heal()).toEqual([`${folder}: config new`]);
  expect([read(folder, "state.json"), read(folder, "log")]).toEqual(['{"n":1}', "one\ntwo\n"]);
  expect(existsSync(record)).toBe(false);
});

const who = { agent: "a", during: "a ran" };

/** A guard of these entries over a folder with files; `found`: what `tell` is given, with where it is kept. */
async function over(
  files: Readonly<Record<string, string>>,
  rules: (folder: string) => readonly Omit<GuardEntry, "describe">[],
) {
  const folder = temporaryFolder();
  const write = (name: string, text: string) => {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const found: (Finding & { readonly aside: string })[] = [];
  const describe: GuardEntry["describe"] = (all, _, aside) => {
    found.push(...all.map((each) => ({ ...each, path: each.path.slice(folder.length + 1), aside })));
    return [];
  };
  const entries = rules(folder).map((entry) => ({ ...entry, describe }));
  const rescue = join(temporaryFolder(), "rescue");
  const open = () => openGuard(entries, { folder, iteration: 7, places: [], rescue: rescue });
  return { folder, write, found, rescue, open, guard: await open() };
}

it("a folder is watched with all that is in it but what it leaves out, and what was planted is kept as it lay", async () => {
  const { folder, write, found, guard, open } = await over({ "in/a": "a", "in/deep/b": "b" }, (at) => [
    { rule: "restore", folders: [{ path: join(at, "in"), except: ["cache"] }, { path: join(at, "one") }] },
  ]);
  for (const name of ["in/cache/x", "in/deep/cache/y", "in/deep/new", "in/.git/hooks/z", "one", "out"])
    write(name, "new");
  rmSync(join(folder, "in/deep/b"));
  await guard.check(who);
  expect(await guard.end(who)).toEqual([]);
  const aside = join(folder, ".ralph/set-aside/7");
  expect(found.toSorted((a, b) => a.path.localeCompare(b.path))).toEqual([
    { path: "in/.git/hooks/z", kind: "new", isSetAside: true, aside },
    { path: "in/deep/b", kind: "deleted", isSetAside: false, aside },
    { path: "in/deep/new", kind: "new", isSetAside: true, aside },
    { path: "one", kind: "new", isSetAside: true, aside },
  ]);
  expect([read(aside, "in/git/hooks/z"), read(aside, "in/deep/new"), read(folder, "in/deep/b")]).toEqual([
    "new",
    "new",
    "b",
  ]);
  expect(["in/cache/x", "in/deep/cache/y", "out"].map((name) => existsSync(join(folder, name)))).toEqual([
    true,
    true,
    true,
  ]);
  // What was set aside before may be a person's by now.
  const again = await open();
  writeFileSync(join(folder, "in/a"), "forged");
  await again.end(who);
  expect(found.at(-1)).toEqual({ path: "in/a", kind: "changed", isSetAside: true, aside: `${aside}-2` });
  expect([read(folder, "in/a"), read(`${aside}-2`, "in/a")]).toEqual(["a", "forged"]);
});

it("what of a change may stay is for the entry to judge, by what stood there and what stands there", async () => {
  const file = (text: string) => ({ kind: "file" as const, bytes: Buffer.from(text), mode: 0o644 });
  const seen: unknown[] = [];
  const { folder, write, found, guard } = await over({ a: "a", b: "b", c: "c" }, (at) => [
    {
      rule: "restore",
      files: ["a", "b", "c"].map((name) => join(at, name)),
      decide: async ({ path, before, current: now, suspect, rememberedVersion }) => {
        seen.push([before, now, suspect, rememberedVersion(join(at, "c")), rememberedVersion(join(at, "d"))]);
        if (path.endsWith("a")) return { sentences: ["a stays"] };
        return path.endsWith("b") ? { replacement: file("mended"), sentences: ["b is mended"] } : undefined;
      },
    },
  ]);
  for (const name of ["a", "b", "c"]) write(name, "new");
  expect(await guard.end(who)).toEqual(["a stays", "b is mended"]);
  expect(["a", "b", "c"].map((name) => read(folder, name))).toEqual(["new", "mended", "c"]);
  expect(found.map(({ path }) => path)).toEqual(["b", "c"]);
  expect(seen[0]).toMatchObject([file("a"), { bytes: Buffer.from("new") }, who, file("c"), undefined]);
});

it("of what is ours alone a change is set aside and a loss is told, and nothing comes back", async () => {
  const { folder, write, found, guard } = await over({ "ours/a": "a", "ours/b": "b", "ours/c": "c" }, (at) => [
    { rule: "set aside", folders: [{ path: join(at, "ours") }] },
  ]);
  write("ours/a", "forged");
  rmSync(join(folder, "ours/b"));
  await guard.check(who);
  expect(await guard.end(who)).toEqual([]);
  expect(found.map(({ path, kind, isSetAside }) => [path, kind, isSetAside])).toEqual([
    ["ours/a", "changed", true],
    ["ours/b", "deleted", false],
  ]);
  expect(readdirSync(join(folder, "ours"))).toEqual(["c"]);
});

it("a folder that is gone is saved elsewhere, and the sentence says where", async () => {
  const { folder, rescue, guard } = await over({ a: "a", "in/b": "b" }, (at) => [
    { rule: "restore", files: [join(at, "a"), join(at, "in/b")] },
  ]);
  rmSync(folder, { recursive: true });
  await expect(guard.end(who)).rejects.toThrow(
    `${folder} was deleted or moved away while a ran; its files as they were`,
  );
  const [place = ""] = readdirSync(rescue);
  expect([existsSync(folder), readdirSync(join(rescue, place)), read(join(rescue, place), "a")]).toEqual([
    false,
    ["a"],
    "a",
  ]);
});

it("a file that can't be put back is saved, and keeps none of the others from it", async () => {
  const { folder, rescue, guard } = await over({ "in/a": "a", b: "b" }, (at) => [
    { rule: "restore", files: [join(at, "in/a"), join(at, "b")] },
  ]);
  rmSync(join(folder, "in"), { recursive: true });
  writeFileSync(join(folder, "in"), "in the way");
  writeFileSync(join(folder, "b"), "forged");
  await expect(guard.end(who)).rejects.toThrow(
    /^a changed while a ran, and can't be put back \(.+[^.]\); copy what stands in/,
  );
  const [place = ""] = readdirSync(rescue);
  expect([read(join(rescue, place), "a"), read(folder, "b")]).toEqual(["a", "b"]);
});

it("the way to what is put back is cleared of links and other things, and its permissions are as before", () => {
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  const [away, own] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(away, "mine"), "mine");
  for (const name of ["a/b", "c", ".ralph"]) mkdirSync(at(name), { recursive: true });
  symlinkSync(own, at("own"));
  const before = folderStates([at("a/b"), folder, at("a"), at("c"), at("own"), at("none"), at("a")]);
  expect([...before.keys()]).toEqual(
    [folder, at("a"), at("c"), at("a/b"), at("own"), at("none")].toSorted((a, b) => a.length - b.length),
  );
  expect(clearObstacles(folder, before, undefined)).toEqual([]);

  rmSync(at("a"), { recursive: true });
  symlinkSync(away, at("a"));
  chmodSync(at("c"), 0o500);
  writeFileSync(at("none"), "planted");
  writeFileSync(at("aside"), "planted");
  mkdirSync(at(".ralph/lock"));
  expect(clearObstacles(folder, before, at("aside")).toSorted()).toEqual(
    [at(".ralph/lock"), at("a"), at("aside"), at("none")].toSorted(),
  );
  expect([statSync(at("a/b")).isDirectory(), statSync(at("c")).mode & 0o777, readdirSync(away)]).toEqual([
    ...[true, 0o755, ["mine"]],
  ]);
  expect([existsSync(at("none")), existsSync(at("own"))]).toEqual([false, true]);
  expect(foldersBetween("/r", "/r/a/b")).toEqual(["/r", "/r/a", "/r/a/b"]);
  expect(foldersBetween("/r", "/r")).toEqual(["/r"]);
});

it("a record that a later version wrote stays, and stops a start in its folder alone", async () => {
  const { folder, record, kill, end } = await guarded();
  kill();
  const kept = join(record, "..");
  const heal = (cwd: string) => restoreAfterKill(kept, cwd, () => Promise.resolve(undefined));
  const says = `${record}, which says what agents may have changed, was written by a later version; update research-ralph.`;
  for (const cwd of [folder, join(folder, "within"), join(folder, "..")])
    await expect(heal(cwd)).rejects.toMatchObject({ exitCode: 5, message: says });
  expect(await heal(`${folder}-beside`)).toEqual([`${folder}: ${says}`]);
  expect(existsSync(record)).toBe(true);
  // One of another machine is nobody's here.
  writeFileSync(record, readFileSync(record, "utf8").replace(`"host":"${hostname()}"`, '"host":"elsewhere"'));
  expect(await heal(folder)).toEqual([]);
  expect(await restoreAfterKill(join(kept, "none"), folder, () => Promise.resolve([]))).toEqual([]);
  await end();
});

it.each([
  ["one\ntwo\nthree\n", "one\n2\nthree\n", '- "two", + "2"'],
  ["one\n", "one\n1\n2\n3\n4\n5\n", '+ "1", + "2", + "3", + 2 more lines'],
  ["a\na\nb", "a\nb", '- "a"'],
  ["one\n", "one\n\n", "white space"],
  ["x", `${"y".repeat(90)}`, `- "x", + "${"y".repeat(80)}"`],
])("an edit that waits is told by the lines that differ, from %j to %j", async (old, now, told) => {
  const folder = temporaryFolder();
  const [file, stateDir] = [join(folder, "AGENTS.md"), temporaryFolder()];
  writeFileSync(file, old);
  const entries = heldEditEntries([file], [], { stateDir, folder });
  const guard = await openGuard(entries, { folder, iteration: 1, places: [], rescue: stateDir });
  writeFileSync(file, now);
  const [sentence, ...others] = await guard.end(who);
  expect(sentence).toContain(`AGENTS.md changed while a ran (${told}). The change stays,`);
  expect([others, read(folder, "AGENTS.md")]).toEqual([[], now]);
});

it("lines added to a log wait as the blocks in which they were added; without any the log is agreed to", async () => {
  const folder = temporaryFolder();
  const [log, held] = [join(folder, "log"), { stateDir: temporaryFolder(), folder }];
  writeFileSync(log, "one\nnew\ntwo\nmore\nlines\n");
  expect(await approvedLog(held.stateDir, log)).toBeUndefined();
  const version = (text: string) => ({ kind: "file" as const, bytes: Buffer.from(text), mode: 0o644 });
  const change = {
    path: log,
    current: version(readFileSync(log, "utf8")),
    suspect: who,
    rememberedVersion: () => undefined,
  };
  expect(await holdAddedLines(log, { ...change, before: version("one\n2\n") }, held)).toBeUndefined();
  const judged = await holdAddedLines(log, { ...change, before: version("one\ntwo\n") }, held);
  expect(judged?.sentences?.join()).toContain("log changed while a ran");
  expect(await waitingEdit(held.stateDir, log)).toMatchObject({ agent: "a", added: ["new\n", "more\nlines\n"] });
  expect(await approvedLog(held.stateDir, log)).toBe("one\ntwo\n");
});

it("what this process moves and writes is its own also where nothing is kept on the disk", async () => {
  const { folder, found, guard } = await over({ a: "a", b: "b", "ours/c": "c" }, (at) => [
    { rule: "restore", files: [join(at, "a"), join(at, "b")] },
    { rule: "set aside", folders: [{ path: join(at, "ours") }] },
  ]);
  announceMove(join(folder, "a"), undefined);
  rmSync(join(folder, "a"));
  announceWrite(
    join(folder, "b"),
    () => Buffer.from("by us"),
    () => writeFileSync(join(folder, "b"), "by us"),
  );
  announceMove(join(folder, "ours/c"), join(folder, "ours/d"));
  renameSync(join(folder, "ours/c"), join(folder, "ours/d"));
  expect(await guard.end(who)).toEqual([]);
  expect([found, readdirSync(join(folder, "ours")), read(folder, "b")]).toEqual([[], ["d"], "by us"]);
});
