import { expect, it } from "vitest";
import { bytesOf, cosine } from "../../src/memory/vectors.js";

it("a vector as bytes of four a number has the cosine of the vector", () => {
  const [a, b] = [Float32Array.of(0.6, 0.8, 0), Float32Array.of(0, 0.28, 0.96)];
  expect(cosine(a, Uint8Array.from(bytesOf(b)).buffer)).toBe(cosine(a, b));
  expect(cosine(a, b)).toBeCloseTo(0.224);
});

it("a vector of zeros is like none", () => {
  expect(cosine(Float32Array.of(1, 0), new Float32Array(2))).toBe(0);
});
