#!/usr/bin/env node
// A command agent that does every unit as it should. RECORD: a file the brief is written to. WAIT: milliseconds before the result.
// MISQUOTE: adds a quote that is in no paper. ANSWER: what it answers to a question, in JSON. It answers eligibility criteria: of a paper's text as suits its inclusion, but for those that
// ask an "open question"; of a record yes to an exclude criterion whose words are its title. In-process runs of the command call `work` in place of the program.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Does the unit of `brief` in the folder `workspace`, and yields the lines it prints.
 * @param {string} brief
 * @param {string} workspace
 * @param {NodeJS.ProcessEnv} env
 */
export async function* work(brief, workspace, { RECORD, WAIT = "0", MISQUOTE, ANSWER }) {
  if (RECORD !== undefined) writeFileSync(RECORD, brief);
  const unit = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(brief)[1]);
  yield `Begun: ${unit.unit}.`;
  await new Promise((resolve) => setTimeout(resolve, Number(WAIT)));
  const result =
    unit.kind === "question" && ANSWER !== undefined ? { unit: unit.unit, ...JSON.parse(ANSWER) } : undefined;
  writeFileSync(join(workspace, "result.json"), JSON.stringify(result ?? resultOf(unit, brief, MISQUOTE)));
  yield "Done.";
  if (brief.includes("<promise>COMPLETE</promise>")) yield* ["", "<promise>COMPLETE</promise>"];
}

function resultOf(unit, brief, MISQUOTE) {
  const execution = { novelty: 3, feasibility: 3, time_to_poc: 3, value_market: 3, defensibility: 3, adoption: 3 };
  const blue_ocean = { market_creation: 3, first_mover_window: 2, network_effects: 2, strategic_clarity: 4 };
  // The paper comes last; what earlier iterations learned is fenced too.
  const text = [...brief.matchAll(/<untrusted-text[^>]*>\n([\s\S]*?)\n<\/untrusted-text/g)].at(-1)?.[1] ?? "";
  const sentences = text.match(/[A-Z][^.\n]{50,}\./g) ?? [];
  const list = /^# Eligibility criteria\n([\s\S]*?)(?=^# )/m.exec(brief)?.[1] ?? "";
  const criteria = [...list.matchAll(/^- (\S+) \((include|exclude)\): (.+)$/gm)].map(([, id, kind, asks]) => ({
    id,
    kind,
    asks,
  }));
  /** The field that answers them, where there are any. */
  const answering = (answer) =>
    criteria.length === 0 ? {} : { criteria: Object.fromEntries(criteria.map((each) => [each.id, answer(each)])) };
  const fromText = ({ kind, asks }) =>
    asks.includes("open question")
      ? { answer: "unclear" }
      : { answer: kind === "include" ? "yes" : "no", quote: sentences[0] };
  const fromRecord = ({ kind, asks }, { title }) =>
    kind === "exclude" && asks === title ? { answer: "yes", quote: title } : { answer: "unclear" };

  /** The first quote of a report's unit, by its handle. */
  const shown = (unit.papers ?? [])
    .flatMap(({ quotes = [] }) => quotes.slice(0, 1).map(({ handle }) => handle))
    .slice(0, 1);

  const idea = (name, recommended_for_prd) => ({
    name,
    one_liner: "One.",
    problem: { who: "labs", pain: "slow", why_now: "cheap" },
    solution: { what: "a meter", key_features: [], mvp_scope: [], out_of_scope: [], integration_points: [] },
    market: { segment: "B2B", buyer: "labs", users: [], alternatives: [], differentiators: [] },
    evidence: { paper_ids: [unit.papers?.[0]?.id], insight_ids: [unit.insights?.[0]?.id], notes: "It follows." },
    risks: [],
    open_questions: [],
    scores: { execution, blue_ocean, confidence: 0.5 },
    recommended_next_steps: [],
    recommended_for_prd,
  });

  const answers = {
    requirements: () => ({
      unit: unit.unit,
      name: "grasping with hands",
      description: "How hands grasp.",
      focus_area: "robotics",
      keywords: ["grasping", "hands", "fingers", "robots", "touch"],
      open_questions: [
        {
          field: "requirements.focus_area",
          question: "Which hands are meant?",
          options: ["soft", "rigid"],
          current_default: "soft",
        },
      ],
    }),
    discovery: () => ({
      unit: unit.unit,
      papers: unit.candidates
        .slice(0, unit.need)
        .map(({ id, title, url }) => ({
          ...{ id, title, url, priority: 3, reason: "It fits." },
          ...answering((criterion) => fromRecord(criterion, { title })),
        })),
      dropped: [],
      sources: unit.sources.map((name) => ({ name, status: "empty" })),
    }),
    paper: () => ({
      unit: unit.unit,
      summary: "It works.",
      methodology: "It measures.",
      results: "Good ones.",
      limitations: "Few.",
      implementations_found: [],
      commercialized: null,
      scores: { execution, blue_ocean },
      evidence: [
        ...sentences.slice(0, 3).map((quote, index) => ({ claim: `Claim ${index + 1}.`, quote })),
        ...(MISQUOTE === undefined
          ? []
          : [{ claim: "A claim of its own.", quote: "These words stand in no paper that anybody has written." }]),
      ],
      insights: [{ insight: `An insight from ${unit.unit}.`, tags: ["test"] }],
      notes: "Solid.",
      ...answering(fromText),
      patterns: [`A pattern from ${unit.unit}.`],
    }),
    report: () => ({
      unit: unit.unit,
      question: "Do hands grasp?",
      answer: [{ text: "Hands were studied.", rests_on: shown }],
      findings: shown.length === 0 ? [] : [{ text: "Hands grasp.", rests_on: shown }],
      ...{ agreed: [], disputed: [], gaps: [], themes: [] },
      recommendations: [{ priority: "high", text: "Build one.", rests_on: shown }],
    }),
    check: () => ({
      unit: unit.unit,
      answers: unit.sentences.map(({ number }) => ({ number, verdict: "supported", why: null })),
    }),
    mend: () => ({ unit: unit.unit, sentences: unit.sentences.map(({ number }) => ({ number, text: null })) }),
    question: () => questionOf(unit, text, MISQUOTE),
    ideas: () => ({ unit: unit.unit, ideas: [idea("First", true), idea("Second", false), idea("Third", false)] }),
  };
  return answers[unit.kind]();
}

