import { describe, expect, it } from "vitest";
import { readPaper, semanticScholar } from "../../../../src/research/sources/clients/semantic-scholar.js";
import {
  paperId,
  s2Article,
  s2Match,
  s2NoMatch,
  s2Nothing,
  s2Page,
  s2PageForPdf,
  s2Paper,
  s2Preprint,
  s2References,
  s2TitleOnly,
} from "../../../fixtures/services/semantic-scholar.js";
import { answering } from "./answering.js";

const id = (digit: number) => String(digit).repeat(40);
const paper = (digit: number, fields: object = {}) => ({
  paperId: id(digit),
  title: `Paper ${digit}`,
  externalIds: { DOI: `10.1000/${digit}` },
  ...fields,
});

const papers = (from: number, count: number) => Array.from({ length: count }, (_, index) => s2Paper(from + index));

describe("answers of Semantic Scholar", () => {
  it("give pages until there are enough", async () => {
    const { context, requests } = answering([
      { body: s2Page(papers(0, 100), 70_498, 0) },
      { body: s2Page(papers(100, 50), 70_498, 100) },
    ]);
    const answer = await semanticScholar.search?.({ terms: "turing", most: 150 }, context);

    expect(answer).toMatchObject({ status: "ok", total: 70_498 });
    expect(answer?.status === "ok" && answer.value.length).toBe(150);
    expect(requests.map(({ url }) => /offset=(\d+)&limit=(\d+)/.exec(url)?.slice(1))).toEqual([
      ["0", "100"],
      ["100", "50"],
    ]);
  });

  it("without any result have no data at all", async () => {
    const { context } = answering([{ body: s2Nothing }]);
    expect(await semanticScholar.search?.({ terms: "n0 r3sult", most: 10 }, context)).toMatchObject({
      status: "empty",
    });
  });

  it("to a batch hold null for a paper that is not known", async () => {
    const { context, requests } = answering([{ body: [null, s2Paper(1), s2Paper(2), s2Paper(3)] }]);
    const works = [{ doi: "10.1/none" }, { doi: "10.5555/s2.1" }, { doi: "10.5555/s2.2" }, { s2: paperId(3) }];
    const answer = await semanticScholar.lookup?.(works, context);

    expect(answer).toMatchObject({ status: "ok", unknown: [{ doi: "10.1/none" }] });
    expect(answer?.status === "ok" && answer.value).toHaveLength(3);
    expect(answer?.status === "ok" && answer.value[0]).toMatchObject({
      title: "Machines That Answer 1",
      identifiers: { doi: "10.5555/s2.1", s2: paperId(1) },
      abstract: "What machine 1 answers.",
    });
    expect(requests[0]?.json).toEqual({ ids: ["DOI:10.1/none", "DOI:10.5555/s2.1", "DOI:10.5555/s2.2", paperId(3)] });
  });

  it("leave out references that are known by their title alone", async () => {
    const { context, requests } = answering([
      { body: s2References(0, papers(0, 50), 50) },
      { body: s2References(50, [s2TitleOnly("A table of hands"), s2Paper(60), s2TitleOnly("Hand Times, 12/20/2008")]) },
    ]);
    const answer = await semanticScholar.references?.({ doi: "10.5555/s2.2250500" }, 200, context);

    expect(requests.map(({ url }) => /offset=(\d+)/.exec(url)?.[1])).toEqual(["0", "50"]);
    expect(requests[0]?.url).toContain("/paper/DOI:10.5555/s2.2250500/references?");
    expect(answer?.status === "ok" && answer.value.map(({ identifiers }) => identifiers.s2)).toEqual([
      ...Array.from({ length: 50 }, (_, number) => paperId(number)),
      paperId(60),
    ]);
  });

  it("match a title only where it is that title", async () => {
    const near = () => answering([{ body: s2Match("Mining grips between sets of items in large hands") }]).context;
    expect(await semanticScholar.match?.({ title: "mining grips between" }, near())).toMatchObject({ status: "empty" });
    const whole = { title: "Mining Grips between Sets of Items in Large Hands" };
    expect(await semanticScholar.match?.(whole, near())).toMatchObject({
      status: "ok",
      value: [{ title: "Mining grips between sets of items in large hands" }],
    });
  });

  it.each(s2NoMatch)("say in two ways that there is no such title: $status", async (answer) => {
    const { context } = answering([answer]);
    expect(await semanticScholar.match?.({ title: "empty results edge case query" }, context)).toMatchObject({
      status: "empty",
    });
  });

  it("with an empty address for the PDF have none, and DOIs among the PDFs are pages", () => {
    expect(readPaper(s2Paper(1))).toMatchObject({ pdf_url: null });
    expect(readPaper(s2Paper(1))).not.toHaveProperty("copies");
    expect(readPaper(s2Article)).toMatchObject({
      id: "arxiv_2601.05376",
      pdf_url: "https://www.invented.test/articles/s42256-026-00832-8.pdf",
      identifiers: { doi: "10.5555/s42256-026-00832-8", pmid: "98799228", pmcid: "PMC99116106" },
      kind: "published",
    });
    expect(readPaper(s2Preprint)).toMatchObject({ kind: "preprint", identifiers: { arxiv: "2612.07559" } });
    expect(readPaper(s2PageForPdf)).toMatchObject({
      pdf_url: null,
      copies: [{ url: "https://doi.org/10.5555/xgen.2026.100814", kind: "landing" }],
    });
  });

  it("carry the service's own words on what is wrong with a question", async () => {
    const { context } = answering([{ status: 400, body: { error: "Unrecognized or unsupported fields: [unknown]" } }]);
    expect(await semanticScholar.search?.({ terms: "x", most: 1 }, context)).toEqual({
      status: "error",
      reason: "Semantic Scholar answered with HTTP 400: Unrecognized or unsupported fields: [unknown].",
    });
  });
});

