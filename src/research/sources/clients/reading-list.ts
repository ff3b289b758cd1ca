import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { ExpectedError, messageOf } from "../../../engine/lib/errors.js";
import { readRegularText } from "../../../engine/storage/regular-file.js";
import { askText } from "../shared/ask-service.js";
import { arxiv } from "./arxiv.js";
import { crossref } from "./crossref.js";
import { europePmc } from "./europe-pmc.js";
import { openAlex } from "./openalex.js";
import { webAddressFrom } from "../../../engine/lib/json-fields.js";
import { pageMetadata } from "../../../text/documents/html/metadata.js";
import type { Identifiers, PaperRecord } from "../../papers/paper-record.js";
import { nameOf, sharesIdentifier, hasIdentifier, identifierOf } from "../../papers/identifiers.js";
import { type IdentifierReference, parseReference, type Reference } from "../../papers/reference.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { pageRecord } from "../shared/web-page.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { readListedPapers } from "../../papers/records/listed-papers.js";
import { isRecordFile } from "../../papers/records/read-records.js";
import type { OwnList } from "../../papers/records/own-list.js";

const maxListBytes = 5 * 1024 * 1024;
/** Pages without an id are requested one by one. */
const maxPages = 50;

type ListedReference = IdentifierReference | Extract<Reference, { readonly kind: "url" }>;

/**
 * The user's list of works as a source. `place` is the path of a file (relative to `root`) or a web address. There are
 * three kinds of lists. A file of records contains all data, so no service is queried. A text contains arXiv ids, DOIs
 * and addresses, one or more per line. An HTML page contains links to papers, or describes one paper in its head.
 */
export const listSource = (name: string, { place, database }: OwnList, root: string): Source => ({
  name,
  aliases: [],
  endpoint: place,
  search: async (query, context) => {
    const page = webAddressFrom(place);
    const path = resolve(root, place);
    if (page === undefined && (await isRecordFile(path))) return await recordsIn(name, path, database, query.columns);
    const text =
      page === undefined
        ? await textOfFile(path)
        : await askText({ name }, context, { url: page, limit: maxListBytes });
    return text.status === "ok" ? await findListedPapers(name, text.value, page, query, context) : text;
  },
});

/** The records of a file. Their source is the database from which the file was exported. */
async function recordsIn(
  name: string,
  path: string,
  database: string | undefined,
  columns: Query["columns"],
): Promise<Answer<readonly PaperRecord[]>> {
  try {
    const { papers, notice: incomplete } = await readListedPapers(name, path, columns);
    const records = papers.map(({ record }) => {
      const source = database ?? record.source;
      return { ...record, source, database: source };
    });
    return { status: "ok", value: records, total: records.length, ...withoutUndefined({ incomplete }) };
  } catch (error) {
    if (error instanceof ExpectedError) return { status: "error", reason: error.message };
    throw error;
  }
}

async function textOfFile(path: string): Promise<Answer<string>> {
  try {
    const stats = await stat(path);
    // Reading a FIFO would block.
    if (!stats.isFile() || stats.size > maxListBytes)
      return { status: "error", reason: `${path} is not a file of at most ${maxListBytes / 1024 / 1024} MB.` };
    return { status: "ok", value: await readRegularText(path) };
  } catch (error) {
    return { status: "error", reason: `The list ${path} could not be read: ${messageOf(error)}.` };
  }
}

