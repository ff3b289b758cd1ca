import { afterEach, describe, expect, it, vi } from "vitest";
import {
  absentUnless,
  nameOf,
  partsOf,
  toBoolean,
  toDays,
  toFieldsOrNull,
  toFirst,
  toList,
  toNumber,
  toSeconds,
  toSentences,
  toText,
  toTexts,
  toTime,
  toWord,
} from "../../../../src/research/project-files/legacy/coerce.js";
import { absent } from "../../../../src/research/project-files/legacy/readers.js";

/** Each row: what it is about, the value given, and what it is read as. */
type Rows = [string, unknown, unknown][];

const isReadAs = (read: (value: unknown) => unknown, rows: Rows) =>
  it.each(rows)("%s: %j is %j", (_, given, expected) => expect(read(given)).toStrictEqual(expected));

const staysItself = (read: (value: unknown) => unknown, values: unknown[]) =>
  it.each(values.map((value) => [value]))("%j stays the very same", (value) => expect(read(value)).toBe(value));

describe("a text", () => {
  isReadAs(toText, [
    ["a number", 0, "0"],
    ["a list", ["a", 1, null, true], "a; 1; null; true"],
    ["a list in a list", ["a", ["b", "c"]], "a; b, c"],
    [
      "an object",
      { goal: "a", means: ["b", 2], more: { x: 1, y: false } },
      "goal: a; means: b, 2; more: x: 1; y: false",
    ],
    ["a list of objects", [{ x: 1, y: 2 }, { x: 3 }], "x: 1; y: 2; x: 3"],
  ]);
  staysItself(toText, ["a, b", "", null, true, false]);
});

describe("the first text", () => {
  isReadAs(toFirst, [
    ["of several", [null, 1, "a", "b"], "a"],
    ["of a list without one", [1], null],
    ["of an empty list", [], null],
    ["false says that there is none", false, null],
  ]);
  staysItself(toFirst, ["a", 1, null, true, {}]);
});

describe("a list of texts", () => {
  isReadAs(toTexts, [
    ["a line with commas", "a b, c ,d,e", ["a b", "c", "d", "e"]],
    ["semicolons and line ends part as commas do", "a; b\nc;d", ["a", "b", "c", "d"]],
    ["what is empty is no text", " ,a,, b ; ", ["a", "b"]],
    ["an empty line", " ", []],
    ["the fields of an object, but for those that are false", { a: true, b: false, c: null, d: "x" }, ["a", "c", "d"]],
    ["objects that have names", [{ name: "A", x: 1 }, { title: "B" }, "C"], ["A", "B", "C"]],
    ["objects without a name", [{ x: 1, y: "z" }, ["p", "q"], 7, null], ["x: 1; y: z", "p, q", "7"]],
  ]);
  staysItself(toTexts, [["a, b", "c"], [], 7, null, true, false]);
});

it("parts of a text are trimmed, and the empty ones left out", () => {
  expect(partsOf(" a |b|| c d ", /\|/)).toEqual(["a", "b", "c d"]);
});

describe("a list of sentences", () => {
  isReadAs(toSentences, [
    ["a sentence has commas of its own", "First, this; then that. ", ["First, this; then that. "]],
    ["an empty text is none", " \n ", []],
    ["objects that have names", [{ name: "A, B" }], ["A, B"]],
  ]);
  staysItself(toSentences, [["a"], 7, null]);
});

