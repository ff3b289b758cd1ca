import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { doneFolder, journalFolder } from "../../../../src/engine/lib/layout.js";
import { appendOnce, writeFileAtomic } from "../../../../src/engine/storage/atomic-file.js";
import type { Entry } from "../../../../src/engine/storage/guard/guard.js";
import { healGuards, openKeptGuard } from "../../../../src/engine/storage/guard/guard-record.js";
import { agreedContent } from "../../../../src/engine/storage/guard/own-writes.js";
import { markDone } from "../../../../src/engine/storage/state/journal.js";
import { read, temporaryFolder } from "../../../support/folders.js";

/** A folder with a state, a log and a journal, guarded; `kill` makes its record that of a process that is gone. */
async function guarded() {
  const [folder, kept] = [temporaryFolder(), join(temporaryFolder(), "guards")];
  mkdirSync(doneFolder(folder), { recursive: true });
  writeFileSync(join(folder, "state.json"), "{}");
  writeFileSync(join(folder, "log"), "one\n");
  const tell: Entry["tell"] = (found) => found.map(({ path, was }) => `${path.slice(folder.length + 1)} ${was}`);
  const entries: Entry[] = [
    { rule: "put back", files: ["state.json", "log", "config"].map((name) => join(folder, name)), tell },
    { rule: "ours alone", folders: [{ path: journalFolder(folder) }], tell },
  ];
  const where = { folder, iteration: 1, places: [], rescue: join(kept, "rescued") };
  const guard = await openKeptGuard(kept, {}, where, entries);
  const [record = ""] = readdirSync(kept);
  const kill = (): void => {
    const text = readFileSync(join(kept, record), "utf8");
    writeFileSync(join(kept, record), text.replace(/"pid":\d+/, '"pid":4194304'));
  };
  const heal = () => healGuards(kept, folder, () => Promise.resolve(entries));
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
  expect(agreedContent(join(folder, "state.json"))).toEqual(Buffer.from('{"n":1}'));
  expect(agreedContent(join(journalFolder(folder), "9.json"))).toBeUndefined();
  expect(await end()).toEqual(["state.json changed", "log changed", ".ralph/journal/9.json planted"]);
  expect([read(folder, "state.json"), read(folder, "log")]).toEqual(['{"n":1}', "one\ntwo\n"]);
  expect(agreedContent(join(folder, "state.json"))).toBe("unwatched");
});

it("a start after a kill puts back what the agent left, and leaves what was folded until then", async () => {
  const { folder, kill, heal, record } = await guarded();
  await fold(folder);
  writeFileSync(join(folder, "config"), "planted");
  expect(await heal()).toEqual([]);
  kill();
  expect(await heal()).toEqual([`${folder}: config planted`]);
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
  expect(await heal()).toEqual([`${folder}: config planted`]);
  expect([read(folder, "state.json"), read(folder, "log")]).toEqual(['{"n":1}', "one\ntwo\n"]);
  expect(existsSync(record)).toBe(false);
});
