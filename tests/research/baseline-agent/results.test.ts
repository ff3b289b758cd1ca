import { describe, expect, it } from "vitest";
import type { AnalysisResult } from "../../../src/research/generated/result-analysis.js";
import type { DiscoveryResult } from "../../../src/research/generated/result-discovery.js";
import type { IdeationResult } from "../../../src/research/generated/result-ideation.js";
import type { ReportResult } from "../../../src/research/generated/result-report.js";
import type { RequirementsResult } from "../../../src/research/generated/result-requirements.js";
import { sentencesOf } from "../../../src/research/units/narrative/sentences.js";
import { briefOf, problemsOf, resultOf } from "./brief-of.js";

const candidate = (id: string, title: string, abstract?: string, date = "2024-05-01") => ({
  id,
  title,
  url: `https://example.org/${id}`,
  pdf_url: null,
  authors: ["A. Sample"],
  date,
  source: "arXiv",
  abstract,
});

const records = {
  papers: [
    {
      id: "p1",
      title: "Tactile rotation",
      decision: "PRESENT",
      score: "31/50",
      summary: "We rotate cubes. It works.",
      results: "Success rose from 41 % to 87 %. It held.",
    },
    {
      id: "p2",
      title: "Friction fits",
      decision: "EXTRACT_INSIGHTS",
      score: 19,
      summary: "Friction is fitted.",
      results: "The error fell to 3 mm.",
    },
    { id: "p3", title: "Nothing much", decision: "REJECT", score: 4, summary: "A survey.", results: null },
  ],
  insights: [
    { id: "insight_001", paper_id: "p1", insight: "Success rose from 41 % to 87 %.", tags: ["rotation", "touch"] },
    { id: "insight_002", paper_id: "p1", insight: "Pads wear out.", tags: ["touch", "limitation"] },
    { id: "insight_003", paper_id: "p2", insight: "Friction can be fitted to a hand.", tags: ["friction"] },
    { id: "insight_004", paper_id: "p2", insight: "Delay was not fitted.", tags: ["friction", "limitation"] },
  ],
};
const quotes: Readonly<Record<string, object[]>> = {
  p1: [
    { handle: "p1#1", passage: "“Success rose from 41 % to 87 % with domain fitting.”", where: "§ 3 Results" },
    { handle: "p1#4", passage: "“Pads wear out after 900 turns.”", where: "§ 4 Limitations" },
    { handle: "p1#5", passage: "“Touch is enough for rotation.”", where: "§ 5 Conclusion" },
  ],
  p2: [
    { handle: "p2#1", passage: "“It outperforms domain fitting by 12 points.”", where: "§ 3 Results" },
    { handle: "p2#2", passage: "“Friction can be fitted to a hand.”", where: "§ 5 Conclusion" },
  ],
};
const report = {
  kind: "report",
  unit: "report",
  asked: "Literature research on: Touch in robot hands. Derived from the words of the topic.",
  papers: records.papers.map((paper) => ({ ...paper, quotes: quotes[paper.id] ?? [] })),
  groups: [{ group: "g1", tags: ["touch"], size: 2, insights: ["Pads wear out."] }],
};
const ideas = (more: object = {}) => ({
  kind: "ideas",
  unit: "ideas",
  min_ideas: 3,
  max_ideas: 12,
  ...records,
  constraints: {},
  ...more,
});

describe("requirements", () => {
  it.each([
    "sim2real transfer for dexterous manipulation",
    "AI",
    "量子计算",
    "the of and",
    "x".repeat(500),
    "one two three four five six seven eight nine ten eleven twelve",
  ])("are valid, with a name and keywords, for the topic %.40s", (topic) => {
    const result = resultOf<RequirementsResult>(briefOf({ kind: "requirements", unit: "requirements", topic }));
    expect(problemsOf("requirements", result)).toEqual([]);
    expect(result.name?.length).toBeLessThanOrEqual(80);
    expect(result.keywords.length).toBeGreaterThan(0);
  });

  it("take the topic and its phrases", () => {
    const { keywords } = resultOf<RequirementsResult>(
      briefOf({ kind: "requirements", unit: "requirements", topic: "sim2real transfer for dexterous manipulation" }),
    );
    expect(keywords).toEqual([
      "sim2real transfer dexterous manipulation",
      "sim2real transfer",
      "dexterous manipulation",
    ]);
  });
});

