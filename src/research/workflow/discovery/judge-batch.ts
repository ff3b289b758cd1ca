import type { DiscoveryResult } from "../../generated/result-discovery.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { sanitise } from "../../../engine/lib/sanitise.js";
import { identifiersOf } from "../../papers/identifiers.js";
import { keptFacts } from "../../papers/paper-record.js";
import { paperId, parseReference, type Reference } from "../../papers/reference.js";
import { workIndex } from "../../papers/dedup/work-index.js";
import { matchFeaturesOf } from "../../papers/dedup/match-features.js";
import type { Acceptable, Judging, Unacceptable } from "../result/accepted-result.js";
import { dayOf } from "../result/accepted-result.js";
import { flat } from "../derived/markdown.js";
import { patternLines } from "../derived/lessons.js";
import { metricsOf, newlyBlocked } from "./prisma-counts.js";
import { isSeed } from "./next-round.js";
import type { Batch } from "./screening-batch.js";
import { reportLine, type SourceReport } from "./source-reports.js";
import { targetOf } from "../decisions/status.js";
import type { ScreeningCandidate } from "./search-results.js";

type Found = DiscoveryResult["papers"][number];

/** Takes new papers into the pool, best first and never beyond the target; keeps what was screened out, and how the sources did. */
export function acceptDiscovery(
  rrd: Rrd,
  unit: string,
  result: DiscoveryResult,
  batch: Batch,
  judging: Judging,
): Acceptable | Unacceptable {
  const candidates = new Map(batch.candidates.map((candidate) => [candidate.id, candidate]));
  const kept = (result.kept ?? []).map(({ id, ...said }) => ({ candidate: candidates.get(id), id, ...said }));
  const reasons = [
    ...kept
      .filter(({ candidate }) => candidate === undefined)
      .map(({ id }) => `kept names "${id}", which is no candidate of this unit`),
    ...(result.unit === unit ? [] : [`unit is "${result.unit}"; this unit is "${unit}"`]),
    // Only what code offered may lie on this machine: an agent's file: address would make us read, and send on, any file of the user's.
    ...result.papers
      .filter((found) => !isKnown(found, candidates))
      .flatMap(({ title, url, pdf_url }) =>
        [url, ...(pdf_url == null ? [] : [pdf_url])]
          .filter((at) => !isAddress(at))
          .map((at) => `"${flat(title)}" has no web address: ${flat(at)}`),
      ),
  ];
  if (reasons.length > 0) return { reasons };

  let size = rrd.papers_pool.length;
  const ids = new Set(rrd.papers_pool.map(({ id }) => id));
  const known = workIndex();
  // What code offered was compared with the pool before, and a person may have said that two are two works.
  const isCompared = result.papers.some((found) => !isKnown(found, candidates));
  if (isCompared) for (const paper of rrd.papers_pool) known.add(paper.id, matchFeaturesOf(paper));
  const added: Paper[] = [];
  const duplicate = (id: string, title: string, of: string, why?: string) => ({
    id,
    title,
    reason: `the same work as ${of}${why === undefined ? "" : `: ${why}`}`,
    stage: "duplicate" as const,
    duplicate_of: of,
  });
  const excluded: NonNullable<Rrd["excluded"]> = [
    ...batch.duplicates.map(({ candidate, of, why }) => duplicate(candidate.id, candidate.title, of, why)),
    ...(batch.search?.setAside ?? []),
  ];
  let beyond = 0;
  const chosen = kept.flatMap(({ candidate, priority, reason }) =>
    candidate === undefined ? [] : [asFound(candidate, priority, reason)],
  );
  for (const found of [...chosen, ...result.papers].toSorted((a, b) => b.priority - a.priority)) {
    const candidate = candidates.get(found.id ?? "");
    const paper = recordOf(found, candidate);
    const traits = isCompared ? matchFeaturesOf(paper) : undefined;
    const twin = candidate !== undefined || traits === undefined ? undefined : known.twinOf(traits)?.id;
    if (ids.has(paper.id)) continue;
    if (twin !== undefined) excluded.push(duplicate(paper.id, paper.title, twin));
    else if (size >= targetOf(rrd)) beyond += 1;
    else {
      size += 1;
      ids.add(paper.id);
      if (traits !== undefined) known.add(paper.id, traits);
      added.push(paper);
    }
  }
  for (const { id, reason } of result.dropped ?? []) {
    const candidate = candidates.get(id);
    if (candidate !== undefined && !added.some((paper) => paper.id === id))
      excluded.push({ id, title: candidate.title, reason, stage: "screened" });
  }

  const sources: SourceReport[] = [...batch.sources, ...result.sources];
  const judged = {
    screened: batch.candidates.filter(({ id }) => wasJudged(id, result)).length,
    kept: added.length,
    seeds: added.filter(isSeed).length,
    waiting: batch.candidates.filter(({ id }) => ![...added, ...excluded].some((each) => each.id === id)).length,
  };
  const discovery_metrics = metricsOf(rrd, batch, sources, judged);
  const blocked = newlyBlocked(rrd, sources, discovery_metrics.failures_in_a_row);
  return {
    changes: [
      ...added.map((paper) => ({ in: "papers_pool" as const, id: paper.id, set: { ...paper }, was: null })),
      {
        in: "rrd",
        set: { statistics: { ...rrd.statistics, discovery_metrics } },
        was: { statistics: rrd.statistics },
        add: {
          ...(excluded.length > 0 ? { excluded } : {}),
          ...(blocked.length > 0 ? { blocked_sources: blocked } : {}),
          ...((result.visited_urls ?? []).length > 0 ? { visited_urls: result.visited_urls ?? [] } : {}),
        },
      },
    ],
    progress: entry(unit, judging, added, excluded, sources, blocked, beyond, result),
    summary: `${added.length} new ${added.length === 1 ? "paper" : "papers"}, ${size} of ${targetOf(rrd)} in the pool`,
    ledger: { new_papers: added.length },
  };
}

