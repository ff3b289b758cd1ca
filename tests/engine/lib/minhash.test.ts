import { expect, test } from "vitest";
import { likenessOf, sketchOf } from "../../../src/engine/lib/minhash.js";

const like = (a: string, b: string) => likenessOf(sketchOf(a) ?? "", sketchOf(b) ?? "");

test("the same words are wholly alike, in whatever order, form and case, with whatever numbers", () => {
  expect(like("The gripper held 80 objects", "12 objects holding GRIPPERS, and the held")).toBeGreaterThan(0.6);
  expect(like("Alpha beta gamma delta", "delta, gamma (beta) alpha 7")).toBe(1);
});

test("a text in other words is more like than another text", () => {
  const missing = "I could not find the paper's text in the workspace, so no result was written.";
  expect(like(missing, "The text of the paper was not found in the workspace; I wrote no result.")).toBeGreaterThan(
    0.45,
  );
  expect(like(missing, "The survey of federated learning has been screened and scored.")).toBeLessThan(0.2);
});

test("a sketch is as long for a book as for a sentence, and too few words have none", () => {
  expect(sketchOf("alpha beta gamma")).toHaveLength(64);
  expect(
    sketchOf(Array.from({ length: 5_000 }, (_, n) => `word${String.fromCodePoint(97 + (n % 26))}`).join(" ")),
  ).toHaveLength(64);
  expect(sketchOf("Done.")).toBeUndefined();
  expect(sketchOf("")).toBeUndefined();
});
