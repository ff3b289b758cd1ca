import { describe, expect, test } from "vitest";
import { replacementSource } from "../../../../src/research/sources/registry.js";
import { nextRound } from "../../../../src/research/units/screening/next-round.js";
import { nextBatch } from "../../../../src/research/units/screening/screening-batch.js";
import { acceptDiscovery } from "../../../../src/research/units/screening/judge-batch.js";
import type { Rrd, Step } from "../../../../src/research/generated/rrd.js";
import { library, rrdWith } from "../../../support/projects/research.js";

const rrdOf = (sources: string[], blocked: string[] = []): Rrd =>
  rrdWith([], {
    requirements: { target_papers: 5, sources, keywords: ["tactile grasping"] },
    blocked_sources: blocked,
  });

/** What is searched for these sources, and what is said of those that are replaced. */
async function searched(rrd: Rrd) {
  const known = ["Crossref", "OpenAlex", "arXiv", "Semantic Scholar", "Europe PMC"];
  const asked: string[] = [];
  const given = library({
    serves: () => false,
    services: (name) =>
      name === "Google Scholar" ? ["OpenAlex", "Semantic Scholar"] : known.filter((each) => each === name),
    standIn: replacementSource,
  });
  const batch = await nextBatch(rrd, {
    ...given,
    search: async (state, names) => {
      asked.push(...names);
      return given.search(state, names);
    },
  });
  return { asked, batch, substitutions: batch.search?.substitutions };
}

describe("a source that is blocked", () => {
  test("is replaced by the next that can search and is not asked already, and that is said", async () => {
    const { asked, substitutions, batch } = await searched(rrdOf(["Crossref", "OpenAlex"], ["Crossref"]));
    expect(asked).toEqual(["OpenAlex", "Semantic Scholar"]);
    expect(substitutions).toEqual({ Crossref: "Crossref is blocked; Semantic Scholar is searched in its place." });
    const judging = { iteration: 2, agent: "claude", at: new Date(0) };
    const rrd = rrdOf(["Crossref", "OpenAlex"], ["Crossref"]);
    const judged = acceptDiscovery(
      rrd,
      "discovery-2",
      { unit: "discovery-2", papers: [], sources: [] },
      batch,
      judging,
    );
    expect(judged).toMatchObject({
      notice: { message: "Crossref is blocked; Semantic Scholar is searched in its place." },
    });
  });

  test("is replaced by another one when the first replacement is blocked too, and by none when all are", async () => {
    const { asked } = await searched(rrdOf(["Crossref"], ["Crossref", "OpenAlex"]));
    expect(asked).toEqual(["Semantic Scholar"]);
    const all = ["Crossref", "OpenAlex", "arXiv", "Semantic Scholar", "Europe PMC"];
    expect((await searched(rrdOf(["Crossref"], all))).asked).toEqual([]);
  });

  test("behind a name that leads to several is replaced only where none of them is left", async () => {
    expect((await searched(rrdOf(["Google Scholar"], ["OpenAlex"]))).asked).toEqual(["OpenAlex", "Semantic Scholar"]);
    const both = await searched(rrdOf(["Google Scholar"], ["OpenAlex", "Semantic Scholar"]));
    expect(both.asked.at(-1)).toBe("Crossref");
  });

  test("nothing is replaced where nothing is blocked, nor what no program can search", async () => {
    expect(await searched(rrdOf(["Crossref", "web"]))).toMatchObject({ asked: ["Crossref"], substitutions: {} });
    expect((await searched(rrdOf(["web"], ["web"]))).asked).toEqual([]);
  });
});

test("a replacement is asked what the blocked source was, and the others are not asked again", () => {
  const rrd = rrdOf(["Crossref", "arXiv"]);
  const first = nextRound(
    rrd,
    ["Crossref", "arXiv"],
    { search: "", day: "2026-01-02", steps: [], listings: [] },
    0,
  ) as Step;
  const kept = { search: "", day: "2026-01-02", steps: [first], listings: [] };
  const second = nextRound({ ...rrd, blocked_sources: ["Crossref"] }, ["arXiv", "OpenAlex"], kept, 0);
  expect(second).toEqual({ ...first, sources: ["OpenAlex"] });
});

test("one source under two spellings is searched once, and replaced by one other", async () => {
  const services = (name: string) => (name.toLowerCase() === "arxiv" ? ["arXiv"] : [name]);
  const given = library({ serves: () => false, services, standIn: replacementSource });
  const asked: string[][] = [];
  const search = async (rrd: Rrd, names: readonly string[]) => {
    asked.push([...names]);
    return given.search(rrd, names);
  };
  await nextBatch(rrdOf(["arXiv", "arxiv"]), { ...given, search });
  await nextBatch(rrdOf(["arXiv", "arxiv"], ["arXiv"]), { ...given, search });
  expect(asked).toEqual([["arXiv"], ["OpenAlex"]]);
});
