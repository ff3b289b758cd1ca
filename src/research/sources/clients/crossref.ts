import { askJson, collectPages, pageOf, type Page, unexpectedAnswer } from "../shared/ask-service.js";
import { lookUpIn } from "../shared/lookup-batches.js";
import {
  valueAt,
  countFrom,
  dateFromParts,
  dateFrom,
  lineFrom,
  linesFrom,
  listFrom,
  webAddressFrom,
} from "../../../engine/lib/json-fields.js";
import { authorsOf } from "../../papers/authors.js";
import type { Identifiers, PaperRecord, Update, TitledPaper } from "../../papers/paper-record.js";
import { abstractText, plainText } from "../shared/markup-to-text.js";
import { identifiersFrom, paperRecord, withoutVersion } from "../../papers/identifiers.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { plainTerms } from "../shared/query-terms.js";
import type { Request } from "../../../net/http.js";
import { isSearchedTitle } from "../../papers/dedup/title-match.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** DOIs in one request. */
const maxBatch = 1;
const maxRows = 500;
const maxAnswerBytes = 40 * 1024 * 1024;
/** Results of a search by title. If Crossref has the work, it is among the first five results. */
const titleResults = 5;
const selectedFields =
  "DOI,title,author,issued,published,posted,abstract,type,link,license,relation,container-title,volume,issue,page,article-number,is-referenced-by-count,updated-by,update-to";

export const crossref = {
  name: "Crossref",
  aliases: ["crossref", "cross ref", "crossref.org"],
  endpoint: "https://api.crossref.org",
  search: searchCrossref,
  match: matchTitle,
  lookup: async (works, context) =>
    await lookUpIn("Crossref", works.filter(hasDoi), maxBatch, ([work]) => lookUpDoi(work?.doi ?? "", context)),
} satisfies Source;

/**
 * Whether a work has a DOI that Crossref may know. Crossref does not know arXiv's DOIs (10.48550/…), but `Identifiers`
 * has an arXiv id in place of such a DOI.
 */
const hasDoi = ({ doi }: Identifiers): boolean => doi !== undefined;

/**
 * With the user's mail address, Crossref answers faster (its "polite" pool). The address is personal, so it is treated
 * as a secret and never logged.
 */
const requestOf = (path: string, { endpoint, contact }: SourceContext): Request => ({
  url: `${endpoint}${path}`,
  limit: maxAnswerBytes,
  ...(contact?.includes("@") === true ? { secret: { query: { mailto: contact.replace(/^mailto:/, "") } } } : {}),
});

async function searchCrossref(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const terms = plainTerms(query.terms);
  if (terms === "") return { status: "error", reason: "A search on Crossref needs a word to search for." };
  const filters = [
    ...(query.from === undefined ? [] : [`from-pub-date:${query.from}`]),
    ...(query.until === undefined ? [] : [`until-pub-date:${query.until}`]),
  ];
  const filter = filters.length === 0 ? "" : `&filter=${filters.join(",")}`;
  const rows = Math.max(1, Math.min(query.most, maxRows));
  return await collectPages<string>(
    query.most,
    "*",
    async (cursor) => {
      const path = `/works?query.bibliographic=${encodeURIComponent(terms)}${filter}&rows=${rows}&cursor=${encodeURIComponent(cursor)}&select=${selectedFields}`;
      const answer = await askJson(crossref, context, requestOf(path, context));
      return answer.status === "ok" ? readList(answer.value, rows) : answer;
    },
    `Crossref has no results for '${terms}' in this period.`,
  );
}

function readList(json: unknown, rows: number): Answer<Page<string>> {
  const items = valueAt(json, "message", "items");
  if (!Array.isArray(items)) return unexpectedAnswer(crossref, json, "contains no list of works");
  const next = items.length < rows ? undefined : lineFrom(valueAt(json, "message", "next-cursor"));
  const total = countFrom(valueAt(json, "message", "total-results"));
  return pageOf(items, readWork, { total, next });
}

