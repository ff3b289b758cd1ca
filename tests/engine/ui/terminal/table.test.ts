import { expect, test } from "vitest";
import { tableLines } from "../../../../src/engine/ui/terminal/table.js";

const names = (rows: readonly string[], maxWidth: number): string[] =>
  tableLines(
    [{ cut: "before-date" }],
    rows.map((name) => [name]),
    maxWidth,
  );

test("a shortened name keeps its date", () => {
  const topic = "do-heat-pumps-save-energy-in-cold-climates";
  expect(names([`${topic}-2026-11-28`, `${topic}-2026-11-29`, `${topic}-2026-11-29-2`], 26)).toEqual([
    "do-heat-pumps-…-2026-11-28",
    "do-heat-pumps-…-2026-11-29",
    "do-heat-pump…-2026-11-29-2",
  ]);
});

test("a shortened name keeps the words before the date where they alone distinguish it", () => {
  expect(
    names(["do-heat-pumps-save-energy-in-norway-2026-11-29", "do-heat-pumps-save-energy-in-germany-2026-11-29"], 26),
  ).toEqual(["do-heat-pump…ay-2026-11-29", "do-heat-pump…ny-2026-11-29"]);
});

test("names that differ at their beginnings are cut at the end", () => {
  expect(names(["does-melatonin-help-2026-11-29", "do-heat-pumps-save-2026-11-28"], 16)).toEqual([
    "does-melatonin-…",
    "do-heat-pumps-s…",
  ]);
});

test("equal names and names that differ nowhere a cut can show are cut before the date", () => {
  const name = "a-name-longer-than-the-column-2026-11-29";
  expect(names([name, name], 20)).toEqual(["a-name-l…-2026-11-29", "a-name-l…-2026-11-29"]);
});

test("columns that may be omitted go before a name is shortened to less than 28 columns, and only then it is", () => {
  const columns = [{ cut: "before-date" }, {}, { dropOrder: 1 }] as const;
  const row = ["a-name-longer-than-the-column-2026-11-29", "9/9", "COMPLETE"];
  const line = (maxWidth: number) => tableLines(columns, [row], maxWidth)[0];
  expect(line(44)).toBe("a-name-longer-tha…-2026-11-29  9/9  COMPLETE");
  expect(line(42)).toBe("a-name-longer-than-the-co…-2026-11-29  9/9");
  expect(line(25)).toBe("a-name-l…-2026-11-29  9/9");
});