async function findListedPapers(
  name: string,
  text: string,
  page: string | undefined,
  query: Query,
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  const isHtml = /<(?:!doctype html|html|head|body)\b/i.test(text.slice(0, 2000));
  const describedPaper = isHtml ? await paperOfPage(name, text, page) : undefined;
  if (describedPaper !== undefined) return { status: "ok", value: [describedPaper], total: 1 };
  const references = isHtml ? await linkedReferences(text, page) : referencesIn(text);
  if (references.length === 0)
    return { status: "empty", reason: `${name} lists no paper; write an arXiv id, a DOI or an address on each line.` };
  const firstReferences = references.slice(0, Math.max(0, query.most));
  const records: PaperRecord[] = [];
  const missing: string[] = [];
  const failures: string[] = [];
  const works = firstReferences.filter(hasIdentifier).map(identifierOf);
  const isUnresolved = (work: Identifiers) => !records.some(({ identifiers }) => sharesIdentifier(identifiers, work));
  const lookUp = async (source: Source, requestedWorks: readonly Identifiers[]): Promise<void> => {
    if (requestedWorks.length === 0 || source.lookup === undefined) return;
    const sourceContext = context.contextFor(source);
    if ("unavailable" in sourceContext) return void failures.push(sourceContext.unavailable);
    const answer = await source.lookup(requestedWorks, sourceContext);
    if (answer.status === "ok") records.push(...answer.value);
    if (answer.status !== "ok" && answer.status !== "empty") failures.push(answer.reason);
  };
  await lookUp(
    arxiv,
    works.filter((work) => work.arxiv !== undefined),
  );
  await lookUp(
    crossref,
    works.filter((work) => work.doi !== undefined && isUnresolved(work)),
  );
  await lookUp(
    europePmc,
    works.filter(({ pmid, pmcid }) => pmid !== undefined || pmcid !== undefined),
  );
  // OpenAlex also knows DOIs of other registration agencies.
  await lookUp(openAlex, works.filter(isUnresolved));
  for (const reference of firstReferences.filter(({ kind }) => kind === "url").slice(0, maxPages)) {
    const url = reference.kind === "url" ? reference.url : "";
    const answer = await askText({ name }, context, { url, limit: maxListBytes, accept: "text/html, */*;q=0.5" });
    const record = answer.status === "ok" ? await paperOfPage(name, answer.value, url) : undefined;
    if (record !== undefined) records.push(record);
    else if (answer.status === "ok") missing.push(`${url} does not describe a paper`);
    else failures.push(answer.reason);
  }
  missing.push(...works.filter(isUnresolved).map((work) => `${nameOf(work)} is not known`));
  const notes = [...failures, ...missing];
  const incomplete =
    notes.length === 0
      ? undefined
      : `${notes.length} of ${firstReferences.length} could not be described: ${notes.slice(0, 3).join("; ")}.`;
  if (records.length === 0)
    return { status: failures.length > 0 ? "error" : "empty", reason: incomplete ?? `${name} names no paper.` };
  return { status: "ok", value: records, total: references.length, ...withoutUndefined({ incomplete }) };
}

/**
 * The references in a text, without duplicates. A line is either one reference or a text with addresses, arXiv ids and
 * DOIs. Lines that begin with # are comments.
 */
export function referencesIn(text: string): readonly ListedReference[] {
  const references = text.split("\n").flatMap((line) => {
    const content = line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, "").trim();
    if (content === "" || content.startsWith("#") || content.length > 5000) return [];
    // If the line is only one reference, it may contain brackets, as old DOIs do. In a sentence, a bracket ends an
    // address.
    if (/^(?:https?:|doi:|arxiv:|10\.\d|\d{4}\.\d)\S+$/i.test(content)) return [parseReference(content)];
    const matches = content.match(
      /https?:\/\/[^\s<>"')\]]+|\barxiv:\s*[a-z.-]*\/?\d[\d.]*(?:v\d+)?|\b10\.\d{4,9}\/[^\s<>"')\]]+|\b\d{4}\.\d{4,5}(?:v\d+)?\b|\b[a-z-]+(?:\.[A-Z]{2})?\/\d{7}(?:v\d+)?\b/gi,
    );
    return (matches ?? []).map((match) => parseReference(match.replace(/(?<![.,;:])[.,;:]+$/, "")));
  });
  return withoutDuplicates(references.filter(isListedReference));
}

const isListedReference = (reference: ReturnType<typeof parseReference>): reference is ListedReference =>
  reference.kind === "url" || hasIdentifier(reference);

function withoutDuplicates(references: readonly ListedReference[]): readonly ListedReference[] {
  const keyOf = (reference: ListedReference) => {
    if (reference.kind === "url") return reference.url;
    return reference.kind === "arxiv" ? reference.id : nameOf(identifierOf(reference));
  };
  return [...new Map(references.map((reference) => [keyOf(reference), reference])).values()];
}

/** The papers that a page links to. Other links, such as menus, are ignored. */
async function linkedReferences(html: string, url: string | undefined): Promise<readonly ListedReference[]> {
  const { load } = await import("cheerio");
  const page = load(html);
  const links = page("a[href]")
    .toArray()
    .map((element) => page(element).attr("href") ?? "");
  const addresses = links.filter((link) => URL.canParse(link, url)).map((link) => new URL(link, url).href);
  return withoutDuplicates(addresses.map((address) => parseReference(address)).filter(hasIdentifier));
}

/** The paper that a page describes in its head; undefined if it is not the page of an article. */
async function paperOfPage(name: string, html: string, url: string | undefined): Promise<PaperRecord | undefined> {
  const { load } = await import("cheerio");
  const details = pageMetadata(load(html), url);
  if (!details.isArticlePage || details.title === undefined) return undefined;
  const { title, authors, date, abstract, doi, pdfUrl } = details;
  const record = pageRecord(name, {
    url: url ?? (doi === undefined ? pdfUrl : `https://doi.org/${doi}`),
    title,
    abstract,
    date,
    doi,
    ...withoutUndefined({ authors }),
  });
  return record === undefined || pdfUrl === undefined ? record : { ...record, pdf_url: pdfUrl };
}