describe("a number", () => {
  isReadAs(toNumber(50, 30), [
    ["whole", "32", 32],
    ["with a fraction", "4.25", 4.25],
    ["negative", "-12.5", -12.5],
    ["zero", "0", 0],
    ["with spaces around", "  32  ", 32],
    ["out of a whole that is known", "32/50", 32],
    ["out of another whole that is known", "4.5 / 30", 4.5],
    ["in words", "32 of 50", 32],
    ["in words", "32  out of  50", 32],
    ["without spaces", "32of50", 32],
    ["with its unit", "32 / 50 points", 32],
    ["one point", "1 point", 1],
    ["points", "12points", 12],
    ["papers", "20 papers", 20],
    ["one paper", "1 PAPER", 1],
    ["ideas", "5  ideas", 5],
    ["one idea", "1 idea", 1],
    ["the total of an object", { execution: 20, total: 31 }, 31],
    ["a total as a text", { score: "31/50" }, 31],
    ["a score within a score", { score: { value: "4" } }, 4],
    ["a total that is null is none", { total: null, points: 3 }, 3],
    ["nought is a total", { total: 0, points: 3 }, 0],
    ...["n/a", "N/A", "na", "none", " None ", "  null  ", "unknown", "TBD", "pending", "", "  ", "-", "–", "—"].map(
      (word): [string, string, null] => ["a word for none", word, null],
    ),
  ]);
  it.each(["total", "score", "value", "points", "rating", "combined_total", "combined"])(
    "an object's %s is its number",
    (name) => {
      expect(toNumber()({ why: 9, [name]: 3 })).toBe(3);
    },
  );
  it("of several in an object the first of total, score, value, points, rating and combined counts", () => {
    const names = ["combined", "combined_total", "rating", "points", "value", "score", "total"];
    const fields = Object.fromEntries(names.map((name, index) => [name, index]));
    expect(toNumber()(fields)).toBe(6);
    expect(toNumber()({ ...fields, total: undefined, score: undefined })).toBe(4);
  });
  staysItself(toNumber(50, 30), [
    "32/20",
    "32 of 5",
    "32 outof 50",
    "32/",
    "/50",
    "about 32",
    "32 or so",
    "x32",
    "3.",
    ".5",
    "3.x",
    "1.2.3",
    "--3",
    "3 4",
    "20 pages",
    "papers 20",
    "none yet",
    "not none",
    "--",
    "n//a",
    7,
    null,
    true,
    [],
    ["3"],
    {},
    { why: 3 },
    { total: "many" },
    { total: "n/a" },
    { total: { why: 3 } },
  ]);
  it("out of nothing, where no whole is known", () => expect(toNumber()("3/5")).toBe("3/5"));
});

describe("true or false", () => {
  isReadAs(toBoolean, [
    ["one", 1, true],
    ["nought", 0, false],
    ...["true", "YES", "y", "On", "enabled", "  yes  "].map((word): [string, string, true] => [
      "a word for true",
      word,
      true,
    ]),
    ...["false", "NO", "n", "Off", "disabled", "  no  "].map((word): [string, string, false] => [
      "a word for false",
      word,
      false,
    ]),
  ]);
  staysItself(toBoolean, [
    "x yes",
    "yes x",
    "xyes",
    "yesx",
    "x no",
    "no x",
    "xno",
    "nox",
    "maybe",
    "",
    2,
    -1,
    null,
    true,
    false,
    [],
    ["yes"],
    ["no"],
  ]);
});

describe("a word of a set", () => {
  const read = toWord({ OPEN: /^(new|to_do)$/, shut: /^(done|all_done|held)$/, held: /^kept$/ });
  isReadAs(read, [
    ["the case is no matter", "open", "OPEN"],
    ["the case is no matter", "SHUT", "shut"],
    ["another word for it", "New", "OPEN"],
    ["spaces around are no matter", " Done \n", "shut"],
    ["a space, a hyphen, or several, part words", "To-Do", "OPEN"],
    ["a space, a hyphen, or several, part words", "to  do", "OPEN"],
    ["a space, a hyphen, or several, part words", "all - DONE", "shut"],
    ["the last word's meanings", "kept", "held"],
  ]);
  // A word of the set is itself even where it means another one too.
  staysItself(read, ["OPEN", "shut", "held", "news", "not new", "todo", "", "toString", 7, null, ["new"]]);
});

