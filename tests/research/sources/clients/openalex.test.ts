import { describe, expect, it } from "vitest";
import { textOfIndex } from "../../../../src/research/papers/records/json-row.js";
import { openAlex, readWork } from "../../../../src/research/sources/clients/openalex.js";
import { openAlexPage, openAlexUnknown, openAlexWork } from "../../../fixtures/services/openalex.js";
import { answering } from "./answering.js";

const work = (fields: object = {}) => ({
  id: "https://openalex.org/W1",
  doi: "https://doi.org/10.1000/a",
  title: "A hand that feels",
  ...fields,
});
const page = (results: readonly unknown[], meta: object = {}) => ({
  body: { meta: { count: results.length, ...meta }, results },
});

describe("answers of OpenAlex", () => {
  it("give a work with its abstract put together, its names, copies and citations", () => {
    expect(readWork(openAlexWork)).toMatchObject({
      id: "doi_10.5555_open.4375",
      title: "The State of Open Hands: A Large Count of Free Grippers",
      authors: ["Heather Beispiel", "Jason R Pretend"],
      date: "2024-02-13",
      abstract: expect.stringMatching(
        /^Despite growing interest in open hands there is a need .* the hands that are not$/,
      ),
      identifiers: { doi: "10.5555/open.4375", pmid: "99456894", pmcid: "PMC9915332", openalex: "W9000000001" },
      venue: "Open Hands",
      citations: { count: 1239, source: "OpenAlex" },
      copies: expect.arrayContaining([{ url: "https://doi.org/10.5555/open.4375", kind: "landing", license: "cc-by" }]),
    });
    expect(readWork(openAlexWork)).not.toHaveProperty("retracted");
  });

  it("take a page of HTML under 404 for a work that is not known", async () => {
    const { context } = answering([{ status: 404, body: openAlexUnknown, type: "text/html; charset=utf-8" }]);
    expect(await openAlex.lookup?.([{ doi: "10.5555/j.1365-2699.2003.00795" }], context)).toMatchObject({
      status: "empty",
    });
  });

  it("are read from a search by title", async () => {
    const { context } = answering([{ body: openAlexPage([openAlexWork]) }]);
    expect(await openAlex.search?.({ terms: "state of open hands", most: 5 }, context)).toMatchObject({
      status: "ok",
      total: 1,
      value: [{ id: "doi_10.5555_open.4375", date: "2024-02-13", identifiers: { openalex: "W9000000001" } }],
    });
  });
});

