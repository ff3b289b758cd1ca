import {
  absentUnless,
  nameOf,
  toBoolean,
  toFirst,
  toList,
  toNumber,
  toSentences,
  toText,
  toTexts,
  toWord,
} from "./coerce.js";
import {
  absent,
  type Fields,
  fieldsOf,
  inTurn,
  leaf,
  listOf,
  orAbsent,
  type Reader,
  renamed,
  valuesOf,
} from "./readers.js";
import { readScores } from "./read-scores.js";
import { isObject } from "../../../engine/lib/json-fields.js";

const text = leaf(toText);
const identifier = leaf((value) => (typeof value === "number" ? String(value) : value));
const texts = leaf(toTexts);
const sentences = orAbsent(leaf(toSentences));
const boolean = orAbsent(leaf(toBoolean));

/** Text or list of points; an object becomes a list of its fields, so that a reader of the report sees them apart. */
const prose = leaf((value) => {
  if (isObject(value)) return Object.entries(value).map(([name, field]) => `${name}: ${String(toText(field))}`);
  if (!Array.isArray(value)) return toText(value);
  return value.every((each) => typeof each === "string") ? value : value.map((each) => String(toText(each)));
});

const readStatus = leaf(
  toWord({
    pending: /^(todo|to_do|new|queued|unread|discovered|not_started|not_analy[sz]ed|open)$/,
    analyzing: /^(analysing|in_progress|in_analysis|reading|started|under_analysis)$/,
    presented: /^(present|accepted|accept|recommended|selected|approved)$/,
    rejected: /^(reject|excluded|discarded|skipped|skip|duplicate|not_relevant|irrelevant)$/,
    insights_extracted: /^(extract_insights?|insights?|insight_extracted|insights_only|extracted)$/,
  }),
);

const isReadWord =
  /^\s*(analy[sz]ed|done|complete|completed|scored|evaluated|reviewed|read|finished|processed|decided)\s*$/i;
const decisions: readonly (readonly [RegExp, string])[] = [
  [/^\s*present/i, "presented"],
  [/^\s*reject/i, "rejected"],
  [/^\s*(extract|insight)/i, "insights_extracted"],
];

/** The status of a paper that says only that it was read, or nothing, follows from its decision. */
const readRecord: Reader = (value, pointer, tell) => {
  if (!isObject(value)) return value;
  const added: Fields = {};
  const { id, title, status, decision, analysis, score, score_breakdown: breakdown } = value;
  if (title == null && typeof id === "string") added["title"] = id;
  if (score == null && isObject(breakdown) && typeof breakdown["combined_total"] === "number")
    added["score"] = breakdown["combined_total"];
  const decided = decisions.find(([word]) => word.test(String(decision)))?.[1];
  if (status == null) added["status"] = decided ?? (analysis == null ? "pending" : "insights_extracted");
  else if (typeof status === "string" && isReadWord.test(status))
    added["status"] = decided ?? (analysis == null && score == null ? "pending" : "insights_extracted");
  for (const [name, read] of Object.entries(added)) tell(`${pointer}/${name}`, value[name], read);
  return Object.keys(added).length === 0 ? value : { ...value, ...added };
};

/** What a quote compares is kept only whole. */
const isOutcome = (value: unknown): boolean =>
  isObject(value) &&
  ["outcome", "compared"].every((name) => typeof value[name] === "string") &&
  ["up", "down", "none"].some((direction) => direction === value["direction"]);

/** A claim that stands alone is its own quote; nobody has looked whether the paper says so. */
const readEvidence: Reader = (value, pointer, tell) => {
  const given: Fields | undefined = isObject(value) ? value : typeof value === "string" ? { claim: value } : undefined;
  if (given === undefined) return value;
  const firstText = (...names: string[]) => names.map((name) => given[name]).find((field) => typeof field === "string");
  const claim = firstText("claim", "text", "statement", "finding", "quote");
  const quote = firstText("quote", "excerpt", "text", "claim");
  const status = ["verified", "near", "not-in-text"].find((each) => each === given["status"]) ?? "could-not-check";
  const read: Fields = { ...given, claim: claim ?? given["claim"], quote: quote ?? given["quote"], status };
  if (["claim", "quote", "status"].every((name) => given[name] === read[name])) return value;
  tell(pointer, value, read);
  return read;
};

