import type { AnalysisResult } from "../generated/result-analysis.js";
import type { PaperUnit, Repair } from "./brief.js";
import { analysePaper, claimOf } from "./paper.js";
import { clip } from "./words.js";

/**
 * Mends a refused analysis without the paper's text: a quote that was not found gives way to the nearest passage of the
 * text, or goes where there is none. What else the refused result has in the right shape stays; the rest is made from the
 * title and the abstract.
 */
export function repairPaper(unit: PaperUnit, repair: Repair): AnalysisResult {
  const fresh = analysePaper(unit, "");
  const { previous } = repair;
  const text = (key: "summary" | "methodology" | "results" | "limitations") => {
    const value = previous[key];
    return typeof value === "string" && value.trim() !== "" ? clip(value, 2000) : fresh[key];
  };
  const evidence = mendQuotes(previous.evidence, repair);
  return {
    ...fresh,
    summary: text("summary"),
    methodology: text("methodology"),
    results: text("results"),
    limitations: text("limitations"),
    implementations_found: strings(previous.implementations_found) ?? fresh.implementations_found,
    scores: sameShape(fresh.scores, previous.scores) ? previous.scores : fresh.scores,
    evidence: evidence.length > 0 ? evidence : fresh.evidence,
    insights: mendInsights(previous.insights) ?? fresh.insights,
    notes: clip(
      `${fresh.notes} Repaired: quotes that were not found were replaced by the nearest passage of the text, or dropped.`,
      1500,
    ),
  };
}

function mendQuotes(evidence: unknown, { passages }: Repair): AnalysisResult["evidence"] {
  // A brief may cut long quotes and passages, and marks the cut.
  const uncut = (text: string) => text.replace(/\s*…$/, "");
  const isCutOf = (cut: string, quote: string) => cut === quote || (cut.endsWith("…") && quote.startsWith(uncut(cut)));
  const mended = (Array.isArray(evidence) ? evidence : []).flatMap((item: unknown) => {
    const { claim, quote, locator } = { ...(item as Record<string, unknown> | null) };
    if (typeof quote !== "string" || quote.trim() === "") return [];
    const missing = passages.find((each) => isCutOf(each.quote, quote));
    const passage = missing && uncut(missing.nearest);
    if (passage === undefined) {
      return [
        {
          claim: typeof claim === "string" && claim !== "" ? clip(claim, 600) : claimOf(quote),
          quote: quote.slice(0, 1500),
          locator: typeof locator === "string" ? locator.slice(0, 200) : null,
        },
      ];
    }
    // The old claim rested on words that are not there, so the passage makes its own.
    return passage.trim() === "" ? [] : [{ claim: claimOf(passage), quote: passage.slice(0, 1500), locator: null }];
  });
  return mended.filter((item, index) => mended.findIndex((other) => other.quote === item.quote) === index).slice(0, 40);
}

function mendInsights(insights: unknown): AnalysisResult["insights"] | undefined {
  if (!Array.isArray(insights)) return undefined;
  return insights.slice(0, 12).flatMap((item: unknown) => {
    const { insight, tags } = { ...(item as Record<string, unknown> | null) };
    if (typeof insight !== "string" || insight.trim() === "") return [];
    return [{ insight: clip(insight, 800), tags: (strings(tags) ?? []).slice(0, 10).map((tag) => tag.slice(0, 60)) }];
  });
}

/** Whether `value` has exactly the dimensions of `scores`, each a whole number from 0 to 5. */
function sameShape(scores: AnalysisResult["scores"], value: unknown): value is AnalysisResult["scores"] {
  const same = (a: unknown, b: unknown): boolean => {
    if (typeof a === "number") return Number.isInteger(b) && Number(b) >= 0 && Number(b) <= 5;
    if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) return false;
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => same(Reflect.get(a, key), Reflect.get(b, key)));
  };
  return same(scores, value);
}

const strings = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((item) => typeof item === "string")
    ? value.filter((item) => item.length <= 2000).slice(0, 30)
    : undefined;
