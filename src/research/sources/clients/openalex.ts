import { askJson, gather, type Page, pageOf, unlikeAnswer } from "../shared/ask-service.js";
import { inBatches, lookUpIn } from "../shared/lookup-batches.js";
import { at, count, day, line, lines, list, webAddress } from "../../../engine/lib/json-fields.js";
import type { Identifiers, PaperRecord, Update } from "../../papers/paper-record.js";
import { abstractText, plainText } from "../shared/markup-to-text.js";
import { identifiersFrom, inPath, nameOf, paperRecord, unversioned } from "../../papers/identifiers.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { termsOf } from "../shared/query-terms.js";
import type { Request } from "../../../net/http.js";

const maxPage = 100;
/** Without a cursor no page reaches further. */
const furthest = 10_000;
const maxAnswer = 40 * 1024 * 1024;

/** What is asked for of a work; a whole one is twenty times as long. */
const fields =
  "id,doi,ids,title,display_name,publication_date,publication_year,type,primary_location,best_oa_location,locations,biblio,authorships,cited_by_count,is_retracted,abstract_inverted_index";

export const openAlex: Source = {
  name: "OpenAlex",
  aliases: ["openalex", "open alex", "openalex.org"],
  endpoint: "https://api.openalex.org",
  keyVariable: "OPENALEX_API_KEY",
  pageMeansUnknown: true,
  search: searchOpenAlex,
  lookup: async (works, context) =>
    // One work each: single works are free, and a filter by DOI is charged.
    await lookUpIn(
      "OpenAlex",
      inBatches(
        works.filter((work) => pathOf(work) !== undefined),
        1,
      ),
      ([work]) => single(work ?? {}, context),
    ),
  references: referencesOf,
  citations: citationsOf,
};

