import { clip, estimateTokens } from "../../../engine/lib/tokens.js";
import { clippedPassage, notesOf, quotedWords } from "../../../text/evidence/quoted.js";
import type { Evidence, Paper, Rrd } from "../../generated/rrd.js";
import { fullScore } from "../../papers/rubric/rubric.js";
import { joinTexts } from "../../project-files/markdown.js";
import { countingInsights } from "../../screening/eligibility/eligibility.js";
import { applyChecks } from "../retractions.js";
import type { BriefRequest, ResearchState, UnitBrief, UnitData } from "../unit-kind.js";
import { handleOf, reasonNotToCite } from "../narrative/handles.js";
import { groupInsights } from "./insight-groups.js";
import { groupName, pairName } from "./judge-report.js";
import type { ReportMaterial } from "./prepare.js";
import { findPairs } from "./opposite-findings.js";

/** A quote in the brief of the report. `handle`: the id by which the agent cites the quote. */
interface ShownQuote {
  readonly handle: string;
  /** The passage, with the quoted words between “ and ”. */
  readonly passage: string;
  /** Says where the quote is cut, and which numbers of its claim it does not contain. */
  readonly note?: string;
  readonly where?: string;
  /** Absent if the quote was found in the text. */
  readonly status?: "near" | "could-not-check";
}

/** Maximum tokens for papers with their quotes, and for pairs. */
const maxPaperTokens = 2_900;
/** Maximum tokens for pairs, as part of `maxPaperTokens`. */
const maxPairTokens = 1_000;
/** Maximum tokens for groups of insights. */
const maxGroupTokens = 900;
const maxPassageTokens = 75;
const maxPairPassageTokens = 40;
/** Maximum tokens for the notes on a quote. */
const maxNoteTokens = 40;
const maxQuotes = 8;
const maxShownInsights = 4;

/** The best papers with their quotes, after their retraction checks. */
export const reportBrief = ({
  state: { rrd },
  material,
  recordOverflows,
}: BriefRequest<ReportMaterial>): UnitBrief<ReportMaterial> => ({
  data: reportData({ rrd: applyChecks(rrd, material.checks).rrd }, recordOverflows),
});

/**
 * The data for the agent of a report: the best papers with their quotes and handles, and the groups of insights that it
 * must name. The size is bounded: every paper gets a first quote before any paper gets a second one.
 * `contextOverflows`: how often the unit exceeded a model's context.
 */
export function reportData({ rrd }: Pick<ResearchState, "rrd">, contextOverflows: number): UnitData {
  const { total_discovered, total_presented, total_rejected, total_insights_extracted } = rrd.statistics ?? {};
  const scale = 1 / 2 ** contextOverflows;
  const citablePapers = rrd.papers_pool.filter((paper) => reasonNotToCite(paper) === undefined);
  const ranked = citablePapers.filter(isUseful).sort(compareByRank);
  const pairs = selectPairs(rrd, maxPairTokens * scale);
  const { papers, left: omitted } = selectPapers(rrd, ranked, maxPaperTokens * scale - pairs.tokens);
  const groups = groupInsights(rrd);
  const shown = selectGroups(groups, maxGroupTokens * scale);
  const retracted = rrd.papers_pool.filter((paper) => paper.retracted === true).map(({ id }) => clip(id, 60));
  return {
    kind: "report",
    unit: "report",
    asked: clip(rrd.question || rrd.description || rrd.project, 80),
    statistics: {
      total_discovered,
      total_presented,
      total_insights_extracted,
      total_rejected,
      total_insights: countingInsights(rrd).length,
    },
    ...formerFindings(rrd),
    papers,
    groups: shown,
    ...(pairs.shown.length === 0 ? {} : { side_by_side: pairs.shown }),
    ...(retracted.length === 0 ? {} : { retracted_never_build_on: retracted.slice(0, 10) }),
    not_shown: { papers: omitted, groups: groups.length - shown.length },
  };
}

