import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Rrd } from "../generated/rrd.js";
import { authorsOf } from "../papers/authors.js";
import { matchFeaturesOf } from "../papers/dedup/match-features.js";
import { mergeRecords } from "../papers/dedup/merge-records.js";
import { matchTitles } from "../papers/dedup/title-match.js";
import type { TracedRecord } from "../papers/export/cited-work.js";
import type { PaperRecord } from "../papers/paper-record.js";
import { separatedPairs } from "../derived/separated.js";

/** Two records that look like the same work but count as two, with the reason. */
export interface UncertainPair {
  readonly records: readonly [TracedRecord, TracedRecord];
  readonly why: string;
}

export interface Duplicates {
  readonly uncertainPairs: readonly UncertainPair[];
  /** Records that count as duplicates of others. */
  readonly confirmed: readonly TracedRecord[];
}

/**
 * The duplicates among the records of a project, and pairs that may be duplicates: those that the merge rules compared
 * and kept separate, and those that the rules would merge but that are two records. Pairs that the user has separated
 * are left out.
 */
export function duplicatesAmong(records: readonly TracedRecord[], rrd: Rrd): Duplicates {
  const confirmed = records.filter(({ outcome }) => outcome.duplicateOf !== undefined);
  const nonDuplicates = records.filter(({ outcome }) => outcome.duplicateOf === undefined);
  const separatedIds = separatedPairs(rrd);
  const byId = new Map(nonDuplicates.map((record) => [record.id, record]));
  const { works, lookAlikes } = mergeRecords(nonDuplicates.map(toRecord), separatedIds);
  const pairs = [
    ...works.flatMap(({ mergedFrom: [first, ...others] }) =>
      others.map((other) => ({
        ids: [first?.id ?? "", other.id] as const,
        why: "the rules of merging take them for one work",
      })),
    ),
    ...lookAlikes,
  ];
  const uncertainPairs = pairs.flatMap(({ ids, why }): UncertainPair[] => {
    const [first, second] = ids.map((id) => byId.get(id));
    const isSeparated = separatedIds.some((pair) => ids.every((id) => pair.includes(id)));
    if (
      first === undefined ||
      second === undefined ||
      first === second ||
      isSeparated ||
      haveOnlySimilarTitles(first, second)
    )
      return [];
    return [{ records: [first, second], why }];
  });
  return { uncertainPairs, confirmed };
}

/** Whether two titles only share words, like those of related trials, which are different works. */
function haveOnlySimilarTitles(one: TracedRecord, other: TracedRecord): boolean {
  const [a, b] = [one, other].map((record) => matchFeaturesOf(toRecord(record)).title);
  return a !== undefined && b !== undefined && matchTitles(a, b) === "alike";
}

const toRecord = ({
  id,
  title,
  url,
  pdf_url,
  authors,
  date,
  source,
  abstract,
  identifiers = {},
  ...rest
}: TracedRecord): PaperRecord => ({
  id,
  title,
  url: url ?? "",
  pdf_url: pdf_url ?? null,
  authors: authorsOf(authors),
  date: date ?? null,
  source: source ?? "",
  abstract: abstract ?? null,
  identifiers,
  ...withoutUndefined({
    venue: rest.venue ?? undefined,
    volume: rest.volume ?? undefined,
    issue: rest.issue ?? undefined,
    pages: rest.pages ?? undefined,
  }),
});
