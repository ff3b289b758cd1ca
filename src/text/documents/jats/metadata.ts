import type { Cheerio, CheerioAPI } from "cheerio";
import type { Node } from "../html/select.js";

interface JatsMetadata {
  readonly title?: string;
  readonly authors?: string[];
  readonly date?: string;
  readonly abstract?: string;
  readonly doi?: string;
  /** The type of the article in JATS, such as "research article". */
  readonly publicationType?: string;
  /** The address of the licence, if the article has it. */
  readonly license?: string;
  readonly retracted?: boolean;
  /** A sentence for the reader if the publisher has retracted the article or has expressed concern about it. */
  readonly note?: string;
}

/** Reads the metadata of an article. */
export function jatsMetadata(page: CheerioAPI, article: Cheerio<Node>): JatsMetadata {
  const meta = article.find("> front > article-meta").first();
  const textIn = (selector: string): string | undefined => textOf(meta.find(selector).first()) || undefined;
  const authors = meta
    .find('> contrib-group > contrib[contrib-type="author"], > contrib-group > contrib:not([contrib-type])')
    .toArray()
    .map((element) => {
      const contributor = page(element);
      // A group counts as one author; the list of its members is removed.
      const group = contributor.find("> collab").first().clone();
      if (group.length > 0) {
        group.find("contrib-group, xref, fn").remove();
        return group.text().replace(/\s+/g, " ").trim();
      }
      const name = [contributor.find("given-names").first().text(), contributor.find("surname").first().text()].map(
        (part) => part.trim(),
      );
      return (
        name.filter(Boolean).join(" ") ||
        contributor.find("collab, string-name").first().text().replace(/\s+/g, " ").trim()
      );
    })
    .filter((name) => name !== "");
  const relations = meta
    .find("related-article, related-object")
    .toArray()
    .map((element) => page(element).attr("related-article-type") ?? "");
  // These relations are in the retracted article. The notice of the retraction has the relation "retracted-article".
  const retracted =
    relations.some((kind) => /^(?:retraction(?:-forward)?|withdrawal)$/.test(kind)) &&
    article.attr("article-type") !== "retraction";
  const hasConcern = relations.some((kind) => /expression-of-concern|concern-forward/.test(kind));
  return {
    title: textIn("> title-group > article-title"),
    ...(authors.length === 0 ? {} : { authors }),
    date: dateOf(page, meta),
    abstract:
      // The abstract has no type, or one of these. Other types are highlights, summaries by the editor, and so on.
      textIn("> abstract:not([abstract-type])") ??
      textIn(
        '> abstract[abstract-type="abstract"], > abstract[abstract-type="normal"], > abstract[abstract-type="section"]',
      ) ??
      textIn('> abstract[abstract-type="executive-summary"], > abstract[abstract-type="summary"]'),
    publicationType: kindOf(article.attr("article-type")),
    license: licenseOf(page, meta),
    doi: textIn('> article-id[pub-id-type="doi"]')?.toLowerCase(),
    ...(retracted ? { retracted, note: "The publisher marks this article as retracted." } : {}),
    ...(hasConcern && !retracted
      ? { note: "The publisher has published an expression of concern about this article." }
      : {}),
  };
}

const kindOf = (type: string | undefined): string | undefined => type?.replaceAll("-", " ").trim() || undefined;

function licenseOf(page: CheerioAPI, meta: Cheerio<Node>): string | undefined {
  const license = meta.find("> permissions > license").first();
  const elements = [
    license,
    ...license
      .find("ext-link, ali\\:license_ref")
      .toArray()
      .map((element) => page(element)),
  ];
  const addresses = elements.flatMap((element) => [
    element.attr("xlink:href") ?? "",
    element.is("license") ? "" : element.text().trim(),
  ]);
  return addresses.find((address) => /^https?:\/\/\S{1,200}$/.test(address));
}

/** The text of an element without citations and footnotes. */
const textOf = (element: Cheerio<Node>): string => {
  const copy = element.clone();
  for (const { next } of copy.find("xref").toArray())
    // The dash or comma between two citations is removed too.
    if (next?.next?.type === "tag" && next.next.name === "xref") {
      const between = next.type === "text" ? next : next.type === "tag" ? next.children[0] : undefined;
      if (between?.type === "text" && /^\s?[,;–-]\s?$/.test(between.data)) between.data = "";
    }
  copy.find("xref, fn").remove();
  const heading = copy.children("title").first();
  if (/^(?:abstract|summary) ?[.:]?$/i.test(heading.text().replace(/\s+/g, " ").trim())) heading.remove();
  // A space between the words of a heading and those of the paragraph after it.
  copy.find("title, p, sec, break, list-item").before(" ").after(" ");
  // The brackets around removed citations are empty, and are removed too.
  const withoutBrackets = copy.text().replace(/\s{0,9}(?:\([\s,;–-]{0,9}\)|\[[\s,;–-]{0,9}\])/g, "");
  return withoutBrackets.replace(/\s+/g, " ").trim();
};

/** The earliest date of publication: YYYY-MM-DD, YYYY-MM or YYYY. Of the dates in a year, the most exact one counts. */
function dateOf(page: CheerioAPI, meta: Cheerio<Node>): string | undefined {
  const dates = meta
    .find("> pub-date")
    .toArray()
    .map((element) => {
      const part = (name: string, length: number) =>
        page(element).children(name).first().text().trim().padStart(length, "0");
      const [year, month, day] = [part("year", 4), part("month", 2), part("day", 2)];
      if (!/^[12]\d{3}$/.test(year)) return "";
      return /^(?:0[1-9]|1[0-2])$/.test(month)
        ? `${year}-${month}${/^(?:0[1-9]|[12]\d|3[01])$/.test(day) ? `-${day}` : ""}`
        : year;
    })
    .filter((date) => date !== "");
  return dates.toSorted(
    (a, b) => a.slice(0, 4).localeCompare(b.slice(0, 4)) || b.length - a.length || a.localeCompare(b),
  )[0];
}
