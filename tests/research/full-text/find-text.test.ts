import { readingFrom } from "../../support/network/network.js";
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { findText } from "../../../src/research/full-text/find-text.js";
import { makePdf } from "../../fixtures/pdf/make-pdf.js";
import { type Page, serve, type WebServer } from "../../fixtures/web-server.js";

const title = "Learning Dexterous Manipulation from Touch";
const body =
  "The policy is trained in simulation and carried over to the hand. It reached 94.2 percent success over 600 trials. ".repeat(
    8,
  );
const pdf = await makePdf({ title, authors: ["Ada Sample"], pages: [[body]] });
const latexml = `<html><body><article class="ltx_document"><h1 class="ltx_title_document">${title}</h1><h2>1 Method</h2><p>${body}</p></article></body></html>`;
const landing = (meta: string) =>
  `<html><head><meta name="citation_title" content="${title}">${meta}</head><body><h1>${title}</h1><p>Abstract. ${body.slice(0, 300)}</p></body></html>`;
const asPdf = { headers: { "content-type": "application/pdf" }, body: pdf };

let server: WebServer;
afterEach(() => server?.close());

/** Reads a paper from a server of these pages; `%` in an address stands for its origin. */
async function read(
  pages: Record<string, Page | readonly Page[]>,
  paper: Record<string, string | string[]>,
  cacheDir = mkdtempSync(join(tmpdir(), "texts-")),
) {
  server = await serve(pages);
  const filled = Object.fromEntries(
    Object.entries(paper).map(([key, value]) => [
      key,
      typeof value === "string" ? value.replace("%", server.origin) : value,
    ]),
  );
  const options = {
    cacheDir,
    ...readingFrom(server.origin, {
      "arXiv pages": server.origin,
      ar5iv: `${server.origin}/ar5iv`,
      DOI: server.origin,
      "Europe PMC": `${server.origin}/pmc`,
    }),
  };
  return await findText({ id: "url_1", ...filled }, options);
}
const paths = () => server.requests.map((request) => request.path);

