import { authorsText } from "../../papers/authors.js";
import { type Markup, type Piece, directionAttribute, joinIsolated, link, markup } from "../../../engine/lib/markup.js";
import { citationMarks } from "../citation-status.js";
import type { ReportModel } from "../model.js";
import { readingWords, shortened, type PaperEntry, type PaperRow, type PaperStatus, statusWords } from "../papers.js";
import { meaningMark } from "../../derived/meaning-mark.js";
import { type Quote, tablesAsText } from "../quotes.js";
import { anchorOf } from "../pictures/picture.js";
import { counted, thousands } from "../pictures/words.js";
import type { PageContext } from "./context.js";
import { signsOf } from "../strength.js";
import { meaningSign, passageOf, quoteAnchorOf, quotePassage } from "./statements.js";

/**
 * The maximum number of papers with their complete entry on the page, the best first. Other papers have one row with
 * score and reason.
 */
export const maxEntries = 1000;

/** From this number of rows on, the browser lays out only those that are visible. */
const lazyLayoutRows = 300;

export function* papers(context: PageContext): Iterable<Markup> {
  const { model } = context;
  const { rows } = model;
  const kinds = (Object.keys(statusWords) as PaperStatus[]).flatMap((status) => {
    const count = rows.filter((row) => row.status === status).length;
    return count === 0 ? [] : [{ status, count }];
  });
  const searchBox = markup`<input id="find" type="search" placeholder="Title, author, year" aria-label="Find papers">`;
  const statusButtons = kinds.map(
    ({ status, count }) =>
      markup`<button type="button" data-only="${status}" aria-pressed="false">${statusWords[status]} ${thousands(count)}</button>`,
  );
  const firstOrder = model.scores.rows.length === 0 ? "Included first" : "Best first";
  const orderSelect = markup`<select id="sort" aria-label="Order"><option value="score">${firstOrder}</option><option value="date">Newest first</option><option value="title">By title</option></select>`;
  yield markup`<div class="tools">${searchBox}${statusButtons}${orderSelect}</div><p class="quiet" id="shown" aria-live="polite">${counted(rows.length, "paper")}</p>`;
  if (rows.length > maxEntries)
    yield markup`<p class="quiet">The first ${thousands(maxEntries)} can be opened; the records of the others are in rrd.json.</p>`;
  yield markup`<div id="list"${rows.length >= lazyLayoutRows ? markup` class="far"` : ""}>
`;
  for (const [index, row] of rows.entries()) yield index < maxEntries ? paperWithEntry(context, row) : shortRow(row);
  yield markup`</div>`;
}

const paperWithEntry = (context: PageContext, row: PaperRow): Markup =>
  markup`<details class="paper ${row.status}"${attributesOf(row)}><summary class="head">${headOf(context.model, row)}</summary><div class="body">${bodyOf(context, row)}</div></details>
`;

/** A short row without the day and the maximum score, so that a page with thousands of papers stays small. */
const shortRow = (row: PaperRow): Markup =>
  markup`<div class="paper ${row.status} head" id="${anchorOf(row.id)}"><span class="rank">${row.score ?? ""}</span><span>${titleOf(row, link(row.url, shortened(row.title)))}<span class="meta">${detailsOf({ ...row, quotesGiven: 0 }, 2)}${row.why === "" ? "" : markup`<br>${row.why}`}</span></span>${statusLabel(row)}</div>
`;

const attributesOf = ({ id, date }: PaperRow): Markup => markup` id="${anchorOf(id)}" data-date="${date.slice(0, 10)}"`;

/** The head of an entry. In short lists it shows the reason at once; in long ones the reason is in the body. */
function headOf({ scores, rows }: ReportModel, row: PaperRow): Markup {
  const { score } = row;
  const why =
    row.why === "" || rows.length >= lazyLayoutRows
      ? ""
      : markup`<span class="why"${directionAttribute(row.why)}>${withEmphasis(row.why)}</span>`;
  const points =
    score === undefined ? (scores.rows.length === 0 ? "" : "–") : markup`${score}<small>of ${scores.maxScore}</small>`;
  return markup`<span class="rank">${points}</span><span>${titleOf(row, markup`${shortened(row.title)}`)}<span class="meta">${detailsOf(row)}</span>${why}</span>${statusLabel(row)}`;
}

const titleOf = ({ title }: PaperRow, shown: Markup): Markup =>
  markup`<span class="title"${directionAttribute(title)}>${shown}</span>`;

/** The label with the decision on a paper. */
const statusLabel = ({ isRetracted, status }: PaperRow): Markup =>
  isRetracted
    ? markup`<span class="chip bad">Retracted</span>`
    : markup`<span class="chip">${statusWords[status]}</span>`;

/** The line below a title: authors, year, venue, quotes. */
function detailsOf(
  { authors, year, venue, quotesGiven, quotesFound, reading, status, hasWarnings }: PaperRow,
  maxAuthors = 3,
): Piece {
  const parts = [
    shortened(authorsText(authors, maxAuthors)),
    year === undefined ? "" : String(year),
    venue,
    quotesGiven === 0 ? "" : `${quotesFound} of ${counted(quotesGiven, "quote")}\u00a0✓`,
    // The status already says that a paper is unread. Most papers are read in full, so this is not mentioned.
    status === "unread" || reading === "full" ? "" : readingWords[reading],
    hasWarnings ? "⚠ warning" : "",
  ];
  return joinIsolated(
    parts.filter((part) => part !== ""),
    " · ",
  );
}

