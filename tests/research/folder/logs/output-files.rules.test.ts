import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LedgerLine } from "../../../../src/engine/generated/ledger.js";
import { documentsAfter, writeDocuments } from "../../../../src/research/folder/logs/output-files.js";
import { makeJournal, markDone, writeEntry } from "../../../../src/engine/storage/records/journal.js";
import { read, temporaryFolder } from "../../../support/folders.js";

const line = (iteration: number, unit: string, over: Partial<LedgerLine> = {}): LedgerLine => ({
  iteration,
  at: "2026-01-01T00:00:00Z",
  unit,
  phase: "ANALYSIS",
  outcome: "accepted",
  ...over,
});
const reset = (over: Partial<LedgerLine>) => line(9, "*", { outcome: "reset", ...over });
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
    expect(await documentsAfter(await research(), ledger, reset({ to: 2 }), false)).toEqual([
      { name: "research-report.md", text: "first research-report.md" },
      { name: "references.bib", text: "first references.bib" },
    ]);
  });

  it("go with the last acceptance, as far as they are there", async () => {
    const folder = await research();
    expect(
      (await documentsAfter(folder, ledger, reset({ to: 0 }), false)).map(({ name, text }) => [name, text]),
    ).toEqual([
      ["research-report.md", null],
      ["references.bib", null],
      ["product-ideas.json", null],
    ]);
    expect(await documentsAfter(temporaryFolder(), ledger, reset({ to: 0 }), true)).toEqual([]);
  });

  it("stay where the reset is of a single unit, or nothing of theirs is undone", async () => {
    const folder = await research();
    expect(await documentsAfter(folder, ledger, reset({ unit: "report" }), false)).toEqual([]);
    expect(await documentsAfter(folder, ledger, reset({ to: 3 }), false)).toEqual([]);
  });
});

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
  expect(await documentsAfter(folder, ledger, reset({ to: 2 }), false)).toEqual([
    { name: "references.bib", text: "first" },
  ]);
  await writeEntry(folder, entry);
  await markDone(folder, 1);
  expect(await documentsAfter(folder, ledger, reset({ to: 2 }), false)).toEqual([]);
});

describe("a document that a person changed", () => {
  const written = async (folder: string, text: string, at: number) => {
    const told: string[] = [];
    await writeDocuments(folder, [{ name: "references.bib", text }], at, (message) => void told.push(message));
    return told;
  };
  const edit = (folder: string, text: string) => writeFileSync(join(folder, "references.bib"), text);
  const copies = (folder: string) =>
    readdirSync(folder)
      .filter((name) => name.startsWith("references.bib."))
      .toSorted();

  it("is kept once for each content, and told once", async () => {
    const folder = temporaryFolder();
    await makeJournal(folder);
    mkdirSync(join(folder, "references.bib.edited-long-ago"));
    edit(folder, "mine");
    const copy = join(folder, "references.bib.edited-1970-01-01T00-00-00.000Z");
    expect(await written(folder, "ours", 0)).toEqual([
      `references.bib was changed since it was last written; it is written anew, and that version is kept as ${copy}.`,
    ]);
    edit(folder, "mine");
    expect(await written(folder, "ours again", 5)).toEqual([]);
    expect(copies(folder)).toEqual([
      "references.bib.edited-1970-01-01T00-00-00.000Z",
      "references.bib.edited-long-ago",
    ]);
  });

  it("is kept beside the copy that an interrupted fold of the same moment made", async () => {
    const folder = temporaryFolder();
    await makeJournal(folder);
    for (const text of ["mine", "mine, changed", "mine, changed again"]) {
      edit(folder, text);
      expect(await written(folder, "ours", 0)).toHaveLength(1);
    }
    const name = "references.bib.edited-1970-01-01T00-00-00.000Z";
    expect(copies(folder).map((each) => [each, read(folder, each)])).toEqual([
      [name, "mine"],
      [`${name}-2`, "mine, changed"],
      [`${name}-3`, "mine, changed again"],
    ]);
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
  await writeDocuments(folder, [], 0, () => undefined);
  expect(readdirSync(join(folder, ".ralph"))).toEqual(["journal"]);
  await writeDocuments(folder, [{ name: "references.bib", text: null }], 0, () => undefined);
  expect(existsSync(join(folder, "references.bib"))).toBe(false);
});

it("what was written last is not believed where its note is torn or of another kind: the person's copy is kept", async () => {
  for (const note of ["{", "null", "7"]) {
    const folder = temporaryFolder();
    await makeJournal(folder);
    writeFileSync(join(folder, ".ralph/written.json"), note);
    writeFileSync(join(folder, "references.bib"), "mine");
    const told: string[] = [];
    await writeDocuments(folder, [{ name: "references.bib", text: "ours" }], 0, (message) => void told.push(message));
    expect([read(folder, "references.bib"), told.length]).toEqual(["ours", 1]);
  }
});
