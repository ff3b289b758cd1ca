import { isDeepStrictEqual } from "node:util";
import type { DiscoveryResult } from "../../generated/result-discovery.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { withoutSourcePrefix, sanitise } from "../../../engine/lib/sanitise.js";
import { identifiersFrom } from "../../papers/identifiers.js";
import { storedFields } from "../../papers/paper-record.js";
import { paperId, parseReference, type Reference } from "../../papers/reference.js";
import { workIndex } from "../../papers/dedup/work-index.js";
import { isSameUpdate, oldestFirst } from "../../papers/dedup/companions.js";
import { matchFeaturesOf } from "../../papers/dedup/match-features.js";
import { type Acceptance, type JudgingContext, type Rejection, dayOf } from "../judged-result.js";
import { onOneLine } from "../../project-files/markdown.js";
import { namesIn, withKeys } from "../../papers/paper-keys.js";
import { patternLines } from "../../project-files/progress-log.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import { eligibilityOf } from "../../screening/eligibility/eligibility.js";
import { findSeeds, type SeedRecall, seedRecall } from "../../papers/seeds/find-seeds.js";
import { isOwnFolder } from "../../papers/records/own-list.js";
import { withMissingFacts } from "../../papers/records/known-paper.js";
import { seedsOf } from "../../papers/seeds/seed.js";
import { blockedNames, blockedTest } from "../../project-files/rrd-file.js";
import { screeningMetrics } from "./recall-claim.js";
import {
  type AnswersById,
  entryDespiteDrop,
  exclusionByCriteria,
  unanswered,
  openAnswers,
} from "./screen-by-criteria.js";
import { openUpdate, withLastUpdate } from "../../derived/open-update.js";
import { withoutScreenedSeparated } from "../../derived/separated.js";
import { isSeed } from "./next-round.js";
import { quantity } from "../../../engine/lib/words.js";
import { agreementOf, oneSidedText, readingsText } from "../../screening/eligibility/agreement.js";
import type { MergedReaders } from "./readers.js";
import type { Batch } from "./screening-batch.js";
import { maxPoolSize, targetOf, batchesWithoutNew, searchKey, undecidedFields } from "../../derived/status.js";
import { isDecided } from "../../papers/rubric/rubric.js";
import {
  excludedFacts,
  type Found as PaperFound,
  type PoolCitations,
  type ScreeningCandidate,
} from "./search-results.js";
import { reportLine, type SourceReport } from "./source-reports.js";

type FoundPaper = DiscoveryResult["papers"][number];

/**
 * Adds new papers to the pool, best first, up to the target. Stores excluded records and the reports on the sources. If
 * there are eligibility criteria, only their `answers` decide which records are read.
 */
