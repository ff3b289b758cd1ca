import { askJson, gather, pageOf, type Page, unlikeAnswer } from "../shared/ask-service.js";
import { inBatches, lookUpIn } from "../shared/lookup-batches.js";
import { at, count, dayOf, day, line, list, webAddress } from "../../../engine/lib/json-fields.js";
import { authorsOf } from "../../papers/authors.js";
import type { Identifiers, PaperRecord, Update, TitledPaper } from "../../papers/paper-record.js";
import { abstractText, plainText } from "../shared/markup-to-text.js";
import { identifiersFrom, paperRecord, unversioned } from "../../papers/identifiers.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { plainTerms } from "../shared/query-terms.js";
import type { Request } from "../../../net/http.js";
import { isTitle } from "../../papers/dedup/title-match.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

const maxPage = 500;
const maxAnswer = 40 * 1024 * 1024;
/** Of a search by title; the right work is among the first or not there. */
const minTitleResults = 5;
const fields =
  "DOI,title,author,issued,published,posted,abstract,type,link,license,relation,container-title,volume,issue,page,article-number,is-referenced-by-count,updated-by,update-to";

export const crossref = {
  name: "Crossref",
  aliases: ["crossref", "cross ref", "crossref.org"],
  endpoint: "https://api.crossref.org",
  search: searchCrossref,
  match: matchTitle,
  lookup: async (works, context) =>
    await lookUpIn("Crossref", inBatches(works.filter(isCrossrefs), 1), ([work]) => single(work?.doi ?? "", context)),
} satisfies Source;

/** DOIs of arXiv's (10.48550/…) are DataCite's; the identifiers of a work name them as arXiv ids. */
const isCrossrefs = ({ doi }: Identifiers): boolean => doi !== undefined;

