import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listSource, referencesIn } from "../../../../src/research/sources/clients/reading-list.js";
import { contextsWith } from "../../../../src/research/sources/source-settings.js";
import { answering, type Canned } from "./answering.js";
import type { Request } from "../../../../src/net/http.js";

const feed = (ids: readonly string[]) =>
  `<feed><opensearch:totalResults>${ids.length}</opensearch:totalResults>${ids.map((id) => `<entry><id>http://arxiv.org/abs/${id}v1</id><title>Paper ${id}</title></entry>`).join("")}</feed>`;

/**
 * Services that know arXiv ids other than 2401.00099, DOIs that end in "known" (Crossref) or "dataset" (OpenAlex
 * alone).
 */
function services({ url }: Request): Canned {
  if (url.includes("/api/query"))
    return { body: feed((/id_list=([^&]*)/.exec(url)?.[1] ?? "").split(",").filter((id) => id !== "2401.00099")) };
  if (url.includes("api.crossref.org"))
    return url.endsWith("known")
      ? { body: { message: { DOI: decodeURIComponent(url.replace(/.*works\//, "")), title: ["Known"] } } }
      : { status: 404, body: "Resource not found." };
  if (url.includes("api.openalex.org"))
    return url.includes("dataset")
      ? { body: { id: "https://openalex.org/W1", doi: "https://doi.org/10.5281/dataset", title: "A data set" } }
      : { status: 404, body: "<html>", type: "text/html" };
  const head =
    '<meta name="citation_title" content="A hand on a page"><meta name="citation_author" content="Ann Lee"><meta name="citation_pdf_url" content="/a.pdf">';
  return {
    body: `<!doctype html><html><head>${url.includes("paper") ? head : ""}</head><body>Hello</body></html>`,
    type: "text/html",
  };
}

function listOf(text: string) {
  const folder = mkdtempSync(join(tmpdir(), "list-"));
  writeFileSync(join(folder, "refs.txt"), text);
  const source = listSource("list:refs.txt", { place: "refs.txt" }, folder);
  const { context, requests } = answering(services, { endpoint: "refs.txt" });
  return { requests, answer: source.search?.({ terms: "", most: 100 }, context) };
}

describe("lists of ids and addresses", () => {
  it("are read line by line, in whatever form and with remarks", () => {
    const text = [
      "# my papers 10.1000/not-this-one",
      "2401.00010v2",
      "- arXiv:2401.00011, see also https://arxiv.org/pdf/2401.00012",
      "1. [A hand](https://doi.org/10.1000/a).",
      "doi:10.1002/(sici)1097",
      "https://lab.test/paper",
      "cs/0112017",
      "https://arxiv.org/abs/2401.00010",
      "",
      "nothing of the kind",
    ].join("\n");

    expect(
      referencesIn(text).map((reference) =>
        reference.kind === "arxiv"
          ? reference.id
          : reference.kind === "doi"
            ? reference.doi
            : reference.kind === "url"
              ? reference.url
              : "",
      ),
    ).toEqual([
      "2401.00010",
      "2401.00011",
      "2401.00012",
      "10.1000/a",
      "10.1002/(sici)1097",
      "https://lab.test/paper",
      "cs/0112017",
    ]);
  });

  it("are described by arXiv, Crossref, OpenAlex and the heads of pages, and what is not known is named", async () => {
    const { answer } = listOf(
      "2401.00010\n2401.00099\n10.1000/known\n10.5281/dataset\n10.1000/nobody\nhttps://lab.test/paper\nhttps://lab.test/blog\n",
    );

    expect(await answer).toMatchObject({
      status: "ok",
      total: 7,
      value: [
        { id: "arxiv_2401.00010", source: "arXiv" },
        { id: "doi_10.1000_known", source: "Crossref" },
        { id: "doi_10.5281_dataset", source: "OpenAlex" },
        {
          title: "A hand on a page",
          authors: ["Ann Lee"],
          url: "https://lab.test/paper",
          pdf_url: "https://lab.test/a.pdf",
          source: "list:refs.txt",
        },
      ],
      incomplete:
        "3 of 7 could not be described: https://lab.test/blog does not describe a paper; arXiv:2401.00099 is not known; 10.1000/nobody is not known.",
    });
  });

  it("on a page are what it links to, or the paper that it is about", async () => {
    const page = answering((request) =>
      request.url === "https://lab.test/reading"
        ? {
            body: '<html><body><a href="/about">About</a><a href="https://arxiv.org/abs/2401.00010">One</a></body></html>',
            type: "text/html",
          }
        : services(request),
    );
    const reading = listSource("list:https://lab.test/reading", { place: "https://lab.test/reading" }, "/");
    expect(await reading.search?.({ terms: "", most: 10 }, page.context)).toMatchObject({
      status: "ok",
      value: [{ id: "arxiv_2401.00010" }],
    });
    const own = listSource("list:https://lab.test/paper", { place: "https://lab.test/paper" }, "/");
    expect(await own.search?.({ terms: "", most: 10 }, answering(services).context)).toMatchObject({
      status: "ok",
      value: [{ title: "A hand on a page" }],
    });
  });

  it("are looked up as the configuration says: at mirrors, with keys, and not with what is turned off", async () => {
    const folder = mkdtempSync(join(tmpdir(), "list-"));
    writeFileSync(join(folder, "refs.txt"), "2401.00010\n10.5281/dataset\n");
    const { context, requests } = answering(({ url, ...rest }) =>
      services({ ...rest, url: url.replace("https://mirror.test", "https://api.openalex.org") }),
    );
    const sources = { arxiv: { off: true }, crossref: { off: true }, openalex: { endpoint: "https://mirror.test" } };
    const list = listSource("list:refs.txt", { place: "refs.txt" }, folder);
    const its = contextsWith({ sources }, { OPENALEX_API_KEY: "key-of-openalex" }, context.http)(list);
    if ("unavailable" in its) throw new Error(its.unavailable);
    expect(await list.search?.({ terms: "", most: 10 }, its)).toMatchObject({
      status: "ok",
      value: [{ title: "A data set" }],
      incomplete: expect.stringContaining("arXiv is turned off"),
    });
    expect(requests.map(({ url }) => new URL(url).origin)).toEqual(requests.map(() => "https://mirror.test"));
    expect(JSON.stringify(requests[0]?.secret)).toContain("key-of-openalex");
  });

  it("that are not there, are folders or name nothing say so", async () => {
    const folder = mkdtempSync(join(tmpdir(), "list-"));
    const { context } = answering([]);
    for (const place of ["none.txt", "."])
      expect(
        await listSource(`list:${place}`, { place }, folder).search?.({ terms: "", most: 5 }, context),
      ).toMatchObject({ status: "error" });
    expect(await listOf("no ids here").answer).toMatchObject({ status: "empty" });
  });
});
