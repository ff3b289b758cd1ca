import { describe, expect, test } from "vitest";
import type { DiscoveryResult } from "../../../../src/research/generated/result-discovery.js";
import type { Paper, Rrd } from "../../../../src/research/generated/rrd.js";
import { problemsOf } from "../../../../src/engine/storage/schema-check.js";
import { acceptDiscovery } from "../../../../src/research/units/screening/judge-batch.js";
import type { Acceptance } from "../../../../src/research/units/judged-result.js";
import type { Batch } from "../../../../src/research/units/screening/screening-batch.js";
import { paper, rrdWith } from "../../../support/projects/research.js";
import { allRecords } from "../../../../src/research/overview/all-records.js";
import { recordsToScreen } from "../../../../src/research/overview/screen/to-screen.js";
import { withOverride, withOverrides } from "../../../../src/research/derived/overrides.js";
import type { ScreeningCandidate } from "../../../../src/research/units/screening/search-results.js";

const judging = { iteration: 2, agent: "scripted", at: new Date("2026-03-04T05:06:07.890Z") };
const offer = (id: string, over: Partial<ScreeningCandidate> = {}): ScreeningCandidate => ({
  identifiers: {},
  id,
  title: `A candidate called ${id}`,
  url: `https://example.org/${id}`,
  pdf_url: null,
  authors: ["Ada Author"],
  date: "2026-01-01",
  source: "arXiv",
  abstract: `About ${id}.`,
  ...over,
});
type Found = DiscoveryResult["papers"][number];
const web = (title: string, over: Partial<Found> = {}): Found => ({
  title,
  url: `https://web.example/${title.replace(/\s+/g, "-")}`,
  priority: 3,
  reason: "It fits.",
  ...over,
});
const empty: Rrd = rrdWith([], { requirements: { target_papers: 3, sources: ["arXiv"] } });

const judge = (said: Partial<DiscoveryResult>, batch: Partial<Batch> = {}, rrd = empty) =>
  acceptDiscovery(
    rrd,
    "discovery-4",
    { unit: "discovery-4", papers: [], sources: [], ...said },
    { candidates: [], sources: [], duplicates: [], ...batch },
    judging,
  );
const reasonsOf = (answer: ReturnType<typeof judge>) => ("reasons" in answer ? answer.reasons : undefined);
function taken(...given: Parameters<typeof judge>) {
  const answer = judge(...given);
  if ("reasons" in answer) throw new Error(answer.reasons.join("; "));
  const papers = answer.changes
    .filter((change) => change.in === "papers_pool")
    .map(({ set }) => set as unknown as Paper);
  const last = answer.changes.at(-1) as Acceptance["changes"][number] & { in: "rrd" };
  const metrics = (last.set as Partial<Rrd>).statistics?.discovery_metrics ?? {};
  return {
    ...answer,
    papers,
    ids: papers.map(({ id }) => id),
    last,
    excluded: (last.add?.["excluded"] ?? []) as object[],
    metrics,
  };
}

