import { askJson, collectPages, type Page, pageOf, unexpectedAnswer } from "../shared/ask-service.js";
import { lookUpIn } from "../shared/lookup-batches.js";
import {
  valueAt,
  countFrom,
  dateFrom,
  lineFrom,
  linesFrom,
  listFrom,
  webAddressFrom,
} from "../../../engine/lib/json-fields.js";
import { textOfIndex } from "../../papers/records/json-row.js";
import type { Identifiers, PaperRecord, Update } from "../../papers/paper-record.js";
import { abstractText, plainText } from "../shared/markup-to-text.js";
import { identifiersFrom, inPath, nameOf, paperRecord, withoutVersion } from "../../papers/identifiers.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { termsOf } from "../shared/query-terms.js";
import type { Request } from "../../../net/http.js";

const maxPageSize = 100;
/** One work per request: requests for single works are free, but a filter by DOI costs money. */
const maxBatch = 1;
/** Page numbers work only up to this many results; beyond that a cursor is needed. */
const maxNumberedResults = 10_000;
const maxAnswerBytes = 40 * 1024 * 1024;

/** The requested fields of a work; the complete record is twenty times as long. */
const selectedFields =
  "id,doi,ids,title,display_name,publication_date,publication_year,type,primary_location,best_oa_location,locations,biblio,authorships,cited_by_count,is_retracted,abstract_inverted_index";

export const openAlex: Source = {
  name: "OpenAlex",
  aliases: ["openalex", "open alex", "openalex.org"],
  endpoint: "https://api.openalex.org",
  keyVariable: "OPENALEX_API_KEY",
  pageMeansUnknown: true,
  search: searchOpenAlex,
  lookup: async (works, context) =>
    await lookUpIn(
      "OpenAlex",
      works.filter((work) => pathOf(work) !== undefined),
      maxBatch,
      ([work]) => lookUpWork(work ?? {}, context),
    ),
  references: referencesOf,
  citations: citationsOf,
};

function requestOf(path: string, context: SourceContext): Request {
  const secret = context.key === undefined ? {} : { secret: { query: { api_key: context.key } } };
  return { url: `${context.endpoint}${path}`, limit: maxAnswerBytes, ...secret };
}

async function searchOpenAlex(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const words = termsOf(query.terms).map(({ text, isPhrase }) => (isPhrase ? `"${text}"` : text));
  if (words.length === 0) return { status: "error", reason: "A search on OpenAlex needs a word to search for." };
  const filters = [
    ...(query.from === undefined ? [] : [`from_publication_date:${query.from}`]),
    ...(query.until === undefined ? [] : [`to_publication_date:${query.until}`]),
  ];
  const parameters = `search=${encodeURIComponent(words.join(" "))}${filters.length === 0 ? "" : `&filter=${filters.join(",")}`}`;
  return await listWorks(
    parameters,
    query.most,
    context,
    `OpenAlex has no results for '${query.terms}' in this period.`,
  );
}

/** Requests the works of a list. Since October 2026 cursors need a key; without a key, page numbers are used. */
async function listWorks(
  parameters: string,
  maxRecords: number,
  context: SourceContext,
  emptyReason: string,
): Promise<Answer<readonly PaperRecord[]>> {
  const pageSize = Math.max(1, Math.min(maxRecords, maxPageSize));
  const firstPage = context.key === undefined || maxRecords <= maxPageSize ? "page=1" : "cursor=*";
  return await collectPages<string>(
    maxRecords,
    firstPage,
    async (pageParameter) => {
      const answer = await askJson(
        openAlex,
        context,
        requestOf(`/works?${parameters}&per_page=${pageSize}&${pageParameter}&select=${selectedFields}`, context),
      );
      return answer.status === "ok" ? readList(answer.value, pageParameter, pageSize) : answer;
    },
    emptyReason,
  );
}

/** Reads a page of works. `pageParameter`: the parameter that requested this page, "page=2" or "cursor=…". */
function readList(json: unknown, pageParameter: string, pageSize: number): Answer<Page<string>> {
  const results = valueAt(json, "results");
  if (!Array.isArray(results)) return unexpectedAnswer(openAlex, json, "contains no list of works");
  const cursor = lineFrom(valueAt(json, "meta", "next_cursor"));
  const pageNumber = Number(/^page=(\d+)$/.exec(pageParameter)?.[1] ?? 0);
  const hasNextNumber =
    pageNumber > 0 && results.length >= pageSize && (pageNumber + 1) * pageSize <= maxNumberedResults;
  const nextByNumber = hasNextNumber ? `page=${pageNumber + 1}` : undefined;
  const nextParameter = cursor === undefined ? nextByNumber : `cursor=${encodeURIComponent(cursor)}`;
  const next = results.length === 0 ? undefined : nextParameter;
  const total = countFrom(valueAt(json, "meta", "count"));
  return pageOf(results, readWork, { total, next });
}

