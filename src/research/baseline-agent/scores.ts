import type { AnalysisResult } from "../generated/result-analysis.js";
import type { BriefDimension } from "./brief.js";
import { stemsOf } from "./text.js";

/**
 * The expressions that the baseline agent counts in each dimension: expressions in favour, and after -- expressions
 * against. The points are the number of expressions in favour that occur, minus the number of those against, limited to
 * 0 to 5. This is a count of words and not a judgement, and all output says so. It is repeatable and differs between
 * papers, as a demo and tests need.
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

function countPoints<Rubric extends object>(dimensions: Rubric, text: string): Points<Rubric> {
  const countHits = (words: string) =>
    words.split(";").filter((word) => new RegExp(`\\b(?:${word.trim()})\\b`, "i").test(text)).length;
  const points = Object.entries(dimensions).map(([dimension, words]: [string, string]) => {
    const [positive = "", negative = ""] = words.split("--");
    return [dimension, Math.max(0, Math.min(5, countHits(positive) - countHits(negative)))];
  });
  return Object.fromEntries(points) as Points<Rubric>;
}

/** Points from 0 to 5 in each dimension of both rubrics. */
export const countBothRubrics = (text: string) => ({
  execution: countPoints(rubric.execution, text),
  blue_ocean: countPoints(rubric.blue_ocean, text),
});

/** Points for the user's rubric: the number of words in a dimension's description that occur in the text, at most 5. */
export function countUserRubric(dimensions: readonly BriefDimension[], text: string): Pick<AnalysisResult, "points"> {
  if (dimensions.length === 0) return {};
  const textStems = stemsOf(text);
  const countHits = (words: string) => [...stemsOf(words)].filter((word) => textStems.has(word)).length;
  return { points: Object.fromEntries(dimensions.map(({ id, words }) => [id, Math.min(5, countHits(words))])) };
}

const sum = (points: object = {}): number =>
  Object.values(points).reduce((totalOf: number, value: number) => totalOf + value, 0);

/** The sum of `scores`, and the maximum. */
export const scoreTotal = ({ execution, blue_ocean }: Scores): { points: number; of: number } => ({
  points: sum(execution) + sum(blue_ocean),
  of: blue_ocean === undefined ? 30 : 50,
});

/**
 * The market from the strategic points, as in the rubric: blue from 12 of 20 points, purple from 8, else red. Undefined
 * without strategic points.
 */
export function marketOf({ blue_ocean }: Scores): AnalysisResult["market"] {
  if (blue_ocean === undefined) return undefined;
  const points = sum(blue_ocean);
  return points >= 12 ? "blue" : points >= 8 ? "purple" : "red";
}
