import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Paper } from "../../generated/rrd.js";
import { authorsOf } from "../authors.js";
import { isPublished, mergedWork } from "../dedup/merge-fields.js";
import { matchFeaturesOf } from "../dedup/match-features.js";
import { compareRecords } from "../dedup/same-work.js";
import { storedFields, type PaperRecord } from "../paper-record.js";
import { wasRead } from "../rubric/rubric.js";

/**
 * A paper with facts from another record of the same work: identifiers, the place of publication, the document on this
 * machine, and missing fields. If the paper is a preprint and the record its article, the date is that of the article,
 * like the place of publication. Its id, title, address and results stay. The record is listed in `found.merged`.
 */
export function withMissingFacts(paper: Paper, knownWork: PaperRecord | Paper): Paper {
  const record = "status" in knownWork ? recordOfPaper(knownWork) : knownWork;
  const before = recordOfPaper(paper);
  const { record: merged } = mergedWork([before, record]);
  const [paperFeatures, recordFeatures] = [matchFeaturesOf(before), matchFeaturesOf(record)];
  const isNowPublished = paperFeatures.isPreprint && paperFeatures.publisherDois.length === 0 && isPublished(record);
  const { identifiers, venue, volume, issue, pages, publication_type, publication, abstract } = storedFields(merged);
  const versions = merged.otherVersions ?? [];
  // If a paper was read from more than its abstract, its document stays the one that was read.
  const wasTextRead = wasRead(paper) && paper.read_depth !== "abstract";
  const file = wasTextRead || fileOf(recordOfPaper(paper)) !== undefined ? undefined : fileOf(record);
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
    date: (isNowPublished ? record.date : paper.date) ?? merged.date ?? paper.date ?? undefined,
    authors: authorsOf(paper.authors).length > 0 ? undefined : [...merged.authors],
    other_versions: versions.length === 0 ? undefined : versions.map((version) => ({ ...version })),
  });
  const updated = { ...paper, ...facts };
  if (JSON.stringify(updated) === JSON.stringify(paper)) return paper;
  const { id, source, url } = record;
  const comparison = compareRecords(paperFeatures, recordFeatures);
  const entry = {
    id,
    source,
    ...(url === "" ? {} : { url }),
    why: comparison.same ? comparison.why : "it has the same id",
  };
  const { found = { sources: [], why: "" } } = paper;
  const merges = found.merged ?? [];
  const isKnown = merges.some((merge) => merge.id === id && merge.source === source);
  return { ...updated, found: { ...found, merged: isKnown ? merges : [...merges, entry] } };
}

/** The address of a record's document on this machine; undefined without one. */
const fileOf = ({ pdf_url, url }: PaperRecord): string | undefined =>
  [pdf_url, url].find((address) => address?.startsWith("file:") === true) ?? undefined;

function recordOfPaper(paper: Paper): PaperRecord {
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
      kind: /^(?:preprint|posted-content)$/.test(paper.publication_type ?? "") ? ("preprint" as const) : undefined,
    }),
  };
}
