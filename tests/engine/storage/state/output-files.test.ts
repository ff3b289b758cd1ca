import { researchFormat } from "../../../../src/research/project-files/rrd-file.js";
import { existsSync, readdirSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Fold } from "../../../../src/research/project-files/research.js";
import { type ResetTarget, resetResearch } from "../../../../src/research/units/reset.js";
import {
  acceptance,
  derive,
  git,
  open,
  read,
  readRrd,
  repository,
  researchFolder,
  researchIn,
  sampleRrd,
  type Told,
  writeRrd,
  temporaryFolder,
} from "../../../support/folders.js";
import type { LedgerLine } from "../../../../src/engine/generated/ledger.js";
import { isUpToDate, outputsAfterReset, writeOutputs } from "../../../../src/engine/storage/state/output-files.js";
import { makeJournal, markDone, writeEntry } from "../../../../src/engine/storage/state/journal.js";

const report = "research-report.md";
const ideas = "product-ideas.json";
/** What units write, as far as it is looked at here. */
const some = { outputs: { report: [report, "references.bib"], ideas: [ideas] }, everything: false };
const backup = ".ralph/backups/2026-02-03T04-05-06.000Z";

/** What accepting the report or the ideas leaves. */
function document(iteration: number, unit: "report" | "ideas", text: string): Fold {
  const { at } = acceptance(iteration);
  const files =
    unit === "report"
      ? [
          { name: report, text },
          { name: "references.bib", text },
        ]
      : [{ name: ideas, text }];
  return {
    iteration,
    at,
    message: unit,
    changes: [],
    files,
    ledger: { iteration, at, unit, phase: "ANALYSIS", outcome: "accepted" },
  };
}

async function fold(folder: string, ...folds: readonly Fold[]): Promise<Told[]> {
  const told: Told[] = [];
  const research = await open(folder, { told });
  await research.load();
  for (const each of folds) await research.fold(each);
  await research.close();
  return told;
}

const reset = (folder: string, target: ResetTarget, useGit = false) =>
  resetResearch(folder, target, { derive, git: useGit, now: () => Date.UTC(2026, 1, 3, 4, 5, 6) });

const edited = (folder: string): string[] => readdirSync(folder).filter((name) => name.includes(".edited-"));

describe("a report that is written anew", () => {
  it("leaves no copy where nobody touched the old one", async () => {
    const folder = researchFolder();
    expect(await fold(folder, document(1, "report", "one"), document(2, "report", "two"))).toEqual([]);
    expect(read(folder, report)).toBe("two");
    expect(edited(folder)).toEqual([]);
  });

  it("keeps a person's version beside it, once for each content, and says so", async () => {
    const folder = researchFolder();
    await fold(folder, document(1, "report", "one"));
    writeFileSync(join(folder, report), "mine");
    const told = await fold(folder, document(2, "report", "two"));
    expect(read(folder, report)).toBe("two");
    const [copy = "none", ...others] = edited(folder);
    expect(others).toEqual([]);
    expect(copy).toBe(`${report}.edited-2026-01-01T00-02-00.000Z`);
    expect(read(folder, copy)).toBe("mine");
    expect(told).toEqual([{ level: "warning", message: expect.stringContaining(`kept as ${join(folder, copy)}`) }]);

    writeFileSync(join(folder, report), "mine");
    await fold(folder, document(3, "report", "three"));
    expect(edited(folder)).toEqual([copy]);
    writeFileSync(join(folder, report), "mine too");
    await fold(folder, document(4, "report", "four"));
    expect(edited(folder).map((name) => read(folder, name))).toEqual(["mine", "mine too"]);
  });

  it("keeps one that this program never wrote, as of the original tool", async () => {
    const folder = researchFolder();
    writeFileSync(join(folder, ideas), "theirs");
    await fold(folder, document(1, "ideas", "ours"));
    expect(edited(folder).map((name) => read(folder, name))).toEqual(["theirs"]);
  });
});

