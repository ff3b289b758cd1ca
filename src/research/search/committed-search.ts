import { rm } from "node:fs/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { readRegularUpTo } from "../../engine/storage/regular-file.js";
import { stateVersion } from "../../engine/storage/state/format-version.js";
import type { PaperRecord } from "../papers/paper-record.js";
import type { Listing } from "./result-list.js";
import { checkedSearchRecord, type SearchRecord } from "./search-record.js";

/** What is committed stays small: some ten thousand records with their abstracts. */
const maxBytes = 5_000_000;
const maxUnpacked = 100_000_000;

/** The same with each record once, however many questions brought it. */
interface Packed extends Omit<SearchRecord, "listings"> {
  readonly format: number;
  readonly records: readonly PaperRecord[];
  readonly listings: readonly (Omit<Listing, "records"> & { readonly records: readonly number[] })[];
}

/**
 * Keeps what a search has found next to rrd.json, in a form small enough to commit, so that a clone of the project can
 * replay it: records as sources describe them, with their abstracts, and never a full text. A search too large for that
 * leaves none. The same search gives the same bytes, and writes nothing.
 */
export async function commitSearch(path: string, kept: SearchRecord): Promise<void> {
  const bytes = pack(kept);
  const before = await readRegularUpTo(path, maxBytes).catch(() => undefined);
  if (bytes === undefined || bytes.length > maxBytes) return await rm(path, { force: true });
  if (!(before instanceof Buffer) || !before.equals(bytes)) await writeFileAtomic(path, bytes, { durable: false });
}

function pack({ search, day, steps, listings }: SearchRecord): Buffer | undefined {
  const indexOf = new Map<string, number>();
  const records: PaperRecord[] = [];
  const packed: Packed = {
    format: stateVersion,
    search,
    day,
    steps,
    records,
    listings: listings.map((listing) => ({
      ...listing,
      records: listing.records.map((record) => {
        const key = JSON.stringify(record);
        const index = indexOf.get(key) ?? records.push(record) - 1;
        indexOf.set(key, index);
        return index;
      }),
    })),
  };
  const text = JSON.stringify(packed);
  return text.length > maxUnpacked ? undefined : gzipSync(text, { level: 9 });
}

/** What was committed of a search; undefined where nothing was, or nothing that can be read. Throws never. */
export async function readCommittedSearch(path: string): Promise<SearchRecord | undefined> {
  try {
    const bytes = await readRegularUpTo(path, maxBytes);
    if (typeof bytes === "number") return undefined;
    const { records, listings, ...rest } = JSON.parse(
      gunzipSync(bytes, { maxOutputLength: maxUnpacked }).toString("utf8"),
    ) as Packed;
    // Each place in a list is a record of its own: they are told apart as objects.
    const unpacked = listings.map((listing) => ({
      ...listing,
      records: listing.records.map((index) => ({ ...(records[index] as PaperRecord) })),
    }));
    const whole = checkedSearchRecord({ ...rest, listings: unpacked }, rest.search);
    return whole === "broken" ? undefined : whole;
  } catch {
    return undefined;
  }
}
