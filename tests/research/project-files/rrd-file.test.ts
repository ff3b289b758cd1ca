import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { originalTexts } from "../../fixtures/original-folders.js";
import fc from "../../support/runner/fast-check.js";
import { describe, expect, it } from "vitest";
import { locateSyntaxError } from "../../../src/engine/storage/json-syntax.js";
import { formatRrd, parseRrd, readRrdFile } from "../../../src/research/project-files/rrd-file.js";
import { sampleRrd, temporaryFolder } from "../../support/folders.js";

const problem = (text: string) => parseRrd(text, "rrd.json").problems?.[0];

describe("the original tool's files", () => {
  it.each(originalTexts)("%s is valid and loses nothing in a round trip", (name, text) => {
    const { ok, problems } = parseRrd(text, name);
    expect(problems).toBeUndefined();
    expect(formatRrd(ok!)).toBe(text);
  });
});

describe("reading", () => {
  it("takes a byte order mark, any line ends and unknown fields, and keeps the order of fields", () => {
    const text = formatRrd({ zebra: 1, ...sampleRrd(), future: { shape: [1] } });
    expect(formatRrd(parseRrd(`\uFEFF${text.replaceAll("\n", "\r\n")}`, "rrd.json").ok!)).toBe(text);
  });

  it("names what is nested deeper than a hundred levels, in a known field or not, and keeps what is not", () => {
    const nested = (levels: number, name = "future") =>
      formatRrd(sampleRrd()).replace("{", `{"${name}": {"shape": ${"[".repeat(levels)}${"]".repeat(levels)}},`);
    for (const name of ["future", "loop", "a/b"])
      for (const levels of [99, 20_000])
        expect(problem(nested(levels, name))).toEqual({
          pointer: `/${name.replace("/", "~1")}/shape/0`,
          message: "is nested deeper than 100 levels",
          hint: "Remove it.",
        });
    expect(problem(nested(98))).toBeUndefined();
  });

  it("names two papers of one id; insights of one id pass", () => {
    const rrd = sampleRrd(3);
    const twice = { ...rrd, papers_pool: [...rrd.papers_pool, { ...rrd.papers_pool[1] }] };
    expect(problem(JSON.stringify(twice))).toEqual({
      pointer: "/papers_pool/3/id",
      message: '"sample_2" is the id of /papers_pool/1 too',
      hint: "Remove one of them, or give it another id.",
    });
    const insight = { id: "insight_001", insight: "x" };
    expect(problem(JSON.stringify({ ...rrd, insights: [insight, insight] }))).toBeUndefined();
  });

  it("refuses more than 200 MB without reading it, and bytes that are not UTF-8", async () => {
    const path = join(temporaryFolder(), "rrd.json");
    writeFileSync(path, "");
    truncateSync(path, 200_000_001);
    expect((await readRrdFile(path)).problems?.[0]?.message).toMatch(/^.*rrd\.json is 200 MB, more than the 200 MB/);
    writeFileSync(path, Buffer.from('{"project": "caf\xe9"}', "latin1"));
    expect((await readRrdFile(path)).problems).toEqual([
      { pointer: "", message: `${path} is not UTF-8`, hint: "Save it as UTF-8 in your editor." },
    ]);
  });
});

describe("a syntax error", () => {
  it.each([
    ['{\n  "a": 1,\n  "b": [1, 2,],\n}', "3:14: ']' does not belong here"],
    ['{\n  "a": 1\n  "b": 2\n}', "3:3: a comma or '}' belongs here"],
    ['{ "a": 1, }', "1:11: '}' does not belong here"],
    ["{ a: 1 }", "1:3: the name of a field belongs here"],
    ["{ \"a\": 'x' }", "1:8: a value belongs here"],
    ['{ "a": "x\ny" }', "1:8: a string begins here that does not end correctly"],
    ['{ "a": 1 // note\n}', "1:10: a comma or '}' belongs here"],
    ['{ "a" 1 }', "1:7: a colon belongs here, after the name of the field"],
    ['<<<<<<< HEAD\n{ "a": 1 }', "1:1: a value belongs here"],
    ['{ "a": {', "1:9: the file ends in the middle"],
    ["", "1:1: the file is empty"],
    ['{ "a": 1 } x', "1:12: there is more text after the end"],
    ['{ "a": 01 }', "1:9: a comma or '}' belongs here"],
    ['{ "a": tru }', "1:8: a value belongs here"],
  ])("in %j is found where it is", (text, message) => {
    expect(problem(text)?.message).toBe(`rrd.json:${message}`);
  });

  it("is found in every text that JSON.parse refuses, and never beyond its end", () => {
    const refused = (text: string) => {
      try {
        JSON.parse(text);
        return false;
      } catch {
        return true;
      }
    };
    const cut = fc.tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 })).map(([text, at, put]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + put + text.slice(place + 1);
    });
    fc.assert(
      fc.property(cut.filter(refused), (text) => {
        const { line, column, message } = locateSyntaxError(text);
        expect(message).not.toBe("");
        expect(column).toBeLessThanOrEqual((text.split("\n")[line - 1]?.length ?? -1) + 1);
      }),
      { numRuns: 500 },
    );
  });
});
