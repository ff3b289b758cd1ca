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
  const stored = await lastCachedText(textsFolder(folder), paper.id);
  const texts = await markedTexts(paper, entry, stored);
  const placedNumbers = new Set(texts.flatMap(({ places }) => places.map(({ number }) => number)));
  const notes = [
    ...(stored === undefined ? ["The text of this paper is not stored on this machine."] : []),
    ...(stored !== undefined && paper.text_sha256 != null && stored.sha256 !== paper.text_sha256
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
        markup`<div id="beside" class="beside"><aside aria-label="Quotes">${quotes(entry, placedNumbers, checkers)}</aside><div class="texts">${texts.map(marked)}</div></div>`,
      ),
    ],
  };
}

function facts({ authors, year, url, doi }: PaperEntry): Markup {
  const parts: Markup[] = [
    markup`${authors.slice(0, 12).join(", ")}${authors.length > 12 ? " and others" : ""}`,
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

/** The abstract where quotes come from it or there is no text, and the stored text, each with its quotes. */
async function markedTexts(paper: Paper, entry: PaperEntry, stored: DocumentText | undefined): Promise<MarkedText[]> {
  const abstract = paper.abstract ?? "";
  const inAbstract = (number: number) => {
    const { locator, text_sha256: sha } = paper.analysis?.evidence?.[number - 1] ?? {};
    return locator === abstractLocator && (sha == null || sha === hashOf(abstract));
  };
  const numbers = entry.evidence.map(({ number }) => number);
  const own = stored === undefined ? numbers : numbers.filter(inAbstract);
  return [
    ...(abstract !== "" && (stored === undefined || own.length > 0)
      ? [await markedText("Abstract", { text: abstract }, own, entry)]
      : []),
    ...(stored === undefined
      ? []
      : [
          await markedText(
            stored.depth === "full"
              ? "Text"
              : stored.depth === "partial"
                ? "Text, the part that was read"
                : "Page about the paper",
            stored,
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
  const wanted = evidence.filter(({ number }) => numbers.includes(number));
  if (wanted.length === 0) return { heading, text: text.text, places: [] };
  const search = await searchUntrusted(
    "findQuotes",
    text,
    wanted.map(({ quote }) => quote),
  );
  if ("cut" in search) return { heading, text: text.text, places: [], problem: search.cut };
  const places = search.value.flatMap((match, index) => {
    const number = wanted[index]?.number;
    return match.found && number !== undefined ? [{ number, start: match.start, end: match.end }] : [];
  });
  return { heading, text: text.text, places };
}

/** A stretch without quotes; the headings that readers of documents write stand out. */
const plain = (text: string): Markup =>
  markup`${text.split(/^(#{1,6} [^\n]*)$/m).map((piece, index) => (index % 2 === 1 ? markup`<b>${piece.replace(/^#+ /, "")}</b>` : piece))}`;

/** The text, each stretch that quotes cover marked once, with links to them behind it. */
function marked({ heading, text, places }: MarkedText): Markup {
  const cuts = [...new Set([0, text.length, ...places.flatMap(({ start, end }) => [start, end])])].sort(
    (a, b) => a - b,
  );
  const pieces = cuts.slice(0, -1).map((from, index) => {
    const to = cuts[index + 1] ?? text.length;
    const over = places.filter(({ start, end }) => start <= from && end >= to);
    if (over.length === 0) return plain(text.slice(from, to));
    const first = over.filter(({ start }) => start === from);
    const last = over.filter(({ end }) => end === to);
    return markup`${first.map(({ number }) => markup`<span id="q${number}" class="place"></span>`)}<mark>${text.slice(from, to)}</mark>${last.map(({ number }) => markup`<a class="to" href="#e${number}" aria-label="Quote ${number}">${number}</a>`)}`;
  });
  return markup`<section><h2>${heading}</h2><div class="text" dir="auto">${pieces}</div></section>`;
}
