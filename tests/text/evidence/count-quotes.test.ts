import { expect, test } from "vitest";
import { countQuotes } from "../../../src/text/evidence/count-quotes.js";
import type { Evidence } from "../../../src/text/evidence/evidence-record.js";

const found = (claim: string, quote: string): Evidence => ({ claim, quote, status: "verified", locator: null });

test("a quote that stands twice counts once, whatever it is the quote of", () => {
  const missing: Evidence = { claim: "d", quote: "Not  there", status: "not-in-text", locator: null };
  expect(
    countQuotes([
      found("a", "One."),
      found("b", "One."),
      found("c", "Two."),
      missing,
      { ...missing, quote: "not there" },
    ]),
  ).toEqual({ given: 3, verified: 2, near: 0, notInText: 1, couldNotCheck: 0 });
});
