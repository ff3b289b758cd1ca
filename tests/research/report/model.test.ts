import { describe, expect, test } from "vitest";
import { answeredText } from "../../../src/research/report/narrative/questions.js";
import { reportModel, type ReportInput } from "../../../src/research/report/model.js";
import { countsOf } from "../../../src/research/overview/counts.js";
import { doubtsOf } from "../../../src/research/report/narrative/check.js";
import type { Answer } from "../../../src/research/generated/answer.js";
import type { ReportFile } from "../../../src/research/generated/report.js";
import type { ProductIdeas } from "../../../src/research/generated/product-ideas.js";
import type { Evidence, Paper, Rrd } from "../../../src/research/generated/rrd.js";
import { checklistOf } from "../../../src/research/report/sections/checklist.js";
import { sectionsWithContent } from "../../../src/research/report/sections/sections.js";
import { markdownOf } from "../../../src/research/report/documents/markdown.js";
import { promptsText } from "../../../src/research/report/method.js";
import { contextOf } from "../../../src/research/report/page/context.js";
import { reportPage } from "../../../src/research/report/page/page.js";
import { namesOf } from "../../../src/research/report/quotes.js";
import { searchYield } from "../../../src/research/report/search-yield.js";
import { surenessText } from "../../../src/research/report/strength.js";
import { paper, rrdWith } from "../../support/projects/research.js";

const now = new Date("2026-11-22T12:00:00Z");
const quote = (text: string, status: Evidence["status"] = "verified"): Evidence => ({
  claim: text,
  quote: text,
  status,
  locator: "p. 3",
});
const points = {
  execution: { novelty: 3, feasibility: 4, time_to_poc: 4, value_market: 3, defensibility: 2, adoption: 4 },
  blue_ocean: { market_creation: 3, first_mover_window: 2, network_effects: 1, strategic_clarity: 4 },
};
const read = (id: string, evidence: Evidence[], over: Partial<Paper> = {}): Paper =>
  paper(id, {
    status: "presented",
    decision: "PRESENT",
    score: 30,
    score_breakdown: points,
    read_depth: "full",
    analysis: { summary: `What ${id} found.`, evidence },
    ...over,
  });
const narrative = (over: Partial<ReportFile> = {}): ReportFile => ({
  written_at: "2026-11-22T10:00:00Z",
  question: "Does it work?",
  answer: [{ text: "It works in 87 % of trials.", rests_on: ["one#1"] }],
  findings: [{ text: "Success rose to 87 %.", rests_on: ["one#1", "two#1"] }],
  agreed: [],
  disputed: [],
  gaps: [],
  themes: [],
  recommendations: [],
  ...over,
});
const modelOf = (rrd: Rrd, over: Partial<ReportInput> = {}) =>
  reportModel({ rrd, ledger: [], queries: [], answers: [], now, ...over });

test("the map counts every link of its papers, and says that it shows the strongest of them", async () => {
  const ids = ["a", "b", "c", "d", "e", "f"];
  const insights = ids.map((id) => ({ insight: `From ${id}.`, paper_id: id, tags: ["loss"] }));
  const model = modelOf({ ...rrdWith(ids.map((id) => read(id, []))), insights });
  expect([model.map().links.length, model.map().linkCount]).toEqual([12, 15]);
  expect(markdownOf(model)).toContain("6 papers joined by 15 links. Here are 12 of the strongest.");
  const page = [...reportPage(await contextOf(model))].join("");
  expect(page).toContain("6 papers joined by 15 links.");
  expect(page).toContain("Each paper shows its three strongest links, 12 in all.");
});

test("the figure of time is there however short the agents' work was", () => {
  const line = { iteration: 1, at: "2026-11-22T10:00:00Z", phase: "ANALYSIS", outcome: "accepted" } as const;
  const figureOf = (seconds: number) =>
    modelOf(rrdWith([read("one", [])]), { ledger: [{ ...line, unit: "one", duration_seconds: seconds }] }).figures.find(
      ({ name }) => name === "time",
    );
  expect(figureOf(0)).toMatchObject({ value: "under 1s", label: figureOf(90)?.label });
});

