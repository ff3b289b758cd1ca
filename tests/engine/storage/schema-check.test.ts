import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020 as Ajv } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { problemsOf, type SchemaName } from "../../../src/engine/storage/schema-check.js";
import { sampleRrd } from "../../support/folders.js";

const schemas = new URL("../../../schemas/", import.meta.url);
const names = readdirSync(schemas)
  .filter((name) => name.endsWith(".schema.json"))
  .map((name) => name.replace(".schema.json", "") as SchemaName);
const paper = { id: "sample_1", title: "Sample", status: "pending" };
const problemsOfPaper = (fields: object) =>
  problemsOf("rrd", { ...sampleRrd(0), requirements: {}, papers_pool: [{ ...paper, ...fields }] });
const six = { novelty: 3, feasibility: 3, time_to_poc: 3, value_market: 3, defensibility: 3, adoption: 3 };

it.each(names)("schemas/%s.schema.json is a valid schema and can be used", (name) => {
  const ajv = new Ajv({ strict: false });
  expect(ajv.validateSchema(JSON.parse(readFileSync(new URL(`${name}.schema.json`, schemas), "utf8")))).toBe(true);
  expect(problemsOf(name, 7)).toEqual([{ pointer: "", message: expect.stringMatching(/^must be an object/) }]);
});

describe("a problem", () => {
  it("of a number in quotes says to take them off", () => {
    expect(problemsOfPaper({ score: "5" })).toEqual([
      { pointer: "/papers_pool/0/score", message: 'must be a number or null, is "5"', hint: "Write 5 without quotes." },
    ]);
  });

  it("of an unknown word names the allowed ones and the nearest", () => {
    const [problem] = problemsOfPaper({ status: "Presentd" });
    expect(problem).toMatchObject({ pointer: "/papers_pool/0/status", hint: 'Write "presented".' });
    expect(problem?.message).toContain('"pending", "analyzing", "presented", "rejected", "insights_extracted"');
    expect(problemsOfPaper({ status: "xyz" })[0]).not.toHaveProperty("hint");
  });

  it("of a missing field points at its record, and at a misspelt one", () => {
    const { title: _, ...untitled } = paper;
    const rrd = (record: object) => ({ ...sampleRrd(0), requirements: {}, papers_pool: [record] });
    expect(problemsOf("rrd", rrd(untitled))).toEqual([
      { pointer: "/papers_pool/0", message: '"title" is missing', hint: 'Add "title".', missing: true },
    ]);
    expect(problemsOf("rrd", rrd({ ...untitled, Title: "x" }))[0]?.hint).toBe('Rename "Title" to "title".');
  });

  it("of a name that only looks right says so, and of a broken number advises no other one", () => {
    const { title, ...untitled } = paper;
    const rrd = (record: object, over: object = {}) => ({
      ...sampleRrd(0),
      requirements: {},
      papers_pool: [record],
      ...over,
    });
    expect(problemsOf("rrd", rrd({ ...untitled, "title\u200b": title }))[0]?.hint).toMatch(/only looks right/);
    expect(problemsOf("rrd", rrd(paper, { format: 1.5 }))[0]).not.toHaveProperty("hint");
  });

  it("of a field that a closed shape does not know names the one that was meant", () => {
    const found = problemsOf("result-discovery", { unit: "discovery", papers: [], sources: [], pattern: [] });
    expect(found.find(({ message }) => message.startsWith('"pattern"'))?.hint).toBe('Rename it to "patterns".');
  });

  it("of a bound says the bound and the value", () => {
    expect(problemsOfPaper({ score_breakdown: { ...six, novelty: 9 } })).toEqual([
      { pointer: "/papers_pool/0/score_breakdown/novelty", message: "must be at most 5, is 9" },
    ]);
  });

  it("within alternatives is that of the one that fits best", () => {
    expect(problemsOfPaper({ score_breakdown: { execution: { ...six, adoption: "3" } } })).toEqual([
      {
        pointer: "/papers_pool/0/score_breakdown/execution/adoption",
        message: 'must be a number, is "3"',
        hint: "Write 3 without quotes.",
      },
    ]);
    expect(problemsOfPaper({ score_breakdown: 7 })).toEqual([
      { pointer: "/papers_pool/0/score_breakdown", message: "must be an object or null, is 7" },
    ]);
    expect(problemsOfPaper({ analysis: { summary: 3 } }).map(({ pointer }) => pointer)).toEqual([
      "/papers_pool/0/analysis/summary",
    ]);
  });

  it("is one of at most 200, however broken the file is", () => {
    const pool = Array.from({ length: 1000 }, () => ({}));
    expect(problemsOf("rrd", { ...sampleRrd(0), papers_pool: pool })).toHaveLength(200);
  });
});

it("every problem of a file is found, not the first alone", () => {
  const rrd = {
    ...sampleRrd(0),
    phase: "READING",
    requirements: { target_papers: "30" },
    papers_pool: [{ ...paper, score: "5" }],
    visited_urls: "x",
  };
  expect(problemsOf("rrd", rrd).map(({ pointer }) => pointer)).toEqual([
    "/requirements/target_papers",
    "/phase",
    "/papers_pool/0/score",
    "/visited_urls",
  ]);
});
