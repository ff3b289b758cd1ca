import { type AboutPaper, aboutPaper, isAskedAbout, keepAbout } from "./code-and-citations.js";
import { openAlex } from "../sources/clients/openalex.js";
import { europePmc } from "../sources/clients/europe-pmc.js";
import { semanticScholar } from "../sources/clients/semantic-scholar.js";
import { unpaywall } from "../sources/clients/unpaywall.js";
import { codeLinks, gitHub, huggingFace } from "../sources/clients/code-links.js";
import type { Tried } from "../full-text/choose-full-text.js";
import type { NamedPaper, PaperRecord } from "../papers/paper-record.js";
import { findText, readAnew } from "../full-text/find-text.js";
import { type OwnRecord, ownRecords } from "../full-text/own-record.js";
import type { ContextFor, Source } from "../sources/shared/source.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { checkWorks, type UpdateCheck, worksOf } from "./kept-retraction-checks.js";
import { checkUpdates, updateServices } from "./find-retractions.js";
import type { CopyService } from "../full-text/full-text-routes.js";
import { identifiersOf } from "../papers/paper-identifiers.js";
import type { Clock } from "../../engine/lib/clock.js";
import type { Http } from "../../net/http.js";
import { textsFolder, updatesFile } from "../project-files/layout.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

interface PaperLookupOptions {
  /** The project: texts and answers are kept in it. */
  readonly folder: string;
  readonly http: Http;
  readonly contextFor: ContextFor;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What happened to papers is asked also where an answer of today is kept. */
  readonly anew?: boolean;
}

/** A paper's text, or the sentence that says why it is missing. `transient`: it may be had in some minutes or hours. */
export type TextAnswer = { readonly text: DocumentText } | { readonly unavailable: string; readonly transient?: true };

/** Who is asked by its DOI or arXiv id, and its title, about a paper of this machine that prints one. */
export const lookupServices: readonly Source[] = [...updateServices, semanticScholar, gitHub, huggingFace];

/** What is asked about one paper at a time. Never throws for what a network does. */
export interface PaperLookups {
  text(paper: NamedPaper): Promise<TextAnswer>;
  /** Its text as it can be had now. Nothing is kept of it. Undefined where it can't be had. */
  textNow(paper: NamedPaper): Promise<DocumentText | undefined>;
  /** What happened to papers since they were published, by id; bounded in time (`within` milliseconds). */
  updates(papers: readonly NamedPaper[], within?: number): Promise<ReadonlyMap<string, UpdateCheck>>;
  /** What services say of documents of this machine by the names that they print, by id; bounded in time. */
  ownRecords(records: readonly PaperRecord[]): Promise<ReadonlyMap<string, OwnRecord>>;
  /** The code of a paper and how often it was cited; bounded in time. */
  about(paper: NamedPaper): Promise<AboutPaper>;
}

const minute = 60_000;
/** A report can wait for this; its retraction check covers up to some hundred papers. */
const maxCheck = 3 * minute;
/** A brief can't: code and citations are a help, no more. */
const maxAbout = 15_000;

/**
 * Asks services over the one polite access to the network. Nothing is asked about a paper of this machine that has no
 * identifier, nor about a packaged sample, whatever it carries.
 */
export function paperLookups({
  folder,
  http,
  contextFor,
  clock,
  signal,
  anew = false,
}: PaperLookupOptions): PaperLookups {
  const asked = (source: Source): CopyService[] => {
    const context = contextFor(source);
    const { lookup } = source;
    // A source that is turned off or lacks its key will not answer later either, so it is not waited for.
    return "unavailable" in context || lookup === undefined
      ? []
      : [{ name: source.name, find: (works) => lookup.call(source, works, context) }];
  };
  const ways = () => ({ signal, http, contextFor, copies: [unpaywall, europePmc].flatMap(asked) });
  return {
    async text(paper) {
      const answer = await findText(paper, { cacheDir: textsFolder(folder), ...ways() });
      if (answer.status === "ok") return { text: answer.text };
      if (answer.transient === true) return { unavailable: answer.reason, transient: true };
      return { unavailable: `${answer.reason}${triedWords(answer.tried)}` };
    },
    async textNow(paper) {
      const answer = await readAnew(paper, ways());
      return answer.status === "ok" ? answer.text : undefined;
    },
    updates: async (papers, within = maxCheck) =>
      await checkWorks(worksOf(papers), {
        file: updatesFile(folder),
        ask: (works) => checkUpdates(works, contextFor),
        clock,
        signal,
        within,
        anew,
      }),
    async ownRecords(records) {
      const done = new AbortController();
      const late = clock.sleep(clock.now() + maxAbout, AbortSignal.any([signal, done.signal])).then(() => new Map());
      try {
        return await Promise.race([ownRecords(records, { contextFor, signal }), late]);
      } finally {
        done.abort();
      }
    },
    async about(paper) {
      const identifiers = identifiersOf(paper);
      if (paper.title == null || !isAskedAbout(paper, identifiers)) return { code: [], unchecked: [] };
      const done = new AbortController();
      const late = clock.sleep(clock.now() + maxAbout, AbortSignal.any([signal, done.signal]));
      try {
        const work = { title: paper.title, identifiers, ...withoutUndefined({ abstract: paper.abstract }) };
        const about = await aboutPaper(work, {
          code: (each) => codeLinks(each, contextFor),
          counts: [openAlex, semanticScholar].flatMap(asked),
          late,
        });
        // What was cut short says nothing.
        if (!signal.aborted) await keepAbout(folder, paper, about, clock.now());
        return about;
      } finally {
        done.abort();
      }
    },
  };
}

/** The other ways that were tried, for a person who wants to help. */
function triedWords(tried: readonly Tried[] = []): string {
  const others = [...new Map(tried.map(({ way, reason }) => [way, reason.replace(/[.;]$/, "")]))];
  return others.length < 2 ? "" : ` Tried: ${others.map(([way, reason]) => `${way} (${reason})`).join("; ")}.`;
}
