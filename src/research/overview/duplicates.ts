import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Rrd } from "../generated/rrd.js";
import { authorsOf } from "../papers/authors.js";
import { matchFeaturesOf } from "../papers/dedup/match-features.js";
import { mergeRecords } from "../papers/dedup/merge-records.js";
import { matchTitles } from "../papers/dedup/title-match.js";
import type { TracedRecord } from "../papers/export/cited-work.js";
import type { PaperRecord } from "../papers/paper-record.js";
import { apartOf } from "../units/screening/search-session.js";

/** Two records that look like one work and count as two, with what speaks for or against one. */
export interface UncertainPair {
  readonly records: readonly [TracedRecord, TracedRecord];
  readonly why: string;
}

export interface Duplicates {
  readonly uncertain: readonly UncertainPair[];
  /** Records that count as the same work as another. */
  readonly settled: readonly TracedRecord[];
}

/**
 * What is a duplicate among the records of a project, and what may be one: pairs that the rules of merging compared and
 * kept apart, and those that they would merge and that are two all the same. What a person has parted is settled.
 */
export function duplicatesAmong(records: readonly TracedRecord[], rrd: Rrd): Duplicates {
  const settled = records.filter(({ outcome }) => outcome.duplicateOf !== undefined);
  const own = records.filter(({ outcome }) => outcome.duplicateOf === undefined);
  const said = apartOf(rrd);
  const byId = new Map(own.map((record) => [record.id, record]));
  const { works, lookAlikes } = mergeRecords(own.map(asRecord), said);
  const pairs = [
    ...works.flatMap(({ mergedFrom: [first, ...others] }) =>
      others.map((other) => ({
        ids: [first?.id ?? "", other.id] as const,
        why: "the rules of merging take them for one work",
      })),
    ),
    ...lookAlikes,
  ];
  const uncertain = pairs.flatMap(({ ids, why }): UncertainPair[] => {
    const [one, other] = ids.map((id) => byId.get(id));
    const isSaid = said.some((pair) => ids.every((id) => pair.includes(id)));
    if (one === undefined || other === undefined || one === other || isSaid || areOnlyAlike(one, other)) return [];
    return [{ records: [one, other], why }];
  });
  return { uncertain, settled };
}

/** Whether two titles share words and no more, as those of sister trials do, which nobody takes for one work. */
function areOnlyAlike(one: TracedRecord, other: TracedRecord): boolean {
  const [a, b] = [one, other].map((record) => matchFeaturesOf(asRecord(record)).title);
  return a !== undefined && b !== undefined && matchTitles(a, b) === "alike";
}

const asRecord = ({
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
