import { type Markup, type Piece, directionAttribute, link, markup } from "../../../engine/lib/markup.js";
import { anchorOf } from "../pictures/picture.js";
import type { PassagePiece } from "../../../text/evidence/quoted.js";
import type { MeaningMark } from "../../derived/meaning-mark.js";
import type { Meaning } from "../narrative/meaning.js";
import { type PaperName, type Quote, quoteMarks, tablesAsText } from "../quotes.js";
import type { Statement } from "../statements.js";
import { signsOf, type Strength } from "../strength.js";
import type { PageContext } from "./context.js";
import { groupBy } from "../../../engine/lib/group.js";

/** The id of a quote on the page. */
export const quoteAnchorOf = ({ paper, number }: Quote): string => `${anchorOf(paper.id)}-q${number}`;

/** A score as dots, with text for screen readers. The words next to it say what it means. */
const dots = (level: number): Markup =>
  markup`<span class="dots" role="img" aria-label="${Math.round(level)} of 5">${signsOf(level)}</span>`;

const markClasses = { verified: "ok", near: "off", "could-not-check": "off" } as const;

/** The sentence of a paper with the quoted words marked; in a table the caption, head and row, one line each. */
export const passageOf = (pieces: readonly PassagePiece[]): Markup => {
  const words = pieces.map(({ text }) => text).join("");
  return markup`<q${directionAttribute(words)}>${pieces.map(({ text, isQuoted }) => (isQuoted ? markup`<mark>${tablesAsText(text)}</mark>` : tablesAsText(text)))}</q>`;
};

/**
 * The passage of a quote, with its place and the result of its check. A shortened passage can be expanded to its
 * paragraph. In a long list, a sign alone shows that a quote was found.
 */
export const quotePassage = (
  { model: { paragraphs } }: PageContext,
  { stored, pieces, notes, locator, address, status, reason }: Quote,
  isBrief = false,
): Markup => {
  const paragraph = paragraphs.get(stored);
  const { sign, words } = quoteMarks[status];
  const found =
    isBrief && status === "verified" ? sign : markup`<span class="${markClasses[status]}">${sign} ${words}</span>`;
  const place =
    locator === undefined && address === undefined ? "" : markup` ${link(address, locator ?? "open there")}`;
  return markup`${passageOf(pieces)}<small>${found}${reason === undefined ? "" : ` (${reason})`}${place}${notes.map((note) => markup` · ${note}`)}</small>${paragraph === undefined ? "" : markup`<details class="words"><summary>The whole paragraph</summary>${passageOf(paragraph)}</details>`}`;
};

/** A link to a paper of the page, such as "Meyer 2025". */
export const paperLink = ({ id, label, isRetracted, isIneligible }: PaperName): Markup =>
  markup`<a href="#${anchorOf(id)}">${label}</a>${isRetracted ? markup` <span class="wrong">(retracted)</span>` : isIneligible ? markup` <span class="wrong">(not included)</span>` : ""}`;

/**
 * The papers that a statement names, with links to their quotes: "Meyer 2025 ✓, Li 2024 ≈". If a paper has several
 * quotes, the links show their numbers.
 */
function sourcesOf({ quotes, papers }: Statement): Markup {
  const quoteLinks = [...groupBy(quotes, ({ paper }) => paper.id).values()].map((list) => {
    const [first] = list;
    if (first === undefined) return markup``;
    const sign = (quote: Quote) =>
      markup`&nbsp;<a href="#${quoteAnchorOf(quote)}" class="${markClasses[quote.status]}" aria-label="Quote ${quote.number}, ${quoteMarks[quote.status].words}">${list.length > 1 ? String(quote.number) : ""}${quoteMarks[quote.status].sign}</a>`;
    return markup`${paperLink(first.paper)}${list.map(sign)}`;
  });
  const parts = [...quoteLinks, ...papers.map(paperLink)];
  return parts.length === 0 ? markup`` : markup` <span class="src">(${joinedWithSemicolons(parts)})</span>`;
}

const joinedWithSemicolons = (parts: readonly Markup[]): Piece =>
  parts.map((part, index) => [index === 0 ? "" : "; ", part]);

/** The second mark: the checker's verdict on the sentence. */
export const meaningSign = ({ kind, says }: MeaningMark): Markup =>
  kind === "supported"
    ? markup` <span class="ok meaning" role="img" title="${says}" aria-label="${says}">✓✓</span>`
    : markup` <span class="chip ${kind === "doubted" ? "bad" : "insights"}">${says}</span>`;

/** The result of checking the sentences above, and what the marks mean. */
export const meaningLine = ({ says, isAnswerRejected }: Meaning): Markup =>
  markup`${isAnswerRejected ? markup`<p class="note bad">The answer is not supported by what it cites.</p>` : ""}<p class="how"><b>Checked:</b> ${says} <span class="ok">✓</span> means: the quoted words stand in the paper; <span class="ok meaning">✓✓</span>: ${secondMarkMeaning}.</p>`;

/** The meaning of the second mark. */
const secondMarkMeaning =
  "the sentence follows from them, says a checker that recognised true and false control sentences";

/** Removed sentences, each with the reason. */
export const removedList = ({ removed }: Meaning, render: PageContext["render"]): Markup =>
  removed.length === 0
    ? markup``
    : markup`<ul class="list">${removed.map(({ text, says }) => markup`<li dir="auto"><p>${render(text)}</p><p class="how"><span class="wrong">${says}</span></p></li>`)}</ul>`;

/** Warnings about a sentence: numbers or sources that could not be found. */
function warningsOf({ missingNumbers, outsideNumbers, brokenHandles, nearNumbers, meaning }: Statement): Markup {
  return markup`${meaning === undefined ? "" : meaningSign(meaning)}${
    missingNumbers.length === 0
      ? ""
      : markup` <span class="chip bad">number not in the passage: ${missingNumbers.join(", ")}</span>`
  }${
    outsideNumbers.length === 0
      ? ""
      : markup` <span class="chip insights">in the sentence, outside the quoted words: ${outsideNumbers.join(", ")}</span>`
  }${
    nearNumbers.length === 0
      ? ""
      : markup` <span class="chip insights">number written differently in its source: ${nearNumbers.map(({ number }) => number).join(", ")}</span>`
  }${brokenHandles.map(({ handle, reason }) => markup` <span class="chip bad">source ${handle} not found</span> <span class="meta">${reason}</span>`)}`;
}

/** A statement with its sources, the strength of its evidence, and the quotes to expand. */
export function statementParts(context: PageContext, statement: Statement, strength?: Strength): Markup {
  const { quotes } = statement;
  return markup`<p>${context.render(statement.text)}${sourcesOf(statement)}${warningsOf(statement)}</p>${
    strength === undefined || statement.quotes.length + statement.papers.length === 0
      ? ""
      : markup`<p class="how">${dots(strength.level)} ${strength.says}</p>`
  }${
    quotes.length === 0
      ? ""
      : markup`<details class="words"><summary>${quotes.length === 1 ? "The words it rests on" : `The ${quotes.length} quotes it rests on`}</summary>${quotes.map((quote) => markup`<div class="q">${paperLink(quote.paper)}${quotePassage(context, quote)}</div>`)}</details>`
  }`;
}

/** A statement on one line without its quotes, for cells and recommendations. */
export const statementLine = ({ render }: PageContext, statement: Statement): Markup =>
  markup`${render(statement.text)}${sourcesOf(statement)}${warningsOf(statement)}`;
