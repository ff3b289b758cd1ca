import { readingFrom } from "../../support/network/network.js";
import type { NamedPaper } from "../../../src/research/papers/paper-record.js";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { fetchPaper, type FetchOptions } from "../../../src/research/full-text/choose-full-text.js";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";
import { shadowLibraryRefusal } from "../../../src/research/full-text/shadow-libraries.js";
import type { LookupService } from "../../../src/research/sources/shared/source.js";
import { makePdf } from "../../fixtures/pdf/make-pdf.js";
import { type Page, serve, type WebServer } from "../../fixtures/web-server.js";

const title = "Learning Dexterous Manipulation from Touch";
const body =
  "The policy is trained in simulation and carried over to the hand. It reached 94.2 percent success over 600 trials. ".repeat(
    12,
  );
const html = {
  body: `<html><body><article class="ltx_document"><h1 class="ltx_title_document">${title}</h1><h2>1 Method</h2><p>${body}</p></article></body></html>`,
};
const latex = {
  headers: { "content-type": "application/gzip" },
  body: gzipSync(`\\documentclass{article}\\title{${title}}\\begin{document}\\maketitle ${body}\\end{document}`),
};
const jats = {
  headers: { "content-type": "application/xml" },
  body: `<article><front><article-meta><title-group><article-title>${title}</article-title></title-group></article-meta></front><body><sec><title>Method</title><p>${body}</p></sec></body></article>`,
};
const pdf = {
  headers: { "content-type": "application/pdf" },
  body: await makePdf({ title, authors: ["Ada Sample"], pages: [[body]] }),
};
const landing = {
  body: `<html><head><meta name="citation_title" content="${title}"></head><body><h1>${title}</h1><p>Abstract. ${body.slice(0, 300)}</p></body></html>`,
};

let server: WebServer;
afterEach(() => server?.close());

async function fetchFrom(
  pages: Record<string, Page | readonly Page[]>,
  paper: Partial<NamedPaper>,
  over: (origin: string) => Partial<FetchOptions> = () => ({}),
) {
  server = await serve(pages);
  const { origin } = server;
  const filled = Object.fromEntries(
    Object.entries(paper).map(([key, value]) => [key, typeof value === "string" ? value.replace("%", origin) : value]),
  );
  return await fetchPaper(
    { id: "p1", title, ...filled },
    {
      ...readingFrom(origin, {
        "arXiv pages": origin,
        ar5iv: `${origin}/ar5iv`,
        DOI: `${origin}/doi`,
        "Europe PMC": `${origin}/pmc`,
      }),
      ...over(origin),
    },
  );
}
const paths = () => server.requests.map(({ path }) => path);
const arxiv = { id: "arxiv_2401.12345", url: "https://arxiv.org/abs/2401.12345v2" };
const service =
  (records: (origin: string) => Partial<PaperRecord>, name = "Unpaywall") =>
  (origin: string) => ({
    copies: [
      { name, find: async () => ({ status: "ok", value: [{ identifiers: {}, ...records(origin) } as PaperRecord] }) },
    ] satisfies LookupService[],
  });

