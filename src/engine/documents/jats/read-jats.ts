import type { Cheerio, CheerioAPI } from "cheerio";
import { jatsMetadata } from "./metadata.js";
import { sectionLabel } from "../text/markdown.js";
import { buildText, type Part, type ReadResult } from "../text/paper-text.js";

type Node = ReturnType<CheerioAPI> extends Cheerio<infer Each> ? Each : never;

/** Articles nest some twenty elements deep; the parser calls itself for each. */
const deepest = 500;
/** Below this a body is a stub that stands for a scan. */
const minBody = 500;

/** Whether a document is an article in JATS, the XML of PubMed Central and of many publishers. */
export const isJats = (text: string): boolean =>
  /^\s*(?:<\?xml[^>]*>\s*)?(?:<pmc-articleset>\s*)?<article[\s>]/i.test(withoutDoctype(text.slice(0, 5000))) &&
  /<front[\s>]/.test(text);

/**
 * The text of a JATS article: sections under their headings, tables row by row, formulas once, references numbered. An article without its
 * body is of depth `abstract`. Entities of the document's own are never expanded.
 */
export async function readJats(xml: string): Promise<ReadResult> {
  const { XMLValidator } = await import("fast-xml-parser");
  // The lenient parser below would take half an article for a whole one.
  if (XMLValidator.validate(withoutDoctype(xml)) !== true)
    return { status: "unreadable", reason: "The article's XML is damaged or cut off; download it again." };
  if (depthOf(xml) > deepest)
    return { status: "unreadable", reason: "The article's elements are nested too deeply to be read." };
  const { load } = await import("cheerio");
  const page = load(xml, { xml: { decodeEntities: true } });
  const article = page("article").first();
  const { note, ...details } = jatsMetadata(page, article);

  formulasOnce(page);
  const notes = footnotesBehind(page);
  page("xref[ref-type=bibr]").each((_, element) => {
    const cited = page(element).text().trim();
    // "[3]" and "(Lee, 2020)" stand as they are; a raised bare number would run into its word.
    if (/^\d{1,3}$/.test(cited) && page(element).parent("sup").length > 0)
      page(element)
        .parent()
        .replaceWith(` [${page(element).parent().text().trim()}]`);
  });

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

function depthOf(xml: string): number {
  let depth = 0;
  let most = 0;
  for (const [token] of xml.matchAll(/<\/?[a-z][^<>]*>/gi)) {
    if (token.startsWith("</")) depth -= 1;
    else if (!token.endsWith("/>")) most = Math.max(most, (depth += 1));
  }
  return most;
}

/** The validator stumbles over internal subsets; nothing in them is used. */
const withoutDoctype = (xml: string): string => xml.replace(/<!DOCTYPE[^[>]*(?:\[[\s\S]*?\]\s*)?>/i, "");

/** Puts each formula once, as `$LaTeX$` where the article has it; articles carry it as TeX, MathML and a picture side by side. */
function formulasOnce(page: CheerioAPI): void {
  page("inline-formula, disp-formula").each((_, element) => {
    const formula = page(element);
    const tex = formula.find("tex-math").first().text();
    const inner = /\\begin\{document\}([\s\S]*?)\\end\{document\}/.exec(tex)?.[1] ?? tex;
    const plain = inner
      .replace(/^\s*\${1,2}|\${1,2}\s*$/g, "")
      .replace(/\s+/g, " ")
      .trim();
    const shown =
      formula.find("mml\\:math, math").first().text().replace(/\s+/g, "") || formula.text().replace(/\s+/g, " ").trim();
    const label = formula.children("label").text().trim();
    const written = plain === "" ? shown : `$${plain}$`;
    formula.replaceWith(
      formula.is("disp-formula")
        ? `<p>${escaped(written)}${label === "" ? "" : ` ${escaped(label)}`}</p>`
        : escaped(written),
    );
  });
}

const escaped = (text: string): string => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** Footnotes of the text, taken out of its sentences. */
function footnotesBehind(page: CheerioAPI): Part[] {
  const notes: string[] = [];
  page("body fn, back > fn-group > fn").each((_, element) => {
    const note = page(element);
    if (note.parents("table-wrap").length > 0) return;
    const text = note.text().replace(/\s+/g, " ").trim();
    if (text !== "") notes.push(`Footnote: ${text}`);
    note.remove();
  });
  return notes.length === 0 ? [] : [{ label: "§ Footnotes", text: `## Footnotes\n\n${notes.join("\n\n")}` }];
}

const blocks = new Set(
  "p sec list def-list disp-quote fig fig-group table-wrap table-wrap-group boxed-text statement verse-group supplementary-material tr".split(
    " ",
  ),
);
const left = new Set("label title object-id graphic media alt-text long-desc permissions".split(" "));

/** What stands below an element, split at its sections. */
function sectionsOf(page: CheerioAPI, root: Node, heading: string | undefined): Part[] {
  const parts: { label?: string; pieces: string[] }[] = [begun(heading)];
  const say = (piece: string) => parts.at(-1)?.pieces.push(piece);
  walkChildren(root);
  return parts.map(({ label, pieces }) => ({ ...(label === undefined ? {} : { label }), text: tidy(pieces.join("")) }));

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
    if (left.has(name)) return;
    const isInline = name === "p" && element.parent().is("list-item, td, th, caption");
    if (name === "list-item") say("\n- ");
    else if (name === "tr") say("\n");
    else if (blocks.has(name) && !isInline) say("\n\n");
    if ((name === "td" || name === "th") && element.prevAll("td, th").length > 0) say(" | ");
    if (name === "break") say("\n");
    walkChildren(node);
    if (name === "caption" || (blocks.has(name) && name !== "tr" && !isInline)) say("\n\n");
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
