import { messageOf } from "../../../engine/lib/errors.js";
import { inkOf, type Operators } from "./ink.js";
import { DocumentLayout, type Line } from "./layout.js";
import type { Run } from "./rows.js";
import { Characters, withMathLetters } from "./characters.js";
import { type OpenPdf, openDocument, unpackedLimit } from "./open-document.js";
import { withoutLetterSpacing } from "./letter-spacing.js";
import { turnLigatures } from "./right-to-left.js";
import { hasGluedWords, onlyMathLetter } from "./faults.js";
import { isPlausible } from "./plausible.js";
import { metadataOf } from "./metadata.js";
import { ownIds } from "./own-ids.js";
import { joinPages } from "./pages.js";
import { withColumnsTurned } from "./vertical.js";
import { beginStep } from "../../../engine/process/serve-tasks.js";
import { findInstructions } from "../text/find-injections.js";
import { buildText, type DocumentText, type ReadResult } from "../text/document-text.js";

const megabyte = 1024 * 1024;
/** Larger files are refused: pdf.js needs several times their size in memory. */
export const maxPdf = 300 * megabyte;
const maxPages = 2000;
/** Text set smaller than this, in points, is not meant for eyes. */
const minPrint = 1.2;

/** Letters and digits among all signs of a text, at least; formulas and tables have fewer than prose. */
const minLetters = 0.45;
/** From so many characters on that could not be read a person is told. */
const minNonsense = 10;
/** pdf.js's AnnotationMode.DISABLE: what fields of forms and remarks show is not text of the document. */
const noAnnotations = 0;
/** Of fewer glyphs nothing can be said. */
const minGlyphs = 300;
/**
 * Share of glyphs without a character from which on a text is not whole. In Hindi and Thai a browser's PDFs leave out
 * 2 to 9 % of them, signs of vowels and tones that change words; papers in Latin letters have at most 0.2 %.
 */
const maxUnnamed = 0.01;

interface PdfOptions {
  /** Reads only so many pages, for a title and an abstract. */
  readonly pages?: number;
}

/**
 * The text of a PDF page by page, columns in reading order, each page under its mark.
 * A PDF that is broken, encrypted, or only pictures of pages is `unreadable`, with what a person can do about it.
 */
export async function readPdf(bytes: Uint8Array, { pages: wanted = maxPages }: PdfOptions = {}): Promise<ReadResult> {
  if (bytes.length > maxPdf) return unreadable(`The PDF is larger than ${maxPdf / megabyte} MB.`);
  let opened;
  try {
    opened = await openDocument(bytes);
  } catch (error) {
    return unreadable(whyNotOpened(error));
  }
  const { document, names, unlessExcess, omitted } = opened;
  try {
    const layout = new DocumentLayout();
    const characters = new Characters();
    const hidden: string[] = [];
    const byFont = new Map<string, FontText>();
    let glyphs = 0;
    let unnamed = 0;
    let count = 0;
    for (let number = 1; number <= Math.min(document.numPages, wanted, maxPages); number += 1) {
      beginStep();
      const page = await document.getPage(number);
      // First what is drawn: it tells of a page that draws without end.
      const drawn = await unlessExcess(page.getOperatorList({ annotationMode: noAnnotations }));
      if (typeof drawn === "string") return unreadable(drawn);
      const ink = inkOf(drawn as Operators, { names, view: page.view });
      turnLigatures(drawn as Operators, names);
      const content = await page.getTextContent();
      const items = content.items.flatMap((item) =>
        "str" in item ? [{ ...item, str: characters.of(item.str, item.fontName, ink.unknown.get(item.fontName)) }] : [],
      );
      const words = withoutLetterSpacing(items.map(placeOf), ink.glyphsOn);
      const runs = items.map((item, index) => ({ ...item, str: words[index] ?? item.str }));
      const isShown = (run: TextItem) => !isTiny(run) && !ink.isUnseen(placeOf(run));
      const out = runs.filter((run) => !isShown(run));
      hidden.push(...[...out.map(({ str }) => str), ...ink.outside].filter((text) => text.trim() !== ""));
      glyphs += ink.glyphs;
      unnamed += ink.unnamed;
      for (const { fontName, str, hasEOL } of runs) {
        const own = byFont.get(fontName) ?? { text: "", characters: 0 };
        byFont.set(fontName, own);
        const length = /\s/.test(str) ? str.replace(/\s+/g, "").length : str.length;
        own.characters += length;
        count += length;
        if (own.text.length < maxSample) own.text += hasEOL ? `${str}\n` : str;
      }
      layout.add(uprightFirst(runs.filter(isShown)));
      page.cleanup();
    }
    const filledIn = await filledInFields(document);
    const remarks = count < leastOf(layout.pages().length) ? await remarksOn(document) : 0;
    const { info, metadata } = await document.getMetadata().catch(() => ({ info: {}, metadata: undefined }));
    return assemble(
      withMathLetters(layout.pages()),
      {
        hidden: hidden.join(" "),
        glyphs,
        unnamed,
        characters: count,
        implausible: implausibleShare(byFont),
        filledIn,
        remarks,
        omitted: omitted(),
      },
      { info: info as Record<string, unknown>, xmp: (name) => metadata?.get(name) },
      document.numPages,
      wanted,
    );
  } catch (error) {
    return unreadable(`The PDF is damaged (${shorten(messageOf(error))}).`);
  } finally {
    await document.destroy();
  }
}

