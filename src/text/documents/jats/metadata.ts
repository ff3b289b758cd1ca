import type { Cheerio, CheerioAPI } from "cheerio";

type Node = ReturnType<CheerioAPI> extends Cheerio<infer Each> ? Each : never;

interface JatsMetadata {
  readonly title?: string;
  readonly authors?: string[];
  readonly date?: string;
  readonly abstract?: string;
  readonly doi?: string;
  /** In the words of JATS, such as "research article". */
  readonly publicationType?: string;
  /** The address of the licence where the article names one. */
  readonly license?: string;
  readonly retracted?: boolean;
  /** What the publisher says of the article at its head: a retraction, a concern. */
  readonly note?: string;
}

/** What the front of an article says of it. */
export function jatsMetadata(page: CheerioAPI, article: Cheerio<Node>): JatsMetadata {
  const meta = article.find("> front > article-meta").first();
  const plain = (selector: string): string | undefined => textOf(meta.find(selector).first()) || undefined;
  const authors = meta
    .find('> contrib-group > contrib[contrib-type="author"], > contrib-group > contrib:not([contrib-type])')
    .toArray()
    .map((element) => {
      const contributor = page(element);
      // A group is one author; its members are named within it.
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
  const related = meta
    .find("related-article, related-object")
    .toArray()
    .map((element) => page(element).attr("related-article-type") ?? "");
  // On the article that was retracted; the notice itself names a "retracted-article".
  const retracted =
    related.some((kind) => /^(?:retraction(?:-forward)?|withdrawal)$/.test(kind)) &&
    article.attr("article-type") !== "retraction";
  const isConcern = related.some((kind) => /expression-of-concern|concern-forward/.test(kind));
  return {
    title: plain("> title-group > article-title"),
    ...(authors.length === 0 ? {} : { authors }),
    date: dateOf(page, meta),
    abstract:
      // Journals mark the one abstract as such; those of other kinds are highlights, summaries by the editor, and the
      // like.
      plain("> abstract:not([abstract-type])") ??
      plain(
        '> abstract[abstract-type="abstract"], > abstract[abstract-type="normal"], > abstract[abstract-type="section"]',
      ) ??
      plain('> abstract[abstract-type="executive-summary"], > abstract[abstract-type="summary"]'),
    publicationType: kindOf(article.attr("article-type")),
    license: licenseOf(page, meta),
    doi: plain('> article-id[pub-id-type="doi"]')?.toLowerCase(),
    ...(retracted ? { retracted, note: "The publisher marks this article as retracted." } : {}),
    ...(isConcern && !retracted
      ? { note: "The publisher has published an expression of concern about this article." }
      : {}),
  };
}

const kindOf = (type: string | undefined): string | undefined => type?.replaceAll("-", " ").trim() || undefined;

function licenseOf(page: CheerioAPI, meta: Cheerio<Node>): string | undefined {
  const license = meta.find("> permissions > license").first();
  const named = [
    license,
    ...license
      .find("ext-link, ali\\:license_ref")
      .toArray()
      .map((element) => page(element)),
  ];
  const addresses = named.flatMap((element) => [
    element.attr("xlink:href") ?? "",
    element.is("license") ? "" : element.text().trim(),
  ]);
  return addresses.find((address) => /^https?:\/\/\S{1,200}$/.test(address));
}

const textOf = (element: Cheerio<Node>): string => {
  const copy = element.clone();
  for (const { next } of copy.find("xref").toArray())
    // The dash between two citations goes with them.
    if (next?.next?.type === "tag" && next.next.name === "xref") {
      const between = next.type === "text" ? next : next.type === "tag" ? next.children[0] : undefined;
      if (between?.type === "text" && /^\s?[,;–-]\s?$/.test(between.data)) between.data = "";
    }
  copy.find("xref, fn").remove();
  const heading = copy.children("title").first();
  if (/^(?:abstract|summary) ?[.:]?$/i.test(heading.text().replace(/\s+/g, " ").trim())) heading.remove();
  // Words of a heading and of the paragraph below it stand apart without a space between them.
  copy.find("title, p, sec, break, list-item").before(" ").after(" ");
  // Brackets of citations that went are left empty.
  const plain = copy.text().replace(/\s{0,9}(?:\([\s,;–-]{0,9}\)|\[[\s,;–-]{0,9}\])/g, "");
  return plain.replace(/\s+/g, " ").trim();
};

/** The first day of publication, however much of it is known. */
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
