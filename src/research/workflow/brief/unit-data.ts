import { ExpectedError, hasCode } from "../../../engine/lib/errors.js";
import { given } from "../../../engine/lib/given.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import type { AboutPaper } from "../../paper-lookups/code-and-citations.js";
import type { UpdateCheck } from "../../paper-lookups/kept-retraction-checks.js";
import { authorsOf } from "../../papers/authors.js";
import { clip, estimateTokens, fit } from "../../../engine/lib/tokens.js";
import { isDecided, fullScore, usesBothRubrics } from "../../papers/rubric/rubric.js";
import { abstractTokensOf, shown, type Batch } from "../../units/screening/screening-batch.js";
import { countingInsights, isIneligible } from "../../screening/eligibility/eligibility.js";
import { blockedNames } from "../../derived/statistics.js";
import {
  defaultMinIdeas,
  defaultMaxIdeas,
  neededOf,
  type ResearchState,
  type ResearchUnit,
} from "../../derived/status.js";
import { prose } from "../../project-files/markdown.js";
import { join } from "node:path";
import { explainSystemError } from "../../../engine/storage/explain-system-error.js";
import { readRegularFile, writtenText } from "../../../engine/storage/regular-file.js";
import { waitingEdit } from "../../../engine/storage/guard/held-edits.js";
import { lessonsName } from "../../project-files/layout.js";

/** The machine-readable part of a brief: what the unit is about. */
export type UnitData = { readonly kind: string; readonly unit: string } & Readonly<Record<string, unknown>>;

const recordTokens = 3_000;
const aboutTokens = 260;

export const discoveryData = ({ rrd }: ResearchState, unit: ResearchUnit, batch: Batch): UnitData => ({
  kind: "discovery",
  unit: unit.id,
  need: neededOf(rrd, batch.candidates.length),
  sources: short(
    (batch.judgeOnly === true ? [] : batch.toAgent) ??
      (rrd.requirements.sources ?? []).filter((name) => !batch.sources.some((served) => served.name === name)),
    20,
    150,
  ),
  blocked_sources: short(blockedNames(rrd), 20, 100),
  keywords: short(rrd.requirements.keywords ?? [], 20, 150),
  candidates: batch.candidates.map((candidate) => shown(candidate, abstractTokensOf(rrd))),
  in_pool: knownTitles(rrd),
});

/** The first texts, each and together of bounded length. */
const short = (texts: readonly string[], each: number, all: number): string[] =>
  fit(texts, all, (text) => clip(text, each)).lines;

/** A value of the person's own, as it stands while it is short. */
const bounded = (value: object, tokens: number): unknown => {
  const text = JSON.stringify(value);
  return estimateTokens(text) <= tokens ? value : clip(text, tokens);
};

/** Titles the agent need not bring again, the newest first; code drops duplicates anyway. */
function knownTitles(rrd: Rrd): string[] {
  const titles: string[] = [];
  let room = 500;
  for (const paper of rrd.papers_pool.toReversed()) {
    const title = clip(paper.title, 16);
    room -= estimateTokens(title) + 2;
    if (room < 0) break;
    titles.push(title);
  }
  return titles;
}

export const paperData = (rrd: Rrd, paper: Paper, depth: string, files: readonly string[]): UnitData => ({
  kind: "paper",
  unit: paper.id,
  title: clip(paper.title, 60),
  authors: short(authorsOf(paper.authors), 12, 60),
  date: paper.date == null ? null : clip(paper.date, 10),
  url: paper.url == null ? null : clip(paper.url, 60),
  abstract: clip(paper.abstract ?? "", 300),
  rubrics: usesBothRubrics(rrd) ? ["execution", "blue_ocean"] : ["execution"],
  read_depth: depth,
  ...(files.length > 0 ? { text_files: files } : {}),
});

const maxUpdates = 8;

/** What happened to a paper since it was published, for anyone who reads it. */
export const updatesData = ({ updates }: UpdateCheck): Record<string, unknown> =>
  updates.length === 0
    ? {}
    : {
        since_published: updates
          .slice(-maxUpdates)
          .map(({ type, date, source }) => ({
            type,
            ...(date === undefined ? {} : { date: clip(date, 10) }),
            source: clip(source, 20),
          })),
      };

/**
 * Code and citations of a paper, for anyone who reads it: addresses and numbers only, no words of the repositories'
 * own.
 */
