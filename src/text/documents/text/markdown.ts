import { parse, YAMLParseError } from "yaml";
import { buildText, type DocumentText, type Part, extractBetween } from "./document-text.js";
import { authorsAndDate, namesInField, titleMetadata } from "./title-lines.js";
import { idsInHead } from "./printed-ids.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { isObject } from "../../../engine/lib/json-fields.js";

/**
 * Reads a Markdown or plain-text document. The title, authors, date or year, abstract, id, doi and retracted come from
 * YAML front matter. Front matter with errors stays in the text, and comments are removed; both with a warning. Never
 * fails.
 */
export function readMarkdown(source: string, kind: "markdown" | "text"): DocumentText {
  const { front, body, problem } = splitFrontMatter(source.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"));
  const { text, pieces: comments } = extractBetween(body, "<!--", "-->");
  const sections = kind === "markdown" ? sectionsOf(text) : [{ text }];
  const printed = kind === "markdown" ? markdownMetadata(text) : titleMetadata(text);
  const abstract = textOf(front.abstract) ?? abstractOf(sections);
  const printedIds = idsInHead(text);
  const commentChars = comments.reduce((sum, comment) => sum + comment.trim().length, 0);
  return buildText(sections, {
    kind,
    depth: "full",
    title: textOf(front.title) ?? printed.title,
    authors: namesOf(front.authors ?? front.author) ?? printed.authors,
    date: dateOf(front.date ?? front.year) ?? printed.date,
    abstract,
    id: textOf(front.id),
    ...printedIds,
    ...withoutUndefined({ doi: textOf(front.doi) }),
    retracted: front.retracted === true ? true : undefined,
    warnings: [
      ...(problem === undefined ? [] : [problem]),
      ...(commentChars === 0
        ? []
        : [`${commentChars} characters in comments, which readers don't see, were left out of the text.`]),
    ],
  });
}

/** The title is the first heading of level 1, and authors and date are below it. Without one, as for a plain text. */
function markdownMetadata(text: string): ReturnType<typeof titleMetadata> {
  const heading = /^# +(\S.*)$/m.exec(text);
  if (heading === null) return titleMetadata(text);
  const linesBelow = text.slice(heading.index + heading[0].length, heading.index + 5000).split("\n");
  const linesWithoutMarkup = linesBelow.map((line) => line.replace(/[*_`]+/g, "").trim());
  return { title: heading[1]?.trim(), ...authorsAndDate(linesWithoutMarkup, text) };
}

/** Maximum length of front matter, because the time that the YAML parser needs is not known. */
const maxFrontChars = 32 * 1024;

/** Front matter as an object, and the text after it. `problem`: why front matter stays in the text, a sentence. */
interface SplitSource {
  readonly front: Record<string, unknown>;
  readonly body: string;
  readonly problem?: string;
}

function splitFrontMatter(source: string): SplitSource {
  const match = /^---\n([\s\S]*?)\n(?:---|\.\.\.)(?:\n|$)/.exec(source.slice(0, maxFrontChars));
  if (match?.[1] === undefined) return { front: {}, body: source };
  try {
    const front: unknown = parse(match[1], { schema: "core", maxAliasCount: 10 });
    if (isObject(front)) return { front, body: source.slice(match[0].length) };
  } catch (error) {
    // Without a key, it is usual text between two horizontal lines.
    if (!/^[\w-]+:\s/.test(match[1]) || !(error instanceof YAMLParseError)) return { front: {}, body: source };
    const line = (error.linePos?.[0].line ?? 0) + 1;
    const problem = `Its front matter is not YAML (line ${line}), so it was read as text; a value with a colon needs quotation marks.`;
    return { front: {}, body: source, problem };
  }
  return { front: {}, body: source };
}

/** Splits a text at its headings of level 2 to 6, except in code. Each section begins with the line of its heading. */
function sectionsOf(body: string): Part[] {
  const parts: { label?: string; lines: string[] }[] = [{ lines: [] }];
  let fence: string | undefined;
  for (const line of body.split("\n")) {
    const fenceOnLine = /^ {0,3}(```+|~~~+)/.exec(line)?.[1];
    if (fenceOnLine !== undefined)
      fence = fence === undefined ? fenceOnLine : fenceOnLine.startsWith(fence) ? undefined : fence;
    const heading = fence === undefined ? headingOf(line) : undefined;
    if (heading === undefined) parts.at(-1)?.lines.push(line);
    else parts.push({ label: sectionLabel(heading), lines: [line] });
  }
  return parts.map(({ label, lines }) => ({ label, text: lines.join("\n") }));
}

/**
 * The heading on a line such as `## 3 Method ##`, without "#". Undefined for other lines, and for headings of level 1,
 * which are the title.
 */
function headingOf(line: string): string | undefined {
  const openingMark = /^#{2,6} +(?=\S)/.exec(line)?.[0];
  if (openingMark === undefined) return undefined;
  const text = line.slice(openingMark.length).trimEnd();
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  const hasClosingMark = end < text.length && (end === 0 || text[end - 1] === " ");
  return (hasClosingMark ? text.slice(0, end).trimEnd() : text) || text;
}

/** The locator of a section, such as "§ 3 Method". */
export const sectionLabel = (heading: string): string => {
  const text = heading.replace(/[*_`]/g, "").replace(/\s+/g, " ").trim();
  return `§ ${text.length > 80 ? `${text.slice(0, 79)}…` : text}`;
};

/** The abstract: the section with this heading, or the paragraph that begins with this word in bold or italics. */
function abstractOf(sections: readonly Part[]): string | undefined {
  const inSection = abstractIn(sections);
  if (inSection !== undefined) return inSection;
  for (const { text } of sections) {
    const opening = /^[*_]{1,3}abstract[\s.:]{0,3}[*_]{1,3}[ \t.:–—-]*\n*/im.exec(text);
    if (opening === null) continue;
    const paragraph =
      text
        .slice(opening.index + opening[0].length)
        .split(/\n\s*\n/)[0]
        ?.trim() ?? "";
    if (paragraph !== "" && !paragraph.startsWith("#")) return paragraph;
  }
  return undefined;
}

/** The text of the section "Abstract" without its heading. */
export function abstractIn(sections: readonly Part[]): string | undefined {
  const section = sections.find(({ label }) => /^§ (?:\d+\.? )?abstract$/i.test(label ?? ""));
  return section?.text.split("\n").slice(1).join("\n").trim() || undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value).replace(/\s+/g, " ").trim() : undefined;
}

function namesOf(value: unknown): string[] | undefined {
  if (typeof value === "string") return namesInField(value);
  if (!Array.isArray(value)) return undefined;
  return value
    .map((name: unknown) => textOf(typeof name === "object" && name !== null && "name" in name ? name.name : name))
    .filter((name) => name !== undefined);
}

/** The date in the front matter. YAML's core schema reads a date as text, and a year alone as a number. */
function dateOf(value: unknown): string | undefined {
  return /^\d{4}(?:-\d{2}(?:-\d{2})?)?/.exec(textOf(value) ?? "")?.[0];
}