test("no figure of retracted papers stands where no service could say it, nor a question that is the title", () => {
  const one = read("one", []);
  const checked = { at: "2026-11-22T10:00:00Z", checked_by: ["Crossref"], unchecked: [] };
  const namesOf = (paper: Paper) => modelOf(rrdWith([paper])).figures.map(({ name }) => name);
  expect(namesOf(one)).not.toContain("retracted");
  expect(namesOf({ ...one, updates_check: checked })).toContain("retracted");
  expect(namesOf({ ...one, retracted: true })).toContain("retracted");
  const rrd = { ...rrdWith([one]), project: "Research: Do hands grasp" };
  const asked = (question: string) =>
    [...sectionsWithContent(modelOf({ ...rrd, question })).keys()].includes("question");
  expect([asked("Do hands grasp?"), asked("Do robot hands grasp?")]).toEqual([false, true]);
});

test.each([
  [
    "Literature research on: touch in robot hands. Derived from the topic.",
    "What do papers show about touch in robot hands?",
  ],
  [
    "Literature research on: Which robot hands are cheapest to build?. Derived from the words of the topic.",
    "Which robot hands are cheapest to build?",
  ],
  ["Which robot hands can pick parts in a warehouse today?", "Which robot hands can pick parts in a warehouse today?"],
  ["Scout recent research on low-cost robot hands. More.", "Scout recent research on low-cost robot hands."],
])("before a report is written %j is asked as %j", (description, question) => {
  expect(modelOf(rrdWith([], { description })).question).toBe(question);
});

test("the question is the person's own, whatever the agent makes of it", () => {
  const rrd = { ...rrdWith([]), question: "do heat pumps save energy in cold climates?" };
  expect(modelOf(rrd, { report: narrative({ question: "Do hands grasp?" }) }).question).toBe(rrd.question);
});

