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
import { flat } from "../../project-files/markdown.js";
import { namesIn, withKeys } from "../../papers/paper-keys.js";
import { patternLines } from "../../project-files/progress-log.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import { eligibilityOf } from "../../screening/eligibility/eligibility.js";
import { findSeeds, type SeedRecall, seedRecall } from "../../papers/seeds/find-seeds.js";
import { isOwnFolder } from "../../papers/records/own-list.js";
import { withFactsOf } from "../../papers/records/known-paper.js";
import { seedsOf } from "../../papers/seeds/seed.js";
import { blockedNames } from "../../project-files/rrd-file.js";
import { screeningMetrics } from "./recall-claim.js";
import { type AnswersById, openCandidate, screenedOut, unanswered, unchecked } from "./screen-by-criteria.js";
import { openUpdate, withLastUpdate } from "../../derived/open-update.js";
import { isSeed } from "./next-round.js";
import { many } from "../../../engine/lib/words.js";
import { agreementOf, oneSided, readingsText } from "../../screening/eligibility/agreement.js";
import type { Combined } from "./readers.js";
import type { Batch } from "./screening-batch.js";
import { maxPoolSize, targetOf, batchesWithoutNew, searchKey } from "../../derived/status.js";
import { isDecided } from "../../papers/rubric/rubric.js";
import {
  excludedFacts,
  type Found as PaperFound,
  type PoolCitations,
  type ScreeningCandidate,
} from "./search-results.js";
import { reportLine, type SourceReport } from "./source-reports.js";

type Found = DiscoveryResult["papers"][number];

/**
 * Takes new papers into the pool, best first and never beyond the target; keeps what was screened out, and how the
 * sources did. Where there are eligibility criteria, their `answers` alone say what goes to full text.
 */