/** Fields that are looked at, and characters of each. */
const [maxFields, longestValue] = [10_000, 10_000];

/**
 * What somebody filled into the text fields and lists of a form. The last person who had the file may have written
 * it, so it is not text of the document. A form that cannot be read has no values.
 */
async function filledInFields(document: OpenPdf["document"]): Promise<string[]> {
  const fields = await document.getFieldObjects().catch(() => null);
  return Object.values(fields ?? {})
    .slice(0, maxFields)
    .flatMap((places) => {
      // One field may be shown at several places.
      const values = (places as readonly { readonly type?: unknown; readonly value?: unknown }[])
        .filter(({ type }) => type === "text" || type === "combobox" || type === "listbox")
        .map(({ value }) => (Array.isArray(value) ? value.join(" ") : typeof value === "string" ? value : ""));
      const [value] = values.filter((each) => each.trim() !== "");
      return value === undefined ? [] : [value.slice(0, longestValue)];
    });
}

/** Characters of the notes on a document's pages. Anybody who had the file may have written them. */
async function remarksOn(document: OpenPdf["document"]): Promise<number> {
  let length = 0;
  for (let number = 1; number <= Math.min(document.numPages, maxPages); number += 1) {
    beginStep();
    const page = await document.getPage(number);
    const notes: readonly { readonly contentsObj?: { readonly str?: string } }[] = await page
      .getAnnotations()
      .catch(() => []);
    length += notes.reduce((sum, { contentsObj }) => sum + (contentsObj?.str?.trim().length ?? 0), 0);
  }
  return length;
}

/** Letters and digits that a PDF of so many pages has at least; one with fewer shows pictures. */
const leastOf = (pages: number): number => Math.max(40, 8 * pages);

interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  /** Of writing from top to bottom its length, else that of the font. */
  readonly height: number;
  /** "ttb" of writing from top to bottom. */
  readonly dir: string;
}

const placeOf = ({ str, transform, width }: TextItem) => ({
  text: str,
  x: transform[4] ?? 0,
  y: transform[5] ?? 0,
  width,
  height: Math.hypot(transform[2] ?? 0, transform[3] ?? 0),
});

const isTiny = ({ str, transform }: TextItem) =>
  str.trim() !== "" && Math.hypot(transform[2] ?? 0, transform[3] ?? 0) < minPrint;

/**
 * The runs of each direction of writing by themselves, the most used first: a rotated stamp in the margin must not cut
 * into lines.
 */
function uprightFirst(items: readonly TextItem[]): Run[][] {
  const given = items
    .filter((item) => item.str !== "")
    .map(({ str, transform, width, height: length, dir }) => {
      const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = transform;
      const quarter = (Math.round(Math.atan2(b, a) / (Math.PI / 2)) + 4) % 4;
      const [x, y] = [
        [e, f],
        [f, -e],
        [-e, -f],
        [-f, e],
      ][quarter] as [number, number];
      const run = { text: str, x, y, width, height: Math.hypot(c, d) };
      return { quarter, run, down: dir === "ttb" ? length : undefined };
    });
  const directions = new Map<number, Run[]>();
  for (const { quarter, run } of withColumnsTurned(given)) {
    const runs = directions.get(quarter) ?? [];
    runs.push(run);
    directions.set(quarter, runs);
  }
  const length = (runs: readonly Run[]) => runs.reduce((sum, run) => sum + run.text.length, 0);
  return [...directions.values()].toSorted((a, b) => length(b) - length(a)).map(accentsBeforeLetters);
}

