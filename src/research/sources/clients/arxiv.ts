import { type Page, collectPages, failureAnswer } from "../shared/ask-service.js";
import { lookUpIn } from "../shared/lookup-batches.js";
import { decodeText } from "../../../text/documents/text/decode.js";
import { valueAt, countFrom, dateFrom, lineFrom, linesFrom, listFrom } from "../../../engine/lib/json-fields.js";
import type { Identifiers, PaperRecord, Update } from "../../papers/paper-record.js";
import { arxivKey, identifiersFrom, paperRecord } from "../../papers/identifiers.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { termsOf } from "../shared/query-terms.js";
import { parseXml } from "../../../text/xml.js";
import type { Request } from "../../../net/http.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** Maximum number of entries in one request. */
const maxEntriesPerRequest = 2000;
/** Maximum number of entries in all pages of a query. */
const maxTotal = 30_000;
/** Ids in one request: arXiv accepts addresses of about 4,000 characters. */
const maxBatch = 100;
/** A feed has about 3 kB per entry, and 60 kB for papers of large collaborations. */
const maxFeedBytes = 60 * 1024 * 1024;

export const arxiv = {
  name: "arXiv",
  aliases: ["arxiv", "arxiv.org", "export.arxiv.org"],
  endpoint: "https://export.arxiv.org",
  search: searchArxiv,
  lookup: lookUpArxiv,
} satisfies Source;

async function searchArxiv(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const clauses = termsOf(query.terms).map(({ text, isPhrase }) => (isPhrase ? `all:"${text}"` : `all:${text}`));
  const compactDate = (value: string) => value.replaceAll("-", "");
  if (query.from !== undefined || query.until !== undefined)
    clauses.push(
      `submittedDate:[${compactDate(query.from ?? "1991-01-01")}0000 TO ${compactDate(query.until ?? "2199-12-31")}2359]`,
    );
  if (clauses.length === 0) return { status: "error", reason: "A search on arXiv needs a word to search for." };
  const maxRecords = Math.min(query.most, maxTotal);
  const answer = await collectPages<number>(
    maxRecords,
    0,
    async (start) => {
      const size = Math.min(maxEntriesPerRequest, maxRecords - start);
      const page = await askArxiv(
        context,
        `search_query=${encodeURIComponent(clauses.join(" AND "))}&start=${start}&max_results=${size}&sortBy=relevance&sortOrder=descending`,
      );
      if (page.status !== "ok") return page;
      const { entries, total = 0, records } = page.value;
      // arXiv sometimes returns an empty page although there are more results.
      if (entries === 0 && total > start)
        return {
          status: "error",
          reason: `arXiv sent an empty page though it counts ${total} results; try again later.`,
          transient: true,
        };
      const next = start + entries;
      return { status: "ok", value: { records, total, ...(next < total && next < maxRecords ? { next } : {}) } };
    },
    `arXiv has no results for '${query.terms}' in this period.`,
  );
  if (answer.status !== "ok" || query.most <= maxTotal || (answer.total ?? 0) <= maxTotal) return answer;
  return { incomplete: `arXiv returns at most ${maxTotal} of ${answer.total} results; narrow the dates.`, ...answer };
}

/** arXiv leaves ids that it does not know out of its feed. The answer lists them as unknown. */
async function lookUpArxiv(
  works: readonly Identifiers[],
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  const arxivWorks = works.filter((work) => work.arxiv !== undefined);
  return await lookUpIn("arXiv", arxivWorks, maxBatch, (batch) => lookUpBatch(batch, context));
}

async function lookUpBatch(
  batch: readonly Identifiers[],
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  let remaining = batch;
  const refusedWorks: Identifiers[] = [];
  for (;;) {
    if (remaining.length === 0) return { status: "empty", reason: `arXiv refuses the id ${refusedWorks[0]?.arxiv}.` };
    const ids = remaining.map((work) => work.arxiv ?? "");
    const answer = await askArxiv(
      context,
      `id_list=${ids.map(encodeURIComponent).join(",")}&max_results=${ids.length}`,
    );
    if (answer.status === "ok") {
      const { records } = answer.value;
      const missing = remaining.filter(
        ({ arxiv: id = "" }) => !records.some(({ identifiers }) => arxivKey(identifiers.arxiv ?? "") === arxivKey(id)),
      );
      return { status: "ok", value: records, unknown: [...refusedWorks, ...missing] };
    }
    // One malformed id makes arXiv refuse the whole batch.
    const malformed =
      answer.status === "error" ? remaining.filter(({ arxiv: id = "" }) => answer.reason.includes(`for ${id}.`)) : [];
    if (malformed.length === 0) return answer;
    refusedWorks.push(...malformed);
    remaining = remaining.filter((work) => !malformed.includes(work));
  }
}

/** One feed of arXiv. */
interface ArxivFeed extends Page<number> {
  /** Number of entries in the feed, with those that could not be read: the next page starts after all of them. */
  readonly entries: number;
}

async function askArxiv(context: SourceContext, parameters: string): Promise<Answer<ArxivFeed>> {
  const request: Request = {
    url: `${context.endpoint}/api/query?${parameters}`,
    limit: maxFeedBytes,
    accept: "application/atom+xml",
  };
  const answer = await context.http.get(request);
  if (answer.status === "ok") return await readArxivFeed(decodeText(answer.bytes, answer.type));
  // arXiv reports errors as feeds with HTTP 400.
  if (answer.code === 400 && answer.body !== undefined) {
    const refusal = await readArxivFeed(decodeText(answer.body));
    if (refusal.status === "error") return refusal;
  }
  return failureAnswer(arxiv, answer);
}