/**
 * Answers with the first long sentence of each of two passages, and with a statement that rests on nothing. MISQUOTE:
 * only with quotes that stand nowhere; `once` mends them when asked to.
 */
function questionOf(unit, text, MISQUOTE) {
  const isWrong = MISQUOTE !== undefined && !(MISQUOTE === "once" && unit.repair !== undefined);
  if (isWrong) {
    const quote = "These words stand in no paper that anybody has written.";
    const paper = unit.papers[0].id;
    const quotes = [1, 2].map((number) => ({ id: `q${number}`, paper, quote: `${quote} ${number}` }));
    return { unit: unit.unit, quotes, statements: [{ text: "It is so.", rests_on: [`${paper}#q1`, `${paper}#q2`] }] };
  }
  const passages = text.split(/^(?=@@ )/m).flatMap((part) => {
    const [, paper, said] = /^@@ (.+?) \| [^\n]*\n([\s\S]*)$/.exec(part) ?? [];
    const [quote] = (said ?? "").match(/[A-Z][^.\n]{50,}\./g) ?? [];
    return quote === undefined ? [] : [{ paper, quote }];
  });
  const quotes = passages.slice(0, 2).map((each, index) => ({ id: `q${index + 1}`, ...each }));
  const shown = unit.papers.flatMap(({ quotes: own = [] }) => own.map(({ handle }) => handle)).slice(0, 1);
  return {
    unit: unit.unit,
    quotes,
    statements: [
      ...quotes.map(({ id, paper, quote }) => ({ text: quote, rests_on: [`${paper}#${id}`] })),
      ...shown.map((handle) => ({ text: "A record says so, 4711 times.", rests_on: [handle] })),
      { text: "Nobody said this.", rests_on: [] },
      { text: "Nobody said this either.", rests_on: ["no_paper#q9"] },
    ],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for await (const line of work(readFileSync(0, "utf8"), process.cwd(), process.env)) console.log(line);
