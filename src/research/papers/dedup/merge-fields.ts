import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { correctionsAmong, isSameUpdate } from "./companions.js";
import type { CompanionReport, Identifiers, PaperRecord, Provenance, Publication, Update } from "../paper-record.js";
import { isPreprintDoi } from "./match-features.js";

/** One work, put together from what several sources say of it. */
export type MergedWork = { readonly record: PaperRecord } & Pick<Provenance, "mergedFrom" | "companions">;

/**
 * One record out of those of one work. Id, address and text come from a copy that can be read, an arXiv preprint first;
 * title, authors, venue and DOI from the published version; the date is the first day on which the work was public; the
 * rest from any record that has it.
 */
export function mergedWork(of: readonly PaperRecord[], companions: readonly CompanionReport[] = []): MergedWork {
  if (companions.length > 0) return withCompanions(mergedWork(of), companions);

  const members = of.toSorted((a, b) => readable(b) - readable(a) || said(b) - said(a) || text(a, b));
  const [main] = members as [PaperRecord, ...PaperRecord[]];
  if (members.length === 1) return { record: main, mergedFrom: members };
  const published = members
    .filter(isPublished)
    .toSorted((a, b) => placed(b) - placed(a) || said(b) - said(a) || text(a, b));
  const best = [...published, ...members];
  const pick = <Name extends keyof PaperRecord>(name: Name, from: readonly PaperRecord[] = best) =>
    from.find((each) => isSaid(each[name]))?.[name];
  const identifiers = allIdentifiers(best);
  const others = otherVersions(members, identifiers.doi);
  const citations = members.flatMap((member) => member.citations ?? []).toSorted((a, b) => b.count - a.count)[0];
  const copies = byKey(
    members.flatMap((member) => member.copies ?? []),
    ({ url }) => url,
  );
  const updates = byKey(
    members.flatMap((member) => member.updates ?? []),
    ({ type, notice, date }) => `${type} ${notice ?? date ?? ""}`,
  );
  const record: PaperRecord = {
    id: main.id,
    title: pick("title") ?? main.title,
    url: main.url,
    pdf_url: pick("pdf_url", members) ?? null,
    authors: best.toSorted((a, b) => b.authors.length - a.authors.length)[0]?.authors ?? [],
    date: firstDate(members),
    source: main.source,
    abstract: pick("abstract", members) ?? null,
    identifiers,
    kind: published[0]?.kind ?? main.kind ?? "other",
    ...withoutUndefined({
      venue: pick("venue", published) ?? pick("venue", members),
      volume: pick("volume"),
      issue: pick("issue"),
      pages: pick("pages"),
      publicationType: pick("publicationType"),
      publication: publicationOf(best),
      ownKey: pick("ownKey"),
      categories: pick("categories"),
      comment: pick("comment"),
      license: pick("license"),
      citations,
      copies: copies.length === 0 ? undefined : copies,
      updates: updates.length === 0 ? undefined : updates,
      otherVersions: others.length === 0 ? undefined : others,
    }),
    ...(members.some(({ retracted }) => retracted === true) ? { retracted: true } : {}),
  };
  return { record, mergedFrom: members };
}

/** Each part from the first record that says it. */
function publicationOf(best: readonly PaperRecord[]): Publication | undefined {
  const known = best.flatMap(({ publication }) => publication ?? []).toReversed();
  return known.length === 0 ? undefined : Object.assign({}, ...known);
}

/** Companion reports stand among the records of a work; a correction is noted as an update of it too. */
function withCompanions({ record, mergedFrom }: MergedWork, companions: readonly CompanionReport[]): MergedWork {
  const { updates: known = [] } = record;
  const isNew = (update: Update) => !known.some((each) => isSameUpdate(each, update));
  const updates = [...known, ...correctionsAmong(companions).filter(isNew)];
  return {
    record: updates.length === 0 ? record : { ...record, updates },
    mergedFrom: [...mergedFrom, ...companions.map((each) => each.record)],
    companions,
  };
}

const isSaid = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);

/** A record that goes by its arXiv id comes from arXiv or leads there. */
const readable = ({ id, pdf_url }: PaperRecord): number => (id.startsWith("arxiv_") ? 2 : pdf_url !== null ? 1 : 0);
const placed = ({ venue, kind }: PaperRecord): number => (venue === undefined ? 0 : 1) + (kind === undefined ? 0 : 1);
const said = (record: PaperRecord): number =>
  Object.values(record).filter(isSaid).length + Object.keys(record.identifiers).length;
const text = (a: PaperRecord, b: PaperRecord): number => {
  const [left, right] = [a, b].map(({ source, id, title }) => `${source}\n${id}\n${title}`) as [string, string];
  return left < right ? -1 : left > right ? 1 : 0;
};

const isPublished = ({ kind, identifiers }: PaperRecord): boolean =>
  kind === "published" ||
  kind === "review" ||
  (kind !== "preprint" && identifiers.doi !== undefined && !isPreprintDoi(identifiers.doi));

function allIdentifiers(best: readonly PaperRecord[]): Identifiers {
  const all: Record<string, string> = {};
  for (const { identifiers } of best)
    for (const [name, value] of Object.entries(identifiers)) if (isSaid(value)) all[name] ??= value as string;
  const publishers = best
    .map(({ identifiers }) => identifiers.doi)
    .find((doi) => doi !== undefined && !isPreprintDoi(doi));
  return publishers === undefined ? all : { ...all, doi: publishers };
}

function otherVersions(
  members: readonly PaperRecord[],
  doi: string | undefined,
): NonNullable<PaperRecord["otherVersions"]> {
  const own = members.flatMap(({ identifiers }) =>
    identifiers.doi === undefined
      ? []
      : [
          {
            relation: isPreprintDoi(identifiers.doi) ? ("preprint" as const) : ("published" as const),
            doi: identifiers.doi,
          },
        ],
  );
  const all = byKey([...members.flatMap((member) => member.otherVersions ?? []), ...own], (version) => version.doi);
  return all.filter((version) => version.doi !== doi);
}

function byKey<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const seen = new Map<string, Item>();
  for (const item of items) if (!seen.has(keyOf(item))) seen.set(keyOf(item), item);
  return [...seen.values()];
}

/** The earliest; where one date is only the beginning of another, the one that says more. */
function firstDate(members: readonly PaperRecord[]): string | null {
  const dates = members.flatMap(({ date }) => (date === null || date === "" ? [] : [date]));
  const [first] = dates.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  if (first === undefined) return null;
  return (
    dates.filter((date) => date.startsWith(first)).toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1))[0] ??
    first
  );
}