export function acceptDiscovery(
  rrd: Rrd,
  unit: string,
  result: DiscoveryResult,
  batch: Batch,
  judging: JudgingContext,
  answers: AnswersById = new Map(),
  readers?: Combined,
): Acceptance | Rejection {
  const criteria = criteriaOf(rrd);
  const candidates = new Map(batch.candidates.map((candidate) => [candidate.id, candidate]));
  const isOffered = ({ id }: { readonly id?: string }) => id !== undefined && candidates.has(id);
  const { kept = [], papers, dropped = [], visited_urls = [] } = result;
  const own = papers.filter((found) => !isOffered(found));
  const reasons = [
    ...kept
      .filter((one) => !isOffered(one))
      .map(({ id }) => `kept names "${id}", which is not a candidate of this unit`),
    ...(result.unit === unit ? [] : [`unit is "${result.unit}"; this unit is "${unit}"`]),
    // Only what code offered may lie on this machine: an agent's file: address would make us read, and send on, any
    // file of the user's.
    ...own.flatMap(({ title, url, pdf_url }) =>
      url === undefined
        ? [`"${flat(title)}" in papers has no url: candidates of this unit are named in kept, by their ids`]
        : [url, pdf_url ?? url]
            .filter((at, index, all) => !isAddress(at) && all.indexOf(at) === index)
            .map((at) => `"${flat(title)}" has no web address: ${flat(at)}`),
    ),
    ...unanswered(criteria, [...kept, ...papers, ...dropped].filter(isOffered)),
  ];
  if (reasons.length > 0) return { reasons };

  let size = rrd.papers_pool.length;
  const ids = new Set(rrd.papers_pool.map(({ id }) => id));
  const known = workIndex();
  // What code offered was compared with the pool before, and a person may have said that two are two works.
  const isCompared = own.length > 0;
  if (isCompared) for (const paper of rrd.papers_pool) known.add(paper.id, matchFeaturesOf(paper));
  const added: Paper[] = [];
  const duplicate = (id: string, title: string, of: string, why?: string) => ({
    id,
    title,
    ...excludedFacts(candidates.get(id)),
    reason: `the same work as ${of}${why === undefined ? "" : `: ${why}`}`,
    stage: "duplicate" as const,
    duplicate_of: of,
  });
  const excluded: NonNullable<Rrd["excluded"]> = [
    ...batch.duplicates.map(({ candidate, of, why }) => ({
      ...duplicate(candidate.id, candidate.title, of, why),
      ...excludedFacts(candidate),
    })),
    ...(batch.search?.setAside ?? []),
    ...(batch.listed?.setAside ?? []),
  ];
  let beyond = 0;
  const chosen = kept.flatMap(({ id, priority, reason }) => {
    const candidate = candidates.get(id);
    if (candidate === undefined) return [];
    // Code's own word stands where the agent says nothing else.
    const { title, url, priority: proposed = 3, why = "" } = candidate;
    return [{ id, title, url, priority: priority ?? proposed, reason: reason ?? why }];
  });
  // What no criterion excludes goes to full text, whatever the agent would do with it; and so does a document that a
  // person brought, unless they asked for screening.
  const isRead = ({ source }: Pick<ScreeningCandidate, "source">) =>
    readers === undefined && rrd.requirements.screening === undefined && isOwnFolder(source);
  const because = criteria.length === 0 ? "A document of yours is read" : "No criterion excludes it";
  const open = dropped.flatMap((one) => {
    const candidate = candidates.get(one.id);
    const goesOn = criteria.length > 0 || (candidate !== undefined && isRead(candidate));
    return goesOn ? openCandidate(one, candidate, because) : [];
  });
  for (const found of [...chosen, ...papers, ...open].toSorted((a, b) => b.priority - a.priority)) {
    const candidate = candidates.get(found.id ?? "");
    const answered = candidate === undefined ? unchecked(criteria) : (answers.get(candidate.id) ?? []);
    const { excludedBy } = eligibilityOf(criteria, answered);
    if (candidate !== undefined && excludedBy !== undefined) {
      if (!excluded.some(({ id }) => id === candidate.id))
        excluded.push({ ...screenedOut(candidate, excludedBy, answered), ...readingsOf(readers, candidate.id) });
      continue;
    }
    const paper = {
      ...recordOf(found, candidate),
      ...(answered.length === 0 ? {} : { answers: [...answered] }),
      ...readingsOf(readers, candidate?.id),
      ...(readers?.waiting.has(candidate?.id ?? "") === true ? { status: "waiting" as const } : {}),
    };
    const traits = isCompared ? matchFeaturesOf(paper) : undefined;
    const twin = candidate !== undefined || traits === undefined ? undefined : known.twinOf(traits)?.id;
    if (ids.has(paper.id)) continue;
    if (twin !== undefined) excluded.push(duplicate(paper.id, paper.title, twin));
    else if (size >= maxPoolSize(rrd)) beyond += 1;
    else {
      size += 1;
      ids.add(paper.id);
      if (traits !== undefined) known.add(paper.id, traits);
      added.push(paper);
    }
  }
  for (const { id, reason } of criteria.length > 0 ? [] : dropped) {
    const candidate = candidates.get(id);
    if (candidate !== undefined && !open.some((one) => one.id === id) && !added.some((paper) => paper.id === id))
      excluded.push({
        id,
        title: candidate.title,
        reason,
        stage: "screened",
        ...excludedFacts(candidate),
        ...readingsOf(readers, id),
      });
  }

  for (const [index, paper] of added.entries()) added[index] = withDuplicates(paper, batch);
  // In an update, what a record says of a paper that was read is told before it is taken.
  const learned = openUpdate(rrd) === undefined ? rrd.papers_pool.map((paper) => withDuplicates(paper, batch)) : [];
  const sources: SourceReport[] = [...batch.sources, ...result.sources];
  const judged = {
    screened: batch.candidates.filter(({ id }) => [...kept, ...papers, ...dropped].some((each) => each.id === id))
      .length,
    kept: added.length,
    mayLead: added.filter(isSeed).length,
    waiting: batch.candidates.filter(({ id }) => ![...added, ...excluded].some((each) => each.id === id)).length,
  };
  const seeds = seedsFoundIn(rrd, batch, added);
  const discovery_metrics = { ...metricsOf(rrd, batch, sources, judged), ...withoutUndefined({ seeds }) };
  const { conflicts = 0 } = readers ?? {};
  const out = excluded.filter(({ stage }) => stage === "screened").length;
  const after = { papers_pool: [...rrd.papers_pool, ...added], excluded: [...(rrd.excluded ?? []), ...excluded] };
  const before = rrd.statistics?.discovery_metrics?.substitutions ?? {};
  const replaced = Object.entries(batch.search?.substitutions ?? {}).flatMap(([name, said]) =>
    before[name] === said || batch.search?.substitutes.has(name) !== true ? [] : [said],
  );
  const updates = updatesAfter(rrd, batch);
  const isFull = size >= maxPoolSize(rrd) && rrd.papers_pool.length < maxPoolSize(rrd);
  const unscreened = discovery_metrics.flow?.not_screened ?? 0;
  const cut =
    isFull && unscreened > 0 && (criteria.length > 0 || (batch.search?.broughtLeft ?? 0) > 0)
      ? [
          `The pool holds the ${maxPoolSize(rrd)} papers that the project wants, and ${many(unscreened, "record")} ${unscreened === 1 ? "is" : "are"} not screened: 'run -p <more> --force' screens on.`,
        ]
      : [];
  const warning =
    [...replaced, ...cut, ...(readers === undefined ? [] : [oneSided(agreementOf(after)) ?? []].flat())].join(" ") ||
    undefined;
  const blocked = newlyBlocked(rrd, sources, discovery_metrics.failures_in_a_row);
  const freed = (batch.busy?.answered ?? []).map((name) => name.toLowerCase());
  const names = blockedNames(rrd).map((name) => name.toLowerCase());
  const stillBlocked = (rrd.blocked_sources ?? []).filter((_, index) => !freed.includes(names[index] ?? ""));
  return {
    changes: [
      ...added.map((paper) => ({ in: "papers_pool" as const, id: paper.id, set: { ...paper }, was: null })),
      ...(batch.moved ?? []).map(({ id, set }) => ({ in: "papers_pool" as const, id, set: { ...set } })),
      ...learned.flatMap((paper, index) => {
        const before = rrd.papers_pool[index];
        return before === undefined || before === paper
          ? []
          : [{ in: "papers_pool" as const, id: paper.id, set: changedIn(before, paper) }];
      }),
      ...newCitations(learned.length === 0 ? rrd : { ...rrd, papers_pool: learned }, batch).map(({ id, found }) => ({
        in: "papers_pool" as const,
        id,
        set: { found },
      })),
      ...newCorrections(rrd, batch).map(({ id, updates: noted }) => ({
        in: "papers_pool" as const,
        id,
        set: { updates: noted },
      })),
      {
        in: "rrd",
        set: {
          statistics: { ...rrd.statistics, discovery_metrics },
          ...withoutUndefined({ updates }),
          ...(freed.length === 0 ? {} : { blocked_sources: [...stillBlocked, ...blocked] }),
        },
        was: {
          statistics: rrd.statistics,
          ...(updates === undefined ? {} : { updates: rrd.updates }),
          ...(freed.length === 0 ? {} : { blocked_sources: rrd.blocked_sources }),
        },
        add: {
          ...(excluded.length > 0 ? { excluded } : {}),
          ...(blocked.length > 0 && freed.length === 0 ? { blocked_sources: blocked } : {}),
          ...(visited_urls.length > 0 ? { visited_urls } : {}),
        },
      },
    ],
    progress: entry({
      names: namesIn(
        withKeys({
          ...rrd,
          papers_pool: [...rrd.papers_pool, ...added],
          excluded: [...(rrd.excluded ?? []), ...excluded],
        }),
      ),
      readers: readers && readersLines(readers),
      unit,
      judging,
      added,
      excluded,
      sources,
      blocked,
      beyond,
      result,
      freed: batch.busy?.answered ?? [],
      recall: discovery_metrics.recall?.says,
    }),
    summary: `${added.length} new ${added.length === 1 ? "paper" : "papers"}, ${size} ${openUpdate(rrd) === undefined ? `of ${targetOf(rrd)} ` : ""}in the pool${out === 0 ? "" : `; ${many(out, "record")} left out by title and abstract`}${conflicts === 0 ? "" : `; the readers disagree on ${many(conflicts, "record")}`}`,
    ...withoutUndefined({
      notice: warning === undefined ? undefined : { level: "warning" as const, message: warning },
    }),
    ledger: { new_papers: added.length },
  };
}

