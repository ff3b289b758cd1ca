import { cleanDoi, doiPattern, type OwnIds, stampedLine } from "../text/printed-ids.js";
import type { Line } from "./layout.js";
import type { Xmp } from "./metadata.js";

/** With the subject behind it, as only arXiv writes it. */
const stamp = /arXiv:\s?((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?\/\d{7})(?:v\d{1,3})?)\s*(?=\[[\w.-]+\])/i;

/**
 * The DOI or arXiv id of the document itself: from its XMP and its description, else from its first page, where it
 * stands at the head, at the foot or in a note on the article. One within a sentence, a footnote or the references is
 * that of a cited work.
 */
export function ownIds(firstPage: readonly Line[], info: Record<string, unknown>, xmp: Xmp): OwnIds {
  const lines = firstPage.map(({ text }) => text.trim());
  const doi = statedDoi(info, xmp) ?? printedDoi(firstPage);
  const arxiv = lines.map((line) => (stamp.exec(line) ?? stampedLine.exec(line))?.[1]).find((id) => id !== undefined);
  return { doi, arxiv };
}

/** What publishers write into a file: XMP of three kinds, a field of their own, or the subject of the document. */
function statedDoi(info: Record<string, unknown>, xmp: Xmp): string | undefined {
  const custom = Object.entries((info["Custom"] ?? {}) as Record<string, unknown>);
  const named = [...custom, ...Object.entries(info)].flatMap(([name, value]) => (/doi$/i.test(name) ? [value] : []));
  const fields = [xmp("prism:doi"), xmp("pdfx:doi"), xmp("dc:identifier"), xmp("prism:url"), ...named, info["Subject"]];
  return fields
    .flat()
    .map((value) => (typeof value === "string" ? cleanDoi(doiPattern.exec(value)?.[0]) : undefined))
    .find((doi) => doi !== undefined);
}

/** Lines of the head of a page without an abstract, and of the foot of any. */
const [headLines, footLines] = [14, 6];
/** Letters that stand beside a DOI at most: a journal with its year and pages, the authors and a short title. */
const maxBeside = 120;
/** So many lines of a note on how to cite the article may stand before its DOI. */
const noteLines = 6;

/**
 * A DOI at the head, above the abstract; at the foot, set apart from the text; behind the words "DOI" or "Digital
 * Object Identifier" at the beginning of a line; or in the note that says how to cite the article.
 */
function printedDoi(page: readonly Line[]): string | undefined {
  const lines = page.map(({ text }) => text.trim());
  const foot = footOf(page);
  const isReferences = (line: string) =>
    /^(?:\d{1,2}\.?\s*)?(?:references|bibliography|literature cited)\W{0,3}$/i.test(line);
  const references = lines.findIndex(isReferences);
  const end = references === -1 ? lines.length : references;
  const abstract = lines.findIndex((line) => /^(?:abstract|summary)\b/i.test(line));
  const head = abstract === -1 ? headLines : abstract;
  const found = lines.flatMap((line, index) => {
    // A long DOI may be broken behind its slash or a hyphen.
    const isBroken = /10\.\d{4,9}\/\S*[/_.-]$|10\.\d{4,9}\/$/.test(line);
    const doi = cleanDoi(doiPattern.exec(isBroken ? `${line}${lines[index + 1] ?? ""}` : line)?.[0]);
    if (doi === undefined || (index >= end && index < foot)) return [];
    const beside = line.replace(doiPattern, "").match(/\p{L}/gu) ?? [];
    // "[3] Lee, A." or "1 See Lee" cites.
    if (beside.length > maxBeside || (index >= head && /^(?:\[\d{1,3}\]|[*†‡§]|\d{1,3}[.)]?\s?\p{L})/u.test(line)))
      return [];
    const isLabelled = /^\W{0,3}(?:article )?(?:doi\b(?!\.org)|digital object identifier)[\s:]{0,3}/i.test(line);
    const note = lines.slice(Math.max(0, index - noteLines), index + 1).join(" ");
    const isHowToCite = /\bcitation:|\breference format\b|\bcite (?:this|as)\b|\bhow to cite\b/i.test(note);
    const rank = [index < head, index >= foot, isLabelled, isHowToCite].indexOf(true);
    return rank === -1 ? [] : [{ doi, rank }];
  });
  return found.toSorted((a, b) => a.rank - b.rank)[0]?.doi;
}

/** Where the foot of a page begins: the last lines, from one that stands further below the others than these do. */
function footOf(page: readonly Line[]): number {
  const steps = page.slice(1).map((line, index) => (page[index]?.y ?? 0) - line.y);
  const usual = steps.filter((step) => step > 0).toSorted((a, b) => a - b)[Math.floor(steps.length / 3)] ?? 0;
  const from = Math.max(page.length - footLines, 0);
  const gap = steps.findIndex((step, index) => index + 1 >= from && step > 1.1 * usual);
  return gap === -1 ? page.length : gap + 1;
}
