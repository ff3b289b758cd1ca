import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ExpectedError } from "../../../../src/engine/lib/errors.js";
import { backUp } from "../../../../src/engine/storage/records/backup.js";
import { recordElsewhere } from "../../../../src/research/folder/logs/spending-log.js";
import { leaveMessage, readMessages, takeMessage } from "../../../../src/engine/storage/records/steering-inbox.js";
import { keepSteering } from "../../../../src/research/folder/tamper/steering-fields.js";
import { explaining, explainSystemError } from "../../../../src/engine/storage/explain-system-error.js";
import { paper, rrdWith } from "../../../support/research.js";
import { read, temporaryFolder } from "../../../support/folders.js";

const now = Date.parse("2026-01-02T03:04:05.678Z");
const systemError = (code: string) => Object.assign(new Error(code), { code });

describe("a failure of the system", () => {
  it.each([
    ["ENOSPC", "There is no space left on the disk for /a/b; free some and run again."],
    ["EDQUOT", "There is no space left on the disk for /a/b; free some and run again."],
    ["EROFS", "/a/b is on a read-only file system; make it writable, or copy the project folder elsewhere."],
    ["EACCES", "There is no permission for /a/b; check who owns it with 'ls -ld', or run as that user."],
    ["EPERM", "There is no permission for /a/b; check who owns it with 'ls -ld', or run as that user."],
    ["ENOENT", "/a/b cannot be reached: its folder does not exist; it may have been moved or deleted."],
    ["ENOTDIR", "/a/b cannot be reached: its folder does not exist; it may have been moved or deleted."],
    ["EFBIG", "/a/b is larger than this shell or file system allows; 'ulimit -f' shows the shell's limit."],
    ["EISDIR", "/a/b is a folder where a file belongs; move it away."],
    ["ELOOP", "/a/b is a symbolic link, which is not followed here; put a file in its place."],
    ["EMLINK", "/a/b is a symbolic link, which is not followed here; put a file in its place."],
  ])("%s is told in a sentence with the file and what to do", (code, sentence) => {
    const explained = explainSystemError(systemError(code), "/a/b");
    expect(explained).toBeInstanceOf(ExpectedError);
    expect((explained as Error).message).toBe(sentence);
  });

  it("that a person can't mend stays what it is", async () => {
    const bug = systemError("EMFILE");
    expect(explainSystemError(bug, "/a/b")).toBe(bug);
    await expect(explaining("/a/b", () => Promise.reject(bug))).rejects.toBe(bug);
    await expect(explaining("/a/b", () => Promise.reject(systemError("EROFS")))).rejects.toBeInstanceOf(ExpectedError);
    expect(await explaining("/a/b", async () => 7)).toBe(7);
  });
});

describe("a message to a research", () => {
  it("waits, in the order of its leaving, until it is taken", async () => {
    const folder = temporaryFolder();
    await leaveMessage(folder, { text: "second" }, now + 1);
    await leaveMessage(folder, { text: "first" }, now);
    await leaveMessage(folder, { clear: true }, now + 2);
    const [first, ...rest] = await readMessages(folder);
    expect([first, ...rest]).toMatchObject([{ text: "first" }, { text: "second" }, { clear: true }]);
    expect(first?.id).toMatch(/^2026-01-02T03-04-05\.678Z-[0-9a-f]{8}$/);
    await takeMessage(folder, first?.id ?? "");
    await takeMessage(folder, "nobody");
    expect((await readMessages(folder)).map(({ id }) => id)).toEqual(rest.map(({ id }) => id));
  });

  it("is for nobody's repository, and leaves what is said of that alone", async () => {
    const folder = temporaryFolder();
    await leaveMessage(folder, { text: "x" }, now);
    expect(read(folder, ".ralph/.gitignore")).toBe("*\n");
    writeFileSync(join(folder, ".ralph/.gitignore"), "mine\n");
    await leaveMessage(folder, { text: "y" }, now);
    expect(read(folder, ".ralph/.gitignore")).toBe("mine\n");
  });

  it("is none where it can't be read as one", async () => {
    const folder = temporaryFolder();
    expect(await readMessages(folder)).toEqual([]);
    mkdirSync(join(folder, ".ralph/inbox/5.json"), { recursive: true });
    const texts = ["{", "null", "7", '{"text": 7}', '{"text": "  "}', '{"clear": "yes"}', "{}"];
    for (const [n, text] of texts.entries()) writeFileSync(join(folder, ".ralph/inbox", `bad-${n}.json`), text);
    writeFileSync(join(folder, ".ralph/inbox/note.txt"), '{"text": "not mine"}');
    writeFileSync(join(folder, ".ralph/inbox/good.json"), '{"text": " Look at hands. ", "more": 1}');
    writeFileSync(join(folder, ".ralph/inbox/a.json-b.json"), '{"text": "Named oddly: é"}');
    expect(await readMessages(folder)).toEqual([
      { id: "a.json-b", text: "Named oddly: é" },
      { id: "good", text: " Look at hands. " },
    ]);
  });

  it("comes after all that were left before it", async () => {
    const folder = temporaryFolder();
    const words = Array.from({ length: 20 }, (_, index) => `word ${index}`);
    for (const [index, text] of words.entries()) await leaveMessage(folder, { text }, now + ((index * 7) % 20));
    expect(await readMessages(folder)).toEqual(
      words.map((_, index) => ({ id: expect.any(String), text: `word ${(index * 3) % 20}` })),
    );
  });

  it("that can't be left says why", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, ".ralph"), "");
    await expect(leaveMessage(folder, { text: "x" }, now)).rejects.toThrow(
      `${join(folder, ".ralph")} is a file where a folder belongs; move it away.`,
    );
    expect(await readMessages(folder)).toEqual([]);
  });
});