/** What an empty batch adds: the search is over, or goes on with the next one. */
export function acceptEmptyBatch(rrd: Rrd, unit: string, batch: Batch, judging: Judging): Acceptable {
  const judged = acceptDiscovery(rrd, unit, { unit, papers: [], sources: [] }, batch, judging);
  if ("reasons" in judged) throw new Error(`an empty batch was refused: ${judged.reasons.join("; ")}`);
  const said = batch.sources.map((source) => ` ${reportLine(source).replace(/\.$/, "")}.`).join("");
  const why = "nothing to screen and no source left to search, so no agent was started.";
  return {
    ...judged,
    notice: { level: "info", message: `Discovery, batch ${unit.replace("discovery-", "")}: ${why}${said}` },
  };
}

const isKnown = (found: Found, candidates: ReadonlyMap<string, ScreeningCandidate>): boolean =>
  found.id !== undefined && candidates.has(found.id);
/** Anyone who parses an address may drop a line break or an escape code within; anyone who prints it does not. */
const isAddress = (url: string): boolean =>
  /^https?:\/\/[^\s/]+\.[^\s/]\S*$/.test(url) && sanitise(url) === url && URL.canParse(url);

const wasJudged = (id: string, { kept = [], papers, dropped = [] }: DiscoveryResult): boolean =>
  [...kept, ...papers, ...dropped].some((each) => each.id === id);

/** A kept candidate in the form of a paper that the agent found; code's own word stands where the agent says nothing else. */
const asFound = (candidate: ScreeningCandidate, priority: number | undefined, reason: string | undefined): Found => ({
  id: candidate.id,
  title: candidate.title,
  url: candidate.url,
  priority: priority ?? candidate.priority ?? 3,
  reason: reason ?? candidate.why ?? "",
});

/** A record from what the agent said; what code knew of a candidate beats what the agent wrote of it. */
function recordOf(found: Found, candidate: ScreeningCandidate | undefined): Paper {
  // A web address by now: never unknown, never a file.
  const id = paperId(parseReference(found.url) as Reference);
  const identifiers = { ...identifiersOf({ doi: found.doi }), ...candidate?.identifiers };
  const { title, url, pdf_url = null, authors = [], date = null, source = "web", abstract = null } = found;
  return {
    ...keptFacts({ ...(candidate ?? { id, title, url, pdf_url, authors, date, source, abstract }), identifiers }),
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

function entry(
  unit: string,
  judging: Judging,
  added: readonly Paper[],
  excluded: NonNullable<Rrd["excluded"]>,
  sources: readonly SourceReport[],
  blocked: readonly string[],
  beyond: number,
  result: DiscoveryResult,
): string {
  const because = (reason: string | null | undefined) => (reason ? ` (${reason})` : "");
  const asked = (queries: readonly string[] | undefined) =>
    queries === undefined || queries.length === 0 ? "" : `; asked: ${queries.join("; ")}`;
  const lines = [
    `## ${dayOf(judging.at)} - Discovery: batch ${unit.replace("discovery-", "")}`,
    "",
    `**New papers:** ${added.length}`,
    ...added.map((paper) => `- ${paper.title} (${paper.id}) - priority ${paper.priority}`),
    "",
    "**Sources:**",
    ...sources.map((source) =>
      source.found === undefined
        ? `- ${source.name}: ${source.status}${because(source.reason)}${asked(source.queries)}`
        : `- ${reportLine(source)}${asked(source.queries)}`,
    ),
    ...blocked.map(
      (name) => `- ${name} is blocked from now on; remove it from blocked_sources in rrd.json to try it again`,
    ),
    "",
    ...(excluded.length > 0
      ? ["**Screened out:**", ...excluded.map((one) => `- ${one.title ?? one.id} (${one.id}): ${one.reason}`), ""]
      : []),
    ...(beyond > 0 ? [`${beyond} more were found than the target needs and were left out.`, ""] : []),
  ];
  return [...lines.map(flat), ...patternLines(unit, result.patterns)].join("\n");
}
