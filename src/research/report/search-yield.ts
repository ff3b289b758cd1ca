import type { QueryLine } from "../../engine/generated/query.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Rrd } from "../generated/rrd.js";
import { isOwnFolder, isOwnList } from "../papers/records/own-list.js";
import { thousands } from "./pictures/words.js";
import { blockedTest } from "../project-files/rrd-file.js";

/** A source and its results. */
export interface SourceYield {
  readonly name: string;
  readonly outcome: "answered" | "empty" | "failed" | "blocked" | "skipped" | "not asked";
  /** The reason why it failed or was not asked. */
  readonly reason?: string;
  /** A sentence on the source that was asked instead. */
  readonly replacedBy?: string;
  /** Number of requests; undefined if there is no search log. */
  readonly queries?: number;
  /** Number of its records; undefined if they were not counted. */
  readonly identified?: number;
  /** Number of papers in the pool that it found, alone or with other sources. */
  readonly papers: number;
  /** Number of these papers that were presented. */
  readonly presented: number;
}

/** A request to a source. */
export interface Query {
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly source: string;
  /** The search words, if the address contains them; otherwise the address. */
  readonly asked: string;
  readonly status: QueryLine["status"];
  readonly hits?: number;
  readonly from: QueryLine["from"];
}

/** A point of the curves: how many records were screened, and how many of them were kept. */
export interface SaturationPoint {
  readonly screened: number;
  readonly kept: number;
  /** The minimum of the recall, 0 to 1, if the user asked for a recall. */
  readonly recallAtLeast?: number;
}

/** The results of the search by source and by batch. */
export interface SearchYield {
  readonly sources: readonly SourceYield[];
  /** Cumulative, starting with the first batch; empty if batches were not counted. */
  readonly saturation: readonly SaturationPoint[];
  /** The claim about the recall, one sentence, and the wanted recall; absent if the user did not ask for one. */
  readonly recall?: { readonly says: string; readonly target: number; readonly confidence: number };
  /** The reason why the search ended, if it was recorded. */
  readonly ended?: string;
  /** Keywords that no source was asked for. */
  readonly notSearched: readonly string[];
}

export function searchYield(rrd: Rrd, queries: readonly QueryLine[]): SearchYield {
  const metrics = rrd.statistics?.discovery_metrics ?? {};
  const { screening = [], recall, exhausted, keywords_not_searched: notSearched = [] } = metrics;
  let [screened, kept] = [0, 0];
  const saturation = screening.map((batch) => {
    screened += batch.screened;
    kept += batch.kept;
    const recallAtLeast = batch.recall_at_least;
    return { screened, kept, ...withoutUndefined({ recallAtLeast }) };
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
  const isBlocked = blockedTest(rrd);
  const successful = new Set((metrics.sources_successful ?? []).map((name) => name.toLowerCase()));
  const tried = new Set((metrics.sources_tried ?? []).map((name) => name.toLowerCase()));
  const skipped = new Set((metrics.sources_skipped ?? []).map((name) => name.toLowerCase()));
  const names = new Map<string, string>();
  const addName = (name: string) => {
    if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
  };
  for (const name of rrd.requirements.sources ?? []) addName(name);
  for (const name of metrics.sources_tried ?? []) addName(name);
  for (const name of Object.keys(metrics.flow?.identified ?? {})) addName(name);

  const requestsBySource = new Map<string, { queries: number; ok: number }>();
  for (const { source, status, by } of queries) {
    if (by !== undefined) continue;
    const key = source.toLowerCase();
    const counts = requestsBySource.get(key) ?? { queries: 0, ok: 0 };
    requestsBySource.set(key, { queries: counts.queries + 1, ok: counts.ok + (status === "ok" ? 1 : 0) });
  }
  const papersBySource = new Map<string, { papers: number; presented: number }>();
  for (const { source, found: provenance, status } of rrd.papers_pool) {
    const searched = provenance?.sources ?? [];
    // A document of the user's folder may also have been found by a search.
    const isOfSource = source != null && (searched.length === 0 || isOwnFolder(source));
    const sourceNames = new Set([...searched, ...(isOfSource ? [source] : [])].map((name) => name.toLowerCase()));
    for (const name of sourceNames) {
      const counts = papersBySource.get(name) ?? { papers: 0, presented: 0 };
      papersBySource.set(name, {
        papers: counts.papers + 1,
        presented: counts.presented + (status === "presented" ? 1 : 0),
      });
    }
  }
  const byLowerCaseName = <Value>(record: Readonly<Record<string, Value>> | null | undefined) =>
    new Map(Object.entries(record ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const reasons = byLowerCaseName(metrics.source_failure_reasons as Record<string, string> | null | undefined);
  const replacements = byLowerCaseName(metrics.substitutions);
  const identified = byLowerCaseName(metrics.flow?.identified);
  const yields = [...names].map(([key, name]): SourceYield => {
    const requests = requestsBySource.get(key) ?? { queries: 0, ok: 0 };
    const papers = papersBySource.get(key) ?? { papers: 0, presented: 0 };
    const [reason, replacedBy, records] = [reasons.get(key), replacements.get(key), identified.get(key)];
    const outcome: SourceYield["outcome"] = isBlocked(key)
      ? "blocked"
      : successful.has(key) || papers.papers > 0 || (records ?? 0) > 0
        ? "answered"
        : skipped.has(key)
          ? "skipped"
          : reason !== undefined
            ? "failed"
            : tried.has(key) || requests.ok > 0
              ? "empty"
              : "not asked";
    return {
      name,
      outcome,
      ...(reason === undefined ? {} : { reason: String(reason) }),
      ...withoutUndefined({ replacedBy }),
      ...(queries.length === 0 ? {} : { queries: requests.queries }),
      ...withoutUndefined({ identified: records }),
      ...papers,
    };
  });
  // The records of a list may count for the databases that it names.
  const isCountedElsewhere = ({ name, outcome, identified: count, papers }: SourceYield) =>
    isOwnList(name) && outcome === "answered" && count === undefined && papers === 0;
  return yields.filter((source) => !isCountedElsewhere(source));
}

/** The outcome of a source, the reason, and the source that was asked instead. */
export const outcomeText = ({ outcome, reason, replacedBy }: SourceYield): string =>
  `${outcome}${reason === undefined ? "" : `: ${reason}`}${replacedBy === undefined ? "" : `; ${replacedBy.replace(/\.$/, "")}`}`;

/** A count for a table. If it is unknown, a dash, because this is not the same as 0. */
export const countCell = (count: number | undefined): string => (count === undefined ? "–" : thousands(count));

/** The query parameters for search words. */
const wordParameters = ["search_query", "query", "q", "search", "query.bibliographic", "term", "title.search"];

/** The search log for readers, in the order of the file. */
export const queriesOf = (lines: readonly QueryLine[]): Query[] =>
  lines.map(({ at, source, url, status, results: hits, from }) => ({
    at,
    source,
    asked: searchWords(url),
    status,
    from,
    ...withoutUndefined({ hits }),
  }));

function searchWords(address: string): string {
  if (!URL.canParse(address)) return address;
  const { searchParams, pathname, host } = new URL(address);
  const words = wordParameters.flatMap((name) => searchParams.getAll(name)).filter((value) => value.trim() !== "");
  if (words.length > 0) return words.join(" ");
  const filter = searchParams.get("filter") ?? searchParams.get("ids") ?? searchParams.get("id_list");
  return filter ?? `${host}${pathname}`;
}
