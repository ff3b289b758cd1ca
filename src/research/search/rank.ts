import type { Requirements } from "../generated/rrd.js";
import type { PaperRecord } from "../papers/paper-record.js";
import { bm25, stemsOf } from "./bm25.js";
import type { Apart } from "../papers/dedup/merge-records.js";
import type { Query } from "../sources/client/source.js";
import { listWeight, type CandidateSet, candidatesOf, type Work } from "./candidates.js";
import type { Listing, Open, Told } from "./result-list.js";
import { runStep } from "./run-round.js";

/** A work as it is put before anyone who screens it. */
export interface Ranked extends Work {
  /** 1 to 5; 5 is read first. */
  readonly priority: number;
  /** What the priority rests on, in words. */
  readonly why: string;
}

/** What the ranking is made for. */
interface Wanted extends Pick<
  Requirements,
  "keywords" | "focus_area" | "time_window_days" | "historical_lookback_days"
> {
  /** What is sought, in the person's words. */
  readonly description?: string | null | undefined;
  /** YYYY-MM-DD. */
  readonly today: string;
}

/** How much each part of the order weighs. Fit first: a work that every list has but that is about something else helps nobody. */
const weights = { fit: 0.5, lists: 0.25, age: 0.15, citations: 0.1 };
const keywordWeight = 1;
const fieldWeight = 0.5;
const descriptionWeight = 0.2;
/** So near the top of a list, a source means it. */
const firstOnes = 10;
/** Citations a year that show that others built on a work. */
const wellCited = 10;

/** Orders works by how well they fit, how many lists put them first, how recent they are and how often they are cited. */
export function rankWorks(works: readonly Work[], wanted: Wanted): Ranked[] {
  const texts = works.map(({ record: { title, abstract } }) => [
    ...stemsOf(title),
    ...stemsOf(title),
    ...stemsOf(abstract ?? ""),
  ]);
  const fits = shares(bm25(texts, queryOf(wanted)));
  const lists = shares(works.map(listWeight));
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
    return { ...work, score, ...explain(work, new Set(texts[index]), wanted, { age, cited, asked }) };
  });
  return ranked
    .toSorted((a, b) => b.priority - a.priority || b.score - a.score || (a.record.id < b.record.id ? -1 : 1))
    .map(({ score: _, ...work }) => work);
}

/** The works that these answers name, merged and in order: the one path of runs, of `search` and of the agents' tool. */
export function rankListings(
  listings: readonly Listing[],
  wanted: Wanted,
  apart: readonly Apart[] = [],
): { readonly candidates: CandidateSet; readonly ranked: readonly Ranked[] } {
  const candidates = candidatesOf(listings, apart);
  return { candidates, ranked: rankWorks(candidates.works, wanted) };
}

/** One search outside of a project's rounds: every source is asked the one query, and what they list is merged and ranked as in a run. `now`: milliseconds since the epoch. */
export async function searchOnce(
  query: Query,
  sources: readonly string[],
  open: Open,
  now: number,
  told?: Told,
): Promise<{
  readonly listings: readonly Listing[];
  readonly candidates: CandidateSet;
  readonly ranked: readonly Ranked[];
}> {
  const listings = await runStep(0, { kind: "search", sources: [...sources], queries: [query] }, open, told);
  const { terms } = query;
  const today = new Date(now).toISOString().slice(0, 10);
  return { listings, ...rankListings(listings, { keywords: [terms], description: terms, today }) };
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

/** One point to begin with, and one each for what a reader would count too; so the sentence and the number say the same. */
function explain(
  { record, provenance: { places } }: Work,
  stems: ReadonlySet<string>,
  wanted: Wanted,
  { age, cited, asked }: Facts,
): { priority: number; why: string } {
  const keywords = wanted.keywords ?? [];
  const matched = keywords.filter((keyword) => stemsOf(keyword).every((word) => stems.has(word)));
  const sources = new Set(places.filter(({ rank }) => rank < firstOnes).map(({ source }) => source));
  const seeds = new Set(places.flatMap(({ seed }) => seed ?? []));
  const isRecent = age !== undefined && wanted.time_window_days != null && age <= wanted.time_window_days;
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

/** Citations a year; a work of some weeks counts as of half a year, so that one early citation does not look like a rush. */
const citedAYear = ({ citations }: PaperRecord, age: number | undefined): number =>
  citations === undefined ? 0 : citations.count / Math.max(0.5, (age ?? 365) / 365.25);