describe("a reset", () => {
  const whole = async () => {
    const folder = researchFolder({ ...sampleRrd(2), excluded: [{ id: "sample_9", reason: "off topic" }] });
    await fold(
      folder,
      acceptance(1),
      document(2, "report", "first"),
      acceptance(3, "sample_2"),
      document(4, "report", "second"),
      document(5, "ideas", "ideas"),
    );
    return folder;
  };

  it("of everything takes report, references and ideas out, and what was screened out with them; the backup has them", async () => {
    const folder = await whole();
    const said = await reset(folder, { all: true });
    for (const name of [report, "references.bib", ideas]) {
      expect(existsSync(join(folder, name))).toBe(false);
      expect(existsSync(join(folder, backup, name))).toBe(true);
    }
    expect(said.at(-1)).toBe("research-report.md, references.bib and product-ideas.json are removed.");
    expect(readRrd(folder)).not.toHaveProperty("excluded");
    expect(readRrd(folder).insights).toEqual([]);
  });

  it("of everything takes them out in a folder of the original tool too", async () => {
    const folder = researchFolder();
    writeFileSync(join(folder, report), "theirs");
    await reset(folder, { to: 0 });
    expect(read(folder, report)).toBe("theirs");
    await reset(folder, { all: true });
    expect(existsSync(join(folder, report))).toBe(false);
    expect(read(folder, `${backup}/${report}`)).toBe("theirs");
  });

  it("to before the report takes it out; to between two brings the earlier one back; to after both leaves it", async () => {
    const folder = await whole();
    await reset(folder, { to: 4 });
    expect(read(folder, report)).toBe("second");
    expect(existsSync(join(folder, ideas))).toBe(false);
    expect((await reset(folder, { to: 3 })).join(" ")).not.toContain(report);
    expect(read(folder, report)).toBe("first");
    await reset(folder, { to: 1 });
    expect(existsSync(join(folder, report))).toBe(false);
  });

  it("of a paper leaves them and backs them up", async () => {
    const folder = await whole();
    await reset(folder, { paper: "sample_1" });
    expect(read(folder, report)).toBe("second");
    expect(read(folder, `${backup}/${report}`)).toBe("second");
  });

  it("says what the files have that it can't read", async () => {
    const folder = await whole();
    writeFileSync(join(folder, "ledger.jsonl"), "odd\n", { flag: "a" });
    expect(await reset(folder, { paper: "sample_1" })).toContainEqual(
      expect.stringMatching(/ledger\.jsonl:6 can't be read and is ignored/),
    );
  });

  it("without a journal keeps the later report rather than none", async () => {
    const folder = await whole();
    rmSync(join(folder, ".ralph"), { recursive: true });
    await reset(folder, { to: 3 });
    expect(read(folder, report)).toBe("second");
  });

  it("takes them out of git as well, and what else is staged stays staged", async () => {
    const root = repository();
    const folder = researchIn(root);
    writeFileSync(join(folder, report), "theirs");
    git(root, "add", "-A");
    git(root, "commit", "-q", "-m", "mine");
    writeFileSync(join(root, "other"), "x");
    git(root, "add", "other");
    await reset(folder, { all: true }, true);
    expect(git(root, "show", "--name-status", "--format=", "HEAD")).toMatch(/^D\t.*research-report\.md$/m);
    expect(git(root, "status", "--porcelain").trim().split("\n")).toContain("A  other");
  });

  it("of everything takes out insights that agents gave one id, or none", async () => {
    const folder = researchFolder();
    writeRrd(folder, {
      ...sampleRrd(1),
      insights: [{ id: "insight_001", insight: "a" }, { id: "insight_001", insight: "b" }, { insight: "c" }],
    });
    await reset(folder, { all: true });
    expect(readRrd(folder).insights).toEqual([]);
  });
});
const line = (iteration: number, unit: string, over: Partial<LedgerLine> = {}): LedgerLine => ({
  iteration,
  at: "2026-01-01T00:00:00Z",
  unit,
  phase: "ANALYSIS",
  outcome: "accepted",
  ...over,
});
const resetLine = (over: Partial<LedgerLine>) => line(9, "*", { outcome: "reset", ...over });
const ledger = [line(1, "report"), line(2, "ideas"), line(3, "report")];

/** A research whose first report is in the journal. */
async function research() {
  const folder = temporaryFolder();
  await makeJournal(folder);
  const files = ["research-report.md", "references.bib"].map((name) => ({ name, text: `first ${name}` }));
  const { at } = line(1, "report");
  await writeEntry(folder, {
    iteration: 1,
    at,
    message: "report",
    changes: [],
    progress: null,
    ledger: { offset: 0, text: "{}\n" },
    files,
  });
  await markDone(folder, 1);
  for (const name of ["research-report.md", "references.bib", "product-ideas.json"])
    writeFileSync(join(folder, name), "later");
  return folder;
}

describe("the documents after a reset", () => {
  it("are each as it was at the last acceptance that stands", async () => {
    expect(await outputsAfterReset(await research(), researchFormat, ledger, resetLine({ to: 2 }), some)).toEqual([
      { name: "research-report.md", text: "first research-report.md" },
      { name: "references.bib", text: "first references.bib" },
    ]);
  });

  it("go with the last acceptance, as far as they are there", async () => {
    const folder = await research();
    expect(
      (await outputsAfterReset(folder, researchFormat, ledger, resetLine({ to: 0 }), some)).map(({ name, text }) => [
        name,
        text,
      ]),
    ).toEqual([
      ["research-report.md", null],
      ["references.bib", null],
      ["product-ideas.json", null],
    ]);
    expect(
      await outputsAfterReset(temporaryFolder(), researchFormat, ledger, resetLine({ to: 0 }), {
        ...some,
        everything: true,
      }),
    ).toEqual([]);
  });

  it("stay where the reset is of a single unit, or nothing of theirs is undone", async () => {
    const folder = await research();
    const [first] = ledger;
    expect(await outputsAfterReset(folder, researchFormat, [first!], resetLine({ unit: "report" }), some)).toEqual([]);
    expect(await outputsAfterReset(folder, researchFormat, ledger, resetLine({ to: 3 }), some)).toEqual([]);
  });
});

it.each([["report", "ideas"] as const, ["ideas", "report"] as const])(
  "a document of several units is as the last of them left it, here %s and then %s",
  async (first, second) => {
    const folder = temporaryFolder();
    await makeJournal(folder);
    const name = "shared.md";
    const outputs = { report: [name], ideas: [name] };
    const lines = [line(1, first), line(2, second), line(3, first)];
    for (const { iteration, at, unit } of lines) {
      const entry = { iteration, at, message: unit, changes: [], progress: null, ledger: { offset: 0, text: "{}\n" } };
      await writeEntry(folder, { ...entry, files: [{ name, text: `${iteration}` }] });
      await markDone(folder, iteration);
    }
    expect(await outputsAfterReset(folder, researchFormat, lines, resetLine({ to: 2 }), { ...some, outputs })).toEqual([
      { name, text: "2" },
    ]);
  },
);

it("what the journal does not hold of an earlier acceptance stays as the later one left it", async () => {
  const folder = await research();
  const { at } = line(1, "report");
  const entry = {
    iteration: 1,
    at,
    message: "report",
    changes: [],
    progress: null,
    ledger: { offset: 0, text: "{}\n" },
  };
  await writeEntry(folder, { ...entry, files: [{ name: "references.bib", text: "first" }] });
  await markDone(folder, 1);
  expect(await outputsAfterReset(folder, researchFormat, ledger, resetLine({ to: 2 }), some)).toEqual([
    { name: "references.bib", text: "first" },
  ]);
  await writeEntry(folder, entry);
  await markDone(folder, 1);
  expect(await outputsAfterReset(folder, researchFormat, ledger, resetLine({ to: 2 }), some)).toEqual([]);
});

describe("a document that a person changed", () => {
  const written = async (folder: string, text: string, at: number) => {
    const told: string[] = [];
    await writeOutputs(folder, [{ name: "references.bib", text }], at, (message) => void told.push(message));
    return told;
  };
  const edit = (folder: string, text: string) => writeFileSync(join(folder, "references.bib"), text);
  const copies = (folder: string) =>
    readdirSync(folder)
      .filter((name) => name.startsWith("references.bib"))
      .toSorted();

  it("is kept once for each content, and told once", async () => {
    const folder = temporaryFolder();
    await makeJournal(folder);
    mkdirSync(join(folder, "references.bib.edited-long-ago"));
    await written(folder, "ours, earlier", 0);
    edit(folder, "mine");
    const copy = join(folder, "references.bib.edited-1970-01-01T00-00-00.000Z");
    expect(await written(folder, "ours", 0)).toEqual([
      `references.bib was changed since it was last written; it is written again, and your version is kept as ${copy}.`,
    ]);
    edit(folder, "mine");
    expect(await written(folder, "ours again", 5)).toEqual([]);
    expect(copies(folder)).toEqual([
      "references.bib",
      "references.bib.edited-1970-01-01T00-00-00.000Z",
      "references.bib.edited-long-ago",
    ]);
  });

  it("is kept beside the copy that an interrupted fold of the same moment made", async () => {
    const folder = temporaryFolder();
    await makeJournal(folder);
    await written(folder, "ours, earlier", 0);
    for (const text of ["mine", "mine, changed", "mine, changed again"]) {
      edit(folder, text);
      expect(await written(folder, "ours", 0)).toHaveLength(1);
    }
    const name = "references.bib.edited-1970-01-01T00-00-00.000Z";
    expect(copies(folder).map((each) => [each, read(folder, each)])).toEqual([
      ["references.bib", "ours"],
      [name, "mine"],
      [`${name}-2`, "mine, changed"],
      [`${name}-3`, "mine, changed again"],
    ]);
  });

  it("is written again where they took it away, and nothing is kept", async () => {
    const folder = temporaryFolder();
    await makeJournal(folder);
    await written(folder, "ours", 0);
    rmSync(join(folder, "references.bib"));
    expect(await written(folder, "ours, later", 5)).toEqual([]);
    expect(copies(folder)).toEqual(["references.bib"]);
  });

  it("is kept without the claim of an edit where it is not recorded who wrote it", async () => {
    const folder = temporaryFolder();
    await makeJournal(folder);
    edit(folder, "of an earlier version, or of a person");
    const copy = join(folder, "references.bib.edited-1970-01-01T00-00-00.000Z");
    expect(await written(folder, "ours", 0)).toEqual([
      `references.bib already existed, and it is not recorded who wrote it; it is written again, and the earlier version is kept as ${copy}.`,
    ]);
    expect(read(folder, basename(copy))).toBe("of an earlier version, or of a person");
    expect(await written(folder, "ours, later", 5)).toEqual([]);
  });

  it("is not kept where the same is written again, whole or in pieces", async () => {
    const folder = temporaryFolder();
    await makeJournal(folder);
    const told: string[] = [];
    const files = [
      { name: "references.bib", text: "ours" },
      { name: "report.html", pieces: ["o", "urs"], inputsHash: "x" },
    ];
    for (const { name } of files) writeFileSync(join(folder, name), "ours");
    await writeOutputs(folder, files, 0, (message) => void told.push(message));
    expect(told).toEqual([]);
    expect(readdirSync(folder).toSorted()).toEqual([".ralph", "references.bib", "report.html"]);
  });

  it("is not written over where what was written last can't be looked up", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, ".ralph/written.json"), { recursive: true });
    edit(folder, "mine");
    await expect(written(folder, "ours", 0)).rejects.toThrow(
      `${join(folder, ".ralph/written.json")} is a folder where a file belongs`,
    );
    expect(read(folder, "references.bib")).toBe("mine");
  });
});

