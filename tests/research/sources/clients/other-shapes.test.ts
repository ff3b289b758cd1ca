import { describe, expect, it } from "vitest";
import { arxiv, readArxivFeed } from "../../../../src/research/sources/clients/arxiv.js";
import { biorxiv } from "../../../../src/research/sources/clients/biorxiv.js";
import { crossref, readSingle, readWork as readCrossref } from "../../../../src/research/sources/clients/crossref.js";
import { europePmc, readResult } from "../../../../src/research/sources/clients/europe-pmc.js";
import { textOfIndex } from "../../../../src/research/papers/records/json-row.js";
import { openAlex, readWork as readOpenAlex } from "../../../../src/research/sources/clients/openalex.js";
import { readPaper, semanticScholar } from "../../../../src/research/sources/clients/semantic-scholar.js";
import { readWork as readUnpaywall, unpaywall } from "../../../../src/research/sources/clients/unpaywall.js";
import { gitHub } from "../../../../src/research/sources/clients/code-links.js";
import { hackerNews } from "../../../../src/research/sources/clients/hacker-news.js";
import { allSources } from "../../../../src/research/sources/registry.js";
import { answering, type Canned } from "./answering.js";

const contact = "someone@example.org";
const doi = "10.1101/2024.01.02.573000";
const searching = [...allSources, gitHub, hackerNews].filter((source) => source.search !== undefined);
const looking = allSources.filter((source) => source.lookup !== undefined);
const context = (answer: Canned) => answering(() => answer, { contact, key: "k" }).context;
const feed = (inner: string) => `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">${inner}</feed>`;

describe("a failure under HTTP 200", () => {
  it.each([
    [openAlex, (items: object[]) => ({ results: items })],
    [crossref, (items: object[]) => ({ message: { items } })],
    [europePmc, (items: object[]) => ({ resultList: { result: items } })],
  ])(
    "is not taken for nothing where $name lists works in a form that cannot be read, and counts none",
    async (source, list) => {
      const ask = (items: object[]) => source.search?.({ terms: "hand", most: 3 }, context({ body: list(items) }));
      expect(await ask([{ work: { name: "Robot hands" } }])).toMatchObject({
        status: "error",
        reason: "The source counts 1 result, and none that it sent could be read.",
      });
      expect(await ask([])).toMatchObject({ status: "empty" });
    },
  );

  it.each(searching)(
    "says nothing of a search of $name: a page, an object of another kind, a refusal",
    async (source) => {
      for (const body of [
        "<!doctype html><title>Login</title>",
        { error: "Internal error" },
        { status: "failed", message: [{ message: "Bad" }] },
        "null",
        "[]",
      ]) {
        expect(await source.search?.({ terms: "hand", most: 3 }, context({ body }))).toMatchObject({ status: "error" });
      }
    },
  );

  it.each(looking)("says nothing of a work that $name is asked for", async (source) => {
    for (const body of ["<!doctype html><title>Login</title>", { error: "Internal error" }, "null"]) {
      expect(await source.lookup?.([{ doi, arxiv: "2401.00010", pmid: "1" }], context({ body }))).toMatchObject({
        status: "error",
      });
    }
  });

  it("is told in the service's own words, and a wish to wait is one", async () => {
    const failed = {
      status: "failed",
      "message-type": "validation-failure",
      message: [{ type: "x", message: "Integer specified as z" }],
    };
    expect(await crossref.search({ terms: "hand", most: 3 }, context({ body: failed }))).toMatchObject({
      reason: "Crossref's answer contains no list of works (Integer specified as z); try again later.",
    });
    expect(
      await openAlex.search?.({ terms: "hand", most: 3 }, context({ body: { error: "Rate limit exceeded" } })),
    ).toMatchObject({ status: "rate_limited", transient: true });
    expect(
      await europePmc.search?.(
        { terms: "hand", most: 3 },
        context({ body: { errCode: 404, errMsg: "Invalid field" } }),
      ),
    ).toMatchObject({ reason: expect.stringContaining("(Invalid field)") });
  });

  it("that says of a work that it is not known is believed where the service speaks so", async () => {
    expect(
      await semanticScholar.match?.({ title: "A hand" }, context({ body: { error: "Title match not found" } })),
    ).toMatchObject({ status: "empty" });
    const unknown = { HTTP_status_code: 404, error: true, message: "'10.1101/x' isn't in Unpaywall." };
    expect(await unpaywall.lookup?.([{ doi }], context({ body: unknown }))).toMatchObject({ status: "empty" });
    expect(
      await biorxiv.lookup?.([{ doi }], context({ body: { messages: [{ status: "no posts found" }] } })),
    ).toMatchObject({ status: "empty" });
    expect(
      await biorxiv.lookup?.([{ doi }], context({ body: { messages: [{ status: "error" }], collection: null } })),
    ).toMatchObject({ status: "error" });
  });

  it("of arXiv's is one with the address of old as with the new, and a feed that counts nothing is none of its", async () => {
    for (const scheme of ["http", "https"]) {
      const error = `<entry><id>${scheme}://arxiv.org/api/errors#incorrect_id_format_for_x</id><title>Error</title><summary>incorrect id format for x</summary></entry>`;
      expect(await readArxivFeed(feed(error))).toEqual({
        status: "error",
        reason: "arXiv refuses the request: incorrect id format for x.",
      });
    }
    expect(await readArxivFeed("<feed/>")).toMatchObject({ status: "error", transient: true });
    expect(await readArxivFeed(feed("<opensearch:totalResults>0</opensearch:totalResults>"))).toMatchObject({
      status: "ok",
    });
  });
});

