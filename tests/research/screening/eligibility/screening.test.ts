import { expect, test } from "vitest";
import type { DiscoveryResult } from "../../../../src/research/generated/result-discovery.js";
import type { Criterion, Exclusion, Paper, Rrd } from "../../../../src/research/generated/rrd.js";
import { acceptDiscovery } from "../../../../src/research/units/screening/judge-batch.js";
import { checkedAnswers } from "../../../../src/research/units/screening/screen-by-criteria.js";
import type { ScreeningCandidate } from "../../../../src/research/units/screening/search-results.js";
import { rrdWith } from "../../../support/projects/research.js";

const criteria: Criterion[] = [
  { id: "c1", kind: "include", text: "randomised trial" },
  { id: "c2", kind: "exclude", text: "animal study" },
];
const mice = "The drug was tested in forty laboratory mice.";
const candidate = (id: string, abstract = mice): ScreeningCandidate => ({
  id,
  title: `A candidate called ${id}`,
  url: `https://example.org/${id}`,
  pdf_url: null,
  authors: [],
  date: "2026-01-01",
  source: "arXiv",
  abstract,
  identifiers: { doi: `10.1000/${id}` },
});
const rrd: Rrd = rrdWith([], { requirements: { target_papers: 2, sources: ["arXiv"], criteria } });
const excluding = { c2: { answer: "yes" as const, quote: mice } };
const open = { c1: { answer: "unclear" as const } };

async function screen(said: Partial<DiscoveryResult>, candidates: readonly ScreeningCandidate[]) {
  const result: DiscoveryResult = { unit: "discovery-1", papers: [], sources: [], ...said };
  const batch = { candidates, sources: [], duplicates: [] };
  const judging = { iteration: 1, agent: "scripted", at: new Date("2026-03-04T05:06:07.890Z") };
  const judged = acceptDiscovery(rrd, result.unit, result, batch, judging, await checkedAnswers(rrd, result, batch));
  if ("reasons" in judged) throw new Error(judged.reasons.join("; "));
  const papers = judged.changes.flatMap(({ in: where, set }) =>
    where === "papers_pool" ? [set as unknown as Paper] : [],
  );
  const excluded = judged.changes.flatMap(({ add = {} }) => (add["excluded"] ?? []) as Exclusion[]);
  return { papers, excluded, ids: [papers.map(({ id }) => id), excluded.map(({ id }) => id)] };
}

test("whatever the agent would do with a record, only a criterion excludes it", async () => {
  const { papers, excluded, ids } = await screen(
    {
      kept: [{ id: "kept", criteria: excluding }],
      dropped: [{ id: "dropped", reason: "It is dull.", criteria: open }],
    },
    [candidate("kept"), candidate("dropped")],
  );
  expect(ids).toEqual([["dropped"], ["kept"]]);
  expect(papers[0]).toMatchObject({ priority: 1, notes: expect.stringContaining("It is dull.") });
  expect(excluded[0]).toMatchObject({ identifiers: { doi: "10.1000/kept" }, criterion: "c2" });
});

test("a record that is named twice, kept and dropped, is taken once by its first answers", async () => {
  const { ids, excluded } = await screen(
    { kept: [{ id: "a", criteria: excluding }], dropped: [{ id: "a", reason: "No.", criteria: open }] },
    [candidate("a")],
  );
  expect(ids).toEqual([[], ["a"]]);
  expect(excluded).toHaveLength(1);
});

test("a paper that the agent found itself goes to full text: it gave the abstract, so its quote proves nothing", async () => {
  const found = {
    title: "A page on mice",
    url: "https://web.example/mice",
    abstract: mice,
    priority: 3,
    reason: "Fits.",
  };
  const { papers } = await screen(
    { papers: [{ ...found, criteria: excluding }], kept: [{ id: "a", criteria: open }] },
    [candidate("a", "Nothing.")],
  );
  const own = papers.find(({ title }) => title === found.title);
  expect(own?.answers?.map(({ answer }) => answer)).toEqual(["unclear", "unclear"]);
});

test("what passes beyond the target waits for another batch, and nothing is noted of it", async () => {
  const { ids } = await screen({ kept: ["a", "b", "c"].map((id) => ({ id, criteria: open })) }, [
    candidate("a", "Of stone."),
    candidate("b", "Of wood."),
    candidate("c", "Of glass."),
  ]);
  expect(ids).toEqual([["a", "b"], []]);
});
