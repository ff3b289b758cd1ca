import { messageOf } from "../../../engine/lib/errors.js";
import { groupBy } from "../../../engine/lib/group.js";
import { drawnTextOf, type OperatorList } from "./drawn-text.js";
import { DocumentLayout, type Line } from "./layout.js";
import type { Run } from "./rows.js";
import { Characters, withMathLetters } from "./characters.js";
import { type OpenPdf, openDocument, unpackedLimit } from "./open-document.js";
import { withoutLetterSpacing } from "./letter-spacing.js";
import { reverseLigatures } from "./right-to-left.js";
import { hasGluedWords, onlyMathLetter } from "./faults.js";
import { isPlausible } from "./plausible.js";
import { metadataOf } from "./metadata.js";
import { ownIds } from "./own-ids.js";
import { joinPages } from "./pages.js";
import { withVerticalTurned } from "./vertical.js";
import { beginStep } from "../../../engine/process/serve-tasks.js";
import { findInstructions } from "../text/find-injections.js";
import { buildText, type DocumentText, type ReadResult } from "../text/document-text.js";

const megabyte = 1024 * 1024;
/** The maximum size of a PDF: pdf.js needs several times as much memory. */
export const maxPdfBytes = 300 * megabyte;
const maxPages = 2000;
/** Text in a smaller font, in points, is not meant to be read. */
const minFontSize = 1.2;

/** Minimum share of letters and digits in a text. Formulas and tables have fewer than prose. */
const minLetterShare = 0.45;
/** If so many characters could not be read, the text gets a warning. */
const minUnreadable = 10;
/** pdf.js's AnnotationMode.DISABLE. The text of form fields and notes is not text of the document. */
const noAnnotations = 0;
/** In a document with fewer glyphs, the share of missing ones is not calculated. */
const minGlyphs = 300;
/**
 * Maximum share of glyphs without a character; with more, the text is incomplete. In PDFs that browsers make of Hindi
 * and Thai texts, it is 2 to 9 %: vowel signs and tone marks, which change words. In papers in Latin letters, it is at
 * most 0.2 %.
 */
const maxUnnamedShare = 0.01;

interface PdfOptions {
  /** Maximum number of pages to read. A few are enough for the title and the abstract. */
  readonly pages?: number;
}

/**
 * Reads the text of a PDF: the columns of each page in reading order, with the page number before each page. A PDF that
 * is damaged, encrypted, or a scan without text is `unreadable`; the reason says what the user can do.
 */