describe("the ways to a text", () => {
  it.each([
    ["arXiv HTML", { "/html/2401.12345": html }, 1, "html"],
    ["ar5iv", { "/ar5iv/html/2401.12345": html }, 2, "html"],
    ["LaTeX source", { "/e-print/2401.12345": latex }, 3, "latex"],
    ["arXiv PDF", { "/pdf/2401.12345": pdf }, 4, "pdf"],
  ])("of an arXiv paper are tried in order, up to the first whole text: %s", async (way, pages, asked, kind) => {
    const read = await fetchFrom(pages, { id: "arxiv_2401.12345" });
    expect(read).toMatchObject({ status: "ok", text: { kind, depth: "full", origin: { way } } });
    expect(paths()).toEqual(
      ["/html/2401.12345", "/ar5iv/html/2401.12345", "/e-print/2401.12345", "/pdf/2401.12345"].slice(0, asked),
    );
    const tried = read.status === "ok" ? (read.text.origin?.tried ?? []) : [];
    expect(tried).toHaveLength(asked - 1);
    for (const { reason } of tried) expect(reason).toMatch(/no such document/);
  });

  it("ask arXiv for the version that the record names, and ar5iv, which keeps one, for the paper", async () => {
    await fetchFrom({}, arxiv);
    expect(paths()).toEqual([
      "/html/2401.12345v2",
      "/ar5iv/html/2401.12345",
      "/e-print/2401.12345v2",
      "/pdf/2401.12345v2",
    ]);
  });

  it("take a source that is a PDF for one", async () => {
    expect(await fetchFrom({ "/e-print/2401.12345": pdf }, { id: "arxiv_2401.12345" })).toMatchObject({
      text: { kind: "pdf", origin: { way: "LaTeX source" } },
    });
  });

  it("take ar5iv's page of a paper that it could not convert for no text", async () => {
    const read = await fetchFrom(
      { "/ar5iv/html/2401.12345": landing, "/pdf/2401.12345": pdf },
      { id: "arxiv_2401.12345" },
    );
    expect(read).toMatchObject({
      text: {
        kind: "pdf",
        origin: { tried: [{}, { way: "ar5iv", reason: expect.stringMatching(/only a page about/) }, {}] },
      },
    });
  });

  it("prefer the rest to a conversion that broke off", async () => {
    const broken = {
      body: html.body.replace(
        "</article>",
        "</article><div>Conversion to HTML had a Fatal error and exited abruptly. This document may be truncated or damaged.</div>",
      ),
    };
    expect(
      await fetchFrom({ "/ar5iv/html/2401.12345": broken, "/pdf/2401.12345": pdf }, { id: "arxiv_2401.12345" }),
    ).toMatchObject({ text: { kind: "pdf" } });
    await server.close();
    expect(await fetchFrom({ "/ar5iv/html/2401.12345": broken }, { id: "arxiv_2401.12345" })).toMatchObject({
      text: { kind: "html", depth: "partial" },
    });
  });

  it("lead to PubMed Central where the record or a service knows its id", async () => {
    const pages = { "/pmc/PMC123456/fullTextXML": jats };
    expect(await fetchFrom(pages, { identifiers: { doi: "10.1000/x", pmcid: "PMC123456" } })).toMatchObject({
      text: { kind: "jats", origin: { way: "PMC XML" } },
    });
    await server.close();
    const found = await fetchFrom(
      pages,
      { identifiers: { doi: "10.1000/x" } },
      service(() => ({ identifiers: { pmcid: "PMC123456" } }), "Europe PMC"),
    );
    expect(found).toMatchObject({ text: { kind: "jats" } });
  });

  it("lead to a free copy before the publisher's page", async () => {
    const read = await fetchFrom(
      { "/copy.pdf": pdf, "/doi/10.1000/x": landing },
      { identifiers: { doi: "10.1000/x" } },
      service((origin) => ({
        copies: [
          { url: `${origin}/gone.pdf`, kind: "pdf" },
          { url: `${origin}/copy.pdf`, kind: "pdf" },
        ],
      })),
    );
    expect(read).toMatchObject({ text: { kind: "pdf", origin: { way: "open-access copy" } } });
    expect(paths()).toEqual(["/gone.pdf", "/copy.pdf"]);
  });

  it("end at the record's own addresses, with every reason kept", async () => {
    const read = await fetchFrom(
      { "/x": { status: 403 } },
      { url: "%/x", pdf_url: "%/y.pdf", identifiers: { doi: "10.1000/x" } },
    );
    expect(read).toMatchObject({
      status: "blocked",
      tried: [
        { way: "the record's own address", reason: expect.stringMatching(/no such document/) },
        { way: "the record's own address", reason: expect.stringMatching(/refused access/) },
        { way: "the record's own address", reason: expect.stringMatching(/no such document/) },
      ],
    });
    expect(paths()).toEqual(["/y.pdf", "/x", "/doi/10.1000/x"]);
  });

  it("never settle for a landing page while a service that may know a copy is only busy", async () => {
    const busy = () => ({
      copies: [
        {
          name: "Unpaywall",
          find: async () => ({ status: "rate_limited", reason: "Unpaywall asks to wait.", transient: true }),
        },
      ] satisfies LookupService[],
    });
    expect(
      await fetchFrom({ "/abs": landing }, { url: "%/abs", identifiers: { doi: "10.1000/x" } }, busy),
    ).toMatchObject({ status: "rate_limited", transient: true });
    await server.close();
    const knowsNone = () => ({
      copies: [
        { name: "Unpaywall", find: async () => ({ status: "empty", reason: "Not known." }) },
      ] satisfies LookupService[],
    });
    expect(
      await fetchFrom({ "/abs": landing }, { url: "%/abs", identifiers: { doi: "10.1000/x" } }, knowsNone),
    ).toMatchObject({ text: { depth: "abstract" } });
  });

  it("leave a host alone that asked to wait, and go on with the others", async () => {
    expect(await fetchFrom({ "/html/2401.12345": { status: 429 } }, { id: "arxiv_2401.12345" })).toMatchObject({
      status: "rate_limited",
      transient: true,
    });
    expect(paths()).toEqual(["/html/2401.12345"]);
  });

  it("check every text against title and authors, whichever way it came", async () => {
    const other = { title: "Graph neural networks for protein folding", authors: ["Cy Stranger"] };
    for (const [path, page] of [
      ["/html/2401.12345", html],
      ["/ar5iv/html/2401.12345", html],
      ["/e-print/2401.12345", latex],
      ["/pdf/2401.12345", pdf],
    ] as const) {
      const read = await fetchFrom({ [path]: page }, { id: "arxiv_2401.12345", ...other });
      expect(read).toMatchObject({
        status: "error",
        tried: expect.arrayContaining([
          expect.objectContaining({ reason: expect.stringMatching(/leads to another document/) }),
        ]),
      });
      await server.close();
    }
    expect(
      await fetchFrom({ "/pmc/PMC1234/fullTextXML": jats }, { identifiers: { pmcid: "PMC1234" }, ...other }),
    ).toMatchObject({ status: "error" });
  });
});

