import type { Cheerio, CheerioAPI } from "cheerio";
import { endOfDeclaration } from "./is-jats.js";
import { jatsMetadata } from "./metadata.js";
import { mathText } from "../html/mathml.js";
import { replaceByText, type Element, elementsOf, type Node, convertPower, removeNodes } from "../html/select.js";
import { documentBody } from "../latex/scan.js";
import { sectionLabel } from "../text/markdown.js";
import { barCountsOf } from "../text/table-columns.js";
import { buildText, collapseSpaces, type Part, type ReadResult, tidyText } from "../text/document-text.js";

/** Maximum depth of nested elements, because the parser is recursive. Articles have a depth of about twenty. */
const maxDepth = 500;
/** A shorter body is only a note that the article exists as a scan. */
const minBodyChars = 500;

/**
 * Reads the text of a JATS article: sections with headings, tables row by row, formulas, and numbered references. The
 * depth is `abstract` if the article has no body. Entities that the document declares are never expanded.
 */
export async function readJats(xml: string): Promise<ReadResult> {
  // Checked first, because the parser below would also read half of an article without an error.
  const depth = depthOf(xml);
  if (depth === undefined)
    return { status: "unreadable", reason: "The article's XML is damaged or cut off; download it again." };
  if (depth > maxDepth)
    return { status: "unreadable", reason: "The article's elements are nested too deeply to be read." };
  const { load } = await import("cheerio");
  const page = load(xml, { xml: { decodeEntities: true } });
  const article = page("article").first();
  const { note, ...details } = jatsMetadata(page, article);

  convertFormulas(page);
  const notes = takeFootnotes(page);
  bracketCitations(page);
  // A superscript citation such as "word3" becomes "word [3]". Others, such as "(Lee, 2020)", are not changed.
  for (const superscript of elementsOf(page, "sup")) {
    if (page(superscript).children("xref").length === 0) {
      convertPower(page, superscript);
      continue;
    }
    if (page(superscript).children("xref[ref-type=bibr]").length === 0) continue;
    const numbers = page(superscript).text().trim();
    if (/^\d{1,3}(?!\d)/.test(numbers)) replaceByText(page, superscript, ` [${numbers}]`);
  }

  const parts: Part[] = [
    {
      text: [details.title === undefined ? "" : `# ${details.title}`, (details.authors ?? []).join(", "), note ?? ""]
        .filter(Boolean)
        .join("\n\n"),
    },
  ];
  article.find("> front > article-meta > abstract, > front > article-meta > trans-abstract").each((_, element) => {
    const kind = page(element).attr("abstract-type");
    parts.push(
      ...sectionsOf(
        page,
        element,
        kind === undefined ? "Abstract" : page(element).children("title").text().trim() || "Abstract",
      ),
    );
  });
  const body = article.children("body");
  for (const element of body.toArray()) parts.push(...sectionsOf(page, element, undefined));
  parts.push(...notes);
  article
    .find("> floats-group")
    .each((_, element) => void parts.push(...sectionsOf(page, element, "Figures and tables")));
  article.find("> back > app-group > app, > back > app, > back > sec, > back > ack").each((_, element) => {
    const defaultHeading = page(element).is("ack") ? "Acknowledgements" : "Appendix";
    parts.push(...sectionsOf(page, element, page(element).children("title").text().trim() || defaultHeading));
  });
  const references = referencesOf(page, article);
  if (references !== undefined) parts.push(references);

  const hasBody = body.text().replace(/\s+/g, " ").trim().length >= minBodyChars;
  return { status: "ok", text: buildText(parts, { kind: "jats", depth: hasBody ? "full" : "abstract", ...details }) };
}

/**
 * The depth of a document's nested elements. Undefined if an element is not closed in the right order, or if a tag, a
 * comment or a CDATA section has no end: the document is damaged or incomplete. Takes linear time.
 */
function depthOf(xml: string): number | undefined {
  const openElements: string[] = [];
  let depth = 0;
  for (let index = xml.indexOf("<"); index !== -1; index = xml.indexOf("<", index)) {
    const [start, end] = delimiters.find(([delimiter]) => xml.startsWith(delimiter, index)) ?? ["<", ">"];
    const close =
      start === "<!" ? endOfDeclaration(xml, index) : start === "<" ? endOfTag(xml, index) : xml.indexOf(end, index);
    if (close === -1) return undefined;
    if (start === "<") {
      const isEndTag = xml[index + 1] === "/";
      const name = /^[^\s/>]{1,200}/.exec(xml.slice(index + (isEndTag ? 2 : 1), index + 202))?.[0];
      if (name === undefined) return undefined;
      if (isEndTag && openElements.pop() !== name) return undefined;
      if (!isEndTag && xml[close - 1] !== "/") depth = Math.max(depth, openElements.push(name));
      if (openElements.length > 2 * maxDepth) return depth;
    }
    index = close + (start === "<" || start === "<!" ? 1 : end.length);
  }
  return openElements.length === 0 && depth > 0 ? depth : undefined;
}