export function aboutData({ code, citations, unchecked }: AboutPaper): Record<string, unknown> {
  const links = take(code, aboutTokens, ({ repository, relation, source, stars, archived, pushed }) => ({
    repository: clip(repository, 40),
    relation,
    source,
    ...given({ stars }),
    ...(archived === true ? { archived } : {}),
    ...(pushed === undefined ? {} : { pushed: clip(pushed, 10) }),
  }));
  return {
    ...(code.length === 0 ? {} : { code_links: links.shown }),
    ...given({ citations }),
    ...(unchecked.length === 0 ? {} : { code_and_citations_unchecked: short(unchecked, 12, 40) }),
  };
}

export function ideasData({ rrd }: ResearchState, smaller: number): UnitData {
  const ideation = rrd.handoff?.product_ideation;
  return {
    kind: "ideas",
    unit: "ideas",
    min_ideas: ideation?.min_ideas ?? defaultMinIdeas,
    max_ideas: ideation?.max_ideas ?? defaultMaxIdeas,
    goal: clip(ideation?.ranking_goal ?? "", 30),
    constraints: bounded(ideation?.assumed_constraints ?? {}, 250),
    ...records(rrd, recordTokens / 2 ** smaller),
  };
}

/** The best papers and the insights of the best papers, as many as fit; how many are left out is said. */
function records(rrd: Rrd, maxTokens: number): Record<string, unknown> {
  const order = { presented: 0, insights_extracted: 1, waiting: 2, rejected: 2, pending: 3, analyzing: 3 };
  const ranked = rrd.papers_pool.toSorted(
    (a, b) => order[a.status] - order[b.status] || (b.score ?? 0) - (a.score ?? 0),
  );
  const rank = new Map(ranked.map((paper, index) => [paper.id, index]));
  const papers = take(ranked, Math.floor(maxTokens * 0.6), (paper) => ({
    id: clip(paper.id, 60),
    title: clip(paper.title, 30),
    decision:
      paper.retracted === true
        ? `${paper.decision} (retracted: never build on it)`
        : isIneligible(paper)
          ? `${paper.decision ?? paper.status} (not eligible: never build on it)`
          : (paper.decision ?? paper.status),
    score: paper.score == null ? null : `${paper.score}/${fullScore(rrd)}`,
    summary: clip(prose(paper.analysis?.summary), 60),
    results: clip(prose(paper.analysis?.results), 60),
  }));
  const retracted = new Set(rrd.papers_pool.filter((paper) => paper.retracted === true).map(({ id }) => id));
  // What is excluded, or waits for a person, is not something to build on.
  const byPaper = countingInsights(rrd).toSorted(
    (a, b) => (rank.get(a.paper_id ?? "") ?? 1e9) - (rank.get(b.paper_id ?? "") ?? 1e9),
  );
  const insights = take(byPaper, Math.floor(maxTokens * 0.4), (insight) => ({
    id: insight.id,
    paper_id: insight.paper_id,
    ...(retracted.has(insight.paper_id ?? "") ? { retracted: "never build on it" } : {}),
    insight: clip(insight.insight, 45),
    tags: short(insight.tags ?? [], 8, 24),
  }));
  return {
    papers: papers.shown,
    insights: insights.shown,
    not_shown: { papers: papers.left, insights: insights.left },
  };
}

function take<Item, Shown>(
  items: readonly Item[],
  tokens: number,
  show: (item: Item) => Shown,
): { shown: Shown[]; left: number } {
  const result: Shown[] = [];
  let room = tokens;
  for (const item of items) {
    const entry = show(item);
    room -= estimateTokens(JSON.stringify(entry)) + 1;
    if (room < 0) break;
    result.push(entry);
  }
  return { shown: result, left: items.length - result.length };
}

/** What the project is about: requirements, mission and glossary. Bounded. */
export function aboutResearch(rrd: Rrd): string {
  const { requirements, mission } = rrd;
  const lines = [
    `Project: ${clip(rrd.project, 40)}`,
    rrd.description ? `Sought: ${clip(rrd.description, 220)}` : "",
    requirements.focus_area ? `Field: ${clip(requirements.focus_area, 30)}` : "",
    requirements.keywords ? `Keywords: ${clip(requirements.keywords.join("; "), 120)}` : "",
    requirements.time_window_days ? `Recent means: the last ${requirements.time_window_days} days` : "",
    requirements.historical_lookback_days
      ? `Older work counts back to: ${requirements.historical_lookback_days} days`
      : "",
    requirements.published_from || requirements.published_until
      ? `Published: ${requirements.published_from ?? "any time"} to ${requirements.published_until ?? "today"}`
      : "",
    mission?.strategic_focus && mission.strategic_focus !== "balanced"
      ? `Strategic focus: ${mission.strategic_focus}`
      : "",
    ...openQuestions(rrd),
  ].filter((line) => line !== "");
  const terms = rrd.domain_glossary?.enabled === true ? Object.entries(rrd.domain_glossary.terms ?? {}) : [];
  const glossary = fit(terms, 250, ([term, meaning]) => `- ${term}: ${meaning}`).lines;
  return [...lines, ...(glossary.length > 0 ? ["Terms:", ...glossary] : [])].join("\n");
}