/**
 * Reads an Atom feed of arXiv. The answer is an `error` if the feed contains an error message, is incomplete, or is not
 * a feed.
 */
export async function readArxivFeed(xml: string): Promise<Answer<ArxivFeed>> {
  const parsed = await parseXml(xml, ["entry", "author"], ["term"]);
  const feed = "value" in parsed ? valueAt(parsed.value, "feed") : undefined;
  // The parser returns an empty text for a feed without children.
  if ("reason" in parsed || feed === undefined)
    return {
      status: "error",
      reason: `arXiv's answer is not a complete Atom feed${"reason" in parsed ? ` (${parsed.reason})` : ""}; try again later.`,
      transient: true,
    };
  const entries = listFrom(valueAt(feed, "entry"));
  const error = entries.find((entry) => /\/api\/errors\b/.test(lineFrom(valueAt(entry, "id")) ?? ""));
  if (error !== undefined)
    return {
      status: "error",
      reason: `arXiv refuses the request: ${lineFrom(valueAt(error, "summary")) ?? "it gives no reason"}.`,
    };
  const records = entries.map(recordOf).filter((record) => record !== undefined);
  const total = countFrom(lineFrom(valueAt(feed, "opensearch:totalResults")));
  // A feed of arXiv always contains a count. An answer without a count and without entries is not such a feed.
  if (entries.length === 0 && total === undefined)
    return {
      status: "error",
      reason: "arXiv's answer is not a complete Atom feed (it counts no results); try again later.",
      transient: true,
    };
  return { status: "ok", value: { records, entries: entries.length, ...withoutUndefined({ total }) } };
}

function recordOf(entry: unknown): PaperRecord | undefined {
  // Authors list several DOIs if a paper was published in parts. The first one is used.
  const [doiText] = linesFrom(valueAt(entry, "arxiv:doi")).flatMap((dois) =>
    dois.split(/(?<![\s,;])[\s,;]+(?=10\.|https?:|doi)/i),
  );
  const identifiers = identifiersFrom({ arxiv: valueAt(entry, "id"), doi: doiText });
  const { arxiv: id, doi } = identifiers;
  if (id === undefined) return undefined;
  const abstract = lineFrom(valueAt(entry, "summary"));
  return paperRecord({
    source: "arXiv",
    title: lineFrom(valueAt(entry, "title")),
    identifiers,
    pdf: `https://arxiv.org/pdf/${id}`,
    authors: linesFrom(listFrom(valueAt(entry, "author")).map((author) => valueAt(author, "name"))),
    date: dateFrom(valueAt(entry, "published")),
    abstract,
    kind: "preprint",
    publicationType: "preprint",
    categories: categoriesOf(entry),
    comment: lineFrom(valueAt(entry, "arxiv:comment")),
    license: lineFrom(valueAt(entry, "arxiv:license")),
    venue: lineFrom(valueAt(entry, "arxiv:journal_ref")) ?? "arXiv",
    copies: [
      { url: `https://arxiv.org/html/${id}`, kind: "html" },
      { url: `https://arxiv.org/pdf/${id}`, kind: "pdf" },
    ],
    updates: updatesOf(entry, id, abstract),
    ...(doi === undefined ? {} : { otherVersions: [{ relation: "published", doi }] }),
  });
}

/** The primary category and the other categories, without duplicates. */
function categoriesOf(entry: unknown): readonly string[] {
  const categories = [valueAt(entry, "arxiv:primary_category"), ...listFrom(valueAt(entry, "category"))];
  return [...new Set(linesFrom(categories.map((category) => valueAt(category, "@term"))))];
}

const workNoun = "(?:paper|article|submission|manuscript|preprint|work|version|note)";
const withdrawnVerb = "(?:temporarily |now )?(?:withdrawn|retracted)";
const withdrawalSentence = String.raw`\b(?:this|the) (?:arxiv )?${workNoun} (?:has been|is|was|is being) ${withdrawnVerb}\b`;
/**
 * Matches "This paper has been withdrawn by the authors", but not "supersedes the withdrawn 2401.00001" or withdrawn
 * drugs.
 */
const saysWithdrawn = new RegExp(`^(?:this |the )?${workNoun} ${withdrawnVerb}\\b|${withdrawalSentence}`, "i");
/** Matches the start of a comment, such as "Withdrawn due to an error in lemma 3". */
const startsWithWithdrawn = new RegExp(
  String.raw`^${withdrawnVerb}\b(?! (?:papers?|articles?|works?|publications?)\b)`,
  "i",
);

function updatesOf(entry: unknown, id: string, abstract: string | undefined): readonly Update[] {
  const date = dateFrom(valueAt(entry, "updated"));
  const details = { ...withoutUndefined({ date }), source: "arXiv", notice: `https://arxiv.org/abs/${id}` };
  const comment = lineFrom(valueAt(entry, "arxiv:comment")) ?? "";
  if (startsWithWithdrawn.test(comment) || saysWithdrawn.test(comment) || saysWithdrawn.test(abstract ?? ""))
    return [{ type: "withdrawal", ...details }];
  return /v(?:[2-9]|\d\d)/.test(id) ? [{ type: "version", ...details }] : [];
}
