import type { DocumentText } from "../../text/documents/text/document-text.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { currentAccepted } from "../../engine/storage/state/ledger.js";
import type { Paper, ProjectUpdate, Rrd } from "../generated/rrd.js";
import { canBeChecked } from "../paper-lookups/find-retractions.js";
import { type UpdateCheck, worksOf } from "../paper-lookups/kept-retraction-checks.js";
import { isChangedSince, localFile } from "../full-text/local-file.js";
import { correctionsAmong, isSameUpdate } from "../papers/dedup/companions.js";
import { waitsForText } from "../papers/read-depth.js";
import { isPreprintDoi, matchFeaturesOf } from "../papers/dedup/match-features.js";
import { type PaperRecord, type Update, versionsOf } from "../papers/paper-record.js";
import { candidatesOf, listedRecord } from "../search/candidates.js";
import { isFailed } from "../search/result-list.js";
import type { SearchRecord } from "../search/search-record.js";
import { isDecided } from "../papers/rubric/rubric.js";
import { type Batch, nextBatch } from "../units/screening/screening-batch.js";
import type { Sources } from "../screening/paper-sources.js";
import { separatedPairs } from "../derived/separated.js";
import { type OpenWindow, openWindows } from "../units/screening/update-rounds.js";
import { isRetraction } from "../units/retractions.js";
import { compareTexts, type TextComparison } from "./compare-texts.js";

/** What is new since a project's last search. It has not been written yet. */
export interface UpdateFindings {
  /** Number of works that nobody has judged: the first batch and the works after it. */
  readonly works: number;
  readonly titles: readonly string[];
  readonly changed: readonly ChangedPaper[];
  readonly retracted: readonly string[];
  /** Checks with new information, by paper id. */
  readonly checks: ReadonlyMap<string, UpdateCheck>;
  /** Sources that failed or are blocked, with the first day of their window and the reason. */
  readonly failed: ReadonlyMap<string, OpenWindow>;
  /** Sources that were queried, with folders. `answeringCount`: how many of them answered at least once. */
  readonly queriedSources: readonly string[];
  readonly answeringCount: number;
  /** Sources that only an agent can search, so that they were not queried. */
  readonly leftToAgents: readonly string[];
  /** Number of papers without a successful check since they were read, and the reason of the first. */
  readonly unchecked: { readonly papers: number; readonly reason: string };
}

/** A paper of the pool that has changed since it was read. */
export interface ChangedPaper {
  readonly id: string;
  /** One clause. */
  readonly says: string;
  /** Fields that the new record adds to the paper. */
  readonly set: Partial<Paper>;
  /** Corrections that are records in the window, if no check has reported them. */
  readonly corrections?: readonly Update[];
  /** The comparison of its current text with the text that was read. */
  readonly comparison: TextComparison;
  /** The new text, if it differs. */
  readonly text?: DocumentText;
}

/** Everything that the search for changes queries. */
export interface UpdateSources {
  readonly sources: Sources;
  /** Returns the current search record. */
  readonly searchRecord: () => SearchRecord | undefined;
  readonly updates: (papers: readonly Paper[]) => Promise<ReadonlyMap<string, UpdateCheck>>;
  /** The current text of a paper, without the cache; undefined if it is not available. */
  readonly currentText: (paper: Paper) => Promise<DocumentText | undefined>;
  /** The text that was read. */
  readonly readText: (paper: Paper) => Promise<DocumentText | undefined>;
}

/**
 * Searches all sources in the window of an update, merges the results with the pool and the exclusions, and checks the
 * papers that were read for updates.
 */
