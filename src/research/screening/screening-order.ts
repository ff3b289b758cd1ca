import type { Requirements } from "../generated/rrd.js";
import { type PaperRecord, versionsOf } from "../papers/paper-record.js";
import { normalTitle } from "../papers/normalise-title.js";
import { bm25, stemsOf } from "./bm25.js";
import { type Decisions, type LearnedOrder, rankShares, relevanceLearner } from "./learn-from-decisions.js";
import type { Query } from "../sources/shared/source.js";
import { listWeight, type CandidateSet, candidatesOf, type Work } from "../search/candidates.js";
import type { Listing, Open, OnListing } from "../search/result-list.js";
import { runStep } from "../search/run-round.js";

/** A work with its priority, for screening. */
export interface RankedWork extends Work {
  /** 1 to 5; 5 is read first. */
  readonly priority: number;
  /** The reasons of the priority. */
  readonly why: string;
  /** Present if decisions change the order: the words of the work that count for and against it. */
  readonly learnedReasons?: () => string;
}

/** The topic for which works are ranked. */
interface SearchTopic extends Pick<
  Requirements,
  "keywords" | "focus_area" | "time_window_days" | "historical_lookback_days"
> {
  /** The topic in the user's words. */
  readonly description?: string | null;
  /** YYYY-MM-DD. */
  readonly today: string;
}

/**
 * The weights of the parts of a score. The fit counts most, because a work on another topic is useless even if it is in
 * every list.
 */
const weights = { fit: 0.5, lists: 0.25, age: 0.15, citations: 0.1 };
/**
 * The weight of the order learned from decisions. It increases from `first` to `last` over the first five kept records,
 * because a few of them are less reliable than the topic.
 */
const decisionsWeight = { first: 0.4, last: 0.8, from: 5 };
const keywordWeight = 1;
const fieldWeight = 0.5;
const descriptionWeight = 0.2;
/** Works with these first ranks count as a source's best results. */
const topRanks = 10;
/** A work with so many citations per year counts as well cited. */
const wellCitedPerYear = 10;

/**
 * Orders works by fit, ranks in lists, date and citations.
 */
export function rankWorks(
  works: readonly Work[],
  topic: SearchTopic,
  decidedRecords: readonly DecidedRecord[],
): RankedWork[] {
  const keptById = new Map(decidedRecords.map(({ id, kept }) => [id, kept]));
  const idsOf = ({ record, provenance }: Work) => [record, ...versionsOf(provenance)].map(({ id }) => id);
  const listedIds = new Set(works.flatMap(idsOf));
  const unlistedRecords = decidedRecords.filter(({ id }) => !listedIds.has(id));
  const decisions = works.map((work) =>
    idsOf(work)
      .map((id) => keptById.get(id))
      .find((kept) => kept !== undefined),
  );
  return makeRanking(works, topic, unlistedRecords)([...decisions, ...unlistedRecords.map(({ kept }) => kept)]);
}

/** A record with a decision. */
export interface DecidedRecord {
  readonly id: string;
  readonly title: string;
  readonly abstract?: string | null;
  readonly kept: boolean;
}

/**
 * Returns a function that orders works by decisions: one for each work, then those on records that no source listed
 * (`unlistedRecords`). With ten or more decisions, they count most; the other parts of the score decide between similar
 * works.
 */