describe("what was not done", () => {
  const judging = /judged once|second time|Screening|quotes were recorded|search log/;

  test("of a project without papers says nothing of judging, screening or quotes, and why there is no answer", () => {
    const { method, sureness, noAnswerReason } = modelOf(rrdWith([]));
    expect(method.limits).toContain("No paper has been found yet.");
    expect(method.limits).toContain("No paper has been judged yet.");
    expect(method.limits.filter((limit) => judging.test(limit))).toEqual([]);
    expect(sureness.because.join()).not.toMatch(judging);
    expect(noAnswerReason).toBe("There is no answer yet: no paper has been found.");
  });

  test("of papers that wait for their reading says nothing of judging", () => {
    const { method, noAnswerReason } = modelOf(rrdWith([paper("one"), paper("two")]));
    expect(method.limits).toContain("No paper has been judged yet.");
    expect(method.limits.join()).not.toMatch(/judged once|quotes were recorded/);
    expect(method.limits.join()).toMatch(/Screening/);
    expect(noAnswerReason).toBe("There is no answer yet: 2 papers of 2 are still to be read.");
  });

  test("of papers that wait for a person does not say that they are to be read", () => {
    const waiting = paper("one", { status: "waiting" });
    expect(modelOf(rrdWith([waiting, read("two", [])])).noAnswerReason).toBe(
      "There is no answer yet: 1 paper waits for a person's decision, and the report is not written.",
    );
    expect(modelOf(rrdWith([read("two", [])])).noAnswerReason).toBe(
      "There is no answer yet: every paper has its decision, and the report is not written.",
    );
    expect(modelOf(rrdWith([waiting, paper("two")])).noAnswerReason).toBe(
      "There is no answer yet: 1 paper of 2 is still to be read.",
    );
  });

  test("says how sure it is where nothing tells why", () => {
    expect(surenessText({ words: "not known", because: [] })).toBe("not known.");
    expect(surenessText({ words: "limited", because: ["a", "b"] })).toBe("limited: a; b.");
  });

  test.each([
    [1, "no finding rests on two papers by different authors, only 1 point of agreement does"],
    [2, "no finding rests on two papers by different authors, only 2 points of agreement do"],
    [0, "no finding rests on two papers by different authors"],
  ])("of findings that nobody else found says what %d points of agreement rest on", (count, says) => {
    const papers = [
      read("one", [quote("It works.")]),
      read("two", [quote("It works.")], { authors: ["Somebody Else"] }),
    ];
    const report = narrative({
      findings: [{ text: "It works.", rests_on: ["one#1"] }],
      agreed: [
        ...Array.from({ length: count }, () => ({ text: "It works.", rests_on: ["one#1", "two#1"] })),
        { text: "It works.", rests_on: ["two#1"] },
      ],
    });
    expect(modelOf(rrdWith(papers), { report }).sureness.because[0]).toBe(says);
  });

  test("lists an agent once, with all its prompts", () => {
    const line = { at: "2026-11-22T10:00:00Z", phase: "ANALYSIS", outcome: "accepted", agent: "baseline" } as const;
    const of = (iteration: number, prompt?: string) => ({
      ...line,
      iteration,
      unit: `p${iteration}`,
      ...(prompt === undefined ? {} : { prompt_sha256: prompt.repeat(64) }),
    });
    const { method } = modelOf(rrdWith([]), {
      ledger: [of(1), of(2, "a"), of(3, "b"), of(4, "a"), { ...of(5, "c"), model: "another" }],
    });
    expect(method.agents.map(({ model, prompts, iterations }) => [model, promptsText(prompts), iterations])).toEqual([
      [undefined, "aaaaaaaaaaaa, bbbbbbbbbbbb", 4],
      ["another", "cccccccccccc", 1],
    ]);
    expect(promptsText(Array.from({ length: 14 }, (_, index) => String(index)))).toMatch(/^0, 1, .*11, 2 more$/);
  });

  test("tells a count that nobody made from none, in the page's table and in the Markdown's alike", async () => {
    const rrd = rrdWith([read("one", [], { source: "arXiv" })], {
      requirements: { ...rrdWith([]).requirements, sources: ["arXiv"] },
    });
    const rowsOf = async (over: Partial<ReportInput>) => {
      const model = modelOf(rrd, over);
      const page = [...reportPage(await contextOf(model))].join("");
      const cells = /<td>arXiv<\/td><td>answered<\/td>(.*?)<\/tr>/.exec(page)?.[1]?.match(/[^<>]+(?=<\/td>)/g);
      const line = /^\| arXiv \| answered \| (.*) \|$/m.exec(markdownOf(model))?.[1]?.split(" | ");
      return [cells, line];
    };
    // The page leaves out a column that nobody counted.
    const none = ["–", "–", "1", "1"];
    expect(await rowsOf({})).toEqual([none.slice(2), none]);
    const query = { at: "2026-11-22T10:00:00Z", method: "GET", url: "https://example.org/", from: "network" } as const;
    const asked = ["1", "–", "1", "1"];
    expect(await rowsOf({ queries: [{ ...query, source: "arXiv", status: "ok", results: 7 }] })).toEqual([
      ["1", "1", "1"],
      asked,
    ]);
  });

  test("a flow that lacks one record says so of one", () => {
    const discovery_metrics = { flow: { identified: { arXiv: 3 }, duplicates_removed: 1, not_screened: 0 } };
    const { flow } = modelOf(rrdWith([read("one", [], { source: "arXiv" })], { statistics: { discovery_metrics } }));
    expect(flow.steps[0]?.sideBox?.lines.at(-1)).toEqual({ label: "no longer among the records", count: 1 });
  });

  test("and how sure the answer is tell the same of second looks", () => {
    const line = { at: "2026-11-22T10:00:00Z", phase: "ANALYSIS", outcome: "accepted", unit: "one" } as const;
    const of = (...roles: string[]) =>
      modelOf(rrdWith([read("one", [])]), {
        ledger: roles.map((role, index) => ({ ...line, iteration: index + 1, role })),
      });
    const once = of("reader");
    expect([once.method.limits[0], once.sureness.because.at(-1)]).toEqual([
      "Each paper was judged once, by one model or agent; nobody judged it a second time.",
      "each paper was judged once",
    ]);
    const twice = of("reader", "critic");
    expect(twice.method.limits[0]).toMatch(/^Another agent checked or repeated 1 unit of work;/);
    expect(twice.sureness.because.at(-1)).toMatch(/^another agent checked or repeated 1 unit of work;/);
  });
});

