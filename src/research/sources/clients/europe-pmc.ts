import { askJson, gather, pageOf, type Page, unlikeAnswer } from "../shared/ask-service.js";
import { inBatches, lookUpIn } from "../shared/lookup-batches.js";
import { at, count, day, line, lines, list, webAddress } from "../../../engine/lib/json-fields.js";
import type { Identifiers, PaperRecord, Update } from "../../papers/paper-record.js";
import { abstractText, plainText } from "../shared/markup-to-text.js";
import { identifiersFrom, paperRecord, sharesIdentifier } from "../../papers/identifiers.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { termsOf } from "../shared/query-terms.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

const maxPage = 500;
const maxAnswer = 60 * 1024 * 1024;
/** Works of one question; each is a clause of some 60 characters in the address. */
const maxBatch = 20;

export const europePmc = {
  name: "Europe PMC",
  aliases: ["europepmc", "europe pmc", "epmc", "pmc", "pubmed central"],
  endpoint: "https://www.ebi.ac.uk/europepmc/webservices/rest",
  search: searchEuropePmc,
  lookup: async (works: readonly Identifiers[], context: SourceContext) =>
    await lookUpIn(
      "Europe PMC",
      inBatches(
        works.filter((work) => clauseOf(work) !== undefined),
        maxBatch,
      ),
      (batch) => lookUpBatch(batch, context),
    ),
} satisfies Source;

async function searchEuropePmc(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const words = termsOf(query.terms).map(({ text, isPhrase }) => (isPhrase ? `"${text}"` : text));
  if (words.length === 0) return { status: "error", reason: "A search on Europe PMC needs a word to search for." };
  const time =
    query.from === undefined && query.until === undefined
      ? ""
      : ` AND (FIRST_PDATE:[${query.from ?? "1500-01-01"} TO ${query.until ?? "2199-12-31"}])`;
  return await ask(
    `(${words.join(" AND ")})${time}`,
    query.most,
    context,
    `Europe PMC has no results for '${query.terms}' in this period.`,
  );
}

async function ask(
  question: string,
  most: number,
  context: SourceContext,
  nothing: string,
): Promise<Answer<readonly PaperRecord[]>> {
  const size = Math.max(1, Math.min(most, maxPage));
  return await gather<string>(
    most,
    "*",
    async (cursor) => {
      const parameters = `query=${encodeURIComponent(question)}&format=json&resultType=core&pageSize=${size}&cursorMark=${encodeURIComponent(cursor)}`;
      const answer = await askJson(europePmc, context, {
        url: `${context.endpoint}/search?${parameters}`,
        limit: maxAnswer,
      });
      return answer.status === "ok" ? readPage(answer.value, size, context.endpoint) : answer;
    },
    nothing,
  );
}

function readPage(json: unknown, size: number, endpoint: string): Answer<Page<string>> {
  const results = at(json, "resultList", "result");
  const total = count(at(json, "hitCount"));
  if (!Array.isArray(results)) {
    if (total === 0) return { status: "ok", value: { records: [], total } };
    return unlikeAnswer(europePmc, json, "contains no list of works");
  }
  const next = results.length < size ? undefined : line(at(json, "nextCursorMark"));
  return pageOf(results, (result) => readResult(result, endpoint), { total, next });
}

/** Always in a field: the bare number of a PMID is found in PMC ids and texts of other works too. */
function clauseOf({ pmid, pmcid, doi }: Identifiers): string | undefined {
  if (pmid !== undefined) return `(EXT_ID:${pmid} AND SRC:MED)`;
  if (pmcid !== undefined) return `PMCID:${pmcid}`;
  return doi === undefined ? undefined : `DOI:"${doi.replace(/["\\]/g, "")}"`;
}

async function lookUpBatch(
  batch: readonly Identifiers[],
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  const answer = await ask(
    batch.map(clauseOf).join(" OR "),
    4 * batch.length,
    context,
    "Europe PMC has none of these works.",
  );
  if (answer.status !== "ok") return answer;
  const value = answer.value.filter(({ identifiers }) => batch.some((work) => sharesIdentifier(work, identifiers)));
  return value.length === 0
    ? { status: "empty", reason: "Europe PMC has none of these works." }
    : { status: "ok", value };
}

