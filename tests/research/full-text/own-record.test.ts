import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listFolder } from "../../../src/research/full-text/local-folder.js";
import { ownRecords } from "../../../src/research/full-text/own-record.js";
import { makePdf, type PdfPlan } from "../../fixtures/pdf/make-pdf.js";
import { arxivFeed, testedHands } from "../../fixtures/services/arxiv.js";
import { crossrefAnswer, crossrefUnknown, crossrefWork } from "../../fixtures/services/crossref.js";
import { openAlexUnknown, openAlexWork } from "../../fixtures/services/openalex.js";
import type { Page } from "../../fixtures/web-server.js";
import { readingFrom, web } from "../../support/network/network.js";

const prose = "Tendons of robot hands wear out, and nobody has measured how fast. ".repeat(12);
const doi = "10.5555/hands.0033693";
const known = { "/works/10.5555%2Fhands.0033693": { body: crossrefAnswer(crossrefWork(doi)) } };

/** What a folder of this PDF alone is listed as, and what services say of it. */
async function listed(plan: PdfPlan, pages: Record<string, Page> = known) {
  const folder = mkdtempSync(join(tmpdir(), "papers-"));
  writeFileSync(join(folder, "05452615.pdf"), await makePdf(plan));
  const records = await listFolder(folder, undefined);
  const { origin } = await web(pages);
  const own = await ownRecords(records, readingFrom(origin, { Crossref: origin, arXiv: origin, OpenAlex: origin }));
  return { listed: records[0], own: own.get(records[0]?.id ?? "") };
}

const title = "Wear of Tendons in Robot Hands";
const paper = (over: Partial<PdfPlan> = {}): PdfPlan => ({
  title,
  pages: [["Abstract. " + prose, prose, "References", `[1] Lee, A. Other hands. https://doi.org/10.5555/cited.1`]],
  ...over,
});

describe("ownRecords", () => {
  it("gives a PDF the authors, year and journal of the DOI that it prints or states in its XMP", async () => {
    for (const plan of [
      paper({ runningHead: `J. Hand Res. 12 (2021) 1-9  https://doi.org/${doi}` }),
      paper({ foot: `DOI: ${doi}` }),
      paper({ xmp: { "prism:doi": doi } }),
      paper({ xmp: { "dc:identifier": `doi:${doi}` } }),
      paper({ xmp: { "pdfx:doi": doi } }),
    ]) {
      const { listed: before, own } = await listed(plan);
      expect(before?.identifiers).toEqual({ doi });
      expect(own?.record).toMatchObject({
        id: before?.id,
        url: before?.url,
        source: before?.source,
        title,
        identifiers: { doi },
        date: "2021-03-21",
        authors: ["Shanti Beispiel", "Brooks B. Pretend"],
        publicationType: "journal-article",
      });
      expect(own?.record.venue).toBeTruthy();
      expect(own?.merged).toMatchObject({ source: "Crossref", id: `doi_${doi.replace("/", "_")}` });
    }
  });

  it("does not believe a DOI whose title is not that of the document, or that no service knows", async () => {
    const another = await listed(paper({ title: "A Survey of Glass Bridges", foot: `DOI: ${doi}` }));
    expect(another.listed?.identifiers).toEqual({ doi });
    expect(another.own).toEqual({ record: { ...another.listed, identifiers: {} } });
    const unknown = await listed(paper({ foot: "DOI: 10.5555/no" }), {
      "/works/10.5555%2Fno": { status: 404, body: crossrefUnknown },
      "/works/doi:10.5555/no": { status: 404, body: openAlexUnknown },
    });
    expect(unknown.own?.record.identifiers).toEqual({});
  });

  it("asks OpenAlex for a DOI that another agency registered, and keeps it where OpenAlex does not answer", async () => {
    const zenodo = "10.5281/zenodo.4375";
    const printed = paper({ title: openAlexWork.title, foot: `DOI: ${zenodo}` });
    const unknown = { "/works/10.5281%2Fzenodo.4375": { status: 404, body: crossrefUnknown } };
    const work = { ...openAlexWork, doi: `https://doi.org/${zenodo}`, ids: {} };
    const { own } = await listed(printed, { ...unknown, [`/works/doi:${zenodo}`]: { body: JSON.stringify(work) } });
    expect(own?.record).toMatchObject({
      identifiers: { doi: zenodo },
      date: "2024-02-13",
      authors: ["Heather Beispiel", "Jason R Pretend"],
    });
    const silent = await listed(printed, { ...unknown, [`/works/doi:${zenodo}`]: { status: 503, body: "busy" } });
    expect([silent.listed?.identifiers, silent.own]).toEqual([{ doi: zenodo }, undefined]);
  });

  it("keeps the name alone where no service can be asked", async () => {
    const { listed: before, own } = await listed(paper({ foot: `DOI: ${doi}` }), {
      "/works/10.5555%2Fhands.0033693": { status: 503, body: "busy" },
    });
    expect(before?.identifiers).toEqual({ doi });
    expect(own).toBeUndefined();
  });

  it("takes the id that arXiv stamps on a page, and no other", async () => {
    const { own } = await listed(
      paper({ title: testedHands.title, stamp: "arXiv:2601.00021v2  [cs.RO]  9 Jan 2026" }),
      { "/api/query": { body: arxivFeed([testedHands]) } },
    );
    expect(own?.record).toMatchObject({ identifiers: { arxiv: "2601.00021" }, date: "2026-01-09" });
    expect(own?.record.authors).toHaveLength(3);
    const cites = paper({ pages: [[`We follow the preprint arXiv:2601.00021 in all that matters. ${prose}`]] });
    expect((await listed(cites)).listed?.identifiers).toEqual({});
  });

  it("takes no DOI that is cited: in a sentence, a footnote or the references", async () => {
    for (const cited of [
      `${prose} As shown before (https://doi.org/${doi}), this is hard to see for most people who look. ${prose}`,
      `${prose} References 1. Lee, A. Other hands. doi:${doi}`,
    ]) {
      const { listed: record, own } = await listed({ title, pages: [["Abstract. " + prose, cited]] });
      expect([record?.identifiers, own]).toEqual([{}, undefined]);
    }
    const note = await listed(paper({ foot: `1 Lee, A. and others: see https://doi.org/${doi}` }));
    expect(note.listed?.identifiers).toEqual({});
  });
});
