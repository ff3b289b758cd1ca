import { describe, expect, test } from "vitest";
import type { Paper, Rrd } from "../../../../src/research/generated/rrd.js";
import type { PaperRecord } from "../../../../src/research/papers/paper-record.js";
import type { Answer, Source } from "../../../../src/research/sources/shared/source.js";
import { runSearch, type SearchOptions } from "../../../../src/research/units/screening/search-session.js";
import {
  goodAgent,
  library,
  paper,
  researchFolder,
  rrdWith,
  temporaryFolder,
} from "../../../support/projects/research.js";
import { unwatched } from "../../../support/network/unwatched-search.js";

type Found = Answer<readonly PaperRecord[]>;

const subjects = "amber birch cedar dunes ember fjord grove heath inlet jetty knoll lagoon marsh nook ocean".split(" ");
/** A record like no other. */
const record = (id: string, over: Partial<PaperRecord> = {}): PaperRecord => ({
  id,
  title: `The ${subjects[id.length % subjects.length]} of ${id} and what matters to ${id}`,
  url: `https://example.org/${id}`,
  pdf_url: null,
  authors: [`Ada ${id}`],
  date: "2026-01-01",
  source: "One",
  abstract: `About the matter ${id}.`,
  identifiers: { doi: `10.5555/${id}` },
  ...over,
});
const found = (...ids: string[]): Found => ({ status: "ok", value: ids.map((id) => record(id)) });
const numbered = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
const nothing: Found = { status: "empty", reason: "None." };
const busy: Found = { status: "rate_limited", reason: "It asks to wait.", transient: true };

interface Links {
  readonly search?: () => Found;
  /** By the DOI's end. */
  readonly references?: (id: string) => Found;
  readonly citations?: (id: string) => Found;
}

function searching(services: Readonly<Record<string, Links>>, more: Partial<SearchOptions> = {}) {
  const asked: string[] = [];
  const follow = (name: string, way: string, links: ((id: string) => Found) | undefined) =>
    links === undefined
      ? {}
      : {
          [way]: async ({ doi = "" }) => {
            const id = doi.replace("10.5555/", "");
            asked.push(`${name} ${way} ${id}`);
            return links(id);
          },
        };
  const how: SearchOptions = {
    folder: temporaryFolder(),
    now: () => Date.parse("2026-03-01T00:00:00Z"),
    signal: new AbortController().signal,
    ...unwatched,
    open: (name) => {
      const { search = () => nothing, references, citations } = services[name] ?? {};
      const source = { name, aliases: [], endpoint: "", search: async () => search() };
      const links = { ...follow(name, "references", references), ...follow(name, "citations", citations) };
      return {
        source: { ...source, ...links } as Source,
        context: {
          http: { get: () => Promise.reject(new Error("no network")) },
          endpoint: "",
          contextFor: () => ({ unavailable: "no network" }),
        },
      };
    },
    ...more,
  };
  return { how, asked };
}

/** An agent that keeps these candidates and drops all others; "s1" is the best. */
const keeping = (keeps: readonly string[]) =>
  goodAgent((unit) => {
    if (unit["kind"] !== "discovery") return undefined;
    const candidates = unit["candidates"] as { id: string }[];
    const kept = candidates
      .filter(({ id }) => keeps.includes(id))
      .map(({ id }) => ({ id, priority: id === "s1" ? 5 : 3, reason: "It fits." }));
    const dropped = candidates
      .filter(({ id }) => !keeps.includes(id))
      .map(({ id }) => ({ id, reason: "It is about something else." }));
    return { result: { unit: unit["unit"], kept, dropped, papers: [], sources: [] } };
  });

const seed = (id: string): Paper => paper(id, { priority: 5, identifiers: { doi: `10.5555/${id}` } });
const wanting = (papers: readonly Paper[], more: Partial<Rrd["requirements"]> = {}): Rrd => ({
  ...rrdWith(papers),
  phase: "DISCOVERY",
  requirements: {
    keywords: ["matter alpha"],
    focus_area: "matter",
    sources: ["One", "Two"],
    target_papers: 9,
    ...more,
  },
});
const idsOf = (session: Awaited<ReturnType<typeof runSearch>>) =>
  session.works.map(({ record: { id } }) => id).toSorted();

describe("a round of references and citations in which a source failed", () => {
  const rrd = wanting([seed("p1"), seed("p2")]);
  const first = {
    search: () => nothing,
    references: (id: string) => (id === "p1" ? found("r1") : busy),
    citations: () => nothing,
  };

  test("is asked again by the next run, only for what no source has answered, and not within one run", async () => {
    const before = searching({ One: first });
    expect(idsOf(await runSearch(rrd, ["One"], before.how))).toEqual(["r1"]);
    // A service that asks to wait is asked nothing more in that round.
    expect(before.asked).toEqual(["One references p1", "One citations p1", "One references p2"]);

    const mended = {
      One: { ...first, references: (id: string) => found(`late-${id}`), citations: (id: string) => found(`c-${id}`) },
    };
    const same = searching(mended, { folder: before.how.folder, isFirstSearch: () => false });
    await runSearch(rrd, ["One"], same.how);
    expect(same.asked).toEqual([]);
    const next = searching(mended, { folder: before.how.folder, isFirstSearch: () => true });
    const session = await runSearch(rrd, ["One"], next.how);
    expect(next.asked).toEqual(["One references p2", "One citations p2"]);
    expect(idsOf(session)).toEqual(["c-p2", "late-p2", "r1"]);
    expect(session.steps.map(({ kind }) => kind)).toEqual(["search", "snowball"]);
    const third = searching(mended, { folder: before.how.folder, isFirstSearch: () => true });
    await runSearch(rrd, ["One"], third.how);
    expect(third.asked).toEqual([]);
  });

  test("is left as it is where another source answered, or where the one that failed is blocked by now", async () => {
    const answered = searching({
      One: { ...first, references: () => busy, citations: () => busy },
      Two: { references: () => found("t"), citations: () => nothing },
    });
    await runSearch(rrd, ["One", "Two"], answered.how);
    const blocked = { ...rrd, blocked_sources: ["One"] };
    const again = searching({ One: first, Two: {} }, { folder: answered.how.folder, isFirstSearch: () => true });
    await runSearch(blocked, ["One", "Two"], again.how);
    expect(again.asked).toEqual([]);
  });
});

