import { askJson, gather, type Page, unlikeAnswer } from "../shared/ask-service.js";
import { inBatches, lookUpIn } from "../shared/lookup-batches.js";
import { at, count, day, line, lines, list, webAddress } from "../../../engine/lib/json-fields.js";
import type { Identifiers, PaperRecord, TitledPaper } from "../../papers/paper-record.js";
import { abstractText, plainText } from "../shared/markup-to-text.js";
import { identifiersFrom, inPath, nameOf, paperRecord, unversioned } from "../../papers/identifiers.js";
import { parseReference } from "../../papers/reference.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { plainTerms } from "../shared/query-terms.js";
import type { Request } from "../../../net/http.js";
import { isTitle } from "../../papers/dedup/title-match.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/**
 * A search by relevance ends below 1,000 and gives 100 a page; the bulk search gives 1,000 and goes on, in no order of
 * relevance.
 */
const searchPage = 100;
const searchEnd = 999;
const linksPage = 500;
/** Most that `offset` and `limit` of references and citations may reach together. */
const linksEnd = 9_999;
const maxBatch = 500;
const maxAnswer = 40 * 1024 * 1024;
const fields =
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
      inBatches(
        works.filter((work) => s2Name(work) !== undefined),
        maxBatch,
      ),
      (batch) => lookUpBatch(batch, context),
    ),
  references: (work, most, context) => linked("references", "citedPaper", work, most, context),
  citations: (work, most, context, from) => linked("citations", "citingPaper", work, most, context, from),
};

const requestOf = (path: string, context: SourceContext, json?: unknown): Request => ({
  url: `${context.endpoint}${path}`,
  limit: maxAnswer,
  ...withoutUndefined({ json }),
  ...(context.key === undefined ? {} : { secret: { headers: { "x-api-key": context.key } } }),
});

async function searchPapers(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  // It knows no operators, and a word with a hyphen finds nothing.
  const terms = plainTerms(query.terms);
  if (terms === "") return { status: "error", reason: "A search on Semantic Scholar needs a word to search for." };
  const time =
    query.from === undefined && query.until === undefined
      ? ""
      : `&publicationDateOrYear=${query.from ?? ""}:${query.until ?? ""}`;
  const parameters = `query=${encodeURIComponent(terms)}&fields=${fields}${time}`;
  const nothing = `Semantic Scholar has no results for '${terms}' in this period.`;
  if (query.most > searchEnd)
    return await gather<string>(
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
        return answer.status === "ok" ? readPage(answer.value, line(at(answer.value, "token"))) : answer;
      },
      nothing,
    );
  return await gather<number>(
    query.most,
    0,
    async (offset) => {
      const limit = Math.min(searchPage, searchEnd - offset, query.most - offset);
      const answer = await askJson(
        semanticScholar,
        context,
        requestOf(`/paper/search?${parameters}&offset=${offset}&limit=${limit}`, context),
      );
      if (answer.status !== "ok") return answer;
      const next = count(at(answer.value, "next"));
      return readPage(
        answer.value,
        next !== undefined && next > offset && next < Math.min(searchEnd, query.most) ? next : undefined,
      );
    },
    nothing,
  );
}

/** A page of papers. Without any it has no `data` at all. */
function readPage<Cursor>(json: unknown, next: Cursor | undefined, paper?: string): Answer<Page<Cursor>> {
  const data = at(json, "data");
  const isNone = data === undefined && (count(at(json, "total")) === 0 || count(at(json, "offset")) !== undefined);
  if (!Array.isArray(data) && !isNone) return unlikeAnswer(semanticScholar, json, "contains no list of papers");
  const records = list(data)
    .map((each) => readPaper(paper === undefined ? each : at(each, paper)))
    .filter((record) => record !== undefined);
  const total = count(at(json, "total"));
  return { status: "ok", value: { records, ...withoutUndefined({ total, next }) } };
}

async function matchTitle({ title }: TitledPaper, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const nothing = `Semantic Scholar has no paper titled '${title}'.`;
  const answer = await askJson(
    semanticScholar,
    context,
    requestOf(`/paper/search/match?query=${encodeURIComponent(plainTerms(title))}&fields=${fields}`, context),
    nothing,
  );
  if (answer.status !== "ok") return answer;
  const data = at(answer.value, "data");
  if (/title match not found/i.test(line(at(answer.value, "error")) ?? "")) return { status: "empty", reason: nothing };
  if (!Array.isArray(data)) return unlikeAnswer(semanticScholar, answer.value, "contains no match");
  // The nearest title is answered, however far.
  const found = data.map(readPaper).filter((record) => record !== undefined && isTitle(title, record.title));
  return found[0] === undefined ? { status: "empty", reason: nothing } : { status: "ok", value: [found[0]] };
}

