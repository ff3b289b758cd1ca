import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { type StoredQuote, notesOf, type PassagePiece, piecesOf, quotedWords } from "../../text/evidence/quoted.js";
import type { Checked, Evidence, Paper } from "../generated/rrd.js";
import { authorsOf, partsOfName } from "../papers/authors.js";
import { normalTitle } from "../papers/normalise-title.js";
import { isIneligible } from "../screening/eligibility/eligibility.js";
import { handleOf } from "../units/narrative/handles.js";
import { oneLine } from "../../engine/lib/sanitise.js";

/** The name of a paper in running text. */
export interface PaperName {
  readonly id: string;
  /**
   * Such as "Meyer 2025"; for a second paper of the same author and year "Meyer 2025b". Without authors, the beginning
   * of the title.
   */
  readonly label: string;
  readonly title: string;
  readonly isRetracted: boolean;
  /** True if it is excluded by a criterion or by the user, or waits for the user. Then nothing may be based on it. */
  readonly isIneligible: boolean;
}

/** The result of checking a quote. Quotes that are not in the text are counted, but never shown. */
export type QuoteStatus = "verified" | "near" | "could-not-check";

/** A quote as it is shown with statements. */
export interface Quote {
  /** The paper's id and the number, such as "sample_01#2". */
  readonly handle: string;
  readonly paper: PaperName;
  /** Its place in the paper's `evidence`, starting at 1. */
  readonly number: number;
  /** The claim in the agent's words, or the quote itself if both say the same. */
  readonly claim: string;
  /** The quoted words, as they are in the paper. */
  readonly quote: string;
  /** The stored quote with its passage. */
  readonly stored: StoredQuote;
  /** The paper's sentence in pieces, with the quoted ones marked. */
  readonly pieces: readonly PassagePiece[];
  /** Warnings about the quoted words in their sentence, a clause each. */
  readonly notes: readonly string[];
  readonly status: QuoteStatus;
  /** Such as "p. 4" or "§ 3 Method". */
  readonly locator?: string;
  /** For `near`: the difference. For `could-not-check`: the reason, if known. */
  readonly reason?: string;
  /** The verdict of another agent: whether the claim follows from the quote. */
  readonly check?: Checked;
  /** An address on the web that opens at the quote, if there is one. */
  readonly address?: string;
}

/** A sign and words for each status. A sign is always shown with its words. */
export const quoteMarks: Readonly<Record<QuoteStatus, { readonly sign: string; readonly words: string }>> = {
  verified: { sign: "✓", words: "found in the text" },
  near: { sign: "≈", words: "near the text" },
  "could-not-check": { sign: "?", words: "could not be checked" },
};

/** The quotes of a paper that are shown, in the order of its record. */
export function quotesOf(paper: Paper, name: PaperName): Quote[] {
  const address = addressOf(paper);
  return (paper.analysis?.evidence ?? []).flatMap(
    (evidence, index) => quoteAt(paper, name, evidence, index + 1, address) ?? [],
  );
}

/** One quote of a paper; undefined if it was not found. */
export function quoteAt(
  paper: Paper,
  name: PaperName,
  evidence: Evidence,
  number: number,
  paperAddress = addressOf(paper),
): Quote | undefined {
  const { status, claim, locator, reason } = evidence;
  if (status === "not-in-text") return undefined;
  const quote = quotedWords(evidence);
  const address = paperAddress === undefined ? undefined : quoteAddress(paperAddress, quote, locator);
  return {
    handle: handleOf(paper.id, number),
    paper: name,
    number,
    claim: isSameText(claim, quote) ? quote : claim,
    quote,
    stored: evidence,
    pieces: piecesOf(evidence),
    notes: notesOf(evidence),
    status,
    ...(locator ? { locator } : {}),
    ...(reason ? { reason } : {}),
    ...withoutUndefined({ address, check: evidence.check }),
  };
}

/** Whether a claim and its quote are the same, except for upper case and the punctuation at the end. */
const isSameText = (claim: string, quote: string): boolean =>
  claim === quote || evidenceWords(claim) === evidenceWords(quote);

/** Whether a line separates the head of a Markdown table from its rows. */
function isTableLine(line: string): boolean {
  const cells = line.includes("|") ? cellsOf(line) : [];
  return cells.length > 0 && cells.every((cell) => /^:?-+:?$/.test(cell));
}

