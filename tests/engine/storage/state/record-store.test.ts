import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  openRecordStore,
  type RecordStore,
  type StoreOptions,
} from "../../../../src/engine/storage/state/record-store.js";
import { lockFile } from "../../../../src/engine/lib/layout.js";
import { git, repository, temporaryFolder } from "../../../support/folders.js";
import { type Task, taskFormat } from "../../../support/projects/task-format.js";

const format = { ...taskFormat, otherLogs: ["answers.jsonl"] };
const task: Task = { title: "A task", criteria: [{ key: "C1", status: "open" }] };

function taskFolder(root = temporaryFolder(), content: unknown = task): string {
  const folder = join(root, "task");
  mkdirSync(folder);
  writeFileSync(join(folder, "task.json"), JSON.stringify(content));
  return folder;
}

async function open(folder: string, told: string[] = [], options: Partial<StoreOptions<Task>> = {}) {
  const notify = (level: string, message: string) => void told.push(`${level}: ${message}`);
  const store = await openRecordStore(folder, format, { derive: (state) => state, git: false, notify, ...options });
  onTestFinished(() => store.close());
  return store;
}

const change = (state: Task): Task => ({ ...state, title: "Another" });
const at = "2026-01-01T00:00:00.000Z";

/** All that is done with an open folder. */
const uses: readonly (readonly [string, (store: RecordStore<Task>) => Promise<unknown>])[] = [
  ["load", (store) => store.load()],
  ["edit", (store) => store.edit(change)],
  [
    "fold",
    (store) => {
      const ledger = { iteration: 1, at, unit: "C1", phase: "WORK", outcome: "accepted" } as const;
      return store.fold({ iteration: 1, at, message: "C1", changes: [], progress: "- C1\n", ledger });
    },
  ],
  ["together", (store) => store.together(async () => undefined)],
  ["rewrite", (store) => store.rewrite([{ name: "summary.md", text: "x" }], 0, "summary")],
];

describe("a folder that is opened", () => {
  it.each(["log.md", "ledger.jsonl", "answers.jsonl"])(
    "has a file at %s, or none: on anything else a fold would fail, once its agent is paid",
    async (name) => {
      const folder = taskFolder();
      const path = join(folder, name);
      mkdirSync(path);
      await expect(open(folder)).rejects.toThrow(`${path} is a folder where a file belongs; move it away.`);
      rmSync(path, { recursive: true });
      symlinkSync("/dev/null", path);
      await expect(open(folder)).rejects.toThrow(`${path} is not a regular file`);
      expect(existsSync(join(folder, ".ralph"))).toBe(false);
    },
  );

  it("is only read where a later version wrote it", async () => {
    const folder = taskFolder(undefined, { ...task, format: 99 });
    await expect(open(folder)).rejects.toMatchObject({ exitCode: 5 });
    expect(readdirSync(folder)).toEqual(["task.json"]);
  });

  it("keeps its hidden files out of git, as a person's own list there says where there is one", async () => {
    const folder = taskFolder();
    const list = join(folder, ".ralph", ".gitignore");
    await (await open(folder)).close();
    expect(readFileSync(list, "utf8")).toBe("*\n");
    writeFileSync(list, "lock.json\n");
    await (await open(folder)).close();
    expect(readFileSync(list, "utf8")).toBe("lock.json\n");
  });

  it("is swept of what interrupted writes left, wherever it is written", async () => {
    const folder = taskFolder();
    const places = [".", ".ralph", ".ralph/journal"].map((name) => join(folder, name));
    for (const place of places) {
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, ".x.json.0123456789ab.ralph-tmp"), "");
    }
    await open(folder);
    expect(places.flatMap((place) => readdirSync(place)).filter((name) => name.endsWith("ralph-tmp"))).toEqual([]);
  });

  it("is given up again where its state can't be used", async () => {
    const folder = taskFolder(undefined, { title: "x", criteria: [{ key: "C1", status: "later" }] });
    await expect(open(folder)).rejects.toThrow(/must hold criteria/);
    expect(existsSync(lockFile(folder))).toBe(false);
  });

  it("says to others how long it will be held", async () => {
    const [long, short] = [taskFolder(), taskFolder()];
    await open(long);
    await open(short, [], { isShortCommand: true });
    const held = [long, short].map((folder) => JSON.parse(readFileSync(lockFile(folder), "utf8")).short);
    expect(held).toEqual([undefined, true]);
  });
});

describe("a folder that is open", () => {
  it.each(uses)("is held again, here by %s, where somebody deleted its lock", async (_, use) => {
    const folder = taskFolder();
    const store = await open(folder);
    await store.load();
    rmSync(join(folder, ".ralph"), { recursive: true });
    await use(store);
    expect(existsSync(lockFile(folder))).toBe(true);
  });

  it.each(uses)("is another's where they took it meanwhile: %s writes nothing", async (_, use) => {
    const folder = taskFolder();
    const store = await open(folder);
    await store.load();
    writeFileSync(lockFile(folder), JSON.stringify({ pid: process.pid, host: hostname(), token: "another" }));
    await expect(use(store)).rejects.toThrow(/^The task .* is in use by process/);
    expect(readdirSync(folder).toSorted()).toEqual([".ralph", "task.json"]);
    expect(JSON.parse(readFileSync(join(folder, "task.json"), "utf8"))).toEqual(task);
    rmSync(lockFile(folder));
  });

  it.each(uses)("is not made anew by %s where it was moved away", async (_, use) => {
    const folder = taskFolder();
    const store = await open(folder);
    await store.load();
    renameSync(folder, `${folder}-moved`);
    await expect(use(store)).rejects.toThrow(/^The task folder .* is gone/);
    expect(existsSync(folder)).toBe(false);
    renameSync(`${folder}-moved`, folder);
  });

  it("says where a file that it writes was changed by hand", async () => {
    const folder = taskFolder();
    const told: string[] = [];
    const store = await open(folder, told);
    const write = (text: string) => store.rewrite([{ name: "summary.md", text }], 0, "summary");
    await write("one");
    writeFileSync(join(folder, "summary.md"), "mine");
    await write("two");
    expect(told).toEqual([expect.stringMatching(/^warning: summary\.md was changed since it was last written/)]);
  });

  it("commits what was edited at its end, where that is asked for, and nothing without git", async () => {
    const root = repository();
    const folder = taskFolder(root);
    const edited = async (useGit: boolean, commits?: boolean): Promise<string[]> => {
      const store = await open(folder, [], { git: useGit });
      await store.edit((state) => ({ ...state, title: `${state.title}!` }), commits);
      const subject = () => git(root, "log", "-1", "--format=%s").trim();
      const before = subject();
      await store.close();
      return [before, subject()];
    };
    expect(await edited(false, true)).toEqual(["begin", "begin"]);
    expect(await edited(true)).toEqual(["begin", "begin"]);
    expect(await edited(true, true)).toEqual(["begin", "What changed between iterations"]);
  });
});
