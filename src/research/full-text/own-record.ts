import { readFile } from "node:fs/promises";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { isDocumentOf } from "../papers/authors.js";
import { mergedWork } from "../papers/dedup/merge-fields.js";
import { identifiersFrom, unversioned } from "../papers/identifiers.js";
import { normalTitle } from "../papers/normalise-title.js";
import type { Identifiers, PaperRecord } from "../papers/paper-record.js";
import { arxiv } from "../sources/clients/arxiv.js";
import { crossref } from "../sources/clients/crossref.js";
import { openAlex } from "../sources/clients/openalex.js";
import type { ContextFor, Source } from "../sources/shared/source.js";
import { localFile, pagesForATitle } from "./local-file.js";
import { readUntrusted } from "./reader-process.js";

/** Why what a service says of a document is merged with it: no search has found that record. */
export const lookedUp = "the document prints its id, and has its title";

/** The names that a document gives itself, as records have them. */
export function namesOfDocument({ doi, arxiv: id }: Pick<DocumentText, "doi" | "arxiv">): Identifiers {
  const { arxiv: found, ...others } = identifiersFrom({ doi, arxiv: id });
  return { ...others, ...withoutUndefined({ arxiv: found === undefined ? undefined : unversioned(found) }) };
}

/** What a service says of a document by the name that it prints. */
export interface OwnRecord {
  /** The document's record with authors, year and place; without the name where it proved to be another work's. */
  readonly record: PaperRecord;
  /** What it was merged with, where a service knew it. */
  readonly merged?: { readonly id: string; readonly source: string; readonly url: string; readonly why: string };
}

/**
 * Asks Crossref and arXiv for documents of this machine by the DOI or arXiv id that they print, and OpenAlex for a DOI
 * that Crossref does not know: others register DOIs too. By id of the record. An answer counts where its title stands
 * at the head of the document. Where it does not, or no service knows the name, the name is not the document's; where
 * no service could be asked, the name alone is kept and the record is not among the answers.
 */
export async function ownRecords(
  records: readonly PaperRecord[],
  { contextFor, signal }: { readonly contextFor: ContextFor; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, OwnRecord>> {
  const named = records.filter(({ url, identifiers }) => url.startsWith("file:") && idOf(identifiers) !== undefined);
  const [withDoi, others] = [named.filter(isByDoi), named.filter((record) => !isByDoi(record))];
  const [ofCrossref, ofArxiv] = await Promise.all([
    knownTo(crossref, withDoi, contextFor),
    knownTo(arxiv, others, contextFor),
  ]);
  const unknown = withDoi.filter(({ id }) => ofCrossref.get(id) === "unknown");
  const known = new Map([...ofCrossref, ...ofArxiv, ...(await knownTo(openAlex, unknown, contextFor))]);
  const found = new Map<string, OwnRecord>();
  for (const record of named) {
    const own = known.get(record.id);
    if (own === undefined || signal.aborted) continue;
    const text = own === "unknown" ? undefined : await firstPages(localFile(record) ?? "", signal);
    found.set(
      record.id,
      own !== "unknown" && text !== undefined && isTitleOf(own.title, text)
        ? mergedRecord(record, own)
        : { record: unnamed(record) },
    );
  }
  return found;
}

/** What a service says of each record by its name, by id of the record; undefined where it could not be asked. */
async function knownTo(
  source: Source,
  records: readonly PaperRecord[],
  contextFor: ContextFor,
): Promise<Map<string, PaperRecord | "unknown" | undefined>> {
  const context = contextFor(source);
  const works = records.map(({ identifiers: { doi, arxiv: id } }) =>
    doi === undefined ? withoutUndefined({ arxiv: id }) : { doi },
  );
  const answer = works.length === 0 || "unavailable" in context ? undefined : await source.lookup?.(works, context);
  return new Map(
    records.map(({ id, identifiers }) => {
      if (answer === undefined || (answer.status !== "ok" && answer.status !== "empty")) return [id, undefined];
      const [answered, unchecked] = answer.status === "ok" ? [answer.value, answer.unchecked ?? []] : [[], []];
      const own = answered.find((each) => isOneName(each.identifiers, identifiers));
      return [id, own ?? (unchecked.some((each) => isOneName(each, identifiers)) ? undefined : ("unknown" as const))];
    }),
  );
}

const isByDoi = ({ identifiers }: PaperRecord): boolean => identifiers.doi !== undefined;

const idOf = ({ doi, arxiv: id }: Identifiers) => doi ?? id;

const isOneName = (a: Identifiers, b: Identifiers): boolean =>
  b.doi === undefined ? unversioned(a.arxiv ?? "") === unversioned(b.arxiv ?? "") : a.doi === b.doi;

function unnamed(record: PaperRecord): PaperRecord {
  const { doi: _, arxiv: __, ...identifiers } = record.identifiers;
  return { ...record, identifiers };
}

function mergedRecord(record: PaperRecord, own: PaperRecord): OwnRecord {
  const { record: merged } = mergedWork([own, record]);
  const authors = own.authors.length > 0 ? own.authors : record.authors;
  const said = { title: own.title, authors, date: own.date ?? record.date, abstract: record.abstract ?? own.abstract };
  const { id, url, pdf_url, source } = record;
  const { arxiv: version, ...names } = merged.identifiers;
  const identifiers = {
    ...names,
    ...withoutUndefined({ arxiv: version === undefined ? undefined : unversioned(version) }),
  };
  return {
    record: { ...merged, ...said, id, url, pdf_url, source, identifiers },
    merged: { id: own.id, source: own.source, url: own.url, why: lookedUp },
  };
}

async function firstPages(path: string, signal: AbortSignal): Promise<DocumentText | undefined> {
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes === undefined) return undefined;
  const read = await readUntrusted(bytes, { name: path, signal, pages: pagesForATitle });
  return read.status === "ok" ? read.text : undefined;
}

/** The title, the names of the authors and, on some papers, a head of the journal stand in so many characters. */
const headLength = 2_500;

/** Whether a title is that of a document: it stands at its head, or most of its words in the title found there. */
export function isTitleOf(title: string, { text, title: own = "" }: Pick<DocumentText, "text" | "title">): boolean {
  const solid = (part: string) => normalTitle(part).replace(/ /g, "");
  const wanted = solid(title);
  if (wanted === "") return false;
  return (
    solid(text.slice(0, headLength).replace(/-\n/g, "")).includes(wanted) ||
    (own !== "" && isDocumentOf(own, { title }))
  );
}
