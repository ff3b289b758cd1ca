import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Requirements, Step } from "../generated/rrd.js";

/** Keywords of one round: each costs a request a source, and the first may bring enough. */
const maxKeywords = 10;
/** Records of one query: fewer give the ranking nothing to choose from, more are never looked at. */
const minRecords = 10;
const maxRecords = 50;

/**
 * The rounds of a search, breadth first: every keyword in the recent window, then every keyword in the time before it
 * that still counts; at maxRecords ten keywords a round. `today` is YYYY-MM-DD, `target` the papers wanted.
 */
export function planSearch(
  requirements: Pick<
    Requirements,
    "keywords" | "focus_area" | "time_window_days" | "historical_lookback_days" | "published_from" | "published_until"
  >,
  wanted: { readonly target: number; readonly today: string; readonly sources: readonly string[] },
): Step[] {
  const terms = termsOf(requirements);
  if (terms.length === 0 || wanted.sources.length === 0) return [];
  const each = Math.min(maxRecords, Math.max(minRecords, Math.ceil((3 * wanted.target) / terms.length)));
  const tens = Array.from({ length: Math.ceil(terms.length / maxKeywords) }, (_, index) =>
    terms.slice(index * maxKeywords, (index + 1) * maxKeywords),
  );
  return windowsOf(requirements, wanted.today).flatMap((window) =>
    tens.map((some): Step => ({
      kind: "search",
      sources: [...wanted.sources],
      queries: some.map((text) => ({ terms: text, ...window, most: each })),
    })),
  );
}

/** Search terms that none of these rounds asked for. */
export function termsNotAsked(
  requirements: Pick<Requirements, "keywords" | "focus_area">,
  steps: readonly Step[],
): string[] {
  const asked = new Set(
    steps.flatMap((step) => (step.kind === "search" ? step.queries.map(({ terms }) => terms) : [])),
  );
  return termsOf(requirements).filter((term) => !asked.has(term));
}

/** A keyword that is one word says too little by itself, so the field goes with it. */
function termsOf({ keywords = [], focus_area }: Pick<Requirements, "keywords" | "focus_area">): string[] {
  const field = (focus_area ?? "").trim();
  const whole = keywords.map((keyword) => keyword.trim()).filter((keyword) => keyword !== "");
  const terms = (whole.length === 0 ? [field] : whole).map((keyword) => {
    const isOne = !/[\s-]/.test(keyword);
    return isOne && field !== "" && !field.toLowerCase().includes(keyword.toLowerCase())
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
    time_window_days: recent,
    historical_lookback_days: back,
    published_from: from,
    published_until: until,
  }: Partial<Requirements>,
  today: string,
): Window[] {
  if (from != null || until != null) return [withoutUndefined({ from: from ?? undefined, until: until ?? undefined })];
  const before = (days: number) => dayBefore(today, Math.ceil(days));
  if (recent == null) return [back == null ? {} : { from: before(back) }];
  const windows: Window[] = [{ from: before(recent), until: today }];
  if (back != null && back > recent) windows.push({ from: before(back), until: before(recent + 1) });
  return windows;
}

/** The day some days before another, both YYYY-MM-DD. Windows longer than the calendar end in year 1. */
function dayBefore(today: string, days: number): string {
  const then = Date.parse(`${today}T00:00:00Z`) - days * 86_400_000;
  return new Date(Math.max(then, Date.parse("0001-01-01T00:00:00Z"))).toISOString().slice(0, 10);
}