/**
 * TeX sets an accent as a run of its own over the next one; sorted by position it could come to stand behind its
 * letter.
 */
function accentsBeforeLetters(runs: readonly Run[]): Run[] {
  const merged: Run[] = [];
  for (const run of runs) {
    const last = merged.at(-1);
    const isOver =
      last !== undefined &&
      /^\s*[´¨ˆ˜¯˘˙˚˝ˇ¸]\s*$/.test(last.text) &&
      Math.abs(last.x - run.x) < run.height / 2 &&
      Math.abs(last.y - run.y) < run.height / 2;
    if (isOver) merged[merged.length - 1] = { ...run, text: last.text.trim() + run.text };
    else merged.push(run);
  }
  return merged;
}

/** What is set in one font: its beginning, and how many characters all of it has, white space left out. */
interface FontText {
  text: string;
  characters: number;
}

/** Characters of a font's text that are looked at: they are encoded as all that follow. */
const maxSample = 10_000;

/** The share of the letters that is set in fonts whose letters cannot be those of a text. */
function implausibleShare(byFont: ReadonlyMap<string, FontText>): number {
  let [all, wrong] = [0, 0];
  for (const { text, characters } of byFont.values()) {
    const { letters, signs } = countOf(text);
    const share = signs === 0 ? 0 : (letters / signs) * characters;
    all += share;
    if (!isPlausible(text)) wrong += share;
  }
  return all === 0 ? 0 : wrong / all;
}

/** How a text is made up, in characters. */
interface Counts {
  readonly letters: number;
  readonly digits: number;
  /** Of private use, or none at all. */
  readonly nonsense: number;
  /** All but white space. */
  readonly signs: number;
}

/** Kinds of the characters beyond ASCII that a document may have. */
const kinds = new Map<string, keyof Counts | "space">();
/** Kinds that are remembered. */
const maxKinds = 20_000;

/** Counts character by character: lists of all matches of a long text cost several times as much. */
function countOf(text: string): Counts {
  const counts = { letters: 0, digits: 0, nonsense: 0, signs: 0 };
  for (const character of text) {
    const code = character.charCodeAt(0);
    if (code <= 0x20 || code === 0xa0) continue;
    if (code < 0x80) {
      counts.signs += 1;
      if ((code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)) counts.letters += 1;
      else if (code >= 0x30 && code <= 0x39) counts.digits += 1;
      continue;
    }
    let kind = kinds.get(character);
    if (kind === undefined) {
      kind = kindOf(character);
      if (kinds.size < maxKinds) kinds.set(character, kind);
    }
    if (kind === "space") continue;
    counts.signs += 1;
    if (kind !== "signs") counts[kind] += 1;
  }
  return counts;
}

function kindOf(character: string): keyof Counts | "space" {
  if (/^\s/.test(character)) return "space";
  if (/^\p{L}/u.test(character)) return "letters";
  if (/^\p{N}/u.test(character)) return "digits";
  return /^[\p{Co}\p{Cn}\ufffd]/u.test(character) ? "nonsense" : "signs";
}

/** What is known of a PDF's text besides its lines. */
interface Found {
  readonly hidden: string;
  readonly glyphs: number;
  /** Glyphs for which their fonts name no character. */
  readonly unnamed: number;
  readonly characters: number;
  /** Share of the letters that belong to no text. */
  readonly implausible: number;
  /** What was filled into the fields of a form. */
  readonly filledIn: readonly string[];
  /** Characters of notes on its pages, counted where it has hardly any other. */
  readonly remarks: number;
  /** Streams that are too large to be read. */
  readonly omitted: number;
}