describe("a discovery batch is refused", () => {
  test("for another unit, and for keeping what was not offered, each by its name", () => {
    expect(
      reasonsOf(judge({ unit: "discovery-3", kept: [{ id: "c1" }, { id: "c9" }] }, { candidates: [offer("c1")] })),
    ).toEqual([
      'kept names "c9", which is not a candidate of this unit',
      'unit is "discovery-3"; this unit is "discovery-4"',
    ]);
  });

  test.each([
    "file:///etc/passwd",
    "/etc/passwd",
    "example.org/x",
    "ftp://example.org/x",
    "https://localhost",
    "https://",
    "see https://example.org/x",
    "https://example.org:99999999/x",
    "https://exa mple.org/x",
    "ftp://https://example.org/x",
  ])("for a paper of the agent's own at %s: only web addresses are asked", (url) => {
    const reason = `"A paper" has no web address: ${url}`;
    expect(reasonsOf(judge({ papers: [web("A paper", { url })] }))).toEqual([reason]);
    expect(reasonsOf(judge({ papers: [web("A paper", { pdf_url: url })] }))).toEqual([reason]);
    expect(reasonsOf(judge({ papers: [web("A paper", { url, id: "c9" })] }, { candidates: [offer("c1")] }))).toEqual([
      reason,
    ]);
  });

  test.each([
    ["https://evil.example/a}\n}\n@misc{forged,", "https://evil.example/a} } @misc{forged,"],
    ["https://evil.example/a b", "https://evil.example/a b"],
    ["https://evil.example/\u001b]0;own\u0007a", "https://evil.example/a"],
    ["https://evil.example/\u009b31ma", "https://evil.example/a"],
    ["https://evil.example/a\u202eb", "https://evil.example/ab"],
    ["https://evil.example/a\n", "https://evil.example/a"],
  ])("for an address that holds more than one: %j", (url, shown) => {
    const reason = `"A paper" has no web address: ${shown}`;
    expect(reasonsOf(judge({ papers: [web("A paper", { url })] }))).toEqual([reason]);
    expect(reasonsOf(judge({ papers: [web("A paper", { pdf_url: url })] }))).toEqual([reason]);
  });

  test("not for an address in http, and not for the place of what code offered", () => {
    expect(
      reasonsOf(judge({ papers: [web("A paper", { url: "http://example.org", pdf_url: null })] })),
    ).toBeUndefined();
    const sample = offer("s1", { url: "file:///samples/s1.md" });
    expect(
      taken({ papers: [web("Whatever", { id: "s1", url: "file:///etc/passwd" })] }, { candidates: [sample] }).papers[0]
        ?.url,
    ).toBe(sample.url);
  });
});

