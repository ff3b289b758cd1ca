import fc from "../../support/runner/fast-check.js";
import { expect, it } from "vitest";
import { cosine, packed } from "../../../src/code/vault/packed-vector.js";

const number = fc.oneof(fc.constant(0), fc.float({ min: -1, max: 1, noNaN: true }));

it("a packed vector is never longer than a byte a number, and has the cosine of the vector it was made of", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(number, number), { minLength: 1, maxLength: 400 }), (pairs) => {
      const [first, second] = [0, 1].map((at) => Float32Array.from(pairs, (pair) => pair[at] ?? 0));
      if (first === undefined || second === undefined) return;
      const [a, b] = [Math.hypot(...first), Math.hypot(...second)];
      fc.pre(a > 1e-3 && b > 1e-3);
      const stored = packed(second);
      expect(stored.length).toBeLessThanOrEqual(pairs.length);
      const exact = first.reduce((sum, value, at) => sum + value * (second[at] ?? 0), 0) / (a * b);
      const found = cosine(
        first.map((value) => value / a),
        Uint8Array.from(stored).buffer,
      );
      expect(Math.abs(found - exact)).toBeLessThan(0.1);
    }),
  );
});

it("a vector of zeros is like none", () => {
  expect(cosine(Float32Array.of(1, 0), Uint8Array.from(packed(new Float32Array(2))).buffer)).toBe(0);
});
