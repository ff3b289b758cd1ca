import type { Cheerio, CheerioAPI } from "cheerio";
import { endOfDeclaration } from "./is-jats.js";
import { jatsMetadata } from "./metadata.js";
import { mathText } from "../html/mathml.js";
import { becomeText, type Element, elementsOf, type Node, raisePower, takeAway } from "../html/select.js";
import { sectionLabel } from "../text/markdown.js";
import { barsOf } from "../text/table-columns.js";
import { buildText, type Part, type ReadResult } from "../text/document-text.js";

/** Articles nest some twenty elements deep; the parser calls itself for each. */
const maxDepth = 500;
/** Below this a body is a stub that stands for a scan. */
const minBody = 500;

/**
 * The text of a JATS article: sections under their headings, tables row by row, formulas once, references numbered. An
 * article without its body is of depth `abstract`. Entities of the document's own are never expanded.
 */
export async function readJats(xml: string): Promise<ReadResult> {
  // The lenient parser below would take half an article for a whole one.
  const depth = depthOf(xml);
  if (depth === undefined)
    return { status: "unreadable", reason: "The article's XML is damaged or cut off; download it again." };
  if (depth > maxDepth)
    return { status: "unreadable", reason: "The article's elements are nested too deeply to be read." };
  const { load } = await import("cheerio");
  const page = load(xml, { xml: { decodeEntities: true } });
  const article = page("article").first();
  const { note, ...details } = jatsMetadata(page, article);

  formulasOnce(page);
  const notes = footnotesBehind(page);
  bracketRaised(page);
  // "[3]" and "(Lee, 2020)" stand as they are; a raised bare number would run into its word.
  for (const raised of elementsOf(page, "sup")) {
    if (page(raised).children("xref").length === 0) {
      raisePower(page, raised);
      continue;
    }
    if (page(raised).children("xref[ref-type=bibr]").length === 0) continue;
    const cited = page(raised).text().trim();
    if (/^\d{1,3}(?!\d)/.test(cited)) becomeText(page, raised, ` [${cited}]`);
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
    const isThanks = page(element).is("ack");
    parts.push(
      ...sectionsOf(
        page,
        element,
        page(element).children("title").text().trim() || (isThanks ? "Acknowledgements" : "Appendix"),
      ),
    );
  });
  const references = referencesOf(page, article);
  if (references !== undefined) parts.push(references);

  const isWhole = body.text().replace(/\s+/g, " ").trim().length >= minBody;
  return { status: "ok", text: buildText(parts, { kind: "jats", depth: isWhole ? "full" : "abstract", ...details }) };
}

/**
 * How deep the elements of a document stand in one another; undefined where one is not closed in its place, or a tag,
 * comment or CDATA section has no end. One pass: a document that is cut off or damaged is found in the time that
 * reading it takes.
 */
function depthOf(xml: string): number | undefined {
  const open: string[] = [];
  let deepest = 0;
  for (let at = xml.indexOf("<"); at !== -1; at = xml.indexOf("<", at)) {
    const [start, end] = sectionMarks.find(([mark]) => xml.startsWith(mark, at)) ?? ["<", ">"];
    const close = start === "<!" ? endOfDeclaration(xml, at) : start === "<" ? endOfTag(xml, at) : xml.indexOf(end, at);
    if (close === -1) return undefined;
    if (start === "<") {
      const isClosing = xml[at + 1] === "/";
      const name = /^[^\s/>]{1,200}/.exec(xml.slice(at + (isClosing ? 2 : 1), at + 202))?.[0];
      if (name === undefined) return undefined;
      if (isClosing && open.pop() !== name) return undefined;
      if (!isClosing && xml[close - 1] !== "/") deepest = Math.max(deepest, open.push(name));
      if (open.length > 2 * maxDepth) return deepest;
    }
    at = close + (start === "<" || start === "<!" ? 1 : end.length);
  }
  return open.length === 0 && deepest > 0 ? deepest : undefined;
}

const sectionMarks = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
  ["<!", ">"],
] as const;

/** A tag with more text has an attribute without its closing mark. */
const longestTag = 100_000;

/** Where a tag ends; -1 where another begins before, or it has none. What stands in quotation marks ends none. */
function endOfTag(xml: string, from: number): number {
  let quote = "";
  const last = Math.min(xml.length, from + longestTag);
  for (let at = from + 1; at < last; at += 1) {
    const character = xml[at] ?? "";
    if (character === "<") return -1;
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === '"' || character === "'") quote = character;
    else if (character === ">") return at;
  }
  return -1;
}

