import { idea, narrative, reading } from "../../support/projects/research.js";

const points = (first: number) => ({
  novelty: first,
  feasibility: 4,
  time_to_poc: first,
  value_market: 3,
  defensibility: first,
  adoption: 3,
});
const strategic = (first: number) => ({
  market_creation: first,
  first_mover_window: first,
  network_effects: 2,
  strategic_clarity: first,
});

export const papers = 12;
const perBatch = 4;

export const numbers = Array.from({ length: papers }, (_, index) => index + 1);
export const idOf = (number: number): string => `sample_${String(number).padStart(2, "0")}`;
const insightOf = (number: number): string => `insight_${String(number).padStart(3, "0")}`;
const held = (number: number): string => `In trial ${number} the gripper held ${(number * 7) % 20} of 20 objects.`;

/** A paper of four lines; its id is its own, so that researches in different folders compare. */
export const sample = (number: number): string =>
  `---\nid: ${idOf(number)}\ntitle: Sample ${number} on grippers of kind ${number * 31}\nauthors: [Ada Sample]\ndate: 2026-01-${String(number).padStart(2, "0")}\n---\n\n` +
  `# Sample ${number} on grippers of kind ${number * 31}\n\n## 1 Results\n\n${held(number)} It took ${number + 3} minutes on one machine.\n`;

/** The paper whose first reading quotes what is not there, so that a refusal and a repair are met by kills too. */
export const refusedOnce = idOf(5);

const read = (number: number) => ({
  ...reading(idOf(number), {
    evidence: [{ claim: "It was measured.", quote: held(number) }],
    // Every decision is met: the totals run from 12 to 44 of 50.
    scores: { execution: points(number % 6), blue_ocean: strategic(number % 6) },
    insights: [
      {
        insight: `Kind ${number} holds ${(number * 7) % 20} of 20.`,
        tags: ["grip"],
        cross_refs: number > 1 ? [idOf(number - 1)] : [],
      },
    ],
    patterns: number % 3 === 0 ? [`Papers of kind ${number} state counts of twenty.`] : [],
  }),
});

const batch = (number: number) => ({
  unit: `discovery-${number}`,
  papers: numbers
    .slice((number - 1) * perBatch, number * perBatch)
    .map((each) => ({
      id: idOf(each),
      title: `Sample ${each}`,
      url: `https://example.org/${each}`,
      priority: 1 + (each % 5),
      reason: "On grippers.",
    })),
  sources: [],
  visited_urls: [`https://example.org/batch/${number}`],
});

/** What the agent answers to each unit, by the unit's id; `<id>.first` is its answer before it has been refused. */
export const answers: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries([1, 2, 3].map((number) => [`discovery-${number}`, batch(number)])),
  ...Object.fromEntries(numbers.map((number) => [idOf(number), read(number)])),
  [`${refusedOnce}.first`]: {
    ...read(5),
    evidence: [{ claim: "It was not measured.", quote: "The gripper failed on every object that was tried." }],
  },
  report: narrative({}, `${idOf(1)}#1`),
  ideas: {
    unit: "ideas",
    ideas: [1, 2, 3].map((number) =>
      idea({
        name: `Idea ${number}`,
        evidence: { paper_ids: [idOf(number)], insight_ids: [insightOf(number)], notes: "It follows." },
        recommended_for_prd: number === 1,
      }),
    ),
  },
};
