import type { Criterion, Insight, Paper, Rrd } from "../generated/rrd.js";
import { authorsOf } from "../papers/authors.js";
import { notesOfOldQuote } from "../../text/evidence/quoted.js";
import { type PassagePiece, piecesOf } from "../../text/evidence/quoted.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { dimensionsOf, ownName, scoresOf, totalsOf } from "../papers/rubric/rubric.js";
import { fileNameOf } from "../papers/reference.js";
import { couldBeRead, type Reading, readingOf } from "../papers/read-depth.js";
import { basisOf, exclusionOf } from "../screening/eligibility/eligibility.js";
import { prose } from "../project-files/markdown.js";
import { type Citation, citationStatusOf } from "./citation-status.js";
import { type PaperName, type Quote, quotesOf, tablesAsText, webAddress } from "./quotes.js";

/**
 * What became of a paper. `waiting`: read, and a person decides; `missing`: nothing of it but its title could be had;
 * `unread`: no decision yet.
 */
export type PaperStatus = "presented" | "insights" | "rejected" | "waiting" | "missing" | "unread";

/** The words of a status, as they stand wherever it is shown. */
export const statusWords: Readonly<Record<PaperStatus, string>> = {
  presented: "Included",
  insights: "Kept for insights",
  rejected: "Rejected",
  waiting: "Waiting for a person",
  missing: "Not retrieved",
  unread: "Not read",
};

/** A paper as lists and pictures need it. Cheap: there may be ten thousand. */
export interface PaperRow extends PaperName {
  readonly status: PaperStatus;
  /** Points of `full`; undefined where the paper was not judged. */
  readonly score?: number;
  readonly execution?: number;
  readonly strategic?: number;
  readonly authors: readonly string[];
  /** YYYY, YYYY-MM or YYYY-MM-DD, as its source gives it; empty where it is not known. */
  readonly date: string;
  /** The year where the date begins with one. */
  readonly year?: number;
  /** Journal, conference or repository; the source where none is known. */
  readonly venue: string;
  readonly source: string;
  /** http or https, or absent. */
  readonly url?: string;
  readonly doi?: string;
  /** Of a document of the person's own the name of its file. */
  readonly file?: string;
  readonly reading: Reading;
  /** Quotes that were given for it, those of them that may be shown, and of these the ones found in the text. */
  readonly quotesGiven: number;
  readonly quotes: number;
  readonly quotesFound: number;
  /** Why this decision, in a sentence; empty where nobody wrote it. */
  readonly why: string;
  readonly hasWarnings: boolean;
}

/** One dimension of a rubric, 0 to 5. */
export interface Dimension {
  readonly label: string;
  readonly points: number;
}

/** Whether a paper meets a criterion, and the words that settle it. */
export interface CriterionAnswer {
  /** The id of the criterion with the beginning of its text. */
  readonly criterion: string;
  readonly answer: "yes" | "no" | "unclear";
  /** Where it stands, or how far the paper was looked at; with the reason where the answer is unclear. */
  readonly says: string;
  /** The words that settle it, in their sentence; empty where nothing was quoted. */
  readonly pieces: readonly PassagePiece[];
  /** What a reader should know of the words, a clause each. */
  readonly notes: readonly string[];
}

/** A paper as `read` prints it, made when it is asked for. */
export interface PaperEntry extends PaperRow {
  readonly dimensions: readonly Dimension[];
  /** Warnings, notices since its publication, what could not be read. */
  readonly warnings: readonly string[];
  readonly abstract: string;
  readonly summary: string;
  readonly method: string;
  readonly results: string;
  readonly limitations: string;
  readonly code: readonly { readonly text: string; readonly url?: string }[];
  readonly evidence: readonly Quote[];
  /** Quotes that were looked for and not found: counted, not shown. */
  readonly notInText: number;
  /** Numbers of the results that no quote holds and the text does not have. */
  readonly unprovedNumbers: readonly string[];
  /** What was found of each eligibility criterion, by the fullest look at the paper; empty where they are missing. */
  readonly eligibility: readonly CriterionAnswer[];
  readonly insightTexts: readonly string[];
  /** Notes on the decision, whole. */
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

/** Rows of all papers: what was decided first, the best first, then by title so that ties have one order. */
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
  let [quotes, quotesFound] = [0, 0];
  for (const evidence of paper.analysis?.evidence ?? []) {
    if (evidence.status !== "not-in-text") quotes += 1;
    if (evidence.status === "verified") quotesFound += 1;
  }
  // Name by name: an object of many spreads is a dictionary to the engine, and every look at ten thousand of them slow.
  const { id, label, title, isRetracted, isIneligible: isOut } = name;
  const row: Writable<PaperRow> = {
    id,
    label,
    title,
    isRetracted,
    isIneligible: isOut,
    status,
    authors: authorsOf(paper.authors).map(oneLine),
    date,
    venue: shortened(oneLine(paper.venue ?? paper.source ?? "")),
    source: oneLine(paper.source ?? ""),
    reading: readingOf(paper),
    quotesGiven: paper.analysis?.evidence?.length ?? 0,
    quotes,
    quotesFound,
    why: whyOf(rrd, paper, status),
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

function whyOf(rrd: Rrd, paper: Paper, status: PaperStatus): string {
  const by = exclusionOf(paper);
  const decided = decisionText(paper);
  const criterion = by === undefined ? undefined : criteriaOf(rrd).find(({ id }) => id === by);
  if (decided !== undefined)
    return criterion === undefined ? decided : `${decided} (${criterion.id}: ${oneLine(criterion.text)})`;
  if (criterion !== undefined) return `Not eligible: ${criterion.id} (${criterion.kind}: ${oneLine(criterion.text)}).`;
  const missing = notRetrievedText(paper);
  if (missing !== undefined) return missing;
  // What was noted of a retracted paper that nobody read is why it was screened in.
  if (paper.retracted === true && status === "rejected") return warningsOf(paper).find(isRetractionNotice) ?? "";
  return couldBeRead(paper) || status === "unread" ? firstSentence(tablesAsText(paper.notes ?? "")) : notJudged;
}

/** A person's decision and its reason; undefined without one. It replaces what an agent noted before. */
const decisionText = ({ override }: Paper): string | undefined =>
  override === undefined || override.decision === "not_retrieved"
    ? undefined
    : `${override.decision === "include" ? "Included" : "Excluded"} by a person: ${oneLine(override.why)}`;

/** Why a paper could not be had, and what helps; undefined for any other paper. */
export const notRetrievedText = ({ status, not_retrieved: why }: Paper): string | undefined =>
  status === "not_retrieved" && why !== undefined ? oneLine(`${why.reason} ${why.cure}`) : undefined;

const isRetractionNotice = (warning: string): boolean => /^(?:Retracted|Withdrawn)/.test(warning);

const notJudged = "Not judged: nothing but its title could be read.";

/** A paper's whole entry. */
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
  // The row behind the literal, and no spread of what may be absent: each is slow for thousands of entries.
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
    summary: told(analysis?.summary),
    method: told(analysis?.methodology),
    results: told(analysis?.results),
    limitations: told(analysis?.limitations),
    code: codeOf(analysis?.implementations_found),
    evidence: quotesOf(paper, row),
    notInText: (analysis?.evidence ?? []).filter(({ status }) => status === "not-in-text").length,
    unprovedNumbers: (analysis?.numbers ?? []).flatMap(({ number, status }) =>
      status === "not-in-text" ? number : [],
    ),
    eligibility: criteria.length === 0 ? [] : eligibilityOf(paper, criteria),
    insightTexts: insights.map(({ insight }) => tablesAsText(insight)),
    notes:
      notRetrievedText(paper) ??
      decisionText(paper) ??
      (couldBeRead(paper) ? tablesAsText(paper.notes ?? "") : notJudged),
    citation: citationStatusOf(paper),
    ...row,
  };
  if (pdf !== undefined) entry.pdf = pdf;
  return entry;
}

