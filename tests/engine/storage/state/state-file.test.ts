import {
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
} from "node:fs";
import { join, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { formatRrd, researchFormat } from "../../../../src/research/project-files/rrd-file.js";
import {
  openStateFile,
  invalidStateError,
  lastRecordedIteration,
  openLedger,
  readStateFile,
  requireState,
  summarise,
  restoreHint,
} from "../../../../src/engine/storage/state/state-file.js";
import {
  acceptance,
  open,
  read,
  readRrd,
  researchFolder,
  sampleRrd,
  type Told,
  temporaryFolder,
} from "../../../support/folders.js";
import { ExpectedError } from "../../../../src/engine/lib/errors.js";
import { readWhenSaved } from "../../../../src/engine/storage/state/hand-edits/wait-for-editor.js";
import { stampOf } from "../../../../src/engine/storage/atomic-file.js";
import { lastGoodFile } from "../../../../src/research/project-files/layout.js";
import { hastenDates } from "../../../support/clock.js";

const text = formatRrd(sampleRrd(3));

it.each([
  ["has emptied it to write it in place", (path: string) => writeFileSync(path, "")],
  ["has written a part of it", (path: string) => writeFileSync(path, text.slice(0, 200))],
  [
    "has written it up to the end of a paper",
    (path: string) => writeFileSync(path, text.slice(0, text.indexOf("}") + 1)),
  ],
  ["has moved the old one away", (path: string) => renameSync(path, `${path}~`)],
])("an rrd.json is waited for while an editor %s", async (_, begin) => {
  const folder = researchFolder(sampleRrd(1));
  const path = join(folder, "rrd.json");
  begin(path);
  setTimeout(() => writeFileSync(path, text), 100);
  expect((await openStateFile(folder, researchFormat, () => undefined).read()).state.papers_pool).toHaveLength(3);
});

it("an rrd.json that is whole and wrong is not waited for", async () => {
  const folder = researchFolder(sampleRrd(1));
  const path = join(folder, "rrd.json");
  for (const [wrong, says] of [
    [text.replace('"phase"', "phase"), /the name of a field belongs here/],
    [text.replace("ANALYSIS", "NAPPING"), /NAPPING/],
  ] as const) {
    // Wording a problem loads a library the first time, which takes longer than a save on a busy machine.
    researchFormat.parse(wrong, path);
    writeFileSync(path, wrong);
    const saved = setTimeout(() => writeFileSync(path, text), 2000);
    await expect(openStateFile(folder, researchFormat, () => undefined).read()).rejects.toThrow(says);
    clearTimeout(saved);
  }
});

it("an rrd.json that stays cut off or gone is said to be", async () => {
  const folder = researchFolder(sampleRrd(1));
  const path = join(folder, "rrd.json");
  writeFileSync(path, text.slice(0, 200));
  utimesSync(path, new Date(0), new Date(0));
  await expect(openStateFile(folder, researchFormat, () => undefined).read()).rejects.toThrow(
    /the file ends in the middle/,
  );
  rmSync(path);
  hastenDates();
  await expect(openStateFile(folder, researchFormat, () => undefined).read()).rejects.toThrow(/There is no /);
});

describe("a file in an older shape", () => {
  const odd = { ...sampleRrd(2), phase: "Analysis", mine: { kept: true } };

  it("is not touched by reading it", async () => {
    const folder = researchFolder(odd as never);
    const before = read(folder, "rrd.json");
    await (await open(folder)).load();
    expect(read(folder, "rrd.json")).toBe(before);
  });

  it("is written in today's shape with the next result, and kept as it was", async () => {
    const folder = researchFolder(odd as never);
    const before = read(folder, "rrd.json");
    const told: Told[] = [];
    const research = await open(folder, { told });
    await research.load();
    for (const iteration of [1, 2]) await research.fold(acceptance(iteration));
    expect(readRrd(folder)).toMatchObject({
      phase: "ANALYSIS",
      mine: { kept: true },
      papers_pool: [{ status: "presented" }, { status: "presented" }],
    });
    const backups = readdirSync(join(folder, ".ralph/backups"));
    expect(backups).toHaveLength(1);
    expect(read(folder, `.ralph/backups/${backups[0]}/rrd.json`)).toBe(before);
    expect(told).toEqual([{ level: "info", message: expect.stringContaining("current format") }]);
  });
});
const line = (iteration: number) => `${JSON.stringify(acceptance(iteration).ledger)}\n`;

/** A research folder with its state file opened; `told` are the notices. */
function opened(content = text) {
  const folder = researchFolder();
  const path = join(folder, "rrd.json");
  writeFileSync(path, content);
  const told: string[] = [];
  return { folder, path, told, file: openStateFile(folder, researchFormat, (message) => told.push(message)) };
}
const longAgo = (path: string, seconds = 60): void =>
  utimesSync(path, Date.now() / 1000 - seconds, Date.now() / 1000 - seconds);
const realNow = Date.now;
/** Tells this process another time of day until the test ends. */
function later(ms: number): void {
  const clock = vi.spyOn(Date, "now").mockImplementation(() => realNow() + ms);
  onTestFinished(() => clock.mockRestore());
}

describe("the state of a research", () => {
  it("is parsed once for each text, and looked at again with each version of the file", async () => {
    const { path, file } = opened();
    const first = await file.read();
    expect(first.stamp).toBe(stampOf(path));
    writeFileSync(path, text);
    longAgo(path);
    const second = await file.read();
    expect(second.state).toBe(first.state);
    expect([second.stamp === first.stamp, second.stamp]).toEqual([false, stampOf(path)]);
    writeFileSync(path, formatRrd(sampleRrd(2)));
    expect((await file.read()).state.papers_pool).toHaveLength(2);
  });

  it("is not read again long after its last change, but after one that keeps its size and time", async () => {
    const { path, file } = opened();
    longAgo(path);
    const later = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 3_600_000);
    onTestFinished(() => later.mockRestore());
    const first = await file.read();
    expect(await file.read()).toBe(first);
    const { mtime, size } = statSync(path);
    await sleep(20);
    writeFileSync(path, formatRrd(sampleRrd(2)).padEnd(size));
    utimesSync(path, mtime, mtime);
    expect(stampOf(path)).toBe(first.stamp);
    expect((await file.read()).state.papers_pool).toHaveLength(2);
  });

  it("is read again shortly after a change, which another one within a time step would look like", async () => {
    const { file } = opened();
    const first = await file.read();
    const second = await file.read();
    expect(second).not.toBe(first);
    expect(second.state).toBe(first.state);
  });

  it("is replaced where it is still the version that was read, and known from then on", async () => {
    const { path, folder, told, file } = opened();
    const { stamp } = await file.read();
    const next = sampleRrd(2);
    expect(await file.replace(next, stamp)).toBe(true);
    expect(readFileSync(path, "utf8")).toBe(formatRrd(next));
    const now = await file.read();
    expect([now.state === next, now.stamp]).toEqual([true, stampOf(path)]);
    expect([told, existsSync(join(folder, ".ralph", "backups"))]).toEqual([[], false]);
  });

  it("is not written where nothing differs, nor over somebody's change", async () => {
    const { path, file } = opened();
    const { stamp } = await file.read();
    expect(await file.replace(sampleRrd(3), stamp)).toBe(true);
    expect(stampOf(path)).toBe(stamp);
    writeFileSync(path, formatRrd(sampleRrd(1)));
    expect(await file.replace(sampleRrd(2), stamp)).toBe(false);
    expect([read(dirname(path), "rrd.json"), readdirSync(dirname(path))]).toEqual([
      formatRrd(sampleRrd(1)),
      ["rrd.json"],
    ]);
  });

  it("that was never read is replaced without a copy of it", async () => {
    const { folder, path, told, file } = opened();
    expect(await file.replace(sampleRrd(2), stampOf(path) ?? "")).toBe(true);
    expect([told, existsSync(join(folder, ".ralph"))]).toEqual([[], false]);
  });

  it("in which a name stands twice is kept once, as writing it again loses one of the two, and that is told", async () => {
    const twice = text.replace('"phase"', '"phase": "By hand.",\n  "phase"');
    const { folder, told, file } = opened(twice);
    await file.replace(sampleRrd(2), (await file.read()).stamp);
    await file.replace(sampleRrd(1), (await file.read()).stamp);
    const [backup = "", ...more] = readdirSync(join(folder, ".ralph", "backups"));
    expect([more, read(join(folder, ".ralph/backups", backup), "rrd.json")]).toEqual([[], twice]);
    expect(told).toEqual([
      `rrd.json had "phase" twice in one object, and the last one counts; the version with both is in ${join(folder, ".ralph/backups", backup)}.`,
    ]);
  });

  it("in an older shape is kept once, when the first of today's is written, and that is told", async () => {
    const old = formatRrd({ ...sampleRrd(3), phase: "Analysis" } as never);
    const { folder, told, file } = opened(old);
    const { stamp } = await file.read();
    await file.replace(sampleRrd(2), stamp);
    await file.replace(sampleRrd(1), (await file.read()).stamp);
    const [backup = "", ...more] = readdirSync(join(folder, ".ralph", "backups"));
    expect([more, read(join(folder, ".ralph/backups", backup), "rrd.json")]).toEqual([[], old]);
    expect(told).toEqual([
      `rrd.json is now written in the current format; the previous version is ${join(folder, ".ralph/backups", backup)}, and 'research-ralph verify --files' on it says what differs.`,
    ]);
  });

  it("that grew too large is refused with its size and the most that is read", async () => {
    const { folder, path } = opened();
    const small = { ...researchFormat, maxBytes: 1_000_000 };
    const file = openStateFile(folder, small, () => undefined);
    await file.read();
    writeFileSync(path, "x".repeat(1_600_000));
    longAgo(path);
    const message = `${path} is 2 MB, more than the 1 MB a project can have`;
    await expect(file.read()).rejects.toThrow(new RegExp(`^${message}\\. Correct it, or put`));
    expect(await readStateFile(path, small)).toEqual({ changes: [], problems: [{ pointer: "", message }] });
  });

  it("of a later version is neither read as today's nor told as broken, but its values are there for who asks", async () => {
    const { path, file } = opened(formatRrd({ ...sampleRrd(1), format: 99 } as never));
    await expect(file.read()).rejects.toMatchObject({ exitCode: 5 });
    expect((await readStateFile(path, researchFormat)).ok).toMatchObject({ format: 99 });
    writeFileSync(path, '{"format": 99, "phase": 7}');
    await expect(readStateFile(path, researchFormat)).rejects.toMatchObject({ exitCode: 5 });
  });

  it("that is not there or can't be read is said so where nothing is known of its folder", async () => {
    const { folder, path } = opened();
    rmSync(path);
    await expect(readStateFile(path, researchFormat)).rejects.toThrow(new ExpectedError(`There is no ${path}.`));
    await expect(readStateFile(folder, researchFormat)).rejects.toThrow(/is a folder where a file belongs/);
    hastenDates();
    const gone = openStateFile(folder, researchFormat, () => undefined);
    await expect(gone.read()).rejects.toThrow(/^There is no .*; name a project folder, or create one/);
  });

  it("that is no text is said to be none, and not waited for", async () => {
    const { path, file } = opened();
    writeFileSync(path, Buffer.from('{"project": "caf\xe9"}', "latin1"));
    await expect(file.read()).rejects.toThrow(`${path} is not UTF-8`);
    const hint = "Save it as UTF-8 in your editor.";
    expect(await readStateFile(path, researchFormat)).toEqual({
      changes: [],
      problems: [{ pointer: "", message: `${path} is not UTF-8`, hint }],
    });
  });

  it("of which somebody wrote another version keeps its copy untold", async () => {
    const { path, told, file } = opened(formatRrd({ ...sampleRrd(3), phase: "Analysis" } as never));
    const { stamp } = await file.read();
    writeFileSync(path, text);
    expect(await file.replace(sampleRrd(2), stamp)).toBe(false);
    expect(told).toEqual([]);
  });
});