describe("discovery", () => {
  const discover = (candidates: object[]) =>
    resultOf<DiscoveryResult>(
      briefOf({
        kind: "discovery",
        unit: "discovery-1",
        need: 8,
        sources: ["arXiv", "OpenAlex"],
        keywords: ["dexterous manipulation", "transfer"],
        candidates,
      }),
    );

  it("keeps what shares words with the keywords and says which, and drops the rest with a reason", () => {
    const result = discover([
      candidate("a", "Dexterous hands transfer", "Manipulating cubes."),
      candidate("b", "Whale songs", "Songs of whales."),
    ]);
    expect(problemsOf("discovery", result)).toEqual([]);
    expect(result.kept?.map(({ id }) => id)).toEqual(["a"]);
    expect(result.kept?.[0]?.reason).toContain("dexterous");
    expect(result.dropped?.map(({ id }) => id)).toEqual(["b"]);
  });

  it("gives more overlap and a newer date a higher priority", () => {
    const [old, recent, partial] = discover([
      candidate("old", "Dexterous manipulation transfer", "x", "2019-01-01"),
      candidate("recent", "Dexterous manipulation transfer", "x", "2024-01-01"),
      candidate("partial", "Dexterous transfer", "x", "2019-01-01"),
    ]).kept!.map(({ priority = 0 }) => priority);
    expect(recent).toBeGreaterThan(old!);
    expect(old).toBeGreaterThan(partial!);
  });

  it("keeps a file that shows no more than its name at the lowest priority, because only reading can decide", () => {
    const { kept } = discover([
      candidate("scan", "transfer 11"),
      candidate("titled", "The songs of whales in winter seas"),
    ]);
    expect(kept).toMatchObject([{ id: "scan", priority: 1 }]);
  });

  it("reports a source whose candidates came with the brief as ok", () => {
    const { sources } = discover([candidate("a", "Dexterous manipulation transfer", "x")]);
    expect(sources).toMatchObject([
      { name: "arXiv", status: "ok" },
      { name: "OpenAlex", status: "skipped" },
    ]);
  });

  it("says of sources that it can't search that it skipped them, and finds nothing without candidates", () => {
    const result = discover([]);
    expect(problemsOf("discovery", result)).toEqual([]);
    expect([result.papers, result.kept]).toEqual([[], []]);
    expect(result.sources).toEqual(
      ["arXiv", "OpenAlex"].map((name) => ({
        name,
        status: "skipped",
        reason: "the baseline agent has no web access",
      })),
    );
  });
});

