import { isDeepStrictEqual } from "node:util";
import fc from "../../../support/runner/fast-check.js";
import { expect, test } from "vitest";
import { parseJson } from "../../../../src/engine/storage/state/parse-json.js";

/** What JSON.parse makes of a text, or that it refuses it. */
const whole = (text: string): unknown => {
  try {
    // A slip may cut a letter of two units in half, which no file can hold.
    return JSON.parse(Buffer.from(text).toString());
  } catch {
    return "refused";
  }
};

const inPieces = (text: string): unknown => {
  try {
    return parseJson(Buffer.from(text), true);
  } catch {
    return "refused";
  }
};

const isTheSame = (text: string): boolean => isDeepStrictEqual(inPieces(text), whole(text));

test("a large file says what JSON.parse says of it, and is refused where that refuses it", () => {
  const record = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ maxDepth: 2 }));
  const state = fc.record({ a: fc.array(record), 'b"\\]': fc.jsonValue(), c: fc.array(fc.jsonValue()) });
  const sign = fc.constantFrom(...'[]{},":\\ 1');
  fc.assert(
    fc.property(fc.oneof(state, fc.jsonValue()), fc.constantFrom(0, 2), fc.nat(), sign, (value, wide, at, slip) => {
      const text = JSON.stringify(value, null, wide);
      const place = at % (text.length + 1);
      const [before, after] = [text.slice(0, place), text.slice(place)];
      return [text, before + slip + after, before + after.slice(1)].every(isTheSame);
    }),
    { endOnFailure: true },
  );
});

test.each([0, 2])("records of several pieces come back in their order, and no comma too many; indent %i", (indent) => {
  const papers = Array.from({ length: 6000 }, (_, index) => ({
    id: index,
    title: `„Größe“ ${"ن".repeat(99)}, [${index}]\n    },\n    {\n  ]`,
  }));
  const text = JSON.stringify({ project: "x", papers, later: [[1], []], none: [] }, null, indent);
  expect(Buffer.from(text).length).toBeGreaterThan(1_000_000);
  expect(isDeepStrictEqual(parseJson(Buffer.from(`\uFEFF${text}`), true), JSON.parse(text))).toBe(true);
  const end = text.search(/\],\s*"later"/);
  for (const slip of [
    `${text.slice(0, end)},${text.slice(end)}`,
    text.replace(/"none": ?\[\]/, '"none":[}'),
    text.replace(/\},(\s*)\{("|\s*"id": ?)3000/, "}$1{$23000"),
    text.slice(0, -3),
  ])
    expect(inPieces(slip)).toBe("refused");
});

test("a file whose lines look as if records ended there is read whole, or refused as a whole", () => {
  const inner = Array.from({ length: 9000 }, (_, index) => `{ "id": ${index}, "title": "${"x".repeat(60)}" }`);
  // Lists within a record that are written like the records of a file.
  const nested = `{\n  "papers": [\n    {\n "all": [${inner.join("\n    ,\n    ").replace(/\}\n    ,\n    \{/g, "\n    },\n    {")}\n  ]\n    },\n    {\n "id": 2\n    }\n  ]\n}\n`;
  expect(nested.length).toBeGreaterThan(600_000);
  expect(isTheSame(nested)).toBe(true);
  expect(whole(nested)).not.toBe("refused");
  expect(isTheSame(nested.replace("[\n    {\n", "[\n    {\n    },\n    {"))).toBe(true);
  expect(isTheSame(nested.slice(0, -8))).toBe(true);
  expect(isTheSame('{\n  "papers": [\n    {\n    }\n  ],\n  "more": 1\n}')).toBe(true);
  expect(isTheSame('{\n  "papers": [\n    {\n    },\n  ]\n}')).toBe(true);
});

test("a name that every object has is a field like any other", () => {
  expect(isTheSame('{"__proto__": [1], "toString": [2]}')).toBe(true);
});