describe("the copy of the last good version", () => {
  it("is of what was read or written last, and is written once for each", async () => {
    const { folder, file } = opened();
    const copy = lastGoodFile(folder);
    mkdirSync(dirname(copy));
    await file.keepCopy();
    expect(existsSync(copy)).toBe(false);
    const { stamp } = await file.read();
    await file.keepCopy();
    expect(readFileSync(copy, "utf8")).toBe(text);
    rmSync(copy);
    await file.keepCopy();
    expect(existsSync(copy)).toBe(false);
    await file.replace(sampleRrd(2), stamp);
    await file.keepCopy();
    expect(readFileSync(copy, "utf8")).toBe(formatRrd(sampleRrd(2)));
    expect(readdirSync(dirname(copy))).toEqual(["rrd.last-good.json"]);
  });
});

describe("where there is no rrd.json", () => {
  it("a folder that is gone, a lost file and a folder that never was a research are told apart", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "rrd.json");
    await expect(requireState(join(folder, "gone"), researchFormat)).rejects.toThrow(
      new ExpectedError(
        `The project folder ${join(folder, "gone")} is gone; run again where it is now, or restore it.`,
      ),
    );
    await expect(requireState(folder, researchFormat)).rejects.toThrow(
      new ExpectedError(
        `There is no ${path}; name a project folder, or create one with 'research-ralph new "<topic>"'.`,
      ),
    );
    mkdirSync(join(folder, ".ralph"));
    writeFileSync(lastGoodFile(folder), "{}");
    await expect(requireState(folder, researchFormat)).rejects.toThrow(
      new ExpectedError(`There is no ${path}; copy its last good version, ${lastGoodFile(folder)}, there.`),
    );
    writeFileSync(path, "{}");
    expect(await requireState(folder, researchFormat)).toBeUndefined();
  });
});

