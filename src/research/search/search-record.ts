import { createHash } from "node:crypto";
import type { Step } from "../generated/rrd.js";
import { dirname } from "node:path";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { makeFolder, readRegularText } from "../../engine/storage/regular-file.js";
import { isNewer, stateVersion } from "../../engine/storage/state/format-version.js";
import { hasCode } from "../../engine/lib/errors.js";
import type { Listing } from "./result-list.js";
import type { PaperRecord } from "../papers/paper-record.js";

/** A search under way: what was asked so far and what came back, so that no batch asks it again. */
export interface SearchRecord {
  /** Stands for what is searched for; another search begins again. */
  readonly search: string;
  /** The day that counts as today in all of its rounds, YYYY-MM-DD. */
  readonly day: string;
  readonly steps: readonly Step[];
  readonly listings: readonly Listing[];
}

/** What was read last: a run reads the same before each batch. By a hash, as the text may have 20 MB. */
let last: { readonly sha256: string; readonly value: unknown } | undefined;

function parsedOnce(text: string): unknown {
  const sha256 = createHash("sha256").update(text).digest("hex");
  if (last?.sha256 !== sha256) last = { sha256, value: JSON.parse(text) };
  return last.value;
}

/**
 * What is kept of this search, the same object while the file is the same; undefined where nothing is, or another
 * search; `broken` where what is there can't be read. Throws never.
 */
export async function readSearchRecord(path: string, search: string): Promise<SearchRecord | "broken" | undefined> {
  try {
    return checkedSearchRecord(parsedOnce(await readRegularText(path)), search);
  } catch (error) {
    return hasCode(error, "ENOENT", "ENOTDIR") ? undefined : "broken";
  }
}

/** A value as what is kept of this search; undefined where it is of another search or of a later version. */
export function checkedSearchRecord(value: unknown, search: string): SearchRecord | "broken" | undefined {
  const kept = value as Partial<SearchRecord> | null;
  // It is only a cache: one of a later version is as none.
  if (isNewer(kept) || (typeof kept?.search === "string" && kept.search !== search)) return undefined;
  const { day, steps, listings } = kept ?? {};
  const isWhole =
    typeof day === "string" &&
    Array.isArray(steps) &&
    Array.isArray(listings) &&
    listings.every((each) => isListing(each));
  return isWhole && kept?.search === search ? { search, day, steps, listings } : "broken";
}

const isListing = (value: unknown): value is Listing => {
  const { step, source, asked, status, records } = (value ?? {}) as Partial<Listing>;
  const isWhole = typeof step === "number" && [source, asked, status].every((text) => typeof text === "string");
  return isWhole && Array.isArray(records) && records.every((each) => isRecord(each));
};

const isRecord = (value: unknown): value is PaperRecord => {
  const { id, title, url, source, authors, identifiers } = (value ?? {}) as Partial<PaperRecord>;
  return (
    [id, title, url, source].every((text) => typeof text === "string") &&
    Array.isArray(authors) &&
    typeof identifiers === "object" &&
    identifiers !== null
  );
};

/** Keeps a search. It may be lost with a kill: the cache of answers holds it too. */
export async function writeSearchRecord(path: string, kept: SearchRecord): Promise<void> {
  withExplainedErrors(path, () => makeFolder(dirname(path)));
  await writeFileAtomic(path, JSON.stringify({ ...kept, format: stateVersion }), { durable: false });
}