export function acceptDiscovery(
  rrd: Rrd,
  unit: string,
  result: DiscoveryResult,
  batch: Batch,
  judging: JudgingContext,
  answers: AnswersById = new Map(),
  readers?: MergedReaders,
): Acceptance | Rejection {
  const criteria = criteriaOf(rrd);
  const candidates = new Map(batch.candidates.map((candidate) => [candidate.id, candidate]));
  const isCandidate = ({ id }: { readonly id?: string }) => id !== undefined && candidates.has(id);
  const { kept = [], papers, dropped = [], visited_urls = [] } = result;
  const foundByAgent = papers.filter((found) => !isCandidate(found));
  const reasons = [
    ...kept
      .filter((entry) => !isCandidate(entry))
      .map(({ id }) => `kept names "${id}", which is not a candidate of this unit`),
    ...(result.unit === unit ? [] : [`unit is "${result.unit}"; this unit is "${unit}"`]),
    // Only candidates from code may be files of this machine. With a file: address, an agent could make the program
    // read any file of the user and send it.
    ...foundByAgent.flatMap(({ title, url, pdf_url }) =>
      url === undefined
        ? [`"${onOneLine(title)}" in papers has no url: candidates of this unit are named in kept, by their ids`]
        : [url, pdf_url ?? url]
            .filter((address, index, all) => !isAddress(address) && all.indexOf(address) === index)
            .map((address) => `"${onOneLine(title)}" has no web address: ${onOneLine(address)}`),
    ),
    ...unanswered(criteria, [...kept, ...papers, ...dropped].filter(isCandidate)),
  ];
  if (reasons.length > 0) return { reasons };

  let size = rrd.papers_pool.length;
  const ids = new Set(rrd.papers_pool.map(({ id }) => id));
  const knownWorks = workIndex();
  // Candidates were already compared with the pool, and the user may have decided that two records are different works.
  const mustCompare = foundByAgent.length > 0;
  if (mustCompare) for (const paper of rrd.papers_pool) knownWorks.add(paper.id, matchFeaturesOf(paper));
  const newPapers: Paper[] = [];
  const duplicate = ({ id, title }: Pick<Paper, "id" | "title">, existing: string, why?: string) => ({
    id,
    title,
    reason: `the same work as ${existing}${why === undefined ? "" : `: ${why}`}`,
    stage: "duplicate" as const,
    duplicate_of: existing,
  });
  const excluded: NonNullable<Rrd["excluded"]> = [
    ...batch.duplicates.map(({ candidate, of, why }) => ({
      ...duplicate(candidate, of, why),
      ...excludedFacts(candidate),
    })),
    ...(batch.search?.excluded ?? []),
    ...(batch.listed?.excluded ?? []),
  ];
  let overTarget = 0;
  const keptPapers = kept.flatMap(({ id, priority, reason }) => {
    const candidate = candidates.get(id);
    if (candidate === undefined) return [];
    // If the agent gives no priority or reason, those of the candidate are used.
    const { title, url, priority: proposed = 3, why = "" } = candidate;
    return [{ id, title, url, priority: priority ?? proposed, reason: reason ?? why }];
  });
  // A record that no criterion excludes is read, even if the agent would drop it. So is the user's own document, unless
  // the user asked for screening.
  const isUserDocument = ({ source }: Pick<ScreeningCandidate, "source">) =>
    readers === undefined && rrd.requirements.screening === undefined && isOwnFolder(source);
  const reasonToRead = criteria.length === 0 ? "A document of yours is read" : "No criterion excludes it";
  const mandatoryEntries = dropped.flatMap((entry) => {
    const candidate = candidates.get(entry.id);
    const mustBeRead = criteria.length > 0 || (candidate !== undefined && isUserDocument(candidate));
    return mustBeRead ? entryDespiteDrop(entry, candidate, reasonToRead) : [];
  });
  for (const found of [...keptPapers, ...papers, ...mandatoryEntries].toSorted((a, b) => b.priority - a.priority)) {
    const candidate = candidates.get(found.id ?? "");
    const candidateAnswers = candidate === undefined ? openAnswers(criteria) : (answers.get(candidate.id) ?? []);
    const { excludedBy } = eligibilityOf(criteria, candidateAnswers);
    if (candidate !== undefined && excludedBy !== undefined) {
      if (!excluded.some(({ id }) => id === candidate.id))
        excluded.push({
          ...exclusionByCriteria(candidate, excludedBy, candidateAnswers),
          ...readingsOf(readers, candidate.id),
        });
      continue;
    }
    const paper = {
      ...recordOf(found, candidate),
      ...(candidateAnswers.length === 0 ? {} : { answers: [...candidateAnswers] }),
      ...readingsOf(readers, candidate?.id),
      ...(readers?.waiting.has(candidate?.id ?? "") === true ? { status: "waiting" as const } : {}),
    };
    const features = mustCompare ? matchFeaturesOf(paper) : undefined;
    const duplicateOf = candidate !== undefined || features === undefined ? undefined : knownWorks.twinOf(features)?.id;
    if (ids.has(paper.id)) continue;
    if (duplicateOf !== undefined) excluded.push(duplicate(paper, duplicateOf));
    else if (size >= maxPoolSize(rrd)) overTarget += 1;
    else {
      size += 1;
      ids.add(paper.id);
      if (features !== undefined) knownWorks.add(paper.id, features);
      newPapers.push(paper);
    }
  }
  for (const { id, reason } of criteria.length > 0 ? [] : dropped) {
    const candidate = candidates.get(id);
    if (
      candidate !== undefined &&
      !mandatoryEntries.some((one) => one.id === id) &&
      !newPapers.some((paper) => paper.id === id)
    )
      excluded.push({
        id,
        title: candidate.title,
        reason,
        stage: "screened",
        ...excludedFacts(candidate),
        ...readingsOf(readers, id),
      });
  }

  for (const [index, paper] of newPapers.entries()) newPapers[index] = withDuplicates(paper, batch);
  // In an update, an earlier step handles new data about papers that were already read.
  const updatedPool = openUpdate(rrd) === undefined ? rrd.papers_pool.map((paper) => withDuplicates(paper, batch)) : [];
  const sources: SourceReport[] = [...batch.sources, ...result.sources];
  const batchCounts = {
    screened: batch.candidates.filter(({ id }) => [...kept, ...papers, ...dropped].some((each) => each.id === id))
      .length,
    kept: newPapers.length,
    unscreened:
      criteria.length > 0
        ? 0
        : batch.candidates.filter(
            (candidate) => isUserDocument(candidate) && newPapers.some(({ id }) => id === candidate.id),
          ).length,
    followable: newPapers.filter(isSeed).length,
    waiting: batch.candidates.filter(({ id }) => ![...newPapers, ...excluded].some((each) => each.id === id)).length,
  };
  const seeds = seedsFoundIn(rrd, batch, newPapers);
  const discovery_metrics = { ...metricsOf(rrd, batch, sources, batchCounts), ...withoutUndefined({ seeds }) };
  const { conflicts = 0 } = readers ?? {};
  const screenedOutCount = excluded.filter(({ stage }) => stage === "screened").length;
  const stateAfter = {
    papers_pool: [...rrd.papers_pool, ...newPapers],
    excluded: [...(rrd.excluded ?? []), ...excluded],
  };
  const notedSubstitutions = rrd.statistics?.discovery_metrics?.substitutions ?? {};
  const newSubstitutions = Object.entries(batch.search?.substitutions ?? {}).flatMap(([name, substitution]) =>
    notedSubstitutions[name] === substitution || batch.search?.substitutes.has(name) !== true ? [] : [substitution],
  );
  const updates = updatesAfter(rrd, batch);
  const isFull = size >= maxPoolSize(rrd) && rrd.papers_pool.length < maxPoolSize(rrd);
  const unscreenedRecords = discovery_metrics.flow?.not_screened ?? 0;
  const limitWarning =
    isFull && unscreenedRecords > 0 && (criteria.length > 0 || (batch.search?.broughtLeft ?? 0) > 0)
      ? [
          `The pool holds the ${maxPoolSize(rrd)} papers that the project wants, and ${quantity(unscreenedRecords, "record")} ${unscreenedRecords === 1 ? "is" : "are"} not screened: 'run -p <more> --force' continues the screening.`,
        ]
      : [];
  // The user already knows about the sources that code searched. These are sources that the agent should have searched.
  const isFirstBatch = (rrd.statistics?.discovery_metrics?.batches ?? 0) === 0;
  const skipped = isFirstBatch ? result.sources.filter(({ status }) => status !== "ok" && status !== "empty") : [];
  const warning =
    [
      ...newSubstitutions,
      ...skipped.map((source) => `${reportLine(source).replace(/\.$/, "")}.`),
      ...limitWarning,
      ...(readers === undefined ? [] : [oneSidedText(agreementOf(stateAfter)) ?? []].flat()),
    ].join(" ") || undefined;
  const blocked = newlyBlocked(rrd, sources, discovery_metrics.failures_in_a_row);
  const unblocked = (batch.busy?.answered ?? []).map((name) => name.toLowerCase());
  const names = blockedNames(rrd).map((name) => name.toLowerCase());
  const stillBlocked = (rrd.blocked_sources ?? []).filter((_, index) => !unblocked.includes(names[index] ?? ""));
  return {
    changes: [
      ...newPapers.map((paper) => ({ in: "papers_pool" as const, id: paper.id, set: { ...paper }, was: null })),
      ...(batch.moved ?? []).map(({ id, set }) => ({ in: "papers_pool" as const, id, set: { ...set } })),
      ...updatedPool.flatMap((paper, index) => {
        const before = rrd.papers_pool[index];
        return before === undefined || before === paper
          ? []
          : [{ in: "papers_pool" as const, id: paper.id, set: changedFields(before, paper) }];
      }),
      ...newCitations(updatedPool.length === 0 ? rrd : { ...rrd, papers_pool: updatedPool }, batch).map(
        ({ id, found }) => ({ in: "papers_pool" as const, id, set: { found } }),
      ),
      ...newCorrections(rrd, batch).map(({ id, updates: paperUpdates }) => ({
        in: "papers_pool" as const,
        id,
        set: { updates: paperUpdates },
      })),
      {
        in: "rrd",
        set: {
          statistics: { ...rrd.statistics, discovery_metrics },
          ...withoutUndefined({ updates }),
          ...(unblocked.length === 0 ? {} : { blocked_sources: [...stillBlocked, ...blocked] }),
        },
        was: {
          statistics: rrd.statistics,
          ...(updates === undefined ? {} : { updates: rrd.updates }),
          ...(unblocked.length === 0 ? {} : { blocked_sources: rrd.blocked_sources }),
        },
        add: {
          ...(excluded.length > 0 ? { excluded } : {}),
          ...(blocked.length > 0 && unblocked.length === 0 ? { blocked_sources: blocked } : {}),
          ...(visited_urls.length > 0 ? { visited_urls } : {}),
        },
      },
    ],
    progress: progressEntry({
      names: namesIn(
        withKeys(
          withoutScreenedSeparated({
            ...rrd,
            papers_pool: [...rrd.papers_pool, ...newPapers],
            excluded: [...(rrd.excluded ?? []), ...excluded],
          }),
        ),
      ),
      readers: readers && readersLines(readers),
      unit,
      judging,
      added: newPapers,
      excluded,
      sources,
      blocked,
      beyond: overTarget,
      result,
      freed: batch.busy?.answered ?? [],
      recall: discovery_metrics.recall?.says,
    }),
    summary: `${newPapers.length} new ${newPapers.length === 1 ? "paper" : "papers"}, ${size} ${openUpdate(rrd) === undefined ? `of ${targetOf(rrd)} ` : ""}in the pool${screenedOutCount === 0 ? "" : `; ${quantity(screenedOutCount, "record")} left out by title and abstract`}${conflicts === 0 ? "" : `; the readers disagree on ${quantity(conflicts, "record")}`}`,
    ...withoutUndefined({
      notice: warning === undefined ? undefined : { level: "warning" as const, message: warning },
    }),
    ledger: { new_papers: newPapers.length },
  };
}