/**
 * Puts each formula once, as `$LaTeX$` where the article has it; articles carry it as TeX, MathML and a picture side by
 * side.
 */
function formulasOnce(page: CheerioAPI): void {
  for (const element of elementsOf(page, "inline-formula, disp-formula")) {
    const formula = page(element);
    const tex = formula.find("tex-math").first().text();
    const plain = inDocument(tex)
      .trim()
      .replace(/^\${1,2}|\${1,2}$/g, "")
      .replace(/\s+/g, " ")
      .trim();
    const [math] = formula.find("mml\\:math, math").toArray();
    const shown = (math === undefined ? "" : mathText(math)) || formula.text().replace(/\s+/g, " ").trim();
    const label = formula.children("label").text().trim();
    const written = plain === "" ? shown : `$${plain}$`;
    if (element.name === "disp-formula")
      becomeText(page, element, `${written}${label === "" ? "" : ` ${label}`}`, element.name);
    else becomeText(page, element, written);
  }
}

/** Springer's articles give each formula as a document of LaTeX. */
function inDocument(tex: string): string {
  const [begin, end] = ["\\begin{document}", "\\end{document}"];
  const at = tex.indexOf(begin);
  const close = at === -1 ? -1 : tex.indexOf(end, at);
  return close === -1 ? tex : tex.slice(at + begin.length, close);
}

/** Footnotes of the text, taken out of its sentences. */
function footnotesBehind(page: CheerioAPI): Part[] {
  const notes: string[] = [];
  const gone: Node[] = [];
  page("body fn, back > fn-group > fn").each((_, element) => {
    const note = page(element);
    if (note.parents("table-wrap").length > 0) return;
    const text = note.text().replace(/\s+/g, " ").trim();
    if (text !== "") notes.push(`Footnote: ${text}`);
    gone.push(element);
  });
  takeAway(gone);
  return notes.length === 0 ? [] : [{ label: "§ Footnotes", text: `## Footnotes\n\n${notes.join("\n\n")}` }];
}

const blocks = new Set(
  "p sec list def-list disp-quote disp-formula disp-formula-group fig fig-group table-wrap table-wrap-group boxed-text statement verse-group supplementary-material tr".split(
    " ",
  ),
);
/** Printed elsewhere than in the sentence that they stand in. */
const floats = new Set(
  "disp-formula disp-formula-group fig fig-group table-wrap table-wrap-group boxed-text supplementary-material".split(
    " ",
  ),
);
const left = new Set("label title object-id graphic media alt-text long-desc permissions".split(" "));

/** What stands below an element, split at its sections. */
function sectionsOf(page: CheerioAPI, root: Node, heading: string | undefined): Part[] {
  const parts: { label?: string; pieces: string[] }[] = [begun(heading)];
  const say = (piece: string) => parts.at(-1)?.pieces.push(piece);
  const bars = barsOf(page(root).find("tr").toArray());
  /** What stands within the open paragraph and is set behind it. */
  let behind: Element[] | undefined;
  walkChildren(root);
  return parts.map(({ label, pieces }) => ({ label, text: tidy(pieces.join("")) }));

  function begun(title: string | undefined): { label?: string; pieces: string[] } {
    return title === undefined || title === ""
      ? { pieces: [] }
      : { label: sectionLabel(title), pieces: [`## ${title}\n\n`] };
  }
  function walkChildren(node: Node): void {
    if ("children" in node) for (const child of node.children) walk(child as Node);
  }
  function walk(node: Node): void {
    if (node.type === "text") return void say(node.data.replace(/\s+/g, " "));
    if (node.type !== "tag") return;
    const element = page(node);
    const name = node.name;
    if (behind !== undefined && floats.has(name)) return setBehind(node, behind);
    if (name === "sec") {
      const title = [
        element.children("label").text().trim(),
        element.children("title").text().replace(/\s+/g, " ").trim(),
      ]
        .filter(Boolean)
        .join(" ");
      if (title !== "") parts.push(begun(title));
      return walkChildren(node);
    }
    if (name === "fig" || name === "table-wrap") {
      say(`\n\n${element.children("label").text().trim()}${element.children("label").length > 0 ? ": " : ""}`);
      return walkChildren(node);
    }
    if (name === "caption" && element.children("title").length > 0)
      say(`${element.children("title").text().replace(/\s+/g, " ").trim()} `);
    // A theorem is cited by its label, or its name.
    if (element.is("statement > label, statement > title")) say(" ");
    else if (left.has(name)) return;
    const isInline =
      (name === "p" && element.parent().is("list-item, td, th, caption")) ||
      (name === "disp-formula" && element.closest("td, th").length > 0);
    if (name === "list-item") say("\n- ");
    else if (name === "tr") say("\n");
    else if (blocks.has(name) && !isInline) say("\n\n");
    const before = bars.get(node) ?? 0;
    if (before > 0) say(` ${"| ".repeat(before)}`);
    if (name === "break") say("\n");
    if (name === "p" && !element.parent().is("td, th")) walkParagraph(node);
    else walkChildren(node);
    if (name === "caption" || (blocks.has(name) && name !== "tr" && !isInline)) say("\n\n");
  }
  /** A sentence may run over a figure, a table or a formula that stands in its paragraph. */
  function walkParagraph(node: Element): void {
    const outer = behind;
    const own: Element[] = (behind = []);
    walkChildren(node);
    behind = undefined;
    for (const each of own) walk(each);
    behind = outer;
  }
  function setBehind(node: Element, own: Element[]): void {
    own.push(node);
    const { next } = node;
    const isClosed = next !== null && "data" in next && /^\s*[.,;:)]/.test(next.data);
    const pieces = parts.at(-1)?.pieces;
    if (!isClosed) say(" ");
    else if (pieces !== undefined) pieces[pieces.length - 1] = pieces.at(-1)?.trimEnd() ?? "";
  }
}

