import type { Criterion, Insight, Paper, Rrd } from "../generated/rrd.js";
import { authorsOf } from "../papers/authors.js";
import { countQuotes } from "../../text/evidence/count-quotes.js";
import { notesOfOldQuote } from "../../text/evidence/quoted.js";
import { type PassagePiece, piecesOf } from "../../text/evidence/quoted.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { dimensionsOf, ownName, scoresOf, totalsOf } from "../papers/rubric/rubric.js";
import { fileNameOf } from "../papers/reference.js";
import { couldBeRead, type Reading, readingOf } from "../papers/read-depth.js";
import { basisOf, exclusionOf, withCriterion } from "../screening/eligibility/eligibility.js";
import { joinTexts } from "../project-files/markdown.js";
import { updateSentences } from "../units/retractions.js";
import { type Citation, citationStatusOf } from "./citation-status.js";
import { type PaperName, type Quote, quotesOf, tablesAsText, webAddress } from "./quotes.js";

/**
 * The status of a paper in the report. `waiting`: it was read, and the user must decide; `missing`: only its title is
 * available; `unread`: not decided yet.
 */
export type PaperStatus = "presented" | "insights" | "rejected" | "waiting" | "missing" | "unread";

/** The text for each status. */
export const statusWords: Readonly<Record<PaperStatus, string>> = {
  presented: "Included",
  insights: "Kept for insights",
  rejected: "Rejected",
  waiting: "Waiting for a person",
  missing: "Not retrieved",
  unread: "Not read",
};

/** The data of a paper for lists and pictures. Small, because there may be ten thousand. */
export interface PaperRow extends PaperName {
  readonly status: PaperStatus;
  /** The points; undefined if the paper was not judged. */
  readonly score?: number;
  readonly execution?: number;
  readonly strategic?: number;
  readonly authors: readonly string[];
  /** YYYY, YYYY-MM or YYYY-MM-DD, as given by its source; empty if unknown. */
  readonly date: string;
  /** The year, if the date begins with one. */
  readonly year?: number;
  /** The journal, conference or repository; the source if none is known. */
  readonly venue: string;
  readonly source: string;
  /** An http or https address; absent otherwise. */
  readonly url?: string;
  readonly doi?: string;
  /** The file name, if it is the user's own document. */
  readonly file?: string;
  readonly reading: Reading;
  /** Number of quotes that the reader gave. */
  readonly quotesGiven: number;
  /** Number of quotes that are shown. */
  readonly quotes: number;
  /** Number of quotes that were found in the text. */
  readonly quotesFound: number;
  /** The reason for the decision, one sentence; empty if unknown. */
  readonly why: string;
  readonly hasWarnings: boolean;
}

/** The points for one dimension of a rubric, 0 to 5. */
export interface Dimension {
  readonly label: string;
  readonly points: number;
}

/** The answer to a criterion for a paper, with the quoted evidence. */
export interface CriterionAnswer {
  /** The id of the criterion with the beginning of its text. */
  readonly criterion: string;
  readonly answer: "yes" | "no" | "unclear";
  /** The place of the quote, or how far the paper was read; if the answer is unclear, also the reason. */
  readonly says: string;
  /** The quote in its sentence; empty if nothing was quoted. */
  readonly pieces: readonly PassagePiece[];
  /** Warnings about the quote, a clause each. */
  readonly notes: readonly string[];
}

/** The complete entry of a paper. */
export interface PaperEntry extends PaperRow {
  readonly dimensions: readonly Dimension[];
  /** Warnings, notices since its publication, and what could not be read. */
  readonly warnings: readonly string[];
  readonly abstract: string;
  readonly summary: string;
  readonly method: string;
  readonly results: string;
  readonly limitations: string;
  readonly code: readonly { readonly text: string; readonly url?: string }[];
  readonly evidence: readonly Quote[];
  /** Number of quotes that were not found in the text. They are not shown. */
  readonly notInText: number;
  /** Numbers of the results that are neither in a quote nor in the text. */
  readonly unprovedNumbers: readonly string[];
  /**
   * The answers to the eligibility criteria, from the most complete reading of the paper; empty if no criterion was
   * answered.
   */
  readonly eligibility: readonly CriterionAnswer[];
  readonly insightTexts: readonly string[];
  /** The complete notes on the decision. */
  readonly notes: string;
  readonly citation: Citation;
  readonly pdf?: string;
}

const statuses: Readonly<Record<Paper["status"], PaperStatus>> = {
  presented: "presented",
  insights_extracted: "insights",
  rejected: "rejected",
  waiting: "waiting",
  not_retrieved: "missing",
  pending: "unread",
  analyzing: "unread",
};

