import { readingFrom, web } from "../../support/network/network.js";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { describeReference } from "../../../src/research/full-text/describe-reference.js";
import { parseReference, type Reference } from "../../../src/research/papers/reference.js";
import { arxivFeed, testedHands } from "../../fixtures/services/arxiv.js";
import { crossrefAnswer, crossrefUnknown, crossrefWork } from "../../fixtures/services/crossref.js";
import { europePmcResult } from "../../fixtures/services/open-copies.js";
import { type Page, serve, type WebServer } from "../../fixtures/web-server.js";

let server: WebServer | undefined;
afterEach(() => server?.close());

async function describeWith(reference: string, pages: Record<string, Page>) {
  server = await serve(pages);
  const { origin } = server;
  // arXiv's pages are on another host than its service.
  const site = (await web(pages)).origin;
  return await describeReference(parseReference(reference) as Reference, {
    cacheDir: mkdtempSync(join(tmpdir(), "texts-")),
    ...readingFrom(site, { arXiv: origin, "arXiv pages": site, Crossref: origin, DOI: origin, "Europe PMC": origin }),
  });
}

describe("describeReference of what arXiv answers", () => {
  const asked = (id: string, body: string) => describeWith(id, { "/api/query": { body } });

  it("gives title, authors, date and abstract", async () => {
    expect(await asked("2601.00021", arxivFeed([testedHands]))).toMatchObject({
      status: "ok",
      paper: {
        id: "arxiv_2601.00021",
        title: "Testing Robot Hands: A First Comparison of Three Benches",
        authors: ["Aurélia Beispiel", "Jürgen Wübbel", "Mei Pretend"],
        date: "2026-01-09",
        url: "https://arxiv.org/abs/2601.00021",
        source: "arXiv",
        abstract: "Robot hands are tested on benches that nobody has compared. We compare three of them.",
        identifiers: { arxiv: "2601.00021" },
      },
    });
    expect(server?.requests[0]?.path).toBe("/api/query?id_list=2601.00021&max_results=1");
  });

  it("calls a paper that arXiv drops from its answer empty", async () => {
    expect(await asked("0808.05394", arxivFeed([]))).toMatchObject({ status: "empty" });
  });

  it("takes no half feed for a whole one", async () => {
    const body = arxivFeed([testedHands]);
    expect(await asked("2601.00021", body.slice(0, body.indexOf("</entry>")))).toMatchObject({ status: "error" });
  });
});

describe("describeReference of what Crossref answers", () => {
  it("gives title, authors and date", async () => {
    const body = crossrefAnswer(crossrefWork("10.5555/hands.0033693"));
    expect(await describeWith("10.5555/hands.0033693", { "/works/10.5555%2Fhands.0033693": { body } })).toMatchObject({
      status: "ok",
      paper: {
        id: "doi_10.5555_hands.0033693",
        title: "Wear of Tendons in Robot Hands",
        authors: ["Shanti Beispiel", "Brooks B. Pretend"],
        date: "2021-03-21",
      },
    });
  });

  it("calls a DOI that nobody knows empty or names the failure, never a paper", async () => {
    expect(
      await describeWith("10.5555/notarealdoi", {
        "/works/10.5555%2Fnotarealdoi": { status: 404, body: crossrefUnknown },
      }),
    ).toMatchObject({ status: "empty", reason: expect.stringContaining("10.5555/notarealdoi") });
  });
});

describe("describeReference of other names", () => {
  it("looks up the DOI within a publisher's address, without what stands behind it", async () => {
    const body = crossrefAnswer(crossrefWork("10.5555/hands.0033693"));
    const known = { "/works/10.5555%2Fhands.0033693": { body } };
    expect(await describeWith("https://publisher.test/doi/full/10.5555/hands.0033693/pdf?x=1", known)).toMatchObject({
      status: "ok",
      paper: { id: "doi_10.5555_hands.0033693" },
    });
  });

  it("asks Europe PMC for an id of PubMed, and says where it is unknown", async () => {
    const answer = { "/search": { body: JSON.stringify({ hitCount: 1, resultList: { result: [europePmcResult] } }) } };
    expect(await describeWith(`PMID: ${europePmcResult.pmid}`, answer)).toMatchObject({
      status: "ok",
      paper: { title: europePmcResult.title.replace(/\.$/, "") },
    });
    expect(decodeURIComponent(server?.requests[0]?.path ?? "")).toContain(`EXT_ID:${europePmcResult.pmid}`);
  });
});

describe("describeReference", () => {
  it("keeps the version that was asked for, and no other: 2401.00010 keeps its zero", async () => {
    const feed =
      '<?xml version="1.0"?><feed><entry><id>http://arxiv.org/abs/2401.00010v2</id><title>2048</title><summary>1e5</summary><author><name>A B</name></author></entry></feed>';
    expect(await describeWith("2401.00010v1", { "/api/query": { body: feed } })).toMatchObject({
      status: "ok",
      paper: {
        id: "arxiv_2401.00010",
        title: "2048",
        abstract: "1e5",
        identifiers: { arxiv: "2401.00010v1" },
        pdf_url: "https://arxiv.org/pdf/2401.00010v1",
      },
    });
    expect(server?.requests[0]?.path).toBe("/api/query?id_list=2401.00010v1&max_results=1");
  });

  it("reads the document where arXiv's service asks to wait", async () => {
    const page = `<article class="ltx_document"><h1 class="ltx_title_document">A Hand That Feels</h1><h2>1 Method</h2><p>${"We study hands in simulation. ".repeat(20)}</p></article>`;
    expect(
      await describeWith("2401.12345", { "/api/query": { status: 429 }, "/html/2401.12345": { body: page } }),
    ).toMatchObject({
      status: "ok",
      paper: { id: "arxiv_2401.12345", title: "A Hand That Feels", identifiers: { arxiv: "2401.12345" } },
    });
    await server?.close();
    expect(await describeWith("2401.12345", { "/api/query": { status: 429 } })).toMatchObject({
      status: "rate_limited",
    });
  });

  it("knows a retraction from the notice on the work", async () => {
    const message = { DOI: "10.1000/x", title: ["A <i>hand</i>"], "updated-by": [{ type: "retraction" }] };
    expect(
      await describeWith("10.1000/x", { "/works/10.1000%2Fx": { body: JSON.stringify({ message }) } }),
    ).toMatchObject({ status: "ok", paper: { retracted: true, title: "A hand", source: "Crossref" } });
  });

  it("describes a sample by its own front matter", async () => {
    expect(await describeWith("sample:sample_01.md", {})).toMatchObject({
      status: "ok",
      paper: { id: "sample_01", source: "samples", url: "sample:sample_01.md" },
    });
  });
});
