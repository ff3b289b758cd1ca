import type { AnalysisResult } from "../generated/result-analysis.js";

/**
 * What the baseline agent counts. A dimension's points are the number of its `up` patterns that occur at least once, less
 * the number of `down` patterns, kept between 0 and 5. That is a count of words, not a judgement, and it says so wherever
 * it shows; it is repeatable and differs from paper to paper, which is what a demo and a test need.
 */
interface Counted {
  readonly up: readonly RegExp[];
  readonly down: readonly RegExp[];
}

const EXECUTION = {
  novelty: {
    up: [
      /\bfirst (?:to|time|system|method)\b/i,
      /\bwe (?:introduce|propose)\b/i,
      /\bunlike (?:prior|earlier|previous)\b/i,
      /\bto our knowledge\b/i,
      /\boutperforms?\b/i,
      /\bnew (?:method|approach|class|kind)\b/i,
    ],
    down: [/\bincremental\b/i, /\breplicat/i, /\b(?:survey|review) of\b/i, /\bwell known\b/i, /\bsmall variation\b/i],
  },
  feasibility: {
    up: [
      /\boff[- ]the[- ]shelf\b/i,
      /\b(?:one|single) (?:\w+ )?(?:GPU|workstation|laptop)\b/i,
      /\breproduc(?:e|ed|ible)\b/i,
      /\bablations?\b/i,
      /\b(?:real|physical) (?:robot|hand|hardware)s?\b/i,
      /\b\d+ (?:\w+ )?trials\b/i,
    ],
    down: [
      /\bproprietary simulator\b/i,
      /\bcluster of\b/i,
      /\bonly in simulation\b/i,
      /\bcould not (?:be )?reproduced?\b/i,
      /\bnot been built\b/i,
    ],
  },
  time_to_poc: {
    up: [
      /\b(?:hours?|minutes)\b/i,
      /\bzero-shot\b|\bwithout (?:retraining|fine-tuning)\b/i,
      /\bpre-?trained\b/i,
      /\bexisting (?:robot|hand|controller|pipeline|cell)s?\b/i,
      /\breleased?\b|\bdownload/i,
      /\blow[- ]cost\b|\bcheap\b/i,
    ],
    down: [/\bmonths\b/i, /\byears\b/i, /\bcustom[- ](?:built|made)\b/i, /\bnot (?:been )?released\b/i],
  },
  value_market: {
    up: [
      /\bcosts?\b/i,
      /\b(?:warehouse|factory|logistics|manufacturing|assembly)\b/i,
      /\bcustomers?\b|\boperators?\b/i,
      /\b(?:throughput|cycle time|downtime)\b/i,
      /\blabou?r\b|\bsaves?\b|\bsavings\b/i,
      /\bdeploy(?:ed|ment|s)?\b/i,
    ],
    down: [/\btoy\b/i, /\bno practical\b/i, /\bpurely theoretical\b/i],
  },
  defensibility: {
    up: [
      /\bdata ?sets?\b/i,
      /\bpatent/i,
      /\blarge[- ]scale\b/i,
      /\bcalibrat/i,
      /\bdemonstrations\b/i,
      /\bcollected (?:over|from|on|at)\b/i,
      /\bintegrat/i,
    ],
    down: [/\beasily copied\b|\bsimple to copy\b/i, /\bcommodity\b/i, /\bstandard components only\b/i],
  },
  adoption: {
    up: [
      /\bopen[- ]source\b/i,
      /\bROS\b/,
      /\b(?:API|interface|library)\b/i,
      /\bdocument(?:ed|ation)\b/i,
      /\bmaintain/i,
      /\bsafe(?:ty|ly)?\b/i,
      /\brobust/i,
    ],
    down: [/\brequires? (?:an )?experts?\b/i, /\bfragile\b|\bbrittle\b/i, /\bunsafe\b/i],
  },
} as const satisfies Record<string, Counted>;

