import { askJson, collectPages, type Page, unexpectedAnswer } from "../shared/ask-service.js";
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
import type { Identifiers, PaperRecord, TitledPaper } from "../../papers/paper-record.js";
import { abstractText, plainText } from "../shared/markup-to-text.js";
import { identifiersFrom, inPath, nameOf, paperRecord, withoutVersion } from "../../papers/identifiers.js";
import { parseReference } from "../../papers/reference.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { plainTerms } from "../shared/query-terms.js";
import type { Request } from "../../../net/http.js";
import { isPreprintDoi } from "../../papers/dedup/match-features.js";
import { isSearchedTitle } from "../../papers/dedup/title-match.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/**
 * The search by relevance returns at most 999 results, 100 per page. The bulk search returns 1,000 per page without
 * such a limit, but not by relevance.
 */
const searchPageSize = 100;
const maxRankedResults = 999;
const linksPageSize = 500;
/** For references and citations, `offset` plus `limit` must not exceed this. */
const maxLinks = 9_999;
const maxBatch = 500;
const maxAnswerBytes = 40 * 1024 * 1024;
const selectedFields =
  "title,abstract,authors,year,publicationDate,publicationTypes,venue,journal,externalIds,citationCount,openAccessPdf";

export const semanticScholar: Source = {
  name: "Semantic Scholar",
  aliases: ["semanticscholar", "semantic scholar", "s2", "semanticscholar.org", "semantic-scholar"],
  endpoint: "https://api.semanticscholar.org/graph/v1",
  keyVariable: "SEMANTIC_SCHOLAR_API_KEY",
  search: searchPapers,
  match: matchTitle,
  lookup: async (works, context) =>
    await lookUpIn(
      "Semantic Scholar",
      works.filter((work) => paperIdOf(work) !== undefined),
      maxBatch,
      (batch) => lookUpBatch(batch, context),
    ),
  references: (work, most, context) => linkedPapers("references", "citedPaper", work, most, context),
  citations: (work, most, context, from) => linkedPapers("citations", "citingPaper", work, most, context, from),
};

const requestOf = (path: string, context: SourceContext, json?: unknown): Request => ({
  url: `${context.endpoint}${path}`,
  limit: maxAnswerBytes,
  ...withoutUndefined({ json }),
  ...(context.key === undefined ? {} : { secret: { headers: { "x-api-key": context.key } } }),
});

async function searchPapers(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  // Semantic Scholar has no operators, and a word with a hyphen finds nothing.
  const terms = plainTerms(query.terms);
  if (terms === "") return { status: "error", reason: "A search on Semantic Scholar needs a word to search for." };
  const period =
    query.from === undefined && query.until === undefined
      ? ""
      : `&publicationDateOrYear=${query.from ?? ""}:${query.until ?? ""}`;
  const parameters = `query=${encodeURIComponent(terms)}&fields=${selectedFields}${period}`;
  const emptyReason = `Semantic Scholar has no results for '${terms}' in this period.`;
  if (query.most > maxRankedResults)
    return await collectPages<string>(
      query.most,
      "",
      async (token) => {
        const answer = await askJson(
          semanticScholar,
          context,
          requestOf(
            `/paper/search/bulk?${parameters}${token === "" ? "" : `&token=${encodeURIComponent(token)}`}`,
            context,
          ),
        );
        return answer.status === "ok" ? readPage(answer.value, lineFrom(valueAt(answer.value, "token"))) : answer;
      },
      emptyReason,
    );
  return await collectPages<number>(
    query.most,
    0,
    async (offset) => {
      const limit = Math.min(searchPageSize, maxRankedResults - offset, query.most - offset);
      const answer = await askJson(
        semanticScholar,
        context,
        requestOf(`/paper/search?${parameters}&offset=${offset}&limit=${limit}`, context),
      );
      if (answer.status !== "ok") return answer;
      const next = countFrom(valueAt(answer.value, "next"));
      const hasNext = next !== undefined && next > offset && next < Math.min(maxRankedResults, query.most);
      return readPage(answer.value, hasNext ? next : undefined);
    },
    emptyReason,
  );
}