function openQuestions(rrd: Rrd): string[] {
  const questions = (rrd.open_questions ?? []).filter((question) => typeof question !== "string");
  return fit(
    questions,
    150,
    (question) => `Assumed: ${question.question} ${String(question.current_default ?? "open")}`,
  ).lines;
}

/**
 * At most `tokens` tokens of AGENTS.md as far as a person has agreed to it, whole sections first come; what was left
 * out is named. Empty where it is missing, or a pipe or a device.
 * @throws ExpectedError where it can't be read, or is not UTF-8: standing orders would be lost without a word.
 */
export async function agentsFile(root: string, stateDir: string, tokens: number): Promise<string> {
  const path = join(root, lessonsName);
  const waiting = await waitingEdit(stateDir, path);
  const text = waiting === undefined ? await writtenLessons(path) : (waiting.before ?? "");
  const sections = text.split(/^(?=#{1,3} )/m).filter((section) => section.trim() !== "");
  const kept: string[] = [];
  const left: string[] = [];
  if (tokens < 120) return "";
  let room = tokens - 60;
  for (const section of sections) {
    const size = estimateTokens(section);
    const title = /^#+ (.+)/.exec(section)?.[1] ?? "its beginning";
    if (size <= room) {
      kept.push(section.trim());
      room -= size;
    } else if (kept.length === 0) {
      kept.push(clip(section, room));
      room = 0;
      left.push(`the rest of "${clip(title, 10)}"`);
    } else {
      left.push(`"${clip(title, 10)}"`);
    }
  }
  if (left.length > 0) kept.push(clip(`(Left out of AGENTS.md for length: ${left.join(", ")}.)`, 60));
  return kept.join("\n\n");
}

async function writtenLessons(path: string): Promise<string> {
  const bytes = await readRegularFile(path).catch((error: unknown) => {
    // A pipe or a device holds no notes.
    if (hasCode(error, "ENOENT") || error instanceof ExpectedError) return undefined;
    throw explainSystemError(error, path);
  });
  return bytes === undefined ? "" : writtenText(bytes, path);
}

/**
 * Decided papers and insights that share most words with `paper`, a line each, so that an agent can connect them.
 * Bounded.
 */
export function related(rrd: Rrd, paper: Paper, tokens: number): string[] {
  const about = new Set(words(`${paper.title} ${paper.abstract ?? ""}`));
  const rank = <Item extends object>(items: readonly Item[], textOf: (item: Item) => string): Item[] => {
    const scored: { readonly item: Item; readonly score: number }[] = [];
    for (const item of items) {
      const score = overlap(about, wordsOf(item, textOf));
      if (score > 0) scored.push({ item, score });
    }
    return scored
      .sort((a, b) => b.score - a.score)
      .slice(0, 12)
      .map(({ item }) => item);
  };
  const papers = rank(
    rrd.papers_pool.filter((other) => isDecided(other) && other.id !== paper.id),
    (other) => other.title,
  );
  const insights = rank(countingInsights(rrd), (insight) => insight.insight);
  const half = Math.floor(tokens / 2);
  return [
    ...fit(papers, half, (other) => `- ${other.id}: ${clip(other.title, 30)}`).lines,
    ...fit(
      insights,
      half,
      (insight) => `- ${insight.id ?? "insight"} (${insight.paper_id ?? "several"}): ${clip(insight.insight, 50)}`,
    ).lines,
  ];
}

/** The different words of a text, of four letters or more. */
const words = (text: string): readonly string[] => [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu))];

/**
 * The words of a record's one text. A record that nobody changes is the same object from one brief to the next, and
 * most of the time would go into reading thousands of them again.
 */
function wordsOf<Item extends object>(item: Item, textOf: (item: Item) => string): readonly string[] {
  const known = wordsRead.get(item);
  if (known !== undefined) return known;
  const read = words(textOf(item));
  wordsRead.set(item, read);
  return read;
}
const wordsRead = new WeakMap<object, readonly string[]>();

function overlap(a: ReadonlySet<string>, b: readonly string[]): number {
  let shared = 0;
  for (const word of b) if (a.has(word)) shared += 1;
  return shared / Math.sqrt(b.length + 1);
}