export async function readPdf(
  bytes: Uint8Array,
  { pages: pageLimit = maxPages }: PdfOptions = {},
): Promise<ReadResult> {
  if (bytes.length > maxPdfBytes) return unreadable(`The PDF is larger than ${maxPdfBytes / megabyte} MB.`);
  let openPdf;
  try {
    openPdf = await openDocument(bytes);
  } catch (error) {
    return unreadable(reasonNotOpened(error));
  }
  const { document, operatorNames, stopAtExcess, omittedStreams } = openPdf;
  try {
    const layout = new DocumentLayout();
    const characters = new Characters();
    const hiddenTexts: string[] = [];
    const fontTexts = new Map<string, FontText>();
    let glyphCount = 0;
    let unnamedCount = 0;
    let characterCount = 0;
    for (let pageNumber = 1; pageNumber <= Math.min(document.numPages, pageLimit, maxPages); pageNumber += 1) {
      beginStep();
      const page = await document.getPage(pageNumber);
      // The operations come first: they show whether drawing the page would never end.
      const operators = await stopAtExcess(page.getOperatorList({ annotationMode: noAnnotations }));
      if (typeof operators === "string") return unreadable(operators);
      const drawnText = drawnTextOf(operators as OperatorList, { operatorNames, view: page.view });
      reverseLigatures(operators as OperatorList, operatorNames);
      const content = await page.getTextContent();
      const items = content.items.flatMap((item) => {
        if (!("str" in item)) return [];
        return [
          { ...item, str: characters.correct(item.str, item.fontName, drawnText.falseCharacters.get(item.fontName)) },
        ];
      });
      const texts = withoutLetterSpacing(items.map(positionOf), drawnText.glyphsOn);
      const runs = items.map((item, index) => ({ ...item, str: texts[index] ?? item.str }));
      const isVisible = (run: TextItem) => !isTiny(run) && !drawnText.isHidden(positionOf(run));
      const hiddenRuns = runs.filter((run) => !isVisible(run)).map(({ str }) => str);
      hiddenTexts.push(...[...hiddenRuns, ...drawnText.textsOutside].filter((text) => text.trim() !== ""));
      glyphCount += drawnText.glyphCount;
      unnamedCount += drawnText.unnamedCount;
      for (const { fontName, str, hasEOL } of runs) {
        const fontText = fontTexts.get(fontName) ?? { sample: "", characterCount: 0 };
        fontTexts.set(fontName, fontText);
        const length = /\s/.test(str) ? str.replace(/\s+/g, "").length : str.length;
        fontText.characterCount += length;
        characterCount += length;
        if (fontText.sample.length < maxSampleChars) fontText.sample += hasEOL ? `${str}\n` : str;
      }
      layout.add(runsByDirection(runs.filter(isVisible)));
      page.cleanup();
    }
    const formValues = await formValuesOf(document);
    const hasAlmostNoText = characterCount < minCharsOf(layout.pages().length);
    const noteChars = hasAlmostNoText ? await countNoteChars(document) : 0;
    const { info, metadata } = await document.getMetadata().catch(() => ({ info: {}, metadata: undefined }));
    return resultOf(
      withMathLetters(layout.pages()),
      {
        hiddenText: hiddenTexts.join(" "),
        glyphCount,
        unnamedCount,
        characterCount,
        implausibleShare: implausibleShareOf(fontTexts),
        formValues,
        noteChars,
        omittedStreams: omittedStreams(),
      },
      { info: info as Record<string, unknown>, xmp: (name) => metadata?.get(name) },
      document.numPages,
      pageLimit,
    );
  } catch (error) {
    return unreadable(`The PDF is damaged (${shorten(messageOf(error))}).`);
  } finally {
    await document.destroy();
  }
}

/** Maximum number of form fields that are read. */
const maxFields = 10_000;
/** Maximum length of the value of a form field. */
const maxValueChars = 10_000;

/**
 * The values in the text fields and lists of a form. They are not text of the document, because everybody who had the
 * file may have written them. Empty if the form can't be read.
 */
async function formValuesOf(document: OpenPdf["document"]): Promise<string[]> {
  const fields = await document.getFieldObjects().catch(() => null);
  return Object.values(fields ?? {})
    .slice(0, maxFields)
    .flatMap((boxes) => {
      // The same field may be shown several times.
      const values = (boxes as readonly { readonly type?: unknown; readonly value?: unknown }[])
        .filter(({ type }) => type === "text" || type === "combobox" || type === "listbox")
        .map(({ value }) => (Array.isArray(value) ? value.join(" ") : typeof value === "string" ? value : ""));
      const value = values.find((candidate) => candidate.trim() !== "");
      return value === undefined ? [] : [value.slice(0, maxValueChars)];
    });
}

/** Counts the characters of the notes on a document's pages. Everybody who had the file may have written them. */
async function countNoteChars(document: OpenPdf["document"]): Promise<number> {
  let length = 0;
  for (let pageNumber = 1; pageNumber <= Math.min(document.numPages, maxPages); pageNumber += 1) {
    beginStep();
    const page = await document.getPage(pageNumber);
    const notes: readonly { readonly contentsObj?: { readonly str?: string } }[] = await page
      .getAnnotations()
      .catch(() => []);
    length += notes.reduce((sum, { contentsObj }) => sum + (contentsObj?.str?.trim().length ?? 0), 0);
  }
  return length;
}

/** Minimum number of letters and digits in a PDF of so many pages. If it has fewer, its pages are pictures. */
const minCharsOf = (pageCount: number): number => Math.max(40, 8 * pageCount);

