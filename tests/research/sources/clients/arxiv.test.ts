import { describe, expect, it } from "vitest";
import { arxiv, readArxivFeed } from "../../../../src/research/sources/clients/arxiv.js";
import type { Query } from "../../../../src/research/sources/shared/source.js";
import { arxivFeed, arxivRefusal, numberedPreprints, testedHands } from "../../../fixtures/services/arxiv.js";
import { answering, type Canned } from "./answering.js";

const type = "application/atom+xml";
const search = (query: Partial<Query>, answers: Parameters<typeof answering>[0]) => {
  const { context, requests } = answering(answers, { endpoint: "https://export.arxiv.org" });
  return { requests, answer: arxiv.search?.({ terms: "tactile sensing", most: 10, ...query }, context) };
};
const lookup = (ids: readonly string[], answers: Parameters<typeof answering>[0]) => {
  const { context, requests } = answering(answers, { endpoint: "https://export.arxiv.org" });
  return {
    requests,
    answer: arxiv.lookup?.(
      ids.map((id) => ({ arxiv: id })),
      context,
    ),
  };
};

/** An entry of a feed, with `inner` after what every entry has. */
const entry = (id: string, inner = "", title = "A hand that feels") =>
  `<entry><id>http://arxiv.org/abs/${id}</id><title>${title}</title><published>2024-01-31T09:00:00Z</published><updated>2024-05-02T09:00:00Z</updated><summary>We study hands.</summary><author><name>Ann Lee</name></author>${inner}</entry>`;
const feed = (entries: readonly string[], total: number = entries.length) =>
  `<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><opensearch:totalResults>${total}</opensearch:totalResults>${entries.join("")}</feed>`;
const atom = (body: string, status = 200): Canned => ({ status, body, type });
const only = async (inner: string, title?: string) => {
  const answer = await readArxivFeed(feed([entry("2401.00010v1", inner, title)]));
  return answer.status === "ok" ? answer.value.records[0] : answer;
};

describe("answers of arXiv", () => {
  it("give a page of records with the total", async () => {
    const whole = arxivFeed([testedHands, ...numberedPreprints(1, 9)], { total: 214_881 });
    const answer = await search({ terms: "testing" }, [atom(whole)]).answer;

    expect(answer).toMatchObject({ status: "ok", total: 214_881 });
    if (answer?.status !== "ok") return;
    expect(answer.value).toHaveLength(10);
    expect(answer.value[0]).toMatchObject({
      categories: ["cs.RO"],
      comment: "12 pages, 3 figures",
      publicationType: "preprint",
      id: "arxiv_2601.00021",
      title: "Testing Robot Hands: A First Comparison of Three Benches",
      url: "https://arxiv.org/abs/2601.00021",
      pdf_url: "https://arxiv.org/pdf/2601.00021v2",
      authors: ["Aurélia Beispiel", "Jürgen Wübbel", "Mei Pretend"],
      date: "2026-01-09",
      source: "arXiv",
      abstract: "Robot hands are tested on benches that nobody has compared. We compare three of them.",
      identifiers: { arxiv: "2601.00021v2", doi: "10.5555/bench.2026.21" },
      kind: "preprint",
      otherVersions: [{ relation: "published", doi: "10.5555/bench.2026.21" }],
    });
  });

  it("are put together from pages in the order of the whole", async () => {
    const pages = [0, 10, 20].map((start) => atom(arxivFeed(numberedPreprints(start, 10), { total: 214_881, start })));
    const { answer, requests } = search({ terms: "testing", most: 25 }, pages);
    const found = await answer;

    expect(found?.status === "ok" && found.value.map(({ title }) => title)).toEqual(
      numberedPreprints(0, 25).map(({ title }) => title),
    );
    expect(requests.map(({ url }) => /start=(\d+)&max_results=(\d+)/.exec(url)?.slice(1))).toEqual([
      ["0", "25"],
      ["10", "15"],
      ["20", "5"],
    ]);
  });

  it("name an id that arXiv drops without a word as unknown", async () => {
    expect(await lookup(["0808.05394", "2601.00021"], [atom(arxivFeed([testedHands]))]).answer).toMatchObject({
      status: "ok",
      value: [{ id: "arxiv_2601.00021", authors: expect.arrayContaining(["Jürgen Wübbel"]) }],
      unknown: [{ arxiv: "0808.05394" }],
    });
  });

  it("call a paper that arXiv does not have empty", async () => {
    for (const id of ["0000.0000", "0808.05394"])
      expect(await lookup([id], [atom(arxivFeed([]))]).answer).toMatchObject({ status: "empty" });
  });

  it("carry arXiv's own words under HTTP 400, and the id that was refused is unknown", async () => {
    const refusal = atom(arxivRefusal("abc"), 400);
    expect(await search({}, [refusal]).answer).toEqual({
      status: "error",
      reason: "arXiv refuses the request: incorrect id format for abc.",
    });

    const { answer, requests } = lookup(["abc", "2601.00021"], [refusal, atom(arxivFeed([testedHands]))]);
    expect(await answer).toMatchObject({
      status: "ok",
      value: [{ id: "arxiv_2601.00021" }],
      unknown: [{ arxiv: "abc" }],
    });
    expect(requests.map(({ url }) => /id_list=([^&]*)/.exec(url)?.[1])).toEqual(["abc,2601.00021", "2601.00021"]);
  });
});

