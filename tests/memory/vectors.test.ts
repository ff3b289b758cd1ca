import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Database } from "../../src/memory/database.js";
import { bytesOf, cosine, Vectors } from "../../src/memory/vectors.js";

const unit = (length: number) => new Float32Array(length).fill(1 / Math.sqrt(length));

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
  expect(cosine(Float32Array.of(1, 0), new Float32Array(2))).toBe(0);
});
