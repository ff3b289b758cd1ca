// What every agent here shares: reading the brief as a well-behaved one would, and a result that would be accepted.
import { readFileSync, writeFileSync } from "node:fs";

export const brief = readFileSync(0, "utf8");
export const mode = process.argv[2] ?? "";
export const unit = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(brief)?.[1] ?? "{}");

const execution = { novelty: 3, feasibility: 4, time_to_poc: 4, value_market: 3, defensibility: 2, adoption: 3 };
const blueOcean = { market_creation: 3, first_mover_window: 2, network_effects: 2, strategic_clarity: 4 };

/** Sentences of the papers that the tests write. */
export const facts = [
  "The method reached 87.5 percent accuracy on 1200 samples.",
  "It needs 14 minutes on one machine.",
  "We did not test it on any other machine.",
  "The cameras cost 40 euros each.",
];

export const evidence = (...quotes) => quotes.map((quote) => ({ claim: "It says so.", quote }));

/** A reading of the unit's paper that would be accepted, with the fields of `over` in place of its own. */
export const reading = (over = {}) => ({
  unit: unit.unit,
  summary: "It works.",
  methodology: "It measures.",
  results: "87.5 percent on 1200 samples.",
  limitations: "One machine.",
  implementations_found: [],
  commercialized: null,
  scores: { execution, blue_ocean: blueOcean },
  evidence: evidence(...facts),
  insights: [{ insight: "Fourteen minutes are enough.", tags: ["time"] }],
  notes: "Solid.",
  ...over,
});

/** A good result for whatever the unit is. */
export function goodResult() {
  if (unit.kind === "paper") return reading();
  const rests_on = unit.papers
    .flatMap(({ quotes }) => quotes)
    .slice(0, 1)
    .map(({ handle }) => handle);
  return {
    unit: "report",
    question: "How long does it take?",
    answer: [{ text: "Small matters were studied.", rests_on }],
    findings: rests_on.length === 0 ? [] : [{ text: "Fourteen minutes are enough.", rests_on }],
    ...{ agreed: [], disputed: [], gaps: [], themes: [] },
    recommendations: [{ priority: "high", text: "Build it.", rests_on }],
  };
}

export const leave = (result) =>
  writeFileSync("result.json", typeof result === "string" ? result : JSON.stringify(result));
