import { dirname } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { type Answered, type CitationCheck, compareCitation } from "./compare-citation.js";
import { isPreprintDoi } from "../papers/dedup/match-features.js";
import type { Identifiers, NamedPaper, PaperRecord, Update } from "../papers/paper-record.js";
import { updatesFile } from "../project-files/layout.js";
import { identifiersOf } from "../papers/paper-identifiers.js";
import { isAt } from "./code-and-citations.js";
import { canBeChecked, type WorkUpdates } from "./find-retractions.js";
import type { Clock } from "../../engine/lib/clock.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { makeFolder, readRegularText } from "../../engine/storage/regular-file.js";
import { isNewer, stateVersion } from "../../engine/storage/state/format-version.js";

/** What a check found of one work, as rrd.json keeps it. */
export interface UpdateCheck {
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** The oldest first. */
  readonly updates: readonly Update[];
  /** Services that know the work and answered; with none, nothing has been checked. */
  readonly checked_by: readonly string[];
  /** Services that could not be asked, each with its reason. */
  readonly unchecked: readonly string[];
  /** How the paper stands to the records of those that answered; absent where it was not compared. */
  readonly citation?: CitationCheck;
  /** Of a preprint: the record of the article that it was published as, where a service names its DOI. */
  readonly published?: PaperRecord;
}

export interface UpdateCheckOptions {
  /** Where answers are kept for a day. */
  readonly file: string;
  readonly ask: (works: readonly Identifiers[]) => Promise<readonly WorkUpdates[]>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds after which the works that are left go unchecked. */
  readonly within: number;
  /** Asks also where an answer of today is kept. */
  readonly anew: boolean;
}

const day = 24 * 3600_000;
/** Works asked about at a time: what is known when time runs out is kept. */
const chunk = 10;
const maxKept = 5_000;

type WorkToCheck = NamedPaper & { readonly identifiers: Identifiers };

type Kept = Record<string, UpdateCheck & { readonly asked: string }>;

/**
 * Whether works were retracted, withdrawn or corrected, by id. Bounded in time, and never throws for what a network
 * does: a work that could not be checked is there with the reason, and without the network all are.
 */
export async function checkWorks(
  works: readonly WorkToCheck[],
  options: UpdateCheckOptions,
): Promise<ReadonlyMap<string, UpdateCheck>> {
  const { clock, within, ask } = options;
  const until = clock.now() + within;
  const kept = await load(options.file);
  const { checks: found, unknown: left } = known(works, options.anew ? {} : kept, clock.now());
  const added: Kept = {};

  let givenUp: readonly string[] | undefined;
  for (let start = 0; start < left.length; start += chunk) {
    const some = left.slice(start, start + chunk);
    const answers =
      givenUp === undefined ? await inTime(ask(some.map(({ identifiers }) => identifiers)), until, options) : undefined;
    givenUp ??=
      answers === undefined
        ? [`every source: there was no answer within ${Math.round(within / 1000)} seconds.`]
        : undefined;
    const at = new Date(clock.now()).toISOString();
    for (const [index, work] of some.entries()) {
      const answer = answers?.[index];
      const unchecked = answer?.unchecked.map(saidBy) ?? givenUp ?? [];
      const check: UpdateCheck = {
        at,
        updates: [...(answer?.updates ?? [])],
        checked_by: [...(answer?.checkedBy ?? [])],
        unchecked,
        ...withoutUndefined({
          citation: compareCitation(work, answer?.answers ?? []),
          published: publishedAs(work, answer?.answers ?? []),
        }),
      };
      found.set(work.id, check);
      if (unchecked.length === 0) added[work.id] = { ...check, asked: JSON.stringify(work.identifiers) };
    }
    // Where nobody answered for any of ten works, nobody will for the next ten, and each question waits for its time to
    // run out.
    const silent = answers?.filter(
      ({ checkedBy, unchecked }) => checkedBy.length === 0 && unchecked.some(({ source }) => source !== "every source"),
    );
    if (silent !== undefined && silent.length > 0 && answers?.every(({ checkedBy }) => checkedBy.length === 0))
      givenUp = silent[0]?.unchecked.map(saidBy);
  }
  // Other preparations may have kept theirs meanwhile.
  if (Object.keys(added).length > 0) await save(options.file, { ...(await load(options.file)), ...added });
  return found;
}

