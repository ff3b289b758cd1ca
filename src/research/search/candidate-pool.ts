import type { Step } from "../generated/rrd.js";
import { type Apart, type Merge, mergeRecords } from "../papers/dedup/merge-records.js";
import type { Listing, Open } from "./result-list.js";
import type { PaperRecord } from "../papers/paper-record.js";
import { runStep } from "./run-round.js";
import type { MergedRecord } from "../papers/dedup/merge-fields.js";

/** One place at which a source listed a work; the first is 0. */
interface Place {
  readonly source: string;
  readonly asked: string;
  readonly rank: number;
  readonly seed?: string;
}

/** A work of the pool, with every place at which it was listed. */
export interface Pooled extends MergedRecord {
  readonly places: readonly Place[];
}

export interface Pool {
  readonly records: readonly Pooled[];
  readonly merges: readonly Merge[];
}

/** Reciprocal rank fusion: what stands first in one list weighs as much as what stands in the middle of two. */
const fusion = 60;
const fused = ({ places }: Pooled): number => places.reduce((sum, { rank }) => sum + 1 / (fusion + rank + 1), 0);

/**
 * Makes rounds of asking and puts the answers together. Without any clock or chance of its own: the same answers give the same pool, which is
 * how a search is replayed.
 */
export async function assemblePool(steps: readonly Step[], open: Open, apart: readonly Apart[] = []): Promise<Pool> {
  const listings: Listing[] = [];
  for (const [index, step] of steps.entries()) listings.push(...(await runStep(index, step, open)));
  return poolOf(listings, apart);
}

/** The works that the answers name, those that most lists put first at the front. */
export function poolOf(listings: readonly Listing[], apart: readonly Apart[] = []): Pool {
  const places = new Map<PaperRecord, Place>();
  for (const { source, asked, records, seed } of listings)
    for (const [rank, record] of records.entries())
      places.set(record, { source, asked, rank, ...(seed === undefined ? {} : { seed }) });
  const { records, merges } = mergeRecords([...places.keys()], apart);
  const pooled = records.map((record) => ({
    ...record,
    places: record.members.flatMap((member) => places.get(member) ?? []),
  }));
  return { records: pooled.toSorted((a, b) => fused(b) - fused(a) || (a.id < b.id ? -1 : 1)), merges };
}

/** The pool as it is written and compared. */
export const poolText = (steps: readonly Step[], { records, merges }: Pool): string =>
  `${JSON.stringify({ steps, records, merges }, null, 1)}\n`;