const readAnalysis: Reader = inTurn(
  leaf((value) => (typeof value === "string" || Array.isArray(value) ? { summary: toText(value) } : value)),
  fieldsOf({
    summary: prose,
    methodology: prose,
    results: prose,
    limitations: prose,
    implementations_found: leaf(toList),
    commercialized: text,
    commercialized_by: leaf((value) =>
      value === false
        ? null
        : Array.isArray(value)
          ? value.map((each) => (isObject(each) ? (nameOf(each) ?? toText(each)) : each)).join(", ")
          : toText(value),
    ),
    market: text,
    evidence: inTurn(
      orAbsent(leaf((value) => (typeof value === "string" || isObject(value) ? [value] : value))),
      listOf(inTurn(fieldsOf({ about: leaf((value) => (isOutcome(value) ? value : absent)) }), readEvidence)),
    ),
  }),
);

const toUrgency = toWord({
  5: /^(critical|very_high|highest|high)$/,
  3: /^(medium|normal|moderate)$/,
  1: /^(low|lowest|very_low)$/,
});

/** Reads refusals, of a paper or of another unit. */
export const readRefusals = inTurn(orAbsent(leaf(toList)), listOf(fieldsOf({ reasons: leaf(toSentences) })));

const toDepth = toWord({
  full: /^(full_?text|pdf|complete|whole|entire)/,
  partial: /^(part|some|excerpt)/,
  abstract: /^(abstract|summary|metadata)/,
});
const isDepth = (value: unknown): boolean => value === "full" || value === "partial" || value === "abstract";

/** What code wrote of a paper's updates is kept only whole. */
const isUpdate = (value: unknown): boolean =>
  isObject(value) &&
  ["type", "source"].every((name) => typeof value[name] === "string") &&
  ["date", "notice"].every((name) => ["string", "undefined"].includes(typeof value[name]));
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === "string");
const isCheck = (value: unknown): boolean =>
  isObject(value) && typeof value["at"] === "string" && isTexts(value["checked_by"]) && isTexts(value["unchecked"]);

/** Reads one record of papers_pool. */
export const readPaperRecord: Reader = inTurn(
  fieldsOf({
    id: identifier,
    title: text,
    url: leaf(toFirst),
    pdf_url: leaf(toFirst),
    authors: leaf((value) =>
      isObject(value) ? (nameOf(value) ?? toText(value)) : typeof value === "string" ? value : toTexts(value),
    ),
    date: text,
    source: text,
    abstract: text,
    identifiers: inTurn(
      orAbsent((value) => value),
      valuesOf(orAbsent(text)),
    ),
    priority: leaf((value) => toNumber(5)(toUrgency(value))),
    status: readStatus,
    score: leaf(toNumber(50, 30)),
    score_breakdown: readScores,
    analysis: readAnalysis,
    decision: text,
    notes: leaf((value) => (Array.isArray(value) ? value.map(toText).join(" ") : toText(value))),
    read_depth: inTurn(leaf(toDepth), leaf(absentUnless(isDepth))),
    text_sha256: orAbsent(text),
    text_from: orAbsent(text),
    retracted: boolean,
    updates: inTurn(leaf(absentUnless(Array.isArray)), listOf(leaf(absentUnless(isUpdate)))),
    updates_check: leaf(absentUnless(isCheck)),
    warnings: sentences,
    iteration: leaf(absentUnless((value) => Number.isInteger(value) && Number(value) >= 1)),
    refusals: readRefusals,
  }),
  readRecord,
);

/** Reads one entry of insights. */
export const readInsight: Reader = inTurn(
  leaf((value) => (typeof value === "string" ? { insight: value } : value)),
  (value, pointer, tell) => (isObject(value) ? renamed(insightName(value))(value, pointer, tell) : value),
  fieldsOf({ id: identifier, insight: text, tags: texts, cross_refs: texts, papers: texts, cross_cluster: text }),
  readSourcePaper,
);

/** The field that holds the finding, where it has another name than ours. */
function insightName(value: Fields): (name: string) => string {
  const found = ["text", "content", "finding", "description", "key_insight", "summary", "title"].find(
    (name) => typeof value[name] === "string",
  );
  return (name) => (name === found ? "insight" : name);
}

const readPaperId = fieldsOf({ paper_id: text });

/** An insight of several papers is of none of them alone; `papers` names them. */
function readSourcePaper(value: unknown, pointer: string, tell: Parameters<Reader>[2]): unknown {
  if (!isObject(value) || !Array.isArray(value["paper_id"])) return readPaperId(value, pointer, tell);
  const ids = value["paper_id"].map(String);
  const read: Fields =
    ids.length === 1 ? { ...value, paper_id: ids[0] } : { ...value, paper_id: null, papers: value["papers"] ?? ids };
  tell(`${pointer}/paper_id`, value["paper_id"], ids.length === 1 ? ids[0] : null);
  return read;
}
