import type { DiscoveryResult } from "../../generated/result-discovery.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { paperId, parseReference } from "../../sources/reference.js";
import { samePaper } from "../../sources/sameness.js";
import type { Acceptable, Judging, Unacceptable } from "./accepted.js";
import { dayOf } from "./accepted.js";
import { flat } from "./markdown.js";
import { patternLines } from "./patterns.js";
import type { Batch } from "./screening.js";
import { batchesWithoutNew, searchOf, targetOf } from "./standing.js";
import type { Candidate } from "../../sources/candidate.js";

type Found = DiscoveryResult["papers"][number];
type SourceReport = DiscoveryResult["sources"][number];

const mostFailures = 3;

/** Takes new papers into the pool, best first and never beyond the target; keeps what was screened out, and how the sources did. */
export function acceptDiscovery(rrd: Rrd, unit: string, result: DiscoveryResult, batch: Batch, judging: Judging): Acceptable | Unacceptable {
  const candidates = new Map(batch.candidates.map((candidate) => [candidate.id, candidate]));
  const reasons = [
    ...(result.unit === unit ? [] : [`unit is "${result.unit}"; this unit is "${unit}"`]),
    // Only what code offered may lie on this machine: an agent's file: address would make us read, and send on, any file of the user's.
    ...result.papers
      .filter((found) => !isKnown(found, candidates))
      .flatMap(({ title, url, pdf_url }) =>
        [url, ...(pdf_url == null ? [] : [pdf_url])].filter((at) => !isAddress(at)).map((at) => `"${title}" has no web address: ${at}`),
      ),
  ];
  if (reasons.length > 0) return { reasons };

  const pool: Pick<Paper, "id" | "title" | "authors" | "date">[] = [...rrd.papers_pool];
  const added: Paper[] = [];
  const excluded: NonNullable<Rrd["excluded"]> = batch.duplicates.map(({ candidate, of }) => ({
    id: candidate.id,
    title: candidate.title,
    reason: `the same work as ${of}`,
    duplicate_of: of,
  }));
  let beyond = 0;
  for (const found of result.papers.toSorted((a, b) => b.priority - a.priority)) {
    const paper = recordOf(found, candidates.get(found.id ?? ""));
    const twin = pool.find((other) => other.id === paper.id || samePaper(other, paper));
    if (twin !== undefined) {
      if (twin.id !== paper.id) excluded.push({ id: paper.id, title: paper.title, reason: `the same work as ${twin.id}`, duplicate_of: twin.id });
    } else if (pool.length >= targetOf(rrd)) {
      beyond += 1;
    } else {
      pool.push(paper);
      added.push(paper);
    }
  }
  for (const { id, reason } of result.dropped ?? []) {
    const candidate = candidates.get(id);
    if (candidate !== undefined && !added.some((paper) => paper.id === id)) excluded.push({ id, title: candidate.title, reason });
  }

  const sources: SourceReport[] = [...batch.sources, ...result.sources];
  const metrics = rrd.statistics?.discovery_metrics ?? {};
  const discovery_metrics = {
    ...metrics,
    ...sourceMetrics(metrics, sources),
    batches: (metrics.batches ?? 0) + 1,
    batches_without_new: added.length === 0 ? batchesWithoutNew(rrd) + 1 : 0,
    searched_for: searchOf(rrd),
  };
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
    summary: `${added.length} new ${added.length === 1 ? "paper" : "papers"}, ${pool.length} of ${targetOf(rrd)} in the pool`,
    ledger: { new_papers: added.length },
  };
}

const isKnown = (found: Found, candidates: ReadonlyMap<string, Candidate>): boolean => found.id !== undefined && candidates.has(found.id);
const isAddress = (url: string): boolean => /^https?:\/\/[^\s/]+\.[^\s/]+/.test(url);

