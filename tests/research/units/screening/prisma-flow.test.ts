import { describe, expect, test } from "vitest";
import { flowCounts, total } from "../../../../src/research/derived/flow-counts.js";
import type { Paper, Rrd } from "../../../../src/research/generated/rrd.js";
import { asFound, withAdded } from "../../../../src/research/papers/records/added-papers.js";
import type { PaperRecord } from "../../../../src/research/papers/paper-record.js";
import { prismaFlow } from "../../../../src/research/report/prisma-flow.js";
import { researchFolder, scriptedAgent } from "../../../support/projects/research.js";
import { expectWhole, libraryOf, wanting, page, document, sum } from "../../../support/projects/searched-library.js";

describe("the PRISMA flow", () => {
  test("counts an old web page with a short title once, though it is listed for every keyword, beside a folder", async () => {
    const given = libraryOf([document("doc_1", "On the matter in a folder")], {
      SearXNG: [page("https://example.org/old", "Introduction", "1990-05-01")],
    });
    const agent = scriptedAgent(({ unit }) => ({ result: { unit, kept: [{ id: "doc_1" }], papers: [], sources: [] } }));
    const { rrd, ledger } = await researchFolder(wanting(["folder:papers", "SearXNG"], 5), given).run(agent, 1);
    expect(ledger.map(({ outcome }) => outcome)).toEqual(["accepted"]);
    const flow = rrd.statistics?.discovery_metrics?.flow ?? {};
    expect(flow).toEqual({
      identified: { "folder:papers": 1, SearXNG: 1 },
      duplicates_removed: 0,
      screened: 0,
      excluded: { window: 1 },
      included: 1,
      not_screened: 0,
    });
  });

  test("counts documents of a folder that an update leaves as nobody screened them, and not as gone", async () => {
    const documents = ["one", "two", "three"].map((name) => document(`doc_${name}`, `On matter ${name}`));
    const before = wanting(["folder:papers"], 1);
    const [first] = documents as [PaperRecord, ...PaperRecord[]];
    const open: Rrd = {
      ...before,
      papers_pool: [{ ...first, authors: [...first.authors], status: "presented", iteration: 1 } as Paper],
      statistics: { discovery_metrics: { flow: { identified: { "folder:papers": 3 }, not_screened: 2 } } },
      updates: [{ id: "update-1", since: "2026-02-01", until: "2026-03-01", at: "2026-03-01T00:00:00.000Z" }],
    };
    const agent = scriptedAgent(({ unit }) => ({ result: { unit, kept: [], papers: [], sources: [] } }));
    const { rrd } = await researchFolder(open, libraryOf(documents, {})).run(agent, 1);
    expect(rrd.statistics?.discovery_metrics?.flow).toMatchObject({
      identified: { "folder:papers": 3 },
      not_screened: 2,
    });
    const { searched, other } = flowCounts(rrd);
    expect(other.notScreened + (other.removed.get("not read: the search ended before them") ?? 0)).toBe(2);
    expect(searched.removed.has("no longer among the records")).toBe(false);
  });

  test.each([
    ["documents alone", {}, ["Records identified 2", "Reports sought for retrieval 2"], []],
    [
      "documents and a search",
      { SearXNG: 2 },
      ["Records identified 2", "Records screened 2", "Reports sought for retrieval 1"],
      ["Found another way 2", "Reports sought for retrieval 2"],
    ],
  ] as const)("counts %s as screened only where somebody screens them", async (_, searched, first, second) => {
    const pages = ["one", "two"].slice(0, sum(searched)).map((name) => page(`https://example.org/${name}`, name));
    const sources = ["folder:papers", ...Object.keys(searched)];
    const library = libraryOf(
      ["three", "four"].map((name) => document(`doc_${name}`, `On matter ${name}`)),
      pages.length === 0 ? {} : { SearXNG: pages },
    );
    const agent = scriptedAgent(({ unit }) => {
      const dropped = [...pages.slice(1), { id: "doc_four" }].map(({ id }) => ({ id, reason: "It does not fit." }));
      const kept = [...pages.slice(0, 1), { id: "doc_three" }].map(({ id }) => ({ id }));
      return { result: { unit, kept, dropped, papers: [], sources: [] } };
    });
    const { rrd } = await researchFolder(wanting(sources, 5), library).run(agent, 1);
    const { steps, other, says } = prismaFlow(rrd);
    const boxes = (row: typeof steps) => row.map(({ box }) => `${box.label} ${box.count}`);
    expect(boxes(steps).slice(0, first.length)).toEqual(first);
    expect(boxes(other).slice(0, second.length)).toEqual(second);
    expect(says).toContain(second.length === 0 ? "These records were not screened" : "without screening");
    expect(rrd.statistics?.discovery_metrics?.flow?.screened).toBe(sum(searched));
    const [batch] = rrd.statistics?.discovery_metrics?.screening ?? [];
    expect(batch).toEqual(pages.length === 0 ? undefined : { screened: 2, kept: 1, rounds: batch?.rounds });
  });

  test("counts a paper that a person adds another way than by the search, unscreened, even where snowballing meets it", () => {
    const before = wanting(["SearXNG"], 5);
    const sources = ["Crossref"];
    const rrd: Rrd = {
      ...before,
      papers_pool: [
        { ...document("p1", "Searched"), authors: [], source: "SearXNG", status: "pending" } as Paper,
        {
          ...document("p2", "Added"),
          authors: [],
          source: "Crossref",
          status: "pending",
          added: true,
          found: { sources, why: "" },
        } as Paper,
      ],
      statistics: { discovery_metrics: { flow: { identified: { SearXNG: 1 }, not_screened: 0 } } },
    };
    const { steps, other } = prismaFlow(rrd);
    const boxes = (row: typeof steps) => row.map(({ box }) => `${box.label} ${box.count}`).slice(0, 3);
    expect(boxes(steps)).toEqual(["Records identified 1", "Records screened 1", "Reports sought for retrieval 1"]);
    expect(boxes(other)).toEqual([
      "Found another way 1",
      "Reports sought for retrieval 1",
      "Reports assessed for eligibility 0",
    ]);
  });

  describe("with an article and its correction", () => {
    const title = "Slow release of alpha matter after transplantation in adults with infection";
    const listed = (id: string, more: Partial<PaperRecord>): PaperRecord => ({
      id,
      title,
      url: `https://example.org/${id}`,
      pdf_url: null,
      authors: ["Ada Sample", "Bo Other"],
      date: "2026-01-01",
      source: "SearXNG",
      abstract: "Matter alpha.",
      identifiers: {},
      venue: "Journal of Matter",
      volume: "36",
      issue: "5",
      pages: "542-549",
      ...more,
    });
    const article = listed("article", { title: `${title}.[Erratum appears in J Matter. 2026 Sep 4;36(9):987]` });
    const correction = listed("correction", { title: `Erratum: ${title}`, kind: "notice", issue: "9", pages: "987" });
    const found = () => libraryOf([], { SearXNG: [article, correction] });
    const paperOf = ({ id, url, authors }: PaperRecord): Paper => ({
      id,
      title,
      url,
      authors: [...authors],
      status: "pending",
      iteration: 1,
    });
    const agent = () =>
      scriptedAgent(({ unit }) => ({ result: { unit, kept: [{ id: "article" }], papers: [], sources: [] } }));

    test("counts the correction as removed, and keeps its notice with the article", async () => {
      const { rrd } = await researchFolder(wanting(["SearXNG"], 5), found()).run(agent(), 1);
      const flow = rrd.statistics?.discovery_metrics?.flow ?? {};
      expect(flow).toMatchObject({ identified: { SearXNG: 2 }, duplicates_removed: 1, screened: 1, included: 1 });
      expectWhole(flow);
      expect(rrd.papers_pool).toMatchObject([
        {
          id: "article",
          updates: [{ type: "correction", notice: "https://example.org/correction" }],
          found: {
            merged: expect.arrayContaining([
              expect.objectContaining({ id: "correction", why: "a correction of it, which its own record names" }),
            ]),
          },
        },
      ]);
    });

    test("screens an article whose correction was set aside under the article's own title", async () => {
      const plain = listed("plain", {});
      const { id, url, authors } = listed("notice", { kind: "notice" });
      const before = {
        ...wanting(["SearXNG"], 5),
        excluded: [
          {
            id,
            title,
            url,
            first_author: authors[0] ?? "",
            year: 2026,
            reason: "a notice",
            iteration: 1,
            stage: "notice" as const,
          },
        ],
      };
      const keeping = scriptedAgent(({ unit }) => ({
        result: { unit, kept: [{ id: "plain" }], papers: [], sources: [] },
      }));
      const { rrd } = await researchFolder(before, libraryOf([], { SearXNG: [plain] })).run(keeping, 1);
      expect(rrd.papers_pool.map((each) => each.id)).toEqual(["plain"]);
    });

    test.each(["pending", "presented"] as const)(
      "notes a correction that comes later of a paper that is still to be read, and of no other (%s)",
      async (status) => {
        const before: Rrd = { ...wanting(["SearXNG"], 5), papers_pool: [{ ...paperOf(article), status }] };
        const nothing = scriptedAgent(({ unit }) => ({ result: { unit, kept: [], papers: [], sources: [] } }));
        const { rrd } = await researchFolder(before, found()).run(nothing, 1);
        const note = { type: "correction", source: "a search of SearXNG", notice: "https://example.org/correction" };
        expect(rrd.papers_pool.map(({ updates }) => updates)).toMatchObject([
          status === "pending" ? [{ ...note, date: "2026-01-01" }] : undefined,
        ]);
      },
    );

    test("adds up where a service gives the correction the identifier of its article", async () => {
      const identifiers = { doi: "10.1000/article" };
      const same = [
        { ...article, identifiers },
        { ...correction, id: "article", source: "Crossref", identifiers },
      ] as const;
      const both = libraryOf([], { SearXNG: [same[0]], Crossref: [same[1]] });
      const before = { ...wanting(["SearXNG", "Crossref"], 5), papers_pool: [paperOf(article)] };
      const nothing = scriptedAgent(({ unit }) => ({ result: { unit, kept: [], papers: [], sources: [] } }));
      const { rrd } = await researchFolder(before, both).run(nothing, 1);
      const flow = rrd.statistics?.discovery_metrics?.flow ?? {};
      expect(flow).toMatchObject({ identified: { SearXNG: 1, Crossref: 1 }, duplicates_removed: 1, included: 1 });
      expectWhole(flow);
    });

    test("says of no service that it lists an article of which it lists the correction alone", async () => {
      const both = libraryOf([], { SearXNG: [article], Crossref: [{ ...correction, source: "Crossref" }] });
      const { rrd } = await researchFolder(wanting(["SearXNG", "Crossref"], 5), both).run(agent(), 1);
      expect(rrd.papers_pool.map((each) => each.found?.sources)).toEqual([["SearXNG"]]);
    });

    test("screens an article whose correction came before it and was set aside", async () => {
      const before = {
        ...wanting(["SearXNG"], 5),
        excluded: [
          { id: "correction", title: correction.title, reason: "a notice", stage: "notice" as const, iteration: 1 },
        ],
      };
      const { rrd } = await researchFolder(before, found()).run(agent(), 1);
      expect(rrd.papers_pool.map(({ id }) => id)).toEqual(["article"]);
      const flow = rrd.statistics?.discovery_metrics?.flow ?? {};
      expect(flow).toMatchObject({ identified: { SearXNG: 2 }, duplicates_removed: 0, excluded: { notice: 1 } });
      expectWhole(flow);
    });
  });

  describe("with a record that looks like one that was screened out before", () => {
    const title = "Slow release of alpha matter after transplantation in adults with infection";
    const listed = (id: string, more: Partial<PaperRecord> = {}): PaperRecord => ({
      id,
      title,
      url: `https://example.org/${id}`,
      pdf_url: null,
      authors: ["Ada Sample", "Bo Other"],
      date: "2026-01-01",
      source: "SearXNG",
      abstract: "Matter alpha.",
      identifiers: {},
      venue: "Journal of Matter",
      volume: "36",
      issue: "5",
      pages: "542-549",
      ...more,
    });
    const { id, url, authors } = listed("first");
    const screenedOut = { id, title, url, year: 2026, first_author: authors[0] ?? "", reason: "It does not fit." };
    const before = (sources: readonly string[]): Rrd => ({
      ...wanting(sources, 5),
      excluded: [{ ...screenedOut, stage: "screened", iteration: 1 }],
    });
    const keeping = scriptedAgent(({ unit }) => ({
      result: { unit, kept: [{ id: "second" }], papers: [], sources: [] },
    }));

    test("offers the abstract in another journal, which the search has told from it", async () => {
      const elsewhere = listed("second", { venue: "Annals of Surgery", volume: "12", issue: "1", pages: "77" });
      const given = libraryOf([], { SearXNG: [listed("first"), elsewhere] });
      const { rrd } = await researchFolder(before(["SearXNG"]), given).run(keeping, 1);
      expect(rrd.papers_pool.map((paper) => paper.id)).toEqual(["second"]);
      expectWhole(rrd.statistics?.discovery_metrics?.flow ?? {});
    });

    test("counts the same work that comes under another id as its duplicate, and asks nobody", async () => {
      const given = libraryOf([document("second", title)], { SearXNG: [listed("first")] });
      const fitting = { ...given, candidates: async () => [{ ...document("second", title), authors: [...authors] }] };
      const { rrd, ledger } = await researchFolder(before(["folder:papers", "SearXNG"]), fitting).run(keeping, 1);
      expect(ledger.map(({ agent }) => agent)).toEqual([undefined]);
      expect(rrd.excluded).toMatchObject([
        { id: "first", stage: "screened" },
        { id: "second", stage: "duplicate", duplicate_of: "first" },
      ]);
      expectWhole(rrd.statistics?.discovery_metrics?.flow ?? {});
    });
  });
});

test("a paper that a person adds and that the search found unscreened is counted once, as one of the search", () => {
  const before = wanting(["SearXNG"], 5);
  const flow = { identified: { SearXNG: 2 }, duplicates_removed: 0, not_screened: 2 };
  const rrd: Rrd = { ...before, phase: "COMPLETE", statistics: { discovery_metrics: { flow } } };
  const recordNamed = (id: string) => ({ ...page(`https://example.org/${id}`, `On matter ${id}`), id });
  const works = ["p1", "p2"].map((id) => ({ record: recordNamed(id), sources: ["SearXNG"] }));
  const named = asFound([{ reference: "p1", record: recordNamed("p1") }], works);
  const { searched, other } = flowCounts(withAdded(rrd, named).rrd);
  expect([total(searched.identified), searched.sought, total(searched.removed), total(other.identified)]).toEqual([
    2, 1, 1, 0,
  ]);
});
