import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import type { Paper, ProjectUpdate, Rrd } from "../../../src/research/generated/rrd.js";
import { findChanges, type UpdateSources } from "../../../src/research/update/new-and-changed.js";
import { buildText } from "../../../src/text/documents/text/document-text.js";
import { temporaryFolder } from "../../support/projects/research.js";

const update: ProjectUpdate = { id: "update-1", since: "2026-10-01", until: "2026-11-20", at: "2026-11-20T10:00:00Z" };

it.each<[what: string, over: Partial<Paper>, changed: number]>([
  ["was read from its abstract alone", { read_depth: "abstract", abstract: "They hold." }, 1],
  ["could not be retrieved", { status: "not_retrieved", decision: null }, 1],
  ["was read in full", { read_depth: "full" }, 0],
  ["has a document", { read_depth: "abstract", abstract: "They hold.", pdf_url: "file:///other/scan.pdf" }, 0],
])("a document in a folder is the text of a paper that %s: %j", async (_, over, changed) => {
  const file = join(temporaryFolder(), "sponges.md");
  writeFileSync(file, "# Holding Sponges\n");
  const url = pathToFileURL(file).href;
  const facts = { title: "Holding Sponges", authors: ["Ada Author"], date: "2024-02-01" };
  const paper: Paper = { id: "p1", ...facts, status: "presented", decision: "PRESENT", ...over };
  const document = { id: "file_1", ...facts, url, pdf_url: null, source: "folder:papers", abstract: null };
  const rrd = { requirements: { sources: ["folder:papers"] }, papers_pool: [paper], updates: [update] };
  const outside = {
    sources: {
      serves: () => true,
      services: () => [],
      candidates: async () => [{ ...document, identifiers: {} }],
      substitution: () => undefined,
    },
    searchRecord: () => undefined,
    updates: async () => new Map(),
    currentText: async ({ pdf_url: address }: Paper) =>
      address === url ? buildText([{ text: "They hold." }], { kind: "markdown", depth: "full" }) : undefined,
    readText: async () => undefined,
  } as unknown as UpdateSources;
  const found = await findChanges({ rrd: rrd as unknown as Rrd, ledger: [] }, update, outside);
  expect(found.works).toBe(0);
  const news = { id: "p1", says: "its text was added", set: { pdf_url: url }, comparison: "another" };
  expect(found.changed).toMatchObject(Array.from({ length: changed }, () => news));
});
