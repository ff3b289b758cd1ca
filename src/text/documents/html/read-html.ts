import type { CheerioAPI } from "cheerio";
import { pageMetadata } from "./metadata.js";
import { partsOf } from "./sections.js";
import { removeHidden } from "./hidden-text.js";
import { mathText } from "./mathml.js";
import { replaceByText, type Element, elementsOf, type Node, convertPower, removeNodes } from "./select.js";
import { checkSource } from "./source-check.js";
import { findInstructions } from "../text/find-injections.js";
import { abstractIn } from "../text/markdown.js";
import { buildText, type ReadResult, type Part } from "../text/document-text.js";

/** Elements that are not part of the document. Formulas in `script[type^="math/tex"]` are converted before. */
const nonDocumentSelector =
  "script, style, noscript, template, svg, iframe, object, canvas, nav, aside, footer, form, button, select, datalist, dialog, audio, video, rp, [role=navigation], [role=banner], [role=search], " +
  ".katex-html, .MathJax, .MathJax_Preview, .mw-editsection, .ltx_page_navbar, .ltx_page_footer, .ltx_TOC, .ltx_ERROR, .ltx_rdf, .cookie-banner";

/** Selectors for the element with the document, the most specific ones first. */
const documentSelectors = [
  "article.ltx_document",
  "main article",
  "[itemprop=articleBody]",
  "article",
  "main",
  "[role=main]",
  "#content",
  "#main",
  "body",
];

/** The text of a page. `pdfUrl`: the address of the article's PDF, if the page's metadata has it. */
export type HtmlResult = ReadResult & { readonly pdfUrl?: string };

/** A page with less text is not an article: it needs a login, or JavaScript that writes its text. */
const defaultMinTextChars = 200;

/**
 * Reads the text of an HTML page: sections with headings, formulas as LaTeX, and references. Scripts, menus and text
 * that a reader of the page would not see are removed. The depth is `abstract` if the page has the metadata of an
 * article, but not its body.
 * @param url the address of the page, for relative links.
 * @param minTextChars a page with less text is `unreadable`.
 */
export async function readHtml(source: string, url?: string, minTextChars = defaultMinTextChars): Promise<HtmlResult> {
  const checkedSource = checkSource(source);
  if (checkedSource === undefined)
    return { status: "unreadable", reason: "The page's elements are nested too deeply to be read." };
  const { load } = await import("cheerio");
  return readPage(load(checkedSource), url, minTextChars);
}

function readPage(page: CheerioAPI, url: string | undefined, minTextChars: number): HtmlResult {
  const metadata = pageMetadata(page, url);

  // Tested now, because this message of LaTeXML is in the footer, which is removed below.
  const isIncomplete = /Conversion to HTML had a Fatal error and exited abruptly/i.test(page("body").text());
  convertFormulas(page);
  const notes = takeNotes(page);
  const hiddenText = removeHidden(page);
  removeNodes(page(nonDocumentSelector).toArray());
  removeNodes(commentsOf(page));

  const pageLength = page("body").text().replace(/\s+/g, " ").length;
  const documentSelector =
    documentSelectors.find(
      (selector) => page(selector).first().text().replace(/\s+/g, " ").length > 0.4 * pageLength,
    ) ?? "body";
  const parts = partsOf(page, page(documentSelector).first(), notes);
  if (lengthOf(parts) < minTextChars)
    return {
      status: "unreadable",
      reason:
        "The page has hardly any text; it may need JavaScript or a login. Save the document as a PDF and give its path.",
    };

  // A file of the user has no address. It need not be long to be a paper.
  const hasBody =
    documentSelector === "article.ltx_document" ||
    !metadata.isArticlePage ||
    hasArticleBody(parts) ||
    (url === undefined && hasSectionsOfPaper(parts));
  const warnings =
    hiddenText === ""
      ? []
      : [
          `${hiddenText.length} characters of hidden text were left out of the text${findInstructions(hiddenText).length > 0 ? "; they give instructions to a reviewer or model" : ""}.`,
        ];
  if (isIncomplete)
    warnings.push("The conversion of the document to HTML failed before its end; some of the text may be missing.");
  const { title, authors, date, doi, pdfUrl } = metadata;
  const abstract = metadata.abstract ?? abstractIn(parts) ?? metadata.description;
  const depth = !hasBody ? "abstract" : isIncomplete ? "partial" : "full";
  return {
    status: "ok",
    text: buildText(parts, { kind: "html", depth, title, authors, date, abstract, doi, warnings }),
    pdfUrl,
  };
}