describe("a copy of the files as they were", () => {
  it("holds those that are there, in a folder named after the time", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "rrd.json"), "{}");
    writeFileSync(join(folder, "other"), "");
    const backup = await backUp(folder, now, ["rrd.json", "progress.txt"]);
    expect(backup).toBe(join(folder, ".ralph/backups/2026-01-02T03-04-05.678Z"));
    expect(readdirSync(backup)).toEqual(["rrd.json"]);
    expect(readFileSync(join(backup, "rrd.json"), "utf8")).toBe("{}");
  });

  it("that can't be made says of which file", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "rrd.json"));
    await expect(backUp(folder, now, ["rrd.json"])).rejects.toThrow(join(folder, "rrd.json"));
    writeFileSync(join(folder, "file"), "");
    await expect(backUp(join(folder, "file"), now, [])).rejects.toBeInstanceOf(ExpectedError);
  });
});

it("work that left no folder is added to the common ledger under its command, and what goes wrong costs nothing", async () => {
  const folder = temporaryFolder();
  const line = {
    iteration: 1,
    at: "2026-01-01T00:00:00Z",
    unit: "p1",
    phase: "ANALYSIS",
    outcome: "accepted",
  } as const;
  await recordElsewhere(folder, "new", []);
  expect(existsSync(join(folder, "ledger.jsonl"))).toBe(false);
  await recordElsewhere(folder, "new", [line, { ...line, iteration: 2 }]);
  await recordElsewhere(folder, "new", [{ ...line, iteration: 3 }]);
  const lines = read(folder, "ledger.jsonl").trimEnd().split("\n");
  expect(lines.map((row) => JSON.parse(row))).toEqual(
    [1, 2, 3].map((iteration) => ({ ...line, iteration, command: "new", format: 1 })),
  );
  await recordElsewhere(join(folder, "not-there"), "new", [line]);
});

describe("of an edit while an unconfined agent works", () => {
  const before = rrdWith(
    [paper("p1", { status: "presented", score: 30 }), paper("p2", { analysis: null, notes: null })],
    { insights: [], mine: 1 },
  );
  const withPaper = (n: number, over: object) => ({
    ...before,
    papers_pool: before.papers_pool.map((each, index) => (index === n ? { ...each, ...over } : each)),
  });

  it("what is said of a new paper that is yet to be read stays, its results do not", () => {
    const added = paper("p3", { notes: "Read this.", score: 50, warnings: ["x"] });
    const { rrd } = keepSteering(before, { ...before, papers_pool: [...before.papers_pool, added] });
    const { score: _, warnings: __, ...kept } = added;
    expect(rrd.papers_pool[2]).toEqual(kept);
  });

  it("a result that says nothing is none: null where there was nothing, and the other way round", () => {
    const now = withPaper(1, { score: null, decision: null });
    expect(keepSteering(before, now)).toMatchObject({ forged: false, rrd: now });
    const { rrd, forged } = keepSteering(before, withPaper(1, { analysis: { summary: "forged" }, score: 3 }));
    expect(forged).toBe(true);
    expect(rrd.papers_pool[1]).toEqual(before.papers_pool[1]);
  });

  it.each([
    "status",
    "score",
    "score_breakdown",
    "analysis",
    "decision",
    "notes",
    "read_depth",
    "text_sha256",
    "text_from",
  ])("%s of a paper is a result", (field) => {
    expect(keepSteering(before, withPaper(0, { [field]: "forged" })).rrd).toEqual(before);
  });

  it.each(["retracted", "updates", "updates_check", "warnings", "iteration", "refusals"])(
    "%s of a paper is a result too",
    (field) => {
      expect(keepSteering(before, withPaper(0, { [field]: "forged" })).rrd).toEqual(before);
    },
  );

  it.each(["insights", "phase", "statistics", "timing", "loop", "refusals", "excluded", "visited_urls"])(
    "%s of the research is a result",
    (field) => {
      expect(keepSteering(before, { ...before, [field]: ["forged"] })).toMatchObject({
        rrd: before,
        forged: true,
        kept: [],
      });
    },
  );

  it("the fields and papers that it may change are named, and those that it took away come back or stay gone", () => {
    const { mine: _, ...without } = before;
    expect(keepSteering(before, without as typeof before)).toEqual({ rrd: without, forged: false, kept: ["mine"] });
    expect(keepSteering(before, { ...withPaper(1, { priority: 5 }), yours: 2 }).kept).toEqual(["yours", "p2"]);
    const { insights: __, ...robbed } = before;
    expect(keepSteering(before, robbed as typeof before)).toMatchObject({
      forged: true,
      kept: [],
      rrd: { insights: [] },
    });
  });
});
