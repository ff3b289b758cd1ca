import type { DocumentText } from "../../text/documents/text/document-text.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { currentAccepted } from "../../engine/storage/state/ledger.js";
import type { Paper, ProjectUpdate, Rrd } from "../generated/rrd.js";
import { canBeChecked } from "../paper-lookups/find-retractions.js";
import { type UpdateCheck, worksOf } from "../paper-lookups/kept-retraction-checks.js";
import { isChangedSince, localFile } from "../full-text/local-file.js";
import { correctionsAmong, isSameUpdate } from "../papers/dedup/companions.js";
import { isPreprintDoi, matchFeaturesOf } from "../papers/dedup/match-features.js";
import { type PaperRecord, type Update, versionsOf } from "../papers/paper-record.js";
import { candidatesOf } from "../search/candidates.js";
import { isFailed } from "../search/result-list.js";
import type { SearchRecord } from "../search/search-record.js";
import { isDecided } from "../papers/rubric/rubric.js";
import { type Batch, nextBatch } from "../units/screening/screening-batch.js";
import type { Sources } from "../screening/paper-sources.js";
import { apartOf } from "../units/screening/search-session.js";
import { type LeftOpen, leftOpenBy } from "../units/screening/update-rounds.js";
import { isRetraction } from "../units/retractions.js";
import { compareTexts, type TextCompared } from "./compare-texts.js";

/** What the world has brought since a project was searched last. Nothing of it is written yet. */
export interface Came {
  /** Works that nobody has judged: the first batch, and how many wait behind it. */
  readonly works: number;
  readonly titles: readonly string[];
  readonly changed: readonly ChangedPaper[];
  readonly retracted: readonly string[];
  /** Checks that say something new, by the paper's id. */
  readonly checks: ReadonlyMap<string, UpdateCheck>;
  /** Sources that failed or are blocked, with the first day of their window and what they said. */
  readonly failed: ReadonlyMap<string, LeftOpen>;
  /** Sources that were asked, folders among them, and how many of them answered at least once. */
  readonly asked: readonly string[];
  readonly answered: number;
  /** Sources that only an agent can search: they are not asked. */
  readonly leftToAgents: readonly string[];
  /** Papers of which no service could say what happened to them since they were read, and one reason. */
  readonly unchecked: { readonly papers: number; readonly reason: string };
}

/** A paper of the pool that is not what it was when it was read. */
export interface ChangedPaper {
  readonly id: string;
  /** One clause. */
  readonly says: string;
  /** What the new record adds to the paper's. */
  readonly set: Partial<Paper>;
  /** Corrections that the window's records are, where no check has told of them. */
  readonly corrections?: readonly Update[];
  /** How its text of today stands to the one that was read. */
  readonly compared: TextCompared;
  /** The new text, where it is another one. */
  readonly text?: DocumentText;
}

/** What is asked. */
export interface Outside {
  readonly sources: Sources;
  /** What the search has kept so far. */
  readonly kept: () => SearchRecord | undefined;
  readonly updates: (papers: readonly Paper[]) => Promise<ReadonlyMap<string, UpdateCheck>>;
  /** The text of a paper as it is to be had today, whatever is kept of it; undefined where it is missing. */
  readonly textNow: (paper: Paper) => Promise<DocumentText | undefined>;
  /** The text that was read. */
  readonly textThen: (paper: Paper) => Promise<DocumentText | undefined>;
}

/**
 * Asks every source in the window of an update, merges what comes with the pool and what was excluded, and asks what
 * happened to the papers that were read.
 */
