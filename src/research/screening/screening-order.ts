import type { Requirements } from "../generated/rrd.js";
import { type PaperRecord, versionsOf } from "../papers/paper-record.js";
import { normalTitle } from "../papers/normalise-title.js";
import { bm25, stemsOf } from "./bm25.js";
import { type Decisions, type Learned, placesOf, relevanceLearner } from "./learn-from-decisions.js";
import type { Query } from "../sources/shared/source.js";
import { listWeight, type CandidateSet, candidatesOf, type Work } from "../search/candidates.js";
import type { Listing, Open, OnListing } from "../search/result-list.js";
import { runStep } from "../search/run-round.js";

/** A work as it is put before anyone who screens it. */
export interface Ranked extends Work {
  /** 1 to 5; 5 is read first. */
  readonly priority: number;
  /** What the priority rests on, in words. */
  readonly why: string;
  /** Once decisions move the order: which of its words they speak for and against. */
  readonly learned?: () => string;
}

/** What the ranking is made for. */
interface Wanted extends Pick<
  Requirements,
  "keywords" | "focus_area" | "time_window_days" | "historical_lookback_days"
> {
  /** What is sought, in the person's words. */
  readonly description?: string | null;
  /** YYYY-MM-DD. */
  readonly today: string;
}

/**
 * How much each part of the order weighs. Fit first: a work that every list has but that is about something else helps
 * nobody.
 */
const weights = { fit: 0.5, lists: 0.25, age: 0.15, citations: 0.1 };
/**
 * How much what was kept and dropped weighs against all of them: a few kept records say less than the topic, so the
 * share grows from the first to the last with each of the first five.
 */
const learnedWeight = { first: 0.4, last: 0.8, from: 5 };
const keywordWeight = 1;
const fieldWeight = 0.5;
const descriptionWeight = 0.2;
/** So near the top of a list, a source means it. */
const firstOnes = 10;
/** Citations a year that show that others built on a work. */
const wellCited = 10;

/**
 * Orders works by how well they fit, how many lists put them first, how recent they are and how often they are cited.
 */
export function rankWorks(works: readonly Work[], wanted: Wanted, judged: readonly Judged[]): Ranked[] {
  const keptOf = new Map(judged.map(({ id, kept }) => [id, kept]));
  const idsOf = ({ record, provenance }: Work) => [record, ...versionsOf(provenance)].map(({ id }) => id);
  const listed = new Set(works.flatMap(idsOf));
  const elsewhere = judged.filter(({ id }) => !listed.has(id));
  const decisions = works.map((work) =>
    idsOf(work)
      .map((id) => keptOf.get(id))
      .find((kept) => kept !== undefined),
  );
  return ranking(works, wanted, elsewhere)([...decisions, ...elsewhere.map(({ kept }) => kept)]);
}

/** A record on which somebody decided. */
export interface Judged {
  readonly id: string;
  readonly title: string;
  readonly abstract?: string | null;
  readonly kept: boolean;
}

/**
 * The order of works under decisions on them, one for each work; behind them those on records that no source listed.
 * From ten decisions on, what was kept and dropped counts most; the rest of the order decides between works that read
 * alike.
 */
export function ranking(
  works: readonly Work[],
  wanted: Wanted,
  elsewhere: readonly Pick<Judged, "title" | "abstract">[],
): (decisions: Decisions) => Ranked[] {
  const read = works.map(({ record: { title, abstract } }) => [stemsOf(title), stemsOf(abstract ?? "")] as const);
  const texts = read.map(([title, abstract]) => [...title, ...title, ...abstract]);
  const fits = shares(bm25(texts, queryOf(wanted)));
  const lists = shares(works.map(listWeight));
  const keywords = (wanted.keywords ?? []).map((keyword) => ({ keyword, words: stemsOf(keyword) }));
  const asked = new Set(works.flatMap(({ provenance }) => provenance.places.map(({ source }) => source))).size;
  const ranked = works.map((work, index) => {
    const { record } = work;
    const age = ageOf(record.date, wanted.today);
    const cited = citedAYear(record, age);
    const score =
      weights.fit * (fits[index] ?? 0) +
      weights.lists * (lists[index] ?? 0) +
      weights.age * recency(age, wanted) +
      weights.citations * Math.min(1, Math.log1p(cited) / Math.log1p(100));
    return { ...work, score, ...explain(work, new Set(texts[index]), keywords, wanted, { age, cited, asked }) };
  });
  const byId = (a: Work, b: Work) => (a.record.id < b.record.id ? -1 : 1);
  const learn = relevanceLearner(() => [
    ...read,
    ...elsewhere.map(({ title, abstract }) => [stemsOf(title), stemsOf(abstract ?? "")]),
  ]);
  return (decisions) => {
    const learned = learn(decisions);
    if (learned === undefined)
      return ranked
        .toSorted((a, b) => b.priority - a.priority || b.score - a.score || byId(a, b))
        .map(({ score: _, ...work }) => work);
    const places = placesOf(learned.scores);
    const weight = weightAfter(decisions.filter((decision) => decision === true).length);
    return ranked
      .map(({ score, ...work }, index) => ({
        work: { ...work, learned: () => learnedText(work.record, learned.reasons(index)) },
        score: weight * (places[index] ?? 0) + (1 - weight) * score,
      }))
      .toSorted((a, b) => b.score - a.score || byId(a.work, b.work))
      .map(({ work }) => work);
  };
}