/** A run of text as pdf.js gives it. */
interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  /** The height of the font; the length of the run if it is written from top to bottom. */
  readonly height: number;
  /** "ttb" if the run is written from top to bottom. */
  readonly dir: string;
}

const positionOf = ({ str, transform, width }: TextItem) => ({
  text: str,
  x: transform[4] ?? 0,
  y: transform[5] ?? 0,
  width,
  height: Math.hypot(transform[2] ?? 0, transform[3] ?? 0),
});

const isTiny = ({ str, transform }: TextItem) =>
  str.trim() !== "" && Math.hypot(transform[2] ?? 0, transform[3] ?? 0) < minFontSize;

/**
 * The runs of each direction of writing, those of the most used direction first. So a rotated stamp in the margin does
 * not become part of the lines beside it.
 */
function runsByDirection(items: readonly TextItem[]): Run[][] {
  const directedRuns = items
    .filter((item) => item.str !== "")
    .map(({ str, transform, width, height: length, dir }) => {
      const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = transform;
      const quarterTurns = (Math.round(Math.atan2(b, a) / (Math.PI / 2)) + 4) % 4;
      const [x, y] = [
        [e, f],
        [f, -e],
        [-e, -f],
        [-f, e],
      ][quarterTurns] as [number, number];
      const run = { text: str, x, y, width, height: Math.hypot(c, d) };
      return { quarterTurns, run, verticalLength: dir === "ttb" ? length : undefined };
    });
  const directions = groupBy(withVerticalTurned(directedRuns), ({ quarterTurns }) => quarterTurns);
  const length = (runs: readonly Run[]) => runs.reduce((sum, run) => sum + run.text.length, 0);
  return [...directions.values()]
    .map((directed) => directed.map(({ run }) => run))
    .toSorted((a, b) => length(b) - length(a))
    .map(withAccentsJoined);
}

/**
 * Joins accents with the letters after them. TeX sets an accent as a separate run over the next one; if the runs were
 * sorted by position, the accent could come after its letter.
 */
function withAccentsJoined(runs: readonly Run[]): Run[] {
  const joinedRuns: Run[] = [];
  for (const run of runs) {
    const last = joinedRuns.at(-1);
    const isAccentOverRun =
      last !== undefined &&
      /^\s*[´¨ˆ˜¯˘˙˚˝ˇ¸]\s*$/.test(last.text) &&
      Math.abs(last.x - run.x) < run.height / 2 &&
      Math.abs(last.y - run.y) < run.height / 2;
    if (isAccentOverRun) joinedRuns[joinedRuns.length - 1] = { ...run, text: last.text.trim() + run.text };
    else joinedRuns.push(run);
  }
  return joinedRuns;
}

/** The text in one font. */
interface FontText {
  /** The beginning of the text. */
  sample: string;
  /** Number of all characters in this font, without white space. */
  characterCount: number;
}

/** Length of the sample of a font's text. A font has the same encoding everywhere. */
const maxSampleChars = 10_000;

/** The share of the letters that are in fonts with a wrong encoding: their letters do not form words. */
function implausibleShareOf(fontTexts: ReadonlyMap<string, FontText>): number {
  let [letterCount, implausibleCount] = [0, 0];
  for (const { sample, characterCount } of fontTexts.values()) {
    const { letters, nonSpace } = countCharacters(sample);
    const lettersInFont = nonSpace === 0 ? 0 : (letters / nonSpace) * characterCount;
    letterCount += lettersInFont;
    if (!isPlausible(sample)) implausibleCount += lettersInFont;
  }
  return letterCount === 0 ? 0 : implausibleCount / letterCount;
}

/** Numbers of characters in a text. */
interface CharacterCounts {
  readonly letters: number;
  readonly digits: number;
  /** Private-use and unassigned characters, and U+FFFD. */
  readonly unreadable: number;
  /** All characters except white space. */
  readonly nonSpace: number;
}