export async function whatCame(
  { rrd, ledger }: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  update: ProjectUpdate,
  outside: Outside,
): Promise<Came> {
  const batch = await nextBatch(rrd, outside.sources);
  const kept = outside.kept();
  const read = rrd.papers_pool.filter((paper) => isDecided(paper) && paper.retracted !== true);
  const said = await outside.updates(read);
  const checks = new Map(
    [...said].flatMap(([id, check]) => {
      const paper = read.find((each) => each.id === id);
      const isNews = paper !== undefined && newsOf(paper, check, dayRead(paper, ledger)).length > 0;
      return isNews ? [[id, check] as const] : [];
    }),
  );
  const retracted = [...checks].flatMap(([id, { updates }]) => (updates.some(isRetraction) ? [id] : []));
  const { records, corrections: listed } = recordsOfPool(rrd, update, kept, batch);
  const changed: ChangedPaper[] = [];
  for (const paper of read.filter(({ id }) => !retracted.includes(id))) {
    const check = checks.get(paper.id);
    const told = check === undefined ? [] : newsOf(paper, check, dayRead(paper, ledger));
    const all = said.get(paper.id)?.updates ?? [];
    const corrections = newsOf(paper, { updates: listed.get(paper.id) ?? [] }, dayRead(paper, ledger)).filter(
      (each) => !all.some((one) => isSameUpdate(one, each)),
    );
    const notices = [...told, ...corrections];
    const published = publishedIn(paper, [
      ...(records.get(paper.id) ?? []),
      ...[said.get(paper.id)?.published ?? []].flat(),
    ]);
    const isNews = notices.length > 0 || published !== undefined;
    const owed = isNews ? undefined : (notCompared(rrd, paper) ?? (await changedDocument(paper, update.since)));
    if (!isNews && owed === undefined) continue;
    const says = [
      ...(owed === undefined ? [] : [owed]),
      ...(published === undefined ? [] : [published.says]),
      ...notices.map(({ type, date }) => `${words[type] ?? type}${date === undefined ? "" : ` of ${date}`}`),
    ].join("; ");
    const set = published?.set ?? {};
    const text = await outside.textNow(published?.as ?? (owed?.startsWith(publishedWord) ? asPublished(paper) : paper));
    const [then, depth] = [await outside.textThen(paper), paper.read_depth ?? undefined];
    const compared = compareTexts(text, then, paper.text_sha256, depth);
    // What an update has told already is news again only where its text turns out to be another.
    if (!isNews && compared !== "another") continue;
    changed.push({
      id: paper.id,
      says,
      set,
      compared,
      ...(corrections.length === 0 ? {} : { corrections }),
      ...(compared === "another" ? withoutUndefined({ text }) : {}),
    });
  }
  const { sources } = outside;
  const names = rrd.requirements.sources ?? [];
  const own = (kept?.listings ?? []).filter(({ step }) => kept?.steps[step]?.update === update.id);
  const folders = names.filter((name) => sources.serves(name));
  const silent = new Set(batch.sources.filter(({ status }) => status === "error").map(({ name }) => name));
  const answering = own.flatMap((listing) => (isFailed(listing) ? [] : listing.source));
  const unchecked = read.filter(({ id }) => said.get(id)?.checked_by.length === 0).filter(isCheckable);
  const wanted = [...new Set(names.flatMap((name) => sources.services(name)))];
  return {
    works: batch.candidates.length + (batch.search?.left ?? 0) + (batch.listed?.left ?? 0),
    titles: batch.candidates.map(({ title }) => title),
    changed,
    retracted,
    checks,
    failed: leftOpenBy(rrd, update, { steps: kept?.steps ?? [], listings: own }, wanted),
    asked: [...new Set([...folders, ...own.map(({ source }) => source)])],
    answered: new Set([...folders.filter((name) => !silent.has(name)), ...answering]).size,
    leftToAgents: names.filter((name) => !sources.serves(name) && sources.services(name).length === 0),
    unchecked: { papers: unchecked.length, reason: said.get(unchecked[0]?.id ?? "")?.unchecked[0] ?? "" },
  };
}

/** Whether some service can know the paper. */
const isCheckable = (paper: Paper): boolean => canBeChecked(worksOf([paper]).map(({ identifiers }) => identifiers));

/** Whether there is anything to open an update for. */
export const isAnything = ({ works, changed, retracted }: Came): boolean =>
  works + changed.length + retracted.length > 0;

const words: Readonly<Record<string, string>> = {
  correction: "a correction",
  addendum: "an addendum",
  concern: "an expression of concern",
  version: "a newer version",
};

/** Notices of a paper that its record does not hold and that came after it was read. */
function newsOf(paper: Paper, { updates }: Pick<UpdateCheck, "updates">, readOn: string): UpdateCheck["updates"] {
  const known = paper.updates ?? [];
  return updates.filter(
    ({ type, date, notice }) =>
      !known.some((one) => isSameUpdate(one, { type, date, notice })) &&
      // Of a month or a year alone nobody knows on which side of a day within it the notice lies.
      (isRetraction({ type }) || date === undefined || date >= readOn.slice(0, date.length)),
  );
}

/** The day on which a paper was read; the earliest there is where nothing tells. */
function dayRead({ id, updates_check }: Paper, ledger: readonly LedgerLine[]): string {
  const iteration = currentAccepted(ledger).get(id);
  const line = ledger.findLast((each) => each.iteration === iteration && each.unit === id);
  return (line?.at ?? updates_check?.at ?? "").slice(0, 10);
}