export async function findChanges(
  { rrd, ledger }: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  update: ProjectUpdate,
  updateSources: UpdateSources,
): Promise<UpdateFindings> {
  const batch = await nextBatch(rrd, updateSources.sources);
  const record = updateSources.searchRecord();
  const readPapers = rrd.papers_pool.filter((paper) => isDecided(paper) && paper.retracted !== true);
  const allChecks = await updateSources.updates(readPapers);
  const checks = new Map(
    [...allChecks].flatMap(([id, check]) => {
      const paper = readPapers.find((candidate) => candidate.id === id);
      const hasChange = paper !== undefined && newUpdatesOf(paper, check, dayRead(paper, ledger)).length > 0;
      return hasChange ? [[id, check] as const] : [];
    }),
  );
  const retracted = [...checks].flatMap(([id, { updates }]) => (updates.some(isRetraction) ? [id] : []));
  const { records, corrections: listedCorrections } = recordsOfPool(rrd, update, record, batch);
  const changed: ChangedPaper[] = [];
  for (const paper of readPapers.filter(({ id }) => !retracted.includes(id))) {
    const check = checks.get(paper.id);
    const newUpdates = check === undefined ? [] : newUpdatesOf(paper, check, dayRead(paper, ledger));
    const checkedUpdates = allChecks.get(paper.id)?.updates ?? [];
    const corrections = newUpdatesOf(
      paper,
      { updates: listedCorrections.get(paper.id) ?? [] },
      dayRead(paper, ledger),
    ).filter((correction) => !checkedUpdates.some((checkedUpdate) => isSameUpdate(checkedUpdate, correction)));
    const notices = [...newUpdates, ...corrections];
    const newRecords = records.get(paper.id) ?? [];
    const version =
      publishedVersionIn(paper, [...newRecords, ...[allChecks.get(paper.id)?.published ?? []].flat()]) ??
      addedDocument(paper, newRecords);
    const hasChange = notices.length > 0 || version !== undefined;
    const pendingReason = hasChange
      ? undefined
      : (uncomparedChange(rrd, paper) ?? (await documentChange(paper, update.since)));
    if (!hasChange && pendingReason === undefined) continue;
    const says = [
      ...(pendingReason === undefined ? [] : [pendingReason]),
      ...(version === undefined ? [] : [version.says]),
      ...notices.map(({ type, date }) => `${noticeWords[type] ?? type}${date === undefined ? "" : ` of ${date}`}`),
    ].join("; ");
    const newFields = version?.set ?? {};
    const text = await updateSources.currentText(
      version?.as ?? (pendingReason?.startsWith(publishedPrefix) ? publishedPaper(paper) : paper),
    );
    const [textRead, depth] = [await updateSources.readText(paper), paper.read_depth ?? undefined];
    const compared = compareTexts(text, textRead, paper.text_sha256, depth);
    // A change that an earlier update has reported counts again only if the text differs.
    if (!hasChange && compared !== "another") continue;
    changed.push({
      id: paper.id,
      says,
      set: newFields,
      comparison: compared,
      ...(corrections.length === 0 ? {} : { corrections }),
      ...(compared === "another" ? withoutUndefined({ text }) : {}),
    });
  }
  const { sources } = updateSources;
  const names = rrd.requirements.sources ?? [];
  const windowListings = (record?.listings ?? []).filter(({ step }) => record?.steps[step]?.update === update.id);
  const folders = names.filter((name) => sources.serves(name));
  const failedFolders = new Set(batch.sources.filter(({ status }) => status === "error").map(({ name }) => name));
  const answeringSources = windowListings.flatMap((listing) => (isFailed(listing) ? [] : listing.source));
  const unchecked = readPapers.filter(({ id }) => allChecks.get(id)?.checked_by.length === 0).filter(isCheckable);
  const serviceNames = [...new Set(names.flatMap((name) => sources.services(name)))];
  return {
    works: batch.candidates.length + (batch.search?.left ?? 0) + (batch.listed?.left ?? 0),
    titles: batch.candidates.map(({ title }) => title),
    changed,
    retracted,
    checks,
    failed: openWindows(rrd, update, { steps: record?.steps ?? [], listings: windowListings }, serviceNames),
    queriedSources: [...new Set([...folders, ...windowListings.map(({ source }) => source)])],
    answeringCount: new Set([...folders.filter((name) => !failedFolders.has(name)), ...answeringSources]).size,
    leftToAgents: names.filter((name) => !sources.serves(name) && sources.services(name).length === 0),
    unchecked: { papers: unchecked.length, reason: allChecks.get(unchecked[0]?.id ?? "")?.unchecked[0] ?? "" },
  };
}

/** Whether at least one service can know the paper. */
const isCheckable = (paper: Paper): boolean => canBeChecked(worksOf([paper]).map(({ identifiers }) => identifiers));

/** Whether the findings are a reason to open an update. */
export const hasFindings = ({ works, changed, retracted }: UpdateFindings): boolean =>
  works + changed.length + retracted.length > 0;

const noticeWords: Readonly<Record<string, string>> = {
  correction: "a correction",
  addendum: "an addendum",
  concern: "an expression of concern",
  version: "a newer version",
};

/** Updates of a paper that its record does not contain and that are from the day of reading or later. */
function newUpdatesOf(paper: Paper, { updates }: Pick<UpdateCheck, "updates">, readOn: string): UpdateCheck["updates"] {
  const knownUpdates = paper.updates ?? [];
  return updates.filter(
    ({ type, date, notice }) =>
      !knownUpdates.some((known) => isSameUpdate(known, { type, date, notice })) &&
      // A date without a day may be before or after the reading, so it counts.
      (isRetraction({ type }) || date === undefined || date >= readOn.slice(0, date.length)),
  );
}

/** The day on which a paper was read; the empty text if unknown. */
function dayRead({ id, updates_check }: Paper, ledger: readonly LedgerLine[]): string {
  const iteration = currentAccepted(ledger).get(id);
  const line = ledger.findLast((entry) => entry.iteration === iteration && entry.unit === id);
  return (line?.at ?? updates_check?.at ?? "").slice(0, 10);
}

