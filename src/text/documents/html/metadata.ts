import type { CheerioAPI } from "cheerio";
import { dateOf } from "../../dates.js";
import { isPersonName, namesInField } from "../text/title-lines.js";

/** Metadata of the article on a page, or of the article that the page is about. */
interface PageMetadata {
  readonly title?: string;
  readonly authors?: string[];
  readonly date?: string;
  readonly abstract?: string;
  /** What the page says of itself: often the abstract or its beginning. */
  readonly description?: string;
  readonly doi?: string;
  /** The absolute address of the article's PDF. */
  readonly pdfUrl?: string;
  /** Whether the page has metadata of an article, like the pages of publishers and preprint servers. */
  readonly isArticlePage: boolean;
}

/**
 * Reads the Highwire (citation_*), Dublin Core and Open Graph metadata of a page, and elements with LaTeXML's classes.
 */
export function pageMetadata(page: CheerioAPI, url: string | undefined): PageMetadata {
  const metaContents = (...names: string[]): string[] =>
    names.flatMap((name) =>
      page(`meta[name="${name}" i], meta[property="${name}" i]`)
        .toArray()
        .map((element) => (page(element).attr("content") ?? "").replace(/\s+/g, " ").trim())
        .filter((content) => content !== ""),
    );
  const textIn = (selector: string) => page(selector).first().text().replace(/\s+/g, " ").trim() || undefined;

  const articleAuthors = metaContents("citation_author", "citation_authors", "dc.creator")
    .flatMap((names) => names.split(";"))
    .map((name) => name.trim());
  // Programs put the name of an account or a company here, too.
  const pageAuthors = metaContents("author").flatMap(namesInField).filter(isPersonName);
  const authors = articleAuthors.length > 0 ? articleAuthors : pageAuthors;
  const pdfAddress = metaContents("citation_pdf_url")[0];
  const hasDoi = metaContents("dc.identifier").some((identifier) =>
    /^(?:doi:\s*|https?:\/\/(?:dx\.)?doi\.org\/)?10\.\d{4,9}\/\S+$/i.test(identifier),
  );
  const base = page("base[href]").attr("href") ?? url;
  const abstract =
    metaContents("citation_abstract", "dcterms.abstract")[0] ??
    textIn(".ltx_abstract p") ??
    textIn("section.abstract p, #abstract p, blockquote.abstract") ??
    paragraphAfter(page, "abstract");
  return {
    title:
      metaContents("citation_title", "dc.title")[0] ??
      textIn("h1.ltx_title_document") ??
      metaContents("og:title")[0] ??
      textIn("h1") ??
      textIn("title"),
    authors: authors.length === 0 ? undefined : [...new Set(authors)],
    date: dateOf(
      metaContents(
        "citation_publication_date",
        "citation_date",
        "citation_online_date",
        "citation_year",
        "dc.date",
        "article:published_time",
      ),
    ),
    abstract: abstract?.replace(/^(?:abstract)[\s.:]*/i, ""),
    description: metaContents("dc.description", "og:description", "description")[0]?.replace(
      /^(?:abstract)[\s.:]*/i,
      "",
    ),
    doi: /10\.\d{4,9}\/\S+/
      .exec(metaContents("citation_doi", "dc.identifier", "prism.doi")[0] ?? "")?.[0]
      .toLowerCase(),
    pdfUrl: pdfAddress !== undefined && URL.canParse(pdfAddress, base) ? new URL(pdfAddress, base).href : undefined,
    isArticlePage:
      metaContents("citation_title", "citation_pdf_url", "citation_doi", "prism.doi", "publication_doi").length > 0 ||
      hasDoi,
  };
}

/** The paragraph that begins with a label in bold. */
function paragraphAfter(page: CheerioAPI, label: string): string | undefined {
  for (const element of page("p > strong:first-child, p > b:first-child").toArray()) {
    const [bold, paragraph] = [page(element).text(), page(element).parent().text().replace(/\s+/g, " ").trim()];
    const isLabel = bold.replace(/[\s.:]+/g, "").toLowerCase() === label;
    const start = paragraph.slice(0, label.length).toLowerCase();
    if (isLabel && start === label && paragraph.length > bold.length + 1) return paragraph;
  }
  return undefined;
}