/** Reads a page of papers. A page without papers has no `data`. */
function readPage<Cursor>(json: unknown, next: Cursor | undefined, paperField?: string): Answer<Page<Cursor>> {
  const data = valueAt(json, "data");
  const isEmpty =
    data === undefined && (countFrom(valueAt(json, "total")) === 0 || countFrom(valueAt(json, "offset")) !== undefined);
  if (!Array.isArray(data) && !isEmpty) return unexpectedAnswer(semanticScholar, json, "contains no list of papers");
  const records = listFrom(data)
    .map((entry) => readPaper(paperField === undefined ? entry : valueAt(entry, paperField)))
    .filter((record) => record !== undefined);
  const total = countFrom(valueAt(json, "total"));
  return { status: "ok", value: { records, ...withoutUndefined({ total, next }) } };
}

async function matchTitle({ title }: TitledPaper, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const emptyReason = `Semantic Scholar has no paper titled '${title}'.`;
  const answer = await askJson(
    semanticScholar,
    context,
    requestOf(`/paper/search/match?query=${encodeURIComponent(plainTerms(title))}&fields=${selectedFields}`, context),
    emptyReason,
  );
  if (answer.status !== "ok") return answer;
  const data = valueAt(answer.value, "data");
  if (/title match not found/i.test(lineFrom(valueAt(answer.value, "error")) ?? ""))
    return { status: "empty", reason: emptyReason };
  if (!Array.isArray(data)) return unexpectedAnswer(semanticScholar, answer.value, "contains no match");
  // The service returns the nearest title, even if it is very different.
  const matches = data.map(readPaper).filter((record) => record !== undefined && isSearchedTitle(title, record.title));
  return matches[0] === undefined ? { status: "empty", reason: emptyReason } : { status: "ok", value: [matches[0]] };
}

function paperIdOf({ s2, doi, arxiv, pmid, pmcid }: Identifiers): string | undefined {
  if (s2 !== undefined) return s2;
  if (arxiv !== undefined) return `ARXIV:${withoutVersion(arxiv)}`;
  if (doi !== undefined) return `DOI:${doi}`;
  if (pmid !== undefined) return `PMID:${pmid}`;
  return pmcid === undefined ? undefined : `PMCID:${pmcid.slice(3)}`;
}

async function lookUpBatch(
  batch: readonly Identifiers[],
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  const answer = await askJson(
    semanticScholar,
    context,
    requestOf(`/paper/batch?fields=${selectedFields}`, context, { ids: batch.map(paperIdOf) }),
  );
  if (answer.status === "error" && /no valid paper ids/i.test(answer.reason))
    return { status: "empty", reason: answer.reason };
  if (answer.status !== "ok") return answer;
  // The answer has one entry for each id, in the same order, and does not repeat the ids.
  const papers: unknown = answer.value;
  if (!Array.isArray(papers) || papers.length !== batch.length)
    return unexpectedAnswer(semanticScholar, papers, "to a batch has another length than the batch");
  const records = papers.map((paper) => (paper === null ? undefined : readPaper(paper)));
  const unchecked = batch.filter((_, index) => papers[index] !== null && records[index] === undefined);
  return {
    status: "ok",
    value: records.filter((record) => record !== undefined),
    unknown: batch.filter((_, index) => papers[index] === null),
    // The service knows these works, but their records could not be read.
    ...(unchecked.length === 0 ? {} : { unchecked }),
  };
}

/**
 * The references or citations of a work. If `from` (YYYY-MM-DD) is given, all pages are requested, and works with an
 * older date are removed.
 */
