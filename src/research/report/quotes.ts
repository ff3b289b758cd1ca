import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { type StoredQuote, notesOf, type PassagePiece, piecesOf, quotedWords } from "../../text/evidence/quoted.js";
import type { Checked, Evidence, Paper } from "../generated/rrd.js";
import { authorsOf, partsOfName } from "../papers/authors.js";
import { isIneligible } from "../screening/eligibility/eligibility.js";
import { handleOf } from "../units/narrative/handles.js";
import { oneLine } from "../../engine/lib/sanitise.js";

/** A paper as the report names it in running text. */
export interface PaperName {
  readonly id: string;
  /** Such as "Meyer 2025"; a second one of that author and year is "Meyer 2025b". The title's start without authors. */
  readonly label: string;
  readonly title: string;
  readonly isRetracted: boolean;
  /** Excluded by a criterion or a person, or waiting for a person: nothing may rest on it. */
  readonly isIneligible: boolean;
}

/** What code found of a quote; a quote that is not in the text is counted and never shown. */
export type QuoteStatus = "verified" | "near" | "could-not-check";

/** A quote as it is shown wherever a statement rests on it. */
export interface Quote {
  /** Paper and number, such as "sample_01#2". */
  readonly handle: string;
  readonly paper: PaperName;
  /** Its place in the paper's `evidence`, from 1. */
  readonly number: number;
  /** The claim in the agent's words; the same as the quote where they say the same. */
  readonly claim: string;
  /** The quoted words, as the paper has them. */
  readonly quote: string;
  /** As the record keeps it, with its passage. */
  readonly kept: StoredQuote;
  /** The paper's own sentence in pieces, the quoted ones marked. */
  readonly pieces: readonly PassagePiece[];
  /** What a reader should know of the quoted words in their sentence, a clause each. */
  readonly notes: readonly string[];
  readonly status: QuoteStatus;
  /** Such as "p. 4" or "§ 3 Method". */
  readonly locator?: string;
  /** Of `near`: what differs. Of `could-not-check`: why, where that is known. */
  readonly reason?: string;
  /** What another reader says of whether the claim follows from it. */
  readonly check?: Checked;
  /** Where it stands in the paper: an address of the web that opens there, where there is one. */
  readonly opens?: string;
}

/** The sign of a status and its words; a sign never stands alone. */
export const quoteMarks: Readonly<Record<QuoteStatus, { readonly sign: string; readonly words: string }>> = {
  verified: { sign: "✓", words: "found in the text" },
  near: { sign: "≈", words: "near the text" },
  "could-not-check": { sign: "?", words: "could not be checked" },
};

/** The quotes of a paper that a reader may see, in the order of its record. */
export function quotesOf(paper: Paper, name: PaperName): Quote[] {
  const address = addressOf(paper);
  return (paper.analysis?.evidence ?? []).flatMap(
    (evidence, index) => quoteAt(paper, name, evidence, index + 1, address) ?? [],
  );
}

/** One quote of a paper; undefined where it was looked for and not found. */
export function quoteAt(
  paper: Paper,
  name: PaperName,
  evidence: Evidence,
  number: number,
  address = addressOf(paper),
): Quote | undefined {
  const { status, claim, locator, reason } = evidence;
  if (status === "not-in-text") return undefined;
  const quote = quotedWords(evidence);
  const opens = address === undefined ? undefined : placeAt(address, quote, locator);
  return {
    handle: handleOf(paper.id, number),
    paper: name,
    number,
    claim: isSaidBy(claim, quote) ? quote : claim,
    quote,
    kept: evidence,
    pieces: piecesOf(evidence),
    notes: notesOf(evidence),
    status,
    ...(locator ? { locator } : {}),
    ...(reason ? { reason } : {}),
    ...withoutUndefined({ opens, check: evidence.check }),
  };
}

/** Whether a claim is its quote, but for case and the end of the sentence. */
const isSaidBy = (claim: string, quote: string): boolean =>
  claim === quote || evidenceWords(claim) === evidenceWords(quote);

/** Whether a line is that of dashes and bars between the head of a Markdown table and its rows. */
function isTableLine(line: string): boolean {
  const cells = line.includes("|") ? cellsOf(line) : [];
  return cells.length > 0 && cells.every((cell) => /^:?-+:?$/.test(cell));
}

/** A part of it within the one line that a whole table was written on. */
const tableLineWithin = /\|\s*:?-{3,}:?\s*\|/;
const rowOfBars = /^\s*\|.*\|\s*$/;
const cellEnd = " · ";

/**
 * A text in which tables read as text: the head of a Markdown table stands before its rows, "Hand · Success: ours ·
 * 87 %; theirs · 41 %.", and the cells of a row that a reader of documents took down have dots between them. Bars of
 * formulas, as in P(A | B) and |x|, stay. Linear.
 */
export function tablesAsText(text: string): string {
  if (!text.includes("|")) return text;
  const lines = text.split("\n").flatMap((line) => {
    const within = tableLineWithin.exec(line);
    if (within === null || isTableLine(line)) return [line];
    // Where a table is on one line, a row ends and the next one begins with a bar each.
    const start = line.indexOf("|");
    return [line.slice(0, start), ...line.slice(start).split(/(?<=\|)\s+(?=\|)/)].filter((part) => part.trim() !== "");
  });
  const out: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const next = lines[at + 1];
    const hasHead = next !== undefined && line.includes("|") && isTableLine(next);
    if (!hasHead && !rowOfBars.test(line)) {
      out.push(dotted(line));
      continue;
    }
    const rows: string[] = [];
    let end = hasHead ? at + 2 : at;
    for (; end < lines.length && (lines[end] ?? "").includes("|"); end++)
      if (!isTableLine(lines[end] ?? "")) rows.push(cellsOf(lines[end] ?? "").join(cellEnd));
    const table = [
      ...(hasHead ? [cellsOf(line).join(cellEnd)] : []),
      ...(rows.length === 0 ? [] : [rows.join("; ")]),
    ].join(": ");
    out.push(/[.!?]$/.test(table) ? table : `${table}.`);
    at = end - 1;
  }
  return out.join("\n");
}