describe("OpenAlex", () => {
  it("is searched within days, with the key apart from the address", async () => {
    const { context, requests } = answering([page([work()])], {
      endpoint: "https://api.openalex.org",
      key: "secret-key",
    });
    await openAlex.search?.(
      { terms: 'tactile "robot hand" a,b|c', from: "2024-01-01", until: "2024-02-01", most: 30 },
      context,
    );

    const url = new URL(requests[0]?.url ?? "");
    expect(url.searchParams.get("search")).toBe('tactile "robot hand" "a b c"');
    expect(url.searchParams.get("filter")).toBe("from_publication_date:2024-01-01,to_publication_date:2024-02-01");
    expect(url.searchParams.get("per_page")).toBe("30");
    expect(requests[0]?.url).not.toContain("secret-key");
    expect(requests[0]?.secret).toEqual({ query: { api_key: "secret-key" } });
  });

  it("is paged by number without a key and by cursor with one, to the end of the list", async () => {
    const many = Array.from({ length: 100 }, (_, index) =>
      work({ id: `https://openalex.org/W${index + 1}`, doi: null }),
    );
    const keyless = answering(({ url }) => page(url.includes("page=3") ? many.slice(0, 10) : many, { count: 210 }));
    expect(await openAlex.search?.({ terms: "hand", most: 500 }, keyless.context)).toMatchObject({
      status: "ok",
      total: 210,
    });
    expect(keyless.requests.map(({ url }) => /&(page=\d+|cursor=[^&]*)/.exec(url)?.[1])).toEqual([
      "page=1",
      "page=2",
      "page=3",
    ]);

    const keyed = answering(({ url }) => page(many, { count: 250, next_cursor: url.includes("*") ? "b=/" : null }), {
      key: "k",
    });
    await openAlex.search?.({ terms: "hand", most: 500 }, keyed.context);
    expect(keyed.requests.map(({ url }) => /&(page=\d+|cursor=[^&]*)/.exec(url)?.[1])).toEqual([
      "cursor=*",
      "cursor=b%3D%2F",
    ]);
  });

  it("that gives the same cursor for ever is not asked for ever", async () => {
    const { context, requests } = answering(() => page([work()], { next_cursor: "same" }), { key: "k" });
    await openAlex.search?.({ terms: "hand", most: 10_000 }, context);

    expect(requests.length).toBe(2);
  });

  it("is asked for works one by one, which is free, by DOI, arXiv id and PMID", async () => {
    const { context, requests } = answering(() => ({ body: work() }), { endpoint: "https://api.openalex.org" });
    await openAlex.lookup?.(
      [
        { doi: "10.1002/(sici)1097<456::aid>3.0.co;2-5" },
        { arxiv: "2401.00010v2" },
        { pmid: "123" },
        { openalex: "W7" },
        { s2: "x" },
      ],
      context,
    );

    expect(requests.map(({ url }) => url.replace(/\?.*/, ""))).toEqual([
      "https://api.openalex.org/works/doi:10.1002/(sici)1097%3C456::aid%3E3.0.co;2-5",
      "https://api.openalex.org/works/doi:10.48550/arxiv.2401.00010",
      "https://api.openalex.org/works/pmid:123",
      "https://api.openalex.org/works/W7",
    ]);
  });

  it("whose budget is spent has said nothing of the works, and is left alone", async () => {
    const spent = {
      status: 429,
      body: { error: "Rate limit exceeded", message: "Insufficient budget. Resets at midnight." },
      headers: { "retry-after": "54000" },
    };
    const { context, requests } = answering([{ body: work() }, spent]);
    const answer = await openAlex.lookup?.([{ doi: "10.1000/a" }, { doi: "10.1000/b" }, { doi: "10.1000/c" }], context);

    expect(answer).toMatchObject({
      status: "ok",
      value: [{ id: "doi_10.1000_a" }],
      unchecked: [{ doi: "10.1000/b" }, { doi: "10.1000/c" }],
    });
    expect(answer).not.toHaveProperty("unknown");
    expect(requests).toHaveLength(2);
  });

  it("dates a work to the year where it writes the first of January", () => {
    expect(readWork(work({ publication_date: "2024-01-01", publication_year: 2024 }))?.date).toBe("2024");
    expect(readWork(work({ publication_date: "2024-01-02" }))?.date).toBe("2024-01-02");
    expect(readWork(work({ publication_date: null, publication_year: 2019 }))?.date).toBe("2019");
  });

  it("flags what it calls retracted, and its notices as notices", () => {
    expect(readWork(work({ is_retracted: true }))).toMatchObject({
      retracted: true,
      updates: [{ type: "retraction", source: "OpenAlex" }],
    });
    expect(readWork(work({ is_retracted: "false" }))).not.toHaveProperty("retracted");
    expect(readWork(work({ type: "retraction" }))?.kind).toBe("notice");
    expect(readWork(work({ type: "preprint" }))?.kind).toBe("preprint");
  });

  it("knows the preprint of a published work by its locations", () => {
    const locations = [
      { landing_page_url: "https://doi.org/10.1000/a", version: "publishedVersion" },
      {
        landing_page_url: "http://arxiv.org/abs/2401.00010",
        version: "submittedVersion",
        is_oa: true,
        pdf_url: "https://arxiv.org/pdf/2401.00010",
      },
      { landing_page_url: "https://doi.org/10.1101/2024.01.01.1", version: "submittedVersion" },
    ];
    expect(readWork(work({ locations }))).toMatchObject({
      identifiers: { doi: "10.1000/a", arxiv: "2401.00010" },
      pdf_url: "https://arxiv.org/pdf/2401.00010",
      otherVersions: [{ relation: "preprint", doi: "10.1101/2024.01.01.1" }],
    });
  });

  it("puts no broken index of an abstract together", () => {
    expect(textOfIndex({ hand: [1], A: [0], feels: [3], that: [2] })).toBe("A hand that feels");
    expect(textOfIndex({ far: [4_000_000_000], near: [0] })).toBe("near far");
    expect(textOfIndex({ odd: ["1", -1, null], fine: 0 })).toBe("fine odd");
    expect(textOfIndex(null)).toBe("");
    expect(textOfIndex([])).toBe("");
  });

  it("gives the works that a work cites, a hundred a question, and those that cite it", async () => {
    const ids = Array.from({ length: 130 }, (_, index) => `https://openalex.org/W${index + 10}`);
    const { context, requests } = answering(({ url }) => {
      if (url.includes("/works/")) return { body: { id: "https://openalex.org/W1", referenced_works: ids } };
      const wanted = /filter=openalex:([^&]*)/.exec(url)?.[1]?.split("|") ?? ["W5"];
      return page(wanted.map((id) => work({ id: `https://openalex.org/${id}`, doi: null })));
    });
    const references = await openAlex.references?.({ doi: "10.1000/a" }, 120, context);
    expect(references?.status === "ok" && references.value.length).toBe(120);
    expect(requests).toHaveLength(3);

    const none = answering([{ body: { id: "https://openalex.org/W1", referenced_works: [] } }]);
    expect(await openAlex.references?.({ doi: "10.1000/a" }, 10, none.context)).toEqual({
      status: "empty",
      reason: "OpenAlex knows no references of 10.1000/a.",
    });
    expect(await openAlex.citations?.({ doi: "10.1000/a" }, 10, context)).toMatchObject({
      status: "ok",
      value: [{ identifiers: { openalex: "W5" } }],
    });
    expect(requests.at(-1)?.url).toContain("filter=cites:W1&");
  });

  it.each([[{}], ["no JSON {"], [[]], [{ results: null }], ["<html>"]])(
    "is not believed with %j in place of a list",
    async (body) => {
      expect(await openAlex.search?.({ terms: "hand", most: 5 }, answering([{ body }]).context)).toMatchObject({
        status: "error",
      });
      expect(await openAlex.lookup?.([{ doi: "10.1000/a" }], answering([{ body }]).context)).toMatchObject({
        status: "error",
      });
    },
  );

  it("that counts results and sends none that can be read has not said that there are none", async () => {
    expect(await openAlex.search?.({ terms: "hand", most: 5 }, answering([page([{ id: 7 }])]).context)).toMatchObject({
      status: "error",
    });
    expect(await openAlex.search?.({ terms: "hand", most: 5 }, answering([page([])]).context)).toMatchObject({
      status: "empty",
    });
  });
});