/** What a character is counted as. "nonSpace": only as a character that is not white space. */
type CharacterKind = keyof CharacterCounts | "space";
/** The kinds of characters outside ASCII that were counted before. */
const knownKinds = new Map<string, CharacterKind>();
/** Maximum size of `knownKinds`. */
const maxKnownKinds = 20_000;

/** Counts one character after the other. For long texts, this is several times faster than lists of all matches. */
function countCharacters(text: string): CharacterCounts {
  const counts = { letters: 0, digits: 0, unreadable: 0, nonSpace: 0 };
  for (const character of text) {
    const code = character.charCodeAt(0);
    if (code <= 0x20 || code === 0xa0) continue;
    if (code < 0x80) {
      counts.nonSpace += 1;
      if ((code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)) counts.letters += 1;
      else if (code >= 0x30 && code <= 0x39) counts.digits += 1;
      continue;
    }
    let kind = knownKinds.get(character);
    if (kind === undefined) {
      kind = kindOf(character);
      if (knownKinds.size < maxKnownKinds) knownKinds.set(character, kind);
    }
    if (kind === "space") continue;
    counts.nonSpace += 1;
    if (kind !== "nonSpace") counts[kind] += 1;
  }
  return counts;
}

function kindOf(character: string): CharacterKind {
  if (/^\s/.test(character)) return "space";
  if (/^\p{L}/u.test(character)) return "letters";
  if (/^\p{N}/u.test(character)) return "digits";
  return /^[\p{Co}\p{Cn}\ufffd]/u.test(character) ? "unreadable" : "nonSpace";
}

/** Properties of a PDF's text, besides its lines. */
interface TextStats {
  readonly hiddenText: string;
  readonly glyphCount: number;
  /** Number of glyphs whose font does not name their character. */
  readonly unnamedCount: number;
  readonly characterCount: number;
  /** Share of the letters that are in fonts with a wrong encoding. */
  readonly implausibleShare: number;
  readonly formValues: readonly string[];
  /** Number of characters in notes on the pages. Only counted if the pages have hardly any text. */
  readonly noteChars: number;
  /** Number of streams that were not read because they are too large. */
  readonly omittedStreams: number;
}