/** Adds the data of a paper's duplicates in a batch to the paper, if the paper lacks them. */
const withDuplicates = (paper: Paper, { duplicates }: Batch): Paper =>
  duplicates.reduce(
    (known, { candidate, of }) => (of === paper.id ? withMissingFacts(known, candidate) : known),
    paper,
  );

const changedFields = (before: Paper, after: Paper): Partial<Paper> =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(value, before[name as keyof Paper])),
  );

/**
 * The papers of the pool that snowballing found again, directly or as duplicates, with new links to other papers of the
 * pool.
 */
function newCitations(rrd: Rrd, { search, duplicates }: Batch): { readonly id: string; readonly found: PaperFound }[] {
  const linksById = new Map<string, { readonly cites: Set<string>; readonly cited_by: Set<string> }>();
  const addLinks = ({ id, cites = [], cited_by = [] }: PoolCitations) => {
    const links = linksById.get(id) ?? { cites: new Set(), cited_by: new Set() };
    linksById.set(id, links);
    for (const other of cites) if (other !== id) links.cites.add(other);
    for (const other of cited_by) if (other !== id) links.cited_by.add(other);
  };
  for (const citations of search?.pooled ?? []) addLinks(citations);
  for (const { candidate, of } of duplicates) addLinks({ ...candidate.found, id: of });
  return rrd.papers_pool.flatMap(({ id, found, source }) => {
    const links = linksById.get(id);
    if (links === undefined) return [];
    const storedFound = found ?? { sources: [source ?? "a person"], why: "" };
    const cites = [...new Set([...(storedFound.cites ?? []), ...links.cites])];
    const cited_by = [...new Set([...(storedFound.cited_by ?? []), ...links.cited_by])];
    const isNew =
      cites.length > (storedFound.cites?.length ?? 0) || cited_by.length > (storedFound.cited_by?.length ?? 0);
    if (!isNew) return [];
    return [
      {
        id,
        found: {
          ...storedFound,
          ...(cites.length === 0 ? {} : { cites }),
          ...(cited_by.length === 0 ? {} : { cited_by }),
        },
      },
    ];
  });
}