/** The beginnings and ends of everything in XML that is not a tag. */
const delimiters = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
  ["<!", ">"],
] as const;

/** Maximum length of a tag. A longer one has an attribute without a closing quotation mark. */
const maxTagChars = 100_000;

/** The index of the ">" that ends a tag, outside of quotation marks. -1 if it is missing before the next "<". */
function endOfTag(xml: string, start: number): number {
  let quote = "";
  const limit = Math.min(xml.length, start + maxTagChars);
  for (let index = start + 1; index < limit; index += 1) {
    const character = xml[index] ?? "";
    if (character === "<") return -1;
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === '"' || character === "'") quote = character;
    else if (character === ">") return index;
  }
  return -1;
}

/**
 * Replaces each formula by `$LaTeX$`, or by text if the article has no LaTeX for it. An article may contain the same
 * formula three times: in LaTeX, in MathML and as a picture.
 */
function convertFormulas(page: CheerioAPI): void {
  for (const element of elementsOf(page, "inline-formula, disp-formula")) {
    const formula = page(element);
    const tex = formula.find("tex-math").first().text();
    // In Springer's articles, each formula is a complete document.
    const latex = documentBody(tex)
      .trim()
      .replace(/^\${1,2}|\${1,2}$/g, "")
      .replace(/\s+/g, " ")
      .trim();
    const [math] = formula.find("mml\\:math, math").toArray();
    const plainText = (math === undefined ? "" : mathText(math)) || formula.text().replace(/\s+/g, " ").trim();
    const label = formula.children("label").text().trim();
    const formulaText = latex === "" ? plainText : `$${latex}$`;
    if (element.name === "disp-formula")
      replaceByText(page, element, `${formulaText}${label === "" ? "" : ` ${label}`}`, element.name);
    else replaceByText(page, element, formulaText);
  }
}

/** Removes the footnotes from the sentences of the text. @returns a section with them. */
function takeFootnotes(page: CheerioAPI): Part[] {
  const notes: string[] = [];
  const noteElements: Node[] = [];
  page("body fn, back > fn-group > fn").each((_, element) => {
    const note = page(element);
    if (note.parents("table-wrap").length > 0) return;
    const text = note.text().replace(/\s+/g, " ").trim();
    if (text !== "") notes.push(`Footnote: ${text}`);
    noteElements.push(element);
  });
  removeNodes(noteElements);
  return notes.length === 0 ? [] : [{ label: "§ Footnotes", text: `## Footnotes\n\n${notes.join("\n\n")}` }];
}

const blockElements = new Set(
  "p sec list def-list disp-quote disp-formula disp-formula-group fig fig-group table-wrap table-wrap-group boxed-text statement verse-group supplementary-material tr".split(
    " ",
  ),
);
/** Block elements that may be in the middle of a sentence in the XML, but are printed outside of it. */
const floatElements = new Set(
  "disp-formula disp-formula-group fig fig-group table-wrap table-wrap-group boxed-text supplementary-material".split(
    " ",
  ),
);
/** Elements that are not read as text here; labels and titles are read with the element around them. */
const skippedElements = new Set("label title object-id graphic media alt-text long-desc permissions".split(" "));

/** The text of an element, divided at its sections. The first part gets `heading`. */
function sectionsOf(page: CheerioAPI, root: Node, heading: string | undefined): Part[] {
  const parts: { label?: string; pieces: string[] }[] = [newPart(heading)];
  const append = (piece: string) => parts.at(-1)?.pieces.push(piece);
  const barCounts = barCountsOf(page(root).find("tr").toArray());
  /** The floats in the current paragraph, which are appended after it. Undefined outside of paragraphs. */
  let pendingFloats: Element[] | undefined;
  appendChildren(root);
  return parts.map(({ label, pieces }) => ({ label, text: tidyText(pieces.join("")) }));

  function newPart(title: string | undefined): { label?: string; pieces: string[] } {
    return title === undefined || title === ""
      ? { pieces: [] }
      : { label: sectionLabel(title), pieces: [`## ${title}\n\n`] };
  }
  function appendChildren(node: Node): void {
    if ("children" in node) for (const child of node.children) appendNode(child as Node);
  }
  function appendNode(node: Node): void {
    if (node.type === "text") return void append(collapseSpaces(node.data));
    if (node.type !== "tag") return;
    const element = page(node);
    const name = node.name;
    if (pendingFloats !== undefined && floatElements.has(name)) return postponeFloat(node, pendingFloats);
    if (name === "sec") {
      const title = [
        element.children("label").text().trim(),
        element.children("title").text().replace(/\s+/g, " ").trim(),
      ]
        .filter(Boolean)
        .join(" ");
      if (title !== "") parts.push(newPart(title));
      return appendChildren(node);
    }
    if (name === "fig" || name === "table-wrap") {
      append(`\n\n${element.children("label").text().trim()}${element.children("label").length > 0 ? ": " : ""}`);
      return appendChildren(node);
    }
    if (name === "caption" && element.children("title").length > 0)
      append(`${element.children("title").text().replace(/\s+/g, " ").trim()} `);
    // The label or the name of a theorem is part of the text, because the text refers to it.
    if (element.is("statement > label, statement > title")) append(" ");
    else if (skippedElements.has(name)) return;
    const isInline =
      (name === "p" && element.parent().is("list-item, td, th, caption")) ||
      (name === "disp-formula" && element.closest("td, th").length > 0);
    if (name === "list-item") append("\n- ");
    else if (name === "tr") append("\n");
    else if (blockElements.has(name) && !isInline) append("\n\n");
    const barCount = barCounts.get(node) ?? 0;
    if (barCount > 0) append(` ${"| ".repeat(barCount)}`);
    if (name === "break") append("\n");
    if (name === "p" && !element.parent().is("td, th")) appendParagraph(node);
    else appendChildren(node);
    if (name === "caption" || (blockElements.has(name) && name !== "tr" && !isInline)) append("\n\n");
  }
  /** Figures, tables and formulas in a paragraph come after it, because a sentence may continue after them. */
  function appendParagraph(node: Element): void {
    const outerFloats = pendingFloats;
    const floats: Element[] = (pendingFloats = []);
    appendChildren(node);
    pendingFloats = undefined;
    for (const float of floats) appendNode(float);
    pendingFloats = outerFloats;
  }
  function postponeFloat(node: Element, floats: Element[]): void {
    floats.push(node);
    const { next } = node;
    const isBeforePunctuation = next !== null && "data" in next && /^\s*[.,;:)]/.test(next.data);
    const pieces = parts.at(-1)?.pieces;
    if (!isBeforePunctuation) append(" ");
    else if (pieces !== undefined) pieces[pieces.length - 1] = pieces.at(-1)?.trimEnd() ?? "";
  }
}