async function linkedPapers(
  link: string,
  paperField: string,
  work: Identifiers,
  maxRecords: number,
  context: SourceContext,
  from?: string,
): Promise<Answer<readonly PaperRecord[]>> {
  const name = paperIdOf(work);
  if (name === undefined)
    return {
      status: "error",
      reason: `Semantic Scholar can't be asked for ${nameOf(work)}; give its DOI, arXiv id or PMID.`,
    };
  const unknownReason = `Semantic Scholar does not know ${nameOf(work)}.`;
  return await collectPages<number>(
    maxRecords,
    0,
    async (offset, recordCount) => {
      const pageSize = from === undefined ? Math.max(maxRecords - recordCount, 1) : linksPageSize;
      const limit = Math.min(linksPageSize, maxLinks - offset, pageSize);
      // If the service ignores this parameter, it returns all works.
      const period = from === undefined ? "" : `&publicationDateOrYear=${from}:`;
      const path = `/paper/${inPath(name)}/${link}?fields=${selectedFields}${period}&offset=${offset}&limit=${limit}`;
      const answer = await askJson(semanticScholar, context, requestOf(path, context), unknownReason);
      if (answer.status !== "ok") return answer;
      // The publisher does not allow others to show the list of this work. The status is `empty`, because after a
      // refusal the whole service would count as blocked.
      if (valueAt(answer.value, "data") === null)
        return {
          status: "empty",
          reason: `Semantic Scholar may not show the ${link} of ${nameOf(work)}, because the publisher does not allow it.`,
        };
      const next = countFrom(valueAt(answer.value, "next"));
      const hasMore = next !== undefined && next > offset;
      const page = readPage(answer.value, hasMore && next < maxLinks ? next : undefined, paperField);
      if (from === undefined || page.status !== "ok") return page;
      // A date may be only a year or a month, so it is compared with the same part of `from`.
      const isInPeriod = ({ date }: PaperRecord) => date == null || date >= from.slice(0, date.length);
      return {
        ...page,
        value: { ...page.value, records: page.value.records.filter(isInPeriod) },
        ...(hasMore && next >= maxLinks
          ? { incomplete: `Semantic Scholar lists only the first ${maxLinks} ${link} of ${nameOf(work)}.` }
          : {}),
      };
    },
    `Semantic Scholar knows no ${link} of ${nameOf(work)}${from === undefined ? "" : ` since ${from}`}.`,
  );
}

/** Reads a paper. A reference without `paperId` has only a title; it can't be followed and is left out. */
export function readPaper(json: unknown): PaperRecord | undefined {
  const ids = valueAt(json, "externalIds");
  const identifiers = identifiersFrom({
    s2: valueAt(json, "paperId"),
    doi: valueAt(ids, "DOI"),
    arxiv: valueAt(ids, "ArXiv"),
    pmid: valueAt(ids, "PubMed"),
    pmcid: valueAt(ids, "PubMedCentral"),
  });
  const copy = webAddressFrom(valueAt(json, "openAccessPdf", "url"));
  const license = lineFrom(valueAt(json, "openAccessPdf", "license"));
  // Many of these "PDF" addresses lead to the publisher's page.
  const isPage = copy !== undefined && (parseReference(copy).kind === "doi" || /arxiv\.org\/abs\//.test(copy));
  const venue = lineFrom(valueAt(json, "venue")) ?? lineFrom(valueAt(json, "journal", "name"));
  const types = linesFrom(valueAt(json, "publicationTypes"));
  return paperRecord({
    source: "Semantic Scholar",
    title: plainText(valueAt(json, "title")),
    identifiers,
    pdf: isPage ? undefined : copy,
    authors: linesFrom(listFrom(valueAt(json, "authors")).map((author) => valueAt(author, "name"))),
    date: dateFrom(valueAt(json, "publicationDate")) ?? dateFrom(valueAt(json, "year")),
    abstract: abstractText(valueAt(json, "abstract")),
    kind: kindOf(types, venue, identifiers.doi),
    publicationType: types.length === 0 ? undefined : types.join(", "),
    venue,
    volume: valueAt(json, "journal", "volume"),
    pages: valueAt(json, "journal", "pages"),
    citations: countFrom(valueAt(json, "citationCount")),
    copies:
      copy === undefined ? [] : [{ url: copy, kind: isPage ? "landing" : "pdf", ...withoutUndefined({ license }) }],
  });
}

function kindOf(types: readonly string[], venue: string | undefined, doi: string | undefined): PaperRecord["kind"] {
  // Semantic Scholar often gives the venue of the preprint also after a paper was published under another DOI.
  const isServer =
    /^(?:arxiv(?:\.org)?|biorxiv|medrxiv|chemrxiv|research square|social science research network)\b/i.test(
      venue ?? "",
    );
  if (isServer && (doi === undefined || isPreprintDoi(doi))) return "preprint";
  if (types.includes("Review")) return "review";
  if (types.includes("Editorial") || types.includes("News")) return "notice";
  if (
    types.some((type) =>
      /^(?:JournalArticle|Conference|Book|BookSection|ClinicalTrial|CaseReport|Study|MetaAnalysis)$/.test(type),
    )
  )
    return "published";
  return types.length === 0 ? undefined : "other";
}