/**
 * Papers that are not read yet and have new corrections, each with all its updates. For papers that were read, this is
 * decided when an update is opened.
 */
function newCorrections(
  rrd: Rrd,
  { search }: Batch,
): { readonly id: string; readonly updates: NonNullable<Paper["updates"]> }[] {
  return (search?.corrections ?? []).flatMap(({ id, updates }) => {
    const paper = rrd.papers_pool.find((each) => each.id === id);
    const knownUpdates = paper?.updates ?? [];
    const newUpdates = updates.filter((update) => !knownUpdates.some((each) => isSameUpdate(each, update)));
    if (paper === undefined || isDecided(paper) || newUpdates.length === 0) return [];
    return [{ id, updates: oldestFirst([...knownUpdates, ...newUpdates.map((each) => ({ ...each }))]) }];
  });
}

/** The updates, if the failed sources of the open one have changed; undefined if not. */
function updatesAfter(rrd: Rrd, { search }: Batch): Rrd["updates"] | undefined {
  const { failed = {} } = openUpdate(rrd) ?? {};
  const leftOpen = search?.leftOpen;
  if (leftOpen === undefined || isDeepStrictEqual(leftOpen, failed)) return undefined;
  return withLastUpdate(rrd, { failed: { ...leftOpen } });
}