describe("questions that were asked", () => {
  const answer = (number: number, question: string, over: Partial<Answer> = {}): Answer => ({
    id: `answer-${number}`,
    at: `2026-11-0${number}T10:00:00Z`,
    question,
    seen: 1,
    statements: [],
    quotes: [],
    ...over,
  });
  const statements = [{ text: "It rose.", rests_on: ["one#1", "two#q1", "nobody#q2"], marks: ["Few words."] }];
  const quotes = [
    { handle: "one#1", paper: "one", quote: "Success rose to 87 %.", locator: "p. 3" },
    { handle: "two#q1", paper: "two", quote: "It rose here." },
  ];

  test("stand with their newest answer, newest first, each sentence with its quotes", () => {
    const rrd = rrdWith([read("one", []), read("two", [])]);
    const answers = [answer(1, "Why?"), answer(2, "Where?"), answer(3, "Why?", { statements, quotes })];
    const [first, second, ...others] = modelOf(rrd, { answers }).questions;
    expect(others).toEqual([]);
    expect([first?.question, first?.day, first?.invalidReasons]).toEqual(["Why?", "2026-11-03", []]);
    expect(first?.sentences[0]?.quotes.map(({ paper, locator }) => [paper?.id, locator])).toEqual([
      ["one", "p. 3"],
      ["two", undefined],
    ]);
    expect([second?.question, second?.sentences]).toEqual(["Where?", []]);
  });

  test("say how many papers of the project were read since", () => {
    const rrd = rrdWith([read("one", []), read("two", [])]);
    const line = { at: "2026-11-22T10:00:00Z", phase: "ANALYSIS", outcome: "accepted" } as const;
    const ledger = [
      { ...line, unit: "one", iteration: 1 },
      { ...line, unit: "two", iteration: 2 },
      { ...line, unit: "report", iteration: 3 },
    ];
    const [asked] = modelOf(rrd, { answers: [answer(1, "Why?")], ledger }).questions;
    expect(asked === undefined ? "" : answeredText(asked)).toBe("answered on 2026-11-01, before 1 paper was read");
  });

  test("say which paper under an answer is retracted or gone", () => {
    const rrd = rrdWith([read("one", [], { retracted: true })]);
    const [asked] = modelOf(rrd, { answers: [answer(1, "Why?", { statements, quotes })] }).questions;
    expect(asked?.invalidReasons).toEqual(["Author 2026 is retracted", "two is no longer in the project"]);
  });
});

describe("statements", () => {
  const rrd = rrdWith([
    read("one", [quote("Success rose from 41 % to 87 %."), quote("It fails in rain.", "not-in-text")]),
    read("two", [quote("We saw 87 % success.")], { authors: ["Bea Berg"], identifiers: { doi: "10.1000/two" } }),
  ]);

  test("lead to the quotes that their handles name, each with its paper and mark", () => {
    const [finding] = modelOf(rrd, { report: narrative() }).findings;
    expect(finding?.quotes.map(({ handle, paper: of, status }) => [handle, of.label, status])).toEqual([
      ["one#1", "Author 2026", "verified"],
      ["two#1", "Berg 2026", "verified"],
    ]);
    expect(finding?.missingNumbers).toEqual([]);
  });

  test("name numbers that none of their quotes holds, and no year of a paper", () => {
    const findings = [{ text: "In 2026 success rose to 91 %, three times as much.", rests_on: ["one#1"] }];
    expect(modelOf(rrd, { report: narrative({ findings }) }).findings[0]?.missingNumbers).toEqual(["91 %"]);
  });

  test("say why a handle leads nowhere", () => {
    const findings = [{ text: "All is well.", rests_on: ["three#1", "one#9", "one#2", "nonsense"] }];
    const broken = modelOf(rrd, { report: narrative({ findings }) }).findings[0]?.brokenHandles;
    expect(broken?.map(({ reason }) => reason)).toEqual([
      "the paper three is not in this project",
      "the paper one has 2 quotes",
      "that quote was not found in the text of the paper",
      "it is not a handle; write a paper's id, '#' and the number of a quote",
    ]);
  });

  test("a quote that is not in the text is counted and never shown", () => {
    const model = modelOf(rrd, { report: narrative() });
    const entry = model.entry(model.row("one") ?? model.rows[0]!);
    expect([entry.evidence.length, entry.notInText]).toEqual([1, 1]);
  });
});

