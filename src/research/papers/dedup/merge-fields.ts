import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { correctionsAmong, isSameUpdate } from "./companions.js";
import type { CompanionReport, Identifiers, PaperRecord, Provenance, Publication, Update } from "../paper-record.js";
import { isPreprintDoi } from "./match-features.js";

/** One work with the merged fields of its records. */
export type MergedWork = { readonly record: PaperRecord } & Pick<Provenance, "mergedFrom" | "companions">;

/**
 * Merges the records of one work. Id, address and text come from a readable copy, preferably of arXiv. Title, authors,
 * venue, DOI and date come from the published version, so that all that is cited belongs to one version. Other fields
 * come from any record.
 */
export function mergedWork(records: readonly PaperRecord[], companions: readonly CompanionReport[] = []): MergedWork {
  if (companions.length > 0) return withCompanions(mergedWork(records), companions);

  const members = records.toSorted(
    (a, b) => readability(b) - readability(a) || fieldCount(b) - fieldCount(a) || compareText(a, b),
  );
  const [mainRecord] = members as [PaperRecord, ...PaperRecord[]];
  if (members.length === 1) return { record: mainRecord, mergedFrom: members };
  const published = members
    .filter(isPublished)
    .toSorted((a, b) => placeScore(b) - placeScore(a) || fieldCount(b) - fieldCount(a) || compareText(a, b));
  const preferred = [...published, ...members];
  const pick = <Name extends keyof PaperRecord>(name: Name, from: readonly PaperRecord[] = preferred) =>
    from.find((candidate) => hasValue(candidate[name]))?.[name];
  const identifiers = allIdentifiers(preferred);
  const versions = otherVersions(members, identifiers.doi);
  const citations = members.flatMap((member) => member.citations ?? []).toSorted((a, b) => b.count - a.count)[0];
  const copies = uniqueByKey(
    members.flatMap((member) => member.copies ?? []),
    ({ url }) => url,
  );
  const updates = uniqueByKey(
    members.flatMap((member) => member.updates ?? []),
    ({ type, notice, date }) => `${type} ${notice ?? date ?? ""}`,
  );
  const record: PaperRecord = {
    id: mainRecord.id,
    title: pick("title") ?? mainRecord.title,
    url: mainRecord.url,
    pdf_url: pick("pdf_url", members) ?? null,
    authors: preferred.toSorted((a, b) => b.authors.length - a.authors.length)[0]?.authors ?? [],
    date: published.length === 0 ? firstDate(members) : publishedDate(published),
    source: mainRecord.source,
    abstract: pick("abstract", members) ?? null,
    identifiers,
    kind: published[0]?.kind ?? mainRecord.kind ?? "other",
    ...withoutUndefined({
      venue: pick("venue", published) ?? pick("venue", members),
      volume: pick("volume"),
      issue: pick("issue"),
      pages: pick("pages"),
      publicationType: pick("publicationType"),
      publication: publicationOf(preferred),
      ownKey: pick("ownKey"),
      categories: pick("categories"),
      comment: pick("comment"),
      license: pick("license"),
      citations,
      copies: copies.length === 0 ? undefined : copies,
      updates: updates.length === 0 ? undefined : updates,
      otherVersions: versions.length === 0 ? undefined : versions,
    }),
    ...(members.some(({ retracted }) => retracted === true) ? { retracted: true } : {}),
  };
  return { record, mergedFrom: members };
}

/** Each field of the publication, from the first record that has it. The groups of all, as the names may be of any. */
function publicationOf(preferred: readonly PaperRecord[]): Publication | undefined {
  const publications = preferred.flatMap(({ publication }) => publication ?? []).toReversed();
  const groups = [...new Set(publications.flatMap((publication) => publication.groups ?? []))];
  return publications.length === 0
    ? undefined
    : Object.assign({}, ...publications, groups.length === 0 ? {} : { groups });
}