test("works that the target left out are offered when it rises, though citations were followed before they were judged", async () => {
  const services = { One: { search: () => found("p1", "left1", "left2"), references: () => found("r1") } };
  const raised = searching(services);
  expect(idsOf(await runSearch(wanting([seed("p1")]), ["One"], raised.how))).toEqual(["left1", "left2", "r1"]);
  expect(raised.asked).toEqual(["One references p1"]);
});

describe("a research that follows references and citations", () => {
  test("goes both ways from its best papers and stops once next to nothing of what comes is kept, however far the target is", async () => {
    const services = {
      One: {
        search: () => found(...numbered("s", 21)),
        references: (id: string) => (id === "s1" ? found(...numbered("r", 30)) : nothing),
      },
      Two: { search: () => nothing, citations: (id: string) => (id === "s1" ? found(...numbered("c", 30)) : nothing) },
    };
    const { how, asked } = searching(services);
    const keeps = ["s1", "s2", "s3", "r1"];
    const agent = keeping(keeps);
    const offering = library({
      serves: () => false,
      services: (name) => [name],
      search: (rrd, names) => runSearch(rrd, names, how),
    });
    const { run } = researchFolder(wanting([], { target_papers: 30 }), offering);
    const { rrd, ledger } = await run(agent, 12);
    expect(asked.toSorted()).toEqual(["One references s1", "Two citations s1"]);
    expect(rrd.papers_pool.map(({ id }) => id).toSorted()).toEqual(keeps.toSorted());
    const { rounds, exhausted, screening = [], flow } = rrd.statistics?.discovery_metrics ?? {};
    expect(rounds?.map((round) => round["kind"])).toEqual(["search", "snowball"]);
    expect(exhausted).toMatch(/^fewer than one in ten of the last 20 screened works was kept/);
    const last = screening.filter((batch) => batch.rounds === 2);
    expect(last.reduce((sum, { screened }) => sum + screened, 0)).toBeGreaterThanOrEqual(20);
    // Not all that was found is screened, and none of it is lost from the books.
    const works =
      Object.values(flow?.identified ?? {}).reduce((sum, count) => sum + count, 0) - (flow?.duplicates_removed ?? 0);
    expect(flow?.not_screened).toBe(works - keeps.length - (rrd.excluded?.length ?? 0));
    expect(flow?.not_screened).toBeGreaterThan(20);
    expect(ledger.at(-1)?.phase).not.toBe("DISCOVERY");
  });

  test("follows what it keeps of a small field too, whose first batch holds all that the keywords bring", async () => {
    const { how } = searching({
      One: { search: () => found("s1", "s2"), references: () => found("r1"), citations: () => nothing },
    });
    const offering = library({
      serves: () => false,
      services: (name) => [name],
      search: (rrd, names) => runSearch(rrd, names, how),
    });
    const { rrd } = await researchFolder(wanting([], { sources: ["One"] }), offering).run(keeping(["s1", "r1"]), 12);
    expect(rrd.papers_pool.map(({ id }) => id)).toEqual(["s1", "r1"]);
  });

  test("keeps what snowballing says of papers that were in the pool before, once and with what was known of them", async () => {
    const { how } = searching({
      One: {
        search: () => found("s1", "s2", "s3"),
        references: (id) => (id === "s1" ? found("s2", "r1", "s1") : nothing),
        citations: (id) => (id === "s1" ? found("s3") : nothing),
      },
    });
    const offering = library({
      serves: () => false,
      services: (name) => [name],
      search: (rrd, names) => runSearch(rrd, names, how),
    });
    const project = researchFolder(wanting([], { sources: ["One"] }), offering);
    const { rrd } = await project.run(keeping(["s1", "s2", "s3", "r1"]), 12);
    const linksOf = (id: string) => {
      const { cites, cited_by, sources } = rrd.papers_pool.find((each) => each.id === id)?.found ?? {};
      return { cites, cited_by, sources };
    };
    expect(linksOf("s2")).toEqual({ cites: undefined, cited_by: ["s1"], sources: ["One"] });
    expect(linksOf("s3")).toEqual({ cites: ["s1"], cited_by: undefined, sources: ["One"] });
    expect(linksOf("r1")).toEqual({ cites: undefined, cited_by: ["s1"], sources: ["One"] });
    expect(linksOf("s1")).toEqual({ cites: undefined, cited_by: undefined, sources: ["One"] });
  });
});