describe("findText over the network", () => {
  it("reads arXiv's HTML first and says who asks", async () => {
    const read1 = await read(
      { "/html/2401.12345": { body: latexml }, "/pdf/2401.12345": asPdf },
      { id: "arxiv_2401.12345", url: "https://arxiv.org/abs/2401.12345", title },
    );
    expect(read1).toMatchObject({
      status: "ok",
      text: { kind: "html", depth: "full", title, marks: [{ label: "§ 1 Method" }] },
    });
    expect(paths()).toEqual(["/html/2401.12345"]);
    expect(server.requests[0]?.agent).toMatch(/^research-ralph\/\d+\.\d+\.\d+ \(\+mail@example\.org\)$/);
  });

  it("reads arXiv's PDF where there is no HTML, for old ids too", async () => {
    const old = await read({ "/pdf/cs/0112017": asPdf }, { id: "arxiv_cs_0112017", title });
    expect(old).toMatchObject({ status: "ok", text: { kind: "pdf", marks: [{ label: "p. 1" }] } });
    expect(paths()).toEqual(["/html/cs/0112017", "/ar5iv/html/cs/0112017", "/e-print/cs/0112017", "/pdf/cs/0112017"]);
  });

  it("follows a landing page to its PDF, and takes a PDF served as something else for what it is", async () => {
    const found = await read(
      {
        "/abs": { body: landing('<meta name="citation_pdf_url" content="/files/1">') },
        "/files/1": { headers: { "content-type": "application/octet-stream" }, body: pdf },
      },
      { url: "%/abs", title },
    );
    expect(found).toMatchObject({ status: "ok", text: { kind: "pdf", depth: "full" } });
  });

  it("takes a landing page alone for no more than the abstract", async () => {
    expect(await read({ "/abs": { body: landing("") } }, { url: "%/abs", title })).toMatchObject({
      status: "ok",
      text: { depth: "abstract" },
    });
  });

  it("takes no landing page for a paper whose PDF is only busy, and takes it where the PDF is refused", async () => {
    const page = { body: landing('<meta name="citation_pdf_url" content="/files/1">') };
    expect(await read({ "/abs": page, "/files/1": { status: 429 } }, { url: "%/abs", title })).toMatchObject({
      status: "rate_limited",
      transient: true,
    });
    await server.close();
    expect(await read({ "/abs": page, "/files/1": { status: 403 } }, { url: "%/abs", title })).toMatchObject({
      text: { depth: "abstract" },
    });
  });

  it("fetches no PDF that a page names in this machine or its network", async () => {
    const inside = await serve({ "/1.pdf": asPdf });
    const page = { body: landing(`<meta name="citation_pdf_url" content="${inside.origin}/1.pdf">`) };
    expect(await read({ "/abs": page }, { url: "%/abs", title })).toMatchObject({
      text: { kind: "html", depth: "abstract" },
    });
    expect(inside.requests).toEqual([]);
    await inside.close();
  });

  it("prefers pdf_url, and falls back to url", async () => {
    expect(
      await read({ "/a.pdf": { status: 404 }, "/abs": { body: latexml } }, { pdf_url: "%/a.pdf", url: "%/abs", title }),
    ).toMatchObject({ status: "ok", text: { kind: "html" } });
    expect(paths()).toEqual(["/a.pdf", "/abs"]);
  });

  it("resolves a DOI", async () => {
    expect(
      await read(
        { "/10.1000/x": { status: 302, headers: { location: "/abs" } }, "/abs": { body: latexml } },
        { id: "doi_10.1000_x", url: "https://doi.org/10.1000/x", title },
      ),
    ).toMatchObject({ status: "ok" });
  });

  it.each([
    ["blocked", "a refusal", [{ status: 403, body: "no" }]],
    ["blocked", "a bot challenge, whatever its status", [{ status: 503, body: "<title>Just a moment...</title>" }]],
    ["rate_limited", "HTTP 429", [{ status: 429, headers: { "retry-after": "30" } }]],
    ["not-found", "HTTP 404", [{ status: 404 }]],
    [
      "unreadable",
      "bytes that are no document",
      [{ headers: { "content-type": "application/zip" }, body: Buffer.from([80, 75, 3, 4, 0, 0, 0, 0]) }],
    ],
  ] as const)("answers %s to %s and asks only once", async (status, _, pages) => {
    const result = await read({ "/p": pages }, { url: "%/p", title });
    expect(result.status).toBe(status);
    expect(paths()).toEqual(["/p"]);
    if (status === "rate_limited") expect(result).toMatchObject({ reason: expect.stringContaining("30 seconds") });
  });

  it.each([
    ["HTTP 503", { status: 503, body: "busy" }],
    ["a connection that is cut", { cut: true }],
  ])("tries twice more after %s, and no more", async (_, failure) => {
    expect(await read({ "/p": [failure, failure, { body: latexml }] }, { url: "%/p", title })).toMatchObject({
      status: "ok",
    });
    await server.close();
    expect(await read({ "/p": [failure, failure, failure, { body: latexml }] }, { url: "%/p", title })).toMatchObject({
      status: "error",
      reason: expect.stringContaining("127.0.0.1"),
    });
    expect(paths()).toEqual(["/p", "/p", "/p"]);
  });

  it("names the host that can't be reached", async () => {
    server = await serve({});
    await server.close();
    const options = { cacheDir: mkdtempSync(join(tmpdir(), "texts-")), ...readingFrom(server.origin) };
    expect(await findText({ id: "url_1", url: `${server.origin}/x` }, options)).toMatchObject({
      status: "error",
      reason: expect.stringMatching(/127\.0\.0\.1:\d+ does not accept connections/),
      transient: true,
    });
  });

  it("takes no other document for the paper", async () => {
    const result = await read(
      { "/p": { body: latexml } },
      { url: "%/p", title: "Graph neural networks for protein folding", authors: ["Cy Stranger"] },
    );
    expect(result).toMatchObject({
      status: "error",
      reason: expect.stringMatching(/leads to another document \("Learning Dexterous/),
    });
  });

  it("stops when it is aborted", async () => {
    server = await serve({ "/p": { body: latexml } });
    const options = {
      cacheDir: mkdtempSync(join(tmpdir(), "texts-")),
      ...readingFrom(server.origin),
      signal: AbortSignal.abort(),
    };
    expect(await findText({ id: "url_1", url: `${server.origin}/p` }, options)).toEqual({
      status: "error",
      reason: "Fetching was interrupted.",
      transient: true,
    });
    expect(server.requests).toEqual([]);
  });
});

describe("findText's kept texts", () => {
  /** One server and one folder of texts for several readings. */
  async function reader(pages: Record<string, Page>) {
    server = await serve(pages);
    const options = { cacheDir: mkdtempSync(join(tmpdir(), "texts-")), ...readingFrom(server.origin) };
    return {
      at: (path: string) => findText({ id: "url_1", url: `${server.origin}${path}`, title }, options),
      cacheFile: join(options.cacheDir, "url_1.json"),
    };
  }

  it("are read again without the network, and fetched anew when they were changed", async () => {
    const { at, cacheFile } = await reader({ "/p": { body: latexml } });
    const first = await at("/p");
    expect(await at("/p")).toEqual(first);
    expect(paths()).toEqual(["/p"]);

    writeFileSync(cacheFile, readFileSync(cacheFile, "utf8").replace("94.2", "99.9"));
    expect(await at("/p")).toEqual(first);
    expect(paths()).toEqual(["/p", "/p"]);
  });

  it("are fetched anew when the address was corrected", async () => {
    const { at } = await reader({ "/abs": { body: landing("") }, "/p": { body: latexml } });
    expect(await at("/abs")).toMatchObject({ text: { depth: "abstract" } });
    expect(await at("/p")).toMatchObject({ text: { depth: "full" } });
  });

  it("hold a landing page for this run only", async () => {
    const { at, cacheFile } = await reader({ "/abs": { body: landing("") } });
    const first = await at("/abs");
    expect(await at("/abs")).toEqual(first);
    expect(paths()).toEqual(["/abs"]);
    const kept = JSON.parse(readFileSync(cacheFile, "utf8")) as { run: string };
    writeFileSync(cacheFile, JSON.stringify({ ...kept, run: "an earlier one" }));
    expect(await at("/abs")).toEqual(first);
    expect(paths()).toEqual(["/abs", "/abs"]);
  });
});

describe("findText on this machine", () => {
  const options = () => ({ cacheDir: mkdtempSync(join(tmpdir(), "texts-")), ...readingFrom("http://127.0.0.1:1") });

  it("reads a file by its URL or path, and again when it has changed", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "papers-")), "a paper.md");
    writeFileSync(file, "---\ntitle: A\n---\n## 1 One\n\nfirst words");
    const same = options();
    expect(await findText({ id: "file_1", url: pathToFileURL(file).href }, same)).toMatchObject({
      status: "ok",
      text: { title: "A" },
    });
    writeFileSync(file, "---\ntitle: A\n---\n## 1 One\n\nsecond and other words");
    expect(await findText({ id: "file_1", url: file }, same)).toMatchObject({
      status: "ok",
      text: { text: "## 1 One\n\nsecond and other words" },
    });
  });

  it("reads samples of the package", async () => {
    expect(await findText({ id: "sample_01", url: "sample:sample_01.md" }, options())).toMatchObject({
      status: "ok",
      text: { kind: "markdown", id: "sample_01" },
    });
  });

  it("follows no link, which may lead to any file of the user's, also under a document's name", async () => {
    const folder = mkdtempSync(join(tmpdir(), "papers-"));
    const [secret, link] = [join(folder, "secret.txt"), join(folder, "paper.txt")];
    writeFileSync(secret, "Abstract\n\nThe key is 4711.");
    symlinkSync(secret, link);
    const read = await findText({ id: "linked", url: pathToFileURL(link).href }, options());
    expect(read).toMatchObject({ status: "unreadable", reason: `${link} is a link; put the document itself there.` });
  });

  it("says so of a file that is missing, broken, or no document", async () => {
    const folder = mkdtempSync(join(tmpdir(), "papers-"));
    writeFileSync(join(folder, "broken.pdf"), pdf.slice(0, 300));
    writeFileSync(join(folder, "id_rsa"), "secret");
    expect(await findText({ id: "a", url: join(folder, "none.pdf") }, options())).toMatchObject({
      status: "not-found",
    });
    expect(await findText({ id: "b", url: join(folder, "broken.pdf") }, options())).toMatchObject({
      status: "unreadable",
    });
    expect(await findText({ id: "c", url: pathToFileURL(join(folder, "id_rsa")).href }, options())).toMatchObject({
      status: "unreadable",
      reason: expect.stringMatching(/not a document/),
    });
    expect(await findText({ id: "d" }, options())).toMatchObject({
      status: "not-found",
      reason: expect.stringMatching(/no address/),
    });
  });
});
