import { type Page, gather, notAnswered } from "../shared/ask-service.js";
import { inBatches, lookUpIn } from "../shared/lookup-batches.js";
import { decodeText } from "../../../text/documents/text/decode.js";
import { at, count, day, line, lines, list } from "../../../engine/lib/json-fields.js";
import type { Identifiers, PaperRecord, Update } from "../../papers/paper-record.js";
import { arxivKey, identifiersFrom, paperRecord } from "../../papers/identifiers.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { termsOf } from "../shared/query-terms.js";
import { parseXml } from "../../../text/xml.js";
import type { Request } from "../../../net/http.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** Most entries of one request, and of all pages of a query together. */
const maxSlice = 2000;
const maxTotal = 30_000;
/** Ids of one request: arXiv's addresses may be some 4,000 characters long. */
const maxBatch = 100;
/** A feed has some 3 kB an entry; papers of large collaborations 60 kB. */
const maxFeed = 60 * 1024 * 1024;

export const arxiv = {
  name: "arXiv",
  aliases: ["arxiv", "arxiv.org", "export.arxiv.org"],
  endpoint: "https://export.arxiv.org",
  search: searchArxiv,
  lookup: lookUpArxiv,
} satisfies Source;

async function searchArxiv(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const words = termsOf(query.terms).map(({ text, isPhrase }) => (isPhrase ? `all:"${text}"` : `all:${text}`));
  const days = (value: string) => value.replaceAll("-", "");
  if (query.from !== undefined || query.until !== undefined)
    words.push(`submittedDate:[${days(query.from ?? "1991-01-01")}0000 TO ${days(query.until ?? "2199-12-31")}2359]`);
  if (words.length === 0) return { status: "error", reason: "A search on arXiv needs a word to search for." };
  const most = Math.min(query.most, maxTotal);
  const answer = await gather<number>(
    most,
    0,
    async (start) => {
      const size = Math.min(maxSlice, most - start);
      const page = await askArxiv(
        context,
        `search_query=${encodeURIComponent(words.join(" AND "))}&start=${start}&max_results=${size}&sortBy=relevance&sortOrder=descending`,
      );
      if (page.status !== "ok") return page;
      const { entries, total = 0, records } = page.value;
      // Some pages of some queries come without entries though there are more.
      if (entries === 0 && total > start)
        return {
          status: "error",
          reason: `arXiv sent an empty page though it counts ${total} results; try again later.`,
          transient: true,
        };
      const next = start + entries;
      return { status: "ok", value: { records, total, ...(next < total && next < most ? { next } : {}) } };
    },
    `arXiv has no results for '${query.terms}' in this period.`,
  );
  if (answer.status !== "ok" || query.most <= maxTotal || (answer.total ?? 0) <= maxTotal) return answer;
  return { incomplete: `arXiv returns at most ${maxTotal} of ${answer.total} results; narrow the dates.`, ...answer };
}

/** Ids that arXiv does not know are silently left out of its feed; the answer names them as unknown. */
async function lookUpArxiv(
  works: readonly Identifiers[],
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  const asked = works.filter((work) => work.arxiv !== undefined);
  return await lookUpIn("arXiv", inBatches(asked, maxBatch), (batch) => lookUpBatch(batch, context));
}

async function lookUpBatch(
  batch: readonly Identifiers[],
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  let left = batch;
  const refused: Identifiers[] = [];
  for (;;) {
    if (left.length === 0) return { status: "empty", reason: `arXiv refuses the id ${refused[0]?.arxiv}.` };
    const ids = left.map((work) => work.arxiv ?? "");
    const answer = await askArxiv(
      context,
      `id_list=${ids.map(encodeURIComponent).join(",")}&max_results=${ids.length}`,
    );
    if (answer.status === "ok") {
      const { records } = answer.value;
      const missing = left.filter(
        ({ arxiv: id = "" }) => !records.some(({ identifiers }) => arxivKey(identifiers.arxiv ?? "") === arxivKey(id)),
      );
      return { status: "ok", value: records, unknown: [...refused, ...missing] };
    }
    // One id of a wrong form spoils the answer for the whole batch.
    const bad =
      answer.status === "error" ? left.filter(({ arxiv: id = "" }) => answer.reason.includes(`for ${id}.`)) : [];
    if (bad.length === 0) return answer;
    refused.push(...bad);
    left = left.filter((work) => !bad.includes(work));
  }
}

/** One feed of arXiv's. */
interface ArxivFeed extends Page<number> {
  /** Entries that stand in the feed, whether they could be read or not: paging counts them. */
  readonly entries: number;
}

async function askArxiv(context: SourceContext, parameters: string): Promise<Answer<ArxivFeed>> {
  const request: Request = {
    url: `${context.endpoint}/api/query?${parameters}`,
    limit: maxFeed,
    accept: "application/atom+xml",
  };
  const answer = await context.http.get(request);
  if (answer.status === "ok") return await readArxivFeed(decodeText(answer.bytes, answer.type));
  // Errors are feeds under HTTP 400.
  if (answer.code === 400 && answer.body !== undefined) {
    const refusal = await readArxivFeed(decodeText(answer.body));
    if (refusal.status === "error") return refusal;
  }
  return notAnswered(arxiv, answer);
}

