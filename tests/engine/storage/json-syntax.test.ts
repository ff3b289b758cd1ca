import { expect, test } from "vitest";
import {
  hasTooManyBrackets,
  locateSyntaxError,
  maxBrackets,
  tooDeepAt,
} from "../../../src/engine/storage/json-syntax.js";

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

test.each(["0", "-0", "7", "120", "-34", "0.5", "1.25", "2e3", "2E+30", "-1.75e-10", "true", "false", "null"])(
  "%s is a whole value: what is wrong comes after it",
  (value) => {
    expect(JSON.parse(value)).toBeDefined();
    expect(locateSyntaxError(`[${value} x]`)).toMatchObject({ line: 1, column: value.length + 3 });
  },
);

test.each([
  ["01", 2],
  ["1.", 2],
  ["2e", 2],
  [".5", 1],
  ["+1", 1],
])("%s is no number, and the place is where it stops being one", (value, column) => {
  expect(() => JSON.parse(value)).toThrow();
  expect(locateSyntaxError(value).column).toBe(column);
});