/** Checks which of the user's seeds were found, whether by the search, in folders, or by the agent. */
function seedsFoundIn(rrd: Rrd, { search, candidates }: Batch, added: readonly Paper[]): SeedRecall | undefined {
  const seeds = seedsOf(rrd);
  const inBatch = findSeeds(
    seeds,
    [...candidates, ...added].map((record) => ({ record, mergedFrom: [] })),
  );
  const earlierReferences = rrd.statistics?.discovery_metrics?.seeds?.references;
  return seedRecall(seeds, [...(search?.seeds?.works.values() ?? []), ...inBatch.works.values()], earlierReferences);
}

/** The decisions of the readers on a record. */
function readingsOf(readers: MergedReaders | undefined, id: string | undefined): Pick<Paper, "readings"> {
  const readings = readers?.readings.get(id ?? "");
  return readings === undefined ? {} : { readings: [...readings] };
}

/** The log lines about the records on which readers disagree. */
function readersLines({ readings, waiting, conflicts }: MergedReaders): string[] {
  const [firstReadings = []] = readings.values();
  const names = firstReadings.map(({ by }) => by).join(" and ");
  const conflicting = [...readings].filter(([, all]) => new Set(all.map(({ decision }) => decision)).size > 1);
  return [
    `**Readers:** ${names}, ${readings.size} records, ${quantity(conflicts, "conflict")}`,
    ...conflicting.map(([id, all]) => `- ${id}: ${readingsText(all)}${waiting.has(id) ? "; a person decides" : ""}`),
    "",
  ];
}

/** Accepts a batch without candidates: the search ends or continues with the next batch. */
export function acceptEmptyBatch(rrd: Rrd, unit: string, batch: Batch, judging: JudgingContext): Acceptance {
  const judged = acceptDiscovery(rrd, unit, { unit, papers: [], sources: [] }, batch, judging);
  if ("reasons" in judged) throw new Error(`an empty batch was refused: ${judged.reasons.join("; ")}`);
  const sourceLines = batch.sources.map((source) => ` ${reportLine(source).replace(/\.$/, "")}.`).join("");
  const isOver = batch.busy === undefined || batch.busy.rests.length === 0;
  const why = `nothing to screen ${isOver ? "and no source left to search" : "until another source is asked"}, so no agent was started.`;
  return {
    ...judged,
    notice: { level: "info", message: `Discovery, batch ${unit.replace("discovery-", "")}: ${why}${sourceLines}` },
  };
}