describe("the strength of a finding", () => {
  const strengthOf = (...papers: Paper[]) => {
    const findings = [{ text: "It works.", rests_on: papers.map(({ id }) => `${id}#1`) }];
    return modelOf(rrdWith(papers), { report: narrative({ findings, answer: [] }) }).findings[0]?.strength;
  };
  const one = read("one", [quote("It works well.")]);

  test("grows with papers that share no author, not with papers of one group", () => {
    const same = strengthOf(one, read("two", [quote("It works again.")], { authors: ["A. Author", "Cy Cole"] }));
    const other = strengthOf(one, read("two", [quote("It works again.")], { authors: ["Bea Berg"] }));
    expect([same?.independent, other?.independent]).toEqual([1, 2]);
    expect(other?.level).toBeGreaterThan(same?.level ?? 5);
  });

  test("of one group of authors alone is never more than moderate, however well it is published and read", () => {
    const whole = { read_depth: "full", publication_type: "journal-article", venue: "A Journal" } as const;
    expect(strengthOf({ ...one, ...whole })?.level).toBe(3);
    expect(
      strengthOf({ ...one, ...whole }, read("two", [quote("Again.")], { ...whole, authors: ["Bea Berg"] }))?.level,
    ).toBe(5);
  });

  test("counts no retracted paper", () => {
    const alone = strengthOf({ ...one, retracted: true });
    expect([alone?.level, alone?.says]).toEqual([0, "rests on retracted papers alone"]);
  });

  test("counts no paper that is not included, and the check names the sentence", () => {
    const override = { decision: "exclude", why: "about <fish>", at: "2026-11-22T10:00:00Z" } as const;
    const out = { ...one, override, status: "rejected", score: null, score_breakdown: null } as const;
    expect(strengthOf(out)).toMatchObject({ level: 0, papers: 0, says: "rests on papers that are not included" });
    const findings = [{ text: "It works.", rests_on: ["one#1"] }];
    const model = modelOf(rrdWith([out]), { report: narrative({ findings, answer: [] }) });
    expect(doubtsOf(model).map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^it rests on Author.*, which is not included$/),
    ]);
    expect(model.row("one")?.why).toBe("Excluded by a person: about <fish>");
    const beside = rrdWith([out, read("two", [quote("It works again.")])]);
    expect(modelOf(beside).figures.find(({ name }) => name === "quotes")?.value).toBe("1/1");
    expect(modelOf(beside).sureness.because).toContain("1/1 quote found in the text");
    expect(countsOf(beside).quotes).toEqual({ found: 1, all: 1 });
    const nothing = narrative({ findings: [], answer: [{ text: "No paper is included.", rests_on: [] }] });
    expect(doubtsOf(modelOf(rrdWith([out]), { report: nothing }))).toEqual([]);
  });

  test("is small where the quote could not be checked", () => {
    expect(strengthOf(read("one", [quote("It works well.", "could-not-check")]))?.level).toBe(1);
  });
});

describe("the flow", () => {
  test("every box is the one above less what leaves beside it", () => {
    const rrd = rrdWith(
      [
        read("one", []),
        read("two", [], { status: "rejected", decision: "REJECT" }),
        read("three", [], { status: "rejected", read_depth: "abstract", abstract: "" }),
        paper("four"),
      ],
      {
        excluded: [
          { id: "x", reason: "the same", stage: "duplicate", duplicate_of: "one" },
          { id: "y", reason: "about fish", stage: "screened" },
        ],
      },
    );
    const { steps } = modelOf(rrd).flow;
    for (const [index, { box }] of steps.entries()) {
      const above = steps[index - 1];
      if (above !== undefined) expect(box.count).toBe(above.box.count - (above.sideBox?.count ?? 0));
    }
    expect(steps.at(-1)?.box.count).toBe(1);
    // A record that was left out has no source, and is still one of those in the first box.
    const sum = (lines: readonly { readonly count: number }[] = []) => lines.reduce((all, { count }) => all + count, 0);
    for (const { box, sideBox } of steps) {
      if (box.lines.length > 1) expect(sum(box.lines)).toBe(box.count);
      if (sideBox !== undefined && sideBox.lines.length > 1) expect(sum(sideBox.lines)).toBe(sideBox.count);
    }
    expect(steps[0]?.box.lines.at(-1)).toEqual({ label: "left out since, source not recorded", count: 2 });
  });
});

