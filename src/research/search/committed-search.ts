import { rm } from "node:fs/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { readRegularUpTo } from "../../engine/storage/regular-file.js";
import { stateVersion } from "../../engine/storage/state/format-version.js";
import type { PaperRecord } from "../papers/paper-record.js";
import type { Listing } from "./result-list.js";
import { checkSearchRecord, type SearchRecord } from "./search-record.js";

/** Limits the committed file: about ten thousand records with abstracts. */
const maxBytes = 5_000_000;
const maxUnpackedBytes = 100_000_000;

/** A search record in which `records` contains each paper once; listings refer to them by index. */
interface PackedSearch extends Omit<SearchRecord, "listings"> {
  readonly format: number;
  readonly records: readonly PaperRecord[];
  readonly listings: readonly (Omit<Listing, "records"> & { readonly records: readonly number[] })[];
}

/**
 * Saves a search next to rrd.json, small enough to commit, so that a clone of the project can replay it. It contains
 * the records of sources with abstracts, never full texts. If a search is too large, no file is kept. The same search
 * gives the same bytes, and then the file is not written again.
 */
export async function commitSearch(path: string, search: SearchRecord): Promise<void> {
  const bytes = pack(search);
  const existing = await readRegularUpTo(path, maxBytes).catch(() => undefined);
  if (bytes === undefined || bytes.length > maxBytes) return await rm(path, { force: true });
  if (!(existing instanceof Buffer) || !existing.equals(bytes))
    await writeFileAtomic(path, bytes, { isDurable: false });
}

function pack({ search, day, steps, listings }: SearchRecord): Buffer | undefined {
  const indexOf = new Map<string, number>();
  const records: PaperRecord[] = [];
  const packedSearch: PackedSearch = {
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
  const text = JSON.stringify(packedSearch);
  return text.length > maxUnpackedBytes ? undefined : gzipSync(text, { level: 9 });
}

/** Reads a committed search; undefined if it is missing or can't be read. Never throws. */
export async function readCommittedSearch(path: string): Promise<SearchRecord | undefined> {
  try {
    const bytes = await readRegularUpTo(path, maxBytes);
    if (typeof bytes === "number") return undefined;
    const { records, listings, ...rest } = JSON.parse(
      gunzipSync(bytes, { maxOutputLength: maxUnpackedBytes }).toString("utf8"),
    ) as PackedSearch;
    // Each entry in a list becomes a separate object, because listings are compared by object.
    const unpackedListings = listings.map((listing) => ({
      ...listing,
      records: listing.records.map((index) => ({ ...(records[index] as PaperRecord) })),
    }));
    const checkedRecord = checkSearchRecord({ ...rest, listings: unpackedListings }, rest.search);
    return checkedRecord === "broken" ? undefined : checkedRecord;
  } catch {
    return undefined;
  }
}