export function makeRanking(
  works: readonly Work[],
  topic: SearchTopic,
  unlistedRecords: readonly Pick<DecidedRecord, "title" | "abstract">[],
): (decisions: Decisions) => RankedWork[] {
  const stemParts = works.map(({ record: { title, abstract } }) => [stemsOf(title), stemsOf(abstract ?? "")] as const);
  const texts = stemParts.map(([title, abstract]) => [...title, ...title, ...abstract]);
  const fits = sharesOfLargest(bm25(texts, queryOf(topic)));
  const lists = sharesOfLargest(works.map(listWeight));
  const keywords = (topic.keywords ?? []).map((keyword) => ({ keyword, words: stemsOf(keyword) }));
  const sourceCount = new Set(works.flatMap(({ provenance }) => provenance.places.map(({ source }) => source))).size;
  const rankedWorks = works.map((work, index) => {
    const { record } = work;
    const age = ageOf(record.date, topic.today);
    const citationsPerYear = citationRate(record, age);
    const score =
      weights.fit * (fits[index] ?? 0) +
      weights.lists * (lists[index] ?? 0) +
      weights.age * recency(age, topic) +
      weights.citations * Math.min(1, Math.log1p(citationsPerYear) / Math.log1p(100));
    return {
      ...work,
      score,
      ...priorityOf(work, new Set(texts[index]), keywords, topic, { age, citationsPerYear, sourceCount }),
    };
  });
  const byId = (a: Work, b: Work) => (a.record.id < b.record.id ? -1 : 1);
  const learn = relevanceLearner(() => [
    ...stemParts,
    ...unlistedRecords.map(({ title, abstract }) => [stemsOf(title), stemsOf(abstract ?? "")]),
  ]);
  return (decisions) => {
    const order = learn(decisions);
    if (order === undefined)
      return rankedWorks
        .toSorted((a, b) => b.priority - a.priority || b.score - a.score || byId(a, b))
        .map(({ score: _, ...work }) => work);
    const rankings = rankShares(order.scores);
    const weight = decisionsWeightFor(decisions.filter((decision) => decision === true).length);
    return rankedWorks
      .map(({ score, ...work }, index) => ({
        work: { ...work, learnedReasons: () => learnedText(work.record, order.reasons(index)) },
        score: weight * (rankings[index] ?? 0) + (1 - weight) * score,
      }))
      .toSorted((a, b) => b.score - a.score || byId(a.work, b.work))
      .map(({ work }) => work);
  };
}

const decisionsWeightFor = (keptCount: number): number => {
  const { first, last, from } = decisionsWeight;
  return first + (last - first) * Math.min(1, keptCount / from);
};

/** For example "like the kept ones: grasping, tactile; unlike them: survey", with words of the record. */
function learnedText({ title, abstract }: PaperRecord, { like, unlike }: ReturnType<LearnedOrder["reasons"]>): string {
  const words = normalTitle(`${title} ${abstract ?? ""}`).split(" ");
  // A stem is the beginning of its word.
  const wordsText = (stems: readonly string[]) =>
    stems.map((stem) => words.find((word) => word.startsWith(stem) && stemsOf(word)[0] === stem) ?? stem).join(", ");
  return [
    ...(like.length === 0 ? [] : [`like the kept ones: ${wordsText(like)}`]),
    ...(unlike.length === 0 ? [] : [`unlike them: ${wordsText(unlike)}`]),
  ].join("; ");
}

/**
 * One search with one query in all sources. The results are merged and ranked as in a run. `now`: milliseconds since
 * the epoch.
 */
export async function searchOnce(
  query: Query,
  sources: readonly string[],
  open: Open,
  now: number,
  onListing?: OnListing,
): Promise<{
  readonly listings: readonly Listing[];
  readonly candidates: CandidateSet;
  readonly ranked: readonly RankedWork[];
}> {
  const listings = await runStep(0, { kind: "search", sources: [...sources], queries: [query] }, open, onListing);
  const { terms } = query;
  const today = new Date(now).toISOString().slice(0, 10);
  const candidates = candidatesOf(listings, []);
  const rankedWorks = rankWorks(candidates.works, { keywords: [terms], description: terms, today }, []);
  return { listings, candidates, ranked: rankedWorks };
}

