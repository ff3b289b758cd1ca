import type { Rrd, Statistics } from "../generated/rrd.js";

/** What a file says of itself that its own records contradict. */
export interface Difference {
  /** JSON pointer into rrd.json. */
  readonly pointer: string;
  readonly stated: unknown;
  readonly derived: unknown;
}

/** Leaves that both sides have and that differ; averages are compared to a tenth. */
export function differences(stated: object, derived: object, pointer: string): Difference[] {
  return Object.entries(stated).flatMap(([key, value]) => {
    const actual = (derived as Record<string, unknown>)[key];
    const at = `${pointer}/${key}`;
    if (actual === undefined || value == null) return [];
    const isList = Array.isArray(value) || Array.isArray(actual);
    if (!isList && typeof value === "object" && typeof actual === "object" && actual !== null)
      return differences(value, actual, at);
    const isSame =
      typeof value === "number" && typeof actual === "number"
        ? Math.abs(value - actual) < 0.11
        : JSON.stringify(value) === JSON.stringify(actual);
    return isSame ? [] : [{ pointer: at, stated: value, derived: actual }];
  });
}

/**
 * Totals and averages that a file states otherwise than its records: undefined where they agree, and where this program
 * wrote the file, whose statistics are then only older. What was kept once stays.
 */
export function statedOtherwise(rrd: Rrd, derived: NonNullable<Statistics>): Record<string, unknown> | undefined {
  const { statistics, format, loop } = rrd;
  if (format !== undefined || loop != null || statistics == null) return undefined;
  const all = [
    ...differences(totalsOf(statistics), derived, ""),
    ...differences(statistics.analysis_metrics ?? {}, derived.analysis_metrics ?? {}, ""),
  ];
  const isLeaf = ({ pointer }: Difference) => pointer.lastIndexOf("/") === 0;
  const whole = ({ pointer }: Difference) => pointer.split("/")[1] ?? "";
  const metrics = statistics.analysis_metrics as Record<string, unknown> | null | undefined;
  const entries = all.map((one) => [whole(one), isLeaf(one) ? one.stated : metrics?.[whole(one)]] as const);
  return entries.length === 0 ? undefined : { ...Object.fromEntries(entries), ...statistics.stated };
}

const totalsOf = (statistics: object): object =>
  Object.fromEntries(Object.entries(statistics).filter(([name]) => name.startsWith("total_")));
