import { describe, expect, it } from "vitest";
import { crossref, readWork } from "../../../../src/research/sources/clients/crossref.js";
import {
  crossrefAnswer,
  crossrefBadCursor,
  crossrefList,
  crossrefPreprint,
  crossrefUnknown,
  crossrefWork,
  oddWorks,
} from "../../../fixtures/services/crossref.js";
import { answering, type Canned } from "./answering.js";

const work = (fields: object = {}) => ({ DOI: "10.1000/a", title: ["A hand that feels"], ...fields });
const list = (items: readonly unknown[], more: object = {}) => ({
  body: { status: "ok", message: { "total-results": items.length, items, ...more } },
});

describe("answers of Crossref", () => {
  it("give a work", async () => {
    const { context, requests } = answering([{ body: crossrefAnswer(crossrefWork("10.5555/hands.0033693")) }], {
      endpoint: "https://api.crossref.org",
    });
    expect(await crossref.lookup?.([{ doi: "10.5555/hands.0033693" }], context)).toMatchObject({
      status: "ok",
      value: [
        {
          id: "doi_10.5555_hands.0033693",
          title: "Wear of Tendons in Robot Hands",
          date: "2021-03-21",
          venue: "Journal of Invented Hands",
          kind: "published",
          citations: { count: 72, source: "Crossref" },
        },
      ],
    });
    expect(requests[0]?.url).toBe("https://api.crossref.org/works/10.5555%2Fhands.0033693");
  });

  it("give works one by one, with titles and abstracts free of mark-up", async () => {
    const { context } = answering(oddWorks.map((each) => ({ body: crossrefAnswer(each) })));
    const answer = await crossref.lookup?.(
      oddWorks.map(({ DOI }) => ({ doi: DOI })),
      context,
    );
    const found = answer?.status === "ok" ? answer.value : [];

    expect(found.map(({ identifiers }) => identifiers.doi)).toEqual(oddWorks.map(({ DOI }) => DOI));
    expect(found[0]?.abstract).toContain("Tendons wear & tear.");
    expect(found[1]?.abstract).toMatch(/^Twenty‐/);
    expect(found[2]?.title).toBe("Grip of Octopus hands");
    expect(found[3]).toMatchObject({ date: "2003", venue: "Proceedings of Invented Hands" });
    expect(found[4]?.authors).toEqual([]);
    expect(found.some(({ abstract, title }) => /<\/?[a-z]|jats:|&\w+;/.test(`${abstract} ${title}`))).toBe(false);
  });

  it("of plain text under 404 say that a DOI is not known, also where the type says JSON", async () => {
    for (const type of ["text/plain", "application/json"]) {
      const { context } = answering([{ status: 404, body: crossrefUnknown, type }]);
      expect(await crossref.lookup?.([{ doi: "10.5555/notarealdoi" }], context)).toMatchObject({ status: "empty" });
    }
  });

  it("on a cursor that is refused are an error in Crossref's words, not an empty list", async () => {
    const { context } = answering([{ status: 404, body: crossrefBadCursor }]);
    expect(await crossref.search?.({ terms: "widget", most: 5 }, context)).toEqual({
      status: "error",
      reason: "Crossref: Cursor specified but it is invalid.",
    });
  });

  it("of a list give records with the cursor of the next page", async () => {
    const items = oddWorks.slice(0, 3);
    const { context, requests } = answering([
      { body: crossrefList(items, { "total-results": 90, "next-cursor": "DnF1ZXJ5VGhlbkZldGNoJAAA+/==" }) },
      list([]),
    ]);
    const answer = await crossref.search?.({ terms: "widget", most: 2 }, context);

    expect(answer?.status === "ok" && answer.value.length).toBe(2);
    expect(new URL(requests[0]?.url ?? "").searchParams.get("cursor")).toBe("*");
  });

  it("to a search by title give the work only where the title agrees", async () => {
    const near = crossrefWork("10.5555/near.1", { title: ["Attention Is All Hands Need: A Review of Reviews"] });
    const asked = { title: "Attention Is All Hands Need", authors: ["Ada Beispiel"] };
    expect(await crossref.match?.(asked, answering([{ body: crossrefList([near]) }]).context)).toMatchObject({
      status: "empty",
    });

    const title = "Effect of native oxide layers on copper finger tips: A reactive dynamics study";
    const right = crossrefWork("10.5555/1.4938384", { title: [title] });
    expect(await crossref.match?.({ title }, answering([{ body: crossrefList([right]) }]).context)).toMatchObject({
      status: "ok",
      value: [{ id: "doi_10.5555_1.4938384" }],
    });

    expect(
      await crossref.match?.({ title: "abs12032jsdafn" }, answering([{ body: crossrefList([]) }]).context),
    ).toMatchObject({ status: "empty" });
  });

  it("of a preprint say that it is one", () => {
    expect(readWork(crossrefPreprint)).toMatchObject({
      kind: "preprint",
      date: "2026-04-01",
      abstract: expect.stringContaining("Understanding rare grips"),
    });
  });
});