describe("a pirate's address", () => {
  it.each([
    "https://sci-hub.se/10.1000/x",
    "http://www.sci-hub.org.cn/x",
    "https://libgen.rs/book",
    "https://libgen2.is/x",
    "https://annas-archive.org/md5/1",
    "https://de.annas-archive.li/x",
    "https://sci-hub.example-proxy.org/x",
    "https://gateway.example.org/ipns/libgen.fun/x.pdf",
    "https://library.lol/main/1",
    "https://z-lib.id/x",
  ])("is refused in a sentence: %s", (address) => {
    expect(shadowLibraryRefusal(address)).toMatch(/^\S+ leads to a shadow library\b.*\.$/);
  });

  it.each([
    "https://arxiv.org/pdf/1",
    "https://science.org/sci-hub-study",
    "https://library.loleta.edu/x",
    "https://mylibgenome.org/a.pdf",
    "https://example.org/libgen",
  ])("is none: %s", (address) => expect(shadowLibraryRefusal(address)).toBeUndefined());

  it("is not asked where a record, a service, a page or a redirect leads to it", async () => {
    const pirate = "https://sci-hub.se/10.1000/x";
    expect(await fetchFrom({}, { pdf_url: pirate })).toMatchObject({
      status: "blocked",
      reason: expect.stringMatching(/sci-hub\.se leads to a shadow library/),
    });
    await server.close();
    const asked: string[] = [];
    const http = (pages: Record<string, { url?: string; body: string | Uint8Array; type: string }>) => ({
      get: async ({ url }: { url: string }) => {
        asked.push(url);
        const page = pages[url];
        return page === undefined
          ? ({ status: "not-found", reason: "none" } as const)
          : ({ status: "ok", bytes: Buffer.from(page.body), url: page.url ?? url, type: page.type } as const);
      },
    });
    const withLink = landing.body.replace("</head>", `<meta name="citation_pdf_url" content="${pirate}"></head>`);
    const linked = await fetchFrom({}, { url: "https://example.org/abs" }, () => ({
      http: http({ "https://example.org/abs": { body: withLink, type: "text/html" } }),
    }));
    expect(linked).toMatchObject({ text: { depth: "abstract" } });
    await server.close();
    const moved = await fetchFrom({}, { pdf_url: "https://example.org/a.pdf" }, () => ({
      http: http({ "https://example.org/a.pdf": { url: pirate, body: pdf.body, type: "application/pdf" } }),
    }));
    expect(moved).toMatchObject({ status: "blocked" });
    await server.close();
    const copy = await fetchFrom(
      {},
      { identifiers: { doi: "10.1000/x" } },
      service(() => ({ copies: [{ url: pirate, kind: "pdf" }] })),
    );
    expect(copy).toMatchObject({
      tried: [{ way: "open-access copy", reason: expect.stringMatching(/shadow library/) }, {}],
    });
    expect(asked).toEqual(["https://example.org/abs", "https://example.org/a.pdf"]);
  });
});
