import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import { nextBatch } from "../../../../src/research/units/screening/screening-batch.js";
import { runSearch, serviceNames } from "../../../../src/research/units/screening/search-session.js";
import { acceptDiscovery } from "../../../../src/research/units/screening/judge-batch.js";
import { sourceNamed } from "../../../../src/research/sources/registry.js";
import { library, rrdWith, temporaryFolder } from "../../../support/projects/research.js";
import { unwatched } from "../../../support/network/unwatched-search.js";

const subjects = "pears herons kilns fog beams tides moss bells salt cranes reeds amber dunes ferns locks".split(" ");
/** A record of the work of this number: of the same number, records of the same work. */
const ris = (number: number, more = "") =>
  `TY  - JOUR\nTI  - How ${subjects[number % 15]} change by night in ${subjects[Math.floor(number / 15)]} country\nAU  - Sample, Ann${number}\nPY  - 1998\nJO  - Journal of Samples\nDO  - 10.5555/${number}\n${more}ER  -\n`;
const range = (from: number, until: number) => Array.from({ length: until - from }, (_, index) => from + index);

function projectOn(files: Readonly<Record<string, string>>, sources: readonly string[]) {
  const root = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const rrd: Rrd = {
    ...rrdWith([]),
    requirements: {
      keywords: ["unrelated words"],
      sources: [...sources],
      target_papers: 500,
      time_window_days: 365,
      historical_lookback_days: 1095,
    },
  };
  const http = { get: () => Promise.reject(new Error("no network")) };
  const open = (name: string) => {
    const source = sourceNamed(name, root);
    const contextFor = () => ({ unavailable: "no network" });
    return source === undefined ? { unavailable: name } : { source, context: { http, endpoint: "", contextFor } };
  };
  const folder = temporaryFolder();
  const signal = new AbortController().signal;
  const now = () => Date.parse("2026-03-01T00:00:00Z");
  const searched = library({
    serves: () => false,
    ...serviceNames(root),
    search: (state, names) => runSearch(state, names, { ...unwatched, folder, open, now, signal }),
  });
  return { rrd, searched };
}

/** Screens batch after batch, of which nothing is kept, as long as there are candidates. */
async function screenAll({ rrd: from, searched }: ReturnType<typeof projectOn>) {
  let rrd = from;
  let screened = 0;
  for (let number = 1; ; number += 1) {
    const batch = await nextBatch(rrd, searched);
    if (batch.candidates.length === 0) return { rrd, screened };
    screened += batch.candidates.length;
    const unit = `discovery-${number}`;
    const dropped = batch.candidates.map(({ id }) => ({ id, reason: "about something else" }));
    const judged = acceptDiscovery(rrd, unit, { unit, papers: [], sources: [], dropped }, batch, {
      iteration: number,
      agent: "scripted",
      at: new Date("2026-03-02T00:00:00Z"),
    });
    if ("reasons" in judged) throw new Error(judged.reasons.join("; "));
    const last = judged.changes.find((change) => change.in === "rrd");
    const { statistics } = (last?.set ?? {}) as Pick<Rrd, "statistics">;
    const excluded = (last?.add?.["excluded"] ?? []) as NonNullable<Rrd["excluded"]>;
    rrd = {
      ...rrd,
      ...(statistics === undefined ? {} : { statistics }),
      excluded: [...(rrd.excluded ?? []), ...excluded],
    };
    if (statistics?.discovery_metrics?.exhausted !== undefined) return { rrd, screened };
  }
}

test("exports are counted by database, merged, and screened to their end, however little of them is kept and however old they are", async () => {
  const project = projectOn(
    {
      "one.ris": range(0, 40)
        .map((number) => ris(number, "DB  - Ovid MEDLINE(R) <1946 to 2026>\n"))
        .join("\n"),
      "two.ris": range(30, 70)
        .map((number) => ris(number))
        .join("\n"),
    },
    ["one.ris", "Embase=two.ris"],
  );
  const { rrd, screened } = await screenAll(project);
  expect(screened).toBe(70);
  const { flow, batches_without_new } = rrd.statistics?.discovery_metrics ?? {};
  expect(flow).toMatchObject({
    identified: { "Ovid MEDLINE(R)": 40, Embase: 40 },
    duplicates_removed: 10,
    not_screened: 0,
  });
  expect(batches_without_new).toBe(1);
});

test("each record of each export is identified, also where two exports of one database hold the same", async () => {
  const list = (from: number, until: number) =>
    range(from, until)
      .map((number) => ris(number))
      .join("\n");
  const files = { "one.ris": list(0, 20) + ris(3), "two.ris": list(10, 30) };
  const { rrd, screened } = await screenAll(projectOn(files, ["Scopus=one.ris", "Scopus=two.ris"]));
  expect(screened).toBe(30);
  expect(rrd.statistics?.discovery_metrics?.flow).toMatchObject({ identified: { Scopus: 41 }, duplicates_removed: 11 });
});

test("records that share a DOI and are two works keep apart, each with an id of its own that stays", async () => {
  const sister = (title: string, page: number) =>
    `TY  - JOUR\nTI  - ${title}\nAU  - Sample, Ann\nPY  - 2020\nVL  - 3\nSP  - S${page}\nDO  - 10.5555/supplement\nER  -\n`;
  const both = `${sister("Warm stones and the sleep of herons", 12)}${sister("A registry of kilns in dune country", 40)}`;
  const idsOf = async (text: string) => {
    const { rrd, searched } = projectOn({ "one.ris": text }, ["one.ris"]);
    const { candidates, sources } = await nextBatch(rrd, searched);
    expect(sources).toMatchObject([{ name: "one.ris", found: candidates.length }]);
    return candidates.map(({ id }) => id).toSorted();
  };
  const ids = await idsOf(both);
  expect(new Set(ids).size).toBe(2);
  expect(await idsOf(`${both}${ris(3)}`)).toEqual(expect.arrayContaining(ids));
});

test("where the number of papers ends a screening of a person's records, it is said how many are left", async () => {
  const { rrd, searched } = projectOn(
    {
      "all.ris": range(0, 60)
        .map((each) => ris(each))
        .join(""),
    },
    ["all.ris"],
  );
  const wanted = { ...rrd, requirements: { ...rrd.requirements, target_papers: 3 } };
  const batch = await nextBatch(wanted, searched);
  const kept = batch.candidates.map(({ id }) => ({ id, priority: 3, reason: "It fits." }));
  const judging = { iteration: 1, agent: "scripted", at: new Date("2026-03-02T00:00:00Z") };
  const result = { unit: "discovery-1", papers: [], sources: [], kept };
  expect(acceptDiscovery(wanted, "discovery-1", result, batch, judging)).toMatchObject({
    notice: { message: expect.stringMatching(/holds the 3 papers .* and 57 records are not screened/) },
  });
});
