import { dirname, join } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { makeFolder, readRegularText } from "../../engine/storage/regular-file.js";
import { isNewer, stateVersion } from "../../engine/storage/state/format-version.js";
import { aboutFolder } from "../project-files/layout.js";
import { identifiersOf } from "../papers/paper-identifiers.js";
import type { Identifiers, NamedPaper, PaperRecord, TitledPaper } from "../papers/paper-record.js";
import { parseReference, safeName } from "../papers/reference.js";
import type { Answer } from "../sources/shared/source.js";
import type { CodeLinks } from "../sources/clients/code-links.js";

/** What is known about a paper besides its text. */
export interface AboutPaper {
  readonly code: CodeLinks["links"];
  /** The highest of the counts that services gave. */
  readonly citations?: { readonly count: number; readonly source: string };
  /** Who could not be asked; there may be more. */
  readonly unchecked: readonly string[];
}

interface AboutOptions {
  readonly code: (work: TitledPaper) => Promise<CodeLinks>;
  /** Lookups of services that count citations. */
  readonly counts: readonly {
    readonly name: string;
    find(works: readonly Identifiers[]): Promise<Answer<readonly PaperRecord[]>>;
  }[];
  /** Resolves when no more is waited for. */
  readonly late: Promise<void>;
}

/** The code of a paper and how often it was cited, as far as it is known in time. */
export async function aboutPaper(work: TitledPaper, { code, counts, late }: AboutOptions): Promise<AboutPaper> {
  const inTime = async <Value>(asked: Promise<Value>): Promise<Value | undefined> =>
    await Promise.race([asked, late.then(() => undefined)]);
  const hasNames = Object.values(work.identifiers ?? {}).some((name) => name !== undefined);
  const [links, ...answers] = await Promise.all([
    inTime(code(work)),
    ...(hasNames ? counts : []).map(async ({ name, find }) => ({
      name,
      answer: await inTime(find([work.identifiers ?? {}])),
    })),
  ]);
  const counted = answers.flatMap(({ answer }) =>
    answer?.status === "ok" ? answer.value.flatMap(({ citations }) => citations ?? []) : [],
  );
  const citations = counted.toSorted((a, b) => b.count - a.count)[0];
  const silent = answers.filter(
    ({ answer }) => answer === undefined || (answer.status !== "ok" && answer.status !== "empty"),
  );
  return {
    code: links?.links ?? [],
    ...withoutUndefined({ citations }),
    unchecked: [...(links?.unchecked.map(({ source }) => source) ?? ["code"]), ...silent.map(({ name }) => name)],
  };
}

/** Services forget after a day: an older answer is asked for again. */
const freshMs = 24 * 3600_000;

/** Whether a paper lies on this machine, or in the package. */
export const isAt = (paper: NamedPaper, kind: "file" | "sample"): boolean =>
  [paper.url, paper.pdf_url].some((address) => parseReference(address ?? "").kind === kind);

const isKnown = (identifiers: Identifiers): boolean => Object.values(identifiers).some((name) => name !== undefined);

/**
 * Whether code and citations of a paper are looked up: not of a packaged sample, nor of a file of this machine that has
 * no identifier.
 */
export const isAskedAbout = (paper: NamedPaper, identifiers: Identifiers): boolean =>
  paper.title != null && !isAt(paper, "sample") && (!isAt(paper, "file") || isKnown(identifiers));

/** What is kept of one paper's code and citations. */
interface KeptAbout {
  readonly paper: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** What it was asked by. */
  readonly asked: string;
  readonly about: AboutPaper;
}

const askedBy = (paper: NamedPaper): string => JSON.stringify([paper.title, identifiersOf(paper)]);

const aboutPath = (folder: string, id: string): string => join(aboutFolder(folder), `${safeName(id)}.json`);

/** What is kept of a paper's code and citations; undefined where services would be asked. */
export async function readAbout(folder: string, paper: NamedPaper, now: number): Promise<AboutPaper | undefined> {
  if (!isAskedAbout(paper, identifiersOf(paper))) return { code: [], unchecked: [] };
  try {
    const kept = JSON.parse(await readRegularText(aboutPath(folder, paper.id))) as Partial<KeptAbout>;
    if (isNewer(kept)) return undefined;
    const isFresh = now - Date.parse(kept.at ?? "") < freshMs;
    const isIts = kept.paper === paper.id && kept.asked === askedBy(paper);
    return isFresh && isIts && Array.isArray(kept.about?.code) && Array.isArray(kept.about.unchecked)
      ? kept.about
      : undefined;
  } catch {
    // Missing or torn: it is only a cache.
    return undefined;
  }
}

/**
 * Keeps what services said about a paper's code and citations for briefs. A disk that refuses costs nothing but that.
 */
export async function keepAbout(folder: string, paper: NamedPaper, about: AboutPaper, now: number): Promise<void> {
  const path = aboutPath(folder, paper.id);
  const kept: KeptAbout = { paper: paper.id, at: new Date(now).toISOString(), asked: askedBy(paper), about };
  try {
    withExplainedErrors(path, () => makeFolder(dirname(path)));
    await writeFileAtomic(path, JSON.stringify({ ...kept, format: stateVersion }), { durable: false });
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
  }
}