/** The cells of a row with bars at its ends. */
const cellsOf = (row: string): string[] =>
  row
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== "");

/** A line whose bars with spaces around them, outside brackets, are ends of cells. */
function dotted(line: string): string {
  if (!line.includes(" | ")) return line;
  let depth = 0;
  let out = "";
  for (let at = 0; at < line.length; at++) {
    const sign = line[at] ?? "";
    if ("([{".includes(sign)) depth += 1;
    else if (")]}".includes(sign)) depth = Math.max(0, depth - 1);
    const isEnd = sign === "|" && depth === 0 && line[at - 1] === " " && line[at + 1] === " ";
    out += isEnd ? "·" : sign;
  }
  return out;
}

/** A quote for comparing: on one line, in lower case, without the end of its sentence. */
export const evidenceWords = (text: string): string =>
  oneLine(text)
    .toLowerCase()
    .replace(/[.…]{1,3}$/, "");

/** A browser looks for the first and the last words of a quote, and marks all from one to the other. */
const [first, last] = [3, 3];

/** Where the text of a paper can be read, without a place in it; undefined off the web. */
function addressOf({ text_from, url, pdf_url }: Paper): string | undefined {
  const address = webAddress(/https?:\/\/\S+$/i.exec(text_from ?? "")?.[0]) ?? webAddress(url) ?? webAddress(pdf_url);
  return address?.split("#")[0];
}

/** Where a quote can be read: the words on a web page, the page of a PDF. */
function placeAt(address: string, quote: string, locator: string | null | undefined): string {
  if (/pdf/i.test(address)) {
    const page = /^p\. (\d+)/.exec(locator ?? "")?.[1];
    return page === undefined ? address : `${address}#page=${page}`;
  }
  // What an elision leaves out stands in the text: only the words before it are one passage.
  const passage = quote.split(/\[?(?:\.{3}|…)\]?/).find((part) => part.trim() !== "") ?? "";
  // The cells of a row are passages of their own, and the bars between them stand in no page.
  const cells = passage.split(/(?:^|\s)\|+(?=\s|$)/).filter((cell) => cell.trim() !== "");
  const [from, to] = [cells[0] ?? "", cells.at(-1) ?? ""].map((cell) => cell.trim().split(/\s+/)) as [
    string[],
    string[],
  ];
  const parts = cells.length > 1 || from.length > first + last ? [from.slice(0, first), to.slice(-last)] : [from];
  return `${address}#:~:text=${parts.map((part) => inFragment(part.join(" "))).join(",")}`;
}

/** A comma, a hyphen and an ampersand mean something in a text fragment; a lone surrogate is not in any address. */
const inFragment = (text: string): string =>
  encodeURIComponent(/[\ud800-\udfff]/.test(text) ? Buffer.from(text).toString() : text).replace(/-/g, "%2D");

/** An address that may be linked: http or https, without what a browser would drop; undefined for anything else. */
export function webAddress(address: string | null | undefined): string | undefined {
  const text = (address ?? "").trim();
  if (!/^https?:\/\/[^\s\p{Cc}\p{Cf}]+$/iu.test(text) || !URL.canParse(text)) return undefined;
  return text;
}

/** Names of papers for running text, by id; labels are unique. Linear in the papers. */
export function namesOf(papers: readonly Paper[]): ReadonlyMap<string, PaperName> {
  const taken = new Map<string, number>();
  const names = new Map<string, PaperName>();
  for (const paper of papers) {
    const { id, title, authors, date, retracted } = paper;
    const bare = labelOf(title, authorsOf(authors)[0], date);
    const times = taken.get(bare) ?? 0;
    taken.set(bare, times + 1);
    const label = times === 0 ? bare : `${bare}${suffix(times)}`;
    const standing = { isRetracted: retracted === true, isIneligible: isIneligible(paper) };
    names.set(id, { id, label, title: oneLine(title), ...standing });
  }
  return names;
}

/** b, c, …, z, aa for the second and later papers of a label. */
function suffix(times: number): string {
  let text = "";
  for (let left = times; left >= 0; left = Math.floor(left / 26) - 1)
    text = String.fromCharCode(97 + (left % 26)) + text;
  return text;
}

/** Family name and year; the beginning of the title where no author is known. */
function labelOf(title: string, author: string | undefined, date: string | null | undefined): string {
  const year = /^\d{4}/.exec(date ?? "")?.[0];
  const family = (author === undefined ? undefined : familyOf(author)) ?? titleStart(title);
  return [family, year].filter((part) => part !== undefined).join(" ");
}

const maxTitleStart = 30;

/** The first words of a title, without what stands behind a colon. */
function titleStart(title: string): string {
  const start = oneLine(title).split(/:\s/)[0] ?? "";
  if (start.length <= maxTitleStart) return start;
  const cut = start.slice(0, maxTitleStart);
  return `${cut.includes(" ") ? cut.slice(0, cut.lastIndexOf(" ")) : cut} …`;
}

/** The family name as it is written, cut where somebody put a sentence there. */
function familyOf(author: string): string | undefined {
  const [family = "", given] = oneLine(author).split(",");
  const name = given === undefined ? partsOfName(family).rest.split(" ").at(-1) : family;
  return name === undefined || name.trim() === "" ? undefined : name.trim().slice(0, 40);
}