function assemble(
  pages: readonly (readonly Line[])[],
  { hidden, glyphs, unnamed, characters, implausible, filledIn, remarks, omitted }: Found,
  { info, xmp }: { readonly info: Record<string, unknown>; readonly xmp: (name: string) => unknown },
  total: number,
  wanted: number,
): ReadResult {
  const parts = joinPages(pages);
  const all = parts.map((part) => part.text).join("\n");
  const { letters: alphabetic, digits, nonsense } = countOf(all);
  const letters = alphabetic + digits;
  if (letters < leastOf(pages.length))
    return unreadable(whyWithout(hidden, letters, pages.length, { filledIn, remarks, omitted }));
  // Without the marks of pages and the leaders of tables of contents.
  const { signs } = countOf(all.replace(/\[p\. \d+\]|[.·…_\-–—\s]{3,}/g, ""));
  // Glyphs without a character are left out by pdf.js, without a word.
  const lost = glyphs >= minGlyphs ? Math.max(0, 1 - characters / glyphs) : 0;
  if (implausible > 0.5 || nonsense > letters / 3 || letters < minLetters * signs || lost > 0.5)
    return unreadable(
      "The PDF's fonts don't say which letters they show; run OCR over it (for example with ocrmypdf) and try again.",
    );
  const isIncomplete = glyphs >= minGlyphs && unnamed > maxUnnamed * glyphs;
  const onlyLetter = onlyMathLetter(all);
  const isGlued = hasGluedWords(all);
  const isGarbled = implausible > 0.1 || nonsense > 0.05 * letters || lost > 0.15 || isIncomplete;

  const warnings = [];
  const unseen = hidden.replace(/\s+/g, " ").trim();
  if (unseen !== "")
    warnings.push(
      `${unseen.length} characters of hidden text (too small, in the colour of the page, or outside of it) were left out of the text${findInstructions(unseen).length > 0 ? "; they give instructions to a reviewer or model" : ""}.`,
    );
  if (isGarbled)
    warnings.push("Some of the PDF's fonts don't say which letters they show; some of the text is missing or wrong.");
  else if (nonsense >= minNonsense)
    warnings.push(
      `${nonsense} characters could not be read, since the PDF's fonts don't say which they are; each stands as �.`,
    );
  if (onlyLetter !== undefined)
    warnings.push(
      `The letters of the PDF's formulas all come out as one sign (${onlyLetter}), so what its formulas say is missing from the text.`,
    );
  if (isGlued)
    warnings.push("Many words of the PDF have lost the spaces between them, so sentences of it may not be found.");
  if (filledIn.length > 0) {
    const isOrder = filledIn.some((value) => findInstructions(value).length > 0);
    warnings.push(
      `${filledIn.length} filled-in ${filledIn.length === 1 ? "field" : "fields"} of a form ${filledIn.length === 1 ? "was" : "were"} left out of the text${isOrder ? "; what is filled in gives instructions to a reviewer or model" : ""}.`,
    );
  }
  if (omitted > 0)
    warnings.push(
      `A stream of the PDF unpacks to more than ${unpackedLimit}; what stands in it is missing from the text.`,
    );
  if (total > maxPages) warnings.push(`Only the first ${maxPages} of ${total} pages were read.`);
  const depth: DocumentText["depth"] =
    isGarbled || onlyLetter !== undefined || isGlued || omitted > 0 || total > maxPages || total > wanted
      ? "partial"
      : "full";
  const about = metadataOf(info, pages[0] ?? [], all, xmp);
  const own = ownIds(pages[0] ?? [], info, xmp);
  return { status: "ok", text: buildText(parts, { kind: "pdf", depth, warnings, ...about, ...own }) };
}

/** Why a PDF has no text, and what a person can do about it. */
function whyWithout(
  hidden: string,
  letters: number,
  pages: number,
  { filledIn, remarks, omitted }: Pick<Found, "filledIn" | "remarks" | "omitted">,
): string {
  if (omitted > 0) return `A stream of the PDF unpacks to more than ${unpackedLimit}.`;
  const entered = filledIn.reduce((sum, value) => sum + value.trim().length, 0);
  if (entered + remarks >= leastOf(pages) && entered + remarks > letters)
    return (
      `The PDF's pages have no text of their own: what it shows stands in ${entered > 0 && remarks > 0 ? "filled-in fields and notes" : entered > 0 ? "the filled-in fields of a form" : "notes"}, ` +
      "which are not read, since anybody may have written them. If they are the document, print it to a new PDF and try again."
    );
  if (hidden.length > 8 * pages && hidden.length > letters)
    return "The PDF shows no text: what it has is hidden. If it looks like a page, run OCR over it (for example with ocrmypdf) and try again.";
  return "The PDF has no text; it is probably a scan. Run OCR over it (for example with ocrmypdf) and try again.";
}

function whyNotOpened(error: unknown): string {
  if (error instanceof Error && error.name === "PasswordException")
    return "The PDF is encrypted with a password; save it without one and try again.";
  return `The file is not a whole PDF (${shorten(messageOf(error))}); download it again.`;
}

const shorten = (text: string) => text.replace(/\.$/, "").slice(0, 120);
const unreadable = (reason: string): ReadResult => ({ status: "unreadable", reason });