/** The separator line of a table whose lines were joined to one line. */
const joinedTableLine = /\|\s*:?-{3,}:?\s*\|/;
const rowOfBars = /^\s*\|.*\|\s*$/;
const cellEnd = " · ";

/**
 * A text with tables in readable form: the head of a Markdown table comes before its rows, "Hand · Success: ours · 87
 * %; theirs · 41 %.", and the cells of a row are separated by dots. Bars in formulas, such as P(A | B) and |x|, are not
 * changed. Linear.
 */
export function tablesAsText(text: string): string {
  if (!text.includes("|")) return text;
  const lines = text.split("\n").flatMap((line) => {
    const separator = joinedTableLine.exec(line);
    if (separator === null || isTableLine(line)) return [line];
    // In a joined table, one bar ends a row and the next bar begins the following row.
    const start = line.indexOf("|");
    return [line.slice(0, start), ...line.slice(start).split(/(?<=\|)\s+(?=\|)/)].filter((part) => part.trim() !== "");
  });
  const result: string[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const next = lines[index + 1];
    const hasHead = next !== undefined && line.includes("|") && isTableLine(next);
    if (!hasHead && !rowOfBars.test(line)) {
      result.push(replaceBars(line));
      continue;
    }
    const rows: string[] = [];
    let end = hasHead ? index + 2 : index;
    for (; end < lines.length && (lines[end] ?? "").includes("|"); end++)
      if (!isTableLine(lines[end] ?? "")) rows.push(cellsOf(lines[end] ?? "").join(cellEnd));
    const table = [
      ...(hasHead ? [cellsOf(line).join(cellEnd)] : []),
      ...(rows.length === 0 ? [] : [rows.join("; ")]),
    ].join(": ");
    result.push(/[.!?]$/.test(table) ? table : `${table}.`);
    index = end - 1;
  }
  return result.join("\n");
}

/** The cells of a row that begins and ends with a bar. */
const cellsOf = (row: string): string[] =>
  row
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== "");

/** Replaces bars between cells by dots: bars outside brackets with spaces around them. */
function replaceBars(line: string): string {
  if (!line.includes(" | ")) return line;
  let depth = 0;
  let result = "";
  for (let index = 0; index < line.length; index++) {
    const character = line[index] ?? "";
    if ("([{".includes(character)) depth += 1;
    else if (")]}".includes(character)) depth = Math.max(0, depth - 1);
    const isCellEnd = character === "|" && depth === 0 && line[index - 1] === " " && line[index + 1] === " ";
    result += isCellEnd ? "·" : character;
  }
  return result;
}

/** A quote for comparisons: on one line, in lower case, without punctuation at the end. */
export const evidenceWords = (text: string): string =>
  oneLine(text)
    .toLowerCase()
    .replace(/[.…]{1,3}$/, "");

/** The number of first and last words of a quote in a link. The browser marks the text between them. */
const [firstWords, lastWords] = [3, 3];

/** The web address of a paper's text, without a fragment; undefined if the text is not on the web. */
function addressOf({ text_from, url, pdf_url }: Paper): string | undefined {
  const address = webAddress(/https?:\/\/\S+$/i.exec(text_from ?? "")?.[0]) ?? webAddress(url) ?? webAddress(pdf_url);
  return address?.split("#")[0];
}

/** The address of a quote: its words on a web page, or its page in a PDF. */
function quoteAddress(address: string, quote: string, locator: string | null | undefined): string {
  if (/pdf/i.test(address)) {
    const page = /^p\. (\d+)/.exec(locator ?? "")?.[1];
    return page === undefined ? address : `${address}#page=${page}`;
  }
  // An ellipsis replaces words of the text, so only the words before it can be found.
  const passage = quote.split(/\[?(?:\.{3}|…)\]?/).find((part) => part.trim() !== "") ?? "";
  // The cells of a row are separate texts on a page, without the bars.
  const cells = passage.split(/(?:^|\s)\|+(?=\s|$)/).filter((cell) => cell.trim() !== "");
  const [firstCell, lastCell] = [cells[0] ?? "", cells.at(-1) ?? ""].map((cell) => cell.trim().split(/\s+/)) as [
    string[],
    string[],
  ];
  const parts =
    cells.length > 1 || firstCell.length > firstWords + lastWords
      ? [firstCell.slice(0, firstWords), lastCell.slice(-lastWords)]
      : [firstCell];
  return `${address}#:~:text=${parts.map((part) => encodeFragment(part.join(" "))).join(",")}`;
}

