import { expect, test } from "vitest";
import { hasTooManyBrackets, maxBrackets, tooDeepAt } from "../../../src/engine/storage/json-syntax.js";

const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

test("a hundred levels are allowed, and of more the place is named, whatever their number", () => {
  for (const value of [null, "text", 1, [], nested(100), { a: nested(99), b: [nested(98)] }])
    expect(tooDeepAt(value)).toBeUndefined();
  expect(tooDeepAt(nested(101))).toBe("/0/0/0");
  expect(tooDeepAt({ first: [], "a/b~c": nested(100) })).toBe("/a~1b~0c/0/0");
  expect(tooDeepAt({ papers: [{}, { notes: nested(100_000) }] })).toBe("/papers/1/notes");
});

test("brackets are counted where they open a list or an object, and nowhere else", () => {
  const many = "[{}".repeat(maxBrackets / 2);
  expect([hasTooManyBrackets(many), hasTooManyBrackets(`${many} {`)]).toEqual([false, true]);
  expect(hasTooManyBrackets(`${many}"${"[".repeat(9)}\\"[\\\\"]`)).toBe(false);
  expect(hasTooManyBrackets(`${many}"a"[`)).toBe(true);
});