describe("arXiv", () => {
  it("is asked for all words and phrases within the days", async () => {
    const { answer, requests } = search(
      { terms: 'sim-to-real AND "robot hand" (grasp)', from: "2024-01-01", until: "2024-03-31", most: 5 },
      [atom(feed([]))],
    );
    await answer;

    const parameters = new URL(requests[0]?.url ?? "").searchParams;
    expect(parameters.get("search_query")).toBe(
      'all:"sim to real" AND all:"robot hand" AND all:grasp AND submittedDate:[202401010000 TO 202403312359]',
    );
    expect(parameters.get("max_results")).toBe("5");
  });

  it("asks for ids a hundred at a time", async () => {
    const ids = Array.from({ length: 250 }, (_, index) => `2401.${String(index).padStart(5, "0")}`);
    const { answer, requests } = lookup(ids, ({ url }) =>
      atom(feed((/id_list=([^&]*)/.exec(url)?.[1] ?? "").split(",").map((id) => entry(`${id}v1`)))),
    );
    const found = await answer;

    expect(requests.map(({ url }) => /max_results=(\d+)/.exec(url)?.[1])).toEqual(["100", "100", "50"]);
    expect(found?.status === "ok" && found.value.map(({ identifiers }) => identifiers.arxiv)).toEqual(
      ids.map((id) => `${id}v1`),
    );
  });

  it("keeps the zeros of ids, the version, and old ids with their archive", async () => {
    const answer = await readArxivFeed(
      feed([entry("2401.00010v2"), entry("cs/0112017v1"), entry("math.GT/0309136v1", "", "2048")]),
    );

    expect(
      answer.status === "ok" &&
        answer.value.records.map(({ id, title, identifiers }) => [id, title, identifiers.arxiv]),
    ).toEqual([
      ["arxiv_2401.00010", "A hand that feels", "2401.00010v2"],
      ["arxiv_cs_0112017", "A hand that feels", "cs/0112017v1"],
      ["arxiv_math.GT_0309136", "2048", "math.GT/0309136v1"],
    ]);
  });

  it("says that a later version is one, and when it came", async () => {
    const answer = await readArxivFeed(feed([entry("2401.00010v3")]));
    expect(answer).toMatchObject({
      value: { records: [{ updates: [{ type: "version", date: "2024-05-02", source: "arXiv" }] }] },
    });
    expect(await only("")).not.toHaveProperty("updates");
  });

  it.each([
    "This paper has been withdrawn by the author due to an error in eq. 3",
    "Withdrawn: lemma 2 is wrong",
    "Paper withdrawn",
    "arXiv admin note: This submission has been withdrawn by arXiv administrators due to an irreconcilable authorship dispute",
    "12 pages. This article has been retracted.",
  ])("knows a withdrawn paper by its comment: %s", async (comment) => {
    expect(await only(`<arxiv:comment>${comment}</arxiv:comment>`)).toMatchObject({
      retracted: true,
      updates: [{ type: "withdrawal", date: "2024-05-02", source: "arXiv" }],
    });
  });

  it.each([
    "Supersedes the withdrawn 2401.00001",
    "Retracted papers dataset: see github.com/a/b",
    "10 pages; drugs that were withdrawn from the market",
    "We thank a reviewer; version 1 contained an error",
  ])("takes no other word of withdrawal for one: %s", async (comment) => {
    expect(await only(`<arxiv:comment>${comment}</arxiv:comment>`)).not.toHaveProperty("retracted");
  });

  it("names the journal that a paper stands in, and none where its authors name none", async () => {
    expect(await only("<arxiv:journal_ref>Phys. Rev. D 76 (2007) 013009</arxiv:journal_ref>")).toMatchObject({
      venue: "Phys. Rev. D 76 (2007) 013009",
      kind: "preprint",
    });
    expect(await only("")).toMatchObject({ venue: "arXiv", abstract: "We study hands." });
  });

  it("reads a paper titled Error as a paper", async () => {
    expect(await only("", "Error")).toMatchObject({ title: "Error" });
  });

  it.each([
    ["half a feed", feed([entry("2401.00010v1")]).slice(0, 250)],
    ["a page of HTML", "<html><body>Down for maintenance</body></html>"],
    ["a line of text", "Rate exceeded."],
    ["nothing", ""],
    ["another feed", "<rss><channel></channel></rss>"],
    [
      "a feed that declares entities",
      `<!DOCTYPE f [<!ENTITY a "${"a".repeat(1000)}">]>${feed([entry("2401.00010v1", "<arxiv:comment>&a;</arxiv:comment>")])}`,
    ],
    ["a feed that is nested without end", `<feed>${"<a>".repeat(5000)}${"</a>".repeat(5000)}</feed>`],
    ["names of prototypes", "<feed><__proto__>x</__proto__></feed>"],
  ])("is not believed with %s", async (_, body) => {
    expect(await search({}, [atom(body)]).answer).toMatchObject({
      status: "error",
      reason: expect.stringMatching(/^arXiv's answer is not a complete Atom feed.*\.$/),
    });
  });

  it("is asked again another time when it sends an empty page of a long list", async () => {
    expect(await search({}, [atom(feed([], 400))]).answer).toMatchObject({ status: "error", transient: true });
    const later = [atom(feed([entry("2401.00001v1"), entry("2401.00002v1")], 400)), atom(feed([], 400))];
    expect(await search({}, later).answer).toMatchObject({
      status: "ok",
      value: [{}, {}],
      incomplete: expect.stringContaining("400"),
    });
  });

  it("that asks to wait has said nothing of the papers", async () => {
    const wait: Canned = { status: 429, body: "Rate exceeded.", type: "text/plain" };
    expect(await search({}, [wait]).answer).toMatchObject({ status: "rate_limited", transient: true });
    expect(await lookup(["2401.00001"], [wait]).answer).toMatchObject({ status: "rate_limited" });

    const ids = Array.from({ length: 150 }, (_, index) => `2401.${String(index).padStart(5, "0")}`);
    const { answer, requests } = lookup(ids, [atom(feed(ids.slice(0, 99).map((id) => entry(`${id}v1`)))), wait]);
    expect(await answer).toMatchObject({
      status: "ok",
      unknown: [{ arxiv: "2401.00099" }],
      incomplete: expect.stringContaining("429"),
    });
    const found = await answer;
    expect(found?.status === "ok" && found.unchecked?.length).toBe(50);
    expect(requests).toHaveLength(2);
  });

  it("is not asked for nothing", async () => {
    const { answer, requests } = search({ terms: " () - AND " }, []);
    expect(await answer).toMatchObject({ status: "error" });
    expect(await lookup([], []).answer).toMatchObject({ status: "empty" });
    expect(requests).toEqual([]);
  });
});
