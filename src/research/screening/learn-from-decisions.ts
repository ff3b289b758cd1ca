import { linearScores, product } from "./linear-model.js";
import { type TextVectors, vectorsOf } from "./text-vectors.js";

/** The relevance of records, learned from decisions. */
export interface LearnedOrder {
  /** A score for each record; higher for records that are similar to kept ones. Only comparable within one result. */
  readonly scores: readonly number[];
  /** The stems of a record that increase or decrease its score most, the strongest first. */
  readonly reasons: (index: number) => { readonly like: readonly string[]; readonly unlike: readonly string[] };
}

/** Minimum number of decisions for learning, with at least one kept and one dropped record. */
const minDecisions = 10;
/**
 * Minimum number of kept records, such as seeds, for learning without dropped ones. On labelled reviews, three ordered
 * worse than the words of the requirements, and five better.
 */
const minKeptAlone = 5;
/**
 * Added to the weight of each word in each class, so that a rare word does not decide alone. ASReview uses 3.8.
 */
const smoothing = 4;
const maxReasons = 3;

/** For each record whether it was kept; undefined if it was not judged yet. */
export type Decisions = readonly (boolean | undefined)[];

/**
 * Learns from decisions which records are relevant. `textsOf`: the stems of each record in parts, such as title and
 * abstract; called once, before the first learning. Two models use words and pairs of words, and a record gets the
 * better rank of both: a linear model, and multinomial Naive Bayes with equal weights of both classes (as in ASReview:
 * van de Schoot et al. 2021, doi 10.1038/s42256-020-00287-7). Most waiting records are not relevant, so each of them
 * counts as dropped too; `npm run bench -- screening` measured that this finds the last relevant ones sooner. Undefined
 * if no record was kept, or if there are fewer than five kept records and fewer than ten decisions of both kinds.
 * Deterministic.
 */
export function relevanceLearner(
  textsOf: () => readonly (readonly (readonly string[])[])[],
): (decisions: Decisions) => LearnedOrder | undefined {
  let vectors: TextVectors | undefined;
  return (decisions) => {
    const keptCount = decisions.filter((decision) => decision === true).length;
    const droppedCount = decisions.filter((decision) => decision === false).length;
    const hasBothKinds = keptCount > 0 && droppedCount > 0 && keptCount + droppedCount >= minDecisions;
    if (!hasBothKinds && keptCount < minKeptAlone) return undefined;
    const texts = (vectors ??= vectorsOf(textsOf()));
    const evidence = evidenceOf(texts, decisions, { kept: keptCount, dropped: droppedCount });
    const bayes = rankShares(Float64Array.from(texts.vectors, (vector) => product(vector, evidence)));
    const linear = rankShares(linearScores(texts, (index) => decisions[index] === true));
    return {
      scores: bayes.map((rank, index) => Math.max(rank, linear[index] ?? 0)),
      reasons: (index) => {
        const { ids = [], weights = [] } = texts.vectors[index] ?? {};
        const parts = Array.from(ids, (id, position) => ({ part: (weights[position] ?? 0) * (evidence[id] ?? 0), id }))
          .flatMap(({ part: contribution, id }) =>
            texts.words[id] === undefined ? [] : [{ part: contribution, word: texts.words[id] }],
          )
          .toSorted((a, b) => b.part - a.part || (a.word < b.word ? -1 : 1));
        const topWords = (sorted: typeof parts) => sorted.slice(0, maxReasons).map(({ word }) => word);
        return {
          like: topWords(parts.filter(({ part: contribution }) => contribution > 0)),
          unlike: topWords(parts.filter(({ part: contribution }) => contribution < 0).toReversed()),
        };
      },
    };
  };
}

/** The weight of each term by Naive Bayes: positive for relevant records, negative for others. */
function evidenceOf(
  { vectors, words: { length: size } }: TextVectors,
  decisions: Decisions,
  { kept, dropped: droppedCount }: { readonly kept: number; readonly dropped: number },
): Float64Array {
  const [keptCounts, otherCounts] = [new Float64Array(size), new Float64Array(size)];
  const keptWeight = (vectors.length + droppedCount) / kept;
  for (const [index, { ids, weights }] of vectors.entries()) {
    const decision = decisions[index];
    for (let position = 0; position < ids.length; position++) {
      const id = ids[position] ?? 0;
      const weight = weights[position] ?? 0;
      if (decision === true) keptCounts[id] = (keptCounts[id] ?? 0) + weight * keptWeight;
      otherCounts[id] = (otherCounts[id] ?? 0) + (decision === false ? 2 : 1) * weight;
    }
  }
  const sum = (values: Float64Array) => values.reduce((total, value) => total + value, smoothing * size);
  const offset = Math.log(sum(otherCounts)) - Math.log(sum(keptCounts));
  return keptCounts.map(
    (keptCount, id) => Math.log(keptCount + smoothing) - Math.log((otherCounts[id] ?? 0) + smoothing) + offset,
  );
}

/** The rank of each value as a share of their number: 1 for the largest. */
export function rankShares(values: ArrayLike<number>): number[] {
  const order = Array.from(values, (_, index) => index).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const shares = order.map(() => 0);
  for (const [rank, index] of order.entries()) shares[index] = (rank + 1) / order.length;
  return shares;
}