/** A paper with what its duplicates in a batch know besides. */
const withDuplicates = (paper: Paper, { duplicates }: Batch): Paper =>
  duplicates.reduce((known, { candidate, of }) => (of === paper.id ? withFactsOf(known, candidate) : known), paper);

const changedIn = (before: Paper, after: Paper): Partial<Paper> =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(value, before[name as keyof Paper])),
  );

/**
 * Papers of the pool that snowballing came upon again, as themselves or as a duplicate, with the links to other papers
 * of the pool that their records do not hold yet.
 */
function newCitations(rrd: Rrd, { search, duplicates }: Batch): { readonly id: string; readonly found: PaperFound }[] {
  const met = new Map<string, { readonly cites: Set<string>; readonly cited_by: Set<string> }>();
  const meet = ({ id, cites = [], cited_by = [] }: PoolCitations) => {
    const links = met.get(id) ?? { cites: new Set(), cited_by: new Set() };
    met.set(id, links);
    for (const other of cites) if (other !== id) links.cites.add(other);
    for (const other of cited_by) if (other !== id) links.cited_by.add(other);
  };
  for (const citations of search?.pooled ?? []) meet(citations);
  for (const { candidate, of } of duplicates) meet({ ...candidate.found, id: of });
  return rrd.papers_pool.flatMap(({ id, found, source }) => {
    const links = met.get(id);
    if (links === undefined) return [];
    const before = found ?? { sources: [source ?? "a person"], why: "" };
    const cites = [...new Set([...(before.cites ?? []), ...links.cites])];
    const cited_by = [...new Set([...(before.cited_by ?? []), ...links.cited_by])];
    const isNew = cites.length > (before.cites?.length ?? 0) || cited_by.length > (before.cited_by?.length ?? 0);
    if (!isNew) return [];
    return [
      {
        id,
        found: { ...before, ...(cites.length === 0 ? {} : { cites }), ...(cited_by.length === 0 ? {} : { cited_by }) },
      },
    ];
  });
}