/** Programs that parse an address may ignore a line break or escape code in it; programs that print it do not. */
const isAddress = (url: string): boolean =>
  /^https?:\/\/[^\s/.]+\.[^\s/]\S*$/.test(url) && sanitise(url) === url && URL.canParse(url);

/** The record of a paper that the agent kept. If code and the agent give different data, those of code are used. */
function recordOf(found: FoundPaper, candidate: ScreeningCandidate | undefined): Paper {
  const { title, url = "", pdf_url = null, authors = [], date = null, source = "web", abstract = null } = found;
  const identifiers = { ...identifiersFrom({ doi: found.doi }), ...candidate?.identifiers };
  // If the agent found the paper itself, its address was checked above: it is a web address, not a file.
  const id = candidate?.id ?? paperId(parseReference(url) as Reference);
  return {
    ...storedFields({ ...(candidate ?? { id, title, url, pdf_url, authors, date, source, abstract }), identifiers }),
    ...(candidate?.found === undefined ? {} : { found: candidate.found }),
    priority: found.priority,
    ...undecidedFields,
    notes: found.reason,
  };
}

function progressEntry(batchLog: {
  /** The name that people use for each record, by its id. */
  names: ReadonlyMap<string, string>;
  unit: string;
  judging: JudgingContext;
  added: readonly Paper[];
  excluded: NonNullable<Rrd["excluded"]>;
  sources: readonly SourceReport[];
  blocked: readonly BlockedSource[];
  /** Blocked sources that answered again. */
  freed: readonly string[];
  beyond: number;
  result: DiscoveryResult;
  recall: string | undefined;
  readers: readonly string[] | undefined;
}): string {
  const { unit, added, excluded, beyond: overTargetCount, recall, names } = batchLog;
  const nameOf = ({ id }: { readonly id: string }) => names.get(id) ?? id;
  const bracketText = (reason: string | null | undefined) => (reason ? ` (${reason})` : "");
  const queryText = (queries: readonly string[] | undefined) =>
    queries === undefined || queries.length === 0 ? "" : `; asked: ${queries.join("; ")}`;
  const lines = [
    `## ${dayOf(batchLog.judging.at)} - Discovery: batch ${unit.replace("discovery-", "")}`,
    "",
    `**New papers:** ${added.length}`,
    ...added.map((paper) => `- ${paper.title} (${nameOf(paper)}) - priority ${paper.priority}`),
    "",
    "**Sources:**",
    ...batchLog.sources.map((source) =>
      source.found === undefined
        ? `- ${source.name}: ${source.status}${bracketText(source.reason)}${queryText(source.queries)}`
        : `- ${reportLine(source)}${queryText(source.queries)}`,
    ),
    ...batchLog.blocked.map(({ name, reason }) => {
      const reasonText = reason === undefined ? "" : ` (${withoutSourcePrefix(name, reason).replace(/\.$/, "")})`;
      return `- ${name} is blocked from now on${reasonText}; remove it from blocked_sources in rrd.json to try it again`;
    }),
    ...batchLog.freed.map((name) => `- ${name} answers again and is blocked no longer`),
    "",
    ...(excluded.length > 0
      ? ["**Screened out:**", ...excluded.map((one) => `- ${one.title ?? one.id} (${nameOf(one)}): ${one.reason}`), ""]
      : []),
    ...(batchLog.readers ?? []),
    ...(recall === undefined ? [] : [`**Recall:** ${recall}.`, ""]),
    ...(overTargetCount > 0 ? [`${overTargetCount} more were found than the target needs and were left out.`, ""] : []),
  ];
  return [...lines.map(onOneLine), ...patternLines(unit, batchLog.result.patterns)].join("\n");
}

