import type { TextVector, TextVectors } from "./text-vectors.js";

/** The cost of a wrongly classified record (parameter C), on average over the records. */
const penalty = 0.5;
/** Number of passes over all records. On labelled reviews, ten were not better. */
const rounds = 4;

/**
 * Scores texts by a linear support vector machine with squared hinge loss: kept texts against all others, with equal
 * weights of both classes (dual coordinate descent: Hsieh et al. 2008, doi 10.1145/1390156.1390208). A higher score is
 * more similar to kept texts. Deterministic.
 */
export function linearScores({ vectors, words }: TextVectors, isKept: (index: number) => boolean): Float64Array {
  const signs = Int8Array.from(vectors, (_, index) => (isKept(index) ? 1 : -1));
  const keptCount = signs.reduce((sum, sign) => sum + (sign > 0 ? 1 : 0), 0);
  const classWeight = (penalty * vectors.length) / 2;
  const slack = { kept: keptCount / (2 * classWeight), others: (vectors.length - keptCount) / (2 * classWeight) };
  const weights = new Float64Array(words.length);
  const alphas = new Float64Array(vectors.length);
  let bias = 0;
  const order = spreadOrder(vectors.length);
  for (let round = 0; round < rounds; round++)
    for (const index of order) {
      const vector = vectors[index];
      if (vector === undefined) continue;
      const [sign, oldAlpha] = [signs[index] ?? 0, alphas[index] ?? 0];
      const diagonal = sign > 0 ? slack.kept : slack.others;
      const gradient = sign * (bias + product(vector, weights)) - 1 + diagonal * oldAlpha;
      // The squared length of a vector with the bias is 2: 1 for the vector and 1 for the bias.
      const alpha = Math.max(0, oldAlpha - gradient / (2 + diagonal));
      if (alpha === oldAlpha) continue;
      alphas[index] = alpha;
      const step = (alpha - oldAlpha) * sign;
      bias += step;
      for (let position = 0; position < vector.ids.length; position++) {
        const id = vector.ids[position] ?? 0;
        weights[id] = (weights[id] ?? 0) + step * (vector.weights[position] ?? 0);
      }
    }
  return Float64Array.from(vectors, (vector) => product(vector, weights));
}

/** The dot product of a text's vector and the weights of terms. */
export function product({ ids, weights }: TextVector, termWeights: Float64Array): number {
  let sum = 0;
  for (let position = 0; position < ids.length; position++)
    sum += (weights[position] ?? 0) * (termWeights[ids[position] ?? 0] ?? 0);
  return sum;
}

/** The numbers 0 to `count` - 1 in a fixed order in which consecutive numbers are far apart. */
function spreadOrder(count: number): Int32Array {
  let step = Math.max(1, Math.round(count * 0.618));
  while (greatestCommonDivisor(step, count) > 1) step += 1;
  return Int32Array.from({ length: count }, (_, index) => (index * step) % count);
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));
