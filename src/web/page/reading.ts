import { authorsText } from "../../research/papers/authors.js";
import { type Markup, link, markup } from "../../engine/lib/markup.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { abstractLocator, hashOf } from "../../text/evidence/check-evidence.js";
import { textsFolder } from "../../research/project-files/layout.js";
import { searchUntrusted } from "../../research/full-text/reader-process.js";
import { lastCachedText } from "../../research/full-text/text-cache.js";
import type { Paper } from "../../research/generated/rrd.js";
import type { Checkers } from "../../research/derived/checker-rates.js";
import { meaningMark } from "../../research/derived/meaning-mark.js";
import { quoteMarks, tablesAsText } from "../../research/report/quotes.js";
import { meaningSign, passageOf } from "../../research/report/page/statements.js";
import type { PaperEntry } from "../../research/report/papers.js";
import { type Page, part } from "../live-page.js";
import { projectAddress } from "./texts.js";

/** The position of a quote in a text, and its number among the paper's quotes. */
interface Place {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/** A text and the quotes that were found in it. */
interface MarkedText {
  readonly heading: string;
  readonly text: string;
  readonly places: readonly Place[];
  /** Why quotes could not be searched. */
  readonly problem?: string;
}

/**
 * The quotes of a paper beside the stored text in which they were found. The page says if no text or another version is
 * stored. Quotes that are not in the text are only counted.
 */
export async function readingPage(
  folder: string,
  name: string,
  {
    paper,
    entry,
    checkers,
  }: { readonly paper: Paper; readonly entry: PaperEntry; readonly checkers: Checkers | undefined },
): Promise<Page> {
  const storedText = await lastCachedText(textsFolder(folder), paper.id);
  const texts = await markedTexts(paper, entry, storedText);
  const placedNumbers = new Set(texts.flatMap(({ places }) => places.map(({ number }) => number)));
  const notes = [
    ...(storedText === undefined ? ["The text of this paper is not stored on this machine."] : []),
    ...(storedText !== undefined && paper.text_sha256 != null && storedText.sha256 !== paper.text_sha256
      ? ["The stored text is another version than the one that was read, so places may differ."]
      : []),
    ...texts.flatMap(({ problem }) => (problem === undefined ? [] : [`Quotes could not be marked: ${problem}.`])),
    ...(entry.notInText === 0
      ? []
      : [
          `${entry.notInText} more ${entry.notInText === 1 ? "quote was" : "quotes were"} not in the text and ${entry.notInText === 1 ? "is" : "are"} not shown.`,
        ]),
  ];
  return {
    title: entry.title,
    parts: [
      part(
        "paper",
        markup`<header id="paper"><nav class="home"><a href="${projectAddress(name)}">Back to the project</a></nav><h1 dir="auto">${entry.title}</h1><p class="meta">${facts(entry)}</p>${notes.map((note) => markup`<p class="note">${note}</p>`)}</header>`,
      ),
      part(
        "beside",
        markup`<div id="beside" class="beside"><aside aria-label="Quotes">${quotes(entry, placedNumbers, checkers)}</aside><div class="texts">${texts.map(markQuotes)}</div></div>`,
      ),
    ],
  };
}

function facts({ authors, year, url, doi }: PaperEntry): Markup {
  const parts: Markup[] = [
    markup`${authorsText(authors, 12)}`,
    ...(year === undefined ? [] : [markup`${year}`]),
    ...(doi === undefined ? [] : [link(`https://doi.org/${doi}`, `doi:${doi}`)]),
    ...(url === undefined ? [] : [link(url, "page")]),
  ];
  return markup`${parts.map((fact, index) => markup`${index === 0 ? "" : " · "}${fact}`)}`;
}

function quotes({ evidence }: PaperEntry, placedNumbers: ReadonlySet<number>, checkers: Checkers | undefined): Markup {
  if (evidence.length === 0) return markup`<p class="quiet">No quotes were recorded for this paper.</p>`;
  return markup`<ol class="quotes">${evidence.map(
    ({ number, claim, quote, pieces, notes, status, locator, reason, check }) => {
      const { sign, words } = quoteMarks[status];
      const details = [
        `${sign} ${words}`,
        ...(locator === undefined ? [] : [locator]),
        ...(reason === undefined ? [] : [reason]),
        ...notes,
      ];
      return markup`<li id="e${number}">${claim === quote ? "" : markup`<p dir="auto">${tablesAsText(claim)}${check === undefined ? "" : meaningSign(meaningMark(check, checkers))}</p>`}${passageOf(pieces)}<p class="src ${status === "verified" ? "ok" : "off"}">${details.join(" · ")}${placedNumbers.has(number) ? markup` · <a href="#q${number}">show in the text</a>` : ""}</p></li>`;
    },
  )}</ol>`;
}

/**
 * The abstract, if quotes are from it or no text is stored, and the stored text, each with the places of its quotes.
 */
async function markedTexts(
  paper: Paper,
  entry: PaperEntry,
  storedText: DocumentText | undefined,
): Promise<MarkedText[]> {
  const abstract = paper.abstract ?? "";
  const inAbstract = (number: number) => {
    const { locator, text_sha256: sha } = paper.analysis?.evidence?.[number - 1] ?? {};
    return locator === abstractLocator && (sha == null || sha === hashOf(abstract));
  };
  const numbers = entry.evidence.map(({ number }) => number);
  const abstractNumbers = storedText === undefined ? numbers : numbers.filter(inAbstract);
  return [
    ...(abstract !== "" && (storedText === undefined || abstractNumbers.length > 0)
      ? [await markedText("Abstract", { text: abstract }, abstractNumbers, entry)]
      : []),
    ...(storedText === undefined
      ? []
      : [
          await markedText(
            storedText.depth === "full"
              ? "Text"
              : storedText.depth === "partial"
                ? "Text, the part that was read"
                : "Page about the paper",
            storedText,
            numbers.filter((number) => !inAbstract(number)),
            entry,
          ),
        ]),
  ];
}

async function markedText(
  heading: string,
  text: Pick<DocumentText, "text"> & Partial<Pick<DocumentText, "marks">>,
  numbers: readonly number[],
  { evidence }: PaperEntry,
): Promise<MarkedText> {
  const searchedEvidence = evidence.filter(({ number }) => numbers.includes(number));
  if (searchedEvidence.length === 0) return { heading, text: text.text, places: [] };
  const search = await searchUntrusted(
    "findQuotes",
    text,
    searchedEvidence.map(({ quote }) => quote),
  );
  if ("cut" in search) return { heading, text: text.text, places: [], problem: search.cut };
  const places = search.value.flatMap((match, index) => {
    const number = searchedEvidence[index]?.number;
    return match.found && number !== undefined ? [{ number, start: match.start, end: match.end }] : [];
  });
  return { heading, text: text.text, places };
}

/** A part of the text without quotes; lines with "#" are headings and become bold. */
const plainMarkup = (text: string): Markup =>
  markup`${text.split(/^(#{1,6} [^\n]*)$/m).map((piece, index) => (index % 2 === 1 ? markup`<b>${piece.replace(/^#+ /, "")}</b>` : piece))}`;

/** The text, in which each part that quotes cover is marked once and followed by links to these quotes. */
function markQuotes({ heading, text, places }: MarkedText): Markup {
  const boundaries = [...new Set([0, text.length, ...places.flatMap(({ start, end }) => [start, end])])].sort(
    (a, b) => a - b,
  );
  const pieces = boundaries.slice(0, -1).map((from, index) => {
    const to = boundaries[index + 1] ?? text.length;
    const coveringPlaces = places.filter(({ start, end }) => start <= from && end >= to);
    if (coveringPlaces.length === 0) return plainMarkup(text.slice(from, to));
    const startingPlaces = coveringPlaces.filter(({ start }) => start === from);
    const endingPlaces = coveringPlaces.filter(({ end }) => end === to);
    return markup`${startingPlaces.map(({ number }) => markup`<span id="q${number}" class="place"></span>`)}<mark>${text.slice(from, to)}</mark>${endingPlaces.map(({ number }) => markup`<a class="to" href="#e${number}" aria-label="Quote ${number}">${number}</a>`)}`;
  });
  return markup`<section><h2>${heading}</h2><div class="text" dir="auto">${pieces}</div></section>`;
}
