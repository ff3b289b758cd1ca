import type { Evidence, Outcome, Paper } from "../../generated/rrd.js";
import { unifiedStem, stemsOf } from "../../screening/bm25.js";
import { handleOf, reasonNotToCite } from "../narrative/handles.js";

/** One of two quotes on the same outcome. */
interface PairSide {
  readonly handle: string;
  /** The number of the quote in its paper, starting at 1. */
  readonly number: number;
  readonly paper: Paper;
  readonly evidence: Evidence;
  /** The outcome as the reader of the paper stated it. */
  readonly about: Outcome;
}

/** Two quotes of different papers on the same outcome of the same comparison. */
export interface Pair {
  /** The name of the outcome in the first paper. */
  readonly outcome: string;
  /** `apart`: one of them found no significant difference, which does not contradict the other. */
  readonly stand: "agreed" | "opposite" | "apart";
  readonly sides: readonly [PairSide, PairSide];
}

/** Maximum number of pairs in a brief and a report. */
export const maxPairs = 12;
/** Maximum number of quotes on the same outcome that are compared. */
const maxQuotesPerOutcome = 60;

interface StatedOutcome extends PairSide {
  /** The words of the two things that are compared. The direction of the outcome is that of the first. */
  readonly arms: readonly [ReadonlySet<string>, ReadonlySet<string>];
}

/**
 * Finds pairs of verified quotes on the same outcome, at most twelve. Opposite ones come first. Outcome, comparison and
 * direction are those that the papers' readers stated. A measurement has shown that directions from the words alone are
 * wrong in one of six quotes, and that three of four "opposite" pairs are not opposite. Two quotes form a pair if the
 * outcome has the same words and the comparisons share words on both sides, clearly more in one order than in the
 * other. Pure; linear in the number of papers.
 */
export function findPairs(papers: readonly Paper[]): Pair[] {
  const byOutcome = new Map<string, StatedOutcome[]>();
  for (const paper of papers) {
    if (reasonNotToCite(paper) !== undefined) continue;
    for (const [index, evidence] of (paper.analysis?.evidence ?? []).entries()) {
      const stated = statedOutcome(paper, evidence, index + 1);
      if (stated === undefined) continue;
      const key = [...stemSet(stated.about.outcome)].toSorted().join(" ");
      const known = byOutcome.get(key);
      if (known === undefined) byOutcome.set(key, [stated]);
      else if (known.length < maxQuotesPerOutcome) known.push(stated);
    }
  }
  byOutcome.delete("");
  const pairs = [...byOutcome.values()].map(pairsOfOutcome);
  // The first pairs of all outcomes come before the second pairs.
  const rounds = Math.max(0, ...pairs.map(({ length }) => length));
  const orderedPairs = Array.from({ length: Math.min(rounds, maxPairs) }, (_, round) =>
    pairs.flatMap((outcomePairs) => outcomePairs[round] ?? []),
  ).flat();
  return orderedPairs.sort((a, b) => order[a.stand] - order[b.stand]).slice(0, maxPairs);
}

const order = { opposite: 0, apart: 1, agreed: 2 };

function statedOutcome(paper: Paper, evidence: Evidence, number: number): StatedOutcome | undefined {
  const { about, status } = evidence;
  if (about == null || status !== "verified") return undefined;
  const arms = armsOf(about);
  if (arms[0].size === 0) return undefined;
  return { handle: handleOf(paper.id, number), number, paper, evidence, about, arms };
}

const comparisonWords = /\s(?:against|vs\.?|versus|compared (?:with|to)|relative to|than|over)\s/iu;
const stemSet = (text: string): ReadonlySet<string> => new Set(stemsOf(text).map(unifiedStem));

function armsOf({ compared }: Outcome): StatedOutcome["arms"] {
  const [first = "", second = ""] = compared.split(comparisonWords, 2);
  return [stemSet(first), stemSet(second)];
}

/** How two quotes on the same outcome relate to each other; undefined if they compare different things. */
export function standOf(first: PairSide, second: PairSide): Pair["stand"] | undefined {
  const comparedOrder = orderOf(armsOf(first.about), armsOf(second.about));
  return comparedOrder === undefined ? undefined : relationOf(first, second, comparedOrder);
}