describe("a 404", () => {
  it("of the site around a service is a wrong address, and says nothing of a work; OpenAlex's own is a page", async () => {
    const page: Canned = { status: 404, body: "<!DOCTYPE html><html><body>nginx</body></html>", type: "text/html" };
    const gateway: Canned = { status: 404, body: { message: "Missing Authentication Token" } };
    for (const answer of [page, gateway]) {
      expect(await crossref.lookup([{ doi }], context(answer))).toMatchObject({ status: "error" });
      expect(await semanticScholar.references?.({ doi }, 3, context(answer))).toMatchObject({ status: "error" });
      expect(await unpaywall.lookup?.([{ doi }], context(answer))).toMatchObject({ status: "error" });
    }
    expect(await openAlex.lookup?.([{ doi }], context(page))).toMatchObject({ status: "empty" });
    expect(await openAlex.lookup?.([{ doi }], context(gateway))).toMatchObject({ status: "error" });
  });
});

describe("a work in another shape", () => {
  it("is known by Crossref for the preprint on arXiv, by arXiv's DOI, its id and its address", () => {
    const preprints = ["10.48550/arXiv.2101.00001", "arXiv:2101.00002v2", "https://arxiv.org/abs/math/0309136"].map(
      (id) => ({ id }),
    );
    expect(
      readCrossref({ DOI: "10.1000/a", title: ["A"], relation: { "has-preprint": preprints } })?.otherVersions,
    ).toEqual([
      { relation: "preprint", doi: "10.48550/arxiv.2101.00001" },
      { relation: "preprint", doi: "10.48550/arxiv.2101.00002" },
      { relation: "preprint", doi: "10.48550/arxiv.math/0309136" },
    ]);
  });

  it("is read from CSL too, with single values in place of lists and groups under another name", () => {
    const csl = {
      DOI: "10.1000/a",
      title: "A hand",
      "container-title": "J",
      author: [{ literal: "The Group" }, { given: "Ann", family: "Lee" }],
      issued: { "date-parts": [["2024", "1"]] },
    };
    expect(readCrossref(csl)).toMatchObject({
      title: "A hand",
      venue: "J",
      authors: ["The Group", "Ann Lee"],
      date: "2024-01",
    });
  });

  it("is not a work without a DOI, where one work was asked for", () => {
    expect(readSingle({ message: { title: ["A hand"] } }, "10.1000/a")).toMatchObject({ status: "error" });
    expect(readSingle({ message: { items: [], "total-results": 0 } }, "10.1000/a")).toMatchObject({ status: "error" });
    expect(readSingle({ message: { DOI: "10.1000/A", title: [] } }, "10.1000/a")).toMatchObject({ status: "empty" });
  });

  it("has its abstract put together from an index with gaps, shared places and a count around it", () => {
    expect(textOfIndex({ We: [0, 50], hands: [90], study: [7] })).toBe("We study We hands");
    expect(textOfIndex({ IndexLength: 2, InvertedIndex: { hands: [1], We: [0] } })).toBe("We hands");
    expect(textOfIndex({})).toBe("");
  });

  it("is a notice with OpenAlex and not retracted itself", () => {
    const notice = {
      id: "https://openalex.org/W1",
      title: "Retraction: A hand",
      type: "retraction",
      is_retracted: true,
    };
    expect(readOpenAlex(notice)).toMatchObject({ kind: "notice" });
    expect(readOpenAlex(notice)).not.toHaveProperty("retracted");
  });

  it("is retracted where its title says so, with services that have no word for it", () => {
    const title = "RETRACTED ARTICLE: A hand";
    expect(readPaper({ paperId: "0".repeat(40), title })).toMatchObject({
      updates: [{ type: "retraction", source: "Semantic Scholar (title)" }],
    });
    expect(readOpenAlex({ id: "W1", title: "WITHDRAWN: A hand" })).toMatchObject({
      retracted: true,
      updates: [{ type: "withdrawal" }],
    });
    expect(readOpenAlex({ id: "W1", title, is_retracted: true })?.updates).toEqual([
      { type: "retraction", source: "OpenAlex" },
    ]);
    expect(readResult({ id: "1", source: "MED", title: "[Retracted] A hand" }, "https://e.test")).toMatchObject({
      retracted: true,
    });
    expect(
      readResult(
        { id: "1", source: "MED", title, pubTypeList: { pubType: "Retraction of Publication" } },
        "https://e.test",
      ),
    ).not.toHaveProperty("retracted");
    expect(readPaper({ paperId: "0".repeat(40), title: "Retracted papers and their authors" })).not.toHaveProperty(
      "retracted",
    );
  });

  it("that Semantic Scholar sends without a title is not called unknown", async () => {
    const papers = [
      { paperId: "0".repeat(40), title: null, externalIds: null },
      null,
      { paperId: "1".repeat(40), title: "A hand" },
    ];
    const works = [{ doi: "10.1000/a" }, { doi: "10.1000/b" }, { doi: "10.1000/c" }];
    expect(await semanticScholar.lookup?.(works, context({ body: papers }))).toMatchObject({
      status: "ok",
      unknown: [{ doi: "10.1000/b" }],
      unchecked: [{ doi: "10.1000/a" }],
    });
    expect(await semanticScholar.lookup?.(works.slice(0, 1), context({ body: papers.slice(0, 1) }))).toMatchObject({
      status: "error",
    });
  });

  it("keeps its free copies where Unpaywall has no title for it", () => {
    const work = {
      doi: "10.1000/a",
      title: null,
      is_oa: true,
      best_oa_location: { url_for_pdf: "https://x.test/a.pdf" },
    };
    expect(readUnpaywall(work)).toMatchObject({ copies: [{ url: "https://x.test/a.pdf" }] });
    expect(readUnpaywall({ ...work, is_oa: false })).toBeUndefined();
  });

  it("of arXiv may name several DOIs, carry an old id with its subject, and a title over two lines", async () => {
    const entries = `<entry><id>http://arxiv.org/abs/math.GT/0309136v2</id><title>A
  hand</title><arxiv:doi>10.1000/a, 10.1000/b</arxiv:doi></entry>`;
    expect(await readArxivFeed(feed(entries))).toMatchObject({
      value: { records: [{ title: "A hand", identifiers: { arxiv: "math.GT/0309136v2", doi: "10.1000/a" } }] },
    });
    const answer = await arxiv.lookup(
      [{ arxiv: "math/0309136" }],
      context({ body: feed(entries), type: "application/atom+xml" }),
    );
    expect(answer).toMatchObject({ status: "ok", value: [{ identifiers: { doi: "10.1000/a" } }] });
    expect(answer).not.toHaveProperty("unknown");
  });

  it("is read in the letters that its bytes are in, whatever the service says of them", async () => {
    const work = JSON.stringify({ message: { DOI: "10.1000/a", title: ["Größe der Hände"] } });
    for (const [body, type] of [
      [Buffer.from(work), "application/json;charset=ISO-8859-1"],
      [Buffer.from(work, "latin1"), "application/json;charset=ISO-8859-1"],
      [Buffer.from(`\ufeff${work}`), "text/plain"],
    ] as const)
      expect(await crossref.lookup([{ doi: "10.1000/a" }], context({ body, type }))).toMatchObject({
        value: [{ title: "Größe der Hände" }],
      });
  });
});