/** The record of an answer that names a published DOI, of a work that has none. */
function publishedAs({ identifiers }: WorkToCheck, answers: readonly Answered[]): PaperRecord | undefined {
  const isPublished = (doi: string | undefined) => doi !== undefined && !isPreprintDoi(doi);
  if (isPublished(identifiers.doi)) return undefined;
  return answers.find(({ record }) => isPublished(record?.identifiers.doi))?.record;
}

/** Papers as services are asked about them; nothing is asked about a packaged sample, whatever it carries. */
export const worksOf = (papers: readonly NamedPaper[]): WorkToCheck[] =>
  papers
    .filter((paper) => !isAt(paper, "sample"))
    .map((paper) => {
      const { id, title, authors, date } = paper;
      return { id, ...withoutUndefined({ title, authors, date }), identifiers: identifiersOf(paper) };
    });

/**
 * What is kept of checks of these papers, and whether that is all a check would find. Asks nobody and writes nothing.
 */
export async function keptChecks(
  folder: string,
  papers: readonly NamedPaper[],
  now: number,
): Promise<{ readonly checks: ReadonlyMap<string, UpdateCheck>; readonly isWhole: boolean }> {
  const { checks, unknown } = known(worksOf(papers), await load(updatesFile(folder)), now);
  return { checks, isWhole: !canBeChecked(unknown.map(({ identifiers }) => identifiers)) };
}

function known(works: readonly WorkToCheck[], kept: Kept, now: number) {
  const checks = new Map<string, UpdateCheck>();
  const unknown: WorkToCheck[] = [];
  for (const work of works) {
    const check = kept[work.id];
    const isFresh = check?.asked === JSON.stringify(work.identifiers) && now - Date.parse(check.at) < day;
    if (check !== undefined && isFresh) checks.set(work.id, withoutAsked(check));
    else unknown.push(work);
  }
  return { checks, unknown };
}

const withoutAsked = ({ asked: _, ...check }: Kept[string]): UpdateCheck => check;

async function inTime<Value>(
  promise: Promise<Value>,
  until: number,
  { clock, signal }: UpdateCheckOptions,
): Promise<Value | undefined> {
  if (signal.aborted || clock.now() >= until) return undefined;
  const done = new AbortController();
  try {
    return await Promise.race([
      promise,
      clock.sleep(until, AbortSignal.any([signal, done.signal])).then(() => undefined),
    ]);
  } finally {
    done.abort();
  }
}

async function load(file: string): Promise<Kept> {
  try {
    const read: unknown = JSON.parse(await readRegularText(file));
    const entries = typeof read === "object" && read !== null && !isNewer(read) ? Object.entries(read as Kept) : [];
    return Object.fromEntries(
      entries.filter(
        ([, check]) => Array.isArray(check?.updates) && Array.isArray(check.checked_by) && typeof check.at === "string",
      ),
    );
  } catch {
    // Missing or torn: it is only a cache.
    return {};
  }
}

async function save(file: string, kept: Kept): Promise<void> {
  const newest = Object.entries(kept)
    .toSorted(([, a], [, b]) => b.at.localeCompare(a.at))
    .slice(0, maxKept);
  try {
    withExplainedErrors(file, () => makeFolder(dirname(file)));
    const text = JSON.stringify({ ...Object.fromEntries(newest), format: stateVersion });
    await writeFileAtomic(file, text, { durable: false });
  } catch (error) {
    // Asked again the next time.
    if (!(error instanceof ExpectedError)) throw error;
  }
}

/** What a service said, with its name before it once. */
const saidBy = ({ source, reason }: { readonly source: string; readonly reason: string }): string =>
  reason.startsWith(`${source}: `) ? reason : `${source}: ${reason}`;