/** The contact asks for the polite pool; it is a person's address, and goes where keys go, not into the log. */
const requestOf = (path: string, { endpoint, contact }: SourceContext): Request => ({
  url: `${endpoint}${path}`,
  limit: maxAnswer,
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
  const rows = Math.max(1, Math.min(query.most, maxPage));
  return await gather<string>(
    query.most,
    "*",
    async (cursor) => {
      const path = `/works?query.bibliographic=${encodeURIComponent(terms)}${filter}&rows=${rows}&cursor=${encodeURIComponent(cursor)}&select=${fields}`;
      const answer = await askJson(crossref, context, requestOf(path, context));
      return answer.status === "ok" ? readList(answer.value, rows) : answer;
    },
    `Crossref has no results for '${terms}' in this period.`,
  );
}

function readList(json: unknown, rows: number): Answer<Page<string>> {
  const items = at(json, "message", "items");
  if (!Array.isArray(items)) return unlikeAnswer(crossref, json, "contains no list of works");
  const next = items.length < rows ? undefined : line(at(json, "message", "next-cursor"));
  const total = count(at(json, "message", "total-results"));
  return pageOf(items, readWork, { total, next });
}

/** A search by title always finds something: only a title that agrees is a match. */
async function matchTitle(
  { title, authors }: TitledPaper,
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  const terms = plainTerms(`${plainTerms(title)} ${authorsOf(authors).slice(0, 3).join(" ")}`);
  const answer = await askJson(
    crossref,
    context,
    requestOf(
      `/works?query.bibliographic=${encodeURIComponent(terms)}&rows=${minTitleResults}&select=${fields}`,
      context,
    ),
  );
  if (answer.status !== "ok") return answer;
  const page = readList(answer.value, minTitleResults);
  if (page.status !== "ok") return page;
  const found = page.value.records.find((record) => isTitle(title, record.title));
  return found === undefined
    ? { status: "empty", reason: `Crossref has no work titled '${title}'.` }
    : { status: "ok", value: [found] };
}

async function single(doi: string, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const unknown = `Crossref does not know the DOI ${doi}.`;
  // Its 404 is plain text, whatever type it is sent under.
  const answer = await askJson(crossref, context, requestOf(`/works/${encodeURIComponent(doi)}`, context), unknown);
  if (answer.status !== "ok") return answer;
  return readSingle(answer.value, doi);
}

/** Reads the answer to a question for one work. */
export function readSingle(json: unknown, doi: string): Answer<readonly PaperRecord[]> {
  const message = at(json, "message");
  // Every work has its DOI; a list of works has none.
  if (line(at(message, "DOI")) === undefined) return unlikeAnswer(crossref, json, "is not a work");
  const record = readWork(message, doi);
  return record === undefined
    ? { status: "empty", reason: `Crossref has no title for the DOI ${doi}.` }
    : { status: "ok", value: [record], unknown: [] };
}

/** Reads a work. `doi`: what it was asked by, where it does not say its DOI itself. */
export function readWork(json: unknown, doi?: string): PaperRecord | undefined {
  const identifiers = identifiersFrom({ doi: line(at(json, "DOI")) ?? doi });
  const title = plainText(list(at(json, "title"))[0]);
  const licenses = list(at(json, "license")).map((license) => webAddress(at(license, "URL")));
  const open = licenses.find((license) => license !== undefined && /creativecommons\.org/.test(license));
  const pdf = pdfOf(list(at(json, "link")));
  const notices = list(at(json, "update-to"));
  return paperRecord({
    source: "Crossref",
    title,
    identifiers,
    pdf,
    authors: list(at(json, "author"))
      .map(authorOf)
      .filter((name) => name !== undefined),
    date: dateOf(json),
    abstract: abstractText(at(json, "abstract")),
    kind: kindOf(line(at(json, "type")), line(at(json, "subtype")), notices),
    publicationType: line(at(json, "type")),
    license: open ?? licenses.find((license) => license !== undefined),
    venue: plainText(list(at(json, "container-title"))[0]),
    volume: at(json, "volume"),
    issue: at(json, "issue"),
    pages: at(json, "page") ?? at(json, "article-number"),
    citations: count(at(json, "is-referenced-by-count")),
    copies: pdf === undefined || open === undefined ? [] : [{ url: pdf, kind: "pdf", license: open }],
    updates: list(at(json, "updated-by")).flatMap(updateOf),
    otherVersions: [
      ...relatedDois(json, "has-preprint", identifiers).map((each) => ({ relation: "preprint" as const, doi: each })),
      ...relatedDois(json, "is-preprint-of", identifiers).map((each) => ({
        relation: "published" as const,
        doi: each,
      })),
    ],
  });
}

function pdfOf(links: readonly unknown[]): string | undefined {
  const pdfs = links.filter((link) => line(at(link, "content-type"))?.toLowerCase() === "application/pdf");
  // Those for similarity checking are shown to Crossref's own service alone.
  const forAll = pdfs.find((link) => at(link, "intended-application") !== "similarity-checking");
  return webAddress(at(forAll ?? pdfs[0], "URL"));
}

/** A person, or a group under `name`. */
const authorOf = (author: unknown): string | undefined =>
  plainText([line(at(author, "given")), line(at(author, "family"))].filter((part) => part !== undefined).join(" ")) ??
  plainText(at(author, "name") ?? at(author, "literal"));

/** The earliest date of publication; its parts may be null. */
function dateOf(json: unknown): string | undefined {
  const dates = ["issued", "published", "posted"].map((name) => dayOf(list(at(json, name, "date-parts", 0))));
  return dates.find((date) => date !== undefined);
}

function kindOf(
  type: string | undefined,
  subtype: string | undefined,
  notices: readonly unknown[],
): PaperRecord["kind"] {
  if (type === "posted-content" || subtype === "preprint") return "preprint";
  // A new version of a work updates it too, and is not a notice.
  if (notices.some((notice) => !/new_?\s?(?:version|edition)/i.test(line(at(notice, "type")) ?? ""))) return "notice";
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

/** One notice about the work: what it is, who says so (the publisher, Retraction Watch), when, and where it stands. */
function updateOf(json: unknown): readonly Update[] {
  const kind =
    line(at(json, "type"))
      ?.toLowerCase()
      .replace(/[\s-]+/g, "_") ?? "";
  const type = updateTypes.find(([pattern]) => pattern.test(kind))?.[1];
  if (type === undefined) return [];
  const date = dayOf(list(at(json, "updated", "date-parts", 0))) ?? day(at(json, "updated", "date-time"));
  const source = line(at(json, "source"));
  const { doi } = identifiersFrom({ doi: at(json, "DOI") });
  return [
    {
      type,
      source: source === undefined ? "Crossref" : `Crossref (${source})`,
      ...withoutUndefined({ date, notice: doi }),
    },
  ];
}

/** Preprints on arXiv stand under arXiv's own DOI or their bare id. */
function relatedDois(json: unknown, relation: string, own: Identifiers): string[] {
  const dois = list(at(json, "relation", relation)).map((each) => {
    const { doi, arxiv } = identifiersFrom({ doi: at(each, "id"), arxiv: at(each, "id") });
    return arxiv === undefined ? doi : `10.48550/arxiv.${unversioned(arxiv).toLowerCase()}`;
  });
  return [...new Set(dois.filter((doi) => doi !== undefined && doi !== own.doi))] as string[];
}