/** A search by title always returns works. Only a work with an equivalent title is a match. */
async function matchTitle(
  { title, authors }: TitledPaper,
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  const terms = plainTerms(`${plainTerms(title)} ${authorsOf(authors).slice(0, 3).join(" ")}`);
  const answer = await askJson(
    crossref,
    context,
    requestOf(
      `/works?query.bibliographic=${encodeURIComponent(terms)}&rows=${titleResults}&select=${selectedFields}`,
      context,
    ),
  );
  if (answer.status !== "ok") return answer;
  const page = readList(answer.value, titleResults);
  if (page.status !== "ok") return page;
  const match = page.value.records.find((record) => isSearchedTitle(title, record.title));
  return match === undefined
    ? { status: "empty", reason: `Crossref has no work titled '${title}'.` }
    : { status: "ok", value: [match] };
}

async function lookUpDoi(doi: string, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const unknownReason = `Crossref does not know the DOI ${doi}.`;
  // The body of Crossref's 404 is plain text.
  const answer = await askJson(
    crossref,
    context,
    requestOf(`/works/${encodeURIComponent(doi)}`, context),
    unknownReason,
  );
  if (answer.status !== "ok") return answer;
  return readSingle(answer.value, doi);
}

/** Reads the answer to a lookup of one DOI. */
export function readSingle(json: unknown, doi: string): Answer<readonly PaperRecord[]> {
  const message = valueAt(json, "message");
  // Every work has a DOI, but a list of works has no such field.
  if (lineFrom(valueAt(message, "DOI")) === undefined) return unexpectedAnswer(crossref, json, "is not a work");
  const record = readWork(message, doi);
  return record === undefined
    ? { status: "empty", reason: `Crossref has no title for the DOI ${doi}.` }
    : { status: "ok", value: [record], unknown: [] };
}

/** Reads a work. `doi`: the requested DOI, which is used if the answer contains none. */
export function readWork(json: unknown, doi?: string): PaperRecord | undefined {
  const identifiers = identifiersFrom({ doi: lineFrom(valueAt(json, "DOI")) ?? doi });
  const title = plainText(listFrom(valueAt(json, "title"))[0]);
  const licenses = listFrom(valueAt(json, "license")).map((license) => webAddressFrom(valueAt(license, "URL")));
  const openLicense = licenses.find((license) => license !== undefined && /creativecommons\.org/.test(license));
  const pdf = pdfOf(listFrom(valueAt(json, "link")));
  const notices = listFrom(valueAt(json, "update-to"));
  return paperRecord({
    source: "Crossref",
    title,
    identifiers,
    pdf,
    authors: listFrom(valueAt(json, "author"))
      .map(authorOf)
      .filter((name) => name !== undefined),
    groups: linesFrom(listFrom(valueAt(json, "author")).map(groupOf)),
    date: dateOf(json),
    abstract: abstractText(valueAt(json, "abstract")),
    kind: kindOf(lineFrom(valueAt(json, "type")), lineFrom(valueAt(json, "subtype")), notices),
    publicationType: lineFrom(valueAt(json, "type")),
    license: openLicense ?? licenses.find((license) => license !== undefined),
    venue: plainText(listFrom(valueAt(json, "container-title"))[0]),
    volume: valueAt(json, "volume"),
    issue: valueAt(json, "issue"),
    pages: valueAt(json, "page") ?? valueAt(json, "article-number"),
    citations: countFrom(valueAt(json, "is-referenced-by-count")),
    copies: pdf === undefined || openLicense === undefined ? [] : [{ url: pdf, kind: "pdf", license: openLicense }],
    updates: listFrom(valueAt(json, "updated-by")).flatMap(updateOf),
    otherVersions: [
      ...relatedDois(json, "has-preprint", identifiers).map((doi) => ({ relation: "preprint" as const, doi })),
      ...relatedDois(json, "is-preprint-of", identifiers).map((doi) => ({ relation: "published" as const, doi })),
    ],
  });
}