it("writing no documents writes nothing, and taking away one that is gone is no error", async () => {
  const folder = temporaryFolder();
  await makeJournal(folder);
  await writeOutputs(folder, [], 0, () => undefined);
  expect(readdirSync(join(folder, ".ralph"))).toEqual(["journal"]);
  await writeOutputs(folder, [{ name: "references.bib", text: null }], 0, () => undefined);
  expect(existsSync(join(folder, "references.bib"))).toBe(false);
});

it("what was written last is not believed where its note is torn or of another kind: the person's copy is kept", async () => {
  for (const note of ["{", "null", "7"]) {
    const folder = temporaryFolder();
    await makeJournal(folder);
    writeFileSync(join(folder, ".ralph/written.json"), note);
    writeFileSync(join(folder, "references.bib"), "mine");
    const told: string[] = [];
    await writeOutputs(folder, [{ name: "references.bib", text: "ours" }], 0, (message) => void told.push(message));
    expect([read(folder, "references.bib"), told.length]).toEqual(["ours", 1]);
  }
});

it("knows whether a file stands as it was written last, and was made of the same", async () => {
  const folder = temporaryFolder();
  await makeJournal(folder);
  const page = { name: "report.html", inputsHash: "a state" };
  const write = (pieces: readonly string[]) => writeOutputs(folder, [{ ...page, pieces }], 0, () => undefined);
  expect(await isUpToDate(folder, page)).toBe(false);
  await write(["a ", "page"]);
  expect(await isUpToDate(folder, page)).toBe(true);
  await writeOutputs(folder, [{ name: "references.bib", text: "another" }], 0, () => undefined);
  expect(await isUpToDate(folder, page)).toBe(true);
  expect(await isUpToDate(folder, { ...page, inputsHash: "a later state" })).toBe(false);
  expect(await isUpToDate(folder, { ...page, name: "references.bib" })).toBe(false);
  writeFileSync(join(folder, page.name), "mine");
  expect(await isUpToDate(folder, page)).toBe(false);
  await write(["a page"]);
  rmSync(join(folder, page.name));
  expect(await isUpToDate(folder, page)).toBe(false);
  for (const note of ["{", "null", '{"report.html":7,"made_of":null}']) {
    await write(["a page"]);
    writeFileSync(join(folder, ".ralph/written.json"), note);
    expect(await isUpToDate(folder, page)).toBe(false);
  }
});
