import { expect, onTestFinished, test } from "vitest";
import { httpFor } from "../../../../src/research/sources/network.js";
import { sourceNamed } from "../../../../src/research/sources/registry.js";
import { contextsWith } from "../../../../src/research/sources/source-settings.js";
import { localZotero } from "../../../fixtures/services/zotero.js";
import { serve } from "../../../fixtures/web-server.js";
import { temporaryFolder } from "../../../support/projects/research.js";

const pdf = "file:///home/ann/Zotero/storage/BBBB2222/herons.pdf";

/** What a source's name brings from the made-up Zotero. */
async function askZotero(name: string) {
  const server = await serve(localZotero(pdf));
  onTestFinished(() => server.close());
  const configured = { sources: { zotero: { endpoint: server.origin } }, stateDir: temporaryFolder() };
  const http = httpFor(configured, new AbortController().signal, { cacheDir: temporaryFolder() });
  const source = sourceNamed(name);
  const context = source && contextsWith(configured, {}, http)(source);
  if (source?.search === undefined || context === undefined || "unavailable" in context) throw new Error(name);
  const answer = await source.search({ terms: "", most: 20_000 }, context);
  return { answer, again: () => source.search?.({ terms: "", most: 20_000 }, context), server };
}

test("a collection of Zotero's local API brings its works with what they are and their PDFs, and no notes", async () => {
  const { answer } = await askZotero('zotero:"Reading list"');
  expect(answer).toMatchObject({
    status: "ok",
    value: [
      {
        id: "doi_10.5555_zotero.1",
        title: "Warm stones and the sleep of herons",
        pdf_url: pdf,
        authors: ["Sample, Ann", "The Heron Group"],
        date: "2020-05-01",
        abstract: "We warm stones.",
        venue: "Journal of Invented Birds",
        volume: "3",
        pages: "4-9",
        publicationType: "journal-article",
        source: "PubMed",
        database: "PubMed",
        identifiers: { doi: "10.5555/zotero.1", pmid: "1234567" },
        publication: { editors: ["Example, Bo"], keywords: ["herons"] },
      },
    ],
  });
});

test("all of Zotero is asked anew each time, and a collection that is not there is answered with those that are", async () => {
  const { answer, again, server } = await askZotero("zotero:");
  expect(answer).toMatchObject({ status: "ok", value: [{}, { title: "Kilns", venue: "A Book of Fire" }] });
  const asked = server.requests.length;
  await again();
  expect(server.requests.length).toBe(2 * asked);
  expect((await askZotero("zotero:Other")).answer).toEqual({
    status: "error",
    reason: "Zotero has no collection 'Other'; it has Reading list.",
  });
});