/** A record from what the agent said; what code knew of a candidate beats what the agent wrote of it. */
function recordOf(found: Found, candidate: Candidate | undefined): Paper {
  const of = candidate ?? found;
  const reference = parseReference(found.url);
  const id = candidate?.id ?? (reference.kind === "unknown" || reference.kind === "file" ? (found.id ?? found.title) : paperId(reference));
  const doi = candidate?.identifiers?.doi ?? found.doi ?? undefined;
  return {
    id,
    title: of.title,
    url: of.url,
    pdf_url: of.pdf_url ?? null,
    authors: [...(of.authors ?? [])],
    date: of.date ?? null,
    source: of.source ?? "web",
    abstract: of.abstract ?? null,
    ...(doi === undefined ? {} : { identifiers: { doi } }),
    ...(candidate?.retracted === true ? { retracted: true } : {}),
    priority: found.priority,
    status: "pending",
    score: null,
    score_breakdown: null,
    analysis: null,
    decision: null,
    notes: found.reason,
  };
}

type Metrics = NonNullable<NonNullable<Rrd["statistics"]>["discovery_metrics"]>;

function sourceMetrics(before: Metrics, sources: readonly SourceReport[]): Partial<Metrics> {
  const union = (old: readonly string[] | null | undefined, names: readonly string[]) => [...new Set([...(old ?? []), ...names])];
  const named = (...statuses: SourceReport["status"][]) => sources.filter((source) => statuses.includes(source.status)).map((source) => source.name);
  const failed = sources.filter((source) => source.status !== "ok" && source.status !== "empty");
  const successful = union(before.sources_successful, named("ok"));
  const reasons = { ...before.source_failure_reasons, ...Object.fromEntries(failed.map((source) => [source.name, source.reason ?? source.status])) };
  // A map, as a source may be called "constructor".
  const inARow = new Map(Object.entries(before.failures_in_a_row ?? {}));
  for (const name of named("ok", "empty")) inARow.set(name, 0);
  for (const { name } of failed) inARow.set(name, (inARow.get(name) ?? 0) + 1);
  return {
    failures_in_a_row: Object.fromEntries(inARow),
    sources_tried: union(
      before.sources_tried,
      sources.map((source) => source.name),
    ),
    sources_successful: successful,
    source_failure_reasons: reasons,
  };
}

/** A source that refuses us is not asked again, nor is one that failed three times in a row for whatever reason. */
function newlyBlocked(rrd: Rrd, sources: readonly SourceReport[], failures: Readonly<Record<string, number>> = {}): string[] {
  const known = new Set(rrd.blocked_sources ?? []);
  const tooOften = new Set(Object.keys(failures).filter((name) => (failures[name] ?? 0) >= mostFailures));
  const gaveUp = sources.filter(({ name, status }) => status === "blocked" || tooOften.has(name));
  return [...new Set(gaveUp.map(({ name }) => name))].filter((name) => !known.has(name));
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
  const asked = (queries: readonly string[] | undefined) => (queries === undefined || queries.length === 0 ? "" : `; asked: ${queries.join("; ")}`);
  const lines = [
    `## ${dayOf(judging.at)} - Discovery: batch ${unit.replace("discovery-", "")}`,
    "",
    `**New papers:** ${added.length}`,
    ...added.map((paper) => `- ${paper.title} (${paper.id}) - priority ${paper.priority}`),
    "",
    "**Sources:**",
    ...sources.map((source) => `- ${source.name}: ${source.status}${because(source.reason)}${asked(source.queries)}`),
    ...blocked.map((name) => `- ${name} is blocked from now on; take it out of blocked_sources in rrd.json to try it again`),
    "",
    ...(excluded.length > 0 ? ["**Screened out:**", ...excluded.map((one) => `- ${one.title ?? one.id} (${one.id}): ${one.reason}`), ""] : []),
    ...(beyond > 0 ? [`${beyond} more were found than the target asks for and were left out.`, ""] : []),
  ];
  return [...lines.map(flat), ...patternLines(unit, result.patterns)].join("\n");
}
