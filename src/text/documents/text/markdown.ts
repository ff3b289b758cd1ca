import { parse } from "yaml";
import { buildText, type DocumentText, type Part, extractBetween } from "./document-text.js";
import { authorsAndDate, titleMetadata } from "./title-lines.js";
import { idsInHead } from "./printed-ids.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { isObject } from "../../../engine/lib/json-fields.js";

/**
 * The text of a Markdown or plain-text document. YAML front matter gives title, authors, date, abstract, id, doi and
 * retracted; front matter that cannot be read is left in the text. Comments are kept from agents, and said to be there.
 * Never fails: any text is a document.
 */
export function readMarkdown(source: string, kind: "markdown" | "text"): DocumentText {
  const { front, body } = splitFrontMatter(source.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"));
  const { text: visible, pieces } = extractBetween(body, "<!--", "-->");
  const sections = kind === "markdown" ? sectionsOf(visible) : [{ text: visible }];
  const own = kind === "markdown" ? factsUnderHeading(visible) : titleMetadata(visible);
  const abstract = textOf(front.abstract) ?? abstractIn(sections);
  const printedIds = idsInHead(visible);
  const comments = pieces.reduce((sum, piece) => sum + piece.trim().length, 0);
  return buildText(sections, {
    kind,
    depth: "full",
    title: textOf(front.title) ?? own.title,
    authors: namesOf(front.authors ?? front.author) ?? own.authors,
    date: dateOf(front.date) ?? own.date,
    abstract,
    id: textOf(front.id),
    ...printedIds,
    ...withoutUndefined({ doi: textOf(front.doi) }),
    retracted: front.retracted === true ? true : undefined,
    warnings:
      comments === 0 ? [] : [`${comments} characters in comments, which readers don't see, were left out of the text.`],
  });
}

/** The title of a Markdown text is its first heading of the first level, else what would be that of a plain text. */
function factsUnderHeading(text: string): ReturnType<typeof titleMetadata> {
  const heading = /^# +(\S.*)$/m.exec(text);
  if (heading === null) return titleMetadata(text);
  const rest = text.slice(heading.index + heading[0].length, heading.index + 5000).split("\n");
  const plain = rest.map((line) => line.replace(/[*_`]+/g, "").trim());
  return { title: heading[1]?.trim(), ...authorsAndDate(plain, text) };
}

/** Characters of front matter; nobody says what time the YAML parser takes. */
const longestFront = 32 * 1024;

function splitFrontMatter(source: string): { front: Record<string, unknown>; body: string } {
  const match = /^---\n([\s\S]*?)\n(?:---|\.\.\.)(?:\n|$)/.exec(source.slice(0, longestFront));
  if (match?.[1] === undefined) return { front: {}, body: source };
  try {
    const front: unknown = parse(match[1], { schema: "core", maxAliasCount: 10 });
    if (isObject(front)) return { front: front as Record<string, unknown>, body: source.slice(match[0].length) };
  } catch {
    // Not YAML: two rules around ordinary text.
  }
  return { front: {}, body: source };
}

/** Splits at headings of any level outside code fences; each section begins with its heading's line. */
function sectionsOf(body: string): Part[] {
  const parts: { label?: string; lines: string[] }[] = [{ lines: [] }];
  let fence: string | undefined;
  for (const line of body.split("\n")) {
    const marker = /^ {0,3}(```+|~~~+)/.exec(line)?.[1];
    if (marker !== undefined) fence = fence === undefined ? marker : marker.startsWith(fence) ? undefined : fence;
    const heading = fence === undefined ? headingOf(line) : undefined;
    if (heading === undefined) parts.at(-1)?.lines.push(line);
    else parts.push({ label: sectionLabel(heading), lines: [line] });
  }
  return parts.map(({ label, lines }) => ({ label, text: lines.join("\n") }));
}

/**
 * The heading of a line `## 3 Method ##`, without its marks; undefined for any other line and for a document's own
 * title.
 */
function headingOf(line: string): string | undefined {
  const words = /^#{2,6} +(?=\S)/.exec(line)?.[0];
  if (words === undefined) return undefined;
  const text = line.slice(words.length).trimEnd();
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  const isClosed = end < text.length && (end === 0 || text[end - 1] === " ");
  return (isClosed ? text.slice(0, end).trimEnd() : text) || text;
}

/** A section's locator, such as "§ 3 Method". */
export const sectionLabel = (heading: string): string => {
  const plain = heading.replace(/[*_`]/g, "").replace(/\s+/g, " ").trim();
  return `§ ${plain.length > 80 ? `${plain.slice(0, 79)}…` : plain}`;
};

function abstractIn(sections: readonly Part[]): string | undefined {
  const section = sections.find(({ label }) => /^§ (?:\d+\.? )?abstract$/i.test(label ?? ""));
  return section?.text.split("\n").slice(1).join("\n").trim();
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value).replace(/\s+/g, " ").trim() : undefined;
}

function namesOf(value: unknown): string[] | undefined {
  if (typeof value === "string")
    return value
      .split(/;|\band\b|,(?= *\p{Lu}\p{L}+ )/u)
      .map((name) => name.trim())
      .filter((name) => name !== "");
  if (!Array.isArray(value)) return undefined;
  return value
    .map((name: unknown) => textOf(typeof name === "object" && name !== null && "name" in name ? name.name : name))
    .filter((name) => name !== undefined);
}

/** The core schema of YAML leaves dates as text; a year alone is read as a number. */
function dateOf(value: unknown): string | undefined {
  return /^\d{4}(?:-\d{2}(?:-\d{2})?)?/.exec(textOf(value) ?? "")?.[0];
}