describe("Semantic Scholar", () => {
  it("is asked without operators and hyphens, within days, and with the key in a header", async () => {
    const { context, requests } = answering([{ body: { total: 1, data: [paper(1)] } }], { key: "secret-key" });
    await semanticScholar.search?.({ terms: 'sim-to-real AND "robot hand"', from: "2024-01-01", most: 10 }, context);

    const parameters = new URL(requests[0]?.url ?? "").searchParams;
    expect(parameters.get("query")).toBe("sim to real robot hand");
    expect(parameters.get("publicationDateOrYear")).toBe("2024-01-01:");
    expect(requests[0]?.secret).toEqual({ headers: { "x-api-key": "secret-key" } });
  });

  it("is asked in bulk, by token, for more than a search by relevance gives", async () => {
    const many = (from: number) =>
      Array.from({ length: 1000 }, (_, index) => ({
        ...paper(1),
        paperId: String(from + index).padStart(40, "0"),
        externalIds: null,
      }));
    const { context, requests } = answering([
      { body: { total: 2000, token: "t/1", data: many(0) } },
      { body: { total: 2000, token: null, data: many(1000) } },
    ]);
    const answer = await semanticScholar.search?.({ terms: "hand", most: 5000 }, context);

    expect(answer?.status === "ok" && answer.value.length).toBe(2000);
    expect(requests.map(({ url }) => [/search\/bulk/.test(url), /token=([^&]*)/.exec(url)?.[1]])).toEqual([
      [true, undefined],
      [true, "t%2F1"],
    ]);
  });

  it("is asked for 500 papers at a time", async () => {
    const { context, requests } = answering(({ json }) => ({ body: (json as { ids: string[] }).ids.map(() => null) }));
    const works = Array.from({ length: 1100 }, (_, index) => ({ pmid: String(index + 1) }));

    expect(await semanticScholar.lookup?.(works, context)).toMatchObject({ status: "empty" });
    expect(requests.map(({ json }) => (json as { ids: string[] }).ids.length)).toEqual([500, 500, 100]);
  });

  it("answers a batch by place alone, so one of another length is not believed", async () => {
    expect(
      await semanticScholar.lookup?.(
        [{ doi: "10.1000/1" }, { doi: "10.1000/2" }],
        answering([{ body: [paper(1)] }]).context,
      ),
    ).toMatchObject({ status: "error" });
  });

  it("that may not show the references of one work is not blocked, and says why it has none", async () => {
    const { context } = answering([{ body: { data: null, citingPaperInfo: { openAccessPdf: null } } }]);
    expect(await semanticScholar.references?.({ doi: "10.1000/1" }, 10, context)).toMatchObject({
      status: "empty",
      reason: expect.stringContaining("because the publisher does not allow it"),
    });
  });

  it("gives what cites a work, page after page", async () => {
    const { context, requests } = answering([
      { body: { offset: 0, next: 1, data: [{ citingPaper: paper(1) }] } },
      { body: { offset: 1, data: [{ citingPaper: paper(2) }] } },
    ]);
    expect(await semanticScholar.citations?.({ arxiv: "2401.00010v1" }, 10, context)).toMatchObject({
      status: "ok",
      value: [{ title: "Paper 1" }, { title: "Paper 2" }],
    });
    expect(requests[0]?.url).toContain("/paper/ARXIV:2401.00010/citations?");
  });

  it("go on from page to page for citations since a day, and leave out what is older", async () => {
    const citing = (digit: number, publicationDate: string) => ({ citingPaper: paper(digit, { publicationDate }) });
    const { context, requests } = answering([
      { body: { offset: 0, next: 500, data: [citing(1, "2019-05-01"), citing(2, "2026-02-01")] } },
      { body: { offset: 500, data: [citing(3, "2026-02-02"), citing(4, "2020-01-01")] } },
    ]);
    const answer = await semanticScholar.citations?.({ doi: "10.1000/1" }, 2, context, "2026-01-01");
    expect(answer).toMatchObject({ status: "ok", value: [{ title: "Paper 2" }, { title: "Paper 3" }] });
    expect(requests).toHaveLength(2);
    expect(requests[0]?.url).toContain("publicationDateOrYear=2026-01-01:");
  });

  it("says where in a journal a paper stands, whatever white space it puts around it", () => {
    const journal = { name: "Journal of Hands", volume: "12 3", pages: "\n          101-\n          17\n" };
    expect(readPaper(paper(1, { journal }))).toMatchObject({
      venue: "Journal of Hands",
      volume: "12 3",
      pages: "101- 17",
    });
    expect(readPaper(paper(1, { journal: { name: "J", volume: null, pages: "" } }))).not.toHaveProperty("pages");
  });

  it("that refuses a key, or asks to wait, has said nothing of the papers", async () => {
    const refused = answering([{ status: 403, body: { message: "Forbidden" } }]);
    expect(await semanticScholar.search?.({ terms: "hand", most: 1 }, refused.context)).toEqual({
      status: "blocked",
      reason: "Semantic Scholar refuses access (HTTP 403); check the key in SEMANTIC_SCHOLAR_API_KEY.",
    });
    const busy = answering([{ status: 429, body: { message: "Too Many Requests.", code: "429" } }]);
    expect(await semanticScholar.match?.({ title: "A hand" }, busy.context)).toMatchObject({
      status: "rate_limited",
      transient: true,
    });
    const broken = answering([{ status: 500, body: { message: "Internal server error" } }]);
    expect(await semanticScholar.lookup?.([{ doi: "10.1/a" }], broken.context)).toMatchObject({
      status: "error",
      transient: true,
    });
  });
});