describe("Crossref", () => {
  it("is asked within days, with the contact apart from the address, which is logged", async () => {
    const { context, requests } = answering([list([work()])], { contact: "mailto:someone@example.org" });
    await crossref.search?.(
      { terms: 'tactile AND "robot hand"', from: "2024-01-01", until: "2024-02-01", most: 5 },
      context,
    );

    const parameters = new URL(requests[0]?.url ?? "").searchParams;
    expect(parameters.get("query.bibliographic")).toBe("tactile robot hand");
    expect(parameters.get("filter")).toBe("from-pub-date:2024-01-01,until-pub-date:2024-02-01");
    expect(requests[0]?.url).not.toContain("example.org");
    expect(requests[0]?.secret).toEqual({ query: { mailto: "someone@example.org" } });
  });

  it("goes on by cursor while pages are full", async () => {
    const full = Array.from({ length: 500 }, (_, index) => work({ DOI: `10.1000/${index}` }));
    const { context, requests } = answering([
      list(full, { "total-results": 800, "next-cursor": "a+b/=" }),
      list(full.slice(0, 300), { "next-cursor": "c" }),
    ]);
    const answer = await crossref.search?.({ terms: "hand", most: 1000 }, context);

    expect(answer?.status === "ok" && answer.value.length).toBe(800);
    expect(requests.map(({ url }) => new URL(url).searchParams.get("cursor"))).toEqual(["*", "a+b/="]);
  });

  it("is not asked for what is DataCite's, arXiv's own DOIs", async () => {
    const { context, requests } = answering([]);
    expect(await crossref.lookup?.([{ arxiv: "2401.00010" }], context)).toMatchObject({ status: "empty" });
    expect(requests).toEqual([]);
    expect(readWork(work({ DOI: "10.48550/arXiv.2401.00010" }))?.identifiers).toEqual({ arxiv: "2401.00010" });
  });

  it("calls a work retracted by the notice on it: who says so, when and where", () => {
    const notices = [
      { type: "correction", source: "publisher", updated: { "date-parts": [[2022, 5, 1]] }, DOI: "10.1000/correction" },
      {
        type: "retraction",
        source: "retraction-watch",
        updated: { "date-parts": [[2023, 11, 30]] },
        DOI: "10.1000/Notice",
        label: "Retraction",
      },
    ];
    expect(readWork(work({ "updated-by": notices }))).toMatchObject({
      retracted: true,
      updates: [
        { type: "correction", date: "2022-05-01", source: "Crossref (publisher)", notice: "10.1000/correction" },
        { type: "retraction", date: "2023-11-30", source: "Crossref (retraction-watch)", notice: "10.1000/notice" },
      ],
    });
  });

  it.each([
    "correction",
    "corrigendum",
    "erratum",
    "addendum",
    "clarification",
    "expression_of_concern",
    "partial_retraction",
    "new_version",
    "crossmark_retraction",
    7,
    null,
  ])("calls no work retracted for %s", (type) => {
    expect(readWork(work({ "updated-by": [{ type, updated: { "date-parts": [[2022]] } }] }))).not.toHaveProperty(
      "retracted",
    );
  });

  it("knows the notice itself, which carries `update-to`, for a notice and not for retracted", () => {
    const notice = readWork(
      work({ title: ["Retracted: A hand that feels"], "update-to": [{ type: "retraction", DOI: "10.1000/b" }] }),
    );
    expect(notice?.kind).toBe("notice");
    expect(notice).not.toHaveProperty("retracted");
    expect(
      readWork(work({ type: "journal-article", "update-to": [{ type: "new_version", DOI: "10.1000/b" }] }))?.kind,
    ).toBe("published");
  });

  it("believes a publisher who marks a title as retracted without a registered notice", () => {
    expect(readWork(work({ title: ["RETRACTED ARTICLE: A hand that feels"] }))).toMatchObject({
      retracted: true,
      updates: [{ type: "retraction", source: "Crossref (title)" }],
    });
    expect(readWork(work({ title: ["Retracted articles and their citations"] }))).not.toHaveProperty("retracted");
  });

  it("knows preprint and published version of one another, in every form of a DOI", () => {
    const relation = {
      "has-preprint": [
        { "id-type": "doi", id: "https://doi.org/10.1101/2024.01.01.1" },
        { "id-type": "doi", id: "10.1000/A" },
      ],
      "is-preprint-of": [{ "id-type": "doi", id: "10.1000/B" }],
    };
    expect(readWork(work({ relation }))?.otherVersions).toEqual([
      { relation: "preprint", doi: "10.1101/2024.01.01.1" },
      { relation: "published", doi: "10.1000/b" },
    ]);
  });

  it("has dates with nulls, groups as authors, and mark-up in titles", () => {
    const odd = work({
      title: ["Sensing H<sub>2</sub>O with a <i>hand</i> &amp; more"],
      issued: { "date-parts": [[null]] },
      posted: { "date-parts": [[2024, 2, 31]] },
      author: [{ name: "The Hand Group" }, { given: "Ann", family: "Lee" }, { family: "Solo" }, {}, null],
      link: [
        {
          URL: "https://x.test/similarity.pdf",
          "content-type": "application/pdf",
          "intended-application": "similarity-checking",
        },
        { URL: "https://x.test/a.pdf", "content-type": "application/pdf", "intended-application": "text-mining" },
      ],
      license: [{ URL: "https://creativecommons.org/licenses/by/4.0/" }],
    });
    expect(readWork(odd)).toMatchObject({
      title: "Sensing H2O with a hand & more",
      date: "2024-02",
      authors: ["The Hand Group", "Ann Lee", "Solo"],
      pdf_url: "https://x.test/a.pdf",
      copies: [{ url: "https://x.test/a.pdf", kind: "pdf", license: "https://creativecommons.org/licenses/by/4.0/" }],
    });
  });

  it("says which authors are groups, although they look like persons", () => {
    const author = [{ name: "World Bank" }, { name: "The Hand Group" }, { given: "Ann", family: "Lee" }];
    expect(readWork(work({ author }))).toMatchObject({
      authors: ["World Bank", "The Hand Group", "Ann Lee"],
      publication: { groups: ["World Bank"] },
    });
  });

  it("that goes silent in the middle has said nothing of the rest", async () => {
    const down: Canned = { status: 503, body: "down", type: "text/plain" };
    const { context, requests } = answering([{ body: { message: work() } }, down, down]);
    const works = ["a", "b", "c", "d"].map((each) => ({ doi: `10.1000/${each}` }));

    expect(await crossref.lookup?.(works, context)).toMatchObject({
      status: "ok",
      unchecked: [{ doi: "10.1000/b" }, { doi: "10.1000/c" }, { doi: "10.1000/d" }],
    });
    expect(requests).toHaveLength(3);
  });

  it.each([[{}], ["{"], ["null"], [{ message: null }], [{ message: [] }], [{ message: { items: {} } }]])(
    "is not believed with %j",
    async (body) => {
      expect(await crossref.search?.({ terms: "hand", most: 5 }, answering([{ body }]).context)).toMatchObject({
        status: "error",
      });
    },
  );
});