function s2Name({ s2, doi, arxiv, pmid, pmcid }: Identifiers): string | undefined {
  if (s2 !== undefined) return s2;
  if (arxiv !== undefined) return `ARXIV:${unversioned(arxiv)}`;
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
    requestOf(`/paper/batch?fields=${fields}`, context, { ids: batch.map(s2Name) }),
  );
  if (answer.status === "error" && /no valid paper ids/i.test(answer.reason))
    return { status: "empty", reason: answer.reason };
  if (answer.status !== "ok") return answer;
  // The answer names papers by their place alone.
  const papers: unknown = answer.value;
  if (!Array.isArray(papers) || papers.length !== batch.length)
    return unlikeAnswer(semanticScholar, papers, "to a batch has another length than the batch");
  const read = papers.map((paper) => (paper === null ? undefined : readPaper(paper)));
  const unchecked = batch.filter((_, index) => papers[index] !== null && read[index] === undefined);
  return {
    status: "ok",
    value: read.filter((record) => record !== undefined),
    unknown: batch.filter((_, index) => papers[index] === null),
    // It knows them, and tells nothing of them that could be read.
    ...(unchecked.length === 0 ? {} : { unchecked }),
  };
}

/** `from`: what is of an earlier day, as far as its date tells, is left out, and page after page is asked for. */
async function linked(
  link: string,
  paper: string,
  work: Identifiers,
  most: number,
  context: SourceContext,
  from?: string,
): Promise<Answer<readonly PaperRecord[]>> {
  const name = s2Name(work);
  if (name === undefined)
    return {
      status: "error",
      reason: `Semantic Scholar can't be asked for ${nameOf(work)}; give its DOI, arXiv id or PMID.`,
    };
  const unknown = `Semantic Scholar does not know ${nameOf(work)}.`;
  return await gather<number>(
    most,
    0,
    async (offset, had) => {
      const wanted = from === undefined ? Math.max(most - had, 1) : linksPage;
      const limit = Math.min(linksPage, linksEnd - offset, wanted);
      // Where it does not know the range, it answers with all.
      const time = from === undefined ? "" : `&publicationDateOrYear=${from}:`;
      const path = `/paper/${inPath(name)}/${link}?fields=${fields}${time}&offset=${offset}&limit=${limit}`;
      const answer = await askJson(semanticScholar, context, requestOf(path, context), unknown);
      if (answer.status !== "ok") return answer;
      // About this one work: to be refused would count against the whole service.
      if (at(answer.value, "data") === null)
        return {
          status: "empty",
          reason: `Semantic Scholar may not show the ${link} of ${nameOf(work)}: its publisher withholds them.`,
        };
      const next = count(at(answer.value, "next"));
      const isMore = next !== undefined && next > offset;
      const page = readPage(answer.value, isMore && next < linksEnd ? next : undefined, paper);
      if (from === undefined || page.status !== "ok") return page;
      const isIn = ({ date }: PaperRecord) => date == null || date >= from.slice(0, date.length);
      return {
        ...page,
        value: { ...page.value, records: page.value.records.filter(isIn) },
        ...(isMore && next >= linksEnd
          ? { incomplete: `Semantic Scholar lists the first ${linksEnd} ${link} of ${nameOf(work)} alone.` }
          : {}),
      };
    },
    `Semantic Scholar knows no ${link} of ${nameOf(work)}${from === undefined ? "" : ` since ${from}`}.`,
  );
}

/** Reads a paper. A reference that is known by its title alone (`paperId: null`) leads nowhere and does not count. */
export function readPaper(json: unknown): PaperRecord | undefined {
  const ids = at(json, "externalIds");
  const identifiers = identifiersFrom({
    s2: at(json, "paperId"),
    doi: at(ids, "DOI"),
    arxiv: at(ids, "ArXiv"),
    pmid: at(ids, "PubMed"),
    pmcid: at(ids, "PubMedCentral"),
  });
  const copy = webAddress(at(json, "openAccessPdf", "url"));
  const license = line(at(json, "openAccessPdf", "license"));
  // Many of its PDFs are the publisher's page.
  const isPage = copy !== undefined && (parseReference(copy).kind === "doi" || /arxiv\.org\/abs\//.test(copy));
  const venue = line(at(json, "venue")) ?? line(at(json, "journal", "name"));
  const types = lines(at(json, "publicationTypes"));
  return paperRecord({
    source: "Semantic Scholar",
    title: plainText(at(json, "title")),
    identifiers,
    pdf: isPage ? undefined : copy,
    authors: lines(list(at(json, "authors")).map((author) => at(author, "name"))),
    date: day(at(json, "publicationDate")) ?? day(at(json, "year")),
    abstract: abstractText(at(json, "abstract")),
    kind: kindOf(types, venue, identifiers.doi),
    publicationType: types.length === 0 ? undefined : types.join(", "),
    venue,
    volume: at(json, "journal", "volume"),
    pages: at(json, "journal", "pages"),
    citations: count(at(json, "citationCount")),
    copies:
      copy === undefined ? [] : [{ url: copy, kind: isPage ? "landing" : "pdf", ...withoutUndefined({ license }) }],
  });
}

const preprintDoi = /^10\.(?:1101|64898|21203|26434|2139|31234|31219|20944)\//;

function kindOf(types: readonly string[], venue: string | undefined, doi: string | undefined): PaperRecord["kind"] {
  // A paper keeps the venue of its preprint when it has long been published under another DOI.
  const isServer =
    /^(?:arxiv(?:\.org)?|biorxiv|medrxiv|chemrxiv|research square|social science research network)\b/i.test(
      venue ?? "",
    );
  if (isServer && (doi === undefined || preprintDoi.test(doi))) return "preprint";
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
