import type { QueryLine } from "../../engine/generated/query.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Rrd } from "../generated/rrd.js";
import { thousands } from "./pictures/words.js";
import { blockedNames } from "../project-files/rrd-file.js";

/** One source and what it brought. */
export interface SourceYield {
  readonly name: string;
  readonly outcome: "answered" | "empty" | "failed" | "blocked" | "skipped" | "not asked";
  /** Why it failed or was not asked. */
  readonly reason?: string;
  /** The source that was asked for instead of this one. */
  readonly replacedBy?: string;
  /** Requests that it was sent; undefined where no search log is kept. */
  readonly queries?: number;
  /** Records that the search took from it; undefined where that was not counted. */
  readonly identified?: number;
  /** Papers in the pool that it found, alone or with others. */
  readonly papers: number;
  /** Of these, presented. */
  readonly presented: number;
}

/** One request to a source. */
export interface Query {
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly source: string;
  /** The words that were asked for, as far as the address tells them; else the address. */
  readonly asked: string;
  readonly status: QueryLine["status"];
  readonly hits?: number;
  readonly from: QueryLine["from"];
}

/** A point of the curves: after so many records screened, so many were kept. */
export interface SaturationPoint {
  readonly screened: number;
  readonly kept: number;
  /** Recall that may be claimed at least, 0 to 1, where one was asked for. */
  readonly recallAtLeast?: number;
}

/** What searching brought, source by source and batch by batch. */
export interface SearchYield {
  readonly sources: readonly SourceYield[];
  /** Cumulative, from the first batch on; empty where batches were not counted. */
  readonly saturation: readonly SaturationPoint[];
  /** The claim about recall in a sentence, and what was asked for; absent where none was asked for. */
  readonly recall?: { readonly says: string; readonly target: number; readonly confidence: number };
  /** Why the search ended, where that is recorded. */
  readonly ended?: string;
  /** Papers with points by year of publication are drawn from the rows. */
  readonly notSearched: readonly string[];
}

export function searchYieldOf(rrd: Rrd, queries: readonly QueryLine[]): SearchYield {
  const metrics = rrd.statistics?.discovery_metrics ?? {};
  const { screening = [], recall, exhausted, keywords_not_searched: notSearched = [] } = metrics;
  let [screened, kept] = [0, 0];
  const saturation = screening.map((batch) => {
    screened += batch.screened;
    kept += batch.kept;
    const at = batch.recall_at_least;
    return { screened, kept, ...withoutUndefined({ recallAtLeast: at }) };
  });
  const wanted = rrd.requirements.screening;
  return {
    sources: sourcesOf(rrd, queries),
    saturation,
    ...(recall === undefined || wanted === undefined
      ? {}
      : { recall: { says: recall.says, target: wanted.target_recall, confidence: wanted.confidence } }),
    ...withoutUndefined({ ended: exhausted }),
    notSearched,
  };
}

function sourcesOf(rrd: Rrd, queries: readonly QueryLine[]): SourceYield[] {
  const metrics = rrd.statistics?.discovery_metrics ?? {};
  const blocked = new Set(blockedNames(rrd).map((name) => name.toLowerCase()));
  const successful = new Set((metrics.sources_successful ?? []).map((name) => name.toLowerCase()));
  const tried = new Set((metrics.sources_tried ?? []).map((name) => name.toLowerCase()));
  const skipped = new Set((metrics.sources_skipped ?? []).map((name) => name.toLowerCase()));
  const names = new Map<string, string>();
  const note = (name: string) => {
    if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
  };
  for (const name of rrd.requirements.sources ?? []) note(name);
  for (const name of metrics.sources_tried ?? []) note(name);
  for (const name of Object.keys(metrics.flow?.identified ?? {})) note(name);

  const asked = new Map<string, { queries: number; ok: number }>();
  for (const { source, status, by } of queries) {
    if (by !== undefined) continue;
    const key = source.toLowerCase();
    const sum = asked.get(key) ?? { queries: 0, ok: 0 };
    asked.set(key, { queries: sum.queries + 1, ok: sum.ok + (status === "ok" ? 1 : 0) });
  }
  const found = new Map<string, { papers: number; presented: number }>();
  for (const { source, found: provenance, status } of rrd.papers_pool) {
    const by = new Set((provenance?.sources ?? (source == null ? [] : [source])).map((name) => name.toLowerCase()));
    for (const name of by) {
      const sum = found.get(name) ?? { papers: 0, presented: 0 };
      found.set(name, { papers: sum.papers + 1, presented: sum.presented + (status === "presented" ? 1 : 0) });
    }
  }
  const byLower = <Value>(record: Readonly<Record<string, Value>> | null | undefined) =>
    new Map(Object.entries(record ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const reasons = byLower(metrics.source_failure_reasons as Record<string, string> | null | undefined);
  const replaced = byLower(metrics.substitutions);
  const identified = byLower(metrics.flow?.identified);
  return [...names].map(([key, name]) => {
    const log = asked.get(key) ?? { queries: 0, ok: 0 };
    const papers = found.get(key) ?? { papers: 0, presented: 0 };
    const [reason, replacedBy, records] = [reasons.get(key), replaced.get(key), identified.get(key)];
    const outcome: SourceYield["outcome"] = blocked.has(key)
      ? "blocked"
      : successful.has(key) || papers.papers > 0 || (records ?? 0) > 0
        ? "answered"
        : skipped.has(key)
          ? "skipped"
          : reason !== undefined
            ? "failed"
            : tried.has(key) || log.ok > 0
              ? "empty"
              : "not asked";
    return {
      name,
      outcome,
      ...(reason === undefined ? {} : { reason: String(reason) }),
      ...withoutUndefined({ replacedBy }),
      ...(queries.length === 0 ? {} : { queries: log.queries }),
      ...withoutUndefined({ identified: records }),
      ...papers,
    };
  });
}

/** How a source answered, why not, and which was asked instead. */
export const outcomeText = ({ outcome, reason, replacedBy }: SourceYield): string =>
  `${outcome}${reason === undefined ? "" : `: ${reason}`}${replacedBy === undefined ? "" : `; ${replacedBy} instead`}`;

/** A count as a table has it: a dash where nobody counted, which is not none. */
export const countCell = (count: number | undefined): string => (count === undefined ? "–" : thousands(count));

/** Parameters in which services take the words of a search. */
const wordParameters = ["search_query", "query", "q", "search", "query.bibliographic", "term", "title.search"];

/** The search log in the order of the file, as people read it. */
export const queriesOf = (lines: readonly QueryLine[]): Query[] =>
  lines.map(({ at, source, url, status, results: hits, from }) => ({
    at,
    source,
    asked: askedOf(url),
    status,
    from,
    ...withoutUndefined({ hits }),
  }));

function askedOf(address: string): string {
  if (!URL.canParse(address)) return address;
  const { searchParams, pathname, host } = new URL(address);
  const words = wordParameters.flatMap((name) => searchParams.getAll(name)).filter((value) => value.trim() !== "");
  if (words.length > 0) return words.join(" ");
  const filter = searchParams.get("filter") ?? searchParams.get("ids") ?? searchParams.get("id_list");
  return filter ?? `${host}${pathname}`;
}