/** The rows of all papers: decided papers first, by score, then by title, so that equal scores have a fixed order. */
export function rowsOf(rrd: Rrd, names: ReadonlyMap<string, PaperName>): PaperRow[] {
  const order: Readonly<Record<PaperStatus, number>> = {
    presented: 0,
    insights: 1,
    waiting: 2,
    rejected: 3,
    missing: 4,
    unread: 5,
  };
  return rrd.papers_pool
    .map((paper) => rowOf(rrd, paper, names.get(paper.id) as PaperName))
    .sort(
      (a, b) =>
        order[a.status] - order[b.status] ||
        (b.score ?? -1) - (a.score ?? -1) ||
        (a.title < b.title ? -1 : a.title > b.title ? 1 : 0) ||
        (a.id < b.id ? -1 : 1),
    );
}

function rowOf(rrd: Rrd, paper: Paper, name: PaperName): PaperRow {
  const status = statuses[paper.status];
  const scores = status === "unread" || !couldBeRead(paper) ? undefined : scoresOf(rrd, paper);
  const totals = scores === undefined ? undefined : totalsOf(rrd, scores);
  const score = status === "unread" || !couldBeRead(paper) ? undefined : (paper.score ?? totals?.combined);
  const url = webAddress(paper.url);
  const date = oneLine(paper.date ?? "");
  const year = /^\d{4}/.exec(date)?.[0];
  const {
    given: quotesGiven,
    verified: quotesFound,
    notInText: notInTextCount,
  } = countQuotes(paper.analysis?.evidence ?? []);
  // Each field is named: an object made by spreads is a slow dictionary in V8, and there may be ten thousand.
  const { id, label, title, isRetracted, isIneligible: isNotEligible } = name;
  const row: Writable<PaperRow> = {
    id,
    label,
    title,
    isRetracted,
    isIneligible: isNotEligible,
    status,
    authors: authorsOf(paper.authors).map(oneLine),
    date,
    venue: shortened(oneLine(paper.venue ?? paper.source ?? "")),
    source: oneLine(paper.source ?? ""),
    reading: readingOf(paper),
    quotesGiven,
    quotes: quotesGiven - notInTextCount,
    quotesFound,
    why: reasonOf(rrd, paper, status),
    hasWarnings:
      isRetracted || (paper.warnings?.length ?? 0) > 0 || (paper.updates ?? []).some(({ type }) => type !== "version"),
  };
  if (score != null) row.score = score;
  if (totals !== undefined) row.execution = totals.execution;
  if (totals?.strategic !== undefined) row.strategic = totals.strategic;
  if (year !== undefined) row.year = Number(year);
  if (url !== undefined) row.url = url;
  if (paper.identifiers?.doi !== undefined) row.doi = paper.identifiers.doi;
  const file = fileNameOf(paper);
  if (file !== undefined) row.file = oneLine(file);
  return row;
}

type Writable<Members> = { -readonly [Name in keyof Members]: Members[Name] };

function reasonOf(rrd: Rrd, paper: Paper, status: PaperStatus): string {
  const criterionId = exclusionOf(paper);
  const userDecision = decisionText(paper);
  const criterion = criterionId === undefined ? undefined : criteriaOf(rrd).find(({ id }) => id === criterionId);
  if (userDecision !== undefined)
    return criterion === undefined ? userDecision : withCriterion(userDecision, criterion);
  if (criterion !== undefined) return `Not eligible: ${criterion.id} (${criterion.kind}: ${oneLine(criterion.text)}).`;
  const missing = notRetrievedText(paper);
  if (missing !== undefined) return missing;
  // If a retracted paper was not read, its notes only say why screening kept it.
  if (paper.retracted === true && status === "rejected") return warningsOf(paper).find(isRetractionNotice) ?? "";
  return couldBeRead(paper) || status === "unread" ? firstSentence(tablesAsText(paper.notes ?? "")) : notJudgedText;
}

/** The user's decision with its reason; undefined without one. It replaces earlier notes of an agent. */
const decisionText = ({ override }: Paper): string | undefined =>
  override === undefined || override.decision === "not_retrieved"
    ? undefined
    : `${override.decision === "include" ? "Included" : "Excluded"} by a person: ${oneLine(override.why)}`;

/** The reason why a paper is not available, and what helps; undefined for other papers. */
export const notRetrievedText = ({ status, not_retrieved: why }: Paper): string | undefined =>
  status === "not_retrieved" && why !== undefined ? oneLine(`${why.reason} ${why.cure}`) : undefined;

const isRetractionNotice = (warning: string): boolean => /^(?:Retracted|Withdrawn)/.test(warning);

const notJudgedText = "Not judged: only its title could be read.";

