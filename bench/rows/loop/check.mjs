import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { load } from "../../../scripts/bundle.mjs";
import { inFolder, size, thousands } from "../../measure.mjs";
import { oneAfterAnother, parts, workflowOn } from "../../research-run.mjs";

const papers = 30;
const claimsOfPaper = 8;
/** Sentences of the report, and claims of readings that they cite; every third of both is planted. */
const sentences = 39;
const cited = 111;
/** Sentences of a paper that nobody cites, so that a text takes some 15k tokens. */
const others = size(620, 40);

export const row = {
  name: "check",
  what: `a report of ${papers} papers: ${sentences} sentences and the ${cited} claims that they cite, 50 of these planted errors (number, direction, group, scope, hedge, wrong paper), checked by a script that knows which: errors caught, right ones kept; tokens of check and mending beside those of the project (o200k_base, briefs and results)`,
  hold: "50 caught, 100 kept; ≤ 5 % for what is cited, ≤ 12 % for all claims",
  command: "npm run bench -- check",
  async run() {
    const loaded = await load({
      runLoop: "src/engine/loop/run-loop.ts",
      ...parts,
      text: "src/text/documents/text/document-text.ts",
      render: "src/research/report/documents/documents.ts",
    });
    return { ours: await inFolder((cwd) => measured(loaded, cwd)) };
  },
};

async function measured(loaded, cwd) {
  const folder = join(cwd, "researches/bench-2025-01-01");
  writeProject(folder);
  execFileSync("git", ["init", "-q"], { cwd });
  const truth = new Map();
  const tokens = { project: 0, check: 0 };
  const agent = scripted(truth, tokens);
  await runOn(loaded, cwd, folder, agent);
  const rrd = () => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8"));
  const report = readFileSync(join(folder, "report.json"), "utf8");
  const said = new Set(
    allSentences(JSON.parse(report))
      .filter(({ check }) => check?.verdict === "supported")
      .map(({ text }) => text),
  );
  const verdicts = new Map(
    rrd().papers_pool.flatMap(({ analysis }) => analysis.evidence.map(({ claim, check }) => [claim, check?.verdict])),
  );
  const items = [...truth].map(([text, { holds, kind }]) => ({
    ...{ holds, kind },
    passes: said.has(text) || verdicts.get(text) === "supported",
    isAsked: said.has(text) || verdicts.get(text) !== undefined || report.includes(JSON.stringify(text).slice(1, -1)),
  }));
  const asked = items.filter(({ isAsked }) => isAsked);
  const caught = asked.filter(({ holds, passes }) => !holds && !passes);
  const wrong = asked.filter(({ holds }) => !holds);
  const kept = asked.filter(({ holds, passes }) => holds && passes);
  const [project, ofCited] = [tokens.project, tokens.check];
  await checkAllClaims(loaded, cwd, folder, agent, rrd());
  const share = (part) => `${((100 * part) / project).toFixed(1)} %`;
  return `${caught.length} of ${wrong.length} caught, ${kept.length} of ${asked.length - wrong.length} kept; ${thousands(ofCited)} tokens beside ${thousands(project)} (${share(ofCited)}); all ${papers * claimsOfPaper} claims: ${thousands(tokens.check)} (${share(tokens.check)})`;
}

/** Opens a check of the claims that no sentence cites, and runs it. */
async function checkAllClaims(loaded, cwd, folder, agent, rrd) {
  const claims = rrd.papers_pool.flatMap(({ id, analysis }) =>
    analysis.evidence.flatMap(({ check }, index) => (check === undefined ? [`${id}#${index + 1}`] : [])),
  );
  const open = { report: papers + 1, step: "check", sentences: [], claims };
  writeFileSync(join(folder, "rrd.json"), JSON.stringify({ ...rrd, meaning: { ...rrd.meaning, open } }));
  await runOn(loaded, cwd, folder, agent);
}

const allSentences = ({ answer, findings, agreed, gaps, recommendations }) => [
  ...answer,
  ...findings,
  ...agreed,
  ...gaps,
  ...recommendations,
];

const idOf = (index) => `paper_${index + 1}`;

function writeProject(folder) {
  mkdirSync(folder, { recursive: true });
  const papers_pool = Array.from({ length: papers }, (_, index) => ({
    ...{ id: idOf(index), title: `Tool ${index + 1} for weak hands`, url: `https://example.org/${index + 1}` },
    ...{ status: "pending", priority: 3 },
  }));
  const rrd = {
    project: "Research: a folder of the benchmark",
    description: "Which tools help weak hands?",
    requirements: {
      focus_area: "hands",
      keywords: ["hands"],
      target_papers: papers,
      sources: ["bench"],
      min_score_to_present: 5,
    },
    handoff: { product_ideation: { enabled: false } },
    phase: "ANALYSIS",
    papers_pool,
    insights: [],
    visited_urls: [],
    blocked_sources: [],
  };
  writeFileSync(join(folder, "rrd.json"), JSON.stringify(rrd));
  writeFileSync(join(folder, "progress.txt"), "");
}

/** The sentence of this number of a paper. */
function factOf(paper, number) {
  const tool = `Tool ${paper + 1}`;
  const place = `in trial ${number + 1}`;
  return [
    `${tool} reached ${40 + paper} percent with the first group and ${20 + paper + number} percent with the second group ${place}.`,
    `${tool} increased grip strength by ${11 + paper + number} percent in adults above ${50 + number} years ${place}.`,
    `${tool} may help adults above ${60 + number} years after ${12 + paper} weeks at home ${place}.`,
  ][number % 3];
}

