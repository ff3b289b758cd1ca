import { clip, estimateTokens } from "../../../engine/lib/tokens.js";
import { clippedPassage, notesOf, quotedWords } from "../../../text/evidence/quoted.js";
import type { Evidence, Paper, Rrd } from "../../generated/rrd.js";
import { fullScore } from "../../papers/rubric/rubric.js";
import { prose } from "../../project-files/markdown.js";
import { countingInsights } from "../../screening/eligibility/eligibility.js";
import { withChecks } from "../retractions.js";
import type { BriefRequest, ResearchState, UnitBrief, UnitData } from "../unit-kind.js";
import { handleOf, whyNoGround } from "../narrative/handles.js";
import { groupInsights } from "./insight-groups.js";
import { groupName, pairName } from "./judge-report.js";
import type { ReportMaterial } from "./prepare.js";
import { sideBySide } from "./opposite-findings.js";

/** A quote as the agent of a report sees it, in the paper's own sentence; it names it by its handle. */
interface ShownQuote {
  readonly handle: string;
  /** The passage, the quoted words between “ and ”. */
  readonly passage: string;
  /** How the quote is cut, and which numbers of its claim it does not hold. */
  readonly note?: string;
  readonly where?: string;
  /** Absent: found in the text. */
  readonly status?: "near" | "could-not-check";
}

/** Tokens for papers with their quotes, of these at most so many for pairs; and for groups of insights. */
const paperTokens = 2_900;
const pairTokens = 1_000;
const groupTokens = 900;
const passageTokens = 75;
const pairPassageTokens = 40;
/** Room for how a quote is cut at both ends, and a number. */
const noteTokens = 40;
const maxQuotes = 8;
const maxShownInsights = 4;

/** The best papers and their quotes, as they stand once their retraction checks are in. */
export const briefOfReport = ({
  state: { rrd },
  material,
  recordOverflows,
}: BriefRequest<ReportMaterial>): UnitBrief<ReportMaterial> => ({
  data: reportData({ rrd: withChecks(rrd, material.retraction).rrd }, recordOverflows),
});

/**
 * What the agent of a report is given: the best papers with their quotes, each under its handle, and the groups of
 * insights that it is to name. Bounded, however many papers there are: a first quote of every paper comes before a
 * second one of any. `smaller`: how often it filled a context too far.
 */
export function reportData({ rrd }: Pick<ResearchState, "rrd">, smaller: number): UnitData {
  const { total_discovered, total_presented, total_rejected, total_insights_extracted } = rrd.statistics ?? {};
  const scale = 1 / 2 ** smaller;
  const standing = rrd.papers_pool.filter((paper) => whyNoGround(paper) === undefined);
  const ranked = standing.filter(isWorthNaming).sort(byRank);
  const pairs = shownPairs(rrd, pairTokens * scale);
  const { papers, left } = withQuotes(rrd, ranked, paperTokens * scale - pairs.tokens);
  const groups = groupInsights(rrd);
  const shown = shownGroups(groups, groupTokens * scale);
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
    not_shown: { papers: left, groups: groups.length - shown.length },
  };
}

/** The findings before the last update, by which the new ones say what they continue. */
function formerFindings(rrd: Rrd): object {
  const before = rrd.updates?.at(-1)?.before ?? [];
  if (before.length === 0) return {};
  return {
    former_findings: {
      say: "The report as it stood. Where a finding of yours continues one of these, set its `was` to that id, also where you word it anew; leave `was` out of a finding that is new. What the papers no longer carry is not continued.",
      list: before.slice(0, 12).map(({ id, text }) => ({ id, text: clip(text, 60) })),
    },
  };
}

/** Quotes on one outcome, with what their readers stated, as many as there is room for. */
function shownPairs(rrd: Rrd, most: number): { readonly shown: readonly object[]; readonly tokens: number } {
  const shown: object[] = [];
  let tokens = 0;
  for (const [index, { outcome, stand, sides }] of sideBySide(rrd.papers_pool).entries()) {
    if (sides.some(({ handle }) => handle.length > 220)) continue;
    const pair = {
      pair: pairName(index),
      outcome: clip(outcome, 16),
      stand,
      sides: sides.map(({ handle, about, evidence }) => ({
        handle,
        compared: clip(about.compared, 20),
        direction: about.direction,
        passage: clippedPassage(evidence, pairPassageTokens),
      })),
    };
    const cost = estimateTokens(JSON.stringify(pair, null, 1)) + 6;
    if (tokens + cost > most) continue;
    tokens += cost;
    shown.push(pair);
  }
  return { shown, tokens };
}

const order = {
  presented: 0,
  insights_extracted: 1,
  waiting: 2,
  rejected: 3,
  not_retrieved: 4,
  pending: 5,
  analyzing: 5,
};

const byRank = (a: Paper, b: Paper): number =>
  order[a.status] - order[b.status] || (b.score ?? 0) - (a.score ?? 0) || (a.id < b.id ? -1 : 1);

/** Read, and of some use; of what was rejected only what has quotes. */
const isWorthNaming = ({ status, analysis }: Paper): boolean =>
  status === "presented" ||
  status === "insights_extracted" ||
  (analysis?.evidence ?? []).some(({ status: found }) => found === "verified");