function resultOf(
  pages: readonly (readonly Line[])[],
  stats: TextStats,
  { info, xmp }: { readonly info: Record<string, unknown>; readonly xmp: (name: string) => unknown },
  pageCount: number,
  pageLimit: number,
): ReadResult {
  const { glyphCount, unnamedCount, characterCount, implausibleShare, formValues, omittedStreams } = stats;
  const parts = joinPages(pages);
  const text = parts.map((part) => part.text).join("\n");
  const counts = countCharacters(text);
  const { unreadable: unreadableCount } = counts;
  const lettersAndDigits = counts.letters + counts.digits;
  if (lettersAndDigits < minCharsOf(pages.length))
    return unreadable(reasonWithoutText(stats, lettersAndDigits, pages.length));
  // Page numbers in brackets and the dots in tables of contents are not counted.
  const { nonSpace } = countCharacters(text.replace(/\[p\. \d+\]|[.·…_\-–—\s]{3,}/g, ""));
  // pdf.js leaves out glyphs without a character.
  const missingShare = glyphCount >= minGlyphs ? Math.max(0, 1 - characterCount / glyphCount) : 0;
  if (
    implausibleShare > 0.5 ||
    unreadableCount > lettersAndDigits / 3 ||
    lettersAndDigits < minLetterShare * nonSpace ||
    missingShare > 0.5
  )
    return unreadable(
      "The PDF's fonts don't say which letters they show; run OCR over it (for example with ocrmypdf) and try again.",
    );
  const isIncomplete = glyphCount >= minGlyphs && unnamedCount > maxUnnamedShare * glyphCount;
  const onlyLetter = onlyMathLetter(text);
  const hasLostSpaces = hasGluedWords(text);
  const isGarbled =
    implausibleShare > 0.1 || unreadableCount > 0.05 * lettersAndDigits || missingShare > 0.15 || isIncomplete;

  const warnings = [];
  const hiddenText = stats.hiddenText.replace(/\s+/g, " ").trim();
  if (hiddenText !== "") {
    const hasInstructions = findInstructions(hiddenText).length > 0;
    warnings.push(
      `${hiddenText.length} characters of hidden text (too small, in the colour of the page, or outside of it) were left out of the text${hasInstructions ? "; they give instructions to a reviewer or model" : ""}.`,
    );
  }
  if (isGarbled)
    warnings.push("Some of the PDF's fonts don't say which letters they show; some of the text is missing or wrong.");
  else if (unreadableCount >= minUnreadable)
    warnings.push(
      `${unreadableCount} characters could not be read, since the PDF's fonts don't say which they are; the text shows � for each.`,
    );
  if (onlyLetter !== undefined)
    warnings.push(
      `All letters in the PDF's formulas were read as the same character (${onlyLetter}), so the formulas are missing from the text.`,
    );
  if (hasLostSpaces)
    warnings.push("Many words of the PDF have lost the spaces between them, so sentences of it may not be found.");
  if (formValues.length > 0) {
    const hasInstructions = formValues.some((value) => findInstructions(value).length > 0);
    const fields = formValues.length === 1 ? "field of a form was" : "fields of a form were";
    warnings.push(
      `${formValues.length} filled-in ${fields} left out of the text${hasInstructions ? "; the filled-in text gives instructions to a reviewer or model" : ""}.`,
    );
  }
  if (omittedStreams > 0)
    warnings.push(`A stream of the PDF unpacks to more than ${unpackedLimit}; its content is missing from the text.`);
  if (pageCount > maxPages) warnings.push(`Only the first ${maxPages} of ${pageCount} pages were read.`);
  const isPartial =
    isGarbled ||
    onlyLetter !== undefined ||
    hasLostSpaces ||
    omittedStreams > 0 ||
    pageCount > maxPages ||
    pageCount > pageLimit;
  const depth: DocumentText["depth"] = isPartial ? "partial" : "full";
  const metadata = metadataOf(info, pages[0] ?? [], text, xmp);
  const ids = ownIds(pages[0] ?? [], info, xmp);
  return { status: "ok", text: buildText(parts, { kind: "pdf", depth, warnings, ...metadata, ...ids }) };
}

/** Why a PDF has no text, and what the user can do. */
function reasonWithoutText(
  { hiddenText, formValues, noteChars, omittedStreams }: TextStats,
  lettersAndDigits: number,
  pageCount: number,
): string {
  if (omittedStreams > 0) return `A stream of the PDF unpacks to more than ${unpackedLimit}.`;
  const formChars = formValues.reduce((sum, value) => sum + value.trim().length, 0);
  if (formChars + noteChars >= minCharsOf(pageCount) && formChars + noteChars > lettersAndDigits) {
    const hasBoth = formChars > 0 && noteChars > 0;
    const source = hasBoth ? "filled-in fields and notes" : formChars > 0 ? "the filled-in fields of a form" : "notes";
    return (
      `The PDF's pages have no text of their own: the text is in ${source}, ` +
      "which are not read, since anybody may have written them. If they are the document, print it to a new PDF and try again."
    );
  }
  if (hiddenText.length > 8 * pageCount && hiddenText.length > lettersAndDigits)
    return "The PDF shows no text: all its text is hidden. If it looks like a page, run OCR over it (for example with ocrmypdf) and try again.";
  return "The PDF has no text; it is probably a scan. Run OCR over it (for example with ocrmypdf) and try again.";
}

function reasonNotOpened(error: unknown): string {
  if (error instanceof Error && error.name === "PasswordException")
    return "The PDF is encrypted with a password; save it without one and try again.";
  return `The file is not a complete PDF (${shorten(messageOf(error))}); download it again.`;
}

const shorten = (text: string) => text.replace(/\.$/, "").slice(0, 120);
const unreadable = (reason: string): ReadResult => ({ status: "unreadable", reason });
