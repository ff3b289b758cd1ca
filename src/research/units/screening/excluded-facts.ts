import { given } from "../../../engine/lib/given.js";
import type { Exclusion } from "../../generated/rrd.js";
import { authorsOf } from "../../papers/authors.js";
import { yearOf } from "../../papers/dedup/match-features.js";
import { ownKey } from "../../papers/own-key.js";
import type { PaperRecord } from "../../papers/paper-record.js";

/** What is kept of an excluded record, so that it is known again under another id. */
export function excludedFacts(
  record: PaperRecord | undefined,
): Pick<Exclusion, "key" | "source_key" | "url" | "identifiers" | "year" | "first_author"> {
  if (record === undefined) return {};
  const { url, identifiers = {}, date, authors } = record;
  const year = yearOf(date);
  const first_author = authorsOf(authors)[0];
  return {
    ...ownKey(record.ownKey),
    url,
    ...(Object.keys(identifiers).length === 0 ? {} : { identifiers: { ...identifiers } }),
    ...given({ year, first_author }),
  };
}