describe("the way back from an rrd.json that can't be used", () => {
  it("is the last good version, at the last iteration that the ledger or the journal knows", async () => {
    const folder = join(temporaryFolder(), "my research");
    mkdirSync(join(folder, ".ralph", "journal"), { recursive: true });
    expect(await restoreHint(folder, researchFormat)).toBe("or put an earlier version in its place");
    writeFileSync(lastGoodFile(folder), text);
    const back = (iteration: number) =>
      `or restore the last good version with 'research-ralph reset "${folder}" --to ${iteration}'; your version is kept too`;
    expect([await lastRecordedIteration(folder, "ledger.jsonl"), await restoreHint(folder, researchFormat)]).toEqual([
      0,
      back(0),
    ]);
    writeFileSync(join(folder, "ledger.jsonl"), line(3) + line(2));
    expect(await lastRecordedIteration(folder, "ledger.jsonl")).toBe(3);
    writeFileSync(join(folder, ".ralph", "journal", "5.json"), JSON.stringify(acceptance(5)));
    expect(await lastRecordedIteration(folder, "ledger.jsonl")).toBe(5);
    expect(await restoreHint(folder, researchFormat)).toBe(back(5));
  });

  it("is told with what is wrong; a word that no version has had may be a later version's", async () => {
    const folder = temporaryFolder();
    const told = async (...messages: [string, string?][]) =>
      (await invalidStateError(
        folder,
        researchFormat,
        messages.map(([message, hint]) => ({ pointer: "/phase", message, ...(hint === undefined ? {} : { hint }) })),
      )) satisfies ExpectedError;
    const start = `${join(folder, "rrd.json")} is not valid: `;
    const back = "or put an earlier version in its place.";
    expect(await told(["is wrong"])).toBeInstanceOf(ExpectedError);
    expect((await told(["is wrong"])).message).toBe(`${start}/phase is wrong. Correct it, ${back}`);
    expect((await told(["must be one of A, B", "Write A."])).message).toBe(
      `${start}/phase must be one of A, B (Write A). Correct it, ${back}`,
    );
    expect((await told(["is wrong"], ["must be one of A, B"])).message).toBe(
      `${start}/phase is wrong; /phase must be one of A, B. Update research-ralph if a later version wrote it, correct it, ${back}`,
    );
    expect((await told(["it must be one of A, B"])).message).toContain(". Correct it, ");
  });
});

