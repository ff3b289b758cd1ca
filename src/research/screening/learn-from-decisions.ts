import { linearScores, product } from "./linear-model.js";
import { type TextVectors, vectorsOf } from "./text-vectors.js";

/** What decisions teach about the records that wait. */
export interface Learned {
  /** For each record: the larger, the more it reads like those that were kept. Comparable within one answer only. */
  readonly scores: readonly number[];
  /** The stems of a record that speak most for it and most against it, the strongest first. */
  readonly reasons: (index: number) => { readonly like: readonly string[]; readonly unlike: readonly string[] };
}

/** Fewer decisions teach nothing, nor do only such as dropped a record. */
const minDecisions = 10;
/**
 * So many kept records teach alone, as the seeds of a project do: on labelled reviews three of them order worse than
 * the words of the requirements, five better.
 */
const minKept = 5;
/**
 * Added to the weight of each word in each class, so that a rare word does not decide alone: near the value that
 * ASReview uses, 3.8.
 */
const smoothing = 4;
const maxReasons = 3;

/** Of each record: whether it was kept or dropped; undefined while it waits. */
export type Decisions = readonly (boolean | undefined)[];

/**
 * Learns from decisions which records are relevant, given the words of each as stems, in parts such as title and
 * abstract (asked for once, when there is anything to learn). Two models read words and pairs of words, and a record
 * stands as high as the one that puts it higher: a linear one, and multinomial Naive Bayes with both classes given the
 * same weight however few were kept (as in ASReview: van de Schoot et al. 2021, doi 10.1038/s42256-020-00287-7). Most
 * records that wait are not relevant, so each of them counts as dropped too; `npm run bench -- screening` measured that
 * this finds the last ones sooner. Undefined where nothing was kept, or fewer than five records and not ten decisions
 * of both kinds. Without chance: the same input gives the same scores.
 */
export function relevanceLearner(
  textsOf: () => readonly (readonly (readonly string[])[])[],
): (decisions: Decisions) => Learned | undefined {
  let known: TextVectors | undefined;
  return (decisions) => {
    const kept = decisions.filter((decision) => decision === true).length;
    const dropped = decisions.filter((decision) => decision === false).length;
    const isBoth = kept > 0 && dropped > 0 && kept + dropped >= minDecisions;
    if (!isBoth && kept < minKept) return undefined;
    const texts = (known ??= vectorsOf(textsOf()));
    const evidence = evidenceOf(texts, decisions, { kept, dropped });
    const bayes = placesOf(Float64Array.from(texts.vectors, (vector) => product(vector, evidence)));
    const linear = placesOf(linearScores(texts, (index) => decisions[index] === true));
    return {
      scores: bayes.map((place, index) => Math.max(place, linear[index] ?? 0)),
      reasons: (index) => {
        const { ids = [], weights = [] } = texts.vectors[index] ?? {};
        const parts = Array.from(ids, (id, at) => ({ part: (weights[at] ?? 0) * (evidence[id] ?? 0), id }))
          .flatMap(({ part, id }) => (texts.words[id] === undefined ? [] : [{ part, word: texts.words[id] }]))
          .toSorted((a, b) => b.part - a.part || (a.word < b.word ? -1 : 1));
        const named = (some: typeof parts) => some.slice(0, maxReasons).map(({ word }) => word);
        return {
          like: named(parts.filter(({ part }) => part > 0)),
          unlike: named(parts.filter(({ part }) => part < 0).toReversed()),
        };
      },
    };
  };
}

/** How much each term speaks for a record by Naive Bayes: above 0 for, below it against. */
function evidenceOf(
  { vectors, words: { length: size } }: TextVectors,
  decisions: Decisions,
  { kept, dropped }: { readonly kept: number; readonly dropped: number },
): Float64Array {
  const [likes, others] = [new Float64Array(size), new Float64Array(size)];
  const keptWeight = (vectors.length + dropped) / kept;
  for (const [index, { ids, weights }] of vectors.entries()) {
    const decision = decisions[index];
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at] ?? 0;
      const weight = weights[at] ?? 0;
      if (decision === true) likes[id] = (likes[id] ?? 0) + weight * keptWeight;
      others[id] = (others[id] ?? 0) + (decision === false ? 2 : 1) * weight;
    }
  }
  const sum = (values: Float64Array) => values.reduce((total, value) => total + value, smoothing * size);
  const offset = Math.log(sum(others)) - Math.log(sum(likes));
  return likes.map((like, id) => Math.log(like + smoothing) - Math.log((others[id] ?? 0) + smoothing) + offset);
}

/** Where a value stands among all, as a share: 1 is the largest. */
export function placesOf(values: ArrayLike<number>): number[] {
  const order = Array.from(values, (_, index) => index).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const places = order.map(() => 0);
  for (const [place, index] of order.entries()) places[index] = (place + 1) / order.length;
  return places;
}