/** What each kind of error makes of the first sentence, the second, or the third. */
const errors = [
  { kind: "number", of: 1, from: /by \d+ percent/, to: "by 97 percent" },
  { kind: "direction", of: 1, from: "increased", to: "decreased" },
  { kind: "group", of: 0, from: /(\d+)( percent with the first group and )(\d+)/, to: "$3$2$1" },
  { kind: "scope", of: 1, from: / in adults above \d+ years/, to: " in people of every age" },
  { kind: "hedge", of: 2, from: "may help", to: "surely helps" },
  { kind: "wrong paper", of: 0, from: /^Tool \d+/, to: "Tool 77" },
];

/** What is said of a passage, right or with an error of the kind that is next. */
function saidOf(paper, number, isWrong, truth, lead) {
  const fact = factOf(paper, number);
  const fitting = errors.filter(({ of }) => of === number % 3);
  const error = fitting[(paper + number) % fitting.length];
  const words = isWrong ? fact.replace(error.from, error.to) : fact;
  const text = `${lead}: ${words}`;
  truth.set(text, { holds: !isWrong, kind: isWrong ? error.kind : "right" });
  return text;
}

const textOf = (paper) =>
  [
    ...Array.from({ length: claimsOfPaper }, (_, number) => factOf(paper, number)),
    ...Array.from(
      { length: others },
      (_, index) =>
        `On day ${index} of the study of tool ${paper + 1} some ${(index * 13) % 97} people came to the ward and were asked how they were.`,
    ),
  ].join(" ");

/** Reader, writer, checker and mender in one; what it is given and gives is counted. */
const scripted = (truth, tokens) => ({
  name: "bench",
  confinement: "workspace",
  async *run({ text, workspace }) {
    const unit = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(text)[1]);
    const answers = { paper: reading, report: written, check: checked, mend: mended };
    const result = answers[unit.kind](unit, truth);
    writeFileSync(join(workspace, "result.json"), JSON.stringify(result));
    const isCheck = unit.kind === "check" || unit.kind === "mend";
    tokens[isCheck ? "check" : "project"] += countTokens(text) + countTokens(JSON.stringify(result));
    yield { type: "usage", usage: { input: 1, cached: 0, output: 1, requests: 1 }, final: true };
    yield { type: "end", message: "Done." };
  },
});

/** The claims that a report cites are the first of each paper, by turns. */
const isCited = (paper, number) => number * papers + paper < cited;

function reading({ unit }, truth) {
  const paper = Number(unit.split("_")[1]) - 1;
  const points = { novelty: 3, feasibility: 4, time_to_poc: 3, value_market: 3, defensibility: 2, adoption: 3 };
  const strategic = { market_creation: 2, first_mover_window: 2, network_effects: 2, strategic_clarity: 3 };
  const prose = factOf(paper, 0);
  return {
    ...{ unit, summary: prose, methodology: prose, results: prose, limitations: prose },
    ...{ implementations_found: [], commercialized: null, scores: { execution: points, blue_ocean: strategic } },
    evidence: Array.from({ length: claimsOfPaper }, (_, number) => ({
      claim: saidOf(paper, number, isCited(paper, number) && (number * papers + paper) % 3 === 0, truth, "It says"),
      quote: factOf(paper, number),
    })),
    ...{ insights: [], notes: "Judged by the bench." },
  };
}

function written(_unit, truth) {
  const handles = Array.from({ length: cited }, (_, index) => [index % papers, Math.floor(index / papers)]);
  const all = Array.from({ length: sentences }, (_, index) => {
    const own = handles.filter((_handle, place) => place % sentences === index);
    const [paper, number] = own[0];
    // The first three are the answer.
    const isWrong = index >= 3 && index % 3 === 0;
    const text = saidOf(paper, number, isWrong || index === 4, truth, "The papers say");
    return { text, rests_on: own.map(([of, at]) => `${idOf(of)}#${at + 1}`) };
  });
  return {
    ...{
      unit: "report",
      question: "Which tools help weak hands?",
      answer: all.slice(0, 3),
      findings: all.slice(3, 11),
    },
    ...{ agreed: all.slice(11, 19), disputed: [], gaps: all.slice(19, 27), themes: [], comparison: null },
    recommendations: all.slice(27).map((each) => ({ ...each, priority: "low" })),
    patterns: [],
  };
}

/** It knows what was planted; controls it tells by their words. */
function checked({ unit, sentences: shown }, truth) {
  const isSaid = ({ sentence, passages }) =>
    passages.some(({ passage }) => passage.replace(/[“”]/g, "").includes(sentence));
  return {
    unit,
    answers: shown.map((each) => {
      const holds = truth.get(each.sentence)?.holds ?? isSaid(each);
      return {
        number: each.number,
        ...(holds ? { verdict: "supported" } : { verdict: "not-supported", why: "Its passage says otherwise." }),
      };
    }),
  };
}

/** Nothing is left to say of a planted error. */
const mended = ({ unit, sentences: shown }) => ({
  unit,
  sentences: shown.map(({ number }) => ({ number, text: null })),
});

async function runOn(loaded, cwd, folder, agent) {
  const research = await loaded.research.openResearch(folder, {
    derive: loaded.derive.derive,
    git: false,
    notify: () => {},
  });
  const workflow = workflowOn(loaded, cwd, folder, research, {
    textOf: (id) =>
      loaded.text.buildText([{ text: textOf(Number(id.split("_")[1]) - 1) }], { kind: "markdown", depth: "full" }),
    render: loaded.render.renderFor,
    check: true,
  });
  const verdict = await loaded.runLoop.runLoop(workflow, agent, oneAfterAnother(agent, loaded.clock.systemClock));
  if (verdict.verdict !== "complete") throw new Error(verdict.reason);
}
