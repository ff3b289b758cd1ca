import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { contentsOf, noPapersSentence, unreadSentence } from "../../../src/research/full-text/folder-contents.js";
import { temporaryFolder } from "../../support/projects/research.js";

const own = { state: "rrd.json", inProject: ["rrd.json", "references.bib"], besideProjects: ["prompt.md"] };

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
const names = (paths: readonly string[]) => paths.map((path) => basename(path));

test("files whose ending does not tell are taken by what they hold, and this program's own are passed over", async () => {
  const folder = folderWith({
    "article.xml": "<?xml version='1.0'?><article><front><article-meta/></front><body><p>x</p></body></article>",
    "settings.xml": "<settings><password>x</password></settings>",
    "pubmed.txt": "PMID- 12345678\nTI  - A title\nAU  - Sample A\n",
    "notes.txt": "My notes on shrews.",
    "export.csv": "Authors,Title,Year\nSample A.,A title,2020\n",
    "numbers.csv": "a,b\n1,2\n",
    "items.json": JSON.stringify([{ type: "book", title: "A book" }]),
    "package.json": JSON.stringify({ name: "x" }),
    "embase.ris": "TY  - JOUR\nTI  - A title\nER  -\n",
    "prompt.md": "for agents",
    "researches/one/rrd.json": "{}",
    "researches/one/references.bib": "@article{x, title={A}}",
    "researches/one/more/paper.md": "a text",
    "talk.pptx": "x",
  });
  const contents = await contentsOf(folder, own);
  expect(names(contents.documents)).toEqual(["article.xml", "notes.txt"]);
  expect(names(contents.lists)).toEqual(["embase.ris", "export.csv", "items.json", "pubmed.txt"]);
  expect(names(contents.unread)).toEqual(["numbers.csv", "package.json", "settings.xml", "talk.pptx"]);
});

test("a folder that is a project gives its papers, and none of the files of its state", async () => {
  const folder = folderWith({ "rrd.json": "{}", "references.bib": "@article{x, title={A}}", "mine.md": "a text" });
  const { documents, lists } = await contentsOf(folder, own);
  expect([names(documents), lists]).toEqual([["mine.md"], []]);
});

test("where nothing can be read, what is there is said", async () => {
  const folder = folderWith({ "a.docx": "x", "b.docx": "x", "c.zip": "x" });
  expect(noPapersSentence(folder, await contentsOf(folder, own))).toContain("it holds 2 .docx and c.zip");
});

test("files that are not read are told, by their extensions; hidden files and what this program writes are not", async () => {
  const files = {
    "a.md": "x",
    "b.docx": "x",
    "c.DOCX": "x",
    "d.odt": "x",
    "e.epub": "x",
    "f.png": "x",
    ".g.docx": "x",
  };
  const folder = folderWith({ ...files, "prompt.md": "x", "rrd/rrd.json": "{}", "rrd/h.docx": "x" });
  expect(unreadSentence("papers", folder, await contentsOf(folder, own))).toBe(
    "papers: 5 files are not read: 2 .docx, d.odt, e.epub and 1 more; save documents as PDF or text, and lists of works as .ris or .bib.",
  );
  const allRead = folderWith({ "a.md": "x" });
  expect(unreadSentence("papers", allRead, await contentsOf(allRead, own))).toBeUndefined();
});
