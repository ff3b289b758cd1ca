import { numbersWithoutQuote, type QuotedNumbers } from "../../text/evidence/numbers/check-numbers.js";
import type { Checked, Paper } from "../generated/rrd.js";
import type { Checkers } from "../derived/checker-rates.js";
import { meaningField, type MeaningMark } from "../derived/meaning-mark.js";
import { evidenceAt } from "../units/narrative/handles.js";
import { type PaperName, type Quote, quoteAt } from "./quotes.js";

/** A sentence of the narrative with the words it rests on. */
export interface Statement {
  readonly text: string;
  /** The quotes it rests on, in the order the narrative gives them. */
  readonly quotes: readonly Quote[];
  /** Papers that an old report names for it without a quote; those of `quotes` are not repeated. */
  readonly papers: readonly PaperName[];
  /** Numbers of the text that stand in none of its passages: "number not in the passage". */
  readonly missingNumbers: readonly string[];
  /** Numbers that stand in a passage, outside the quoted words. */
  readonly outsideNumbers: QuotedNumbers["outside"];
  /** Numbers that a quote holds in another unit or rounded otherwise. */
  readonly nearNumbers: QuotedNumbers["near"];
  /** Handles that lead to no quote that can be shown. */
  readonly brokenHandles: readonly BrokenHandle[];
  /** What another reader says of whether it follows from its quotes. */
  readonly meaning?: MeaningMark;
}

/** A handle that leads nowhere, and why. */
export interface BrokenHandle {
  readonly handle: string;
  /** One clause: "the paper is not in this project", "its quote is not in the text". */
  readonly reason: string;
}

/** A sentence as report.json holds it, or as the headings of an old report give it. */
export interface SaidSentence {
  readonly text: string;
  readonly rests_on?: readonly string[];
  /** Ids of papers, where the source of the sentence names papers only. */
  readonly papers?: readonly string[];
  readonly check?: Checked;
}

/** What statements are resolved by. */
export interface StatementSources {
  readonly papers: ReadonlyMap<string, Paper>;
  readonly names: ReadonlyMap<string, PaperName>;
  /** False for the words of an old report, whose sentences name no quotes to hold their numbers. */
  readonly checksNumbers: boolean;
  /** How checkers of meaning answered to controls. */
  readonly checkers?: Checkers;
}

/** A sentence with its handles led to their quotes, and its numbers looked for in them. Pure. */
export function statementOf(said: SaidSentence, sources: StatementSources): Statement {
  const quotes: Quote[] = [];
  const brokenHandles: BrokenHandle[] = [];
  for (const handle of new Set(said.rests_on ?? [])) {
    const found = quoteOf(handle, sources);
    if ("reason" in found) brokenHandles.push({ handle, reason: found.reason });
    else quotes.push(found.quote);
  }
  const quoted = new Set(quotes.map(({ paper }) => paper.id));
  const papers = [...new Set(said.papers ?? [])].flatMap((id) => (quoted.has(id) ? [] : (sources.names.get(id) ?? [])));
  const years = new Set(quotes.flatMap(({ paper }) => yearOf(sources.papers.get(paper.id)) ?? []));
  const kept = quotes.map((quote) => quote.stored);
  const { missing, outside, near } = sources.checksNumbers
    ? numbersWithoutQuote(said.text, kept, years)
    : { missing: [], outside: [], near: [] };
  return {
    text: said.text,
    quotes,
    papers,
    brokenHandles,
    missingNumbers: missing,
    outsideNumbers: outside,
    nearNumbers: near,
    ...meaningField(said.check, sources.checkers),
  };
}

function quoteOf(
  handle: string,
  { papers, names }: StatementSources,
): { readonly quote: Quote } | { readonly reason: string } {
  const found = evidenceAt(handle, papers);
  if ("reason" in found) return found;
  const { paper, evidence, number } = found;
  const quote = quoteAt(paper, names.get(paper.id) as PaperName, evidence, number);
  return quote === undefined ? { reason: "that quote was not found in the text of the paper" } : { quote };
}

const yearOf = (paper: Paper | undefined): number | undefined => {
  const year = /^\d{4}/.exec(paper?.date ?? "")?.[0];
  return year === undefined ? undefined : Number(year);
};