const pathOf = ({ openalex, doi, arxiv, pmid }: Identifiers): string | undefined => {
  if (openalex !== undefined) return openalex;
  if (doi !== undefined) return `doi:${inPath(doi)}`;
  if (arxiv !== undefined) return `doi:10.48550/arxiv.${inPath(withoutVersion(arxiv))}`;
  return pmid === undefined ? undefined : `pmid:${pmid}`;
};

async function lookUpWork(work: Identifiers, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const answer = await askWork(work, context, selectedFields);
  if (answer.status !== "ok") return answer;
  const record = readWork(answer.value);
  if (record !== undefined) return { status: "ok", value: [record], unknown: [] };
  return valueAt(answer.value, "id") === undefined
    ? unexpectedAnswer(openAlex, answer.value, "is not a work")
    : { status: "empty", reason: `OpenAlex has no title for ${nameOf(work)}.` };
}

/** Requests one work. OpenAlex's 404 is an HTML page. */
const askWork = async (work: Identifiers, context: SourceContext, select: string): Promise<Answer<unknown>> =>
  await askJson(
    openAlex,
    context,
    requestOf(`/works/${pathOf(work)}?select=${select}`, context),
    `OpenAlex does not know ${nameOf(work)}.`,
  );

async function referencesOf(
  work: Identifiers,
  maxRecords: number,
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  if (pathOf(work) === undefined) return missingIdentifier(work);
  const answer = await askWork(work, context, "id,referenced_works");
  if (answer.status !== "ok") return answer;
  if (valueAt(answer.value, "id") === undefined) return unexpectedAnswer(openAlex, answer.value, "is not a work");
  const ids = linesFrom(valueAt(answer.value, "referenced_works"))
    .map((id) => identifiersFrom({ openalex: id }).openalex)
    .filter((id) => id !== undefined);
  const emptyReason = `OpenAlex knows no references of ${nameOf(work)}.`;
  const works = ids.slice(0, maxRecords).map((openalex) => ({ openalex }));
  if (ids.length === 0) return { status: "empty", reason: emptyReason };
  return await lookUpIn("OpenAlex", works, maxPageSize, (batch) =>
    listWorks(`filter=openalex:${batch.map(({ openalex }) => openalex).join("|")}`, batch.length, context, emptyReason),
  );
}

async function citationsOf(
  work: Identifiers,
  maxRecords: number,
  context: SourceContext,
  from?: string,
): Promise<Answer<readonly PaperRecord[]>> {
  if (pathOf(work) === undefined) return missingIdentifier(work);
  let id = work.openalex;
  if (id === undefined) {
    const answer = await askWork(work, context, "id");
    if (answer.status !== "ok") return answer;
    id = identifiersFrom({ openalex: valueAt(answer.value, "id") }).openalex;
    if (id === undefined) return unexpectedAnswer(openAlex, answer.value, "is not a work");
  }
  return await listWorks(
    from === undefined
      ? `filter=cites:${id}&sort=cited_by_count:desc`
      : `filter=cites:${id},from_publication_date:${from}&sort=publication_date:desc`,
    maxRecords,
    context,
    `OpenAlex knows nothing that cites ${nameOf(work)}.`,
  );
}

const missingIdentifier = (work: Identifiers): Answer<never> => ({
  status: "error",
  reason: `OpenAlex can't be asked for ${nameOf(work)}; give its DOI, arXiv id or PMID.`,
});

