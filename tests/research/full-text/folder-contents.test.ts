import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { contentsOf, neitherSentence, noPapersSentence } from "../../../src/research/full-text/folder-contents.js";
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
  expect(names(contents.neither)).toEqual(["numbers.csv", "package.json", "settings.xml"]);
  expect(neitherSentence(folder, contents)).toContain("3 files are neither");
  expect(contents.otherExtensions).toEqual(new Map([[".pptx", 1]]));
});

test("a folder that is a project gives its papers, and none of the files of its state", async () => {
  const folder = folderWith({ "rrd.json": "{}", "references.bib": "@article{x, title={A}}", "mine.md": "a text" });
  const { documents, lists } = await contentsOf(folder, own);
  expect([names(documents), lists]).toEqual([["mine.md"], []]);
});

test("where nothing can be read, what is there is said", async () => {
  const folder = folderWith({ "a.docx": "x", "b.docx": "x", "c.zip": "x" });
  expect(noPapersSentence(folder, await contentsOf(folder, own))).toContain("it holds 2 .docx, 1 .zip");
});
