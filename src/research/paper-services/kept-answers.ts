import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PaperText } from "../../engine/documents/text/paper-text.js";
import { hasCode } from "../../engine/lib/errors.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { aboutFolder, textsFolder, updatesFile } from "../folder/layout.js";
import { identifiersOf } from "../full-text/locations.js";
import { readKeptPaper } from "../full-text/find-text.js";
import type { Identifiers, NamedPaper } from "../papers/paper-record.js";
import { parseReference, safeName } from "../papers/reference.js";
import type { ContextFor, Source } from "../sources/client/source.js";
import { gitHub, huggingFace } from "../sources/clients/code-links.js";
import { openAlex } from "../sources/clients/openalex.js";
import { semanticScholar } from "../sources/clients/semantic-scholar.js";
import type { AboutPaper } from "./about-paper.js";
import { keptChecks, type UpdateCheck } from "./kept-retraction-checks.js";
import { checkersOf } from "./find-retractions.js";

/** What earlier preparations have left on the disk about papers, and who would be asked for the rest. Asks nobody and writes nothing. */
export interface KeptAnswers {
  /** Undefined: the text would be fetched. */
  text(paper: NamedPaper): Promise<{ readonly text: PaperText } | { readonly unavailable: string } | undefined>;
  updates(
    papers: readonly NamedPaper[],
  ): Promise<{ readonly checks: ReadonlyMap<string, UpdateCheck>; readonly asks: readonly string[] }>;
  about(paper: NamedPaper): Promise<{ readonly about?: AboutPaper; readonly asks: readonly string[] }>;
}

interface KeptOptions {
  /** The project's folder. */
  readonly folder: string;
  readonly contextFor: ContextFor;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Services forget after a day: an older answer is asked for again. */
const freshMs = 24 * 3600_000;

export function keptAnswers({ folder, contextFor, now, signal }: KeptOptions): KeptAnswers {
  const isAvailable = (source: Source) => !("unavailable" in contextFor(source));
  return {
    async text(paper) {
      const read = await readKeptPaper(paper, { cacheDir: textsFolder(folder), signal });
      if (read === undefined) return undefined;
      return read.status === "ok" ? { text: read.text } : { unavailable: read.reason };
    },
    async updates(papers) {
      const works = papers
        .filter((paper) => !isAt(paper, "sample"))
        .map((paper) => ({ id: paper.id, identifiers: identifiersOf(paper) }));
      const { checks, unknown } = await keptChecks(works, { file: updatesFile(folder), now });
      const asks = checkersOf(unknown.map(({ identifiers }) => identifiers)).filter(isAvailable);
      return { checks, asks: asks.map(({ name }) => name) };
    },
    async about(paper) {
      const identifiers = identifiersOf(paper);
      if (!isAskedAbout(paper, identifiers)) return { about: { code: [], unchecked: [] }, asks: [] };
      const about = await readAbout(folder, paper, now());
      if (about !== undefined) return { about, asks: [] };
      const counts = isKnown(identifiers) ? [openAlex, semanticScholar] : [];
      const asks = [...(identifiers.arxiv === undefined ? [] : [huggingFace]), gitHub, ...counts].filter(isAvailable);
      return { asks: asks.map(({ name }) => name) };
    },
  };
}

const isAt = (paper: NamedPaper, kind: "file" | "sample"): boolean =>
  [paper.url, paper.pdf_url].some((address) => parseReference(address ?? "").kind === kind);

const isKnown = (identifiers: Identifiers): boolean => Object.values(identifiers).some((name) => name !== undefined);

/** Whether code and citations of a paper are looked up: not of a packaged sample, nor of a file of this machine that has no identifier. */
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

async function readAbout(folder: string, paper: NamedPaper, now: number): Promise<AboutPaper | undefined> {
  try {
    const kept = JSON.parse(await readFile(aboutPath(folder, paper.id), "utf8")) as Partial<KeptAbout>;
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

/** Keeps what services said about a paper's code and citations for briefs. A disk that refuses costs nothing but that. */
export async function keepAbout(folder: string, paper: NamedPaper, about: AboutPaper, now: number): Promise<void> {
  const path = aboutPath(folder, paper.id);
  const kept: KeptAbout = { paper: paper.id, at: new Date(now).toISOString(), asked: askedBy(paper), about };
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFileAtomic(path, JSON.stringify(kept), { durable: false });
  } catch (error) {
    if (!hasCode(error, "ENOSPC", "EDQUOT", "EACCES", "EROFS", "ENOENT")) throw error;
  }
}