/** So much of a criterion names it where each paper answers it; the whole of it stands with the method. */
const maxCriterion = 80;

function eligibilityOf(paper: Paper, criteria: readonly Criterion[]): CriterionAnswer[] {
  return criteria.flatMap(({ id, text }) => {
    const mine = (paper.answers ?? []).filter(({ criterion }) => criterion === id);
    const answer = mine.find(({ stage }) => stage === "full_text") ?? mine.at(-1);
    if (answer === undefined) return [];
    const letters = [...oneLine(text).replace(/\.$/, "")];
    const short = letters.length > maxCriterion ? `${letters.slice(0, maxCriterion - 1).join("")}…` : letters.join("");
    const place = oneLine(answer.locator ?? basisOf(answer, paper));
    const why = answer.reason === undefined ? "" : `; ${oneLine(answer.reason)}`;
    return {
      criterion: `${id} ${short}`,
      answer: answer.answer,
      says: `${place}${why}`,
      pieces: piecesOf(answer),
      notes: answer.answer === "unclear" ? [] : notesOfOldQuote(answer),
    };
  });
}

/** A field of an analysis as text. */
const told = (value: unknown): string => tablesAsText(prose(value));

/** Names of dimensions as people read them. */
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

function codeOf(found: unknown): PaperEntry["code"] {
  const entries = Array.isArray(found) ? found : typeof found === "string" && found.trim() !== "" ? [found] : [];
  return entries.map((entry: unknown) => {
    const fields = typeof entry === "object" && entry !== null ? (entry as Record<string, unknown>) : {};
    const text =
      typeof entry === "string" ? entry : String(fields["url"] ?? fields["repository"] ?? JSON.stringify(entry));
    const url = webAddress(text);
    return url === undefined ? { text: oneLine(text) } : { text: oneLine(text), url };
  });
}

const noticeWords: Readonly<Record<string, string>> = {
  retraction: "Retracted",
  withdrawal: "Withdrawn",
  concern: "An expression of concern was published",
  correction: "Corrected",
  addendum: "An addendum was published",
};

/** Warnings of the record and notices since it was published, each once. */
export function warningsOf({ warnings = [], updates = [], retracted }: Paper): string[] {
  const notices = updates.flatMap(({ type, date, source }) => {
    const words = noticeWords[type];
    return words === undefined ? [] : `${words}${date === undefined ? "" : ` on ${date}`}, as ${source} says.`;
  });
  const all = [...new Set([...warnings, ...notices])];
  return retracted === true && !all.some(isRetractionNotice) ? ["Retracted.", ...all] : all;
}

/** So much of a title, of names or of an address stands in a list: what is longer was taken for one by mistake. */
const maxListedText = 300;

/** A text as a list shows it; the entry of a paper has the whole of a longer title. */
export function shortened(text: string): string {
  if (text.length <= maxListedText) return text;
  return `${[...text].slice(0, maxListedText - 1).join("")}…`;
}

/** The first sentence of a text, at most 220 characters. */
export function firstSentence(text: string): string {
  const plain = oneLine(text);
  const sentence = /^.{20,}?[.!?](?=\s|$)/.exec(plain)?.[0] ?? plain;
  if (sentence.length <= 220) return sentence;
  const start = sentence.slice(0, 219);
  const word = start.lastIndexOf(" ");
  // At the end of a word, where there is one.
  return `${word > 150 ? start.slice(0, word) : start}…`;
}
