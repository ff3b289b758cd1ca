import { expect, it, test } from "vitest";
import type { Evidence } from "../../../src/research/generated/rrd.js";
import { markdownOf } from "../../../src/research/report/documents/markdown.js";
import { reportModel } from "../../../src/research/report/model.js";
import { contextOf } from "../../../src/research/report/page/context.js";
import { reportPage } from "../../../src/research/report/page/page.js";
import { tablesAsText } from "../../../src/research/report/quotes.js";
import { paper, rrdWith } from "../../support/projects/research.js";

test.each([
  [
    "a table has its head before its rows",
    "| Hand | Success |\n|---|:-:|\n| ours | 87 % |\n| theirs | 41 % |",
    "Hand · Success: ours · 87 %; theirs · 41 %.",
  ],
  ["also without bars at its ends", "Hand | Success\n--- | ---\nours | 87 %", "Hand · Success: ours · 87 %."],
  [
    "text around it stays",
    "By points:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nSo it is presented.",
    "By points:\n\na · b: 1 · 2.\n\nSo it is presented.",
  ],
  ["a table on one line", "Points: | a | b | |---|---| | 1 | 2 | | 3 | 4 |", "Points: \na · b: 1 · 2; 3 · 4."],
  ["rows without a head", "| ours | 87 % |\n| theirs | 41 % |", "ours · 87 %; theirs · 41 %."],
  ["the row of a reader of documents", "ours | 87 % | 0.3 s", "ours · 87 % · 0.3 s"],
  ["an empty cell is none", "| Hand |  | 87 % |", "Hand · 87 %."],
  [
    "a bar of mathematics is no cell's end",
    "P(A | B) is 0.3, |x| < 2 and H(payload||c_i||tag||IV)",
    "P(A | B) is 0.3, |x| < 2 and H(payload||c_i||tag||IV)",
  ],
  ["a rule alone is no table", "One.\n\n---\n\nTwo.", "One.\n\n---\n\nTwo."],
])("%s", (_, text, says) => {
  expect(tablesAsText(text)).toBe(says);
});

it("takes time in step with the text, whatever its bars", () => {
  for (const piece of ["|", "| ", "|-", "|---", "|---|", " | ", "|\n", "(|"]) {
    const long = piece.repeat(200_000);
    expect(tablesAsText(long).length).toBeLessThanOrEqual(long.length * 2);
  }
});

const table = "| Dimension | Points |\n|---|---|\n| Novelty | 4 |\n| Adoption | 2 |";
const evidence: Evidence[] = [
  { claim: "| ours | 87 % |", quote: "ours | 87 % | 0.3 s", status: "verified", locator: "Table 2" },
];
const input = {
  rrd: rrdWith([
    paper("one", {
      status: "presented",
      decision: "PRESENT",
      score: 30,
      read_depth: "full",
      notes: `${table}\n\nIt has \`code\` and is **cheap**.`,
      url: "https://example.org/one",
      analysis: { summary: "It works.", results: table, evidence },
    }),
  ]),
  ledger: [],
  queries: [],
  answers: [],
  now: new Date("2026-11-22T12:00:00Z"),
  report: {
    written_at: "2026-11-22T10:00:00Z",
    question: "Does it work?",
    answer: [{ text: "It does.", rests_on: ["one#1"] }],
    findings: [{ text: "ours | 87 % | 0.3 s", rests_on: ["one#1"] }],
    agreed: [],
    disputed: [],
    gaps: [],
    themes: [],
    recommendations: [],
  },
};

it("is text in a paper's why, results and evidence, and in a finding, on the page and in the Markdown", async () => {
  const model = reportModel(input);
  const page = [...reportPage(await contextOf(model))]
    .join("")
    .replace(/<(?:style|script)>[^]*?<\/(?:style|script)>/g, "");
  const markdown = markdownOf(model);
  for (const text of [page, markdown]) {
    expect(text).toContain("Dimension · Points: Novelty · 4; Adoption · 2.");
    expect(text).toContain("ours · 87 % · 0.3 s");
    expect(text).not.toMatch(/Novelty \\?\||ours \\?\||Dimension \\?\|/);
  }
  expect(page).toContain('<span class="why">Dimension · Points: Novelty · 4; Adoption · 2.</span>');
  expect(page).toContain("It has <code>code</code> and is <strong>cheap</strong>.");
  expect(page).not.toContain("|");
});

it("opens the page where a row stands by its first and its last cell, as no bar stands there", () => {
  const [quote] = reportModel(input).findings[0]?.quotes ?? [];
  expect(quote?.address).toBe("https://example.org/one#:~:text=ours,0.3%20s");
});
