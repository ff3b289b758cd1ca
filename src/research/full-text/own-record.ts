import { readFile } from "node:fs/promises";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { isDocumentOf } from "../papers/authors.js";
import { mergedWork } from "../papers/dedup/merge-fields.js";
import { identifiersFrom, withoutVersion } from "../papers/identifiers.js";
import { normalTitle } from "../papers/normalise-title.js";
import type { Identifiers, PaperRecord } from "../papers/paper-record.js";
import { arxiv } from "../sources/clients/arxiv.js";
import { crossref } from "../sources/clients/crossref.js";
import { openAlex } from "../sources/clients/openalex.js";
import type { ContextFor, Source } from "../sources/shared/source.js";
import { localFile, titlePages } from "./local-file.js";
import { readUntrusted } from "./reader-process.js";

/** The reason for merging a service's record with a document, in the merge decisions. */
export const lookupReason = "the document prints its id, and has its title";

/** The identifiers that a document prints, in the form of records. */
export const namesOfDocument = ({ doi, arxiv: id }: Pick<DocumentText, "doi" | "arxiv">): Identifiers =>
  withoutArxivVersion(identifiersFrom({ doi, arxiv: id }));

const withoutArxivVersion = (identifiers: Identifiers): Identifiers =>
  identifiers.arxiv === undefined ? identifiers : { ...identifiers, arxiv: withoutVersion(identifiers.arxiv) };

/** A service's record for an identifier that a document prints. */
export interface DocumentRecord {
  /** The document's record with authors, year and venue; without the identifier if that belongs to another work. */
  readonly record: PaperRecord;
  /** The record that was merged, if a service knew it. */
  readonly merged?: { readonly id: string; readonly source: string; readonly url: string; readonly why: string };
}

/**
 * Looks local documents up by the DOI or arXiv id that they print: at Crossref and arXiv, then at OpenAlex for DOIs
 * that Crossref does not know, because other agencies register DOIs too. The result is by record id. A record is used
 * only if its title is at the top of the document. Otherwise, or if no service knows the identifier, it is removed from
 * the document's record. If no service answered, the document keeps its identifier and is not in the result.
 */
export async function ownRecords(
  records: readonly PaperRecord[],
  { contextFor, signal }: { readonly contextFor: ContextFor; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, DocumentRecord>> {
  const withIdentifier = records.filter(
    ({ url, identifiers }) => url.startsWith("file:") && idOf(identifiers) !== undefined,
  );
  const [withDoi, withArxivOnly] = [withIdentifier.filter(hasDoi), withIdentifier.filter((record) => !hasDoi(record))];
  const [crossrefAnswers, arxivAnswers] = await Promise.all([
    lookUpRecords(crossref, withDoi, contextFor),
    lookUpRecords(arxiv, withArxivOnly, contextFor),
  ]);
  const unknownToCrossref = withDoi.filter(({ id }) => crossrefAnswers.get(id) === "unknown");
  const answers = new Map([
    ...crossrefAnswers,
    ...arxivAnswers,
    ...(await lookUpRecords(openAlex, unknownToCrossref, contextFor)),
  ]);
  const result = new Map<string, DocumentRecord>();
  for (const record of withIdentifier) {
    const answer = answers.get(record.id);
    if (answer === undefined || signal.aborted) continue;
    const text = answer === "unknown" ? undefined : await firstPages(localFile(record) ?? "", signal);
    result.set(
      record.id,
      answer !== "unknown" && text !== undefined && isTitleOf(answer.title, text)
        ? mergedRecord(record, answer)
        : { record: withoutIdentifiers(record) },
    );
  }
  return result;
}

/** A service's record for each of these records, by record id; undefined if the service did not answer. */
async function lookUpRecords(
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
      const [serviceRecords, unchecked] = answer.status === "ok" ? [answer.value, answer.unchecked ?? []] : [[], []];
      const match = serviceRecords.find((candidate) => isSameIdentifier(candidate.identifiers, identifiers));
      return [
        id,
        match ?? (unchecked.some((work) => isSameIdentifier(work, identifiers)) ? undefined : ("unknown" as const)),
      ];
    }),
  );
}

const hasDoi = ({ identifiers }: PaperRecord): boolean => identifiers.doi !== undefined;

const idOf = ({ doi, arxiv: id }: Identifiers) => doi ?? id;

const isSameIdentifier = (a: Identifiers, b: Identifiers): boolean =>
  b.doi === undefined ? withoutVersion(a.arxiv ?? "") === withoutVersion(b.arxiv ?? "") : a.doi === b.doi;

function withoutIdentifiers(record: PaperRecord): PaperRecord {
  const { doi: _, arxiv: __, ...identifiers } = record.identifiers;
  return { ...record, identifiers };
}

function mergedRecord(record: PaperRecord, serviceRecord: PaperRecord): DocumentRecord {
  const { record: merged } = mergedWork([serviceRecord, record]);
  const authors = serviceRecord.authors.length > 0 ? serviceRecord.authors : record.authors;
  const details = {
    title: serviceRecord.title,
    authors,
    date: serviceRecord.date ?? record.date,
    abstract: record.abstract ?? serviceRecord.abstract,
  };
  const { id, url, pdf_url, source } = record;
  const identifiers = withoutArxivVersion(merged.identifiers);
  return {
    record: { ...merged, ...details, id, url, pdf_url, source, identifiers },
    merged: { id: serviceRecord.id, source: serviceRecord.source, url: serviceRecord.url, why: lookupReason },
  };
}

async function firstPages(path: string, signal: AbortSignal): Promise<DocumentText | undefined> {
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes === undefined) return undefined;
  const result = await readUntrusted(bytes, { name: path, signal, pages: titlePages });
  return result.status === "ok" ? result.text : undefined;
}

/** Characters at the start of a document that contain the title, the authors and sometimes the journal's header. */
const headChars = 2_500;

/** Whether a document has this title: its first page contains it, or most of its words are in the document's title. */
function isTitleOf(title: string, { text, title: documentTitle = "" }: Pick<DocumentText, "text" | "title">): boolean {
  const withoutSpaces = (part: string) => normalTitle(part).replace(/ /g, "");
  const compactTitle = withoutSpaces(title);
  if (compactTitle === "") return false;
  return (
    withoutSpaces(text.slice(0, headChars).replace(/-\n/g, "")).includes(compactTitle) ||
    (documentTitle !== "" && isDocumentOf(documentTitle, { title }))
  );
}