describe("what a discovery batch brings into the pool", () => {
  test("is of a candidate all that code knows, whatever the agent wrote of it; of the agent, why and how urgent", () => {
    const known = offer("c1", {
      pdf_url: "https://example.org/c1.pdf",
      identifiers: { doi: "10.1/c1" },
      venue: "Journal of Matter",
      citations: { count: 7, source: "OpenAlex" },
      found: { sources: ["arXiv"], why: "keywords" },
      updates: [{ type: "correction", source: "Crossref" }],
      retracted: true,
    } as unknown as Partial<ScreeningCandidate>);
    const said = web("Another title", {
      id: "c1",
      doi: "10.9/wrong",
      authors: ["Nobody"],
      date: "1999",
      source: "web",
      abstract: "No.",
      priority: 5,
    });
    const [one] = taken({ papers: [said] }, { candidates: [known] }).papers;
    expect(one).toEqual({
      ...known,
      identifiers: { doi: "10.1/c1" },
      priority: 5,
      status: "pending",
      score: null,
      score_breakdown: null,
      analysis: null,
      decision: null,
      notes: "It fits.",
    });
  });

  test("is of the agent's own find what it said, and an id from its address", () => {
    const full = web("Found on the web", {
      id: "mine",
      url: "https://arxiv.org/abs/2401.12345v2",
      pdf_url: "https://arxiv.org/pdf/2401.12345v2",
      doi: "10.1000/x",
      authors: ["Bo"],
      date: "2024-01",
      source: "arXiv",
      abstract: "Short.",
    });
    const bare = web("Bare");
    const { papers } = taken({ papers: [full, bare] });
    const { reason, doi, ...kept } = full;
    expect(papers[0]).toMatchObject({ ...kept, id: "arxiv_2401.12345", identifiers: { doi }, notes: reason });
    expect(papers[1]).toMatchObject({
      id: expect.stringMatching(/^url_/),
      pdf_url: null,
      authors: [],
      date: null,
      source: "web",
      abstract: null,
    });
    for (const absent of ["identifiers", "venue", "citations", "found", "retracted", "updates"])
      expect(papers[1]).not.toHaveProperty(absent);
    expect(taken({ papers: [web("Of a publisher", { url: "https://doi.org/10.1000/X" })] }).ids).toEqual([
      "doi_10.1000_x",
    ]);
  });

  test.each([
    ["10.1000/X", { doi: "10.1000/x" }],
    ["https://doi.org/10.1000/x", { doi: "10.1000/x" }],
    ["10.48550/arXiv.2401.12345", { arxiv: "2401.12345" }],
    ["10.1/x},\n note={Injected by doi", undefined],
    ["10.1000/x},\n note={Injected by doi", undefined],
    ["\u001b]0;x\u0007", undefined],
    ["N/A", undefined],
  ])("has of the agent's own find the DOI in its one form, and none where it is none: %j", (doi, identifiers) => {
    expect(taken({ papers: [web("Found on the web", { doi })] }).papers[0]?.identifiers).toEqual(identifiers);
  });

  test("is kept with the agent's priority and reason, else with code's, else with three", () => {
    const candidates = [
      offer("c1", { priority: 4, why: "code's" }),
      offer("c2", { priority: 4, why: "code's" }),
      offer("c3"),
    ];
    const { papers } = taken(
      { kept: [{ id: "c1", priority: 2, reason: "mine" }, { id: "c2" }, { id: "c3" }] },
      { candidates },
    );
    expect(papers.map(({ id, priority, notes }) => [id, priority, notes])).toEqual([
      ["c2", 4, "code's"],
      ["c3", 3, ""],
      ["c1", 2, "mine"],
    ]);
  });

  test("is the best first, and beyond the target nothing; how much more there was stands in the log", () => {
    const papers = [1, 2, 3, 4, 5].map((priority) => web(`Work number ${"abcde"[priority - 1]}`, { priority }));
    const { papers: pool, summary, progress, ledger, metrics } = taken({ papers });
    expect(pool.map(({ priority }) => priority)).toEqual([5, 4, 3]);
    expect(summary).toBe("3 new papers, 3 of 3 in the pool");
    expect(ledger).toEqual({ new_papers: 3 });
    expect(progress).toContain("**New papers:** 3\n");
    expect(progress).toMatch(/\*\*Sources:\*\*\n\n2 more were found than the target needs and were left out\.\n$/);
    expect(metrics).toMatchObject({ batches: 1, batches_without_new: 0 });
    const { summary: one, progress: short } = taken(
      { papers: [web("Alone")] },
      {},
      { ...empty, papers_pool: [paper("p1")] },
    );
    expect(one).toBe("1 new paper, 2 of 3 in the pool");
    expect(short).not.toContain("more were found");
  });

  test.each([
    ["a document of a folder of the person's is read all the same, the last", "folder:papers", {}, ["c2", "c1"], 0],
    [
      "so is none where the person asked for a recall",
      "folder:papers",
      { screening: { target_recall: 0.9, confidence: 0.9 } },
      ["c2"],
      1,
    ],
    ["a record of a list is left out, which is said", "export.ris", {}, ["c2"], 1],
  ])("that the agent drops: %s", (_, source, wishes, kept, out) => {
    const candidates = [offer("c1", { source, title: "Feet" }), offer("c2", { source, title: "Hands" })];
    const result = { kept: [{ id: "c2" }], dropped: [{ id: "c1", reason: "off topic" }] };
    const rrd = { ...empty, requirements: { ...empty.requirements, ...wishes } };
    const { papers, excluded, summary } = taken(result, { candidates }, rrd);
    expect([papers.map(({ id }) => id), excluded.length]).toEqual([kept, out]);
    expect(summary.includes("; 1 record left out by title and abstract")).toBe(out === 1);
  });

  test("of a folder that is left out keeps what is known of it, for exports, for a person, and if it is included", () => {
    const facts = { authors: ["R. Field", "O. Barn"], date: "2020-05-03", venue: "Soil", abstract: "On feet." };
    const source = "folder:papers";
    const candidates = [offer("c1", { ...facts, source, document: { path: "papers/a.pdf" } })];
    const rrd = {
      ...empty,
      requirements: { ...empty.requirements, screening: { target_recall: 0.9, confidence: 0.9 } },
    };
    const { excluded } = taken({ kept: [], dropped: [{ id: "c1", reason: "off topic" }] }, { candidates }, rrd);
    const after = { ...rrd, excluded } as Rrd;
    expect(problemsOf("rrd", after)).toEqual([]);
    expect(allRecords(after, [], undefined)).toMatchObject([{ id: "c1", ...facts, source, key: "field2020" }]);
    expect(recordsToScreen(after, "all")).toMatchObject([{ about: "R. Field, O. Barn · 2020", abstract: "On feet." }]);
    const included = withOverride(after, "c1", { decision: "include", why: "mine", at: "2026-03-04T05:06:07.890Z" });
    expect(withOverrides(included).papers_pool).toMatchObject([
      { id: "c1", ...facts, source, document: { path: "papers/a.pdf" }, status: "pending" },
    ]);
    // A record of a list is in the stored search.
    const listed = [offer("c1", { ...facts, source: "list.ris" })];
    const [fromList] = taken(
      { kept: [], dropped: [{ id: "c1", reason: "off topic" }] },
      { candidates: listed },
    ).excluded;
    expect(fromList).not.toHaveProperty("record");
  });

  test("without an address is a candidate by its id, and else refused with where candidates are named", () => {
    const candidates = [offer("c1", { title: "Hands" })];
    const entry = { title: "Hands", priority: 3, reason: "fits" };
    expect(taken({ papers: [{ id: "c1", ...entry }] }, { candidates }).papers).toMatchObject([{ id: "c1" }]);
    expect(reasonsOf(judge({ papers: [entry] }, { candidates }))).toEqual([
      '"Hands" in papers has no url: candidates of this unit are named in kept, by their ids',
    ]);
  });

  test("is each work once: the pool's own is left alone, another copy of it is said to be one", () => {
    const pool = {
      ...empty,
      papers_pool: [paper("p1", { title: "The speed of small matter in a jar", url: "https://example.org/p1" })],
    };
    const twin = web("The speed of small matter in a jar", {
      url: "https://other.example/copy",
      authors: ["Ada Author"],
      date: "2026-01",
    });
    const again = taken({ papers: [twin] }, {}, pool);
    expect(again.ids).toEqual([]);
    expect(again.excluded).toEqual([
      {
        id: expect.stringMatching(/^url_/),
        title: twin.title,
        reason: "the same work as p1",
        stage: "duplicate",
        duplicate_of: "p1",
      },
    ]);
    const same = taken({ kept: [{ id: "p1" }] }, { candidates: [offer("p1")] }, pool);
    expect([same.ids, same.excluded, same.last.add]).toEqual([[], [], {}]);
    expect(taken({ papers: [web("Twice said"), web("Twice said")] }).ids).toHaveLength(1);
    // Beyond the target a copy is still a copy, not one paper more.
    const full = { ...pool, requirements: { ...pool.requirements, target_papers: 1 } };
    expect(taken({ papers: [twin] }, {}, full).progress).not.toContain("more were found");
  });

  test("is what code offered even where it looks like a paper of the pool: a person said that they are two", () => {
    const pool = {
      ...empty,
      papers_pool: [paper("p1", { title: "The speed of small matter in a jar", date: "2026-01-01" })],
    };
    const alike = offer("c1", { title: "The speed of small matter in a jar", source: "web" });
    expect(taken({ kept: [{ id: "c1" }] }, { candidates: [alike] }, pool).ids).toEqual(["c1"]);
    const own = web(alike.title, { authors: ["Ada Author"], date: "2026-01-01" });
    expect(taken({ papers: [own] }, {}, pool).ids).toEqual([]);
  });
});