describe("an invalid file in one sentence", () => {
  const problem = (message: string, pointer = "") => ({ pointer, message });

  it("is its first three problems, each with its place and its hint, and how many more there are", () => {
    const [one, two, three, four] = ["/a", "/b", "/c", "/d"].map((pointer) => problem("is wrong", pointer));
    expect(summarise("f.json", [{ ...one!, hint: "Use 1.5 or 2." }])).toBe(
      "f.json is not valid: /a is wrong (Use 1.5 or 2)",
    );
    expect(summarise("f.json", [one!, problem("it is torn"), three!])).toBe(
      "f.json is not valid: /a is wrong; it is torn; /c is wrong",
    );
    expect(summarise("f.json", [one!, two!, three!, four!, four!])).toBe(
      "f.json is not valid: /a is wrong; /b is wrong; /c is wrong; and 2 more",
    );
  });

  it("is the problem itself where that is one alone and names the file", () => {
    const named = problem("f.json:3 is torn");
    expect(summarise("f.json", [named])).toBe("f.json:3 is torn");
    expect(summarise("f.json", [named, named])).toBe("f.json is not valid: f.json:3 is torn; f.json:3 is torn");
    expect(summarise("f.json", [problem("it is no f.json")])).toBe("f.json is not valid: it is no f.json");
    expect(summarise("f.json", [])).toBe("f.json is not valid: ");
  });
});