const STRATEGIC = {
  market_creation: {
    up: [
      /\bnew (?:market|applications?|services?)\b/i,
      /\benables?\b|\bmade possible\b/i,
      /\bpreviously (?:impossible|uneconomic|manual)\b/i,
      /\bnot (?:yet )?(?:served|automated)\b/i,
      /\b(?:homes?|hospitals?|farms?|small (?:firms|workshops))\b/i,
      /\bwithout programming\b/i,
    ],
    down: [/\bcrowded\b/i, /\bmature market\b/i],
  },
  first_mover_window: {
    up: [
      /\bno (?:published|other|earlier|commercial)\b/i,
      /\brecent(?:ly)?\b|\bemerging\b/i,
      /\bopen problem\b|\bunsolved\b/i,
      /\bnot yet\b/i,
      /\bfirst\b/i,
      /\b(?:growing|rapid(?:ly)?)\b/i,
    ],
    down: [/\bestablished\b/i, /\bseveral vendors\b/i],
  },
  network_effects: {
    up: [
      /\bshar(?:ed|ing|es?)\b/i,
      /\bcommunity\b|\bcontribut(?:e|ed|ors?|ions)\b/i,
      /\bfleets?\b|\bacross (?:sites|robots|hands)\b/i,
      /\bmore data\b|\bimproves (?:with|as)\b/i,
      /\bpool(?:ed|ing)\b|\bfederated\b/i,
      /\bbenchmarks?\b|\bleaderboard\b/i,
      /\bplatform\b|\becosystem\b/i,
    ],
    down: [/\bin isolation\b/i],
  },
  strategic_clarity: {
    up: [
      /\broadmap\b|\bnext steps?\b/i,
      /\buse cases?\b/i,
      /\btargets?\b|\brequirements?\b/i,
      /\btrade-?offs?\b/i,
      /\b(?:integrators?|buyers?)\b/i,
      /\bwe recommend\b/i,
      /\bpayback\b|\bper (?:part|pick|unit)\b/i,
    ],
    down: [/\bunclear\b/i],
  },
} as const satisfies Record<string, Counted>;

export type Scores = AnalysisResult["scores"];

/** Points 0–5 a dimension by the counts above. `strategic` adds the four strategic dimensions. */
export function countScores(text: string, strategic: boolean): Scores {
  const { execution, blue_ocean } = countBoth(text);
  return strategic ? { execution, blue_ocean } : { execution };
}

export const countBoth = (text: string) => ({
  execution: countAll(EXECUTION, text),
  blue_ocean: countAll(STRATEGIC, text),
});

/** Nothing in a retracted paper can be built on. */
export function zeroScores(strategic: boolean): Scores {
  return countScores("", strategic);
}

/** All points of `scores`, and how many there can be. */
export function total(scores: Scores): { points: number; of: number } {
  const all = [...Object.values(scores.execution), ...Object.values(scores.blue_ocean ?? {})];
  return { points: all.reduce((sum, points) => sum + points, 0), of: all.length * 5 };
}

/** The market by the strategic points alone, as the rubric has it: blue from 12 of 20, purple from 8, else red. Undefined without them. */
export function marketOf({ blue_ocean }: Scores): AnalysisResult["market"] {
  if (blue_ocean === undefined) return undefined;
  const points = Object.values(blue_ocean).reduce((sum, one) => sum + one, 0);
  return points >= 12 ? "blue" : points >= 8 ? "purple" : "red";
}

function countAll<Dimension extends string>(
  rubric: Record<Dimension, Counted>,
  text: string,
): Record<Dimension, number> {
  const points = (counted: Counted) => {
    const hits = (patterns: readonly RegExp[]) => patterns.filter((pattern) => pattern.test(text)).length;
    return Math.max(0, Math.min(5, hits(counted.up) - hits(counted.down)));
  };
  return Object.fromEntries(
    Object.entries<Counted>(rubric).map(([dimension, counted]) => [dimension, points(counted)]),
  ) as Record<Dimension, number>;
}