/** The findings before the last update, so that the agent can say which of its findings continue an earlier one. */
function formerFindings(rrd: Rrd): object {
  const before = rrd.updates?.at(-1)?.before ?? [];
  if (before.length === 0) return {};
  return {
    former_findings: {
      say: "The findings of the report before the update. If a finding of yours continues one of these, set its `was` to that id, even if you word it anew; omit `was` in a new finding. Do not continue a finding that the papers no longer support.",
      list: before.slice(0, 12).map(({ id, text }) => ({ id, text: clip(text, 60) })),
    },
  };
}

/** Pairs of quotes on the same outcome, with the readers' statements, as many as fit into `maxTokens`. */
function selectPairs(rrd: Rrd, maxTokens: number): { readonly shown: readonly object[]; readonly tokens: number } {
  const shown: object[] = [];
  let tokens = 0;
  for (const [index, { outcome, stand, sides }] of findPairs(rrd.papers_pool).entries()) {
    if (sides.some(({ handle }) => handle.length > 220)) continue;
    const pair = {
      pair: pairName(index),
      outcome: clip(outcome, 16),
      stand,
      sides: sides.map(({ handle, about, evidence }) => ({
        handle,
        compared: clip(about.compared, 20),
        direction: about.direction,
        passage: clippedPassage(evidence, maxPairPassageTokens),
      })),
    };
    const cost = estimateTokens(JSON.stringify(pair, null, 1)) + 6;
    if (tokens + cost > maxTokens) continue;
    tokens += cost;
    shown.push(pair);
  }
  return { shown, tokens };
}

const statusOrder = {
  presented: 0,
  insights_extracted: 1,
  waiting: 2,
  rejected: 3,
  not_retrieved: 4,
  pending: 5,
  analyzing: 5,
};

const compareByRank = (a: Paper, b: Paper): number =>
  statusOrder[a.status] - statusOrder[b.status] || (b.score ?? 0) - (a.score ?? 0) || (a.id < b.id ? -1 : 1);

/** Whether a paper was read and is useful. A rejected paper is useful only if it has a verified quote. */
const isUseful = ({ status, analysis }: Paper): boolean =>
  status === "presented" ||
  status === "insights_extracted" ||
  (analysis?.evidence ?? []).some(({ status: found }) => found === "verified");

function selectPapers(
  rrd: Rrd,
  ranked: readonly Paper[],
  tokens: number,
): { readonly papers: readonly object[]; readonly left: number } {
  let freeTokens = tokens;
  const chosen: { readonly paper: Paper; readonly head: object; readonly quotes: ShownQuote[] }[] = [];
  const remainingQuotes: (readonly ShownQuote[])[] = [];
  const costOf = (value: object) => estimateTokens(JSON.stringify(value, null, 1)) + 6;
  for (const paper of ranked) {
    const quotes = quotesOf(paper, rrd.requirements.keywords ?? []);
    const summary = paperSummary(rrd, paper, quotes.length === 0);
    const firstQuote = quotes.slice(0, 1);
    const cost = costOf({ ...summary, quotes: firstQuote });
    // Half of the tokens are for first quotes, so that the best papers can show more than one.
    if (cost > freeTokens || (chosen.length >= 4 && freeTokens - cost < tokens / 2)) break;
    freeTokens -= cost;
    chosen.push({ paper, head: summary, quotes: [...firstQuote] });
    remainingQuotes.push(quotes.slice(1, maxQuotes));
  }
  for (let round = 0; round < maxQuotes; round++)
    for (const [index, quotes] of remainingQuotes.entries()) {
      const quote = quotes[round];
      const cost = quote === undefined ? 0 : costOf(quote);
      if (quote === undefined || cost > freeTokens) continue;
      freeTokens -= cost;
      chosen[index]?.quotes.push(quote);
    }
  const byNumber = (a: ShownQuote, b: ShownQuote) => numberIn(a.handle) - numberIn(b.handle);
  return {
    papers: chosen.map(({ head, quotes }) => ({ ...head, quotes: quotes.sort(byNumber) })),
    left: ranked.length - chosen.length,
  };
}