describe("a time", () => {
  afterEach(() => vi.unstubAllEnvs());

  isReadAs(toTime, [
    ["seconds since the epoch", 1, "1970-01-01T00:00:01.000Z"],
    ["seconds since the epoch", 1768837011, "2026-01-19T15:36:51.000Z"],
    ["the largest number that is seconds", 1e11 - 1, "5138-11-16T09:46:39.000Z"],
    ["the smallest number that is milliseconds", 1e11, "1973-03-03T09:46:40.000Z"],
    ["milliseconds", 1768837011250, "2026-01-19T15:36:51.250Z"],
    ["nine digits as a text", "123456789", "1973-11-29T21:33:09.000Z"],
    ["thirteen digits as a text", " 1768837011250 ", "2026-01-19T15:36:51.250Z"],
    ["nought is no time", 0, null],
    ["nor is what is below it", -1768837011, null],
    ["nor what is beyond every year", 1e18, null],
    ["fourteen digits are no time", "17688370112501", null],
    ["nor are digits in a text", "x1768837011", null],
    ["nor are digits in a text", "1768837011x", null],
    ["words", "not recorded", null],
    ["a list", ["2026-01-19"], null],
    ["true", true, null],
    ["an object", {}, null],
    ["a month that there is not", "2026-13-19", null],
    ["without a zone it is UTC", "2026-01-19T15:36:51", "2026-01-19T15:36:51.000Z"],
    ["a space between day and time", "2026-01-19 15:36", "2026-01-19T15:36:00.000Z"],
    ["several", "2026-01-19 T 15:36", "2026-01-19T15:36:00.000Z"],
    ["with a fraction", "2026-01-19 15:36:51.25", "2026-01-19T15:36:51.250Z"],
    ["with a zone", "2026-01-19 15:36+0100", "2026-01-19T14:36:00.000Z"],
    ["with a zone", "2026-01-19 15:36:51  -05:30", "2026-01-19T21:06:51.000Z"],
    ["with words after it", "  2026-01-19 15:36 (start)", "2026-01-19T15:36:00.000Z"],
    ["a day with words after it", "2026-01-19 (start)", "2026-01-19T00:00:00.000Z"],
    ["another spelling", "Mon, 19 Jan 2026 15:36:51 GMT", "2026-01-19T15:36:51.000Z"],
  ]);
  staysItself(toTime, [
    null,
    "2026-01-19",
    "2026-01-19T15:36Z",
    "2026-01-19T15:36:51Z",
    "2026-01-19T15:36:51.123456Z",
    "2026-01-19T15:36:51+01:00",
    "2026-01-19T15:36:51.5-0530",
  ]);
  it.each([
    ["2026-01-19T15:36Z ", "2026-01-19T15:36:00.000Z"],
    [" 2026-01-19", "2026-01-19T00:00:00.000Z"],
    ["2026-01-19Z", "2026-01-19T00:00:00.000Z"],
    ["2026-01-19T15:36:51.Z", "2026-01-19T15:36:51.000Z"],
  ])("is spelt anew where it is nearly ISO: %j", (given, expected) => expect(toTime(given)).toBe(expected));

  it("is the same whatever zone the machine is in", () => {
    vi.stubEnv("TZ", "America/New_York");
    expect(toTime("2026-01-19 15:36")).toBe("2026-01-19T15:36:00.000Z");
    expect(toTime("2026-01-19 15:36 (start)")).toBe("2026-01-19T15:36:00.000Z");
    expect(toTime("2026-01-19 (start)")).toBe("2026-01-19T00:00:00.000Z");
  });
});