describe("the report", () => {
  const result = resultOf<ReportResult>(briefOf(report));

  it("is valid, asks what the research looks for, and names handles and groups of the brief alone", () => {
    expect(problemsOf("report", result)).toEqual([]);
    expect(result.question).toBe("What do the papers show about touch in robot hands?");
    const asked = "Literature research on: Which robot hands are cheapest? Derived from the words of the topic.";
    expect(resultOf<ReportResult>(briefOf({ ...report, asked })).question).toBe("Which robot hands are cheapest?");
    const named = sentencesOf(result).flatMap(([, { rests_on = [] }]) => rests_on);
    const known = Object.values(quotes).flat() as { handle: string }[];
    expect(known.map(({ handle }) => handle)).toEqual(expect.arrayContaining(named));
    expect(result.themes.flatMap(({ groups }) => groups)).toEqual(["g1"]);
  });

  it("answers with conclusions, finds results, and tells limitations as gaps", () => {
    expect(result.answer).toEqual([{ text: "Touch is enough for rotation.", rests_on: ["p1#5"] }]);
    expect(result.findings[0]).toMatchObject({ rests_on: ["p1#1"] });
    expect(result.gaps).toEqual([{ text: "Pads wear out after 900 turns.", rests_on: ["p1#4"] }]);
  });

  it("says that papers agree where both gain over the same thing", () => {
    expect(result.agreed).toEqual([
      { text: expect.stringContaining("measure against domain fitting"), rests_on: ["p1#1", "p2#1"] },
    ]);
  });

  it("has no number that is not in a quote that its sentence names", () => {
    const words = new Map(
      (Object.values(quotes).flat() as { handle: string; passage: string }[]).map((q) => [q.handle, q.passage]),
    );
    for (const [where, { text, rests_on = [] }] of sentencesOf(result).filter(([at]) => !at.startsWith("/rec")))
      for (const number of text.match(/\d+/g) ?? [])
        expect(rests_on.map((handle) => words.get(handle)).join(" "), where).toContain(number);
  });

  it("says that no model judged anything", () => {
    expect(result.recommendations.at(-1)?.text).toContain("no model judged anything");
  });

  it("has a finding where a single quote is all there is", () => {
    const quote = { handle: "p1#1", passage: "“Grippers hold 87 % of objects.”", where: "p. 1" };
    const papers = [{ id: "p1", title: "A gripper", decision: "REJECT", score: 4, quotes: [quote] }];
    const { answer, findings } = resultOf<ReportResult>(briefOf({ ...report, papers, groups: [] }));
    expect([answer, findings].map((list) => list.map(({ rests_on }) => rests_on))).toEqual([[["p1#1"]], [["p1#1"]]]);
  });

  it("says that no paper is included where all wait for a person or are excluded", () => {
    const empty = resultOf<ReportResult>(briefOf({ ...report, papers: [], groups: [] }));
    expect(problemsOf("report", empty)).toEqual([]);
    expect(empty.answer).toEqual([{ text: "No paper is included, so nothing answers the question." }]);
    expect(empty.findings).toEqual([]);
  });
});

describe("ideas", () => {
  it("are valid, at least as many as asked for, and tied to papers and insights of the brief", () => {
    const result = resultOf<IdeationResult>(briefOf(ideas()));
    expect(problemsOf("ideation", result)).toEqual([]);
    expect(result.ideas.length).toBeGreaterThanOrEqual(3);
    for (const { evidence } of result.ideas) {
      const from = records.insights.filter(({ id }) => evidence.insight_ids.includes(id));
      expect(from).toHaveLength(evidence.insight_ids.length);
      expect([...new Set(from.map(({ paper_id }) => paper_id))]).toEqual(evidence.paper_ids);
    }
  });

  it.each([1, 2, 4])("have names of their own when only %i insights are given", (count) => {
    const result = resultOf<IdeationResult>(briefOf(ideas({ insights: records.insights.slice(0, count) })));
    expect(new Set(result.ideas.map(({ name }) => name)).size).toBe(result.ideas.length);
    expect(result.ideas).toHaveLength(3);
  });

  it("recommend no second one that has less than half of the best one's points", () => {
    const rich =
      "The first open-source platform is shared by a community, integrated with ROS, low-cost, deployed in a warehouse and documented.";
    const poor = ["Turns were few.", "Turns were short."];
    const insights = [rich, rich, ...poor].map((insight, index) => ({
      id: `insight_00${index + 1}`,
      paper_id: index < 2 ? "p1" : "p2",
      insight,
      tags: [index < 2 ? "platform" : "turns"],
    }));
    const result = resultOf<IdeationResult>(briefOf(ideas({ insights, min_ideas: 2, max_ideas: 2 })));
    expect(result.ideas.map(({ recommended_for_prd }) => recommended_for_prd)).toEqual([true, false]);
  });

  it("recommend one to three and never more than the most that is allowed", () => {
    const recommended = resultOf<IdeationResult>(briefOf(ideas())).ideas.filter(
      ({ recommended_for_prd }) => recommended_for_prd,
    );
    expect(recommended).toHaveLength(2);
    expect(resultOf<IdeationResult>(briefOf(ideas({ min_ideas: 1, max_ideas: 1 }))).ideas).toHaveLength(1);
  });

  it("never rest on a retracted paper, and on a rejected one only where there is no other", () => {
    const retracted = { ...records.papers[0], decision: "REJECT (retracted: never build on it)" };
    const cited = (papers: object[]) =>
      resultOf<IdeationResult>(briefOf(ideas({ papers }))).ideas.flatMap(({ evidence }) => evidence.paper_ids);
    expect(new Set(cited([retracted, ...records.papers.slice(1)]))).toEqual(new Set(["p2"]));
    expect(new Set(cited([{ ...records.papers[0], decision: "REJECT" }, ...records.papers.slice(1)]))).toEqual(
      new Set(["p2"]),
    );
    expect(new Set(cited([{ ...records.papers[0], decision: "REJECT" }]))).toEqual(new Set(["p1"]));
  });

  it("rest on the papers themselves where none gave an insight", () => {
    const result = resultOf<IdeationResult>(briefOf(ideas({ insights: [] })));
    expect(problemsOf("ideation", result)).toEqual([]);
    expect(result.ideas.length).toBeGreaterThanOrEqual(3);
    expect(new Set(result.ideas.map(({ name }) => name)).size).toBe(result.ideas.length);
    for (const { evidence } of result.ideas) {
      expect(evidence.insight_ids).toEqual([]);
      expect(["p1", "p2"]).toEqual(expect.arrayContaining(evidence.paper_ids));
    }
  });

  it("are refused where no paper stands", () => {
    expect(() => resultOf(briefOf(ideas({ papers: [] })))).toThrow("nothing to build an idea on");
  });
});

