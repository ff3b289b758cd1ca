import { type Markup, type Piece, direction, joinIsolated, link, markup } from "../../../engine/lib/markup.js";
import { citationMarks } from "../citation-status.js";
import type { ReportModel } from "../model.js";
import { shortened, type PaperEntry, type PaperRow, type PaperStatus, statusWords } from "../papers.js";
import { meaningMark } from "../../derived/meaning-mark.js";
import { type Quote, tablesAsText } from "../quotes.js";
import { anchorOf } from "../pictures/picture.js";
import { counted, thousands } from "../pictures/words.js";
import type { PageContext } from "./context.js";
import { signs } from "../strength.js";
import type { Reading } from "../../papers/read-depth.js";
import { meaningSign, passageOf, quoteAnchorOf, quoteWords } from "./statements.js";

/** So many papers, the best, have their whole entry in the page; the others a row with their score and reason. */
export const mostBodies = 1000;

/** From so many rows on, a browser lays out only those that it shows. */
const farRows = 300;

export function* papers(context: PageContext): Iterable<Markup> {
  const { model } = context;
  const { rows } = model;
  const kinds = (Object.keys(statusWords) as PaperStatus[]).flatMap((status) => {
    const count = rows.filter((row) => row.status === status).length;
    return count === 0 ? [] : [{ status, count }];
  });
  yield markup`<div class="tools"><input id="find" type="search" placeholder="Title, author, year" aria-label="Find papers">${kinds.map(({ status, count }) => markup`<button type="button" data-only="${status}" aria-pressed="false">${statusWords[status]} ${thousands(count)}</button>`)}<select id="sort" aria-label="Order"><option value="score">${model.scores.rows.length === 0 ? "Included first" : "Best first"}</option><option value="date">Newest first</option><option value="title">By title</option></select></div><p class="quiet" id="shown" aria-live="polite">${counted(rows.length, "paper")}</p>`;
  if (rows.length > mostBodies)
    yield markup`<p class="quiet">The first ${thousands(mostBodies)} can be unfolded; the records of the others are in rrd.json.</p>`;
  yield markup`<div id="list"${rows.length >= farRows ? markup` class="far"` : ""}>
`;
  for (const [index, row] of rows.entries()) yield index < mostBodies ? wholePaper(context, row) : onlyRow(row);
  yield markup`</div>`;
}

const wholePaper = (context: PageContext, row: PaperRow): Markup =>
  markup`<details class="paper ${row.status}"${attributesOf(row)}><summary class="head">${headOf(context.model, row)}</summary><div class="body">${bodyOf(context, row)}</div></details>
`;

/** Of thousands, every byte counts: the year stands for the date, and the points are out of what the others say. */
const onlyRow = (row: PaperRow): Markup =>
  markup`<div class="paper ${row.status} head" id="${anchorOf(row.id)}"><span class="rank">${row.score ?? ""}</span><span>${titleOf(row, link(row.url, shortened(row.title)))}<span class="meta">${metaOf({ ...row, quotesGiven: 0 }, 2)}${row.why === "" ? "" : markup`<br>${row.why}`}</span></span>${chipOf(row)}</div>
`;

const attributesOf = ({ id, date }: PaperRow): Markup => markup` id="${anchorOf(id)}" data-date="${date.slice(0, 10)}"`;

/** Of few papers each tells why at once; of hundreds that would be a third of the list, and stands in the body. */
function headOf({ scores, rows }: ReportModel, row: PaperRow): Markup {
  const { score } = row;
  const why =
    row.why === "" || rows.length >= farRows
      ? ""
      : markup`<span class="why"${direction(row.why)}>${withMarks(row.why)}</span>`;
  const points =
    score === undefined ? (scores.rows.length === 0 ? "" : "–") : markup`${score}<small>of ${scores.full}</small>`;
  return markup`<span class="rank">${points}</span><span>${titleOf(row, markup`${shortened(row.title)}`)}<span class="meta">${metaOf(row)}</span>${why}</span>${chipOf(row)}`;
}

const titleOf = ({ title }: PaperRow, shown: Markup): Markup =>
  markup`<span class="title"${direction(title)}>${shown}</span>`;

const chipOf = ({ isRetracted, status }: PaperRow): Markup =>
  isRetracted
    ? markup`<span class="chip bad">Retracted</span>`
    : markup`<span class="chip">${statusWords[status]}</span>`;

/** How far a paper was read, where that is less than a reader takes for granted. */
const readingWords: Readonly<Record<Reading, string>> = {
  full: "",
  partial: "read in part",
  abstract: "abstract only",
  title: "title only",
  unrecorded: "",
  unread: "not read",
};