/** Commas, hyphens and ampersands have a meaning in text fragments. A lone surrogate can't be encoded. */
const encodeFragment = (text: string): string =>
  encodeURIComponent(/[\ud800-\udfff]/.test(text) ? Buffer.from(text).toString() : text).replace(/-/g, "%2D");

/** An http or https address that may be linked; undefined for other texts. */
export function webAddress(address: string | null | undefined): string | undefined {
  const text = (address ?? "").trim();
  if (!/^https?:\/\/[^\s\p{Cc}\p{Cf}]+$/iu.test(text) || !URL.canParse(text)) return undefined;
  return text;
}

/**
 * The names of papers for running text, by id. Labels are unique, and have the letter of the paper's key, so that
 * "Liu 2024b" is liu2024b. Linear in the number of papers.
 */
export function namesOf(papers: readonly Paper[]): ReadonlyMap<string, PaperName> {
  const countByLabel = new Map<string, number>();
  const names = new Map<string, PaperName>();
  const keyLabels = new Map(papers.map((paper) => [paper, labelOfKey(paper)]));
  const used = new Set(keyLabels.values());
  const nextLabel = (baseLabel: string): string => {
    for (let earlierCount = countByLabel.get(baseLabel) ?? 0; ; earlierCount += 1) {
      const label = earlierCount === 0 ? baseLabel : numbered(baseLabel, earlierCount);
      countByLabel.set(baseLabel, earlierCount + 1);
      if (!used.has(label)) return label;
    }
  };
  for (const paper of papers) {
    const { id, retracted, title } = paper;
    const label = keyLabels.get(paper) ?? nextLabel(labelOf(paper));
    const flags = { isRetracted: retracted === true, isIneligible: isIneligible(paper) };
    names.set(id, { id, label, title: oneLine(title), ...flags });
  }
  return names;
}

/** The label with the letter of the paper's key; undefined if the key is not made of the name and the year. */
function labelOfKey(paper: Paper): string | undefined {
  const label = labelOf(paper);
  const [, name = "", year = ""] = /^(.*) (\d{4})$/.exec(label) ?? [];
  const base = `${normalTitle(name).replace(/[^a-z]/g, "")}${year}`;
  const key = paper.key?.toLowerCase() ?? "";
  return year !== "" && key.startsWith(base) && /^[a-z]?$/.test(key.slice(base.length))
    ? `${label}${key.slice(base.length)}`
    : undefined;
}

/** The label of the second or a later paper with the same label: "Liu 2024b"; without a year "Notes (2)". */
const numbered = (label: string, earlierCount: number): string =>
  /\d{4}$/.test(label) ? `${label}${suffix(earlierCount)}` : `${label} (${earlierCount + 1})`;

/** The suffix of the second and later papers with the same label: b, c, …, z, aa. */
function suffix(earlierCount: number): string {
  let text = "";
  for (let remaining = earlierCount; remaining >= 0; remaining = Math.floor(remaining / 26) - 1)
    text = String.fromCharCode(97 + (remaining % 26)) + text;
  return text;
}

/** The family name and the year; without an author, the beginning of the title. */
function labelOf({ title, authors, date, publication }: Paper): string {
  const year = /^\d{4}/.exec(date ?? "")?.[0];
  const [author = ""] = authorsOf(authors);
  const family = (publication?.groups?.includes(author) === true ? author : familyOf(author)) ?? titleStart(title);
  return [family, year].filter((part) => part !== undefined).join(" ");
}

const maxTitleStart = 30;

/** The first words of a title, up to a colon. */
function titleStart(title: string): string {
  const start = oneLine(title).split(/:\s/)[0] ?? "";
  if (start.length <= maxTitleStart) return start;
  const cut = start.slice(0, maxTitleStart);
  return `${cut.includes(" ") ? cut.slice(0, cut.lastIndexOf(" ")) : cut} …`;
}

/** The family name as written, shortened if it is very long. */
function familyOf(author: string): string | undefined {
  const [family = "", given] = oneLine(author).split(",");
  const name = given === undefined ? partsOfName(family).rest.split(" ").at(-1) : family;
  return name === undefined || name.trim() === "" ? undefined : name.trim().slice(0, 40);
}