function pdfOf(links: readonly unknown[]): string | undefined {
  const pdfs = links.filter((link) => lineFrom(valueAt(link, "content-type"))?.toLowerCase() === "application/pdf");
  // Links for similarity checking work only for Crossref's service.
  const publicLink = pdfs.find((link) => valueAt(link, "intended-application") !== "similarity-checking");
  return webAddressFrom(valueAt(publicLink ?? pdfs[0], "URL"));
}

/** The name of a group. */
const groupOf = (author: unknown): string | undefined =>
  plainText(valueAt(author, "name") ?? valueAt(author, "literal"));

/** The name of a person, or of a group. */
const authorOf = (author: unknown): string | undefined =>
  plainText(
    [lineFrom(valueAt(author, "given")), lineFrom(valueAt(author, "family"))]
      .filter((part) => part !== undefined)
      .join(" "),
  ) ?? groupOf(author);

/** The first known date: issued, published or posted. Its parts may be null. */
function dateOf(json: unknown): string | undefined {
  const dates = ["issued", "published", "posted"].map((name) =>
    dateFromParts(listFrom(valueAt(json, name, "date-parts", 0))),
  );
  return dates.find((date) => date !== undefined);
}

function kindOf(
  type: string | undefined,
  subtype: string | undefined,
  notices: readonly unknown[],
): PaperRecord["kind"] {
  if (type === "posted-content" || subtype === "preprint") return "preprint";
  // A new version also has `update-to`, but is not a notice.
  if (notices.some((notice) => !/new_?\s?(?:version|edition)/i.test(lineFrom(valueAt(notice, "type")) ?? "")))
    return "notice";
  if (type === undefined) return undefined;
  return /^(?:journal-article|proceedings-article|book-chapter|book|monograph|report|dissertation|edited-book|proceedings|book-section|book-part|reference-entry)$/.test(
    type,
  )
    ? "published"
    : "other";
}

const updateTypes: readonly (readonly [RegExp, Update["type"]])[] = [
  [/^retraction$/, "retraction"],
  [/^(?:withdrawal|removal)$/, "withdrawal"],
  [/concern|^partial_?retraction$/, "concern"],
  [/^(?:correction|corrigendum|erratum|clarification)$/, "correction"],
  [/^addendum$/, "addendum"],
  [/^new_?(?:version|edition)$/, "version"],
];

/** One notice about the work: its type, its source (the publisher or Retraction Watch), its date and its DOI. */
function updateOf(notice: unknown): readonly Update[] {
  const typeText =
    lineFrom(valueAt(notice, "type"))
      ?.toLowerCase()
      .replace(/[\s-]+/g, "_") ?? "";
  const type = updateTypes.find(([pattern]) => pattern.test(typeText))?.[1];
  if (type === undefined) return [];
  const date =
    dateFromParts(listFrom(valueAt(notice, "updated", "date-parts", 0))) ??
    dateFrom(valueAt(notice, "updated", "date-time"));
  const source = lineFrom(valueAt(notice, "source"));
  const { doi } = identifiersFrom({ doi: valueAt(notice, "DOI") });
  return [
    {
      type,
      source: source === undefined ? "Crossref" : `Crossref (${source})`,
      ...withoutUndefined({ date, notice: doi }),
    },
  ];
}

/** Related DOIs. A preprint on arXiv is listed with arXiv's DOI or with the arXiv id alone. */
function relatedDois(json: unknown, relation: string, ownIdentifiers: Identifiers): string[] {
  const dois = listFrom(valueAt(json, "relation", relation)).map((item) => {
    const { doi, arxiv } = identifiersFrom({ doi: valueAt(item, "id"), arxiv: valueAt(item, "id") });
    return arxiv === undefined ? doi : `10.48550/arxiv.${withoutVersion(arxiv).toLowerCase()}`;
  });
  return [...new Set(dois.filter((doi) => doi !== undefined && doi !== ownIdentifiers.doi))] as string[];
}
