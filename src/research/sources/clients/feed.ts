import { askText } from "../shared/ask-service.js";
import { valueAt, dateFrom, lineFrom, listFrom } from "../../../engine/lib/json-fields.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import { abstractText, plainText } from "../shared/markup-to-text.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { pageRecord } from "../shared/web-page.js";
import { parseXml } from "../../../text/xml.js";

const maxFeedBytes = 20 * 1024 * 1024;

/**
 * An RSS or Atom feed as a source: of a journal, an arXiv category, or a blog. It can't be searched; it returns all its
 * entries in the requested period.
 */
export const feedSource = (address: string): Source => ({
  name: `feed:${address}`,
  aliases: [],
  endpoint: address,
  search: async (query, context) => await loadFeed(`feed:${address}`, query, context),
});

async function loadFeed(name: string, query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const accept = "application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.5";
  const answer = await askText({ name }, context, { url: context.endpoint, limit: maxFeedBytes, accept });
  return answer.status === "ok" ? await readFeed(name, answer.value, query) : answer;
}

/** Reads an RSS or Atom feed. Entries without a date are included. */
export async function readFeed(name: string, xml: string, query: Query): Promise<Answer<readonly PaperRecord[]>> {
  const parsed = await parseXml(xml.replace(/^\s+/, ""), ["item", "entry"], "all");
  if ("reason" in parsed)
    return { status: "error", reason: `${name} is not a readable RSS or Atom feed: ${parsed.reason}.` };
  const { value } = parsed;
  const channel = [valueAt(value, "rss", "channel"), valueAt(value, "rdf:RDF"), valueAt(value, "feed")].find(
    (element) => element !== undefined,
  );
  if (channel === undefined) return { status: "error", reason: `${name} is neither an RSS nor an Atom feed.` };
  const entries = [...listFrom(valueAt(channel, "item")), ...listFrom(valueAt(channel, "entry"))];
  const records = entries.map((entry) => entryOf(name, entry)).filter((record) => record !== undefined);
  if (records.length === 0 && entries.length > 0)
    return { status: "error", reason: `None of the ${entries.length} entries of ${name} could be read.` };
  const inPeriod = records.filter(
    ({ date }) =>
      date === null || (date >= (query.from ?? "").slice(0, date.length) && date <= (query.until ?? "9999")),
  );
  if (inPeriod.length === 0) return { status: "empty", reason: `${name} has no entries in this period.` };
  return { status: "ok", value: inPeriod.slice(0, Math.max(0, query.most)), total: inPeriod.length };
}

function entryOf(name: string, entry: unknown): PaperRecord | undefined {
  const links = listFrom(valueAt(entry, "link"));
  const page = links.find((link) => typeof link !== "string" && (valueAt(link, "@rel") ?? "alternate") === "alternate");
  const description =
    textOf(valueAt(entry, "content:encoded")) ??
    textOf(valueAt(entry, "description")) ??
    textOf(valueAt(entry, "summary")) ??
    textOf(valueAt(entry, "content"));
  const text = plainText(description);
  // Entries of arXiv's feeds read "arXiv:2401.00001v1 Announce Type: new Abstract: …".
  const abstract = /\bAbstract:\s*(\S.*)$/.exec(text ?? "")?.[1];
  return pageRecord(name, {
    url:
      valueAt(page, "@href") ??
      links.map(textOf).find((link) => link !== undefined) ??
      textOf(valueAt(entry, "guid")) ??
      textOf(valueAt(entry, "id")),
    title: plainText(textOf(valueAt(entry, "title"))),
    snippet: text,
    ...(abstract === undefined ? {} : { abstract: abstractText(abstract) }),
    authors: authorsOf(entry),
    date: ["pubDate", "dc:date", "prism:publicationDate", "published", "updated"]
      .map((field) => dateFrom(textOf(valueAt(entry, field))))
      .find((date) => date !== undefined),
    doi: textOf(valueAt(entry, "prism:doi")) ?? textOf(valueAt(entry, "dc:identifier")),
  });
}

/** The text of an element, with or without attributes. */
const textOf = (element: unknown): string | undefined =>
  lineFrom(typeof element === "string" ? element : valueAt(Array.isArray(element) ? element[0] : element, "#text"));

function authorsOf(entry: unknown): string[] {
  const names = [
    ...listFrom(valueAt(entry, "author")).map((author) => textOf(valueAt(author, "name"))),
    ...listFrom(valueAt(entry, "dc:creator")).flatMap((creator) => (textOf(creator) ?? "").split(/[;,]\s*(?=\p{Lu})/u)),
  ];
  return names.map((name) => plainText(name)).filter((name) => name !== undefined);
}