describe("the ledger of an open research", () => {
  it("is read again only when its file changed", async () => {
    const folder = researchFolder();
    const ledger = openLedger(join(folder, "ledger.jsonl"), () => undefined);
    expect(await ledger()).toEqual([]);
    writeFileSync(join(folder, "ledger.jsonl"), line(1));
    const one = await ledger();
    expect(one.map(({ iteration }) => iteration)).toEqual([1]);
    expect(await ledger()).toBe(one);
    appendFileSync(join(folder, "ledger.jsonl"), line(2));
    expect((await ledger()).map(({ iteration }) => iteration)).toEqual([1, 2]);
    rmSync(join(folder, "ledger.jsonl"));
    expect(await ledger()).toEqual([]);
  });

  it("is read on where lines are appended, from its beginning where it was changed, and each odd line is named by its own number", async () => {
    const folder = researchFolder();
    const path = join(folder, "ledger.jsonl");
    const told: string[] = [];
    const ledger = openLedger(join(folder, "ledger.jsonl"), (message) => told.push(message));
    const numbers = async () => (await ledger()).map(({ iteration }) => iteration);
    writeFileSync(path, line(1));
    const [first] = await ledger();
    appendFileSync(path, `${line(2)}odd\n${line(3)}`);
    expect(await numbers()).toEqual([1, 2, 3]);
    // What was parsed stays as it was parsed.
    expect((await ledger())[0]).toBe(first);
    expect(told).toEqual([expect.stringContaining("ledger.jsonl:3 ")]);
    // The end of a line that was begun makes the whole of it one.
    const torn = line(4);
    appendFileSync(path, torn.slice(0, 20));
    expect(await numbers()).toEqual([1, 2, 3]);
    appendFileSync(path, `${torn.slice(20)}odd too\n`);
    expect(await numbers()).toEqual([1, 2, 3, 4]);
    expect(told.at(-1)).toContain("ledger.jsonl:6 ");
    writeFileSync(path, `${line(9)}${line(2)}odd\n${line(3)}${line(4)}odd too\n${line(5)}`);
    expect(await numbers()).toEqual([9, 2, 3, 4, 5]);
    // What was told once is not told again.
    expect(told).toHaveLength(2);
    rmSync(path);
    expect(await numbers()).toEqual([]);
  });

  it("has a line once that was whole before its line feed came", async () => {
    const path = join(researchFolder(), "ledger.jsonl");
    const ledger = openLedger(path, () => undefined);
    writeFileSync(path, line(1).trimEnd());
    expect(await ledger()).toHaveLength(1);
    appendFileSync(path, `\n${line(2)}`);
    expect((await ledger()).map(({ iteration }) => iteration)).toEqual([1, 2]);
  });

  it("tells of each line that can't be read once", async () => {
    const folder = researchFolder();
    const path = join(folder, "ledger.jsonl");
    const told: string[] = [];
    const ledger = openLedger(join(folder, "ledger.jsonl"), (message) => told.push(message));
    writeFileSync(path, `broken\n${line(1)}`);
    await ledger();
    appendFileSync(path, `broken too\n${line(2)}`);
    expect(await ledger()).toHaveLength(2);
    expect(told).toEqual([`${path}:1 can't be read and is ignored.`, `${path}:3 can't be read and is ignored.`]);
  });
});