describe("a folder without report.json", () => {
  test("gives the words under the headings of its report", () => {
    const oldReport = [
      "# Report\n\n## Executive Summary\n\nIt works. It is cheap (about 3.5 units). It lasts. It sells.\n",
      "### Key Findings\n\n- It works well. (one, quote 1 ✓)\n- It is cheap. (two)\n- It lasts (we think).\n",
      "## Recommendations\n\n### High Priority\n\n1. Build one. (one)\n",
    ].join("\n");
    const rrd = rrdWith([read("one", [quote("It works well.")]), read("two", [])]);
    const model = modelOf(rrd, { oldReport });
    expect(model.answer.map(({ text }) => text)).toEqual(["It works.", "It is cheap (about 3.5 units).", "It lasts."]);
    expect(model.findings.map(({ text, quotes, papers }) => [text, quotes.length, papers.length])).toEqual([
      ["It works well.", 1, 0],
      ["It is cheap.", 0, 1],
      ["It lasts (we think).", 0, 0],
    ]);
    expect(model.recommendations.map(({ priority, text }) => [priority, text])).toEqual([["high", "Build one."]]);
  });
});

test("ideas that are recommended come first, then those with the most points", () => {
  const idea = (name: string, combined: number, recommended = false) => ({
    id: name,
    name,
    evidence: { paper_ids: ["one"], insight_ids: [] },
    recommended_for_prd: recommended,
    scores: { combined_0_50: combined },
  });
  const ideas = { ideas: [idea("low", 20), idea("high", 32), idea("chosen", 25, true)] } as unknown as ProductIdeas;
  expect(modelOf(rrdWith([read("one", [])]), { ideas }).ideas.map(({ name }) => name)).toEqual([
    ...["chosen", "high", "low"],
  ]);
});

test("says at once that no model judged, where none did", () => {
  const line = {
    iteration: 1,
    at: "2026-11-22T10:00:00Z",
    phase: "ANALYSIS",
    unit: "one",
    outcome: "accepted",
  } as const;
  const of = (...agents: string[]) =>
    modelOf(rrdWith([read("one", [quote("It works.")])]), {
      report: narrative(),
      ledger: agents.map((agent, index) => ({ ...line, iteration: index + 1, seconds: 3, agent })),
    });
  expect(of("baseline").agents).toEqual(["baseline (no model)"]);
  expect(surenessText(of("baseline").sureness)).toContain(
    "each paper was judged once by counting words, without a model",
  );
  expect(surenessText(of("baseline", "claude").sureness)).not.toContain("no model");
});

test.each([
  ["no wish of a review", {}, false],
  ["criteria", { criteria: [{ id: "c1", kind: "include" as const, text: "a trial" }] }, true],
  ["a recall", { screening: { target_recall: 0.95, confidence: 0.95 } }, true],
])("the checklist of a review stands where there is %s: %s, and names the files that are there", (_, wishes, is) => {
  const rrd = rrdWith([read("one", [quote("It works.")])]);
  const model = modelOf({ ...rrd, requirements: { ...rrd.requirements, ...wishes } }, { report: narrative() });
  expect(sectionsWithContent(model).has("checklist")).toBe(is);
  const files = (recorded: { queries: boolean; ledger: boolean }) =>
    checklistOf({ ...model, hasLog: recorded }, sectionsWithContent(model)).find(({ item }) => item === "27")?.says;
  expect(files({ queries: false, ledger: true })).toBe("rrd.json, ledger.jsonl next to this report");
  expect(files({ queries: true, ledger: true })).toContain("queries.jsonl");
});