describe("a repair", () => {
  const unit = {
    kind: "paper",
    unit: "p1",
    title: "Tactile rotation",
    abstract: "We rotate cubes in 90 % of trials.",
    rubrics: ["execution"],
  };
  const previous = {
    ...resultOf<AnalysisResult>(
      briefOf(unit, "## 3 Results\n\nThe hand reached 87 % in 600 trials. It dropped 12 cubes in all."),
    ),
    evidence: [
      { claim: "kept", quote: "The hand reached 87 % in 600 trials." },
      { claim: "wrong", quote: "It dropped 21 cubes." },
      { claim: "made up", quote: "It can fly." },
    ],
  };
  const repair = {
    reasons: ["two quotes were not found"],
    previous,
    passages: [
      { quote: "It dropped 21 cubes.", nearest: "It dropped 12 cubes in all." },
      { quote: "It can fly.", nearest: "" },
    ],
  };

  it("replaces a quote that was not found by the nearest passage, drops it where there is none, and keeps the other quotes", () => {
    const result = resultOf<AnalysisResult>(briefOf({ ...unit, repair }));
    expect(problemsOf("analysis", result)).toEqual([]);
    expect(result.evidence.map(({ quote }) => quote)).toEqual([
      "The hand reached 87 % in 600 trials.",
      "It dropped 12 cubes in all.",
    ]);
    expect(result.evidence[1]?.claim).not.toBe("wrong");
  });

  it("knows a quote and a passage that the brief has cut", () => {
    const long = `The hand reached ${"far ".repeat(100)}too high.`;
    const passages = [{ quote: `${long.slice(0, 60)}…`, nearest: "The hand reached 12 objects in all of the…" }];
    const result = resultOf<AnalysisResult>(
      briefOf({
        ...unit,
        repair: { ...repair, previous: { ...previous, evidence: [{ claim: "c", quote: long }] }, passages },
      }),
    );
    expect(result.evidence.map(({ quote }) => quote)).toEqual(["The hand reached 12 objects in all of the"]);
  });

  it("makes a valid result of the abstract where no quote is left", () => {
    const result = resultOf<AnalysisResult>(briefOf({ ...unit, repair: { ...repair, previous: { evidence: [] } } }));
    expect(problemsOf("analysis", result)).toEqual([]);
    expect(result.evidence[0]?.quote).toBe("We rotate cubes in 90 % of trials.");
  });
});
