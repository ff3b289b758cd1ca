import { dateOf } from "../../dates.js";
import type { Line } from "./layout.js";
import { withAccents } from "./pages.js";
import { withoutEntities } from "../text/document-text.js";
import { authorsAndDate, notName } from "../text/title-lines.js";

/** Returns a field of a PDF's XMP by its name in lower case. */
export type Xmp = (name: string) => unknown;

interface Metadata {
  readonly title: string | undefined;
  readonly authors: readonly string[] | undefined;
  readonly abstract: string | undefined;
  readonly date: string | undefined;
}

/** The title, authors, date and abstract of a PDF, from the file's metadata, its XMP, its first page and its text. */
export function metadataOf(
  info: Record<string, unknown>,
  firstPage: readonly Line[],
  text: string,
  xmp: Xmp = () => undefined,
): Metadata {
  const [statedTitle, largestTitle] = [titleFrom(info["Title"]), largestLines(firstPage)];
  // In many files, the stated title is only a part of the title on the page.
  const isPartOfTitle =
    statedTitle !== undefined &&
    largestTitle !== undefined &&
    largestTitle.length > statedTitle.length &&
    largestTitle.includes(statedTitle);
  const title = isPartOfTitle ? largestTitle : (statedTitle ?? largestTitle);
  const printed = title === undefined ? {} : authorsAndDate(linesBelow(title, firstPage), text);
  return {
    title,
    authors: authorsFrom(info["Author"]) ?? printed.authors,
    abstract: abstractOf(text),
    date: stampedDate(firstPage) ?? publishersDate(xmp) ?? printed.date ?? dublinCoreDate(xmp),
  };
}

const textsIn = (value: unknown): string[] => [value].flat().filter((each): each is string => typeof each === "string");

/** The date of publication as publishers state it. The date of the file says nothing about it. */
const publishersDate = (xmp: Xmp): string | undefined =>
  dateOf(["prism:publicationdate", "prism:coverdate"].flatMap((name) => textsIn(xmp(name))));

/** The date of the work. Programs that do not know it write the date of the file, which is ignored. */
function dublinCoreDate(xmp: Xmp): string | undefined {
  const date = dateOf(textsIn(xmp("dc:date")));
  const fileDates = ["xmp:createdate", "xmp:modifydate"].map((name) => dateOf(textsIn(xmp(name))));
  return fileDates.includes(date) ? undefined : date;
}

/** The lines below the title of a page; empty if the title is not there. */
function linesBelow(title: string, lines: readonly Line[]): readonly string[] {
  const lettersOnly = (part: string) => part.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const titleLetters = lettersOnly(title);
  const isPart = ({ text }: Line) => lettersOnly(text).length > 1 && titleLetters.includes(lettersOnly(text));
  const first = lines.slice(0, maxHeadLines).findIndex(isPart);
  if (first === -1) return [];
  const length = lines.slice(first).findIndex((line) => !isPart(line));
  return length === -1 ? [] : lines.slice(first + length).map(({ text }) => text.trim());
}

/** The date in arXiv's stamp of a version, after its id and subject. */
function stampedDate(lines: readonly Line[]): string | undefined {
  const stamps = lines.map(
    ({ text }) => /^arXiv:\S+ *\[[\w.-]+\] *(\d{1,2} \p{L}{3,9} \d{4})$/u.exec(text.trim())?.[1],
  );
  const day = stamps.find((each) => each !== undefined);
  return day === undefined ? undefined : dateOf([day]);
}

/** The heading of an abstract. The word within a sentence is not a heading. */
const abstractHeading =
  /(?:^|\n)[^\S\n]*(?:(?:Abstract|ABSTRACT|Zusammenfassung|ZUSAMMENFASSUNG|Résumé|RÉSUMÉ|Resumen|RESUMEN|Resumo|RESUMO|Аннотация|АННОТАЦИЯ|要旨|概要|摘要|초록|요약)(?![\p{L}\p{M}])|abstract(?=[^\S\n]*\n))[\s.:—–-]*(?![\s.:—–\p{Ll}-])([\s\S]{80,2500}?)(?=\n[^\S\n]*\n|\n\s{0,20}(?:(?:[1I]\.?|\.)\s{0,20})?(?:[Ii]ntroduction|INTRODUCTION)\b)/u;