/** Whether a node is a citation link whose whole content is a superscript. */
const isSuperscriptCitation = (node: Node | null): node is Element =>
  node?.type === "tag" &&
  node.name === "xref" &&
  node.attribs["ref-type"] === "bibr" &&
  node.children.length === 1 &&
  node.children[0]?.type === "tag" &&
  node.children[0].name === "sup";

/**
 * Replaces a row of superscript citation links, and the dashes and commas between them, by one text such as " [1–3]".
 */
function bracketCitations(page: CheerioAPI): void {
  for (const first of page("xref[ref-type=bibr]").toArray()) {
    if (first.parent === null || !isSuperscriptCitation(first) || isSuperscriptCitation(linkBefore(first))) continue;
    let numbers = page(first).text().trim();
    const following: Node[] = [];
    for (let node = first.next; node !== null; node = node.next) {
      const text = page(node).text();
      const isSeparator = /^\s?[,;–-]\s?$/.test(text) && isSuperscriptCitation(node.next);
      if (!isSuperscriptCitation(node) && !isSeparator) break;
      numbers += text.trim();
      following.push(node);
    }
    if (!/^\d{1,3}(?:[,;–-]\d{1,3}){0,20}$/.test(numbers)) continue;
    // Superscript round brackets around the citations are removed.
    const [open, close] = [first.prev, (following.at(-1) ?? first).next];
    if (
      page(open as Element)
        .text()
        .trim() === "(" &&
      page(close as Element)
        .text()
        .trim() === ")"
    )
      for (const bracket of [open, close]) if (bracket?.type === "tag") page(bracket).remove();
    for (const node of following) page(node).remove();
    replaceByText(page, first, ` [${numbers}]`);
  }

  /** The node before a link; if that is a dash or a comma, the node before it. */
  function linkBefore(node: Element): Node | null {
    const { prev } = node;
    return prev !== null && /^\s?[,;–-]\s?$/.test(page(prev).text()) ? prev.prev : prev;
  }
}

function referencesOf(page: CheerioAPI, article: Cheerio<Node>): Part | undefined {
  const lines = article
    .find("> back ref-list ref")
    .toArray()
    .map((element, index) => {
      const reference = page(element);
      const label =
        reference
          .children("label")
          .text()
          .replace(/[[\].\s]/g, "") || String(index + 1);
      const citation = reference.find("mixed-citation, element-citation, citation, nlm-citation").first();
      const names = citation
        .find("name, string-name")
        .toArray()
        .map((name) =>
          [page(name).find("surname").text(), page(name).find("given-names").text()].filter(Boolean).join(" "),
        );
      // A space between elements that have no text between them.
      for (const element of citation.find("*").toArray()) if (element.prev?.type === "tag") page(element).before(" ");
      const details = ["article-title", "chapter-title", "source", "year", "volume", "fpage", "pub-id"].map((tag) =>
        citation.find(tag).first().text().trim(),
      );
      const citationText =
        citation.is("mixed-citation") || names.length === 0
          ? citation.text()
          : [names.join(", "), ...details].filter(Boolean).join(". ");
      return `[${label}] ${citationText.replace(/\s+/g, " ").trim()}`;
    });
  return lines.length === 0 ? undefined : { label: "§ References", text: `## References\n\n${lines.join("\n\n")}` };
}
