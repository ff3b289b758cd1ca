import { readingFrom } from "../../support/network/network.js";
import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { listFolder, listSamples, type ListingCache } from "../../../src/research/full-text/local-folder.js";
import { paperId } from "../../../src/research/papers/reference.js";
import { findText } from "../../../src/research/full-text/find-text.js";
import { makePdf } from "../../fixtures/pdf/make-pdf.js";

describe("listFolder", () => {
  it("lists documents of every kind in the order of their paths, also those it can't read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "papers-"));
    mkdirSync(join(folder, "more"));
    const pdf = await makePdf({
      title: "A Hand That Feels",
      authors: ["Ada Sample"],
      pages: [["Abstract. We study hands. ".repeat(10)], ["Second page."], ["Third page."]],
    });
    writeFileSync(join(folder, "a.pdf"), pdf);
    writeFileSync(join(folder, "b_broken-file.pdf"), pdf.slice(0, 200));
    writeFileSync(
      join(folder, "c.md"),
      "---\nid: my_1\ntitle: Notes\ndate: 2024-05-01\ndoi: 10.1000/x\nretracted: true\n---\ntext",
    );
    writeFileSync(join(folder, "d.md"), "---\nid: my_1\ntitle: A copy\n---\ntext");
    writeFileSync(join(folder, "more", "e.HTML"), `<title>A page</title><p>${"We study hands. ".repeat(30)}</p>`);
    writeFileSync(join(folder, "photo.png"), "no document");
    const candidates = await listFolder(folder, undefined);
    expect(candidates.map(({ id, title }) => [id, title])).toEqual([
      [paperId({ kind: "file", path: join(folder, "a.pdf") }), "A Hand That Feels"],
      [paperId({ kind: "file", path: join(folder, "b_broken-file.pdf") }), "b broken file"],
      ["my_1", "Notes"],
      [paperId({ kind: "file", path: join(folder, "d.md") }), "A copy"],
      [paperId({ kind: "file", path: join(folder, "more", "e.HTML") }), "A page"],
    ]);
    expect(candidates[0]).toMatchObject({
      authors: ["Ada Sample"],
      pdf_url: candidates[0]?.url,
      source: `folder:${folder}`,
    });
    expect(candidates[2]).toMatchObject({
      date: "2024-05-01",
      identifiers: { doi: "10.1000/x" },
      retracted: true,
      pdf_url: null,
    });
  });

  it("names the folder that is not there", async () => {
    await expect(listFolder("/not/there", undefined)).rejects.toThrow(ExpectedError);
  });
});

describe("listSamples", () => {
  it("gives every sample an id that says so and an address that can be read", async () => {
    const candidates = await listSamples(undefined);
    expect(candidates.length).toBeGreaterThanOrEqual(12);
    const options = { cacheDir: mkdtempSync(join(tmpdir(), "texts-")), ...readingFrom("http://127.0.0.1:1") };
    for (const { id, url, title } of candidates) {
      expect(id).toMatch(/^sample_\d\d$/);
      expect(["ok", "unreadable"], `${id}: ${title}`).toContain((await findText({ id, url, title }, options)).status);
    }
    expect(new Set(candidates.map(({ id }) => id)).size).toBe(candidates.length);
  });
});

test("a document that stays as it was is read once, and whoever waits hears how many are", async () => {
  const folder = mkdtempSync(join(tmpdir(), "papers-"));
  const write = (name: string, title: string) =>
    writeFileSync(join(folder, name), `---\ntitle: ${title}\n---\n\n# ${title}\n\nA text of some words.\n`);
  write("a.md", "On the fat of bats");
  write("b.md", "On the salt of moles");
  const path = join(folder, "a.md");
  utimesSync(path, 1_700_000_000, 1_700_000_000);
  const heard: number[][] = [];
  const reading: ListingCache = { documents: new Map(), watch: (...figures) => void heard.push(figures) };
  const titles = async () => (await listFolder(folder, undefined, undefined, reading)).map(({ title }) => title);
  expect(await titles()).toEqual(["On the fat of bats", "On the salt of moles"]);
  expect(heard).toEqual([
    [1, 2, 1],
    [2, 2, 2],
  ]);
  // Changed in place, with the size and the time of before: who read it again would see it.
  write("a.md", "On the fat of cats");
  utimesSync(path, 1_700_000_000, 1_700_000_000);
  expect(await titles()).toEqual(["On the fat of bats", "On the salt of moles"]);
  write("a.md", "On the fat of old cats");
  expect(await titles()).toEqual(["On the fat of old cats", "On the salt of moles"]);
});