/** A source is blocked after this many failures in a row. */
const maxFailures = 3;

type Metrics = NonNullable<NonNullable<Rrd["statistics"]>["discovery_metrics"]>;

/** The numbers of a judged batch. */
interface BatchCounts {
  readonly screened: number;
  readonly kept: number;
  /** Number of the user's documents among the kept ones, which are read without screening. */
  readonly unscreened: number;
  /** Number of new papers whose citations may be followed. */
  readonly followable: number;
  /**
   * Number of candidates that are neither in the pool nor excluded, because the agent did not mention them or the
   * target was reached.
   */
  readonly waiting: number;
}

/** The statistics of the search after a batch. */
function metricsOf(rrd: Rrd, batch: Batch, sources: readonly SourceReport[], judged: BatchCounts): Metrics {
  const { exhausted: _exhausted, keywords_not_searched: __, ...metrics } = rrd.statistics?.discovery_metrics ?? {};
  const { search, listed, toAgent = [] } = batch;
  // If an agent searches a source itself, only empty batches show that the source has no more records.
  const canFollow = search?.mayLeadOn === true && judged.followable > 0;
  // An update ends when all its records are judged; records that the agent did not mention are offered again.
  const isUpdate = openUpdate(rrd) !== undefined;
  // The user's own records must all be screened too, even if few are kept.
  const mustContinue = isUpdate || (search?.broughtLeft ?? 0) > 0;
  const isUnanswered = judged.screened === 0 && batchesWithoutNew(rrd) > 0;
  const isComplete = (listed?.left ?? 0) === 0 && (judged.waiting === 0 || isUnanswered);
  // Sources that need no search, such as folders, give all their records at once.
  const isSearchOver = search === undefined || (search.exhausted !== undefined && search.left === 0);
  const isOver =
    isSearchOver && toAgent.length === 0 && !canFollow && (isComplete || (!isUpdate && search !== undefined));
  // If a batch only shows that other sources must be searched, it does not count as a batch without new papers.
  const isBlocked = blockedTest(rrd);
  const isPassedOn = ({ name, busy }: SourceReport) => busy?.isGivenUp === true && !isBlocked(name);
  const onlyPassesOn = judged.screened === 0 && ((batch.busy?.answered.length ?? 0) > 0 || sources.some(isPassedOn));
  const unscreenedCount = (search?.left ?? 0) + judged.waiting + (search?.skippedCount ?? 0);
  const records = Object.values(search?.identified ?? {}).reduce((sum, count) => sum + count, 0);
  return {
    ...metrics,
    ...sourceMetrics(metrics, sources),
    ...(onlyPassesOn ? withoutUndefined({ sources_skipped: metrics.sources_skipped }) : {}),
    batches: (metrics.batches ?? 0) + 1,
    batches_without_new: onlyPassesOn
      ? batchesWithoutNew(rrd)
      : judged.kept === 0 && !(mustContinue && judged.screened > 0)
        ? batchesWithoutNew(rrd) + 1
        : 0,
    searched_for: searchKey(rrd),
    ...(listed === undefined ? {} : { listed_sha256: listed.sha256 }),
    ...(search === undefined
      ? {}
      : screeningMetrics(rrd, {
          screened: judged.screened - judged.unscreened,
          kept: judged.kept - judged.unscreened,
          rounds: search.rounds.length,
          waiting: unscreenedCount,
        })),
    ...(search === undefined && listed !== undefined
      ? {
          flow: {
            ...metrics.flow,
            identified: identifiedWith(rrd, listed.identified),
            duplicates_removed: 0,
            not_screened: unscreenedCount + listed.left + listed.passed,
          },
        }
      : {}),
    ...(search === undefined
      ? {}
      : {
          rounds: [...search.rounds],
          pool_sha256: search.candidatesSha256,
          ...(Object.keys(search.substitutions).length === 0 ? {} : { substitutions: { ...search.substitutions } }),
          flow: {
            ...metrics.flow,
            identified: identifiedWith(rrd, { ...search.identified, ...listed?.identified }),
            // Documents of folders are compared with the other records batch by batch, so their duplicates are among
            // the excluded records.
            duplicates_removed: records - search.works,
            not_screened: unscreenedCount + (listed?.left ?? 0) + (listed?.passed ?? 0),
          },
          ...(search.notAsked.length === 0 ? {} : { keywords_not_searched: [...search.notAsked] }),
        }),
    ...(isOver ? { exhausted: search?.exhausted ?? "all records were judged" } : {}),
  };
}

