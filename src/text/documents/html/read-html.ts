import type { CheerioAPI } from "cheerio";
import { detailsOf } from "./metadata.js";
import { partsOf } from "./sections.js";
import { removeHidden } from "./hidden-text.js";
import { mathText } from "./mathml.js";
import { becomeText, type Element, elementsOf, type Node, raisePower, takeAway } from "./select.js";
import { checkedSource } from "./source-check.js";
import { findInstructions } from "../text/find-injections.js";
import { buildText, type ReadResult, type Part } from "../text/document-text.js";

/** What of a page is not the document. Formulas in `script[type^="math/tex"]` are taken out before. */
const clutter =
  "script, style, noscript, template, svg, iframe, object, canvas, nav, aside, footer, form, button, select, datalist, dialog, audio, video, rp, [role=navigation], [role=banner], [role=search], " +
  ".katex-html, .MathJax, .MathJax_Preview, .mw-editsection, .ltx_page_navbar, .ltx_page_footer, .ltx_TOC, .ltx_ERROR, .ltx_rdf, .cookie-banner";

/** Where pages keep the document, the most telling first. */
const mains = [
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

/** The page and, where its meta data names one, the PDF that it is about. */
export type HtmlResult = ReadResult & { readonly pdfUrl?: string };

/** Characters of text that a page about an article has at least; others want a login, or a program to write them. */
const usualLeast = 200;

/**
 * The text of an HTML page: sections under their headings, formulas once as LaTeX, references kept; scripts, menus and
 * text that a reader would not see left out. The depth of a page that carries an article's meta data but not its
 * body is `abstract`.
 * `url` is the page's own, for links that are relative to it; a page of fewer than `leastText` characters has none.
 */
export async function readHtml(source: string, url?: string, leastText = usualLeast): Promise<HtmlResult> {
  const checked = checkedSource(source);
  if (checked === undefined)
    return { status: "unreadable", reason: "The page's elements are nested too deeply to be read." };
  const { load } = await import("cheerio");
  return readPage(load(checked), url, leastText);
}

function readPage(page: CheerioAPI, url: string | undefined, leastText: number): HtmlResult {
  const details = detailsOf(page, url);

  // The notice stands in the page's foot, which is taken out below.
  const brokeOff = /Conversion to HTML had a Fatal error and exited abruptly/i.test(page("body").text());
  formulasAsLatex(page);
  const notes = notesOf(page);
  const hidden = removeHidden(page);
  takeAway(page(clutter).toArray());
  takeAway(commentsOf(page));

  const total = page("body").text().replace(/\s+/g, " ").length;
  const main =
    mains.find((selector) => page(selector).first().text().replace(/\s+/g, " ").length > 0.4 * total) ?? "body";
  const parts = partsOf(page, page(main).first(), notes);
  const length = parts.reduce((sum, part) => sum + part.text.length, 0);
  if (length < leastText)
    return {
      status: "unreadable",
      reason:
        "The page has hardly any text; it may need JavaScript or a login. Save the document as a PDF and give its path.",
    };

  const isWhole = main === "article.ltx_document" || !details.isArticlePage || holdsBody(parts);
  const warnings =
    hidden === ""
      ? []
      : [
          `${hidden.length} characters of hidden text were left out of the text${findInstructions(hidden).length > 0 ? "; they give instructions to a reviewer or model" : ""}.`,
        ];
  if (brokeOff) warnings.push("The conversion of the document to HTML broke off; some of the text may be missing.");
  const { title, authors, date, abstract, doi, pdfUrl } = details;
  const depth = !isWhole ? "abstract" : brokeOff ? "partial" : "full";
  return {
    status: "ok",
    text: buildText(parts, { kind: "html", depth, title, authors, date, abstract, doi, warnings }),
    pdfUrl,
  };
}

/** Where pages keep what readers say below a document: by ARIA, by schema.org, and by the names that designs use. */
const commented =
  '[role=comment], [itemprop=comment], [itemtype$="schema.org/Comment"], [id*=comment i], [class*=comment i], [id*=disqus i]';
const commentName = /(?:^|[-_\s])(?:comments|comment[-_]?(?:list|thread|section|area)|disqus[-_]thread)(?:[-_\s]|$)/i;

/** The comments of readers, which are not text of the document. An element that holds its title is not a comment. */
const commentsOf = (page: CheerioAPI): Element[] =>
  elementsOf(page, commented).filter((element) => {
    const { id = "", class: names = "", role, itemprop, itemtype } = element.attribs;
    const isTold = role === "comment" || itemprop === "comment" || itemtype?.endsWith("/Comment") === true;
    // The name of a design may stand on a page's body, or on an article that has comments.
    const isDocument = page(element).is("html, body, main") || page(element).has("h1, main").length > 0;
    return !isDocument && (isTold || commentName.test(id) || commentName.test(names));
  });

/**
 * Puts each formula once, as `$LaTeX$`; pages carry it as MathML, as alternative text and as drawn characters side by
 * side.
 */
function formulasAsLatex(page: CheerioAPI): void {
  for (const script of elementsOf(page, 'script[type^="math/tex"]'))
    becomeText(page, script, ` $${page(script).text().trim()}$ `);
  for (const element of elementsOf(page, "math")) {
    const math = page(element);
    const latex = math.attr("alttext") ?? math.find('annotation[encoding*="tex" i]').first().text();
    takeAway(math.find("annotation, annotation-xml").toArray());
    const drawn = math.text();
    const shown = latex.trim() === "" ? mathText(element) : `$${withoutDisplayStyle(latex.trim())}$`;
    // Wikipedia hides the MathML and shows a picture of it; the formula must not go with what is hidden.
    const wrapper = element.parent as Node | null;
    const isWrapped =
      wrapper !== null &&
      "attribs" in wrapper &&
      (wrapper.attribs["style"] ?? "").includes("display") &&
      wrapper.children.length < 10 &&
      page(wrapper).text().trim() === drawn.trim();
    becomeText(page, isWrapped ? wrapper : element, shown);
  }
}

const displayStyle = "{\\displaystyle ";
const withoutDisplayStyle = (latex: string): string =>
  latex.startsWith(displayStyle) && latex.endsWith("}") ? latex.slice(displayStyle.length, -1) : latex;

/**
 * A footnote in the middle of a sentence, or the bare number of a citation, would keep the sentence from being found.
 * Gives the notes by what they stand behind.
 */
function notesOf(page: CheerioAPI): Map<Node, string[]> {
  const notes = new Map<Node, string[]>();
  const gone: Node[] = [];
  for (const element of elementsOf(page, ".ltx_role_footnote")) {
    const note = page(element);
    const content = note.find(".ltx_note_content").first();
    takeAway(content.find(".ltx_note_mark, .ltx_tag_note").toArray());
    const [block] = note.closest("p, li, td, figcaption").toArray();
    if (block !== undefined) {
      const own = notes.get(block) ?? [];
      own.push(`Footnote: ${content.text().trim()}`);
      notes.set(block, own);
    }
    gone.push(element);
  }
  takeAway(gone);
  for (const element of elementsOf(page, "sup")) {
    const raised = page(element);
    const numbers = raised
      .text()
      .slice(0, 100)
      .replace(/[[\]\s]/g, "");
    if (/^\d{1,3}(?:[,;–-]\d{1,3})*$/.test(numbers) && raised.find('a[href*="#"]').length > 0)
      becomeText(page, element, ` [${numbers}]`);
    else if (raised.find("a").length === 0) raisePower(page, element);
  }
  return notes;
}

/** Headings of what surrounds an article's body; publishers show these parts to everybody. */
const around =
  /^(?:graphical )?(?:abstracts?|summary|highlights|key ?words|key points|references?|bibliography|literature cited|footnotes|cited by|citing|citations?|how to cite|similar|related|recommended|more from|suggested|about (?:this|the)|authors?|contributors|affiliations?|acknowledg|funding|ethics|competing|conflicts? of|declarations|data availability|rights|permissions?|copyright|licen[cs]e|additional information|supplement|supporting information|electronic supp|extended data|get access|access (?:this|through|options)|buy|purchase|subscribe|log ?in|sign in|preview|section snippets|table of contents|download|full text|export|share|metrics|altmetric|submission history|publication history|bookmarks?|code, data|browse|quick links|associated data|corresponding author|cookies?)\b/i;
const aroundWhole =
  /^(?:access|outline|contents|figures?|tables?|notes|subjects?|history|versions?|comments?|reviews?|search|menu|navigation|links?|information|details|journal|volume|issue|help|contact|privacy|cite|rent)$/i;

/** Characters of body below which a page only shows an article: previews run to some four thousand. */
const minBody = 6000;

/**
 * Whether a page about an article carries the article's body: two sections of its own and enough text in them, or as
 * much text before any heading. A long list of references is not a body.
 */
function holdsBody(parts: readonly Part[]): boolean {
  const own = parts.filter(({ label, text }) => label !== undefined && !isAround(plain(label)) && text.length >= 300);
  const lead = parts.filter(({ label }) => label === undefined);
  return (own.length >= 2 && length(own) >= minBody) || length(lead) >= minBody;
}

const isAround = (heading: string): boolean => around.test(heading) || aroundWhole.test(heading);
const length = (parts: readonly Part[]): number => parts.reduce((sum, { text }) => sum + text.length, 0);
/** Without the section mark and number. */
const plain = (label: string): string => label.replace(/^§ (?:(?:\d+(?:\.\d+)*|[IVX]+)\.? )?/, "");
