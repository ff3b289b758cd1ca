import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "../support/runner/fast-check.js";
import { expect, it } from "vitest";
import { Database } from "../../src/memory/database.js";
import { bytesOf, cosine, packed, Vectors } from "../../src/memory/vectors.js";

const unit = (length: number) => new Float32Array(length).fill(1 / Math.sqrt(length));

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

it("a vector as bytes of four a number has the cosine of the vector", () => {
  const [a, b] = [Float32Array.of(0.6, 0.8, 0), Float32Array.of(0, 0.28, 0.96)];
  expect(cosine(a, Uint8Array.from(bytesOf(b)).buffer)).toBe(cosine(a, b));
  expect(cosine(a, b)).toBeCloseTo(0.224);
});

it("a row whose vector is of another model is given a new one once, whatever length the new one has", async () => {
  const database = await Database.at(join(mkdtempSync(join(tmpdir(), "vectors-")), "texts.db"));
  await database.write([
    "CREATE TABLE texts (id INTEGER PRIMARY KEY, said TEXT, model TEXT, vector BLOB)",
    ...["a", "bb", "ccc"].map((said) => ({ sql: "INSERT INTO texts (said, model) VALUES (?, 'old')", args: [said] })),
  ]);
  const odd = { model: "odd", embed: async (texts: readonly string[]) => texts.map((text) => unit(text.length)) };
  const vectors = new Vectors(database, odd, { table: "texts", text: "said", vector: "vector" });
  const lengths: number[] = [];
  const done = await vectors.embedAgain("model = ?", ["old"], async (rows) => {
    lengths.push(...rows.map(({ vector }) => vector.length));
  });
  database.close();
  expect([done, lengths]).toEqual([3, [1, 2, 3]]);
});

it("a vector of zeros is like none", () => {
  expect(cosine(Float32Array.of(1, 0), Uint8Array.from(packed(new Float32Array(2))).buffer)).toBe(0);
});
