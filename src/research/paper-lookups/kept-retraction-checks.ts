import { identifiersOf } from "../papers/identifiers.js";
import { dirname } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { type ServiceAnswer, type CitationCheck, compareCitation } from "./compare-citation.js";
import { isPreprintDoi } from "../papers/dedup/match-features.js";
import type { Identifiers, NamedPaper, PaperRecord, Update } from "../papers/paper-record.js";
import { updatesFile } from "../project-files/layout.js";
import { isFrom } from "./code-and-citations.js";
import { canBeChecked, type WorkUpdates } from "./find-retractions.js";
import { beforeDeadline, type Clock } from "../../engine/lib/clock.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { makeFolder, readRegularText } from "../../engine/storage/regular-file.js";
import { isNewer, stateVersion } from "../../engine/storage/state/format-version.js";

/** The result of a check of one work, in the form of rrd.json. */
export interface UpdateCheck {
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** Sorted by date, oldest first. */
  readonly updates: readonly Update[];
  /** Services that know the work and answered. If empty, nothing was checked. */
  readonly checked_by: readonly string[];
  /** Services that did not answer, with their reasons. */
  readonly unchecked: readonly string[];
  /** The comparison with the records of the services; absent if none was made. */
  readonly citation?: CitationCheck;
  /** For a preprint: the record of the published article, if a service names its DOI. */
  readonly published?: PaperRecord;
}

export interface UpdateCheckOptions {
  /** The cache file; answers are valid for a day. */
  readonly file: string;
  readonly ask: (works: readonly Identifiers[]) => Promise<readonly WorkUpdates[]>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Time limit in milliseconds. Works that are left then stay unchecked. */
  readonly within: number;
  /** True to ignore cached answers. */
  readonly anew: boolean;
}

const dayMs = 24 * 3600_000;
/** Number of works in one request. Results of earlier requests are kept when the time is up. */
const worksPerRequest = 10;
const maxCachedChecks = 5_000;

type WorkToCheck = NamedPaper & { readonly identifiers: Identifiers };

type CachedChecks = Record<string, UpdateCheck & { readonly asked: string }>;

/**
 * Checks whether works were retracted, withdrawn or corrected. The result is by id. Limited in time; never throws for
 * network failures: a work that could not be checked has the reason.
 */
export async function checkWorks(
  works: readonly WorkToCheck[],
  options: UpdateCheckOptions,
): Promise<ReadonlyMap<string, UpdateCheck>> {
  const { clock, within, ask } = options;
  const deadline = clock.now() + within;
  const cached = await load(options.file);
  const { checks: found, unchecked: remaining } = splitByCache(works, options.anew ? {} : cached, clock.now());
  const newChecks: CachedChecks = {};

  let giveUpReasons: readonly string[] | undefined;
  for (let start = 0; start < remaining.length; start += worksPerRequest) {
    const group = remaining.slice(start, start + worksPerRequest);
    const answers =
      giveUpReasons === undefined
        ? await beforeDeadline(ask(group.map(({ identifiers }) => identifiers)), deadline, options)
        : undefined;
    giveUpReasons ??=
      answers === undefined
        ? [`every source: there was no answer within ${Math.round(within / 1000)} seconds.`]
        : undefined;
    const at = new Date(clock.now()).toISOString();
    for (const [index, work] of group.entries()) {
      const answer = answers?.[index];
      const unchecked = answer?.unchecked.map(reasonOf) ?? giveUpReasons ?? [];
      const check: UpdateCheck = {
        at,
        updates: [...(answer?.updates ?? [])],
        checked_by: [...(answer?.checkedBy ?? [])],
        unchecked,
        ...withoutUndefined({
          citation: compareCitation(work, answer?.answers ?? []),
          published: publishedRecord(work, answer?.answers ?? []),
        }),
      };
      found.set(work.id, check);
      if (unchecked.length === 0) newChecks[work.id] = { ...check, asked: JSON.stringify(work.identifiers) };
    }
    // If no service answered for any of ten works, the next ten would fail too, and each request would wait until its
    // timeout.
    const unansweredWorks = answers?.filter(
      ({ checkedBy, unchecked }) => checkedBy.length === 0 && unchecked.some(({ source }) => source !== "every source"),
    );
    if (
      unansweredWorks !== undefined &&
      unansweredWorks.length > 0 &&
      answers?.every(({ checkedBy }) => checkedBy.length === 0)
    )
      giveUpReasons = unansweredWorks[0]?.unchecked.map(reasonOf);
  }
  // Another process may have written checks in the meantime.
  if (Object.keys(newChecks).length > 0) await save(options.file, { ...(await load(options.file)), ...newChecks });
  return found;
}