function withQuotes(
  rrd: Rrd,
  ranked: readonly Paper[],
  tokens: number,
): { readonly papers: readonly object[]; readonly left: number } {
  let room = tokens;
  const taken: { readonly paper: Paper; readonly head: object; readonly quotes: ShownQuote[] }[] = [];
  const waiting: (readonly ShownQuote[])[] = [];
  const costOf = (value: object) => estimateTokens(JSON.stringify(value, null, 1)) + 6;
  for (const paper of ranked) {
    const quotes = quotesOf(paper, rrd.requirements.keywords ?? []);
    const head = headOf(rrd, paper, quotes.length === 0);
    const first = quotes.slice(0, 1);
    const cost = costOf({ ...head, quotes: first });
    // Half of the room is for first quotes, so that the best papers can show more than one.
    if (cost > room || (taken.length >= 4 && room - cost < tokens / 2)) break;
    room -= cost;
    taken.push({ paper, head, quotes: [...first] });
    waiting.push(quotes.slice(1, maxQuotes));
  }
  for (let round = 0; round < maxQuotes; round++)
    for (const [index, more] of waiting.entries()) {
      const quote = more[round];
      const cost = quote === undefined ? 0 : costOf(quote);
      if (quote === undefined || cost > room) continue;
      room -= cost;
      taken[index]?.quotes.push(quote);
    }
  const byNumber = (a: ShownQuote, b: ShownQuote) => numberIn(a.handle) - numberIn(b.handle);
  return {
    papers: taken.map(({ head, quotes }) => ({ ...head, quotes: quotes.sort(byNumber) })),
    left: ranked.length - taken.length,
  };
}

const numberIn = (handle: string): number => Number(handle.slice(handle.lastIndexOf("#") + 1));

/** What a paper is; its summary only where no quote speaks for it. */
const headOf = (
  rrd: Rrd,
  { id, title, date, decision, status, score, read_depth, analysis }: Paper,
  bare: boolean,
) => ({
  id: clip(id, 60),
  title: clip(title, 30),
  ...(date == null ? {} : { date: clip(date, 10) }),
  decision: decision ?? status,
  ...(score == null ? {} : { score: `${score}/${fullScore(rrd)}` }),
  ...(read_depth === undefined || read_depth === "full" ? {} : { read: read_depth }),
  ...(bare ? { summary: clip(prose(analysis?.summary), 50) } : {}),
});

/**
 * The quotes of a paper, those that say most first: found in the text, with numbers, of results or conclusions, with
 * words that were searched for. A handle that is too long to be written is left out with its paper.
 */
function quotesOf(paper: Paper, keywords: readonly string[]): ShownQuote[] {
  const words = new Set(keywords.flatMap((each) => each.toLowerCase().match(/\p{L}{4,}/gu) ?? []));
  return (paper.analysis?.evidence ?? [])
    .map((evidence, index) => ({ evidence, number: index + 1, worth: worthOf(evidence, words) }))
    .filter(({ evidence, number }) => evidence.status !== "not-in-text" && handleOf(paper.id, number).length <= 220)
    .sort((a, b) => b.worth - a.worth || a.number - b.number)
    .map(({ evidence, number }) => {
      const { locator, status } = evidence;
      const note = notesOf(evidence).join("; ");
      return {
        handle: handleOf(paper.id, number),
        passage: clippedPassage(evidence, passageTokens),
        ...(note === "" ? {} : { note: clip(note, noteTokens) }),
        ...(locator ? { where: clip(locator, 8) } : {}),
        ...(status === "verified" || status === "not-in-text" ? {} : { status }),
      };
    });
}

const telling = /\b(?:result|conclusion|discussion|finding|evaluation|abstract|limitation)/i;

function worthOf(evidence: Evidence, words: ReadonlySet<string>): number {
  const { locator, status } = evidence;
  const quote = quotedWords(evidence);
  const said = new Set(quote.toLowerCase().match(/\p{L}{4,}/gu) ?? []);
  const shared = [...words].filter((word) => said.has(word)).length;
  return (
    (status === "verified" ? 4 : 0) +
    (/\d/.test(quote) ? 2 : 0) +
    (telling.test(locator ?? "") ? 1 : 0) +
    (/conclusion/i.test(locator ?? "") ? 1.5 : 0) +
    // What a paper says that it can't do is worth a place among the first.
    (/limitation/i.test(locator ?? "") ? 2 : 0) +
    Math.min(shared, 3) / 2
  );
}

function shownGroups(groups: ReturnType<typeof groupInsights>, tokens: number): object[] {
  const shown: object[] = [];
  let room = tokens;
  for (const [index, { tags, insights }] of groups.entries()) {
    const entry = {
      group: groupName(index),
      tags: tags.map((tag) => clip(tag, 6)),
      size: insights.length,
      insights: insights.slice(0, maxShownInsights).map(({ insight }) => clip(insight, 28)),
    };
    room -= estimateTokens(JSON.stringify(entry, null, 1)) + 8;
    if (room < 0) break;
    shown.push(entry);
  }
  return shown;
}