/** The complete entry of a paper. */
function bodyOf(context: PageContext, row: PaperRow): Markup {
  const { model, readingAddress } = context;
  const entry = model.entry(row);
  const addressBesideText = readingAddress?.(row.id);
  const { citation } = entry;
  const texts: readonly (readonly [string, string])[] = [
    ["Title", shortened(entry.title) === entry.title ? "" : entry.title],
    ["Summary", entry.summary === "" ? entry.abstract : entry.summary],
    ["Method", entry.method],
    ["Results", entry.results],
    ["Limitations", entry.limitations],
  ];
  const { sign, words } = citationMarks[citation.status];
  const warnings = entry.warnings.map((warning) => markup`<p class="note bad">${warning}</p>`);
  const readingLink =
    addressBesideText === undefined ? "" : markup`<a href="${addressBesideText}">quotes beside the text</a> · `;
  const points = entry.dimensions.map(
    (dimension) => markup`<li>${dimension.label} <i>${signsOf(dimension.points)}</i> ${dimension.points}</li>`,
  );
  const code = entry.code.map(({ text, url }) => markup`<dd>${link(url, text)}</dd>`);
  const insights = entry.insightTexts.map((text) => markup`<dd${directionAttribute(text)}>${text}</dd>`);
  const parts = [
    texts.map(([name, text]) => namedPart(name, text)),
    code.length === 0 ? "" : markup`<dt>Code</dt>${code}`,
    namedPart("Why this decision", entry.notes),
    insights.length === 0 ? "" : markup`<dt>Insights</dt>${insights}`,
    eligibilityOf(entry),
  ];
  const pointsList = points.length === 0 ? "" : markup`<ul class="points">${points}</ul>`;
  return markup`${warnings}<p class="meta">${readingLink}${linksOf(entry)}Citation: ${sign} ${words}</p>${pointsList}<dl>${parts}</dl>${evidenceOf(context, entry)}`;
}

const answerSigns = { yes: "✓", no: "✗", unclear: "?" } as const;

const eligibilityOf = ({ eligibility }: PaperEntry): Markup =>
  eligibility.length === 0
    ? markup``
    : markup`<dt>Eligibility</dt>${eligibility.map(
        ({ criterion, answer, says, pieces, notes }) =>
          markup`<dd${directionAttribute(criterion)}>${criterion}: ${answerSigns[answer]} ${answer}${pieces.length === 0 ? markup` <small class="meta">${says}</small>` : markup`${passageOf(pieces)}<small>${[says, ...notes].join(" · ")}</small>`}</dd>`,
      )}`;

/** A part of an entry with its name; empty without a text. */
const namedPart = (name: string, text: string): Markup =>
  text.trim() === "" ? markup`` : markup`<dt>${name}</dt><dd${directionAttribute(text)}>${withEmphasis(text)}</dd>`;

/** A text with `code` and **strong words** as an agent marked them in Markdown. Most texts have neither. */
function withEmphasis(text: string): Piece {
  if (!text.includes("`") && !text.includes("**")) return text;
  return text
    .split(/(`[^`\n]+`|\*\*(?=\S)[^*\n]+(?<=\S)\*\*)/)
    .map((part, index) =>
      index % 2 === 0
        ? part
        : part.startsWith("`")
          ? markup`<code>${part.slice(1, -1)}</code>`
          : markup`<strong>${part.slice(2, -2)}</strong>`,
    );
}

/** Links to the places where a paper can be read. */
function linksOf({ doi, url, pdf, file }: PaperEntry): Markup {
  const links = [
    ...(file === undefined ? [] : [markup`${file}`]),
    ...(doi === undefined ? [] : [link(`https://doi.org/${doi}`, `doi:${doi}`)]),
    ...(url === undefined ? [] : [link(url, "page")]),
    ...(pdf === undefined || pdf === url ? [] : [link(pdf, "full text")]),
  ];
  return markup`${links.map((part) => markup`${part} · `)}`;
}

/** Another reader's verdict on a claim, if there is one. */
const claimSign = ({ model: { rrd } }: PageContext, { check }: Quote): Markup =>
  check === undefined ? markup`` : meaningSign(meaningMark(check, rrd.meaning?.checkers));

function evidenceOf(
  context: PageContext,
  { evidence, quotesGiven, quotesFound, notInText, unprovedNumbers, status }: PaperEntry,
): Markup {
  if (quotesGiven === 0)
    return status === "waiting" ? markup`` : markup`<p class="quiet">No quotes were recorded for this paper.</p>`;
  return markup`<dl class="ev"><dt>Evidence: ${quotesFound} of ${counted(quotesGiven, "quote")} found in the text ✓</dt>${evidence.map(
    (quote) =>
      markup`<dd${context.isCited(quote.handle) ? markup` id="${quoteAnchorOf(quote)}"` : ""}>${quote.claim === quote.quote ? "" : markup`<p${directionAttribute(quote.claim)}>${tablesAsText(quote.claim)}${claimSign(context, quote)}</p>`}${quotePassage(context, quote, true)}</dd>`,
  )}${notInText === 0 ? "" : markup`<dd class="quiet">${counted(notInText, "quote was", "quotes were")} not in the text and ${notInText === 1 ? "is" : "are"} not shown.</dd>`}${
    unprovedNumbers.length === 0
      ? ""
      : markup`<dd class="quiet">Numbers of the results that the text does not hold: ${unprovedNumbers.join(", ")}.</dd>`
  }</dl>`;
}