describe("a file that may be on its way to the disk", () => {
  const refuse = () => Promise.reject(new ExpectedError("It is broken."));
  /** How often a file was read before the error was passed on, or the answer given. */
  async function tries(
    path: string,
    read: (turn: number) => Promise<unknown>,
  ): Promise<{ turns: number; end: unknown }> {
    let turns = 0;
    const end = await readWhenSaved(path, () => read((turns += 1))).catch((error: unknown) => error);
    return { turns, end };
  }
  const file = (content: string) => {
    const path = join(temporaryFolder(), "rrd.json");
    writeFileSync(path, content);
    return path;
  };

  it("is read once where that works, and once where it is whole", async () => {
    expect(await tries(file(""), async () => 7)).toEqual({ turns: 1, end: 7 });
    expect(await tries(file('{"a": 1}'), refuse)).toEqual({ turns: 1, end: new ExpectedError("It is broken.") });
  });

  it.each([
    ["is empty", ""],
    ["ends in the middle", '{"a": {'],
  ])("is read again where it %s, and no longer once it is whole", async (_, content) => {
    const path = file(content);
    const ended = await tries(path, async (turn) => {
      if (turn === 2) writeFileSync(path, '{"a": 1}');
      throw new ExpectedError(`Try ${turn}.`);
    });
    // The third reads the version that the second saw coming.
    expect(ended).toEqual({ turns: 3, end: new ExpectedError("Try 3.") });
  });

  it("is read again where it was moved away", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    expect(await tries(path, async (turn) => (turn < 3 ? refuse() : "there"))).toEqual({ turns: 3, end: "there" });
  });

  it("is not waited for where nobody has changed it for five seconds, whichever way the clock is wrong", async () => {
    for (const seconds of [5.5, -6]) {
      const path = file("");
      longAgo(path, seconds);
      expect((await tries(path, refuse)).turns).toBe(1);
    }
    const path = file("");
    longAgo(path, 3);
    expect((await tries(path, async (turn) => (turn < 2 ? refuse() : 1))).turns).toBe(2);
  });

  it("is given up five seconds after the first look", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    const ended = await tries(path, (turn) => {
      if (turn === 2) later(4_000);
      if (turn === 3) later(5_100);
      return refuse();
    });
    expect(ended).toEqual({ turns: 3, end: new ExpectedError("It is broken.") });
  });

  it("is read once where its folder is gone too, which no editor takes away", async () => {
    const path = join(temporaryFolder(), "gone", "rrd.json");
    expect((await tries(path, refuse)).turns).toBe(1);
  });

  it("is not read again after an error of ours", async () => {
    expect((await tries(file(""), () => Promise.reject(new TypeError("ours")))).turns).toBe(1);
  });

  it("that is a folder is not waited for", async () => {
    expect(await tries(temporaryFolder(), refuse)).toEqual({ turns: 1, end: new ExpectedError("It is broken.") });
  });
});
