import { beforeEach, describe, expect, it, vi } from "vitest";
import { sampleRrd } from "../../support/folders.js";

describe("of several shapes that a value may have", () => {
  // What a schema says of itself is looked up once a process: each of these tests is a process's first look.
  let problemsOf: typeof import("../../../src/engine/storage/schema-check.js").problemsOf;
  beforeEach(async () => {
    vi.resetModules();
    ({ problemsOf } = await import("../../../src/engine/storage/schema-check.js"));
  });
  const problems = (over: object) => problemsOf("rrd", { ...sampleRrd(0), requirements: {}, ...over });
  const ofPaper = (fields: object) =>
    problems({ papers_pool: [{ id: "p", title: "P", status: "pending", ...fields }] });

  it("the one whose fields it has is meant, not the one with the fewest errors", () => {
    const six = { novelty: 3, feasibility: 3, time_to_poc: 3, value_market: 3, defensibility: 3, adoption: "3" };
    expect(ofPaper({ score_breakdown: six }).map(({ pointer }) => pointer)).toEqual([
      "/papers_pool/0/score_breakdown/adoption",
    ]);
    expect(
      ofPaper({ score_breakdown: { execution: { novelty: 3 } } }).every(({ pointer }) =>
        pointer.startsWith("/papers_pool/0/score_breakdown/execution"),
      ),
    ).toBe(true);
  });

  it("all are named where it is of another kind altogether", () => {
    expect(ofPaper({ score_breakdown: "x" }).map(({ message }) => message)).toEqual([
      'must be an object or null, is "x"',
    ]);
  });

  it("a single value is meant by nothing of another type", () => {
    const roles = { librarian: { agnet: "x" }, artisan: { temperature: 7 }, critic: "claude", adversary: true };
    expect(problemsOf("config", { code: { roles } }).map(({ pointer, message }) => `${pointer} ${message}`)).toEqual([
      '/code/roles/librarian "agnet" is not a known field',
      "/code/roles/artisan/temperature must be at most 2, is 7",
      '/code/roles/critic must be an object or false, is "claude"',
      "/code/roles/adversary must be false, is true",
    ]);
  });

  it.each([
    [{}, "checking"],
    [{ agent: "x" }, "run-started"],
    [{ iteration: 1, unit: "p" }, "settled"],
    [{ iteration: 1, unit: "p", duration_seconds: 1 }, "iteration-ended"],
    [{ reason: "full" }, "waiting"],
  ])("of those that have most of its fields the one with the fewest errors: %j", (fields, meant) => {
    const messages = problemsOf("event", { type: "nonsense", at: "2026-01-01T00:00:00Z", ...fields }).map(
      ({ message }) => message,
    );
    expect(messages.at(-1)).toBe(`must be "${meant}", is "nonsense"`);
  });

  it("a list's entries are of several shapes too, and nothing has none of them", () => {
    const questions = problems({ open_questions: [null, {}, 7, "why?"] });
    expect(questions.map(({ pointer, message }) => `${pointer} ${message}`)).toEqual([
      "/open_questions/0 must be a text or an object, is null",
      '/open_questions/1 "question" is missing',
      "/open_questions/2 must be a text or an object, is 7",
    ]);
    expect(problemsOf("event", JSON.parse("null")).map(({ message }) => message)).toEqual([
      "must be an object, is null",
    ]);
  });

  it("shapes of another schema are known with the one that refers to them", () => {
    const found = problemsOf("result-discovery", { unit: "discovery", papers: [], sources: [], patterns: 7 });
    expect(found.map(({ pointer }) => pointer)).toContain("/patterns");
  });

  it("what stands elsewhere keeps its own problems", () => {
    const found = ofPaper({ title: 7, score_breakdown: 7, status: "x" }).map(({ pointer }) => pointer);
    expect(found.toSorted()).toEqual([
      "/papers_pool/0/score_breakdown",
      "/papers_pool/0/status",
      "/papers_pool/0/title",
    ]);
  });
});