const weightAfter = (kept: number): number => {
  const { first, last, from } = learnedWeight;
  return first + (last - first) * Math.min(1, kept / from);
};

/** "like the kept ones: grasping, tactile; unlike them: survey", in the record's own words. */
function learnedText({ title, abstract }: PaperRecord, { like, unlike }: ReturnType<Learned["reasons"]>): string {
  const words = normalTitle(`${title} ${abstract ?? ""}`).split(" ");
  // A stem is the beginning of its word.
  const named = (stems: readonly string[]) =>
    stems.map((stem) => words.find((word) => word.startsWith(stem) && stemsOf(word)[0] === stem) ?? stem).join(", ");
  return [
    ...(like.length === 0 ? [] : [`like the kept ones: ${named(like)}`]),
    ...(unlike.length === 0 ? [] : [`unlike them: ${named(unlike)}`]),
  ].join("; ");
}

/**
 * One search outside of a project's rounds: every source is asked the one query, and what they list is merged and
 * ranked as in a run. `now`: milliseconds since the epoch.
 */
export async function searchOnce(
  query: Query,
  sources: readonly string[],
  open: Open,
  now: number,
  told?: OnListing,
): Promise<{
  readonly listings: readonly Listing[];
  readonly candidates: CandidateSet;
  readonly ranked: readonly Ranked[];
}> {
  const listings = await runStep(0, { kind: "search", sources: [...sources], queries: [query] }, open, told);
  const { terms } = query;
  const today = new Date(now).toISOString().slice(0, 10);
  const candidates = candidatesOf(listings, []);
  const ranked = rankWorks(candidates.works, { keywords: [terms], description: terms, today }, []);
  return { listings, candidates, ranked };
}

function queryOf({ keywords = [], focus_area, description }: Wanted): Map<string, number> {
  const query = new Map<string, number>();
  const add = (text: string, weight: number) => {
    for (const word of stemsOf(text)) query.set(word, Math.max(query.get(word) ?? 0, weight));
  };
  add(description ?? "", descriptionWeight);
  add(focus_area ?? "", fieldWeight);
  for (const keyword of keywords) add(keyword, keywordWeight);
  return query;
}

/** Values as shares of the largest. */
function shares(values: readonly number[]): number[] {
  const largest = values.reduce((most, value) => Math.max(most, value), 0);
  return values.map((value) => (largest === 0 ? 0 : value / largest));
}

interface Facts {
  readonly age: number | undefined;
  readonly cited: number;
  readonly asked: number;
}

/**
 * One point to begin with, and one each for what a reader would count too; so the sentence and the number say the same.
 */
function explain(
  { record, provenance: { places } }: Work,
  stems: ReadonlySet<string>,
  keywords: readonly { readonly keyword: string; readonly words: readonly string[] }[],
  { time_window_days: window }: Wanted,
  { age, cited, asked }: Facts,
): { priority: number; why: string } {
  const matched = keywords.filter(({ words }) => words.every((word) => stems.has(word))).map(({ keyword }) => keyword);
  const sources = new Set(places.filter(({ rank }) => rank < firstOnes).map(({ source }) => source));
  const seeds = new Set(places.flatMap(({ seed }) => seed ?? []));
  const isRecent = age !== undefined && window != null && age <= window;
  const points = [
    matched.length > 0,
    matched.length >= Math.max(2, keywords.length / 3),
    sources.size > 1 || seeds.size > 1,
    isRecent || cited >= wellCited,
  ];
  const why = [
    matched.length === 0
      ? "matches no keyword as a whole"
      : `matches ${matched.length} of ${keywords.length} keywords (${matched.slice(0, 4).join(", ")}${matched.length > 4 ? ", …" : ""})`,
    sources.size === 0 ? "" : `in ${sources.size} of ${asked} sources' first ten`,
    seeds.size === 0 ? "" : `linked with ${seeds.size} kept ${seeds.size === 1 ? "paper" : "papers"}`,
    age === undefined ? "undated" : ageText(age),
    record.citations === undefined || record.citations.count === 0 ? "" : `cited ${record.citations.count} times`,
  ];
  return { priority: 1 + points.filter(Boolean).length, why: why.filter((part) => part !== "").join("; ") };
}

const ageText = (days: number): string =>
  days < 0
    ? "dated ahead"
    : days < 730
      ? `${days} ${days === 1 ? "day" : "days"} old`
      : `${Math.floor(days / 365.25)} years old`;

/** Days between a date and today; of a year or month alone, from its first day. */
export function ageOf(date: string | null, today: string): number | undefined {
  const from = Date.parse(`${(date ?? "").concat("-01-01").slice(0, 10)}T00:00:00Z`);
  return Number.isNaN(from) ? undefined : Math.round((Date.parse(`${today}T00:00:00Z`) - from) / 86_400_000);
}

/** 1 within the window, falling to 0 where older work no longer counts; a work without a date stands in the middle. */
function recency(age: number | undefined, { time_window_days, historical_lookback_days }: Wanted): number {
  if (age === undefined) return 0.5;
  const window = time_window_days ?? 365;
  const back = Math.max(historical_lookback_days ?? window * 3, window + 1);
  return age <= window ? 1 : Math.max(0, 1 - (age - window) / (back - window));
}

/**
 * Citations a year; a work of some weeks counts as of half a year, so that one early citation does not look like a
 * rush.
 */
const citedAYear = ({ citations }: PaperRecord, age: number | undefined): number =>
  citations === undefined ? 0 : citations.count / Math.max(0.5, (age ?? 365) / 365.25);