/** Elements that may be comments of readers: by their ARIA role, by schema.org, or by their id or class. */
const commentSelector =
  '[role=comment], [itemprop=comment], [itemtype$="schema.org/Comment"], [id*=comment i], [class*=comment i], [id*=disqus i]';
const commentName = /(?:^|[-_\s])(?:comments|comment[-_]?(?:list|thread|section|area)|disqus[-_]thread)(?:[-_\s]|$)/i;

/** The comments of readers, which are not text of the document. */
const commentsOf = (page: CheerioAPI): Element[] =>
  elementsOf(page, commentSelector).filter((element) => {
    const { id = "", class: classes = "", role, itemprop, itemtype } = element.attribs;
    const hasCommentType = role === "comment" || itemprop === "comment" || itemtype?.endsWith("/Comment") === true;
    // The body of a page, or an article with comments, may have such a class too.
    const containsDocument = page(element).is("html, body, main") || page(element).has("h1, main").length > 0;
    return !containsDocument && (hasCommentType || commentName.test(id) || commentName.test(classes));
  });

/**
 * Replaces each formula by `$LaTeX$`, or by text if the page has no LaTeX. A page may contain the same formula three
 * times: as MathML, as an alternative text, and as characters for display.
 */
function convertFormulas(page: CheerioAPI): void {
  for (const script of elementsOf(page, 'script[type^="math/tex"]'))
    replaceByText(page, script, ` $${page(script).text().trim()}$ `);
  for (const element of elementsOf(page, "math")) {
    const math = page(element);
    const latex = math.attr("alttext") ?? math.find('annotation[encoding*="tex" i]').first().text();
    removeNodes(math.find("annotation, annotation-xml").toArray());
    const displayedText = math.text();
    const formula = latex.trim() === "" ? mathText(element) : `$${withoutDisplayStyle(latex.trim())}$`;
    // Wikipedia hides the MathML in a wrapper and shows a picture instead. The wrapper must not be removed as hidden.
    const wrapper = element.parent as Node | null;
    const isInWrapper =
      wrapper !== null &&
      "attribs" in wrapper &&
      (wrapper.attribs["style"] ?? "").includes("display") &&
      wrapper.children.length < 10 &&
      page(wrapper).text().trim() === displayedText.trim();
    replaceByText(page, isInWrapper ? wrapper : element, formula);
  }
}

const displayStyle = "{\\displaystyle ";
const withoutDisplayStyle = (latex: string): string =>
  latex.startsWith(displayStyle) && latex.endsWith("}") ? latex.slice(displayStyle.length, -1) : latex;

/**
 * Removes footnotes from the page, and writes the numbers of citations as " [3]". Otherwise they would be in the middle
 * of sentences, and a quote of such a sentence would not be found.
 * @returns the footnotes of each block, such as a paragraph.
 */
function takeNotes(page: CheerioAPI): Map<Node, string[]> {
  const notes = new Map<Node, string[]>();
  const noteElements: Node[] = [];
  for (const element of elementsOf(page, ".ltx_role_footnote")) {
    const note = page(element);
    const content = note.find(".ltx_note_content").first();
    removeNodes(content.find(".ltx_note_mark, .ltx_tag_note").toArray());
    const [block] = note.closest("p, li, td, figcaption").toArray();
    if (block !== undefined) {
      const notesOfBlock = notes.get(block) ?? [];
      notesOfBlock.push(`Footnote: ${content.text().trim()}`);
      notes.set(block, notesOfBlock);
    }
    noteElements.push(element);
  }
  removeNodes(noteElements);
  for (const element of elementsOf(page, "sup")) {
    const superscript = page(element);
    const numbers = superscript
      .text()
      .slice(0, 100)
      .replace(/[[\]\s]/g, "");
    if (/^\d{1,3}(?:[,;–-]\d{1,3})*$/.test(numbers) && superscript.find('a[href*="#"]').length > 0)
      replaceByText(page, element, ` [${numbers}]`);
    else if (superscript.find("a").length === 0) convertPower(page, element);
  }
  return notes;
}

