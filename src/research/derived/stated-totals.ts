import type { Rrd, Statistics } from "../generated/rrd.js";

/** A statement in the file that contradicts its records. */
export interface Difference {
  /** JSON pointer into rrd.json. */
  readonly pointer: string;
  readonly stated: unknown;
  readonly derived: unknown;
}

/** Leaf values that are in both objects and differ. Averages may differ by 0.1. */
export function findDifferences(stated: object, derived: object, pointer: string): Difference[] {
  return Object.entries(stated).flatMap(([key, value]) => {
    const actual = (derived as Record<string, unknown>)[key];
    const valuePointer = `${pointer}/${key}`;
    if (actual === undefined || value == null) return [];
    const isList = Array.isArray(value) || Array.isArray(actual);
    if (!isList && typeof value === "object" && typeof actual === "object" && actual !== null)
      return findDifferences(value, actual, valuePointer);
    const isEqual =
      typeof value === "number" && typeof actual === "number"
        ? Math.abs(value - actual) < 0.11
        : JSON.stringify(value) === JSON.stringify(actual);
    return isEqual ? [] : [{ pointer: valuePointer, stated: value, derived: actual }];
  });
}

/**
 * Totals and averages in which a file differs from its records. Undefined if nothing differs, or if this program wrote
 * the file: then the statistics are only outdated. Statements that were recorded earlier stay.
 */
export function statedDifferences(rrd: Rrd, derived: NonNullable<Statistics>): Record<string, unknown> | undefined {
  const { statistics, format, loop } = rrd;
  if (format !== undefined || loop != null || statistics == null) return undefined;
  const allDifferences = [
    ...findDifferences(totalsOf(statistics), derived, ""),
    ...findDifferences(statistics.analysis_metrics ?? {}, derived.analysis_metrics ?? {}, ""),
  ];
  const isLeaf = ({ pointer }: Difference) => pointer.lastIndexOf("/") === 0;
  const topField = ({ pointer }: Difference) => pointer.split("/")[1] ?? "";
  const metrics = statistics.analysis_metrics as Record<string, unknown> | null | undefined;
  const entries = allDifferences.map(
    (difference) =>
      [topField(difference), isLeaf(difference) ? difference.stated : metrics?.[topField(difference)]] as const,
  );
  return entries.length === 0 ? undefined : { ...Object.fromEntries(entries), ...statistics.stated };
}

const totalsOf = (statistics: object): object =>
  Object.fromEntries(Object.entries(statistics).filter(([name]) => name.startsWith("total_")));
