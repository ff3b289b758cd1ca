import { describe, expect, it } from "vitest";
import { findQuote } from "../../../src/text/evidence/find-quote.js";
import { asRow } from "../../../src/text/evidence/quote-variants/rows.js";

const text =
  "Measure | Before | After | p\nAge, years (SD) | 61.2 | 60.8 | –\nWrist used | 1 (1.5%) | 2 (3%) | - | NS\nEvents | 12 | 500 | 0.04\nTrials in the lab | 3 | 4,500 | 0.5\n\nThe end came.";

describe("a quote whose parts are the cells of a row", () => {
  it.each([
    "Age, years (SD), 61.2, 60.8, –",
    "Age, years (SD) & 61.2 & 60.8 & -",
    "Age, years (SD) & 61.2 & 60.8 & - \\\\ \\hline",
    "Age, years (SD); 61.2; 60.8",
    "Wrist used 1 (1.5%) 2 (3%) - NS",
    "Age, years (SD)\t61.2\t60.8\t–",
    "| Trials in the lab | 3 | 4,500 | 0.5 |",
    "Trials in the lab, 3, 4,500, 0.5",
    "Trials in the lab \\& 3 \\& 4,500",
  ])("has the borders of the row: '%s'", (quote) => {
    expect(asRow(quote, text)).toMatch(/ \| /);
    expect(findQuote(text, quote).found).toBe(true);
  });

  it.each([
    "Events of all, 12,500, 0.04",
    "Events, 12,500, 0.04",
    "Trials in the lab, 3, 4, 500, 0.5",
    "Trials in the lab & 4,500 & 3 & 0.5",
    "Age, years (SD) & 60.8 & 61.2",
    "Trials in the lab & 4,500 & 0.5",
    "Age, years (SD), 12, 500, 0.04",
  ])("is none of its numbers joined, moved, left out or another row's: '%s'", (quote) => {
    expect(asRow(quote, text)).toBe(quote);
    expect(findQuote(text, quote).found).toBe(false);
  });

  it("is left as it is where the text has no rows", () => {
    expect(asRow("a hand, an arm, and a leg", "a hand, an arm, and a leg")).toBe("a hand, an arm, and a leg");
  });
});
