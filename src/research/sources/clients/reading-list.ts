import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { ExpectedError, messageOf } from "../../../engine/lib/errors.js";
import { readRegularText } from "../../../engine/storage/regular-file.js";
import { askText } from "../shared/ask-service.js";
import { arxiv } from "./arxiv.js";
import { crossref } from "./crossref.js";
import { europePmc } from "./europe-pmc.js";
import { openAlex } from "./openalex.js";
import { webAddress } from "../../../engine/lib/json-fields.js";
import { detailsOf } from "../../../text/documents/html/metadata.js";
import type { Identifiers, PaperRecord } from "../../papers/paper-record.js";
import { nameOf, sharesIdentifier } from "../../papers/identifiers.js";
import { parseReference, type Reference } from "../../papers/reference.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { pageRecord } from "../shared/web-page.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { readListedPapers } from "../../papers/records/listed-papers.js";
import { isRecordFile } from "../../papers/records/read-records.js";
import type { OwnList } from "../../papers/records/own-list.js";

const maxList = 5 * 1024 * 1024;
/** Pages without an id are fetched one by one. */
const maxPages = 50;

type Named = Extract<Reference, { readonly kind: "arxiv" | "doi" | "pmid" | "pmcid" | "url" }>;

/**
 * A person's own list of works as a source: a file (relative to `root`) or an address on the web. A file of records
 * tells of them itself, and nobody is asked; else it is a plain list of arXiv ids, DOIs and addresses, one or more a
 * line. An HTML page counts as the list of what it links to, or as the paper that its head describes.
 */
export const listSource = (name: string, { place, database }: OwnList, root: string): Source => ({
  name,
  aliases: [],
  endpoint: place,
  search: async (query, context) => {
    const page = webAddress(place);
    const path = resolve(root, place);
    if (page === undefined && (await isRecordFile(path))) return await recordsIn(name, path, database, query.columns);
    const text =
      page === undefined ? await fromFile(path) : await askText({ name }, context, { url: page, limit: maxList });
    return text.status === "ok" ? await resolveAll(name, text.value, page, query, context) : text;
  },
});

/** The records of a file, each as the database it was exported from describes it. */
async function recordsIn(
  name: string,
  path: string,
  database: string | undefined,
  columns: Query["columns"],
): Promise<Answer<readonly PaperRecord[]>> {
  try {
    const { papers, said } = await readListedPapers(name, path, columns);
    const records = papers.map(({ record }) => {
      const from = database ?? record.source;
      return { ...record, source: from, database: from };
    });
    return { status: "ok", value: records, total: records.length, ...withoutUndefined({ incomplete: said }) };
  } catch (error) {
    if (error instanceof ExpectedError) return { status: "error", reason: error.message };
    throw error;
  }
}

async function fromFile(path: string): Promise<Answer<string>> {
  try {
    const found = await stat(path);
    // To read a FIFO is to wait forever.
    if (!found.isFile() || found.size > maxList)
      return { status: "error", reason: `${path} is not a file of at most ${maxList / 1024 / 1024} MB.` };
    return { status: "ok", value: await readRegularText(path) };
  } catch (error) {
    return { status: "error", reason: `The list ${path} could not be read: ${messageOf(error)}.` };
  }
}