/** The beginnings of headings of sections that are not part of an article's body. */
const outsideHeadingStart =
  /^(?:graphical )?(?:abstracts?|summary|highlights|key ?words|key points|references?|bibliography|literature cited|footnotes|cited by|citing|citations?|how to cite|similar|related|recommended|more from|suggested|about (?:this|the)|authors?|contributors|affiliations?|acknowledg|funding|ethics|competing|conflicts? of|declarations|data availability|rights|permissions?|copyright|licen[cs]e|additional information|supplement|supporting information|electronic supp|extended data|get access|access (?:this|through|options)|buy|purchase|subscribe|log ?in|sign in|preview|section snippets|table of contents|download|full text|export|share|metrics|altmetric|submission history|publication history|bookmarks?|code, data|browse|quick links|associated data|corresponding author|cookies?)\b/i;
/** Complete headings of sections that are not part of an article's body. */
const outsideHeading =
  /^(?:access|outline|contents|figures?|tables?|notes|subjects?|history|versions?|comments?|reviews?|search|menu|navigation|links?|information|details|journal|volume|issue|help|contact|privacy|cite|rent)$/i;

/** Minimum length of an article's body. A preview has up to about four thousand characters. */
const minBodyChars = 6000;

/**
 * Whether a page contains an article's body: enough text in two or more sections of the body, or before the first
 * heading. A long list of references is not a body.
 */
function hasArticleBody(parts: readonly Part[]): boolean {
  const bodySections = parts.filter(
    ({ label, text }) => label !== undefined && !isOutsideHeading(headingOf(label)) && text.length >= 300,
  );
  const withoutHeading = parts.filter(({ label }) => label === undefined);
  return (
    (bodySections.length >= 2 && lengthOf(bodySections) >= minBodyChars) || lengthOf(withoutHeading) >= minBodyChars
  );
}

/** Headings on pages that show only a part of an article. */
const previewHeading =
  /^(?:section snippets|preview|get access|access (?:this|through|options)|buy|purchase|rent|subscribe|log ?in|sign in)\b/i;

/** Minimum length of the text in a section. */
const minSectionChars = 100;

/**
 * Whether a short document is a paper: below an abstract of its own, it has sections with methods and with results. In
 * an abstract that is divided by headings, such sections are the abstract, which then has no text of its own.
 */
function hasSectionsOfPaper(parts: readonly Part[]): boolean {
  const sections = parts.flatMap(({ label, text }) => {
    if (label === undefined) return [];
    const content = text.slice(text.indexOf("\n") + 1).trim();
    return { heading: headingOf(label), isFilled: text.includes("\n") && content.length >= minSectionChars };
  });
  const has = (heading: RegExp) => sections.some((section) => section.isFilled && heading.test(section.heading));
  return (
    has(/^abstract$/i) &&
    has(/\b(?:methods?|methodology)\b/i) &&
    has(/\b(?:results?|findings)\b/i) &&
    !sections.some(({ heading }) => previewHeading.test(heading))
  );
}

const isOutsideHeading = (heading: string): boolean =>
  outsideHeadingStart.test(heading) || outsideHeading.test(heading);
const lengthOf = (parts: readonly Part[]): number => parts.reduce((sum, { text }) => sum + text.length, 0);
/** The heading in a section label, without "§" and the number. */
const headingOf = (label: string): string => label.replace(/^§ (?:(?:\d+(?:\.\d+)*|[IVX]+)\.? )?/, "");
