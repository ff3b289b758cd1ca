import { describe, expect, it } from "vitest";
import { checkNumbers } from "../../../src/text/evidence/numbers/check-numbers.js";
import { findQuote } from "../../../src/text/evidence/find-quote.js";

const statusOf = (inText: string, inQuote: string): string => {
  const sentence = (what: string) => `We saw that ${what} was kept in the second run of the trial.`;
  const match = findQuote(sentence(inText), sentence(inQuote));
  return match.found ? "found" : match.near === undefined ? "other" : "near";
};

describe("a number in another unit, or rounded within its last digit, is near", () => {
  it.each([
    ["a fever of 39.0 °C", "a fever of 102.2 °F"],
    ["a bath at 298 K", "a bath at 25 °C"],
    ["a mass of 2.5 kg", "a mass of 2,500 g"],
    ["a weight of 150 lb", "a weight of 68.0 kg"],
    ["a length of 5 inches", "a length of 12.7 cm"],
    ["a pressure of 760 mmHg", "a pressure of 101.3 kPa"],
    ["a level of 1.2 mg/dL", "a level of 12 mg/L"],
    ["a speed of 10 m/s", "a speed of 36 km/h"],
    ["a volume of 5 cm³", "a volume of 5 mL"],
    ["a stay of 2 years", "a stay of 24 months"],
    ["a count of 1.25 × 10⁴ cells", "a count of 12,500 cells"],
    ["a value of 3 × 10⁻⁵ M", "a value of 30 µM"],
    ["a range of 10–20 mg", "a range of 0.01–0.02 g"],
    ["a ratio of 0.754 (95% CI 0.612–0.921)", "a ratio of 0.75 (95% CI 0.61–0.92)"],
    ["a mean of 61.24 ± 5.44 kg", "a mean of 61.2 ± 5.4 kg"],
  ])("%s: %s", (inText, inQuote) => expect(statusOf(inText, inQuote)).toBe("near"));
});

describe("another number is not near", () => {
  it.each([
    ["a fever of 39.0 °C", "a fever of 103.2 °F"],
    ["a rise of 5 °C", "a rise of 5 °F"],
    ["a stay of 3 months", "a stay of 90 days"],
    ["a level of 5.5 mmol/L", "a level of 99 mg/dL"],
    ["a dose of 5 mg/day", "a dose of 5 mg"],
    ["a value of 3.01 × 10⁻⁴", "a value of 3.0 × 10⁻⁵"],
    ["a value of 3.0 × 10⁻⁵", "a value of 3.0 × 10⁵"],
    ["a rate of 12.47%", "a rate of 12.4%"],
    ["a change of −0.34 points", "a change of 0.34 points"],
    ["a ratio of 0.754 (95% CI 0.612–0.921)", "a ratio of 0.75 (95% CI 0.61–0.93)"],
    ["an area of 2 m²", "an area of 200 cm²"],
    ["a relay of 4 × 100 m", "a relay of 4 m"],
    ["a sum of €1.5 million", "a sum of $1.5 million"],
  ])("%s: %s", (inText, inQuote) => expect(statusOf(inText, inQuote)).toBe("other"));
});

describe("a number of a result, by what a quote has", () => {
  it.each([
    ["12.5 %", "12,5 % der Fälle", "verified"],
    ["a rate of 94", "a rate of 94 %", "verified"],
    ["a load of 94", "a load of 94 kg", "verified"],
    ["a load of 94 kg", "a load of 94 m", "not-in-text"],
    ["p = 0.05", "p = 0,05", "verified"],
    ["1.2 × 10⁵ cells", "120,000 cells", "verified"],
    ["5 mg daily", "5 mg/day", "verified"],
    ["15 to 20 mg", "15–20 mg", "verified"],
    ["a load of 10⁶ CFU", "a load of 10^6 CFU", "verified"],
    ["a load of 1,000,000 CFU", "a load of 10⁶ CFU", "verified"],
    ["a load of 10⁶ CFU", "a load of 10⁵ CFU", "not-in-text"],
    ["p ‹ 10⁻⁶", "p ‹ 10⁻⁴", "not-in-text"],
    ["12 repetitions", "3 × 10–12 repetitions", "verified"],
    ["a mean age of 65.2 years", "a mean age of 65.2 (SD 8.1)", "verified"],
    ["a mean age of 65.2 years", "a mean age of 66.2 (SD 8.1)", "not-in-text"],
    ["a follow-up of 12 years", "follow-up was 12 y", "verified"],
    ["a follow-up of 24 months", "median follow-up (months): 24", "verified"],
    ["a pressure of 140 mmHg", "systolic 140", "verified"],
    ["aged 18–65 years", "aged 18-65", "verified"],
    ["293.15 K", "stored at −20 °C", "not-in-text"],
    ["253.15 K", "stored at −20 °C", "near"],
    ["−4 °F", "stored at −20 °C", "near"],
    ["77 °F", "heated to 77 degrees Fahrenheit", "verified"],
    ["24 months", "2 years", "near"],
    ["a change of −13.2 points", "a change of −13.2 points", "verified"],
    ["reduced by 13.2 points", "a change of −13.2 points", "verified"],
    ["a change of −13.2 points", "a change of 13.2 points", "near"],
    ["3 × 10⁻⁵", "3 × 10⁻⁴", "not-in-text"],
  ] as const)("%s, where it has %s, is %s", (said, quote, status) => {
    const text = { text: "", marks: [], sha256: "", kind: "text", depth: "full" } as never;
    const [first] = checkNumbers(said, [{ claim: "c", quote, status: "verified" }], text);
    expect(first?.status).toBe(status);
  });
});

it("takes a small number of years for the word that the paper has", () => {
  const text = { text: "", marks: [], sha256: "", kind: "text", depth: "full" } as never;
  const evidence = [{ claim: "c", quote: "They were followed for two years.", status: "verified" } as const];
  expect(checkNumbers("followed for 2 years", evidence, text)).toEqual([]);
});