const numberIn = (handle: string): number => Number(handle.slice(handle.lastIndexOf("#") + 1));

/** The data of a paper. They contain the summary only if the paper has no quote. */
const paperSummary = (
  rrd: Rrd,
  { id, title, date, decision, status, score, read_depth, analysis }: Paper,
  hasNoQuotes: boolean,
) => ({
  id: clip(id, 60),
  title: clip(title, 30),
  ...(date == null ? {} : { date: clip(date, 10) }),
  decision: decision ?? status,
  ...(score == null ? {} : { score: `${score}/${fullScore(rrd)}` }),
  ...(read_depth === undefined || read_depth === "full" ? {} : { read: read_depth }),
  ...(hasNoQuotes ? { summary: clip(joinTexts(analysis?.summary), 50) } : {}),
});

/**
 * The quotes of a paper, the most useful first: verified ones, with numbers, from results or conclusions, with search
 * words. A quote with a very long handle is omitted.
 */
function quotesOf(paper: Paper, keywords: readonly string[]): ShownQuote[] {
  const words = new Set(keywords.flatMap((each) => each.toLowerCase().match(/\p{L}{4,}/gu) ?? []));
  return (paper.analysis?.evidence ?? [])
    .map((evidence, index) => ({ evidence, number: index + 1, worth: usefulness(evidence, words) }))
    .filter(({ evidence, number }) => evidence.status !== "not-in-text" && handleOf(paper.id, number).length <= 220)
    .sort((a, b) => b.worth - a.worth || a.number - b.number)
    .map(({ evidence, number }) => {
      const { locator, status } = evidence;
      const note = notesOf(evidence).join("; ");
      return {
        handle: handleOf(paper.id, number),
        passage: clippedPassage(evidence, maxPassageTokens),
        ...(note === "" ? {} : { note: clip(note, maxNoteTokens) }),
        ...(locator ? { where: clip(locator, 8) } : {}),
        ...(status === "verified" || status === "not-in-text" ? {} : { status }),
      };
    });
}

/** Names of sections whose quotes are preferred. */
const importantSections = /\b(?:result|conclusion|discussion|finding|evaluation|abstract|limitation)/i;

function usefulness(evidence: Evidence, words: ReadonlySet<string>): number {
  const { locator, status } = evidence;
  const quote = quotedWords(evidence);
  const quoteWords = new Set(quote.toLowerCase().match(/\p{L}{4,}/gu) ?? []);
  const shared = [...words].filter((word) => quoteWords.has(word)).length;
  return (
    (status === "verified" ? 4 : 0) +
    (/\d/.test(quote) ? 2 : 0) +
    (importantSections.test(locator ?? "") ? 1 : 0) +
    (/conclusion/i.test(locator ?? "") ? 1.5 : 0) +
    // Limitations that a paper states should be among the first quotes.
    (/limitation/i.test(locator ?? "") ? 2 : 0) +
    Math.min(shared, 3) / 2
  );
}

function selectGroups(groups: ReturnType<typeof groupInsights>, tokens: number): object[] {
  const shown: object[] = [];
  let freeTokens = tokens;
  for (const [index, { tags, insights }] of groups.entries()) {
    const entry = {
      group: groupName(index),
      tags: tags.map((tag) => clip(tag, 6)),
      size: insights.length,
      insights: insights.slice(0, maxShownInsights).map(({ insight }) => clip(insight, 28)),
    };
    freeTokens -= estimateTokens(JSON.stringify(entry, null, 1)) + 8;
    if (freeTokens < 0) break;
    shown.push(entry);
  }
  return shown;
}