describe("what a discovery batch leaves out", () => {
  test("is told with its reason: copies that code found, what lies outside, what the agent dropped", () => {
    const setAside = [{ id: "old", title: "Too old", reason: "from 1990", stage: "window" as const }];
    const search = {
      rounds: [],
      candidatesSha256: "0",
      identified: {},
      works: 0,
      excluded: setAside,
      substitutions: {},
      substitutes: new Set<string>(),
      left: 0,
      passed: 0,
      notAsked: [],
      mayLeadOn: false,
    };
    const duplicates = [
      { candidate: offer("d1"), of: "p1", why: "the same DOI" },
      { candidate: offer("d2"), of: "p2" },
    ];
    const batch = { candidates: [offer("c1"), offer("c2")], duplicates, search };
    const dropped = [
      { id: "c2", reason: "off topic" },
      { id: "c9", reason: "never offered" },
    ];
    const { excluded, progress } = taken({ dropped, kept: [{ id: "c1" }] }, batch as unknown as Partial<Batch>);
    expect(excluded).toMatchObject([
      {
        id: "d1",
        title: "A candidate called d1",
        reason: "the same work as p1: the same DOI",
        stage: "duplicate",
        duplicate_of: "p1",
      },
      {
        id: "d2",
        title: "A candidate called d2",
        reason: "the same work as p2",
        stage: "duplicate",
        duplicate_of: "p2",
      },
      ...setAside,
      { id: "c2", title: "A candidate called c2", reason: "off topic", stage: "screened" },
    ]);
    // Under the keys that people type, which the fold gives them.
    const named = progress.replace(/ \([a-z][a-z\d-]+\):/g, " (key):");
    expect(named).toContain(
      "**Screened out:**\n- A candidate called d1 (key): the same work as p1: the same DOI\n- A candidate called d2 (key): the same work as p2\n- Too old (key): from 1990\n- A candidate called c2 (key): off topic\n",
    );
    expect(progress.endsWith("off topic\n")).toBe(true);
  });

  test("is never what was kept in the same breath", () => {
    const said = { kept: [{ id: "c1" }, { id: "c2" }], dropped: [{ id: "c1", reason: "no" }] };
    const { excluded, ids } = taken(said, { candidates: [offer("c1"), offer("c2")] });
    expect([ids, excluded]).toEqual([["c1", "c2"], []]);
  });
});