/** The records in the window about papers of the pool, and the corrections among them, by paper id. */
function recordsOfPool(
  rrd: Rrd,
  update: ProjectUpdate,
  search: SearchRecord | undefined,
  { duplicates }: Batch,
): {
  readonly records: ReadonlyMap<string, readonly PaperRecord[]>;
  readonly corrections: ReadonlyMap<string, readonly Update[]>;
} {
  const records = new Map<string, PaperRecord[]>();
  const corrections = new Map<string, Update[]>();
  const add = (id: string, newRecords: readonly PaperRecord[]) =>
    records.set(id, [...(records.get(id) ?? []), ...newRecords]);
  const pool = new Set(rrd.papers_pool.map(({ id }) => id));
  const { steps = [], listings = [] } = search ?? {};
  const windowRecords = new Set(
    listings.flatMap(({ step, records: listingRecords }) => (steps[step]?.update === update.id ? listingRecords : [])),
  );
  for (const { provenance } of candidatesOf(listings, separatedPairs(rrd)).works) {
    const versions = versionsOf(provenance);
    const paperCorrections = correctionsAmong(
      provenance.companions?.filter(({ record }) => windowRecords.has(listedRecord(record))),
    );
    for (const id of new Set(versions.map((record) => record.id)))
      if (pool.has(id)) {
        add(
          id,
          versions.filter((record) => windowRecords.has(listedRecord(record))),
        );
        if (paperCorrections.length > 0) corrections.set(id, paperCorrections);
      }
  }
  for (const { candidate, of } of duplicates) add(of, [candidate]);
  return { records, corrections };
}

/** The change that an earlier update reported, if the text could not be compared then and was not read since. */
function uncomparedChange({ updates = [] }: Rrd, { id, iteration = 0 }: Paper): string | undefined {
  const reports = updates.flatMap((update) => {
    const report = (update.changed ?? []).find((change) => change.id === id);
    return report === undefined ? [] : [{ ...report, isRead: iteration > (update.iteration ?? 0) }];
  });
  const last = reports.at(-1);
  return last?.compared === false && !last.isRead ? last.says : undefined;
}

/** A clause if the paper's local document was changed or replaced. */
async function documentChange(paper: Paper, since: string): Promise<string | undefined> {
  const path = localFile(paper);
  return path !== undefined && (await isChangedSince(path, since)) ? "its document was changed" : undefined;
}

const publishedPrefix = "published";

/** A published preprint as a separate paper. With the preprint's identifiers, the preprint's text would be fetched. */
function publishedPaper(paper: Paper, record: Partial<PaperRecord> = {}): Paper {
  const { arxiv: _, ...identifiers } = { ...paper.identifiers, ...record.identifiers };
  const { doi = "" } = identifiers;
  const { url = `https://doi.org/${doi}`, pdf_url = null } = record;
  return { ...paper, id: `doi_${doi.replace(/[^\w.-]/g, "_")}`, identifiers, url, pdf_url };
}

/** Another version of a paper. */
interface NewVersion {
  /** One clause. */
  readonly says: string;
  /** Fields that it adds to the paper. */
  readonly set: Partial<Paper>;
  /** The paper with the address of this version. */
  readonly as: Paper;
}

/** The document of a paper that was decided without its full text, if the user has put it into a folder. */
function addedDocument(paper: Paper, records: readonly PaperRecord[]): NewVersion | undefined {
  const document = records.find((record) => localFile(record) !== undefined);
  if (document === undefined || !waitsForText(paper) || localFile(paper) !== undefined) return undefined;
  const set = { pdf_url: document.pdf_url ?? document.url };
  return { says: "its text was added", set, as: { ...paper, ...set } };
}

/** The published version of a preprint, if a record names it and the paper's record does not. */
function publishedVersionIn(paper: Paper, records: readonly PaperRecord[]): NewVersion | undefined {
  const { publisherDois: publishedDois, isPreprint: preprint } = matchFeaturesOf(paper);
  // A paper without a DOI need not be a preprint: it can be an article from PubMed, or a PDF in a folder.
  if (!preprint || publishedDois.length > 0) return undefined;
  const withDoi = records.filter(({ identifiers: { doi } }) => doi !== undefined && !isPreprintDoi(doi));
  // The preprint's record can name the DOI too, but has less information about the publication.
  const record = withDoi.find((candidate) => !matchFeaturesOf(candidate).isPreprint) ?? withDoi[0];
  if (record === undefined) return undefined;
  const { doi, pmid, pmcid } = record.identifiers;
  const { venue, volume, issue, pages, publicationType: publication_type } = record;
  const date = matchFeaturesOf(record).isPreprint ? undefined : record.date;
  const facts = { date, venue, volume, issue, pages, publication_type };
  const preprintDoi = paper.identifiers?.doi;
  const newFields: Partial<Paper> = {
    identifiers: {
      ...Object.fromEntries(Object.entries({ doi, pmid, pmcid }).filter(([, name]) => name !== undefined)),
      ...paper.identifiers,
      ...withoutUndefined({ doi }),
    },
    ...(preprintDoi === undefined || preprintDoi === doi
      ? {}
      : { other_versions: [...(paper.other_versions ?? []), { relation: "preprint" as const, doi: preprintDoi }] }),
    ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value != null)),
  };
  return {
    says: `${publishedPrefix}${venue == null ? "" : ` in ${venue}`} as ${doi}`,
    set: newFields,
    as: publishedPaper(paper, record),
  };
}
