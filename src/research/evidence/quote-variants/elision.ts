import type { Span } from "../quote-edges.js";
import { beginsSentence, crossesSentence, endsSentence } from "../sentences.js";
import { weighty, weightySentence } from "../changed-sense.js";

/** More fragments than this are a collage. */
const maxFragments = 4;
/** So many characters may be left out between whole sentences: a paragraph. */
const maxSkipped = 1000;
/** So many within a sentence. */
const maxSkippedWithin = 600;

const elisionMark =
  /\[\s{0,3}(?:[…⋯‥]{1,2}|\.\s?\.\s?\.)\s{0,3}\]|\(\s{0,3}(?:[…⋯‥]|\.\.\.)\s{0,3}\)|[…‥]|\.\s?\.\s?\.{1,6}/;

/**
 * The fragments of a quote with `…`, `...` or `[...]` in it; one where it has none. Marks that follow each other are
 * one.
 */
export const fragmentsOf = (quote: string): string[] =>
  quote
    .split(elisionMark)
    // "in […]. The rest" closes the sentence that it cuts: the stop is not part of the next.
    .map((fragment, index) => (index === 0 ? fragment : fragment.replace(/^\s{0,3}[.;,:]\s{1,3}/, "")))
    .filter((fragment) => /[\p{L}\p{N}\p{Sm}]/u.test(fragment));

/** Whether a quote has a mark for words left out. */
export const isElided = (quote: string): boolean => elisionMark.test(quote);

/** Why so many fragments are not a quote, or undefined. */
export const tooManyFragments = (count: number): string | undefined =>
  count > maxFragments ? `more than ${maxFragments} fragments are joined by "…"` : undefined;

/**
 * "From 41 % to … 12 %": what is left out holds the number that belongs there. So many words on either side are looked
 * at.
 */
const joinsNumbers = (text: string, first: Span, second: Span): boolean =>
  /\p{N}/u.test(text.slice(first.end, second.start)) &&
  /\p{N}(?:\s{0,9}[^\s\p{N}]{1,20}){0,3}\s{0,9}$/u.test(text.slice(Math.max(first.start, first.end - 80), first.end)) &&
  /^(?:\s{0,9}[^\s\p{N}]{1,20}){0,3}\s{0,9}[^\s\p{L}]{0,3}\p{N}/u.test(text.slice(second.start, second.start + 80));

/** Fewer words are left out for their sake: nobody shortens a quote by two words. */
const minSkipped = 3;

/** What is left out where that is a word or two; undefined where it is more, or stands in brackets. */
function shortly(skipped: string): string | undefined {
  const said = skipped.replace(/[([][^()[\]]{0,200}[)\]]/g, " ").match(/[\p{L}\p{N}][^\s,;]{0,60}/gu) ?? [];
  return said.length > 0 && said.length < minSkipped ? said.join(" ") : undefined;
}

const border = /(?:^|\s)\|(?=\s|$)/;

/**
 * Whether what is left out holds a cell of a table with a number: "Incidence … 2/14" tells of one group what the row
 * tells of two.
 */
function skipsCell(text: string, first: Span, second: Span): boolean {
  const skipped = text.slice(first.end, second.start);
  if (!/\p{N}/u.test(skipped) || !border.test(skipped)) return false;
  const isInRow = (at: number) => {
    const end = text.indexOf("\n", at);
    return text.slice(text.lastIndexOf("\n", at - 1) + 1, end === -1 ? text.length : end).includes(" | ");
  };
  return isInRow(first.end) || isInRow(second.start);
}

/**
 * Why what a quote left out between two fragments may not be left out; undefined where it may. Fragments are of one
 * sentence, or whole sentences near each other.
 */
export function joinProblem(text: string, first: Span, second: Span): string | undefined {
  const length = second.start - first.end;
  if (length > maxSkipped) return `the fragments around "…" stand ${length} characters apart`;
  if (skipsCell(text, first, second)) return '"…" leaves out a cell of the table that has a number';
  const skipped = text.slice(first.end, second.start);
  if (!crossesSentence(text, first.end, second.start)) {
    if (length > maxSkippedWithin) return `"…" leaves out ${length} characters of one sentence`;
    if (joinsNumbers(text, first, second)) return '"…" leaves out a number between two numbers';
    const word = weighty(skipped) ?? shortly(skipped);
    return word === undefined ? undefined : `"…" leaves out "${word}", on which the sense hangs`;
  }
  const areWhole =
    endsSentence(text, first.end) &&
    beginsSentence(text, first.start) &&
    beginsSentence(text, second.start) &&
    endsSentence(text, second.end);
  if (!areWhole) return `"…" joins a piece of one sentence to a piece of another`;
  const word = weightySentence(skipped);
  return word === undefined ? undefined : `"…" leaves out a sentence with "${word}", on which the sense hangs`;
}