async function resolveAll(
  name: string,
  text: string,
  page: string | undefined,
  query: Query,
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  const isHtml = /<(?:!doctype html|html|head|body)\b/i.test(text.slice(0, 2000));
  const own = isHtml ? await describedBy(name, text, page) : undefined;
  if (own !== undefined) return { status: "ok", value: [own], total: 1 };
  const named = isHtml ? await linkedFrom(text, page) : referencesIn(text);
  if (named.length === 0)
    return { status: "empty", reason: `${name} lists no paper; write an arXiv id, a DOI or an address on each line.` };
  const some = named.slice(0, Math.max(0, query.most));
  const records: PaperRecord[] = [];
  const missing: string[] = [];
  const failures: string[] = [];
  const works = some.flatMap((reference): Identifiers[] =>
    reference.kind === "url" ? [] : [identifiersFor(reference)],
  );
  await lookUp(
    arxiv,
    works.filter((work) => work.arxiv !== undefined),
  );
  await lookUp(
    crossref,
    works.filter((work) => work.doi !== undefined && isOpen(work)),
  );
  await lookUp(
    europePmc,
    works.filter(({ pmid, pmcid }) => pmid !== undefined || pmcid !== undefined),
  );
  // Other agencies register DOIs too.
  await lookUp(openAlex, works.filter(isOpen));
  for (const reference of some.filter(({ kind }) => kind === "url").slice(0, maxPages)) {
    const url = reference.kind === "url" ? reference.url : "";
    const answer = await askText({ name }, context, { url, limit: maxList, accept: "text/html, */*;q=0.5" });
    const record = answer.status === "ok" ? await describedBy(name, answer.value, url) : undefined;
    if (record !== undefined) records.push(record);
    else if (answer.status === "ok") missing.push(`${url} does not describe a paper`);
    else failures.push(answer.reason);
  }
  missing.push(...works.filter(isOpen).map((work) => `${nameOf(work)} is not known`));
  const notes = [...failures, ...missing];
  const incomplete =
    notes.length === 0
      ? undefined
      : `${notes.length} of ${some.length} could not be described: ${notes.slice(0, 3).join("; ")}.`;
  if (records.length === 0)
    return { status: failures.length > 0 ? "error" : "empty", reason: incomplete ?? `${name} names no paper.` };
  return { status: "ok", value: records, total: named.length, ...withoutUndefined({ incomplete }) };

  function isOpen(work: Identifiers): boolean {
    return !records.some(({ identifiers }) => sharesIdentifier(identifiers, work));
  }
  async function lookUp(source: Source, wanted: readonly Identifiers[]): Promise<void> {
    if (wanted.length === 0 || source.lookup === undefined) return;
    const its = context.contextFor(source);
    if ("unavailable" in its) return void failures.push(its.unavailable);
    const answer = await source.lookup(wanted, its);
    if (answer.status === "ok") records.push(...answer.value);
    if (answer.status !== "ok" && answer.status !== "empty") failures.push(answer.reason);
  }
}

const identifiersFor = (reference: Exclude<Named, { readonly kind: "url" }>): Identifiers =>
  reference.kind !== "arxiv"
    ? (({ kind: _, ...work }) => work)(reference)
    : { arxiv: `${reference.id}${reference.version === undefined ? "" : `v${reference.version}`}` };

/**
 * The references of a text, each once: a line that is one, else the addresses, arXiv ids and DOIs that stand in it.
 * Lines after # are remarks.
 */
export function referencesIn(text: string): readonly Named[] {
  const found = text.split("\n").flatMap((line) => {
    const bare = line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, "").trim();
    if (bare === "" || bare.startsWith("#") || bare.length > 5000) return [];
    // Old DOIs have brackets in them, which end an address in a sentence.
    if (/^(?:https?:|doi:|arxiv:|10\.\d|\d{4}\.\d)\S+$/i.test(bare)) return [parseReference(bare)];
    const names = bare.match(
      /https?:\/\/[^\s<>"')\]]+|\barxiv:\s*[a-z.-]*\/?\d[\d.]*(?:v\d+)?|\b10\.\d{4,9}\/[^\s<>"')\]]+|\b\d{4}\.\d{4,5}(?:v\d+)?\b|\b[a-z-]+(?:\.[A-Z]{2})?\/\d{7}(?:v\d+)?\b/gi,
    );
    return (names ?? []).map((name) => parseReference(name.replace(/(?<![.,;:])[.,;:]+$/, "")));
  });
  return onlyOnce(found.filter(isNamed));
}

const isNamed = (reference: ReturnType<typeof parseReference>): reference is Named =>
  ["arxiv", "doi", "pmid", "pmcid", "url"].includes(reference.kind);

function onlyOnce(references: readonly Named[]): readonly Named[] {
  const keyOf = (reference: Named) => {
    if (reference.kind === "url") return reference.url;
    return reference.kind === "arxiv" ? reference.id : nameOf(identifiersFor(reference));
  };
  return [...new Map(references.map((reference) => [keyOf(reference), reference])).values()];
}

/** The papers that a page links to. Links to anything else are menus. */
async function linkedFrom(html: string, url: string | undefined): Promise<readonly Named[]> {
  const { load } = await import("cheerio");
  const page = load(html);
  const links = page("a[href]")
    .toArray()
    .map((element) => page(element).attr("href") ?? "");
  const absolute = links.filter((link) => URL.canParse(link, url)).map((link) => new URL(link, url).href);
  return onlyOnce(absolute.map((link) => parseReference(link)).filter(isNamed)).filter(({ kind }) => kind !== "url");
}

/** The paper that a page is about, as its head describes it. */
async function describedBy(name: string, html: string, url: string | undefined): Promise<PaperRecord | undefined> {
  const { load } = await import("cheerio");
  const details = detailsOf(load(html), url);
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