/** For a work without a published DOI: the record from an answer that names one. */
function publishedRecord({ identifiers }: WorkToCheck, answers: readonly ServiceAnswer[]): PaperRecord | undefined {
  const isPublished = (doi: string | undefined) => doi !== undefined && !isPreprintDoi(doi);
  if (isPublished(identifiers.doi)) return undefined;
  return answers.find(({ record }) => isPublished(record?.identifiers.doi))?.record;
}

/** The works to check. Samples are left out, whatever identifiers they contain. */
export const worksOf = (papers: readonly NamedPaper[]): WorkToCheck[] =>
  papers
    .filter((paper) => !isFrom(paper, "sample"))
    .map((paper) => {
      const { id, title, authors, date } = paper;
      return { id, ...withoutUndefined({ title, authors, date }), identifiers: identifiersOf(paper) };
    });

/**
 * The cached checks of these papers, and whether a new check would find nothing more. Sends no requests and writes
 * nothing.
 */
export async function cachedChecks(
  folder: string,
  papers: readonly NamedPaper[],
  now: number,
): Promise<{ readonly checks: ReadonlyMap<string, UpdateCheck>; readonly isWhole: boolean }> {
  const { checks, unchecked } = splitByCache(worksOf(papers), await load(updatesFile(folder)), now);
  return { checks, isWhole: !canBeChecked(unchecked.map(({ identifiers }) => identifiers)) };
}

function splitByCache(works: readonly WorkToCheck[], cached: CachedChecks, now: number) {
  const checks = new Map<string, UpdateCheck>();
  const unchecked: WorkToCheck[] = [];
  for (const work of works) {
    const check = cached[work.id];
    const isFresh = check?.asked === JSON.stringify(work.identifiers) && now - Date.parse(check.at) < dayMs;
    if (check !== undefined && isFresh) checks.set(work.id, withoutLookupKey(check));
    else unchecked.push(work);
  }
  return { checks, unchecked };
}

const withoutLookupKey = ({ asked: _, ...check }: CachedChecks[string]): UpdateCheck => check;

async function load(file: string): Promise<CachedChecks> {
  try {
    const content: unknown = JSON.parse(await readRegularText(file));
    const entries =
      typeof content === "object" && content !== null && !isNewer(content)
        ? Object.entries(content as CachedChecks)
        : [];
    return Object.fromEntries(
      entries.filter(
        ([, check]) => Array.isArray(check?.updates) && Array.isArray(check.checked_by) && typeof check.at === "string",
      ),
    );
  } catch {
    // The file is missing or damaged. It is only a cache.
    return {};
  }
}

async function save(file: string, checks: CachedChecks): Promise<void> {
  const newest = Object.entries(checks)
    .toSorted(([, a], [, b]) => b.at.localeCompare(a.at))
    .slice(0, maxCachedChecks);
  try {
    withExplainedErrors(file, () => makeFolder(dirname(file)));
    const text = JSON.stringify({ ...Object.fromEntries(newest), format: stateVersion });
    await writeFileAtomic(file, text, { isDurable: false });
  } catch (error) {
    // The services are queried again next time.
    if (!(error instanceof ExpectedError)) throw error;
  }
}

/** A service's reason, with its name in front exactly once. */
const reasonOf = ({ source, reason }: { readonly source: string; readonly reason: string }): string =>
  reason.startsWith(`${source}: `) ? reason : `${source}: ${reason}`;
