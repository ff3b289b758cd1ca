import type { Rrd } from "../../generated/rrd.js";
import type { Batch } from "./screening-batch.js";
import type { SourceReport } from "./source-reports.js";
import { batchesWithoutNew, searchOf } from "../decisions/status.js";

const maxFailures = 3;

type Metrics = NonNullable<NonNullable<Rrd["statistics"]>["discovery_metrics"]>;

/** What became of the candidates of a batch. */
interface Judged {
  readonly screened: number;
  readonly kept: number;
  /** Papers among them that may be followed to others. */
  readonly seeds?: number;
  /** Neither in the pool nor left out: the agent said nothing of them, or the target was reached before them. */
  readonly waiting: number;
}

/** What is recorded of the search once a batch is accepted. */
export function metricsOf(rrd: Rrd, batch: Batch, sources: readonly SourceReport[], judged: Judged): Metrics {
  const { exhausted: _before, keywords_not_searched: __, ...metrics } = rrd.statistics?.discovery_metrics ?? {};
  const { search, listed, toAgent = [] } = batch;
  // With a source left to the agent only empty batches say that nothing more comes.
  const leadsOn = search?.mayLeadOn === true && (judged.seeds ?? 0) > 0;
  const isOver = search?.exhausted !== undefined && search.left === 0 && toAgent.length === 0 && !leadsOn;
  const screening =
    judged.screened === 0 || search === undefined
      ? {}
      : {
          screening: [
            ...screeningOf(rrd),
            { screened: judged.screened, kept: judged.kept, rounds: search.rounds.length },
          ],
        };
  const records = Object.values(search?.identified ?? {}).reduce((sum, count) => sum + count, 0);
  return {
    ...metrics,
    ...sourceMetrics(metrics, sources),
    batches: (metrics.batches ?? 0) + 1,
    batches_without_new: judged.kept === 0 ? batchesWithoutNew(rrd) + 1 : 0,
    searched_for: searchOf(rrd),
    ...screening,
    ...(search === undefined
      ? {}
      : {
          rounds: [...search.rounds],
          pool_sha256: search.candidatesSha256,
          ...(Object.keys(search.substitutions).length === 0 ? {} : { substitutions: { ...search.substitutions } }),
          flow: {
            ...metrics.flow,
            identified: { ...search.identified, ...listed?.identified },
            // What folders hold is compared with the rest batch by batch, so its duplicates are among the excluded.
            duplicates_removed: records - search.works,
            not_screened: search.left + (listed?.left ?? 0) + judged.waiting + (search.passed ?? 0),
          },
          ...(search.notAsked === undefined || search.notAsked.length === 0
            ? {}
            : { keywords_not_searched: [...search.notAsked] }),
        }),
    ...(isOver ? { exhausted: search.exhausted } : {}),
  };
}

const screeningOf = (rrd: Rrd): NonNullable<Metrics["screening"]> => {
  const metrics = rrd.statistics?.discovery_metrics;
  return metrics?.searched_for === searchOf(rrd) ? (metrics.screening ?? []) : [];
};

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
    const { name, failures = isFailed(source) ? 1 : 0 } = source;
    if (source.status === "skipped") continue;
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

/** A source that refuses us is not asked again, nor is one that failed three times in a row for whatever reason. */
export function newlyBlocked(
  rrd: Rrd,
  sources: readonly SourceReport[],
  failures: Readonly<Record<string, number>> = {},
): string[] {
  const known = new Set(rrd.blocked_sources ?? []);
  const gaveUp = sources.filter(({ name, status }) => status === "blocked" || (failures[name] ?? 0) >= maxFailures);
  return [...new Set(gaveUp.map(({ name }) => name))].filter((name) => !known.has(name));
}