/**
 * Papers of the pool that are still to be read and of which the search has found a correction since, with all their
 * updates. Whether one that was read has to be read again is asked when an update is opened.
 */
function newCorrections(
  rrd: Rrd,
  { search }: Batch,
): { readonly id: string; readonly updates: NonNullable<Paper["updates"]> }[] {
  return (search?.corrections ?? []).flatMap(({ id, updates }) => {
    const paper = rrd.papers_pool.find((each) => each.id === id);
    const known = paper?.updates ?? [];
    const added = updates.filter((update) => !known.some((each) => isSameUpdate(each, update)));
    if (paper === undefined || isDecided(paper) || added.length === 0) return [];
    return [{ id, updates: oldestFirst([...known, ...added.map((each) => ({ ...each }))]) }];
  });
}

/**
 * The updates, where a source that had failed was asked since, or failed only now; undefined where all is as it was.
 */
function updatesAfter(rrd: Rrd, { search }: Batch): Rrd["updates"] | undefined {
  const { failed = {} } = openUpdate(rrd) ?? {};
  const leftOpen = search?.leftOpen;
  if (leftOpen === undefined || isDeepStrictEqual(leftOpen, failed)) return undefined;
  return withLastUpdate(rrd, { failed: { ...leftOpen } });
}

/** The check of recall by the person's seeds: among all that was searched, listed by folders, or found by the agent. */
function seedsFoundIn(rrd: Rrd, { search, candidates }: Batch, added: readonly Paper[]): SeedRecall | undefined {
  const seeds = seedsOf(rrd);
  const inBatch = findSeeds(
    seeds,
    [...candidates, ...added].map((record) => ({ record, mergedFrom: [] })),
  );
  const before = rrd.statistics?.discovery_metrics?.seeds?.references;
  return seedRecall(seeds, [...(search?.seeds?.works.values() ?? []), ...inBatch.works.values()], before);
}