describe("what is noted of a discovery batch", () => {
  const search = {
    rounds: [],
    candidatesSha256: "0",
    identified: { arXiv: 5 },
    works: 5,
    excluded: [],
    substitutions: {},
    substitutes: new Set<string>(),
    left: 2,
    passed: 0,
    notAsked: [],
    mayLeadOn: false,
  };

  test("counts as screened whatever the agent spoke of, and as waiting what it passed over or had no room for", () => {
    const rrd = { ...empty, requirements: { ...empty.requirements, target_papers: 1 } };
    const candidates = ["c1", "c2", "c3", "c4", "c5"].map((id) => offer(id));
    const said = {
      kept: [{ id: "c1", priority: 5 }, { id: "c2" }],
      papers: [web("x", { id: "c3" })],
      dropped: [{ id: "c4", reason: "no" }],
    };
    const { metrics } = taken(said, { candidates, search } as unknown as Partial<Batch>, rrd);
    expect(metrics).toMatchObject({ screening: [{ screened: 4, kept: 1, rounds: 0 }], flow: { not_screened: 2 + 3 } });
    expect(taken({}, { candidates, search } as unknown as Partial<Batch>, rrd).metrics).toMatchObject({
      flow: { not_screened: 2 + 5 },
    });
  });

  test("are code's sources and the agent's, in this order, those given up from now on, and the places visited", () => {
    const sources = [{ name: "arXiv", status: "ok" as const, found: 4, fresh: 3, queries: ["matter"] }];
    const own = [
      { name: "web", status: "blocked" as const, reason: "403", queries: ["a", "b"] },
      { name: "news", status: "empty" as const, queries: [] },
      { name: "blogs", status: "error" as const, reason: null },
    ];
    const { last, progress, changes } = taken({ sources: own, visited_urls: ["https://example.org/v"] }, { sources });
    expect(last).toEqual({
      in: "rrd",
      set: {
        statistics: {
          ...empty.statistics,
          discovery_metrics: expect.objectContaining({ sources_tried: ["arXiv", "web", "news", "blogs"] }),
        },
      },
      was: { statistics: empty.statistics },
      add: { blocked_sources: [{ name: "web", reason: "403" }], visited_urls: ["https://example.org/v"] },
    });
    expect(changes).toHaveLength(1);
    expect(progress).toBe(
      [
        "## 2026-03-04 - Discovery: batch 4",
        "",
        "**New papers:** 0",
        "",
        "**Sources:**",
        "- arXiv: 4 found, 3 new; asked: matter",
        "- web: blocked (403); asked: a; b",
        "- news: empty",
        "- blogs: error",
        "- web is blocked from now on (403); remove it from blocked_sources in rrd.json to try it again",
        "",
      ].join("\n"),
    );
  });

  test("is nothing of places, blocked sources or patterns where there are none, an empty list included", () => {
    expect(taken({ visited_urls: [] }).last.add).toEqual({});
    expect(taken({}).progress).not.toMatch(/Screened out|Patterns|blocked from now on/);
  });

  test("holds the agent's patterns, and each new paper on a line of its own whatever stands in its title", () => {
    const { progress, changes } = taken({
      papers: [web("A title\n## 2026-01-01 - Forged", { priority: 4 })],
      patterns: ["Search by author."],
    });
    expect(progress).toMatch(/^- A title ## 2026-01-01 - Forged \(title-forged\) - priority 4$/m);
    expect(progress).toContain("**Research Patterns:**\n- (discovery-4) Search by author.\n");
    expect(changes[0]).toMatchObject({ in: "papers_pool", id: expect.stringMatching(/^url_/), was: null });
  });

  test("leaves a valid file", () => {
    const { papers, last } = taken({ papers: [web("A paper")], sources: [{ name: "web", status: "ok" }] });
    expect(problemsOf("rrd", { ...empty, papers_pool: papers, ...last.set })).toEqual([]);
  });
});

describe("a discovery batch of an update", () => {
  const update = { id: "update-1", since: "2026-01-01", until: "2026-02-01", at: "2026-02-01T00:00:00Z", iteration: 1 };
  const open = (over: object = {}): Rrd => ({
    ...rrdWith([], { requirements: { target_papers: 3, sources: ["arXiv"] } }),
    phase: "DISCOVERY",
    updates: [{ ...update, ...over }],
    statistics: { discovery_metrics: { batches_without_new: 4 } },
  });
  const search = (over: object = {}) =>
    ({
      rounds: [],
      identified: {},
      works: 9,
      excluded: [],
      substitutions: {},
      left: 0,
      notAsked: [],
      pooled: [],
      substitutes: new Set<string>(),
      candidatesSha256: "0",
      skippedCount: 0,
      mayLeadOn: false,
      exhausted: "all was asked",
      ...over,
    }) as NonNullable<Batch["search"]>;
  const candidates = ["a", "b"].map((id) => offer(id));
  const dropped = candidates.map(({ id }) => ({ id, reason: "off topic" }));

  test("goes on until all that came is judged, however many batches in a row brought nothing", () => {
    const { metrics } = taken({ dropped }, { candidates, search: search({ left: 30 }) }, open());
    expect(metrics.exhausted).toBeUndefined();
    expect(metrics.batches_without_new).toBeLessThan(5);
    expect(taken({ dropped }, { candidates, search: search() }, open()).metrics.exhausted).toBe("all was asked");
  });

  test("puts what an agent said nothing of before it again, until it says nothing of any", () => {
    const [first] = dropped;
    const some = taken({ dropped: first === undefined ? [] : [first] }, { candidates, search: search() }, open());
    expect(some.metrics.exhausted).toBeUndefined();
    expect(taken({}, { candidates, search: search() }, open()).metrics.exhausted).toBe("all was asked");
    const begun = { ...open(), statistics: { discovery_metrics: { batches_without_new: 0 } } };
    expect(taken({}, { candidates, search: search() }, begun).metrics.exhausted).toBeUndefined();
  });

  test("of folders alone is the last one once it leaves nothing, and so outside updates", () => {
    const listed = { identified: { "folder:papers": 4 }, left: 0, passed: 0, sha256: "0", excluded: [] };
    expect(taken({}, { listed }, open()).metrics.exhausted).toBeDefined();
    expect(taken({ dropped }, { candidates, listed: { ...listed, left: 3 } }, open()).metrics.exhausted).toBe(
      undefined,
    );
    expect(taken({}, { listed }).metrics.exhausted).toBeDefined();
    expect(taken({}, { listed: { ...listed, left: 3 } }).metrics.exhausted).toBeUndefined();
  });

  test("keeps the windows open that are still to be asked", () => {
    const rrd = open({ failed: { arXiv: "2026-01-01", Crossref: "2026-01-01" } });
    const { last } = taken({ dropped }, { candidates, search: search({ leftOpen: { arXiv: "2026-01-01" } }) }, rrd);
    expect((last.set as Partial<Rrd>).updates?.[0]?.failed).toEqual({ arXiv: "2026-01-01" });
  });
});