function abstractOf(text: string): string | undefined {
  return abstractHeading
    .exec(text.slice(0, 30_000))?.[1]
    ?.replace(/-\n(?=\p{Ll})/gu, "")
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * The title in a file's metadata, if it is a real title: programs write file names, publishers' templates their names
 * and placeholders, and editors the name of the series.
 */
function titleFrom(value: unknown): string | undefined {
  const title = typeof value === "string" ? withoutEntities(withAccents(value)) : "";
  const isUseless =
    title.length < 5 ||
    !/\p{L}{2}/u.test(title) ||
    /^(untitled|microsoft (?:word|powerpoint)|title|no title|document\d*|paper|manuscript|main|arxiv|powerpoint presentation|slide \d|layout \d|doi:?\s?10\.|pii:|lncs\b|sample-|r graphics output|xetex output|tex output|dvips\b|printing\b|latex2e\b|elsevier editorial|author guidelines|preparation of papers)/i.test(
      title,
    ) ||
    /\btemplate\s*(?:$|[-–—(]|v?\d|in (?:a4|letter)|for (?:\S+ ){0,3}(?:submissions?|papers?|authors?|proceedings|articles?|conferences?))|^proceedings\b|^(?:the )?journal of\b|\bcamera[- ]ready\b|\binstructions (?:for|to) authors\b|^formatting instructions\b/i.test(
      title,
    ) ||
    /^(?:(?:your|insert|enter|full|article|the) ){1,3}title(?: here)?$|^\S+ (?:submission|paper)(?: #?\d+)?$/i.test(
      title,
    ) ||
    /\.(docx?|tex|pdf|dvi|ps|indd|rtf|qxd|p65|fm|pptx?|eps)(?:$|\s)/i.test(title) ||
    // The address of a printed page.
    /^[a-z][a-z+.-]*:\S+$/i.test(title) ||
    // A name with numbers, such as "05452615 1..8" or "acl_20-main".
    /^[^\s\d_]*[\d_]\S*(?:\s\d+\.\.\d+)?$/.test(title);
  return isUseless ? undefined : title;
}

/** Number of lines at the top of the first page that are searched for the title. */
const maxHeadLines = 25;
/** Maximum lines of a title. */
const maxTitleLines = 4;
/** Maximum characters of a title. */
const maxTitleChars = 300;
/** A raised text at the end of a line that may be a footnote mark; "++" is not one. */
const footnote = /^[\p{L}\d∗*†‡§¶⋆♯?,)]{1,6}$/u;
/** Footnote marks after a title. */
const marks = /[∗*†‡§¶⋆♯]\s?$/u;
function withoutMarks(text: string): string {
  let plain = text.trim();
  while (marks.test(plain)) plain = plain.replace(marks, "").trim();
  return plain;
}

/**
 * The lines in the largest font of the first page, which are usually the title. Exceptions are the name of the journal,
 * the number of the paper, and words in a picture, which are below the title.
 */
function largestLines(lines: readonly Line[]): string | undefined {
  const headLines = lines.slice(0, maxHeadLines).filter((line) => (line.text.match(/\p{L}/gu)?.length ?? 0) >= 4);
  const groups: { readonly height: number; readonly lines: Line[] }[] = [];
  for (const line of headLines) {
    const last = groups.at(-1);
    if (last !== undefined && Math.abs(last.height - line.height) < 0.5) last.lines.push(line);
    else groups.push({ height: line.height, lines: [line] });
  }
  const groupsWithTitle = groups.map((group) => ({ ...group, title: titleOf(group.lines.slice(0, maxTitleLines)) }));
  const titles = groupsWithTitle.filter(({ title }) => !isAboveTitle(title));
  const body = heightOfMost(lines);
  const hasLargeTitle = titles.some(({ height }) => height > 1.05 * body);
  if (groupsWithTitle.length > 0 && groupsWithTitle.every(({ height }) => Math.abs(height - body) < 0.05 * body))
    return firstLines(lines);
  const largest = largestOf(hasLargeTitle ? titles : groupsWithTitle);
  if (largest === undefined) return undefined;
  const above = largestOf(titles.slice(0, titles.indexOf(largest)).filter(({ title }) => wordsIn(title) >= minWords));
  const isInPicture = wordsIn(largest.title) < minWords && above !== undefined && above.height > 0.65 * largest.height;
  const hasFewLargeLines =
    above !== undefined && headLines.filter(({ height }) => height > above.height - 0.5).length <= maxTitleLines;
  return (isInPicture && hasFewLargeLines ? above : largest).title || undefined;
}

/**
 * The title of a page in one font size, such as a typewritten page: the separate lines at the top, if they are not a
 * sentence. Otherwise undefined, because the title can't be distinguished from the text.
 */
function firstLines(lines: readonly Line[]): string | undefined {
  const steps = lines.slice(1).map((line, index) => (lines[index]?.y ?? 0) - line.y);
  const usualStep = steps.filter((step) => step > 0).toSorted((a, b) => a - b)[Math.floor(steps.length / 4)] ?? 0;
  const ends = steps.flatMap((step, index) => (step > separateFactor * usualStep ? [index + 1] : []));
  for (const [index, end] of ends.slice(0, 2).entries()) {
    const start = ends[index - 1] ?? 0;
    const title = titleOf(lines.slice(start, Math.min(end, start + maxTitleLines + 1)));
    // A running head ends or begins with the page number.
    if (isAboveTitle(title) || /^\d{1,4}\s|\s\d{1,4}$/.test(title)) continue;
    const isTitle = end - start <= maxTitleLines && wordsIn(title) > 1;
    return isTitle && !/[.:;,]$|[.!?] \p{Lu}/u.test(title) ? title : undefined;
  }
  return undefined;
}

/** Lines with a distance of more than this factor of the usual step are separate. */
const separateFactor = 1.3;

/** The font height of most characters of a page. */
function heightOfMost(lines: readonly Line[]): number {
  const lengths = new Map<number, number>();
  for (const { height, text } of lines) lengths.set(height, (lengths.get(height) ?? 0) + text.length);
  return [...lengths].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}

/** Minimum words of a title that is above the largest letters. */
const minWords = 4;
const wordsIn = (text: string): number => text.match(/\p{L}{2,}/gu)?.length ?? 0;

const largestOf = <Group extends { readonly height: number }>(groups: readonly Group[]): Group | undefined => {
  const height = Math.max(0, ...groups.map((group) => group.height));
  return groups.find((group) => group.height > height - 0.5);
};

function titleOf(lines: readonly Line[]): string {
  const linesWithoutMarks = lines.map(({ text, mark }) => {
    const isMarked = mark !== undefined && footnote.test(mark) && text.endsWith(mark) && text.length > mark.length;
    return withoutMarks(isMarked ? text.slice(0, -mark.length) : text);
  });
  return withAccents(linesWithoutMarks.join(" ")).replace(/\s+/g, " ").trim().slice(0, maxTitleChars);
}

/**
 * Whether a text usually stands above a title: the name of a journal or series, the kind or number of the paper, or its
 * availability.
 */
const isAboveTitle = (text: string): boolean =>
  /^(?:the )?(?:(?:international|european|american|british|canadian|asian|chinese|japanese) )?(?:journal of|journal$|transactions on|proceedings of|annals of|archives of|acta |bulletin of|advances in .{3,40}\d)/i.test(
    text,
  ) ||
  /^(?:original |short |brief |systematic )?(?:research )?(?:article|paper|communication|report|letter|review|editorial|commentary|case report|perspective|technical note|open access|accepted manuscript|author manuscript|preprint|article in press|contents lists .{0,60})s?(?: article| paper| open access)?$/i.test(
    text,
  ) ||
  // "IMECE2020-XXXX", "AIECE2021-0003"
  (/\d{4}/.test(text) && !/\s/.test(text));

/** A degree, or the name of an account. */
const isDegreeOrAccount = (name: string): boolean =>
  /^(?:m\.?d|m\.?sc?|b\.?sc?|m\.?p\.?h|mba|d\.?phil|frcp|r\.?n|jr|sr|dr|prof)\.?$/i.test(name) ||
  /^\p{Ll}+$/u.test(name);

function authorsFrom(value: unknown): string[] | undefined {
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const plain = withoutEntities(value);
  // "Bee, Ann and Dee, Carl": each name has one comma.
  const parts = plain.split(/&|\band\b/);
  const isLastNameFirst = parts.length > 1 && parts.every((part) => /^[^,]+,[^,]+$/.test(part));
  const separator = plain.includes(";") ? /;/ : isLastNameFirst ? /&|\band\b/ : /,|&|\band\b/;
  const pieces = plain.split(separator);
  // After an institution, its town and country follow.
  const hasPlaces = pieces.some((name) => notName.test(name));
  const names = pieces
    .map((name) =>
      withAccents(name)
        .replace(/\([^()]{0,80}\)/g, "")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .filter((name) => name.length > 1 && name.length < 80 && !notName.test(name) && !isDegreeOrAccount(name))
    .filter((name) => !hasPlaces || /\s/.test(name));
  return names.length === 0 ? undefined : names.slice(0, 300);
}