/** What the readers of a record decided on it. */
function readingsOf(readers: Combined | undefined, id: string | undefined): Pick<Paper, "readings"> {
  const readings = readers?.readings.get(id ?? "");
  return readings === undefined ? {} : { readings: [...readings] };
}

/** The records on which readers disagree, for the log. */
function readersLines({ readings, waiting, conflicts }: Combined): string[] {
  const [some = []] = readings.values();
  const names = some.map(({ by }) => by).join(" and ");
  const inConflict = [...readings].filter(([, all]) => new Set(all.map(({ decision }) => decision)).size > 1);
  return [
    `**Readers:** ${names}, ${readings.size} records, ${many(conflicts, "conflict")}`,
    ...inConflict.map(([id, all]) => `- ${id}: ${readingsText(all)}${waiting.has(id) ? "; a person decides" : ""}`),
    "",
  ];
}

/** What an empty batch adds: the search is over, or goes on with the next one. */
export function acceptEmptyBatch(rrd: Rrd, unit: string, batch: Batch, judging: JudgingContext): Acceptance {
  const judged = acceptDiscovery(rrd, unit, { unit, papers: [], sources: [] }, batch, judging);
  if ("reasons" in judged) throw new Error(`an empty batch was refused: ${judged.reasons.join("; ")}`);
  const said = batch.sources.map((source) => ` ${reportLine(source).replace(/\.$/, "")}.`).join("");
  const isOver = batch.busy === undefined || batch.busy.rests.length === 0;
  const why = `nothing to screen ${isOver ? "and no source left to search" : "until another source is asked"}, so no agent was started.`;
  return {
    ...judged,
    notice: { level: "info", message: `Discovery, batch ${unit.replace("discovery-", "")}: ${why}${said}` },
  };
}

/** Anyone who parses an address may drop a line break or an escape code within; anyone who prints it does not. */
const isAddress = (url: string): boolean =>
  /^https?:\/\/[^\s/.]+\.[^\s/]\S*$/.test(url) && sanitise(url) === url && URL.canParse(url);

/** A record from what the agent said; what code knew of a candidate beats what the agent wrote of it. */
function recordOf(found: Found, candidate: ScreeningCandidate | undefined): Paper {
  const { title, url = "", pdf_url = null, authors = [], date = null, source = "web", abstract = null } = found;
  const identifiers = { ...identifiersFrom({ doi: found.doi }), ...candidate?.identifiers };
  // Of an agent's own find a web address by now: never unknown, never a file.
  const id = candidate?.id ?? paperId(parseReference(url) as Reference);
  return {
    ...storedFields({ ...(candidate ?? { id, title, url, pdf_url, authors, date, source, abstract }), identifiers }),
    ...(candidate?.found === undefined ? {} : { found: candidate.found }),
    priority: found.priority,
    status: "pending",
    score: null,
    score_breakdown: null,
    analysis: null,
    decision: null,
    notes: found.reason,
  };
}

