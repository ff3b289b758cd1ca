import { identifiersOf } from "../papers/identifiers.js";
import { dirname, join } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { makeFolder, readRegularText } from "../../engine/storage/regular-file.js";
import { isNewer, stateVersion } from "../../engine/storage/state/format-version.js";
import { aboutFolder } from "../project-files/layout.js";
import type { Identifiers, NamedPaper, TitledPaper } from "../papers/paper-record.js";
import { parseReference, safeName } from "../papers/reference.js";
import type { LookupService } from "../sources/shared/source.js";
import type { CodeLinks } from "../sources/clients/code-links.js";

/** Facts about a paper from services. */
export interface AboutPaper {
  readonly code: CodeLinks["links"];
  /** The highest citation count of all services. */
  readonly citations?: { readonly count: number; readonly source: string };
  /** Services that did not answer, so that facts may be missing. */
  readonly unchecked: readonly string[];
}

interface AboutOptions {
  readonly code: (work: TitledPaper) => Promise<CodeLinks>;
  /** Services that count citations. */
  readonly counts: readonly LookupService[];
  /** The answer to a request; undefined if the time is up first. */
  readonly inTime: <Value>(request: Promise<Value>) => Promise<Value | undefined>;
}

/** Finds the code of a paper and its citation count, within a time limit. */
export async function aboutPaper(work: TitledPaper, { code, counts, inTime }: AboutOptions): Promise<AboutPaper> {
  const identifiers = work.identifiers ?? {};
  const [links, ...answers] = await Promise.all([
    inTime(code(work)),
    ...(isKnown(identifiers) ? counts : []).map(async ({ name, find }) => ({
      name,
      answer: await inTime(find([identifiers])),
    })),
  ]);
  const counted = answers.flatMap(({ answer }) =>
    answer?.status === "ok" ? answer.value.flatMap(({ citations }) => citations ?? []) : [],
  );
  const citations = counted.toSorted((a, b) => b.count - a.count)[0];
  const unanswered = answers.filter(
    ({ answer }) => answer === undefined || (answer.status !== "ok" && answer.status !== "empty"),
  );
  return {
    code: links?.links ?? [],
    ...withoutUndefined({ citations }),
    unchecked: [...(links?.unchecked.map(({ source }) => source) ?? ["code"]), ...unanswered.map(({ name }) => name)],
  };
}

/** Age in milliseconds up to which a cached answer is used. */
const freshMs = 24 * 3600_000;

/** Whether a paper is a local file or a sample. */
export const isFrom = (paper: NamedPaper, kind: "file" | "sample"): boolean =>
  [paper.url, paper.pdf_url].some((address) => parseReference(address ?? "").kind === kind);

const isKnown = (identifiers: Identifiers): boolean => Object.values(identifiers).some((name) => name !== undefined);

/**
 * Whether code and citations of a paper are looked up. Samples are never looked up, and local files only if they have
 * an identifier.
 */
export const isLookedUp = (paper: NamedPaper, identifiers: Identifiers): boolean =>
  paper.title != null && !isFrom(paper, "sample") && (!isFrom(paper, "file") || isKnown(identifiers));

/** Cached facts about one paper. */
interface CachedAbout {
  readonly paper: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** The title and identifiers of the lookup. */
  readonly asked: string;
  readonly about: AboutPaper;
}

const lookupKey = (paper: NamedPaper): string => JSON.stringify([paper.title, identifiersOf(paper)]);

const aboutPath = (folder: string, id: string): string => join(aboutFolder(folder), `${safeName(id)}.json`);

/** The cached facts about a paper; undefined if services must be queried. */
export async function readAbout(folder: string, paper: NamedPaper, now: number): Promise<AboutPaper | undefined> {
  if (!isLookedUp(paper, identifiersOf(paper))) return { code: [], unchecked: [] };
  try {
    const cached = JSON.parse(await readRegularText(aboutPath(folder, paper.id))) as Partial<CachedAbout>;
    if (isNewer(cached)) return undefined;
    const isFresh = now - Date.parse(cached.at ?? "") < freshMs;
    const isSameLookup = cached.paper === paper.id && cached.asked === lookupKey(paper);
    return isFresh && isSameLookup && Array.isArray(cached.about?.code) && Array.isArray(cached.about.unchecked)
      ? cached.about
      : undefined;
  } catch {
    // The file is missing or damaged. It is only a cache.
    return undefined;
  }
}

/** Caches the facts about a paper. If the file can't be written, only the cache is lost. */
export async function cacheAbout(folder: string, paper: NamedPaper, about: AboutPaper, now: number): Promise<void> {
  const path = aboutPath(folder, paper.id);
  const cached: CachedAbout = { paper: paper.id, at: new Date(now).toISOString(), asked: lookupKey(paper), about };
  try {
    withExplainedErrors(path, () => makeFolder(dirname(path)));
    await writeFileAtomic(path, JSON.stringify({ ...cached, format: stateVersion }), { isDurable: false });
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
  }
}