describe("seconds", () => {
  isReadAs(toSeconds, [
    ["a number as a text", " 744 ", 744],
    ["with a fraction", "12.25", 12.25],
    ["hours, minutes and seconds", "01:02:03", 3723],
    ["hours and minutes", "1:02", 3720],
    ["many hours", "100:00:01", 360001],
    ["with units", "12m 24s", 744],
    ["without a space between", "1h30m", 5400],
    ["whole words", "1.25  Hours, 2 minutes and 3 seconds", 4623],
    ["days", "2 days", 172800],
    ["with words around", "about 5 min in all", 300],
    ["negative", -0.5, null],
    ["words", "unknown", null],
    ["an unfinished clock", "01:02:3", null],
    ["a clock in words", "at 01:02", null],
    ["a clock in words", "01:02:03 UTC", null],
    ["a number in words", "x744", null],
    ["a number of something else", "744x", null],
    ["a number with a point too many", "7.4.4", null],
    ["an empty text", "", null],
    ["true", true, null],
    ["null", null, null],
    ["a list", ["744"], null],
  ]);
  staysItself(toSeconds, [0, 744.5]);
});

describe("days", () => {
  isReadAs(toDays, [
    ["a number as a text", " 90 ", 90],
    ["days", "90 days", 90],
    ["weeks", "1.25 weeks", 8.75],
    ["months", "3  Months", 90],
    ["years", "2years", 730],
    ["one letter", "10Y", 3650],
  ]);
  staysItself(toDays, [
    "90 hours",
    "the last 90",
    "90 days ago",
    "x90",
    "1.2.3",
    "",
    "days",
    "3.",
    90,
    null,
    ["90"],
    true,
  ]);
});

describe("an object or nothing", () => {
  isReadAs(toFieldsOrNull, [
    ["a list", [], null],
    ["a text", "x", null],
    ["nought", 0, null],
  ]);
  staysItself(toFieldsOrNull, [null, {}, { a: 1 }]);
});

describe("a list", () => {
  isReadAs(toList, [
    ["an object stands for a list of one", { a: 1 }, [{ a: 1 }]],
    ["false stands for none", false, []],
  ]);
  staysItself(toList, [[], [1], null, true, 0, "x"]);
});

it("what does not fit is left out", () => {
  const read = absentUnless((value) => value === 3);
  expect(read(3)).toBe(3);
  expect(read("3")).toBe(absent);
});

describe("the name of an object", () => {
  const fields = [
    "name",
    "full_name",
    "title",
    "term",
    "keyword",
    "source",
    "label",
    "text",
    "paper_id",
    "id",
    "url",
    "value",
  ];
  it.each(fields)("may be in %s", (field) => expect(nameOf({ other: "x", [field]: "A" })).toBe("A"));
  it("is the first text of them, whatever the order of the fields", () => {
    const all = Object.fromEntries(fields.map((field) => [field, `the ${field}`]).toReversed());
    for (const field of fields) {
      expect(nameOf(all)).toBe(`the ${field}`);
      all[field] = 7 as never;
    }
    expect(nameOf({ name: "", title: "B" })).toBe("");
  });
  it.each([
    [{ given: "Ada", family: "Author" }, "Ada Author"],
    [{ first: "Ada", last: "Author" }, "Ada Author"],
    [{ last_name: "Author", first_name: "Ada" }, "Ada Author"],
    [{ given_name: "Ada", family_name: "Author" }, "Ada Author"],
    [{ given: "Ada", first: "Bo", family: "Author", last: "Writer" }, "Ada Author"],
    [{ first: "Ada", first_name: "Bo", last: "Author", last_name: "Writer" }, "Ada Author"],
    [{ first_name: "Ada", given_name: "Bo", last_name: "Author", family_name: "Writer" }, "Ada Author"],
    [{ given: null, first: "Ada", family: null, last: "Author" }, "Ada Author"],
    [{ family: "Author" }, "Author"],
    [{ given: "Ada", family: 7 }, "Ada"],
    [{ given: 7 }, undefined],
    [{ affiliation: "X" }, undefined],
    [{}, undefined],
  ])("of a person %j is %j", (person, name) => expect(nameOf(person)).toBe(name));
});