function entry(of: {
  /** What people call each record, by its id. */
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
  const { unit, added, excluded, beyond, recall, names } = of;
  const called = ({ id }: { readonly id: string }) => names.get(id) ?? id;
  const because = (reason: string | null | undefined) => (reason ? ` (${reason})` : "");
  const asked = (queries: readonly string[] | undefined) =>
    queries === undefined || queries.length === 0 ? "" : `; asked: ${queries.join("; ")}`;
  const lines = [
    `## ${dayOf(of.judging.at)} - Discovery: batch ${unit.replace("discovery-", "")}`,
    "",
    `**New papers:** ${added.length}`,
    ...added.map((paper) => `- ${paper.title} (${called(paper)}) - priority ${paper.priority}`),
    "",
    "**Sources:**",
    ...of.sources.map((source) =>
      source.found === undefined
        ? `- ${source.name}: ${source.status}${because(source.reason)}${asked(source.queries)}`
        : `- ${reportLine(source)}${asked(source.queries)}`,
    ),
    ...of.blocked.map(({ name, reason }) => {
      const because = reason === undefined ? "" : ` (${withoutSourcePrefix(name, reason).replace(/\.$/, "")})`;
      return `- ${name} is blocked from now on${because}; remove it from blocked_sources in rrd.json to try it again`;
    }),
    ...of.freed.map((name) => `- ${name} answers again and is blocked no longer`),
    "",
    ...(excluded.length > 0
      ? ["**Screened out:**", ...excluded.map((one) => `- ${one.title ?? one.id} (${called(one)}): ${one.reason}`), ""]
      : []),
    ...(of.readers ?? []),
    ...(recall === undefined ? [] : [`**Recall:** ${recall}.`, ""]),
    ...(beyond > 0 ? [`${beyond} more were found than the target needs and were left out.`, ""] : []),
  ];
  return [...lines.map(flat), ...patternLines(unit, of.result.patterns)].join("\n");
}

const maxFailures = 3;

type Metrics = NonNullable<NonNullable<Rrd["statistics"]>["discovery_metrics"]>;

/** What became of the candidates of a batch. */
interface Judged {
  readonly screened: number;
  readonly kept: number;
  /** Papers among them that may be followed to others. */
  readonly mayLead: number;
  /** Neither in the pool nor left out: the agent said nothing of them, or the target was reached before them. */
  readonly waiting: number;
}

/** What is recorded of the search once a batch is accepted. */
function metricsOf(rrd: Rrd, batch: Batch, sources: readonly SourceReport[], judged: Judged): Metrics {
  const { exhausted: _before, keywords_not_searched: __, ...metrics } = rrd.statistics?.discovery_metrics ?? {};
  const { search, listed, toAgent = [] } = batch;
  // With a source left to the agent only empty batches say that nothing more comes.
  const leadsOn = search?.mayLeadOn === true && judged.mayLead > 0;
  // The end of an update is that all that came is judged; what an agent says nothing of is put before it again.
  const isUpdate = openUpdate(rrd) !== undefined;
  // Nor does what a person brought end before it is screened, however little of it is kept.
  const goesOn = isUpdate || (search?.broughtLeft ?? 0) > 0;
  const isSilent = judged.screened === 0 && batchesWithoutNew(rrd) > 0;
  const isJudged = (listed?.left ?? 0) === 0 && (judged.waiting === 0 || isSilent);
  // What nobody searches, folders that is, comes at once and whole.
  const isAsked = search === undefined || (search.exhausted !== undefined && search.left === 0);
  const isOver = isAsked && toAgent.length === 0 && !leadsOn && (isJudged || (!isUpdate && search !== undefined));
  // A batch that only hands over to another source says nothing of what there is to find.
  const blocked = new Set(blockedNames(rrd));
  const handsOver = ({ name, busy }: SourceReport) => busy?.isGivenUp === true && !blocked.has(name);
  const isTurn = judged.screened === 0 && ((batch.busy?.answered.length ?? 0) > 0 || sources.some(handsOver));
  const unscreened = (search?.left ?? 0) + judged.waiting + (search?.passed ?? 0);
  const records = Object.values(search?.identified ?? {}).reduce((sum, count) => sum + count, 0);
  return {
    ...metrics,
    ...sourceMetrics(metrics, sources),
    ...(isTurn ? withoutUndefined({ sources_skipped: metrics.sources_skipped }) : {}),
    batches: (metrics.batches ?? 0) + 1,
    batches_without_new: isTurn
      ? batchesWithoutNew(rrd)
      : judged.kept === 0 && !(goesOn && judged.screened > 0)
        ? batchesWithoutNew(rrd) + 1
        : 0,
    searched_for: searchKey(rrd),
    ...(listed === undefined ? {} : { listed_sha256: listed.sha256 }),
    ...(search === undefined
      ? {}
      : screeningMetrics(rrd, { ...judged, rounds: search.rounds.length, waiting: unscreened })),
    ...(search === undefined && listed !== undefined
      ? {
          flow: {
            ...metrics.flow,
            identified: identifiedWith(rrd, listed.identified),
            duplicates_removed: 0,
            not_screened: unscreened + listed.left + listed.passed,
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
            // What folders hold is compared with the rest batch by batch, so its duplicates are among the excluded.
            duplicates_removed: records - search.works,
            not_screened: unscreened + (listed?.left ?? 0) + (listed?.passed ?? 0),
          },
          ...(search.notAsked.length === 0 ? {} : { keywords_not_searched: [...search.notAsked] }),
        }),
    ...(isOver ? { exhausted: search?.exhausted ?? "everything that came was judged" } : {}),
  };
}

/** Records by source. An update lists new documents of folders alone: what was there before still counts. */
function identifiedWith(rrd: Rrd, now: Readonly<Record<string, number>>): Record<string, number> {
  const before = rrd.statistics?.discovery_metrics?.flow?.identified ?? {};
  if (openUpdate(rrd) === undefined) return { ...now };
  const counts = new Map(Object.entries(before));
  for (const [source, count] of Object.entries(now)) counts.set(source, Math.max(count, counts.get(source) ?? 0));
  return Object.fromEntries(counts);
}

function sourceMetrics(before: Metrics, sources: readonly SourceReport[]): Partial<Metrics> {
  const union = (old: readonly string[] | null | undefined, names: readonly string[]) => [
    ...new Set([...(old ?? []), ...names]),
  ];
  const named = (...statuses: SourceReport["status"][]) =>
    sources.filter((source) => statuses.includes(source.status)).map((source) => source.name);
  const failed = sources.filter(({ status }) => status !== "ok" && status !== "empty");
  // Maps: a source may be called constructor.
  const now = new Map<string, string>();
  // Where code and the agent failed, both say why.
  for (const { name, reason, status } of failed)
    now.set(name, now.has(name) ? `${now.get(name)} The agent: ${reason ?? status}` : (reason ?? status));
  const inARow = new Map(Object.entries(before.failures_in_a_row ?? {}));
  // Code's reports come before the agent's: where code failed and the agent did not, the source can be had.
  const counted = new Set<string>();
  for (const source of sources) {
    const { name, busy, failures = isFailed(source) ? 1 : 0 } = source;
    if (source.status === "skipped") continue;
    if (busy !== undefined) {
      inARow.set(name, busy.tries);
      counted.add(name);
      continue;
    }
    if (!isFailed(source)) inARow.set(name, failures);
    else if (!counted.has(name)) inARow.set(name, (inARow.get(name) ?? 0) + failures);
    counted.add(name);
  }
  return {
    failures_in_a_row: Object.fromEntries(inARow),
    sources_tried: union(
      before.sources_tried,
      sources.filter((source) => !isFailed(source) || source.failures !== 0).map((source) => source.name),
    ),
    sources_skipped: sources.filter(({ status }) => status === "skipped").map(({ name }) => name),
    sources_successful: union(before.sources_successful, named("ok")),
    source_failure_reasons: Object.fromEntries([...Object.entries(before.source_failure_reasons ?? {}), ...now]),
  };
}

const isFailed = ({ status }: SourceReport): boolean => status !== "ok" && status !== "empty" && status !== "skipped";

/** A source that is asked no more, as blocked_sources holds it. */
interface BlockedSource {
  readonly name: string;
  readonly reason?: string;
}

/**
 * A source that refuses us is not asked again, nor is one that failed three times in a row for whatever reason. One
 * that is busy is given up by its rests alone.
 */
function newlyBlocked(
  rrd: Rrd,
  sources: readonly SourceReport[],
  failures: Readonly<Record<string, number>> = {},
): BlockedSource[] {
  const known = new Set(blockedNames(rrd).map((name) => name.toLowerCase()));
  const gaveUp = sources.filter(
    ({ name, status, busy }) =>
      !known.has(name.toLowerCase()) &&
      status !== "skipped" &&
      (status === "blocked" || (busy?.isGivenUp ?? (failures[name] ?? 0) >= maxFailures)),
  );
  const named = gaveUp.map(
    ({ name, reason }) => [name.toLowerCase(), { name, ...withoutUndefined({ reason: reason ?? undefined }) }] as const,
  );
  return [...new Map(named).values()];
}