/** The complete entry of a paper. */
export function entryOf(
  rrd: Rrd,
  row: PaperRow,
  paper: Paper,
  insights: readonly Insight[],
  criteria: readonly Criterion[],
): PaperEntry {
  const { analysis } = paper;
  const scores = scoresOf(rrd, paper);
  const { execution, strategic } = dimensionsOf(rrd);
  const pdf = webAddress(paper.pdf_url);
  // The row is spread last and optional fields are not spread: both would be slow for thousands of entries.
  const entry: Writable<PaperEntry> = {
    dimensions:
      scores === undefined || row.score === undefined
        ? []
        : [
            ...pointsOf(rrd, execution, scores.execution),
            ...(scores.strategic === undefined ? [] : pointsOf(rrd, strategic, scores.strategic)),
          ],
    warnings: warningsOf(paper),
    abstract: tablesAsText(paper.abstract ?? ""),
    summary: fieldText(analysis?.summary),
    method: fieldText(analysis?.methodology),
    results: fieldText(analysis?.results),
    limitations: fieldText(analysis?.limitations),
    code: codeOf(analysis?.implementations_found),
    evidence: quotesOf(paper, row),
    notInText: countQuotes(analysis?.evidence ?? []).notInText,
    unprovedNumbers: (analysis?.numbers ?? []).flatMap(({ number, status }) =>
      status === "not-in-text" ? number : [],
    ),
    eligibility: criteria.length === 0 ? [] : eligibilityOf(paper, criteria),
    insightTexts: insights.map(({ insight }) => tablesAsText(insight)),
    notes:
      notRetrievedText(paper) ??
      decisionText(paper) ??
      (couldBeRead(paper) ? tablesAsText(paper.notes ?? "") : notJudgedText),
    citation: citationStatusOf(paper),
    ...row,
  };
  if (pdf !== undefined) entry.pdf = pdf;
  return entry;
}

/** Maximum length of a criterion's text beside an answer; the complete text is in the method section. */
const maxCriterionChars = 80;

function eligibilityOf(paper: Paper, criteria: readonly Criterion[]): CriterionAnswer[] {
  return criteria.flatMap(({ id, text }) => {
    const answers = (paper.answers ?? []).filter(({ criterion }) => criterion === id);
    const answer = answers.find(({ stage }) => stage === "full_text") ?? answers.at(-1);
    if (answer === undefined) return [];
    const letters = [...oneLine(text).replace(/\.$/, "")];
    const shortText =
      letters.length > maxCriterionChars ? `${letters.slice(0, maxCriterionChars - 1).join("")}…` : letters.join("");
    const place = oneLine(answer.locator ?? basisOf(answer, paper));
    const why = answer.reason === undefined ? "" : `; ${oneLine(answer.reason)}`;
    return {
      criterion: `${id} ${shortText}`,
      answer: answer.answer,
      says: `${place}${why}`,
      pieces: piecesOf(answer),
      notes: answer.answer === "unclear" ? [] : notesOfOldQuote(answer),
    };
  });
}

/** The text of a field of an analysis. */
const fieldText = (value: unknown): string => tablesAsText(joinTexts(value));

/** The names of dimensions for readers. */
const labels: Readonly<Record<string, string>> = {
  time_to_poc: "Time to prototype",
  value_market: "Market value",
  first_mover_window: "First-mover window",
};
const labelOf = (dimension: string): string =>
  labels[dimension] ?? dimension.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());
const pointsOf = (
  rrd: Rrd,
  names: readonly string[],
  points: Readonly<Record<string, number>>,
): PaperEntry["dimensions"] =>
  names.map((name) => ({ label: ownName(rrd, name) ?? labelOf(name), points: points[name] ?? 0 }));

function codeOf(field: unknown): PaperEntry["code"] {
  const entries = Array.isArray(field) ? field : typeof field === "string" && field.trim() !== "" ? [field] : [];
  return entries.map((entry: unknown) => {
    const fields = typeof entry === "object" && entry !== null ? (entry as Record<string, unknown>) : {};
    const text =
      typeof entry === "string" ? entry : String(fields["url"] ?? fields["repository"] ?? JSON.stringify(entry));
    const url = webAddress(text);
    return url === undefined ? { text: oneLine(text) } : { text: oneLine(text), url };
  });
}

/** The warnings of the record and the notices since publication, without duplicates. */
export function warningsOf({ warnings = [], updates = [], retracted }: Paper): string[] {
  const all = [...new Set([...warnings, ...updateSentences(updates)])];
  return retracted === true && !all.some(isRetractionNotice) ? ["Retracted.", ...all] : all;
}

/** How the paper was read; empty if it was not recorded. */
export const readingWords: Readonly<Record<Reading, string>> = {
  full: "read in full",
  partial: "read in part",
  abstract: "abstract only",
  title: "title only",
  unrecorded: "",
  unread: "not read",
};

/** Maximum characters of a title, name or address in a list. A longer text is probably not a title, name or address. */
const maxListedChars = 300;

/** A text shortened for a list. The entry of a paper has its complete title. */
export function shortened(text: string): string {
  if (text.length <= maxListedChars) return text;
  return `${[...text].slice(0, maxListedChars - 1).join("")}…`;
}

/** The first sentence of a text, at most 220 characters. */
function firstSentence(text: string): string {
  const line = oneLine(text);
  const sentence = /^.{20,}?[.!?](?=\s|$)/.exec(line)?.[0] ?? line;
  if (sentence.length <= 220) return sentence;
  const start = sentence.slice(0, 219);
  const word = start.lastIndexOf(" ");
  // The cut is at the end of a word, if possible.
  return `${word > 150 ? start.slice(0, word) : start}…`;
}
