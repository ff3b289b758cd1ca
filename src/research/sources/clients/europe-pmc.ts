import { askJson, collectPages, pageOf, type Page, unexpectedAnswer } from "../shared/ask-service.js";
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
import type { Identifiers, PaperRecord, Update } from "../../papers/paper-record.js";
import { abstractText, plainText } from "../shared/markup-to-text.js";
import { identifiersFrom, paperRecord, sharesIdentifier } from "../../papers/identifiers.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { termsOf } from "../shared/query-terms.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

const maxPageSize = 500;
const maxAnswerBytes = 60 * 1024 * 1024;
/** Works in one request; each adds a clause of about 60 characters to the address. */
const maxBatch = 20;
/** The service may have several records for one identifier. */
const maxRecordsPerWork = 4;

export const europePmc = {
  name: "Europe PMC",
  aliases: ["europepmc", "europe pmc", "epmc", "pmc", "pubmed central"],
  endpoint: "https://www.ebi.ac.uk/europepmc/webservices/rest",
  search: searchEuropePmc,
  lookup: async (works: readonly Identifiers[], context: SourceContext) =>
    await lookUpIn(
      "Europe PMC",
      works.filter((work) => clauseOf(work) !== undefined),
      maxBatch,
      (batch) => lookUpBatch(batch, context),
    ),
} satisfies Source;

async function searchEuropePmc(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const words = termsOf(query.terms).map(({ text, isPhrase }) => (isPhrase ? `"${text}"` : text));
  if (words.length === 0) return { status: "error", reason: "A search on Europe PMC needs a word to search for." };
  const period =
    query.from === undefined && query.until === undefined
      ? ""
      : ` AND (FIRST_PDATE:[${query.from ?? "1500-01-01"} TO ${query.until ?? "2199-12-31"}])`;
  return await searchPages(
    `(${words.join(" AND ")})${period}`,
    query.most,
    context,
    `Europe PMC has no results for '${query.terms}' in this period.`,
  );
}

async function searchPages(
  query: string,
  maxRecords: number,
  context: SourceContext,
  emptyReason: string,
): Promise<Answer<readonly PaperRecord[]>> {
  const pageSize = Math.max(1, Math.min(maxRecords, maxPageSize));
  return await collectPages<string>(
    maxRecords,
    "*",
    async (cursor) => {
      const parameters = `query=${encodeURIComponent(query)}&format=json&resultType=core&pageSize=${pageSize}&cursorMark=${encodeURIComponent(cursor)}`;
      const answer = await askJson(europePmc, context, {
        url: `${context.endpoint}/search?${parameters}`,
        limit: maxAnswerBytes,
      });
      return answer.status === "ok" ? readPage(answer.value, pageSize, context.endpoint) : answer;
    },
    emptyReason,
  );
}

function readPage(json: unknown, pageSize: number, endpoint: string): Answer<Page<string>> {
  const results = valueAt(json, "resultList", "result");
  const total = countFrom(valueAt(json, "hitCount"));
  if (!Array.isArray(results)) {
    if (total === 0) return { status: "ok", value: { records: [], total } };
    return unexpectedAnswer(europePmc, json, "contains no list of works");
  }
  const next = results.length < pageSize ? undefined : lineFrom(valueAt(json, "nextCursorMark"));
  return pageOf(results, (result) => readResult(result, endpoint), { total, next });
}

/** The search clause for a work. It names the field: a bare PMID would also match PMC ids and texts of other works. */
function clauseOf({ pmid, pmcid, doi }: Identifiers): string | undefined {
  if (pmid !== undefined) return `(EXT_ID:${pmid} AND SRC:MED)`;
  if (pmcid !== undefined) return `PMCID:${pmcid}`;
  return doi === undefined ? undefined : `DOI:"${doi.replace(/["\\]/g, "")}"`;
}

async function lookUpBatch(
  batch: readonly Identifiers[],
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  const answer = await searchPages(
    batch.map(clauseOf).join(" OR "),
    maxRecordsPerWork * batch.length,
    context,
    "Europe PMC has none of these works.",
  );
  if (answer.status !== "ok") return answer;
  const isRequested = ({ identifiers }: PaperRecord) => batch.some((work) => sharesIdentifier(work, identifiers));
  const records = answer.value.filter(isRequested);
  return records.length === 0
    ? { status: "empty", reason: "Europe PMC has none of these works." }
    : { status: "ok", value: records };
}