/** Reads a work from a list or from a lookup. */
export function readWork(json: unknown): PaperRecord | undefined {
  const locations = [
    valueAt(json, "best_oa_location"),
    valueAt(json, "primary_location"),
    ...listFrom(valueAt(json, "locations")),
  ];
  const pages = locations
    .map((location) => webAddressFrom(valueAt(location, "landing_page_url")))
    .filter((page) => page !== undefined);
  const identifiers = identifiersFrom({
    openalex: valueAt(json, "id"),
    doi: valueAt(json, "doi") ?? valueAt(json, "ids", "doi"),
    pmid: valueAt(json, "ids", "pmid"),
    pmcid:
      valueAt(json, "ids", "pmcid") ??
      pages.find((page) => /\/pmc\/articles\/(?:PMC)?\d+\/?$|pmc\.ncbi\.nlm\.nih\.gov\/articles\//i.test(page)),
    arxiv: pages.find((page) => /arxiv\.org\/abs\//.test(page)),
  });
  const kind = kindOf(json);
  return paperRecord({
    source: "OpenAlex",
    title: plainText(valueAt(json, "title") ?? valueAt(json, "display_name")),
    identifiers,
    url: identifiers.doi === undefined && identifiers.arxiv === undefined ? pages[0] : undefined,
    pdf: locations
      .map((location) =>
        valueAt(location, "is_oa") === false ? undefined : webAddressFrom(valueAt(location, "pdf_url")),
      )
      .find((pdf) => pdf !== undefined),
    authors: linesFrom(
      listFrom(valueAt(json, "authorships")).map(
        (authorship) =>
          lineFrom(valueAt(authorship, "author", "display_name")) ?? valueAt(authorship, "raw_author_name"),
      ),
    ),
    date: dateOf(json),
    abstract: abstractText(textOfIndex(valueAt(json, "abstract_inverted_index"))),
    kind,
    publicationType: lineFrom(valueAt(json, "type")),
    venue: lineFrom(valueAt(json, "primary_location", "source", "display_name")),
    volume: valueAt(json, "biblio", "volume"),
    issue: valueAt(json, "biblio", "issue"),
    pages: pagesOf(valueAt(json, "biblio")),
    citations: countFrom(valueAt(json, "cited_by_count")),
    copies: copiesOf(locations),
    // The notice of a retraction also has `is_retracted`.
    updates:
      valueAt(json, "is_retracted") === true && kind !== "notice"
        ? [{ type: "retraction", source: "OpenAlex" } satisfies Update]
        : [],
    otherVersions: otherVersionsOf(listFrom(valueAt(json, "locations")), identifiers),
  });
}

/** "12-19"; or "12" if the last page is unknown or equal. Article numbers such as e1002 have only a first page. */
function pagesOf(biblio: unknown): string | undefined {
  const [first, last] = [lineFrom(valueAt(biblio, "first_page")), lineFrom(valueAt(biblio, "last_page"))];
  return first === undefined || last === undefined || first === last ? first : `${first}-${last}`;
}

/** If OpenAlex knows only the year, as for most of arXiv, it gives the first of January. Then only the year is kept. */
function dateOf(json: unknown): string | undefined {
  const date = dateFrom(valueAt(json, "publication_date")) ?? dateFrom(valueAt(json, "publication_year"));
  return date?.endsWith("-01-01") === true ? date.slice(0, 4) : date;
}

function kindOf(json: unknown): PaperRecord["kind"] {
  const type = lineFrom(valueAt(json, "type"));
  if (type === undefined) return undefined;
  if (type === "preprint" || type === "review") return type;
  if (/^(?:retraction|erratum|editorial)$/.test(type)) return "notice";
  const isSubmittedVersion =
    valueAt(json, "primary_location", "source", "type") === "repository" &&
    valueAt(json, "primary_location", "version") === "submittedVersion";
  if (isSubmittedVersion) return "preprint";
  return /^(?:article|book|book-chapter|dissertation|letter|report|book-section)$/.test(type) ? "published" : "other";
}

function copiesOf(locations: readonly unknown[]): NonNullable<PaperRecord["copies"]> {
  return locations
    .filter((location) => valueAt(location, "is_oa") === true)
    .flatMap((location) => {
      const license = lineFrom(valueAt(location, "license"));
      const pdf = webAddressFrom(valueAt(location, "pdf_url"));
      const page = webAddressFrom(valueAt(location, "landing_page_url"));
      const licenseField = license === undefined ? {} : { license };
      return [
        ...(pdf === undefined ? [] : [{ url: pdf, kind: "pdf" as const, ...licenseField }]),
        ...(page === undefined ? [] : [{ url: page, kind: "landing" as const, ...licenseField }]),
      ];
    });
}

/** A location with another DOI is another version of the work. `version` says which one. */
function otherVersionsOf(
  locations: readonly unknown[],
  ownIdentifiers: Identifiers,
): NonNullable<PaperRecord["otherVersions"]> {
  return locations.flatMap((location): NonNullable<PaperRecord["otherVersions"]> => {
    const { doi } = identifiersFrom({ doi: valueAt(location, "landing_page_url") });
    const version = valueAt(location, "version");
    if (doi === undefined || doi === ownIdentifiers.doi || ownIdentifiers.doi === undefined) return [];
    if (version === "publishedVersion") return [{ relation: "published", doi }];
    return version === "submittedVersion" ? [{ relation: "preprint", doi }] : [];
  });
}
