import { identifiersOf } from "../papers/identifiers.js";
import { type AboutPaper, aboutPaper, isFrom, isLookedUp, cacheAbout } from "./code-and-citations.js";
import { openAlex } from "../sources/clients/openalex.js";
import { europePmc } from "../sources/clients/europe-pmc.js";
import { semanticScholar } from "../sources/clients/semantic-scholar.js";
import { unpaywall } from "../sources/clients/unpaywall.js";
import { codeLinks, gitHub, huggingFace } from "../sources/clients/code-links.js";
import type { FailedRoute } from "../full-text/choose-full-text.js";
import type { NamedPaper, PaperRecord } from "../papers/paper-record.js";
import { findText, readUncached } from "../full-text/find-text.js";
import { type DocumentRecord, ownRecords } from "../full-text/own-record.js";
import type { ContextFor, LookupService, Source } from "../sources/shared/source.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { checkWorks, type UpdateCheck, worksOf } from "./kept-retraction-checks.js";
import { checkUpdates, updateServices } from "./find-retractions.js";
import { beforeDeadline, type Clock } from "../../engine/lib/clock.js";
import type { Http } from "../../net/http.js";
import { textsFolder, updatesFile } from "../project-files/layout.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

interface PaperLookupOptions {
  /** The project's folder, with the caches of texts and answers. */
  readonly folder: string;
  readonly http: Http;
  readonly contextFor: ContextFor;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Whether services may be asked about papers in the user's files; true by default. */
  readonly lookups?: boolean;
  /** True to check for retractions even if today's answer is cached. */
  readonly anew?: boolean;
}

/** A paper's text, or a sentence why it is missing. `transient`: it may be available some minutes or hours later. */
export type TextAnswer = { readonly text: DocumentText } | { readonly unavailable: string; readonly transient?: true };

/** The services that get the DOI or arXiv id and the title of a local paper that prints such an id. */
export const lookupServices: readonly Source[] = [...updateServices, semanticScholar, gitHub, huggingFace];

/** The lookups for papers. They never throw for failures of the network. */
export interface PaperLookups {
  text(paper: NamedPaper): Promise<TextAnswer>;
  /** The text from its source, without the cache; nothing is written. Undefined if it is not available. */
  textNow(paper: NamedPaper): Promise<DocumentText | undefined>;
  /** Retractions and other updates of papers, by id. `within`: time limit in milliseconds. */
  updates(papers: readonly NamedPaper[], within?: number): Promise<ReadonlyMap<string, UpdateCheck>>;
  /** Services' records of local documents, by the identifiers that the documents print. Limited in time. */
  ownRecords(records: readonly PaperRecord[]): Promise<ReadonlyMap<string, DocumentRecord>>;
  /** The code of a paper and its citation count. Limited in time. */
  about(paper: NamedPaper): Promise<AboutPaper>;
}

const minuteMs = 60_000;
/** Time limit of the retraction check for a report, enough for about a hundred papers. */
const maxCheckMs = 3 * minuteMs;
/** Time limit for code and citations, which are only useful extras in a brief. */
const maxAboutMs = 15_000;

/** Makes the lookups. Nothing is looked up about samples or about local papers without an identifier. */
export function paperLookups({
  folder,
  http,
  contextFor,
  clock,
  signal,
  lookups = true,
  anew = false,
}: PaperLookupOptions): PaperLookups {
  const mayAskAbout = (paper: NamedPaper): boolean => lookups || !isFrom(paper, "file");
  const servicesFor = (source: Source): LookupService[] => {
    const context = contextFor(source);
    const { lookup } = source;
    // A source that is turned off or has no key will not answer later either, so it is left out.
    return "unavailable" in context || lookup === undefined
      ? []
      : [{ name: source.name, find: (works) => lookup.call(source, works, context) }];
  };
  const inTime = <Value>(request: Promise<Value>) =>
    beforeDeadline(request, clock.now() + maxAboutMs, { clock, signal });
  const fetchOptions = () => ({ signal, http, contextFor, copies: [unpaywall, europePmc].flatMap(servicesFor) });
  return {
    async text(paper) {
      const answer = await findText(paper, { cacheDir: textsFolder(folder), ...fetchOptions() });
      if (answer.status === "ok") return { text: answer.text };
      if (answer.transient === true) return { unavailable: answer.reason, transient: true };
      return { unavailable: `${answer.reason}${triedText(answer.tried ?? [])}` };
    },
    async textNow(paper) {
      const answer = await readUncached(paper, fetchOptions());
      return answer.status === "ok" ? answer.text : undefined;
    },
    updates: async (papers, within = maxCheckMs) =>
      await checkWorks(worksOf(papers.filter(mayAskAbout)), {
        file: updatesFile(folder),
        ask: (works) => checkUpdates(works, contextFor),
        clock,
        signal,
        within,
        anew,
      }),
    async ownRecords(records) {
      return (lookups ? await inTime(ownRecords(records, { contextFor, signal })) : undefined) ?? new Map();
    },
    async about(paper) {
      const identifiers = identifiersOf(paper);
      if (paper.title == null || !mayAskAbout(paper) || !isLookedUp(paper, identifiers))
        return { code: [], unchecked: [] };
      const work = { title: paper.title, identifiers, ...withoutUndefined({ abstract: paper.abstract }) };
      const about = await aboutPaper(work, {
        code: (each) => codeLinks(each, contextFor),
        counts: [openAlex, semanticScholar].flatMap(servicesFor),
        inTime,
      });
      // An interrupted lookup is incomplete, so it is not cached.
      if (!signal.aborted) await cacheAbout(folder, paper, about, clock.now());
      return about;
    },
  };
}

/** Text about the routes that were tried, for a user who wants to find the paper by hand. */
function triedText(tried: readonly FailedRoute[]): string {
  const others = [...new Map(tried.map(({ way, reason }) => [way, reason.replace(/[.;]$/, "")]))];
  return others.length < 2 ? "" : ` Tried: ${others.map(([way, reason]) => `${way} (${reason})`).join("; ")}.`;
}
