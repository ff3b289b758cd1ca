import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Paper } from "../../generated/rrd.js";
import { authorsOf } from "../authors.js";
import { mergedWork } from "../dedup/merge-fields.js";
import { matchFeaturesOf } from "../dedup/match-features.js";
import { compareRecords } from "../dedup/same-work.js";
import { storedFields, type PaperRecord } from "../paper-record.js";
import { wasRead } from "../rubric/rubric.js";

/**
 * A paper of a project with what a record of the same work knows besides: identifiers, where it was published, its
 * document on this machine, and what the paper lacks. Its id, title and address, and all that was decided of it, stay;
 * the record stands among those that were merged into it.
 */
export function withFactsOf(paper: Paper, known: PaperRecord | Paper): Paper {
  const record = "status" in known ? asRecord(known) : known;
  const { record: merged } = mergedWork([asRecord(paper), record]);
  const { identifiers, venue, volume, issue, pages, publication_type, publication, abstract } = storedFields(merged);
  const others = merged.otherVersions ?? [];
  // The document of a paper that was read is the one that was read.
  const file = wasRead(paper) || fileOf(asRecord(paper)) !== undefined ? undefined : fileOf(record);
  const facts = withoutUndefined({
    identifiers,
    pdf_url: file,
    venue,
    volume,
    issue,
    pages,
    publication_type,
    publication,
    abstract: paper.abstract ?? abstract ?? undefined,
    date: paper.date ?? merged.date ?? undefined,
    authors: authorsOf(paper.authors).length > 0 ? undefined : [...merged.authors],
    other_versions: others.length === 0 ? undefined : others.map((other) => ({ ...other })),
  });
  const learned = { ...paper, ...facts };
  if (JSON.stringify(learned) === JSON.stringify(paper)) return paper;
  const { id, source, url } = record;
  const same = compareRecords(matchFeaturesOf(paper), matchFeaturesOf(record));
  const entry = { id, source, ...(url === "" ? {} : { url }), why: same.same ? same.why : "it has the same id" };
  const { found = { sources: [], why: "" } } = paper;
  const merges = found.merged ?? [];
  const isKnown = merges.some((each) => each.id === id && each.source === source);
  return { ...learned, found: { ...found, merged: isKnown ? merges : [...merges, entry] } };
}

/** The address of a document on this machine that a record has. */
const fileOf = ({ pdf_url, url }: PaperRecord): string | undefined =>
  [pdf_url, url].find((address) => address?.startsWith("file:") === true) ?? undefined;

function asRecord(paper: Paper): PaperRecord {
  const { id, title, identifiers = {}, other_versions: otherVersions } = paper;
  const text = (value: string | null | undefined): string | undefined => value ?? undefined;
  return {
    id,
    title,
    url: paper.url ?? "",
    pdf_url: paper.pdf_url ?? null,
    authors: authorsOf(paper.authors),
    date: paper.date ?? null,
    source: paper.source ?? "",
    abstract: paper.abstract ?? null,
    identifiers,
    ...withoutUndefined({
      venue: text(paper.venue),
      volume: text(paper.volume),
      issue: text(paper.issue),
      pages: text(paper.pages),
      publicationType: text(paper.publication_type),
      publication: paper.publication,
      otherVersions,
    }),
  };
}