/** Reads a result of type `core`. `endpoint`: the service's address, for links to full texts. */
export function readResult(json: unknown, endpoint: string): PaperRecord | undefined {
  const isMedline = valueAt(json, "source") === "MED";
  const identifiers = identifiersFrom({
    doi: valueAt(json, "doi"),
    pmid: valueAt(json, "pmid") ?? (isMedline ? valueAt(json, "id") : undefined),
    pmcid: valueAt(json, "pmcid"),
  });
  const types = listFrom(valueAt(json, "pubTypeList", "pubType"))
    .map(lineFrom)
    .filter((type) => type !== undefined)
    .map((type) => type.toLowerCase());
  const copies = copiesOf(json, identifiers, endpoint);
  const isPreprint = valueAt(json, "source") === "PPR" || types.includes("preprint");
  return paperRecord({
    source: "Europe PMC",
    // PubMed titles end with a full stop.
    title: plainText(valueAt(json, "title"))?.replace(/(?<!\.)\.$/, ""),
    identifiers,
    // Books, patents and agricultural records often have no DOI. Their address is that of the record in Europe PMC.
    url:
      identifiers.doi !== undefined
        ? undefined
        : webAddressFrom(
            `https://europepmc.org/article/${lineFrom(valueAt(json, "source")) ?? ""}/${lineFrom(valueAt(json, "id")) ?? ""}`,
          ),
    pdf: copies.find(({ kind }) => kind === "pdf")?.url,
    authors: authorsOf(json),
    groups: linesFrom(
      listFrom(valueAt(json, "authorList", "author")).map((author) => valueAt(author, "collectiveName")),
    ),
    date:
      dateFrom(valueAt(json, "firstPublicationDate")) ??
      dateFrom(valueAt(json, "journalInfo", "printPublicationDate")) ??
      dateFrom(valueAt(json, "pubYear")),
    abstract: abstractText(valueAt(json, "abstractText")),
    kind: kindOf(types, isPreprint),
    publicationType: types.length === 0 ? undefined : types.join(", "),
    license: lineFrom(valueAt(json, "license")),
    venue:
      plainText(valueAt(json, "journalInfo", "journal", "title")) ??
      plainText(valueAt(json, "bookOrReportDetails", "publisher")),
    volume: valueAt(json, "journalInfo", "volume"),
    issue: valueAt(json, "journalInfo", "issue"),
    pages: valueAt(json, "pageInfo"),
    citations: countFrom(valueAt(json, "citedByCount")),
    copies,
    updates: updatesOf(json, types),
  });
}

function authorsOf(json: unknown): readonly string[] {
  const authors = linesFrom(
    listFrom(valueAt(json, "authorList", "author")).map((author) => {
      const parts = [lineFrom(valueAt(author, "firstName")), lineFrom(valueAt(author, "lastName"))].filter(
        (part) => part !== undefined,
      );
      return parts.length === 2
        ? parts.join(" ")
        : (lineFrom(valueAt(author, "fullName")) ?? lineFrom(valueAt(author, "collectiveName")));
    }),
  );
  return authors.length > 0
    ? authors
    : linesFrom((lineFrom(valueAt(json, "authorString")) ?? "").replace(/\.$/, "").split(/,\s*/));
}

/** The open copies; copies for subscribers (availability S) are left out. */
function copiesOf(json: unknown, { pmcid }: Identifiers, endpoint: string): NonNullable<PaperRecord["copies"]> {
  const license = lineFrom(valueAt(json, "license"));
  const licenseField = license === undefined ? {} : { license };
  const isOpen = valueAt(json, "isOpenAccess") === "Y";
  const kinds: Readonly<Record<string, "pdf" | "html" | "landing">> = { pdf: "pdf", html: "html", doi: "landing" };
  const freeCopies = listFrom(valueAt(json, "fullTextUrlList", "fullTextUrl")).flatMap((copy) => {
    const url = webAddressFrom(valueAt(copy, "url"));
    const kind = kinds[lineFrom(valueAt(copy, "documentStyle")) ?? ""];
    const isFree = ["OA", "F"].includes(lineFrom(valueAt(copy, "availabilityCode")) ?? "");
    return url === undefined || kind === undefined || !isFree ? [] : [{ url, kind, ...licenseField }];
  });
  return [
    ...(isOpen && pmcid !== undefined
      ? [{ url: `${endpoint}/${pmcid}/fullTextXML`, kind: "xml" as const, ...licenseField }]
      : []),
    ...freeCopies,
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

/**
 * Types of notices that are linked to a work. Types that end in "of" or "for" belong to the record of the notice
 * itself.
 */
const linkedNotices: readonly (readonly [RegExp, Update["type"]])[] = [
  [/^retraction in$/i, "retraction"],
  [/^(?:expression of )?concern in$/i, "concern"],
  [/^(?:erratum|corrected and republished|correction) in$/i, "correction"],
  [/^update in$/i, "version"],
];

function updatesOf(json: unknown, types: readonly string[]): readonly Update[] {
  const source = "Europe PMC";
  const linkedUpdates = listFrom(valueAt(json, "commentCorrectionList", "commentCorrection")).flatMap(
    (notice): readonly Update[] => {
      const type = linkedNotices.find(([pattern]) => pattern.test(lineFrom(valueAt(notice, "type")) ?? ""))?.[1];
      const pmid = identifiersFrom({
        pmid: valueAt(notice, "source") === "MED" ? valueAt(notice, "id") : undefined,
      }).pmid;
      const date = dateIn(lineFrom(valueAt(notice, "reference")));
      return type === undefined
        ? []
        : [
            {
              type,
              source,
              ...withoutUndefined({ date }),
              ...(pmid === undefined ? {} : { notice: `https://pubmed.ncbi.nlm.nih.gov/${pmid}/` }),
            },
          ];
    },
  );
  const isRetracted =
    types.includes("retracted publication") && !linkedUpdates.some(({ type }) => type === "retraction");
  // Types of withdrawn preprints are "preprint-withdrawal" and "Preprint removal".
  const isWithdrawn = types.some((type) => /^preprint.(?:withdrawal|removal)$/.test(type));
  return [
    ...linkedUpdates,
    ...(isRetracted ? [{ type: "retraction" as const, source }] : []),
    ...(isWithdrawn ? [{ type: "withdrawal" as const, source }] : []),
  ];
}

/** The date in a PubMed reference such as "Atherosclerosis. 2016 Mar 4;246:385". */
const dateIn = (reference: string | undefined): string | undefined =>
  dateFrom(/(?:^|[.\s])((?:19|20)\d\d\b.*)/.exec(reference ?? "")?.[1]);