function queryOf({ keywords = [], focus_area, description }: SearchTopic): Map<string, number> {
  const query = new Map<string, number>();
  const add = (text: string, weight: number) => {
    for (const word of stemsOf(text)) query.set(word, Math.max(query.get(word) ?? 0, weight));
  };
  add(description ?? "", descriptionWeight);
  add(focus_area ?? "", fieldWeight);
  for (const keyword of keywords) add(keyword, keywordWeight);
  return query;
}

/** The values divided by the largest one. */
function sharesOfLargest(values: readonly number[]): number[] {
  const maximum = values.reduce((largestSoFar, value) => Math.max(largestSoFar, value), 0);
  return values.map((value) => (maximum === 0 ? 0 : value / maximum));
}

interface Facts {
  readonly age: number | undefined;
  readonly citationsPerYear: number;
  readonly sourceCount: number;
}

/** The priority and its reasons: one point, and one more for each of the four conditions in `points`. */
function priorityOf(
  { record, provenance: { places: rankings } }: Work,
  stems: ReadonlySet<string>,
  keywords: readonly { readonly keyword: string; readonly words: readonly string[] }[],
  { time_window_days: window }: SearchTopic,
  { age, citationsPerYear, sourceCount }: Facts,
): { priority: number; why: string } {
  const matchedKeywords = keywords
    .filter(({ words }) => words.every((word) => stems.has(word)))
    .map(({ keyword }) => keyword);
  const sources = new Set(rankings.filter(({ rank }) => rank < topRanks).map(({ source }) => source));
  const seeds = new Set(rankings.flatMap(({ seed }) => seed ?? []));
  const isRecent = age !== undefined && window != null && age <= window;
  const points = [
    matchedKeywords.length > 0,
    matchedKeywords.length >= Math.max(2, keywords.length / 3),
    sources.size > 1 || seeds.size > 1,
    isRecent || citationsPerYear >= wellCitedPerYear,
  ];
  const reasons = [
    matchedKeywords.length === 0
      ? "matches no keyword as a whole"
      : `matches ${matchedKeywords.length} of ${keywords.length} keywords (${matchedKeywords.slice(0, 4).join(", ")}${matchedKeywords.length > 4 ? ", …" : ""})`,
    sources.size === 0 ? "" : `in ${sources.size} of ${sourceCount} sources' first ten`,
    seeds.size === 0 ? "" : `linked with ${seeds.size} kept ${seeds.size === 1 ? "paper" : "papers"}`,
    age === undefined ? "undated" : ageText(age),
    record.citations === undefined || record.citations.count === 0 ? "" : `cited ${record.citations.count} times`,
  ];
  return { priority: 1 + points.filter(Boolean).length, why: reasons.filter((part) => part !== "").join("; ") };
}

const ageText = (days: number): string =>
  days < 0
    ? "dated ahead"
    : days < 730
      ? `${days} ${days === 1 ? "day" : "days"} old`
      : `${Math.floor(days / 365.25)} years old`;

/** Days between a date and today. For a year or a month, from its first day. */
export function ageOf(date: string | null, today: string): number | undefined {
  const from = Date.parse(`${(date ?? "").concat("-01-01").slice(0, 10)}T00:00:00Z`);
  return Number.isNaN(from) ? undefined : Math.round((Date.parse(`${today}T00:00:00Z`) - from) / 86_400_000);
}

/** 1 within the time window, decreasing to 0 at the end of the lookback period; 0.5 without a date. */
function recency(age: number | undefined, { time_window_days, historical_lookback_days }: SearchTopic): number {
  if (age === undefined) return 0.5;
  const window = time_window_days ?? 365;
  const lookbackDays = Math.max(historical_lookback_days ?? window * 3, window + 1);
  return age <= window ? 1 : Math.max(0, 1 - (age - window) / (lookbackDays - window));
}

/**
 * Citations per year. A new work counts as half a year old, so that one early citation does not count too much.
 */
const citationRate = ({ citations }: PaperRecord, age: number | undefined): number =>
  citations === undefined ? 0 : citations.count / Math.max(0.5, (age ?? 365) / 365.25);