test.each([
  ["files alone", ["Embase=embase.ris", "folder:papers"], { pool_sha256: "a" }, true],
  ["documents alone", ["folder:papers"], { listed_sha256: "a" }, true],
  ["files that were not listed yet", ["embase.ris"], {}, false],
  ["files and the web", ["embase.ris", "web"], { pool_sha256: "a" }, false],
  ["a list on the web", ["list:https://example.org/a.ris"], { pool_sha256: "a" }, false],
])("without a search log, a search of %s can be repeated (%j, %j): %s", (_, sources, metrics, is) => {
  const rrd = rrdWith([read("one", [quote("It works.")])]);
  const model = modelOf({
    ...rrd,
    requirements: { ...rrd.requirements, sources },
    statistics: { discovery_metrics: metrics },
  });
  const strategies = checklistOf(model, sectionsWithContent(model)).find(({ item }) => item === "7");
  expect(model.method.limits.join(" ").includes("can't be repeated from this folder")).toBe(!is);
  expect(strategies?.says).toBe(
    is ? "no service was searched: every record of the files was taken" : "not done: no search log is kept",
  );
});

test("a discussion that only disputes stands in the checklist where it is", () => {
  const sides = [{ text: "It works.", rests_on: ["one#1"] }];
  const model = modelOf(rrdWith([read("one", [quote("It works.")])]), {
    report: narrative({ disputed: [{ text: "Whether it works", sides }] }),
  });
  expect(checklistOf(model, sectionsWithContent(model)).find(({ item }) => item === "23a")).toMatchObject({
    section: "disputed",
  });
});

test("warns of scores that tell nothing apart", () => {
  const all = Array.from({ length: 6 }, (_, n) => read(`p${n}`, []));
  const { warnings } = modelOf(rrdWith(all));
  expect(warnings.map(({ kind }) => kind)).toEqual(["many-presented", "flat-dimension"]);
  expect(warnings[1]?.says).toMatch(/^10 dimensions have the same points for every judged paper/);
});

describe("the tables agree with the keys and with the flow", () => {
  const rrd: Rrd = {
    ...rrdWith([
      paper("a", { key: "haddad2016c", title: "On hands", authors: ["Haddad, Ann"], date: "2016" }),
      paper("b", { key: "haddad2016", title: "On feet", authors: ["Haddad, Ann"], date: "2016" }),
      paper("c", { key: "mine", title: "On eyes", authors: ["Haddad, Ann"], date: "2016" }),
      paper("d", { key: "lo2016", title: "On ears", source: "folder:papers", found: { sources: ["Embase"], why: "" } }),
    ]),
    excluded: [
      { id: "x", reason: "says “mice”", criterion: "c1", stage: "screened" },
      { id: "y", reason: "says “rats”", criterion: "c1", stage: "screened" },
      { id: "z", reason: "the same work as a", duplicate_of: "a", stage: "duplicate" },
    ],
    statistics: {
      discovery_metrics: {
        sources_tried: ["Embase=embase.ris"],
        sources_successful: ["Embase=embase.ris", "folder:papers"],
        flow: { identified: { Embase: 8, "folder:papers": 1 }, duplicates_removed: 2 },
      },
    },
  };
  rrd.requirements = {
    ...rrd.requirements,
    sources: ["Embase=embase.ris", "folder:papers"],
    criteria: [{ id: "c1", kind: "exclude", text: "animal studies" }],
  };

  test("a paper has the letter of its key, and one with another key the next free letter", () => {
    expect([...namesOf(rrd.papers_pool).values()].map(({ label }) => label).slice(0, 3)).toEqual([
      "Haddad 2016c",
      "Haddad 2016",
      "Haddad 2016b",
    ]);
  });

  test("each source stands once, with all papers of a folder", () => {
    const rows = searchYield(rrd, []).sources.map(({ name, papers }) => [name, papers]);
    expect(rows.filter(([name]) => name !== "arXiv")).toEqual([
      ["folder:papers", 1],
      ["Embase", 1],
    ]);
  });

  test("each criterion is one reason, and the duplicates are those of the flow", () => {
    const counts = modelOf(rrd).method.exclusions.map(({ count }) => count);
    expect(counts).toEqual([3, 2]);
  });
});