const isRaisedCitation = (node: Node | null): node is Element =>
  node?.type === "tag" &&
  (node as Element).name === "xref" &&
  (node as Element).attribs["ref-type"] === "bibr" &&
  (node as Element).children.length === 1 &&
  (node as Element).children[0]?.type === "tag" &&
  ((node as Element).children[0] as Element).name === "sup";

/** Numbers of citations that are each raised within their link, and the dashes between them: " [1–3]" for them all. */
function bracketRaised(page: CheerioAPI): void {
  for (const first of page("xref[ref-type=bibr]").toArray()) {
    if (first.parent === null || !isRaisedCitation(first) || isRaisedCitation(before(first))) continue;
    let said = page(first).text().trim();
    const rest: Node[] = [];
    for (let node = first.next; node !== null; node = node.next) {
      const text = page(node).text();
      if (!isRaisedCitation(node) && !(/^\s?[,;–-]\s?$/.test(text) && isRaisedCitation(node.next))) break;
      said += text.trim();
      rest.push(node);
    }
    if (!/^\d{1,3}(?:[,;–-]\d{1,3}){0,20}$/.test(said)) continue;
    // "TAG<sup>(</sup>…<sup>)</sup>": round brackets of its own go.
    const [open, close] = [first.prev, (rest.at(-1) ?? first).next];
    if (
      page(open as Element)
        .text()
        .trim() === "(" &&
      page(close as Element)
        .text()
        .trim() === ")"
    )
      for (const bracket of [open, close]) if (bracket?.type === "tag") page(bracket).remove();
    for (const node of rest) page(node).remove();
    becomeText(page, first, ` [${said}]`);
  }

  /** What stands before a link, a dash or comma being passed by. */
  function before(node: Element): Node | null {
    const last = node.prev;
    return last !== null && /^\s?[,;–-]\s?$/.test(page(last).text()) ? last.prev : last;
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
      const cited = reference.find("mixed-citation, element-citation, citation, nlm-citation").first();
      const names = cited
        .find("name, string-name")
        .toArray()
        .map((name) =>
          [page(name).find("surname").text(), page(name).find("given-names").text()].filter(Boolean).join(" "),
        );
      // Elements without punctuation between them run into one another.
      for (const element of cited.find("*").toArray()) if (element.prev?.type === "tag") page(element).before(" ");
      const loose = ["article-title", "chapter-title", "source", "year", "volume", "fpage", "pub-id"].map((tag) =>
        cited.find(tag).first().text().trim(),
      );
      const written =
        cited.is("mixed-citation") || names.length === 0
          ? cited.text()
          : [names.join(", "), ...loose].filter(Boolean).join(". ");
      return `[${label}] ${written.replace(/\s+/g, " ").trim()}`;
    });
  return lines.length === 0 ? undefined : { label: "§ References", text: `## References\n\n${lines.join("\n\n")}` };
}

const tidy = (text: string): string =>
  text
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