/** The pairs of one outcome, opposite ones first; one pair for the same two papers. */
function pairsOfOutcome(all: readonly StatedOutcome[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const [index, first] of all.entries())
    for (const second of all.slice(index + 1)) {
      if (second.paper.id === first.paper.id) continue;
      const comparedOrder = orderOf(first.arms, second.arms);
      if (comparedOrder === undefined) continue;
      const key = JSON.stringify([first.paper.id, second.paper.id]);
      const pair: Pair = {
        outcome: first.about.outcome,
        stand: relationOf(first, second, comparedOrder),
        sides: [first, second],
      };
      const known = pairs.get(key);
      if (known === undefined || order[pair.stand] < order[known.stand]) pairs.set(key, pair);
    }
  return [...pairs.values()].sort((a, b) => order[a.stand] - order[b.stand]);
}

/**
 * Whether two comparisons are the same, in the same order ("same") or in the opposite order ("turned"). Undefined if
 * they compare different things, or if the order is unclear because the two sides share words.
 */
function orderOf(first: StatedOutcome["arms"], second: StatedOutcome["arms"]): "same" | "turned" | undefined {
  const [a, b] = first;
  const [c, d] = second;
  const sameOverlap = overlap(a, c) + overlap(b, d);
  const turnedOverlap = overlap(a, d) + overlap(b, c);
  if (Math.abs(sameOverlap - turnedOverlap) < minDifference) return undefined;
  const hasOneSide = b.size === 0 || d.size === 0;
  if (sameOverlap > turnedOverlap) return areSimilar(a, c) && (hasOneSide || areSimilar(b, d)) ? "same" : undefined;
  return !hasOneSide && areSimilar(a, d) && areSimilar(b, c) ? "turned" : undefined;
}

/** Minimum difference between the overlaps of the two orders. An overlap of two sides is at most 2. */
const minDifference = 0.25;

/** The share of common words, 0 to 1 (Dice's coefficient). */
function overlap(first: ReadonlySet<string>, second: ReadonlySet<string>): number {
  if (first.size === 0 || second.size === 0) return 0;
  return (2 * countShared(first, second)) / (first.size + second.size);
}

const countShared = (first: ReadonlySet<string>, second: ReadonlySet<string>): number =>
  [...first].filter((stem) => second.has(stem)).length;

/** Whether two texts share at least half of the words of the shorter one, and contain no opposite words. */
function areSimilar(first: ReadonlySet<string>, second: ReadonlySet<string>): boolean {
  const shared = countShared(first, second);
  return shared > 0 && shared * 2 >= Math.min(first.size, second.size) && !haveOpposites(first, second);
}

const haveOpposites = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  opposites.some(
    ([first, second]) =>
      (one.has(first) && !one.has(second) && other.has(second) && !other.has(first)) ||
      (one.has(second) && !one.has(first) && other.has(first) && !other.has(second)),
  );

/** Pairs of words that distinguish two sides of a comparison, such as high and low doses, or early and late surgery. */
const opposites = (
  "high low, higher lower, large small, larger smaller, big small, long short, longer shorter, early late, " +
  "earlier later, immediate delayed, old young, older younger, old new, fast slow, faster slower, strong weak, " +
  "deep shallow, hot cold, warm cold, wet dry, left right, upper lower, single double, single multiple, one two, " +
  "partial total, partial full, partial complete, internal external, local general, local global, active passive, " +
  "open closed, male female, men women, acute chronic, positive negative, supervised unsupervised, online offline, " +
  "intensive conservative, invasive noninvasive, continuous intermittent, preoperative postoperative, liberal restrictive, " +
  "more fewer, heavy light, thick thin, soft hard, soft rigid, rich poor, day night, simulated real, human machine"
)
  .split(", ")
  .flatMap((pair) => {
    const [first, second] = pair.split(" ").map((word) => [...stemSet(word)][0]);
    return first === undefined || second === undefined || first === second ? [] : [[first, second] as const];
  });

function relationOf(one: PairSide, other: PairSide, comparedOrder: "same" | "turned"): Pair["stand"] {
  const first = one.about.direction;
  const second = comparedOrder === "same" ? other.about.direction : opposite[other.about.direction];
  if (first === second) return "agreed";
  return first === "none" || second === "none" ? "apart" : "opposite";
}

const opposite = { up: "down", down: "up", none: "none" } as const;
