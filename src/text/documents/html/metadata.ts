import type { CheerioAPI } from "cheerio";

/** What the head of a page says of the article that it is or is about. */
interface PageMetadata {
  readonly title?: string;
  readonly authors?: string[];
  readonly date?: string;
  readonly abstract?: string;
  readonly doi?: string;
  /** Absolute. */
  readonly pdfUrl?: string;
  /** The head names an article, as publishers' and preprint servers' pages do. */
  readonly isArticlePage: boolean;
}

/** Reads the Highwire (citation_*), Dublin Core and Open Graph meta data of a page, and LaTeXML's own classes. */
export function detailsOf(page: CheerioAPI, url: string | undefined): PageMetadata {
  const all = (...names: string[]): string[] =>
    names.flatMap((name) =>
      page(`meta[name="${name}" i], meta[property="${name}" i]`)
        .toArray()
        .map((element) => (page(element).attr("content") ?? "").replace(/\s+/g, " ").trim())
        .filter((content) => content !== ""),
    );
  const shown = (selector: string) => page(selector).first().text().replace(/\s+/g, " ").trim() || undefined;

  const authors = all("citation_author", "citation_authors", "dc.creator")
    .flatMap((names) => names.split(";"))
    .map((name) => name.trim());
  const pdf = all("citation_pdf_url")[0];
  const namesDoi = all("dc.identifier").some((identifier) =>
    /^(?:doi:\s*|https?:\/\/(?:dx\.)?doi\.org\/)?10\.\d{4,9}\/\S+$/i.test(identifier),
  );
  const base = page("base[href]").attr("href") ?? url;
  const abstract =
    all("citation_abstract", "dcterms.abstract")[0] ??
    shown(".ltx_abstract p") ??
    shown("section.abstract p, #abstract p, blockquote.abstract") ??
    all("dc.description", "og:description", "description")[0];
  return {
    title:
      all("citation_title", "dc.title")[0] ??
      shown("h1.ltx_title_document") ??
      all("og:title")[0] ??
      shown("h1") ??
      shown("title"),
    authors: authors.length === 0 ? undefined : [...new Set(authors)],
    date: isoDate(
      all("citation_publication_date", "citation_date", "citation_online_date", "dc.date", "article:published_time")[0],
    ),
    abstract: abstract?.replace(/^(?:abstract)[\s.:]*/i, ""),
    doi: /10\.\d{4,9}\/\S+/.exec(all("citation_doi", "dc.identifier", "prism.doi")[0] ?? "")?.[0].toLowerCase(),
    pdfUrl: pdf !== undefined && URL.canParse(pdf, base) ? new URL(pdf, base).href : undefined,
    isArticlePage:
      all("citation_title", "citation_pdf_url", "citation_doi", "prism.doi", "publication_doi").length > 0 || namesDoi,
  };
}

/** 2024/01/22, 2024-01-22T10:00Z and 2024 as YYYY[-MM[-DD]]. */
function isoDate(text: string | undefined): string | undefined {
  const match = /^(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?/.exec(text ?? "");
  return match
    ?.slice(1)
    .filter((part) => part !== undefined)
    .map((part) => part.padStart(2, "0"))
    .join("-");
}