/** Authors, year, venue, quotes. */
function metaOf(
  { authors, year, venue, quotesGiven, quotesFound, reading, status, hasWarnings }: PaperRow,
  named = 3,
): Piece {
  const parts = [
    shortened(authorsText(authors, named)),
    year === undefined ? "" : String(year),
    venue,
    quotesGiven === 0 ? "" : `${quotesFound} of ${counted(quotesGiven, "quote")}\u00a0✓`,
    // The chip of a paper without a decision says so already.
    status === "unread" ? "" : readingWords[reading],
    hasWarnings ? "⚠ warning" : "",
  ];
  return joinIsolated(
    parts.filter((part) => part !== ""),
    " · ",
  );
}

/** "A, B and 3 others". */
export const authorsText = (authors: readonly string[], most: number): string =>
  authors.length <= most
    ? authors.join(", ")
    : `${authors.slice(0, most - 1).join(", ")} and ${authors.length - most + 1} others`;

/** All that is known of a paper, in the order of `read`. */
function bodyOf(context: PageContext, row: PaperRow): Markup {
  const { model, readingAt } = context;
  const entry = model.entry(row);
  const reading = readingAt?.(row.id);
  const { citation } = entry;
  const texts: readonly (readonly [string, string])[] = [
    ["Title", shortened(entry.title) === entry.title ? "" : entry.title],
    ["Summary", entry.summary === "" ? entry.abstract : entry.summary],
    ["Method", entry.method],
    ["Results", entry.results],
    ["Limitations", entry.limitations],
  ];
  const { sign, words } = citationMarks[citation.status];
  return markup`${entry.warnings.map((warning) => markup`<p class="note bad">${warning}</p>`)}<p class="meta">${reading === undefined ? "" : markup`<a href="${reading}">quotes beside the text</a> · `}${linksOf(entry)}Citation: ${sign} ${words}</p>${
    entry.dimensions.length === 0
      ? ""
      : markup`<ul class="points">${entry.dimensions.map(({ label, points }) => markup`<li>${label} <i>${signs(points)}</i> ${points}</li>`)}</ul>`
  }<dl>${texts.map(([name, text]) => part(name, text))}${
    entry.code.length === 0
      ? ""
      : markup`<dt>Code</dt>${entry.code.map(({ text, url }) => markup`<dd>${link(url, text)}</dd>`)}`
  }${part("Why this decision", entry.notes)}${
    entry.insightTexts.length === 0
      ? ""
      : markup`<dt>Insights</dt>${entry.insightTexts.map((text) => markup`<dd${direction(text)}>${text}</dd>`)}`
  }${eligibilityOf(entry)}</dl>${evidenceOf(context, entry)}`;
}

const answerSigns = { yes: "✓", no: "✗", unclear: "?" } as const;

const eligibilityOf = ({ eligibility }: PaperEntry): Markup =>
  eligibility.length === 0
    ? markup``
    : markup`<dt>Eligibility</dt>${eligibility.map(
        ({ criterion, answer, says, pieces, notes }) =>
          markup`<dd${direction(criterion)}>${criterion}: ${answerSigns[answer]} ${answer}${pieces.length === 0 ? markup` <small class="meta">${says}</small>` : markup`${passageOf(pieces)}<small>${[says, ...notes].join(" · ")}</small>`}</dd>`,
      )}`;

const part = (name: string, text: string): Markup =>
  text.trim() === "" ? markup`` : markup`<dt>${name}</dt><dd${direction(text)}>${withMarks(text)}</dd>`;

/** A text whose `code` and **strong words** an agent marked as in Markdown. Of thousands of texts few have any. */
function withMarks(text: string): Piece {
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

/** Where it can be read. */
function linksOf({ doi, url, pdf, file }: PaperEntry): Markup {
  const links = [
    ...(file === undefined ? [] : [markup`${file}`]),
    ...(doi === undefined ? [] : [link(`https://doi.org/${doi}`, `doi:${doi}`)]),
    ...(url === undefined ? [] : [link(url, "page")]),
    ...(pdf === undefined || pdf === url ? [] : [link(pdf, "full text")]),
  ];
  return markup`${links.map((one) => markup`${one} · `)}`;
}

/** What another reader says of a claim, where one was asked. */
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
      markup`<dd${context.isNamed(quote.handle) ? markup` id="${quoteAnchorOf(quote)}"` : ""}>${quote.claim === quote.quote ? "" : markup`<p${direction(quote.claim)}>${tablesAsText(quote.claim)}${claimSign(context, quote)}</p>`}${quoteWords(context, quote, true)}</dd>`,
  )}${notInText === 0 ? "" : markup`<dd class="quiet">${counted(notInText, "quote was", "quotes were")} not in the text and ${notInText === 1 ? "is" : "are"} not shown.</dd>`}${
    unprovedNumbers.length === 0
      ? ""
      : markup`<dd class="quiet">Numbers of the results that the text does not hold: ${unprovedNumbers.join(", ")}.</dd>`
  }</dl>`;
}
