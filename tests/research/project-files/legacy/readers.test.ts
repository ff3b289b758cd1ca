import { describe, expect, it } from "vitest";
import { isObject } from "../../../../src/engine/lib/json-fields.js";
import {
  absent,
  fieldsOf,
  inTurn,
  leaf,
  listOf,
  orAbsent,
  type Reader,
  renamed,
  valuesOf,
  wordReading,
} from "../../../../src/research/project-files/legacy/readers.js";

/** What a reader answers, and what it tells of it. */
function reading(reader: Reader, value: unknown, pointer = "/x") {
  const told: [string, unknown, unknown][] = [];
  return { read: reader(value, pointer, (...change) => told.push(change)), told };
}

/** A reader that makes a text of a number, and leaves "no" out. */
const item = leaf((value) => (value === "no" ? absent : typeof value === "number" ? String(value) : value));

const unchanged = (reader: Reader, values: unknown[]) =>
  it.each(values.map((value) => [value]))("%j comes back as the very same, and nothing is told", (value) => {
    const { read, told } = reading(reader, value);
    expect(read).toBe(value);
    expect(told).toEqual([]);
  });

describe("one value", () => {
  it("that is read as another is told with both", () => {
    expect(reading(item, 3)).toEqual({ read: "3", told: [["/x", 3, "3"]] });
    expect(reading(item, "no")).toEqual({ read: absent, told: [["/x", "no", absent]] });
  });
  unchanged(item, ["3", null, {}]);
});

describe("a field that may only be left out", () => {
  it("is left out where it is null", () => {
    expect(reading(orAbsent(item), null)).toEqual({ read: absent, told: [["/x", null, absent]] });
  });
  it("is read where it is anything else", () => {
    expect(reading(orAbsent(item), 3)).toEqual({ read: "3", told: [["/x", 3, "3"]] });
  });
  unchanged(orAbsent(item), ["3", false, ""]);
});

describe("one reader after the other", () => {
  const more = leaf((value) => (value === "3" ? ["three"] : value));
  it("reads what the one before answered, and each tells its part", () => {
    expect(reading(inTurn(item, more), 3)).toEqual({
      read: ["three"],
      told: [
        ["/x", 3, "3"],
        ["/x", "3", ["three"]],
      ],
    });
    expect(reading(inTurn(more, item), 3).read).toBe("3");
  });
  unchanged(inTurn(item, more), ["4", null]);
  unchanged(inTurn(), [3]);
});

describe("a list", () => {
  it("with one that changes is copied, and each item has its own place", () => {
    const same = { a: 1 };
    const given = [same, 3, "4", 5];
    const { read, told } = reading(listOf(item), given, "");
    expect(read).toEqual([same, "3", "4", "5"]);
    expect((read as unknown[])[0]).toBe(same);
    expect(given).toEqual([same, 3, "4", 5]);
    expect(told).toEqual([
      ["/1", 3, "3"],
      ["/3", 5, "5"],
    ]);
  });
  it("loses what is left out, and places are told as they were", () => {
    expect(reading(listOf(item), ["no", "a", "no", 3])).toEqual({
      read: ["a", "3"],
      told: [
        ["/x/0", "no", absent],
        ["/x/2", "no", absent],
        ["/x/3", 3, "3"],
      ],
    });
  });
  unchanged(listOf(item), [["3", null, { a: 1 }], [], "3", 3, null, { 0: 3, length: 1 }]);
});

describe("named fields", () => {
  const reader = fieldsOf({ a: item, b: item, missing: leaf(() => "made up"), toString: leaf(() => "made up") });
  it("that change are changed in a copy: other fields and the order of all stay", () => {
    const given = { z: 1, b: 2, mine: { c: 3 }, a: "A" };
    const { read, told } = reading(reader, given);
    expect(JSON.stringify(read)).toBe('{"z":1,"b":"2","mine":{"c":3},"a":"A"}');
    expect((read as typeof given).mine).toBe(given.mine);
    expect(given.b).toBe(2);
    expect(told).toEqual([["/x/b", 2, "2"]]);
  });
  it("are left out without a trace", () => {
    expect(Object.keys(reading(reader, { a: "no", z: 1, b: "no" }).read as object)).toEqual(["z"]);
  });
  it("are told in the order of the readers", () => {
    expect(reading(reader, { b: 2, a: 1 }).told.map(([pointer]) => pointer)).toEqual(["/x/a", "/x/b"]);
  });
  unchanged(reader, [{ z: 1, a: "A", b: null }, {}, [3], ["no"], "a", 3, null]);
});

describe("every value of an object", () => {
  it("is read, whatever its name", () => {
    const { read, told } = reading(valuesOf(item), { a: 1, b: "B", __proto__x: 2, c: "no" });
    expect(JSON.stringify(read)).toBe('{"a":"1","b":"B","__proto__x":"2"}');
    expect(told.map(([pointer]) => pointer)).toEqual(["/x/a", "/x/__proto__x", "/x/c"]);
  });
  unchanged(valuesOf(item), [{ a: "A" }, {}, [3], "no", 3, null]);
});

describe("another name", () => {
  const reader = renamed((name, value) => (value === "mine" ? name : name.toLowerCase()));
  it("is given in place, whatever the value is", () => {
    const { read, told } = reading(reader, { A: 1, b: 2, C: null });
    expect(JSON.stringify(read)).toBe('{"a":1,"b":2,"c":null}');
    expect(told).toEqual([
      ["/x/A", "A", "a"],
      ["/x/C", "C", "c"],
    ]);
  });
  it("is given to the first of two that would have it, and the other stays", () => {
    const { read, told } = reading(reader, { Ab: 1, AB: 2 });
    expect(JSON.stringify(read)).toBe('{"ab":1,"AB":2}');
    expect(told).toEqual([["/x/Ab", "Ab", "ab"]]);
  });
  it("is not given where it is taken", () => {
    expect(reading(reader, { A: 1, a: 2, B: 3 })).toEqual({ read: { A: 1, a: 2, b: 3 }, told: [["/x/B", "B", "b"]] });
  });
  unchanged(reader, [{ a: 1 }, { A: 1, a: 2 }, { A: "mine" }, {}, ["A"], "A", 3, null]);
});

it.each<[unknown, boolean]>([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  ["x", false],
  [undefined, false],
])("%j is an object with fields: %j", (value, is) => expect(isObject(value)).toBe(is));

describe("the warning of a value that was read as another one", () => {
  it.each<[unknown, unknown, string]>([
    ["20", 20, 'is "20", read as 20'],
    [undefined, "ANALYSIS", 'is missing, read as "ANALYSIS"'],
    [null, [], "is null, read as []"],
    [{ a: 1 }, [{ a: 1 }], 'is an object, read as [{"a":1}]'],
    [[1, 2], absent, "is a list of 2, read as if it were not there"],
    [undefined, absent, "is undefined, read as if it were not there"],
    [false, "x".repeat(78), `is false, read as "${"x".repeat(78)}"`],
    [false, "x".repeat(79), `is false, read as "${"x".repeat(78)}…`],
  ])("%j as %j", (before, after, message) => {
    expect(wordReading("/a/b", before, after)).toEqual({ pointer: "/a/b", message });
  });
});
