import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Requirements, Step } from "../generated/rrd.js";

/** Keywords in one round. Each costs one request per source, and the first keywords may give enough papers. */
const maxKeywords = 10;
/** Minimum number of records per query: a ranking of fewer records is useless. */
const minRecords = 10;
/** Maximum number of records per query. More would never be screened. */
const maxRecords = 50;

/**
 * The rounds of a search, at most ten keywords each: first all keywords in the recent window, then all keywords in the
 * earlier period that still counts. `today`: YYYY-MM-DD. `target`: number of wanted papers.
 */
export function planSearch(
  requirements: Pick<
    Requirements,
    "keywords" | "focus_area" | "time_window_days" | "historical_lookback_days" | "published_from" | "published_until"
  >,
  goal: { readonly target: number; readonly today: string; readonly sources: readonly string[] },
): Step[] {
  const terms = termsOf(requirements);
  if (terms.length === 0 || goal.sources.length === 0) return [];
  const recordsPerQuery = Math.min(maxRecords, Math.max(minRecords, Math.ceil((3 * goal.target) / terms.length)));
  const groups = Array.from({ length: Math.ceil(terms.length / maxKeywords) }, (_, index) =>
    terms.slice(index * maxKeywords, (index + 1) * maxKeywords),
  );
  return windowsOf(requirements, goal.today).flatMap((window) =>
    groups.map((group): Step => ({
      kind: "search",
      sources: [...goal.sources],
      queries: group.map((text) => ({ terms: text, ...window, most: recordsPerQuery })),
    })),
  );
}

/** Search terms that none of these rounds contains. */
export function unusedTerms(
  requirements: Pick<Requirements, "keywords" | "focus_area">,
  steps: readonly Step[],
): string[] {
  const askedTerms = new Set(
    steps.flatMap((step) => (step.kind === "search" ? step.queries.map(({ terms }) => terms) : [])),
  );
  return termsOf(requirements).filter((term) => !askedTerms.has(term));
}

/** The search terms of a project. The field is added to a keyword of one word, which would be too general. */
function termsOf({ keywords = [], focus_area }: Pick<Requirements, "keywords" | "focus_area">): string[] {
  const field = (focus_area ?? "").trim();
  const trimmedKeywords = keywords.map((keyword) => keyword.trim()).filter((keyword) => keyword !== "");
  const terms = (trimmedKeywords.length === 0 ? [field] : trimmedKeywords).map((keyword) => {
    const isSingleWord = !/[\s-]/.test(keyword);
    return isSingleWord && field !== "" && !field.toLowerCase().includes(keyword.toLowerCase())
      ? `${keyword} ${field}`
      : keyword;
  });
  return [...new Set(terms.filter((term) => term !== ""))];
}

interface Window {
  readonly from?: string;
  readonly until?: string;
}

function windowsOf(
  {
    time_window_days: windowDays,
    historical_lookback_days: lookbackDays,
    published_from: from,
    published_until: until,
  }: Partial<Requirements>,
  today: string,
): Window[] {
  if (from != null || until != null) return [withoutUndefined({ from: from ?? undefined, until: until ?? undefined })];
  const daysAgo = (days: number) => dayBefore(today, Math.ceil(days));
  if (windowDays == null) return [lookbackDays == null ? {} : { from: daysAgo(lookbackDays) }];
  const windows: Window[] = [{ from: daysAgo(windowDays), until: today }];
  if (lookbackDays != null && lookbackDays > windowDays)
    windows.push({ from: daysAgo(lookbackDays), until: daysAgo(windowDays + 1) });
  return windows;
}

/** The day `days` before `today`, both YYYY-MM-DD, but not before the year 1. */
function dayBefore(today: string, days: number): string {
  const time = Date.parse(`${today}T00:00:00Z`) - days * 86_400_000;
  return new Date(Math.max(time, Date.parse("0001-01-01T00:00:00Z"))).toISOString().slice(0, 10);
}
