import { expect } from "vitest";
import fc, { anyText } from "../support/runner/fast-check.js";

/**
 * How many cases a property is tried with: 150 in `npm test`, 1,500 in `npm run test:system`, 100,000 with `npm run
 * test:fuzz`.
 */
export const cases = (share = 1): number =>
  Math.max(30, Math.round(Number(process.env["RR_FUZZ_CASES"] ?? 1500) * share));

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Values that files hold by a slip of the hand, a model's fancy or another program's habit. */
const junk: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    "",
    " ",
    0,
    -0,
    -1,
    5,
    6,
    7.5,
    1e308,
    -1e308,
    1e-7,
    2 ** 53,
    [],
    {},
    [[]],
    [null],
    { a: null },
    "5",
    "NaN",
    "null",
  ),
  fc.constantFrom<Json>(
    "pending",
    "analyzing",
    "presented",
    "DISCOVERY",
    "COMPLETE",
    "2026-02-30",
    "9999-99-99T99:99:99Z",
    "insight_999",
    "p1",
    "p2",
    "../../x",
  ),
  fc.constantFrom<Json>(
    "__proto__",
    "constructor",
    "toString",
    "\u0000",
    "\ud800",
    "\u202e",
    "a\nb\n---\n\n## x",
    "<unit>",
    "| a | b |",
    "x".repeat(5000),
  ),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  anyText({ maxLength: 12 }),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
);
const name = fc.oneof(
  fc.constantFrom(
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "id",
    "status",
    "score",
    "unit",
    "extra",
    "",
    "a/b",
    "a~b",
    "analysis",
    "iteration",
    "execution",
  ),
  fc.string({ maxLength: 6 }),
);

interface Mutation {
  readonly place: number;
  readonly how: "replace" | "remove" | "add" | "rename" | "repeat" | "move" | "wrap";
  readonly value: Json;
  readonly name: string;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(),
  how: fc.constantFrom("replace", "remove", "add", "rename", "repeat", "move", "wrap"),
  value: junk,
  name,
});

/** One to four slips, to be made in any document with `mutate`. */
export const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 });

interface Place {
  readonly parent: Json[] | { [name: string]: Json };
  readonly key: string;
}

function placesIn(value: Json, found: Place[] = []): Place[] {
  if (typeof value !== "object" || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push({ parent: value, key });
    placesIn((value as Record<string, Json>)[key] ?? null, found);
  }
  return found;
}

/** A copy of the document with the slips made in it. */
export function mutate(document: unknown, slips: readonly Mutation[]): Json {
  const holder: { document: Json } = { document: JSON.parse(JSON.stringify(document)) as Json };
  for (const slip of slips) {
    const places = placesIn(holder);
    const place = places[slip.place % places.length];
    const isWhole = place?.parent === holder;
    if (place !== undefined)
      make(isWhole ? { ...slip, how: slip.how === "wrap" ? "wrap" : "replace" } : slip, place, places);
  }
  return holder.document;
}

function make({ how, value, name, place }: Mutation, { parent, key }: Place, places: readonly Place[]): void {
  // As JSON.parse does it: a field named __proto__ is a field.
  const put = (target: object, field: string, what: Json) =>
    Object.defineProperty(target, field, {
      value: structuredClone(what),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  const old = (parent as Record<string, Json>)[key] ?? null;
  const remove = () => (Array.isArray(parent) ? parent.splice(Number(key), 1) : delete parent[key]);
  switch (how) {
    case "replace":
      put(parent, key, value);
      break;
    case "remove":
      remove();
      break;
    case "add":
      if (Array.isArray(old)) old.push(structuredClone(value));
      else if (typeof old === "object" && old !== null) put(old, name, value);
      else if (!Array.isArray(parent)) put(parent, name, value);
      break;
    case "rename":
      if (Array.isArray(parent)) break;
      delete parent[key];
      put(parent, name, old);
      break;
    case "repeat":
      if (Array.isArray(parent)) parent.push(structuredClone(old));
      break;
    case "move": {
      const other = places[(place >>> 3) % places.length];
      if (other !== undefined && !Array.isArray(other.parent)) put(other.parent, other.key, old);
      break;
    }
    case "wrap":
      put(parent, key, [old]);
  }
}

/** What a torn write, another encoding or a slip of the hand makes of a text. */
export const torn = fc.record({
  at: fc.nat(),
  length: fc.nat({ max: 30 }),
  put: fc.oneof(fc.constant(""), anyText({ maxLength: 6 })),
});

export function tear(text: string, { at, length, put }: { at: number; length: number; put: string }): string {
  const from = at % (text.length + 1);
  return text.slice(0, from) + put + text.slice(from + length);
}

/** Whether a JSON pointer names a place of the document, or one that is missing in an object or list that is there. */
export function pointsInto(document: unknown, pointer: string): boolean {
  if (pointer === "") return true;
  if (!pointer.startsWith("/")) return false;
  const names = pointer
    .slice(1)
    .split("/")
    .map((each) => each.replaceAll("~1", "/").replaceAll("~0", "~"));
  let value = document;
  for (const each of names) {
    if (typeof value !== "object" || value === null) return false;
    value = Object.hasOwn(value, each) ? (value as Record<string, unknown>)[each] : undefined;
  }
  return true;
}

/**
 * As expect(found).toEqual(wanted), which walks both trees for a millisecond, and is asked only where their texts
 * differ.
 */
export function expectSame(found: unknown, wanted: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) expect(found).toEqual(wanted);
}