/**
 * The number of records by source. An update lists only the new documents of folders, so the earlier number is kept if
 * it is larger.
 */
function identifiedWith(rrd: Rrd, current: Readonly<Record<string, number>>): Record<string, number> {
  const before = rrd.statistics?.discovery_metrics?.flow?.identified ?? {};
  if (openUpdate(rrd) === undefined) return { ...current };
  const counts = new Map(Object.entries(before));
  for (const [source, count] of Object.entries(current)) counts.set(source, Math.max(count, counts.get(source) ?? 0));
  return Object.fromEntries(counts);
}

function sourceMetrics(earlier: Metrics, sources: readonly SourceReport[]): Partial<Metrics> {
  const union = (old: readonly string[] | null | undefined, names: readonly string[]) => [
    ...new Set([...(old ?? []), ...names]),
  ];
  const namesWith = (...statuses: SourceReport["status"][]) =>
    sources.filter((source) => statuses.includes(source.status)).map((source) => source.name);
  const failed = sources.filter(({ status }) => status !== "ok" && status !== "empty");
  // Maps, because a source may have the name "constructor".
  const reasons = new Map<string, string>();
  // If both code and the agent failed, both reasons are stored.
  for (const { name, reason, status } of failed)
    reasons.set(name, reasons.has(name) ? `${reasons.get(name)} The agent: ${reason ?? status}` : (reason ?? status));
  const failuresInARow = new Map(Object.entries(earlier.failures_in_a_row ?? {}));
  // Reports of code come before those of the agent: if code failed and the agent did not, the source is available.
  const counted = new Set<string>();
  for (const source of sources) {
    const { name, busy, failures = isFailed(source) ? 1 : 0 } = source;
    if (source.status === "skipped") continue;
    if (busy !== undefined) {
      failuresInARow.set(name, busy.tries);
      counted.add(name);
      continue;
    }
    if (!isFailed(source)) failuresInARow.set(name, failures);
    else if (!counted.has(name)) failuresInARow.set(name, (failuresInARow.get(name) ?? 0) + failures);
    counted.add(name);
  }
  return {
    failures_in_a_row: Object.fromEntries(failuresInARow),
    sources_tried: union(
      earlier.sources_tried,
      sources.filter((source) => !isFailed(source) || source.failures !== 0).map((source) => source.name),
    ),
    sources_skipped: sources.filter(({ status }) => status === "skipped").map(({ name }) => name),
    sources_successful: union(earlier.sources_successful, namesWith("ok")),
    source_failure_reasons: Object.fromEntries([...Object.entries(earlier.source_failure_reasons ?? {}), ...reasons]),
  };
}

const isFailed = ({ status }: SourceReport): boolean => status !== "ok" && status !== "empty" && status !== "skipped";

/** A source that is no longer asked, as stored in blocked_sources. */
interface BlockedSource {
  readonly name: string;
  readonly reason?: string;
}

/**
 * The sources that are blocked from now on: those that refuse access, and those that failed three times in a row. Busy
 * services have their own limit.
 */
function newlyBlocked(
  rrd: Rrd,
  sources: readonly SourceReport[],
  failures: Readonly<Record<string, number>> = {},
): BlockedSource[] {
  const isKnown = blockedTest(rrd);
  const blocked = sources.filter(
    ({ name, status, busy }) =>
      !isKnown(name) &&
      status !== "skipped" &&
      (status === "blocked" || (busy?.isGivenUp ?? (failures[name] ?? 0) >= maxFailures)),
  );
  const entries = blocked.map(
    ({ name, reason }) => [name.toLowerCase(), { name, ...withoutUndefined({ reason: reason ?? undefined }) }] as const,
  );
  return [...new Map(entries).values()];
}