/** Adds companion reports to the records of a work. A correction is also added as an update. */
function withCompanions({ record, mergedFrom }: MergedWork, companions: readonly CompanionReport[]): MergedWork {
  const { updates: existing = [] } = record;
  const isNew = (update: Update) => !existing.some((candidate) => isSameUpdate(candidate, update));
  const updates = [...existing, ...correctionsAmong(companions).filter(isNew)];
  return {
    record: updates.length === 0 ? record : { ...record, updates },
    mergedFrom: [...mergedFrom, ...companions.map((candidate) => candidate.record)],
    companions,
  };
}

const hasValue = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);

/** How well a text is readable: arXiv is best, then other PDFs. */
const readability = ({ id, pdf_url }: PaperRecord): number => (id.startsWith("arxiv_") ? 2 : pdf_url !== null ? 1 : 0);
const placeScore = ({ venue, kind }: PaperRecord): number =>
  (venue === undefined ? 0 : 1) + (kind === undefined ? 0 : 1);
const fieldCount = (record: PaperRecord): number =>
  Object.values(record).filter(hasValue).length + Object.keys(record.identifiers).length;
const compareText = (a: PaperRecord, b: PaperRecord): number => {
  const [aText, bText] = [a, b].map(({ source, id, title }) => `${source}\n${id}\n${title}`) as [string, string];
  return aText < bText ? -1 : aText > bText ? 1 : 0;
};

export const isPublished = ({ kind, identifiers }: PaperRecord): boolean =>
  kind === "published" ||
  kind === "review" ||
  (kind !== "preprint" && identifiers.doi !== undefined && !isPreprintDoi(identifiers.doi));

function allIdentifiers(preferred: readonly PaperRecord[]): Identifiers {
  const merged: Record<string, string> = {};
  for (const { identifiers } of preferred)
    for (const [name, value] of Object.entries(identifiers)) if (hasValue(value)) merged[name] ??= value as string;
  const publisherDoi = preferred
    .map(({ identifiers }) => identifiers.doi)
    .find((doi) => doi !== undefined && !isPreprintDoi(doi));
  return publisherDoi === undefined ? merged : { ...merged, doi: publisherDoi };
}

function otherVersions(
  members: readonly PaperRecord[],
  doi: string | undefined,
): NonNullable<PaperRecord["otherVersions"]> {
  const ownVersions = members.flatMap(({ identifiers }) =>
    identifiers.doi === undefined
      ? []
      : [
          {
            relation: isPreprintDoi(identifiers.doi) ? ("preprint" as const) : ("published" as const),
            doi: identifiers.doi,
          },
        ],
  );
  const versions = uniqueByKey(
    [...members.flatMap((member) => member.otherVersions ?? []), ...ownVersions],
    (version) => version.doi,
  );
  return versions.filter((version) => version.doi !== doi);
}

function uniqueByKey<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const seen = new Map<string, Item>();
  for (const item of items) if (!seen.has(keyOf(item))) seen.set(keyOf(item), item);
  return [...seen.values()];
}

/**
 * The date of the published version: of the record with the volume, if there is one. A record that also has an arXiv id
 * comes last, as its date can be that of the preprint. Null if none has a date: a preprint's date is not the article's.
 */
function publishedDate(published: readonly PaperRecord[]): string | null {
  const dated = published.filter(({ date }) => date !== null && date !== "");
  const rank = ({ identifiers, volume }: PaperRecord): number =>
    (identifiers.arxiv === undefined ? 0 : 2) + (hasValue(volume) ? 0 : 1);
  const [date] = dated.toSorted((a, b) => rank(a) - rank(b)).map((record) => record.date as string);
  return date === undefined ? null : mostPrecise(date, dated);
}

/** The earliest date of some records of a work, which can be that of a preprint. */
export function firstDate(records: readonly PaperRecord[]): string | null {
  const dates = records.flatMap(({ date }) => (date === null || date === "" ? [] : [date]));
  const [first] = dates.toSorted(compareDates);
  return first === undefined ? null : mostPrecise(first, records);
}

/** If another record has the same date more precisely, such as 2024-05 for 2024, its date. */
function mostPrecise(date: string, records: readonly PaperRecord[]): string {
  const dates = records.flatMap((record) => (record.date?.startsWith(date) === true ? [record.date] : []));
  return dates.toSorted((a, b) => b.length - a.length || compareDates(a, b))[0] ?? date;
}

const compareDates = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
