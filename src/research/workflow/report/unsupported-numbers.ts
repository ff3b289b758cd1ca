import type { ReportResult } from "../../generated/result-report.js";
import type { Rrd } from "../../generated/rrd.js";

/**
 * Numbers of the narrative that stand in no record of the project. Small whole numbers up to ten are let pass: they count things
 * in prose. A reader is told of the rest; they are not called false.
 */
export function strayNumbers(rrd: Rrd, narrative: ReportResult): string[] {
  const known = new Set(numbersIn(JSON.stringify([rrd.papers_pool, rrd.insights, rrd.statistics, rrd.requirements])));
  const said = numbersIn(
    [
      narrative.executive_summary,
      narrative.conclusion,
      ...narrative.key_findings.map((finding) => finding.text),
      ...narrative.recommendations.map((one) => one.text),
      ...narrative.strengths,
      ...narrative.improvements,
      ...(narrative.companies ?? []).map((company) => company.notes),
      ...(narrative.comparison?.rows ?? []).flatMap((row) => row.cells),
    ].join("\n"),
  );
  return [...new Set(said)].filter(
    (number) => !known.has(number) && !(Number.isInteger(Number(number)) && Number(number) <= 10),
  );
}

/** Numbers without thousands separators and trailing zeros after the point. Digits inside words and ids (sample_03) are no numbers. */
function numbersIn(text: string): string[] {
  const found = text.match(/(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.])\d+(?:\.\d+)?/g) ?? [];
  return found.map((number) => String(Number(number.replace(/,/g, ""))));
}
