/** The bytes of numbers, for a blob. */
export const bytesOf = (numbers: Float32Array | Float64Array | Uint32Array): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);

/** Cosine of a vector of length 1 and another of the same dimension, or a blob with four bytes for each number. */
export function cosine(a: Float32Array, other: Float32Array | ArrayBuffer): number {
  const numbers = other instanceof Float32Array ? other : new Float32Array(other);
  let [sum, squareSum] = [0, 0];
  for (let index = 0; index < a.length; index += 1) {
    const value = numbers[index] as number;
    sum += (a[index] as number) * value;
    squareSum += value * value;
  }
  return squareSum === 0 ? 0 : sum / Math.sqrt(squareSum);
}
