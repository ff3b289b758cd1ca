import { cleanDoi, doiPattern, type OwnIds, stampedLine } from "../text/printed-ids.js";
import type { Line } from "./layout.js";
import type { Xmp } from "./metadata.js";

/** arXiv's stamp on its papers: the id, followed by the subject in brackets. */
const stamp = /arXiv:\s?((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?\/\d{7})(?:v\d{1,3})?)\s*(?=\[[\w.-]+\])/i;

/**
 * The DOI and the arXiv id of the document itself. The DOI is in its metadata, or else on its first page: at the top,
 * at the bottom, or in a note about the article. A DOI in a sentence, a footnote or the references belongs to a cited
 * work.
 */
export function ownIds(firstPage: readonly Line[], info: Record<string, unknown>, xmp: Xmp): OwnIds {
  const lines = firstPage.map(({ text }) => text.trim());
  const doi = statedDoi(info, xmp) ?? printedDoi(firstPage);
  const arxiv = lines.map((line) => (stamp.exec(line) ?? stampedLine.exec(line))?.[1]).find((id) => id !== undefined);
  return { doi, arxiv };
}

/**
 * The DOI in the file's metadata. Publishers write it into one of several XMP fields, a custom field or the subject.
 */
function statedDoi(info: Record<string, unknown>, xmp: Xmp): string | undefined {
  const custom = Object.entries((info["Custom"] ?? {}) as Record<string, unknown>);
  const doiFields = [...custom, ...Object.entries(info)].flatMap(([name, value]) =>
    /doi$/i.test(name) ? [value] : [],
  );
  const xmpFields = ["prism:doi", "pdfx:doi", "dc:identifier", "prism:url"].map(xmp);
  const fields = [...xmpFields, ...doiFields, info["Subject"]];
  return fields
    .flat()
    .map((value) => (typeof value === "string" ? cleanDoi(doiPattern.exec(value)?.[0]) : undefined))
    .find((doi) => doi !== undefined);
}

/** Number of lines at the top of a page that may contain its DOI. Only used if the page has no abstract. */
const maxTopLines = 14;
/** Number of lines at the bottom of a page that may contain its DOI. */
const maxBottomLines = 6;
/** Maximum number of letters beside a DOI in its line: a journal with year and pages, the authors and a short title. */
const maxLettersBeside = 120;
/** Maximum number of lines before the DOI in a note about how to cite the article. */
const maxNoteLines = 6;

/**
 * The DOI on a page. The first of these counts: a DOI above the abstract; below the last gap between lines; after "DOI"
 * or "Digital Object Identifier" at the beginning of a line; in the note about how to cite the article.
 */
function printedDoi(page: readonly Line[]): string | undefined {
  const lines = page.map(({ text }) => text.trim());
  const bottom = bottomStart(page);
  const isReferences = (line: string) =>
    /^(?:\d{1,2}\.?\s*)?(?:references|bibliography|literature cited)\W{0,3}$/i.test(line);
  const referencesIndex = lines.findIndex(isReferences);
  const textEnd = referencesIndex === -1 ? lines.length : referencesIndex;
  const abstractIndex = lines.findIndex((line) => /^(?:abstract|summary)\b/i.test(line));
  const topEnd = abstractIndex === -1 ? maxTopLines : abstractIndex;
  const candidates = lines.flatMap((line, index) => {
    // A long DOI may continue in the next line after a slash or a hyphen.
    const isBroken = /10\.\d{4,9}\/\S*[/_.-]$|10\.\d{4,9}\/$/.test(line);
    const doi = cleanDoi(doiPattern.exec(isBroken ? `${line}${lines[index + 1] ?? ""}` : line)?.[0]);
    if (doi === undefined || (index >= textEnd && index < bottom)) return [];
    const lettersBeside = line.replace(doiPattern, "").match(/\p{L}/gu) ?? [];
    // "[3] Lee, A." is a reference, "1 See Lee" a footnote.
    const isCitation = index >= topEnd && /^(?:\[\d{1,3}\]|[*†‡§]|\d{1,3}[.)]?\s?\p{L})/u.test(line);
    if (lettersBeside.length > maxLettersBeside || isCitation) return [];
    const isLabelled = /^\W{0,3}(?:article )?(?:doi\b(?!\.org)|digital object identifier)[\s:]{0,3}/i.test(line);
    const linesBefore = lines.slice(Math.max(0, index - maxNoteLines), index + 1).join(" ");
    const isInNote = /\bcitation:|\breference format\b|\bcite (?:this|as)\b|\bhow to cite\b/i.test(linesBefore);
    const rank = [index < topEnd, index >= bottom, isLabelled, isInNote].indexOf(true);
    return rank === -1 ? [] : [{ doi, rank }];
  });
  return candidates.toSorted((a, b) => a.rank - b.rank)[0]?.doi;
}

/**
 * The index of the first line below a wide gap near the bottom of a page. If there is no such gap, the number of lines.
 */
function bottomStart(page: readonly Line[]): number {
  const steps = page.slice(1).map((line, index) => (page[index]?.y ?? 0) - line.y);
  const usualStep = steps.filter((step) => step > 0).toSorted((a, b) => a - b)[Math.floor(steps.length / 3)] ?? 0;
  const firstBottomLine = Math.max(page.length - maxBottomLines, 0);
  const gap = steps.findIndex((step, index) => index + 1 >= firstBottomLine && step > 1.1 * usualStep);
  return gap === -1 ? page.length : gap + 1;
}