/** What the window's records say of papers of the pool, and corrections that they are of them, by the paper's id. */
function recordsOfPool(
  rrd: Rrd,
  update: ProjectUpdate,
  kept: SearchRecord | undefined,
  { duplicates }: Batch,
): {
  readonly records: ReadonlyMap<string, readonly PaperRecord[]>;
  readonly corrections: ReadonlyMap<string, readonly Update[]>;
} {
  const records = new Map<string, PaperRecord[]>();
  const corrections = new Map<string, Update[]>();
  const put = (id: string, some: readonly PaperRecord[]) => records.set(id, [...(records.get(id) ?? []), ...some]);
  const pool = new Set(rrd.papers_pool.map(({ id }) => id));
  const { steps = [], listings = [] } = kept ?? {};
  const own = new Set(listings.flatMap(({ step, records: its }) => (steps[step]?.update === update.id ? its : [])));
  for (const { provenance } of candidatesOf(listings, apartOf(rrd)).works) {
    const versions = versionsOf(provenance);
    const its = correctionsAmong(provenance.companions?.filter(({ record }) => own.has(record)));
    for (const id of new Set(versions.map((record) => record.id)))
      if (pool.has(id)) {
        put(
          id,
          versions.filter((record) => own.has(record)),
        );
        if (its.length > 0) corrections.set(id, its);
      }
  }
  for (const { candidate, of } of duplicates) put(of, [candidate]);
  return { records, corrections };
}

/** What an earlier update said of a paper whose text could not be compared then, and that was not read since. */
function notCompared({ updates = [] }: Rrd, { id, iteration = 0 }: Paper): string | undefined {
  const told = updates.flatMap((update) => {
    const its = (update.changed ?? []).find((each) => each.id === id);
    return its === undefined ? [] : [{ ...its, isRead: iteration > (update.iteration ?? 0) }];
  });
  const last = told.at(-1);
  return last?.compared === false && !last.isRead ? last.says : undefined;
}

/** That the document of a paper was changed on this machine, or put there anew. */
async function changedDocument(paper: Paper, since: string): Promise<string | undefined> {
  const path = localFile(paper);
  return path !== undefined && (await isChangedSince(path, since)) ? "its document was changed" : undefined;
}

const publishedWord = "published";

/** A published preprint as a paper of its own: else the preprint's text would be taken. */
function asPublished(paper: Paper, record: Partial<PaperRecord> = {}): Paper {
  const { arxiv: _, ...identifiers } = { ...paper.identifiers, ...record.identifiers };
  const { doi = "" } = identifiers;
  const { url = `https://doi.org/${doi}`, pdf_url = null } = record;
  return { ...paper, id: `doi_${doi.replace(/[^\w.-]/g, "_")}`, identifiers, url, pdf_url };
}

/** What a paper that was read as a preprint is published as, where a record says so and the paper's does not. */
function publishedIn(
  paper: Paper,
  records: readonly PaperRecord[],
): { readonly says: string; readonly set: Partial<Paper>; readonly as: Paper } | undefined {
  const { published: known, preprint } = matchFeaturesOf(paper);
  // What has no DOI is not yet a preprint: PubMed's record of an article, say, or a PDF of a folder.
  if (!preprint || known.length > 0) return undefined;
  const naming = records.filter(({ identifiers: { doi } }) => doi !== undefined && !isPreprintDoi(doi));
  // The preprint's own record may name the DOI too, and then says less of where it was printed.
  const record = naming.find((each) => !matchFeaturesOf(each).preprint) ?? naming[0];
  if (record === undefined) return undefined;
  const { doi, pmid, pmcid } = record.identifiers;
  const { venue, volume, issue, pages, publicationType: publication_type } = record;
  const date = matchFeaturesOf(record).preprint ? undefined : record.date;
  const facts = { date, venue, volume, issue, pages, publication_type };
  const before = paper.identifiers?.doi;
  const set: Partial<Paper> = {
    identifiers: {
      ...Object.fromEntries(Object.entries({ doi, pmid, pmcid }).filter(([, name]) => name !== undefined)),
      ...paper.identifiers,
      ...withoutUndefined({ doi }),
    },
    ...(before === undefined || before === doi
      ? {}
      : { other_versions: [...(paper.other_versions ?? []), { relation: "preprint" as const, doi: before }] }),
    ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value != null)),
  };
  return {
    says: `${publishedWord}${venue == null ? "" : ` in ${venue}`} as ${doi}`,
    set,
    as: asPublished(paper, record),
  };
}