/**
 * Reads an Atom feed of arXiv's. An error that it carries in place of papers, or half a feed, is an `error`; so is what
 * is not a feed.
 */
export async function readArxivFeed(xml: string): Promise<Answer<ArxivFeed>> {
  const parsed = await parseXml(xml, ["entry", "author"], ["term"]);
  const feed = "value" in parsed ? at(parsed.value, "feed") : undefined;
  // A feed without children is parsed as an empty text.
  if ("reason" in parsed || feed === undefined)
    return {
      status: "error",
      reason: `arXiv's answer is not a complete Atom feed${"reason" in parsed ? ` (${parsed.reason})` : ""}; try again later.`,
      transient: true,
    };
  const entries = list(at(feed, "entry"));
  const error = entries.find((entry) => /\/api\/errors\b/.test(line(at(entry, "id")) ?? ""));
  if (error !== undefined)
    return {
      status: "error",
      reason: `arXiv refuses the request: ${line(at(error, "summary")) ?? "it gives no reason"}.`,
    };
  const records = entries.map(recordOf).filter((record) => record !== undefined);
  const total = count(line(at(feed, "opensearch:totalResults")));
  // What counts nothing and holds nothing is not arXiv's.
  if (entries.length === 0 && total === undefined)
    return {
      status: "error",
      reason: "arXiv's answer is not a complete Atom feed (it counts no results); try again later.",
      transient: true,
    };
  return { status: "ok", value: { records, entries: entries.length, ...withoutUndefined({ total }) } };
}

function recordOf(entry: unknown): PaperRecord | undefined {
  // Authors name several where a paper was published in parts.
  const [named] = lines(at(entry, "arxiv:doi")).flatMap((dois) =>
    dois.split(/(?<![\s,;])[\s,;]+(?=10\.|https?:|doi)/i),
  );
  const identifiers = identifiersFrom({ arxiv: at(entry, "id"), doi: named });
  const { arxiv: id, doi } = identifiers;
  if (id === undefined) return undefined;
  const abstract = line(at(entry, "summary"));
  return paperRecord({
    source: "arXiv",
    title: line(at(entry, "title")),
    identifiers,
    pdf: `https://arxiv.org/pdf/${id}`,
    authors: lines(list(at(entry, "author")).map((author) => at(author, "name"))),
    date: day(at(entry, "published")),
    abstract,
    kind: "preprint",
    publicationType: "preprint",
    categories: categoriesOf(entry),
    comment: line(at(entry, "arxiv:comment")),
    license: line(at(entry, "arxiv:license")),
    venue: line(at(entry, "arxiv:journal_ref")) ?? "arXiv",
    copies: [
      { url: `https://arxiv.org/html/${id}`, kind: "html" },
      { url: `https://arxiv.org/pdf/${id}`, kind: "pdf" },
    ],
    updates: updatesOf(entry, id, abstract),
    ...(doi === undefined ? {} : { otherVersions: [{ relation: "published", doi }] }),
  });
}

/** The primary category and the others, each once. */
function categoriesOf(entry: unknown): readonly string[] {
  const named = [at(entry, "arxiv:primary_category"), ...list(at(entry, "category"))];
  return [...new Set(lines(named.map((category) => at(category, "@term"))))];
}

const work = "(?:paper|article|submission|manuscript|preprint|work|version|note)";
const gone = "(?:temporarily |now )?(?:withdrawn|retracted)";
const sentence = String.raw`\b(?:this|the) (?:arxiv )?${work} (?:has been|is|was|is being) ${gone}\b`;
/** "This paper has been withdrawn by the authors"; not "supersedes the withdrawn 2401.00001", nor drugs that were. */
const saysWithdrawn = new RegExp(`^(?:this |the )?${work} ${gone}\\b|${sentence}`, "i");
/** Comments are shorter: "Withdrawn due to an error in lemma 3". */
const beginsWithdrawn = new RegExp(String.raw`^${gone}\b(?! (?:papers?|articles?|works?|publications?)\b)`, "i");

function updatesOf(entry: unknown, id: string, abstract: string | undefined): readonly Update[] {
  const date = day(at(entry, "updated"));
  const dated = { ...withoutUndefined({ date }), source: "arXiv", notice: `https://arxiv.org/abs/${id}` };
  const comment = line(at(entry, "arxiv:comment")) ?? "";
  if (beginsWithdrawn.test(comment) || saysWithdrawn.test(comment) || saysWithdrawn.test(abstract ?? ""))
    return [{ type: "withdrawal", ...dated }];
  return /v(?:[2-9]|\d\d)/.test(id) ? [{ type: "version", ...dated }] : [];
}
