import type { ErrorObject } from "ajv/dist/2020.js";
import { existsSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { isUnfinished, locateSyntaxError } from "../../../src/engine/storage/json-syntax.js";
import { describe as named, type Problem, wordProblem } from "../../../src/engine/storage/problem-messages.js";
import { formatRrd, maxRrdBytes, parseRrd, readRrdFile } from "../../../src/research/project-files/rrd-file.js";
import { summarise } from "../../../src/engine/storage/state/state-file.js";
import { sampleRrd, temporaryFolder } from "../../support/folders.js";

const at = "/papers_pool/0/x";
const worded = (keyword: string, params: object, data: unknown, more: Partial<ErrorObject> = {}): string => {
  const { pointer, message, hint } = wordProblem(
    { keyword, params, data, instancePath: at, schemaPath: "", ...more } as ErrorObject,
    {},
  );
  return `${pointer} ${message}${hint === undefined ? "" : ` | ${hint}`}`;
};

describe("what is wrong is said in words", () => {
  it.each([
    ["type", { type: "string" }, 7, 'must be a text, is 7 | Write "7", with quotes.'],
    ["type", { type: "string" }, true, "must be a text, is true"],
    ["type", { type: "string" }, null, "must be a text, is null | Leave the field out, or give it a value."],
    ["type", { type: ["integer", "null"] }, 2.6, "must be a whole number or null, is 2.6"],
    ["type", { type: "integer" }, " -12 ", 'must be a whole number, is " -12 " | Write -12 without quotes.'],
    ["type", { type: "number" }, "3.50", 'must be a number, is "3.50" | Write 3.50 without quotes.'],
    ["type", { type: "number" }, "3.", 'must be a number, is "3."'],
    ["type", { type: "number" }, "x3", 'must be a number, is "x3"'],
    ["type", { type: "number" }, "3x", 'must be a number, is "3x"'],
    ["type", { type: "object" }, "3", 'must be an object, is "3"'],
    ["type", { type: "boolean" }, "True", 'must be true or false, is "True" | Write true without quotes.'],
    ["type", { type: "boolean" }, "truely", 'must be true or false, is "truely"'],
    ["type", { type: "boolean" }, "untrue", 'must be true or false, is "untrue"'],
    ["type", { type: "object" }, "true", 'must be an object, is "true"'],
    ["type", { type: ["array", "null"] }, "null", 'must be a list or null, is "null" | Write null without quotes.'],
    ["type", { type: "object" }, "null", 'must be an object, is "null"'],
    ["type", { type: "array" }, "x", 'must be a list, is "x" | Put it in brackets: ["…"].'],
    ["type", { type: "array" }, { a: 1 }, "must be a list, is an object | Put it in brackets: [{…}]."],
    ["type", { type: "array" }, [1], "must be a list, is a list of 1"],
    ["type", { type: ["number", "null"] }, "x", 'must be a number or null, is "x"'],
    ["type", { type: "integer" }, "x", 'must be a whole number, is "x"'],
    ["type", { type: "object" }, [1, 2], "must be an object, is a list of 2"],
    ["type", { type: "number" }, { a: 1 }, "must be a number, is an object"],
    ["type", { type: ["string", "array", "null"] }, true, "must be a text, a list or null, is true"],
    ["type", { type: [] }, true, "must be something else, is true"],
    [
      "enum",
      { allowedValues: ["pending", "presented"] },
      "presentd",
      'must be one of "pending", "presented", is "presentd" | Write "presented".',
    ],
    ["enum", { allowedValues: ["pending", 2] }, 7, 'must be one of "pending", "2", is 7'],
    ["enum", { allowedValues: [] }, "x", 'must be one of , is "x"'],
    ["minimum", { limit: 1 }, 0, "must be at least 1, is 0"],
    ["maximum", { limit: 5 }, 7, "must be at most 5, is 7"],
    ["minLength", { limit: 1 }, "", "must not be empty"],
    ["minLength", { limit: 3 }, "x", "must have at least 3 characters"],
    ["maxLength", { limit: 3 }, "four", "must have at most 3 characters, has 4"],
    ["minItems", { limit: 2 }, [1], "must hold at least 2, holds 1"],
    ["maxItems", { limit: 1 }, [1, 2], "must hold at most 1, holds 2"],
    ["maxItems", { limit: 1 }, "x", "must hold at most 1, holds 0"],
    ["const", { allowedValue: "1.0" }, 2, 'must be "1.0", is 2'],
    ["pattern", { pattern: "^\\d+$" }, "x", 'must match ^\\d+$, is "x"'],
    ["exclusiveMinimum", { limit: 0 }, 0, "must be above 0, is 0"],
    ["exclusiveMaximum", { limit: 1 }, 1, "must be below 1, is 1"],
    ["uniqueItems", { i: 2, j: 0 }, ["a", "b", "a"], "has the same entry twice, at 0 and 2 | Remove one of them."],
    ["minProperties", { limit: 1 }, {}, "must have at least 1 fields, has 0"],
    ["maxProperties", { limit: 1 }, { a: 1, b: 2 }, "must have at most 1 fields, has 2"],
    ["propertyNames", { propertyName: "7" }, {}, '"7" can\'t be a name here'],
  ])("%s %j of %j: %s", (keyword, params, data, said) => {
    expect(worded(keyword, params, data)).toBe(`${at} ${said}`);
  });

  it("of a form by an example of the schema, and of what is ruled out by what that is", () => {
    const parentSchema = { examples: ["~/data"] };
    expect(worded("pattern", { pattern: "^(/|~/)" }, "x", { parentSchema })).toBe(
      `${at} must look like "~/data", is "x"`,
    );
    expect(worded("not", {}, 0, { schema: { const: 0 } })).toBe(`${at} can't be 0`);
    expect(worded("not", {}, 5, { schema: { minimum: 0, maximum: 9 } })).toBe(`${at} can't be from 0 to 9, is 5`);
    expect(worded("not", {}, {}, { schema: {} })).toBe(`${at} has fields that don't go together`);
  });

  it("never of the checker's", () => {
    expect(worded("format", {}, "x", { message: "must match format" })).toBe(
      `${at} breaks the rule "format" of its schema, is "x"`,
    );
  });

  it("of a field that is missing, with the one that was meant, or how to mend it", () => {
    expect(worded("required", { missingProperty: "title" }, { Title: 1 })).toBe(
      `${at} "title" is missing | Rename "Title" to "title".`,
    );
    expect(worded("required", { missingProperty: "title" }, {})).toBe(`${at} "title" is missing | Add "title".`);
    expect(worded("required", { missingProperty: "title" }, ["title"])).toBe(`${at} "title" is missing | Add "title".`);
    const root = { other: 1 };
    const of = {
      keyword: "required",
      params: { missingProperty: "title" },
      data: root,
      instancePath: "",
      schemaPath: "",
    } as ErrorObject;
    expect(wordProblem(of, root)).toEqual({ pointer: "", message: '"title" is missing', missing: true });
  });

  it("of a field that is not known, with the one that was meant, or that it is too much", () => {
    const parentSchema = { properties: { patterns: {}, unit: {} } };
    expect(worded("additionalProperties", { additionalProperty: "pattern" }, {}, { parentSchema })).toBe(
      `${at} "pattern" is not a known field | Rename it to "patterns".`,
    );
    expect(worded("additionalProperties", { additionalProperty: "colour" }, {}, { parentSchema })).toBe(
      `${at} "colour" is not a known field | Remove it.`,
    );
    expect(worded("additionalProperties", { additionalProperty: "x" }, {})).toBe(
      `${at} "x" is not a known field | Remove it.`,
    );
  });

  it("never of more than a line of the value", () => {
    expect(named("x".repeat(60))).toBe(`"${"x".repeat(60)}"`);
    expect(named("x".repeat(61))).toBe(`"${"x".repeat(57)}…"`);
    expect([named(null), named(1.5), named([]), named({ a: 1 })]).toEqual(["null", "1.5", "a list of 0", "an object"]);
  });
});

describe("the word that was meant", () => {
  const meant = (word: string, ...allowed: string[]) =>
    /\| Write "(.*)"\.$/.exec(worded("enum", { allowedValues: allowed }, word))?.[1];

  it.each([
    ["In Sights-Extracted", "insights_extracted"],
    ["pendin", "pending"],
    ["bending", "pending"],
    ["pnding", "pending"],
    ["peending", "pending"],
    ["presentet", "presented"],
    ["pres", "presented"],
    ["rejjected", "rejected"],
    ["a", "b"],
  ])("by %s is %s", (word, allowed) => {
    expect(meant(word, allowed)).toBe(allowed);
    expect(meant(word, "something else altogether", allowed)).toBe(allowed);
  });

  it.each([
    ["ending", "p_rejec"],
    ["ppenndinngg", "xending"],
    ["ab", "xy"],
    ["abcdefg", "xbcdxfx"],
  ])("by %s is not %s", (word, allowed) => {
    expect(meant(word, allowed)).toBeUndefined();
  });

  it("is the nearest of several, the first of equals", () => {
    expect(meant("bending", "rendings", "bendings")).toBe("bendings");
    expect(meant("bending", "sending", "pending")).toBe("sending");
  });
});

describe("a place that is no JSON", () => {
  const found = (text: string) => {
    const { line, column, message, hint } = locateSyntaxError(text);
    return `${line}:${column} ${message}${hint === undefined ? "" : ` | ${hint}`}`;
  };
  const quotes = 'Strings stand in double quotes: "…".';
  it.each([
    ["", "1:1 the file is empty | Part of it is missing."],
    [" \n ", "2:2 the file is empty | Part of it is missing."],
    ["[1, {", "1:6 the file ends in the middle | Part of it is missing."],
    ["{} x", "1:4 there is more text after the end | A closing bracket may stand too early."],
    ['{"a": 1 "b"', "1:9 a comma or '}' belongs here | A comma may be missing at the end of the line before."],
    ["[1 2]", "1:4 a comma or ']' belongs here | A comma may be missing at the end of the line before."],
    ["[1}", "1:3 a comma or ']' belongs here | A comma may be missing at the end of the line before."],
    ["[}", "1:2 '}' does not belong here | There may be an extra comma before it."],
    ["{]", "1:2 ']' does not belong here | There may be an extra comma before it."],
    ["[1,]", "1:4 ']' does not belong here | There may be an extra comma before it."],
    ["]", "1:1 ']' does not belong here | There may be an extra comma before it."],
    [
      '["\n"]',
      '1:2 a string begins here that does not end correctly | It may lack its closing ", or hold a line break or a single \\.',
    ],
    [
      '["\\x"]',
      '1:2 a string begins here that does not end correctly | It may lack its closing ", or hold a line break or a single \\.',
    ],
    ["{1: 2}", '1:2 the name of a field belongs here | Names stand in double quotes: "name": …'],
    ['{"a": 1, b', '1:10 the name of a field belongs here | Names stand in double quotes: "name": …'],
    ['{"a" 1}', "1:6 a colon belongs here, after the name of the field"],
    ['{"a"', "1:5 a colon belongs here, after the name of the field"],
    ["['x']", `1:2 a value belongs here | ${quotes}`],
    ["[tru]", `1:2 a value belongs here | ${quotes}`],
    ["[/* x */]", "1:2 a value belongs here | JSON has no comments."],
    ["# x\n{}", "1:1 a value belongs here | JSON has no comments."],
    ["<<<<<<< HEAD", "1:1 a value belongs here | It may be the mark of a merge conflict."],
    ["=======", "1:1 a value belongs here | It may be the mark of a merge conflict."],
    [">>>>>>> x", "1:1 a value belongs here | It may be the mark of a merge conflict."],
    ["[,1]", "1:2 a value belongs here | There may be an extra comma."],
    [
      '{"a":\n  {"b": [true, false, null, -0.5e+3, "\\u00e9\\n"]},\n  "c" : {}, "d": [], "e": 01}',
      "3:28 a comma or '}' belongs here | A comma may be missing at the end of the line before.",
    ],
  ])("in %j is told with what may be the matter", (text, said) => {
    expect(found(text)).toBe(said);
  });

  it("is the middle of a file only where its end is wanting", () => {
    expect(['{"a": [1, {"b": 2}', "", "   ", '{"a": 1}\n{', '{"a": {}'].map(isUnfinished)).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(['{"a": 1}', '{"a": 1}\n', "{a: 1}", '{"a": 1,}'].map(isUnfinished)).toEqual([false, false, false, false]);
  });
});

describe("an rrd.json that can't be used", () => {
  const of = (...problems: Partial<Problem>[]) =>
    summarise(
      "/r/rrd.json",
      problems.map((problem) => ({ pointer: "/phase", message: "is wrong", ...problem })),
    );

  it("is told in one sentence: the first three problems, and how many more", () => {
    expect(of({})).toBe("/r/rrd.json is not valid: /phase is wrong");
    expect(of({ hint: "Write a.b. Mend it." }, { pointer: "" })).toBe(
      "/r/rrd.json is not valid: /phase is wrong (Write a.b. Mend it); is wrong",
    );
    expect(of({}, {}, {})).not.toContain("more");
    expect(of({}, {}, {}, {}, {})).toBe(
      "/r/rrd.json is not valid: /phase is wrong; /phase is wrong; /phase is wrong; and 2 more",
    );
  });

  it("that is one problem of the whole file names it once", () => {
    expect(of({ pointer: "", message: "/r/rrd.json:3:4: a colon belongs here" })).toBe(
      "/r/rrd.json:3:4: a colon belongs here",
    );
    expect(of({ pointer: "", message: "/r/rrd.json is not UTF-8" }, {})).toBe(
      "/r/rrd.json is not valid: /r/rrd.json is not UTF-8; /phase is wrong",
    );
  });

  it("is not waited for or looked into where it is no file", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "rrd.json");
    await expect(readRrdFile(path)).rejects.toThrow(`There is no ${path}.`);
    execFileSync("mkfifo", [path]);
    await expect(readRrdFile(path)).rejects.toThrow(`${path} is not a regular file; replace it with a regular file.`);
    mkdirSync(join(folder, "deep"));
    await expect(readRrdFile(join(folder, "deep"))).rejects.toThrow("is a folder where a file belongs");
    await expect(readRrdFile(join(folder, "deep"))).rejects.toBeInstanceOf(ExpectedError);
    expect(existsSync(path)).toBe(true);
  });

  it("is read with its text, whole and as it is", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    const rrd = { ...sampleRrd(1), description: "café" };
    writeFileSync(path, `\uFEFF${JSON.stringify(rrd)}`);
    expect(await readRrdFile(path)).toEqual({ ok: rrd, changes: [] });
    expect(formatRrd(sampleRrd(1))).toBe(`${JSON.stringify(sampleRrd(1), undefined, "  ")}\n`);
  });

  it("is too large from its text alone, or from its size before it is read", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    const problem = { pointer: "", message: `${path} is 200 MB, more than the 200 MB a project can have` };
    expect(parseRrd(" ".repeat(maxRrdBytes + 1), path)).toEqual({ changes: [], problems: [problem] });
    writeFileSync(path, "");
    truncateSync(path, maxRrdBytes + 1);
    expect(await readRrdFile(path)).toEqual({ changes: [], problems: [problem] });
  });

  it("names every paper whose id stands twice, but none without one", () => {
    const rrd = sampleRrd(1);
    const [one] = rrd.papers_pool;
    const text = (pool: unknown) =>
      parseRrd(JSON.stringify({ ...rrd, papers_pool: pool }), "rrd.json").problems?.map(
        ({ pointer, message }) => `${pointer} ${message}`,
      );
    expect(text([one, one, one])).toEqual([
      '/papers_pool/1/id "sample_1" is the id of /papers_pool/0 too',
      '/papers_pool/2/id "sample_1" is the id of /papers_pool/0 too',
    ]);
    expect(text([null, null, {}, {}])?.join("\n")).not.toContain("is the id of");
    expect(text({ length: 2 })?.join("\n")).not.toContain("is the id of");
    expect(parseRrd("7", "rrd.json").problems).toHaveLength(1);
    expect(parseRrd("null", "rrd.json").problems).toHaveLength(1);
  });

  it("has a hint to its syntax error where there is one", () => {
    expect(locateSyntaxError('{"a" 1}')).not.toHaveProperty("hint");
    expect(parseRrd('{"a" 1}', "x.json").problems).toEqual([
      { pointer: "", message: "x.json:1:6: a colon belongs here, after the name of the field" },
    ]);
    expect(parseRrd("[,]", "x.json")).toEqual({
      changes: [],
      problems: [{ pointer: "", message: "x.json:1:2: a value belongs here", hint: "There may be an extra comma." }],
    });
  });
});