function requestOf(path: string, context: SourceContext): Request {
  const secret = context.key === undefined ? {} : { secret: { query: { api_key: context.key } } };
  return { url: `${context.endpoint}${path}`, limit: maxAnswer, ...secret };
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

/** Works of a list. Cursors need a key since October 2026; without one pages are numbered. */
async function listWorks(
  parameters: string,
  most: number,
  context: SourceContext,
  nothing: string,
): Promise<Answer<readonly PaperRecord[]>> {
  const size = Math.max(1, Math.min(most, maxPage));
  const first = context.key === undefined || most <= maxPage ? "page=1" : "cursor=*";
  return await gather<string>(
    most,
    first,
    async (page) => {
      const answer = await askJson(
        openAlex,
        context,
        requestOf(`/works?${parameters}&per_page=${size}&${page}&select=${fields}`, context),
      );
      return answer.status === "ok" ? readList(answer.value, page, size) : answer;
    },
    nothing,
  );
}

function readList(json: unknown, page: string, size: number): Answer<Page<string>> {
  const results = at(json, "results");
  if (!Array.isArray(results)) return unlikeAnswer(openAlex, json, "contains no list of works");
  const cursor = line(at(json, "meta", "next_cursor"));
  const number = Number(/^page=(\d+)$/.exec(page)?.[1] ?? 0);
  const numbered =
    number > 0 && results.length >= size && (number + 1) * size <= furthest ? `page=${number + 1}` : undefined;
  const next =
    results.length === 0 ? undefined : cursor === undefined ? numbered : `cursor=${encodeURIComponent(cursor)}`;
  const total = count(at(json, "meta", "count"));
  return pageOf(results, readWork, { total, next });
}

const pathOf = ({ openalex, doi, arxiv, pmid }: Identifiers): string | undefined => {
  if (openalex !== undefined) return openalex;
  if (doi !== undefined) return `doi:${inPath(doi)}`;
  if (arxiv !== undefined) return `doi:10.48550/arxiv.${inPath(unversioned(arxiv))}`;
  return pmid === undefined ? undefined : `pmid:${pmid}`;
};

async function single(work: Identifiers, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const answer = await askWork(work, context, fields);
  if (answer.status !== "ok") return answer;
  const record = readWork(answer.value);
  if (record !== undefined) return { status: "ok", value: [record], unknown: [] };
  return at(answer.value, "id") === undefined
    ? unlikeAnswer(openAlex, answer.value, "is not a work")
    : { status: "empty", reason: `OpenAlex has no title for ${nameOf(work)}.` };
}

/** Its 404 is an HTML page. */
const askWork = async (work: Identifiers, context: SourceContext, select: string): Promise<Answer<unknown>> =>
  await askJson(
    openAlex,
    context,
    requestOf(`/works/${pathOf(work)}?select=${select}`, context),
    `OpenAlex does not know ${nameOf(work)}.`,
  );

async function referencesOf(
  work: Identifiers,
  most: number,
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  if (pathOf(work) === undefined) return notAsked(work);
  const answer = await askWork(work, context, "id,referenced_works");
  if (answer.status !== "ok") return answer;
  if (at(answer.value, "id") === undefined) return unlikeAnswer(openAlex, answer.value, "is not a work");
  const ids = lines(at(answer.value, "referenced_works"))
    .map((id) => identifiersFrom({ openalex: id }).openalex)
    .filter((id) => id !== undefined);
  const nothing = `OpenAlex knows no references of ${nameOf(work)}.`;
  const batches = inBatches(
    ids.slice(0, most).map((openalex) => ({ openalex })),
    maxPage,
  );
  if (ids.length === 0) return { status: "empty", reason: nothing };
  return await lookUpIn("OpenAlex", batches, (batch) =>
    listWorks(`filter=openalex:${batch.map(({ openalex }) => openalex).join("|")}`, batch.length, context, nothing),
  );
}

async function citationsOf(
  work: Identifiers,
  most: number,
  context: SourceContext,
  from?: string,
): Promise<Answer<readonly PaperRecord[]>> {
  if (pathOf(work) === undefined) return notAsked(work);
  let id = work.openalex;
  if (id === undefined) {
    const answer = await askWork(work, context, "id");
    if (answer.status !== "ok") return answer;
    id = identifiersFrom({ openalex: at(answer.value, "id") }).openalex;
    if (id === undefined) return unlikeAnswer(openAlex, answer.value, "is not a work");
  }
  return await listWorks(
    from === undefined
      ? `filter=cites:${id}&sort=cited_by_count:desc`
      : `filter=cites:${id},from_publication_date:${from}&sort=publication_date:desc`,
    most,
    context,
    `OpenAlex knows nothing that cites ${nameOf(work)}.`,
  );
}

const notAsked = (work: Identifiers): Answer<never> => ({
  status: "error",
  reason: `OpenAlex can't be asked for ${nameOf(work)}; give its DOI, arXiv id or PMID.`,
});

/** Reads a work of OpenAlex's, as a list or a single answer gives it. */
export function readWork(json: unknown): PaperRecord | undefined {
  const locations = [at(json, "best_oa_location"), at(json, "primary_location"), ...list(at(json, "locations"))];
  const pages = locations
    .map((location) => webAddress(at(location, "landing_page_url")))
    .filter((page) => page !== undefined);
  const own = identifiersFrom({
    openalex: at(json, "id"),
    doi: at(json, "doi") ?? at(json, "ids", "doi"),
    pmid: at(json, "ids", "pmid"),
    pmcid:
      at(json, "ids", "pmcid") ??
      pages.find((page) => /\/pmc\/articles\/(?:PMC)?\d+\/?$|pmc\.ncbi\.nlm\.nih\.gov\/articles\//i.test(page)),
    arxiv: pages.find((page) => /arxiv\.org\/abs\//.test(page)),
  });
  const kind = kindOf(json);
  return paperRecord({
    source: "OpenAlex",
    title: plainText(at(json, "title") ?? at(json, "display_name")),
    identifiers: own,
    url: own.doi === undefined && own.arxiv === undefined ? pages[0] : undefined,
    pdf: locations
      .map((location) => (at(location, "is_oa") === false ? undefined : webAddress(at(location, "pdf_url"))))
      .find((pdf) => pdf !== undefined),
    authors: lines(
      list(at(json, "authorships")).map(
        (authorship) => line(at(authorship, "author", "display_name")) ?? at(authorship, "raw_author_name"),
      ),
    ),
    date: dateOf(json),
    abstract: abstractOf(at(json, "abstract_inverted_index")),
    kind,
    publicationType: line(at(json, "type")),
    venue: line(at(json, "primary_location", "source", "display_name")),
    volume: at(json, "biblio", "volume"),
    issue: at(json, "biblio", "issue"),
    pages: pagesOf(at(json, "biblio")),
    citations: count(at(json, "cited_by_count")),
    copies: copiesOf(locations),
    // The notice of a retraction carries the mark too.
    updates:
      at(json, "is_retracted") === true && kind !== "notice"
        ? [{ type: "retraction", source: "OpenAlex" } satisfies Update]
        : [],
    otherVersions: otherVersionsOf(list(at(json, "locations")), own),
  });
}

/** "12-19"; "12" where the last page is not known, or the first is a number of its own, such as e1002. */
function pagesOf(biblio: unknown): string | undefined {
  const [first, last] = [line(at(biblio, "first_page")), line(at(biblio, "last_page"))];
  return first === undefined || last === undefined || first === last ? first : `${first}-${last}`;
}

/** The first of January is what OpenAlex writes where it knows the year alone, as with most of arXiv. */
function dateOf(json: unknown): string | undefined {
  const date = day(at(json, "publication_date")) ?? day(at(json, "publication_year"));
  return date?.endsWith("-01-01") === true ? date.slice(0, 4) : date;
}

function kindOf(json: unknown): PaperRecord["kind"] {
  const type = line(at(json, "type"));
  if (type === undefined) return undefined;
  if (type === "preprint" || type === "review") return type;
  if (/^(?:retraction|erratum|editorial)$/.test(type)) return "notice";
  const isRepository =
    at(json, "primary_location", "source", "type") === "repository" &&
    at(json, "primary_location", "version") === "submittedVersion";
  if (isRepository) return "preprint";
  return /^(?:article|book|book-chapter|dissertation|letter|report|book-section)$/.test(type) ? "published" : "other";
}

/** Most words of an abstract that are put together; the positions of a broken one reach to billions. */
const maxWords = 20_000;

/** The text of an index of words to their positions. */
export function abstractOf(given: unknown): string | undefined {
  // As Microsoft Academic kept it, from which OpenAlex took it over.
  const index = at(given, "InvertedIndex") ?? given;
  if (typeof index !== "object" || index === null || Array.isArray(index)) return undefined;
  const words: { word: string; position: number }[] = [];
  for (const [word, positions] of Object.entries(index))
    for (const position of list(positions))
      if (count(position) !== undefined && words.length < maxWords) words.push({ word, position: position as number });
  return abstractText(
    words
      .sort((a, b) => Number(a.position) - Number(b.position))
      .map(({ word }) => word)
      .join(" "),
  );
}

function copiesOf(locations: readonly unknown[]): NonNullable<PaperRecord["copies"]> {
  return locations
    .filter((location) => at(location, "is_oa") === true)
    .flatMap((location) => {
      const license = line(at(location, "license"));
      const pdf = webAddress(at(location, "pdf_url"));
      const page = webAddress(at(location, "landing_page_url"));
      const terms = license === undefined ? {} : { license };
      return [
        ...(pdf === undefined ? [] : [{ url: pdf, kind: "pdf" as const, ...terms }]),
        ...(page === undefined ? [] : [{ url: page, kind: "landing" as const, ...terms }]),
      ];
    });
}

/** A location under another DOI is another version of the same work; OpenAlex says which by `version`. */
function otherVersionsOf(locations: readonly unknown[], own: Identifiers): NonNullable<PaperRecord["otherVersions"]> {
  return locations.flatMap((location): NonNullable<PaperRecord["otherVersions"]> => {
    const { doi } = identifiersFrom({ doi: at(location, "landing_page_url") });
    const version = at(location, "version");
    if (doi === undefined || doi === own.doi || own.doi === undefined) return [];
    if (version === "publishedVersion") return [{ relation: "published", doi }];
    return version === "submittedVersion" ? [{ relation: "preprint", doi }] : [];
  });
}
