import type { Evidence, Outcome, Paper } from "../../generated/rrd.js";
import { foldedStem, stemsOf } from "../../screening/bm25.js";
import { handleOf, whyNoGround } from "../narrative/handles.js";

/** One of two quotes on one outcome. */
export interface PairSide {
  readonly handle: string;
  readonly paper: Paper;
  readonly evidence: Evidence;
  /** As its reader stated it. */
  readonly about: Outcome;
}

/** Two quotes of different papers on one outcome of one comparison. */
export interface Pair {
  /** As the first paper names it. */
  readonly outcome: string;
  /** `apart`: one of them found no significant difference, which does not contradict the other. */
  readonly stand: "agreed" | "opposite" | "apart";
  readonly sides: readonly [PairSide, PairSide];
}

/** Pairs that a brief and a report show. */
export const maxPairs = 12;
/** Quotes on one outcome that are held against each other. */
const maxOnOutcome = 60;

interface Stated extends PairSide {
  /** What is compared, the outcome's direction being that of the first. */
  readonly arms: readonly [ReadonlySet<string>, ReadonlySet<string>];
}

/**
 * Verified quotes on one outcome side by side, what is opposite first, at most twelve. Outcome, comparison and
 * direction are what the readers of the papers stated: words alone reverse one direction in six, and of the pairs that
 * they call opposite three in four are not. Two quotes belong together where the outcome has the same words and the
 * comparison shares words on both of its sides, clearly more so in one of its two orders. Pure, linear in the papers.
 */
export function sideBySide(papers: readonly Paper[]): Pair[] {
  const byOutcome = new Map<string, Stated[]>();
  for (const paper of papers) {
    if (whyNoGround(paper) !== undefined) continue;
    for (const [index, evidence] of (paper.analysis?.evidence ?? []).entries()) {
      const stated = statedBy(paper, evidence, index + 1);
      if (stated === undefined) continue;
      const key = [...stemSet(stated.about.outcome)].toSorted().join(" ");
      const known = byOutcome.get(key);
      if (known === undefined) byOutcome.set(key, [stated]);
      else if (known.length < maxOnOutcome) known.push(stated);
    }
  }
  byOutcome.delete("");
  const pairs = [...byOutcome.values()].map(pairsAmong);
  // A pair of every outcome comes before a second one of any.
  const rounds = Math.max(0, ...pairs.map(({ length }) => length));
  const inTurn = Array.from({ length: Math.min(rounds, maxPairs) }, (_, round) =>
    pairs.flatMap((of) => of[round] ?? []),
  ).flat();
  return inTurn.sort((a, b) => order[a.stand] - order[b.stand]).slice(0, maxPairs);
}

const order = { opposite: 0, apart: 1, agreed: 2 };

function statedBy(paper: Paper, evidence: Evidence, number: number): Stated | undefined {
  const { about, status } = evidence;
  if (about == null || status !== "verified") return undefined;
  const [first = "", second = ""] = about.compared.split(between, 2);
  const arms = [stemSet(first), stemSet(second)] as const;
  if (arms[0].size === 0) return undefined;
  return { handle: handleOf(paper.id, number), paper, evidence, about, arms };
}

const between = /\s(?:against|vs\.?|versus|compared (?:with|to)|relative to|than|over)\s/iu;
const stemSet = (text: string): ReadonlySet<string> => new Set(stemsOf(text).map(foldedStem));

/** The pairs of one outcome, opposite ones first; of two papers one pair. */
function pairsAmong(all: readonly Stated[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const [index, one] of all.entries())
    for (const other of all.slice(index + 1)) {
      if (other.paper.id === one.paper.id) continue;
      const turned = orderOf(one.arms, other.arms);
      if (turned === undefined) continue;
      const key = JSON.stringify([one.paper.id, other.paper.id]);
      const pair: Pair = { outcome: one.about.outcome, stand: standOf(one, other, turned), sides: [one, other] };
      const known = pairs.get(key);
      if (known === undefined || order[pair.stand] < order[known.stand]) pairs.set(key, pair);
    }
  return [...pairs.values()].sort((a, b) => order[a.stand] - order[b.stand]);
}

/**
 * Whether two comparisons are one, in the same order or turned round; undefined where they are of different things, or
 * where nobody can tell the order: the arms of one share words, so that both orders have to be looked at.
 */
function orderOf(one: Stated["arms"], other: Stated["arms"]): "same" | "turned" | undefined {
  const [a, b] = one;
  const [c, d] = other;
  const same = overlap(a, c) + overlap(b, d);
  const turned = overlap(a, d) + overlap(b, c);
  if (Math.abs(same - turned) < clearly) return undefined;
  const isOneArmed = b.size === 0 || d.size === 0;
  if (same > turned) return alike(a, c) && (isOneArmed || alike(b, d)) ? "same" : undefined;
  return !isOneArmed && alike(a, d) && alike(b, c) ? "turned" : undefined;
}

/** By how much one order has to be the better one; of two arms each, both orders reach 2 at most. */
const clearly = 0.25;

/** What two arms share of their words, 0 to 1 (Dice's coefficient). */
function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 || other.size === 0) return 0;
  return (2 * sharedBy(one, other)) / (one.size + other.size);
}

const sharedBy = (one: ReadonlySet<string>, other: ReadonlySet<string>): number =>
  [...one].filter((stem) => other.has(stem)).length;

/** Half of the shorter one's words, and no word of one that is the opposite of one of the other's. */
function alike(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const shared = sharedBy(one, other);
  return shared > 0 && shared * 2 >= Math.min(one.size, other.size) && !isOpposed(one, other);
}

const isOpposed = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  opposites.some(
    ([first, second]) =>
      (one.has(first) && !one.has(second) && other.has(second) && !other.has(first)) ||
      (one.has(second) && !one.has(first) && other.has(first) && !other.has(second)),
  );

/** Words of which two arms of one thing each have one: high and low doses, early and late surgery. */
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

function standOf(one: Stated, other: Stated, turned: "same" | "turned"): Pair["stand"] {
  const first = one.about.direction;
  const second = turned === "same" ? other.about.direction : opposite[other.about.direction];
  if (first === second) return "agreed";
  return first === "none" || second === "none" ? "apart" : "opposite";
}

const opposite = { up: "down", down: "up", none: "none" } as const;
