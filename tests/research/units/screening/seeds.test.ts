import { expect, test } from "vitest";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import type { PaperRecord } from "../../../../src/research/papers/paper-record.js";
import type { Source } from "../../../../src/research/sources/shared/source.js";
import { runSearch, type SearchOptions } from "../../../../src/research/units/screening/search-session.js";
import { goodAgent, library, researchFolder, rrdWith, temporaryFolder } from "../../../support/projects/research.js";
import { unwatched } from "../../../support/network/unwatched-search.js";

const subjects = "amber birch cedar dunes ember fjord grove heath inlet jetty knoll lagoon".split(" ");
const record = (index: number, over: Partial<PaperRecord> = {}): PaperRecord => ({
  id: `doi_10.5555_n${index}`,
  title: `The ${subjects[index % 12]} of number ${index} and what ${subjects[(index * 5) % 12]} matters to it`,
  url: `https://example.org/${index}`,
  pdf_url: null,
  authors: [`Ada Number${index}`],
  date: "2026-01-01",
  source: "One",
  abstract: index % 2 === 0 ? "About small matters." : "About harbours, lighthouses and the sea.",
  identifiers: { doi: `10.5555/n${index}` },
  ...over,
});

function searching(more: Partial<SearchOptions> = {}) {
  const followed: string[] = [];
  const records = Array.from({ length: 12 }, (_, index) => record(index));
  const how: SearchOptions = {
    folder: temporaryFolder(),
    now: () => Date.parse("2026-03-01T00:00:00Z"),
    signal: new AbortController().signal,
    ...unwatched,
    open: (name) => {
      const links =
        (way: string) =>
        async ({ doi = "" }) => {
          followed.push(`${way} ${doi}`);
          return { status: "ok", value: [record(90, { title: "What the seed of all leads to, by its own words" })] };
        };
      const source = {
        name,
        aliases: [],
        endpoint: "",
        search: async () => ({ status: "ok", value: records }),
        references: links("references"),
        citations: links("citations"),
      };
      return {
        source: source as unknown as Source,
        context: {
          http: { get: () => Promise.reject(new Error("no network")) },
          endpoint: "",
          contextFor: () => ({ unavailable: "no network" }),
        },
      };
    },
    ...more,
  };
  return { how, followed };
}

const seeds: NonNullable<Rrd["seeds"]> = [
  "10.5555/n7",
  { reference: "lee", title: record(9).title, authors: [...record(9).authors], date: "2026" },
  { reference: "10.5555/lost", title: "A lighthouse that nobody lists", not_known: "No record of it was found." },
];
const wanting = (more: Partial<Rrd> = {}): Rrd => ({
  ...rrdWith([]),
  phase: "DISCOVERY",
  requirements: { keywords: ["small matters"], focus_area: "matter", sources: ["One"], target_papers: 4 },
  ...more,
});
const ids = ({ works }: { readonly works: readonly { readonly record: PaperRecord }[] }) =>
  works.map(({ record: { id } }) => id);

test("seeds among the works come first and say so, and what the others are is unchanged", async () => {
  const session = await runSearch(wanting({ seeds }), ["One"], searching().how);
  const bare = await runSearch(wanting(), ["One"], searching().how);
  expect(ids(session).slice(0, 2).toSorted()).toEqual(["doi_10.5555_n7", "doi_10.5555_n9"]);
  expect(session.works[0]?.why).toMatch(/^named by a person as a seed; /);
  expect(ids(session).toSorted()).toEqual(ids(bare).toSorted());
  expect(session.candidatesSha256).toBe(bare.candidatesSha256);
  expect(bare).not.toHaveProperty("seeds");
});

test("five seeds order the works that wait before anything was screened", async () => {
  const many = [1, 3, 5, 7, 9].map((index) => ({
    reference: `10.5555/s${index}`,
    title: `Harbours and lighthouses of the sea ${index}`,
    abstract: "About harbours, lighthouses and the sea.",
  }));
  const order = ids(await runSearch(wanting({ seeds: many }), ["One"], searching().how));
  expect(order.slice(0, 5).every((id) => Number(id.split("_n")[1]) % 2 === 1)).toBe(true);
});

test("seeds are followed before any paper of the pool, once the search brings too little", async () => {
  const { how, followed } = searching();
  const rrd = wanting({ seeds, requirements: { ...wanting().requirements, target_papers: 60 } });
  const papers = Array.from({ length: 12 }, (_, index) => ({
    ...record(index),
    authors: [],
    status: "pending" as const,
    priority: 5,
  }));
  await runSearch({ ...rrd, papers_pool: papers.slice(0, 6) as unknown as Rrd["papers_pool"] }, ["One"], how);
  expect(followed.slice(0, 2)).toEqual(["references 10.5555/n7", "citations 10.5555/n7"]);
});

test("how many seeds the search found is kept in the statistics, and follows a person's edit of them", async () => {
  const { how } = searching();
  const sources = library({
    serves: () => false,
    services: (name) => [name],
    search: (rrd, names) => runSearch(rrd, names, how),
  });
  const { run } = researchFolder(wanting({ seeds }), sources);
  const { rrd } = await run(goodAgent(), 1);
  expect(rrd.statistics?.discovery_metrics?.seeds).toEqual({ given: 3, found: 2, references: ["10.5555/n7", "lee"] });
});
