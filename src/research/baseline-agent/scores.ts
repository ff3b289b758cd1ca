import type { AnalysisResult } from "../generated/result-analysis.js";
import type { BriefDimension } from "./brief.js";
import { stemsOf } from "./text.js";

/**
 * What the baseline agent counts: for each dimension expressions that speak for it, and behind -- some that speak
 * against it. Its points are the number of those for it that occur at least once, less the number of those against it,
 * kept between 0 and 5. That is a count of words, not a judgement, and it says so wherever it shows; it is repeatable
 * and differs from paper to paper, which is what a demo and a test need.
 */
const rubric = {
  execution: {
    novelty: String.raw`first (?:to|time|system|method) ; we (?:introduce|propose) ;
      unlike (?:prior|earlier|previous) ; to our knowledge ; outperforms? ; new (?:method|approach|class|kind) --
      incremental ; replicat\w* ; (?:survey|review) of ; well known ; small variation`,
    feasibility: String.raw`off[- ]the[- ]shelf ; (?:one|single) (?:\w+ )?(?:GPU|workstation|laptop) ;
      reproduc(?:e|ed|ible) ; ablations? ; (?:real|physical) (?:robot|hand|hardware)s? ; \d+ (?:\w+ )?trials --
      proprietary simulator ; cluster of ; only in simulation ; could not (?:be )?reproduced? ; not been built`,
    time_to_poc: String.raw`(?:hours?|minutes) ; zero-shot|without (?:retraining|fine-tuning) ;
      pre-?trained ; existing (?:robot|hand|controller|pipeline|cell)s? ; released?|download\w* ;
      low[- ]cost|cheap -- months ; years ; custom[- ](?:built|made) ; not (?:been )?released`,
    value_market: String.raw`costs? ; (?:warehouse|factory|logistics|manufacturing|assembly) ;
      customers?|operators? ; (?:throughput|cycle time|downtime) ; labou?r|saves?|savings ;
      deploy(?:ed|ment|s)? -- toy ; no practical ; purely theoretical`,
    defensibility: String.raw`data ?sets? ; patent\w* ; large[- ]scale ; calibrat\w* ; demonstrations ;
      collected (?:over|from|on|at) ; integrat\w* -- easily copied|simple to copy ; commodity ;
      standard components only`,
    adoption: String.raw`open[- ]source ; ROS ; (?:API|interface|library) ; document(?:ed|ation) ;
      maintain\w* ; safe(?:ty|ly)? ; robust\w* -- requires? (?:an )?experts? ; fragile|brittle ; unsafe`,
  },
  blue_ocean: {
    market_creation: String.raw`new (?:market|applications?|services?) ; enables?|made possible ;
      previously (?:impossible|uneconomic|manual) ; not (?:yet )?(?:served|automated) ;
      (?:homes?|hospitals?|farms?|small (?:firms|workshops)) ; without programming -- crowded ; mature market`,
    first_mover_window: String.raw`no (?:published|other|earlier|commercial) ; recent(?:ly)?|emerging ;
      open problem|unsolved ; not yet ; first ; (?:growing|rapid(?:ly)?) -- established ; several vendors`,
    network_effects: String.raw`shar(?:ed|ing|es?) ; community|contribut(?:e|ed|ors?|ions) ;
      fleets?|across (?:sites|robots|hands) ; more data|improves (?:with|as) ; pool(?:ed|ing)|federated ;
      benchmarks?|leaderboard ; platform|ecosystem -- in isolation`,
    strategic_clarity: String.raw`roadmap|next steps? ; use cases? ; targets?|requirements? ; trade-?offs? ;
      (?:integrators?|buyers?) ; we recommend ; payback|per (?:part|pick|unit) -- unclear`,
  },
} as const;

type Scores = NonNullable<AnalysisResult["scores"]>;
type Points<Rubric extends object> = Record<keyof Rubric, number>;

function countAll<Rubric extends object>(dimensions: Rubric, text: string): Points<Rubric> {
  const hits = (words: string) =>
    words.split(";").filter((word) => new RegExp(`\\b(?:${word.trim()})\\b`, "i").test(text)).length;
  const counted = Object.entries(dimensions).map(([dimension, words]: [string, string]) => {
    const [up = "", down = ""] = words.split("--");
    return [dimension, Math.max(0, Math.min(5, hits(up) - hits(down)))];
  });
  return Object.fromEntries(counted) as Points<Rubric>;
}

/** Points 0–5 a dimension of both rubrics. */
export const countBoth = (text: string) => ({
  execution: countAll(rubric.execution, text),
  blue_ocean: countAll(rubric.blue_ocean, text),
});

/** Points by a rubric of the person's own: how many of the words that describe a dimension occur, at most 5. */
export function countOwn(dimensions: readonly BriefDimension[], text: string): Pick<AnalysisResult, "points"> {
  if (dimensions.length === 0) return {};
  const inText = stemsOf(text);
  const hits = (words: string) => [...stemsOf(words)].filter((word) => inText.has(word)).length;
  return { points: Object.fromEntries(dimensions.map(({ id, words }) => [id, Math.min(5, hits(words))])) };
}

const sum = (points: object = {}): number =>
  Object.values(points).reduce((total: number, one: number) => total + one, 0);

/** All points of `scores`, and how many there can be. */
export const total = ({ execution, blue_ocean }: Scores): { points: number; of: number } => ({
  points: sum(execution) + sum(blue_ocean),
  of: blue_ocean === undefined ? 30 : 50,
});

/**
 * The market by the strategic points alone, as the rubric has it: blue from 12 of 20, purple from 8, else red.
 * Undefined without them.
 */
export function marketOf({ blue_ocean }: Scores): AnalysisResult["market"] {
  if (blue_ocean === undefined) return undefined;
  const points = sum(blue_ocean);
  return points >= 12 ? "blue" : points >= 8 ? "purple" : "red";
}
