import type { TextVector, TextVectors } from "./text-vectors.js";

/** How much a record on the wrong side costs against a simple model, on average over the records. */
const penalty = 0.5;
/** Rounds through all records: on labelled reviews, ten order no better. */
const rounds = 4;

/**
 * Scores texts by a linear support vector machine with squared hinge loss: texts that are kept against all others, both
 * sides weighing the same (dual coordinate descent: Hsieh et al. 2008, doi 10.1145/1390156.1390208). The larger, the
 * more like those that were kept. Without chance.
 */
export function linearScores({ vectors, words }: TextVectors, isKept: (index: number) => boolean): Float64Array {
  const signs = Int8Array.from(vectors, (_, index) => (isKept(index) ? 1 : -1));
  const kept = signs.reduce((sum, sign) => sum + (sign > 0 ? 1 : 0), 0);
  const side = (penalty * vectors.length) / 2;
  const slack = { kept: kept / (2 * side), others: (vectors.length - kept) / (2 * side) };
  const weights = new Float64Array(words.length);
  const alphas = new Float64Array(vectors.length);
  let bias = 0;
  const order = scattered(vectors.length);
  for (let round = 0; round < rounds; round++)
    for (const index of order) {
      const vector = vectors[index];
      if (vector === undefined) continue;
      const [sign, before] = [signs[index] ?? 0, alphas[index] ?? 0];
      const diagonal = sign > 0 ? slack.kept : slack.others;
      const gradient = sign * (bias + product(vector, weights)) - 1 + diagonal * before;
      // Its own length is 1, and so is the constant that stands for the bias.
      const alpha = Math.max(0, before - gradient / (2 + diagonal));
      if (alpha === before) continue;
      alphas[index] = alpha;
      const step = (alpha - before) * sign;
      bias += step;
      for (let at = 0; at < vector.ids.length; at++) {
        const id = vector.ids[at] ?? 0;
        weights[id] = (weights[id] ?? 0) + step * (vector.weights[at] ?? 0);
      }
    }
  return Float64Array.from(vectors, (vector) => product(vector, weights));
}

/** The sum of a text's weights, each times what its term counts. */
export function product({ ids, weights }: TextVector, counts: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < ids.length; at++) sum += (weights[at] ?? 0) * (counts[ids[at] ?? 0] ?? 0);
  return sum;
}

/** 0 to `count` - 1 in an order in which neighbours of a list are far apart, always the same. */
function scattered(count: number): Int32Array {
  let step = Math.max(1, Math.round(count * 0.618));
  while (shared(step, count) > 1) step += 1;
  return Int32Array.from({ length: count }, (_, index) => (index * step) % count);
}

const shared = (one: number, other: number): number => (other === 0 ? one : shared(other, one % other));
