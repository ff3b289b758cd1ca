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

/** The state of a search: the answers so far, so that no batch asks the same questions again. */
export interface SearchRecord {
  /** Identifies the search. With another value the search starts again. */
  readonly search: string;
  /** The day that counts as today in all rounds, YYYY-MM-DD. */
  readonly day: string;
  readonly steps: readonly Step[];
  readonly listings: readonly Listing[];
}

/**
 * The last parsed text, because a run reads the same file before each batch. It is stored by its hash: the text can
 * have 20 MB.
 */
let lastParsed: { readonly sha256: string; readonly value: unknown } | undefined;

function parseOnce(text: string): unknown {
  const sha256 = createHash("sha256").update(text).digest("hex");
  if (lastParsed?.sha256 !== sha256) lastParsed = { sha256, value: JSON.parse(text) };
  return lastParsed.value;
}

/**
 * Reads the record of this search, the same object while the file is unchanged. Undefined if there is no record or it
 * belongs to another search; `broken` if the file can't be read. Never throws.
 */
export async function readSearchRecord(path: string, search: string): Promise<SearchRecord | "broken" | undefined> {
  try {
    return checkSearchRecord(parseOnce(await readRegularText(path)), search);
  } catch (error) {
    return hasCode(error, "ENOENT", "ENOTDIR") ? undefined : "broken";
  }
}

/** Checks a value read from a file. Undefined if it belongs to another search or was written by a later version. */
export function checkSearchRecord(value: unknown, search: string): SearchRecord | "broken" | undefined {
  const record = value as Partial<SearchRecord> | null;
  // The record is only a cache, so one of a later version is ignored.
  if (isNewer(record) || (typeof record?.search === "string" && record.search !== search)) return undefined;
  const { day, steps, listings } = record ?? {};
  const isValid =
    typeof day === "string" &&
    Array.isArray(steps) &&
    Array.isArray(listings) &&
    listings.every((listing) => isListing(listing));
  return isValid && record?.search === search ? { search, day, steps, listings } : "broken";
}

const isListing = (value: unknown): value is Listing => {
  const { step, source, asked, status, records } = (value ?? {}) as Partial<Listing>;
  const hasTexts = typeof step === "number" && [source, asked, status].every((text) => typeof text === "string");
  return hasTexts && Array.isArray(records) && records.every((record) => isRecord(record));
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

/** Writes the record of a search. A crash can lose it, because the cache of answers has the same content. */
export async function writeSearchRecord(path: string, record: SearchRecord): Promise<void> {
  withExplainedErrors(path, () => makeFolder(dirname(path)));
  await writeFileAtomic(path, JSON.stringify({ ...record, format: stateVersion }), { isDurable: false });
}
