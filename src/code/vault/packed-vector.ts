/**
 * A vector in one byte a number, the largest of them 127: a cosine does not depend on its length. Where many numbers
 * are 0, as those of the built-in embedder, a bit for each says which are not, and the bytes of these follow.
 */
export function packed(vector: Float32Array): Uint8Array {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const bytes = Int8Array.from(vector, (value) => (largest === 0 ? 0 : Math.round((value / largest) * 127)));
  const some = bytes.filter((value) => value !== 0);
  const marks = new Uint8Array(Math.ceil(bytes.length / 8));
  if (marks.length + some.length >= bytes.length) return new Uint8Array(bytes.buffer);
  for (const [at, value] of bytes.entries()) if (value !== 0) marks[at >> 3] = (marks[at >> 3] ?? 0) | (1 << (at & 7));
  const whole = new Uint8Array(marks.length + some.length);
  whole.set(marks);
  whole.set(new Uint8Array(some.buffer), marks.length);
  return whole;
}

/** Cosine of a vector of length 1 and a packed one of the same dimension. */
export function cosine(a: Float32Array, blob: ArrayBuffer): number {
  const numbers = new Int8Array(blob);
  const marks = numbers.length === a.length ? undefined : new Uint8Array(blob);
  let next = marks === undefined ? 0 : Math.ceil(a.length / 8);
  let [sum, square] = [0, 0];
  for (let at = 0; at < a.length; at += 1) {
    if (marks !== undefined && ((marks[at >> 3] as number) & (1 << (at & 7))) === 0) continue;
    const value = numbers[next] as number;
    next += 1;
    sum += (a[at] as number) * value;
    square += value * value;
  }
  return square === 0 ? 0 : sum / Math.sqrt(square);
}
