import { numbersWithoutQuote, type QuotedNumbers } from "../../text/evidence/numbers/check-numbers.js";
import type { Checked, Paper } from "../generated/rrd.js";
import type { Checkers } from "../derived/checker-rates.js";
import { meaningField, type MeaningMark } from "../derived/meaning-mark.js";
import { evidenceAt } from "../units/narrative/handles.js";
import { type PaperName, type Quote, quoteAt } from "./quotes.js";

/** A sentence of the narrative with its quotes. */
export interface Statement {
  readonly text: string;
  /** The quotes that it cites, in the order of the narrative. */
  readonly quotes: readonly Quote[];
  /** Papers that an old report names without a quote, except those of `quotes`. */
  readonly papers: readonly PaperName[];
  /** Numbers of the text that are in none of its passages, and not in the title or year of a cited paper. */
  readonly missingNumbers: readonly string[];
  /** Numbers that are in a passage, but outside the quoted words. */
  readonly outsideNumbers: QuotedNumbers["outside"];
  /** Numbers that a quote has in another unit or rounded differently. */
  readonly nearNumbers: QuotedNumbers["near"];
  /** Handles without a quote that can be shown. */
  readonly brokenHandles: readonly BrokenHandle[];
  /** Another reader's verdict on the sentence. */
  readonly meaning?: MeaningMark;
}

/** A handle without a quote, and the reason. */
export interface BrokenHandle {
  readonly handle: string;
  /** One clause: "the paper is not in this project", "its quote is not in the text". */
  readonly reason: string;
}

/** A sentence as it is stored in report.json, or under the headings of an old report. */
export interface StoredSentence {
  readonly text: string;
  readonly rests_on?: readonly string[];
  /** Ids of papers, if the sentence names papers without quotes. */
  readonly papers?: readonly string[];
  readonly check?: Checked;
}

/** The data for resolving handles. */
export interface StatementSources {
  readonly papers: ReadonlyMap<string, Paper>;
  readonly names: ReadonlyMap<string, PaperName>;
  /** False for sentences of an old report, which name no quotes. */
  readonly checksNumbers: boolean;
  /** The checkers' answers to controls. */
  readonly checkers?: Checkers;
}

/** Resolves the handles of a sentence and checks its numbers against the quotes and the cited papers' titles. Pure. */
export function statementOf(sentence: StoredSentence, sources: StatementSources): Statement {
  const quotes: Quote[] = [];
  const brokenHandles: BrokenHandle[] = [];
  for (const handle of new Set(sentence.rests_on ?? [])) {
    const found = evidenceAt(handle, sources.papers);
    if ("reason" in found) brokenHandles.push({ handle, reason: found.reason });
    else {
      const { paper, evidence, number } = found;
      const quote = quoteAt(paper, sources.names.get(paper.id) as PaperName, evidence, number);
      if (quote !== undefined) quotes.push(quote);
    }
  }
  const quotedIds = new Set(quotes.map(({ paper }) => paper.id));
  const papers = [...new Set(sentence.papers ?? [])].flatMap((id) =>
    quotedIds.has(id) ? [] : (sources.names.get(id) ?? []),
  );
  const citedPapers = quotes.flatMap(({ paper }) => sources.papers.get(paper.id) ?? []);
  const storedQuotes = quotes.map((quote) => quote.stored);
  const { missing, outside, near } = sources.checksNumbers
    ? numbersWithoutQuote(sentence.text, storedQuotes, citedPapers)
    : { missing: [], outside: [], near: [] };
  return {
    text: sentence.text,
    quotes,
    papers,
    brokenHandles,
    missingNumbers: missing,
    outsideNumbers: outside,
    nearNumbers: near,
    ...meaningField(sentence.check, sources.checkers),
  };
}
