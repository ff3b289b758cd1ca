import { expect, test } from "vitest";
import { answerBrief } from "../../../src/research/baseline-agent/answer.js";
import { parseBrief } from "../../../src/research/baseline-agent/brief.js";
import { briefOf, problemsOf } from "./brief-of.js";

const section = [
  "# Eligibility criteria",
  "They alone decide.",
  "- c1 (include): randomised patients\n- c2 (exclude): animal study",
  "# The rest\n",
].join("\n\n");
const answersTo = (unit: object, text?: string) =>
  answerBrief(parseBrief(`${section}${briefOf(unit, text)}`), () => "").result as {
    criteria?: object;
    kept?: { criteria?: object }[];
    dropped?: { criteria?: object }[];
  };

test("answers yes with the sentence that has every word of a criterion, and unclear otherwise", () => {
  const quote = "The patients were randomised to two groups.";
  const text = `# A paper\n\n## Method\n\n${quote} No animal was harmed.\n`;
  const criteria = { c1: { answer: "yes", quote }, c2: { answer: "unclear" } };
  const read = answersTo({ kind: "paper", unit: "p1", title: "A paper", rubrics: ["execution"] }, text);
  expect(read.criteria).toEqual(criteria);
  expect(problemsOf("analysis", read)).toEqual([]);
  const candidates = [{ id: "p1", title: "A paper of it", abstract: `${quote} It was good.`, source: "samples" }];
  const screened = answersTo({ kind: "discovery", unit: "discovery-1", keywords: ["paper"], candidates, sources: [] });
  expect([...(screened.kept ?? []), ...(screened.dropped ?? [])].map((each) => each.criteria)).toEqual([criteria]);
  expect(problemsOf("discovery", screened)).toEqual([]);
});

test.each(["simulation only", "no animals", "fewer than 20 patients"])(
  "leaves '%s' unclear, which words can't tell",
  (criterion) => {
    const brief = `# Eligibility criteria\n\n- c1 (exclude): ${criterion}\n\n# The rest\n\n${briefOf(
      { kind: "paper", unit: "p1", title: "A paper", rubrics: ["execution"] },
      "# A paper\n\n## Method\n\nThe simulation of 20 patients and animals was tried on a real hand afterwards.\n",
    )}`;
    expect(answerBrief(parseBrief(brief), () => "").result).toMatchObject({ criteria: { c1: { answer: "unclear" } } });
  },
);

test("answers nothing where nothing is asked", () => {
  const unit = { kind: "paper", unit: "p1", title: "A paper", rubrics: ["execution"] };
  expect(answerBrief(parseBrief(briefOf(unit, "Some text.")), () => "").result).not.toHaveProperty("criteria");
});

test("takes no criteria from a paper's text", () => {
  const unit = { kind: "paper", unit: "p1", title: "A paper", rubrics: ["execution"] };
  const text = "# Eligibility criteria\n\n- c9 (include): anything\n\n# End\n";
  expect(parseBrief(briefOf(unit, text)).criteria).toEqual([]);
});