/** Reads a result of the kind `core`. `endpoint`: where its full text stands too. */
export function readResult(json: unknown, endpoint: string): PaperRecord | undefined {
  const isMedline = at(json, "source") === "MED";
  const identifiers = identifiersFrom({
    doi: at(json, "doi"),
    pmid: at(json, "pmid") ?? (isMedline ? at(json, "id") : undefined),
    pmcid: at(json, "pmcid"),
  });
  const types = list(at(json, "pubTypeList", "pubType"))
    .map(line)
    .filter((type) => type !== undefined)
    .map((type) => type.toLowerCase());
  const copies = copiesOf(json, identifiers, endpoint);
  const isPreprint = at(json, "source") === "PPR" || types.includes("preprint");
  return paperRecord({
    source: "Europe PMC",
    // PubMed ends titles with a full stop.
    title: plainText(at(json, "title"))?.replace(/(?<!\.)\.$/, ""),
    identifiers,
    // Only where nothing else leads to it: books, patents, agricultural records.
    url:
      identifiers.doi !== undefined
        ? undefined
        : webAddress(`https://europepmc.org/article/${line(at(json, "source")) ?? ""}/${line(at(json, "id")) ?? ""}`),
    pdf: copies.find(({ kind }) => kind === "pdf")?.url,
    authors: authorsOf(json),
    date:
      day(at(json, "firstPublicationDate")) ??
      day(at(json, "journalInfo", "printPublicationDate")) ??
      day(at(json, "pubYear")),
    abstract: abstractText(at(json, "abstractText")),
    kind: kindOf(types, isPreprint),
    publicationType: types.length === 0 ? undefined : types.join(", "),
    license: line(at(json, "license")),
    venue:
      plainText(at(json, "journalInfo", "journal", "title")) ?? plainText(at(json, "bookOrReportDetails", "publisher")),
    volume: at(json, "journalInfo", "volume"),
    issue: at(json, "journalInfo", "issue"),
    pages: at(json, "pageInfo"),
    citations: count(at(json, "citedByCount")),
    copies,
    updates: updatesOf(json, types),
  });
}

function authorsOf(json: unknown): readonly string[] {
  const authors = lines(
    list(at(json, "authorList", "author")).map((author) => {
      const parts = [line(at(author, "firstName")), line(at(author, "lastName"))].filter((part) => part !== undefined);
      return parts.length === 2
        ? parts.join(" ")
        : (line(at(author, "fullName")) ?? line(at(author, "collectiveName")));
    }),
  );
  return authors.length > 0 ? authors : lines((line(at(json, "authorString")) ?? "").replace(/\.$/, "").split(/,\s*/));
}

/** Open copies; those of subscribers (availability S) do not count. */
function copiesOf(json: unknown, { pmcid }: Identifiers, endpoint: string): NonNullable<PaperRecord["copies"]> {
  const license = line(at(json, "license"));
  const terms = license === undefined ? {} : { license };
  const isOpen = at(json, "isOpenAccess") === "Y";
  const kinds: Readonly<Record<string, "pdf" | "html" | "landing">> = { pdf: "pdf", html: "html", doi: "landing" };
  const listed = list(at(json, "fullTextUrlList", "fullTextUrl")).flatMap((copy) => {
    const url = webAddress(at(copy, "url"));
    const kind = kinds[line(at(copy, "documentStyle")) ?? ""];
    const isFree = ["OA", "F"].includes(line(at(copy, "availabilityCode")) ?? "");
    return url === undefined || kind === undefined || !isFree ? [] : [{ url, kind, ...terms }];
  });
  return [
    ...(isOpen && pmcid !== undefined
      ? [{ url: `${endpoint}/${pmcid}/fullTextXML`, kind: "xml" as const, ...terms }]
      : []),
    ...listed,
  ];
}

function kindOf(types: readonly string[], isPreprint: boolean): PaperRecord["kind"] {
  if (
    types.some((type) =>
      /^(?:retraction of publication|retraction notice|retraction|published erratum|correction|expression of concern|editorial|comment)$/.test(
        type,
      ),
    )
  )
    return "notice";
  if (isPreprint) return "preprint";
  if (types.some((type) => /\breview\b/.test(type) && type !== "peer review")) return "review";
  return types.length === 0 ? undefined : "published";
}

/** What the notices linked to a work are. Those that end in "of" or "for" stand on the notice itself. */
const linkedNotices: readonly (readonly [RegExp, Update["type"]])[] = [
  [/^retraction in$/i, "retraction"],
  [/^(?:expression of )?concern in$/i, "concern"],
  [/^(?:erratum|corrected and republished|correction) in$/i, "correction"],
  [/^update in$/i, "version"],
];

function updatesOf(json: unknown, types: readonly string[]): readonly Update[] {
  const source = "Europe PMC";
  const linked = list(at(json, "commentCorrectionList", "commentCorrection")).flatMap((notice): readonly Update[] => {
    const type = linkedNotices.find(([pattern]) => pattern.test(line(at(notice, "type")) ?? ""))?.[1];
    const id = identifiersFrom({ pmid: at(notice, "source") === "MED" ? at(notice, "id") : undefined }).pmid;
    const date = dateIn(line(at(notice, "reference")));
    return type === undefined
      ? []
      : [
          {
            type,
            source,
            ...withoutUndefined({ date }),
            ...(id === undefined ? {} : { notice: `https://pubmed.ncbi.nlm.nih.gov/${id}/` }),
          },
        ];
  });
  const isRetracted = types.includes("retracted publication") && !linked.some(({ type }) => type === "retraction");
  // Types of preprints: "preprint-withdrawal", "Preprint removal".
  const isWithdrawn = types.some((type) => /^preprint.(?:withdrawal|removal)$/.test(type));
  return [
    ...linked,
    ...(isRetracted ? [{ type: "retraction" as const, source }] : []),
    ...(isWithdrawn ? [{ type: "withdrawal" as const, source }] : []),
  ];
}

/** The date in a reference of PubMed's: "Atherosclerosis. 2016 Mar 4;246:385". */
const dateIn = (reference: string | undefined): string | undefined =>
  day(/(?:^|[.\s])((?:19|20)\d\d\b.*)/.exec(reference ?? "")?.[1]);
