import { askText } from "../shared/ask-service.js";
import { at, day, line, list } from "../../../engine/lib/json-fields.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import { abstractText, plainText } from "../shared/markup-to-text.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { pageRecord } from "../shared/web-page.js";
import { parseXml } from "../../../text/xml.js";

const maxFeed = 20 * 1024 * 1024;

/**
 * An RSS or Atom feed as a source: of a journal, an arXiv category, a blog. It can't be searched: it gives what is in
 * it and in the time asked for.
 */
export const feedSource = (address: string): Source => ({
  name: `feed:${address}`,
  aliases: [],
  endpoint: address,
  search: async (query, context) => await readAddress(`feed:${address}`, query, context),
});

async function readAddress(
  name: string,
  query: Query,
  context: SourceContext,
): Promise<Answer<readonly PaperRecord[]>> {
  const accept = "application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.5";
  const answer = await askText({ name }, context, { url: context.endpoint, limit: maxFeed, accept });
  return answer.status === "ok" ? await readFeed(name, answer.value, query) : answer;
}

/** Reads a feed of either kind. Undated entries are taken. */
export async function readFeed(name: string, xml: string, query: Query): Promise<Answer<readonly PaperRecord[]>> {
  const parsed = await parseXml(xml.replace(/^\s+/, ""), ["item", "entry"], "all");
  if ("reason" in parsed)
    return { status: "error", reason: `${name} is not a readable RSS or Atom feed: ${parsed.reason}.` };
  const { value } = parsed;
  const channel = [at(value, "rss", "channel"), at(value, "rdf:RDF"), at(value, "feed")].find(
    (each) => each !== undefined,
  );
  if (channel === undefined) return { status: "error", reason: `${name} is neither an RSS nor an Atom feed.` };
  const entries = [...list(at(channel, "item")), ...list(at(channel, "entry"))];
  const records = entries.map((entry) => entryOf(name, entry)).filter((record) => record !== undefined);
  if (records.length === 0 && entries.length > 0)
    return { status: "error", reason: `None of the ${entries.length} entries of ${name} could be read.` };
  const wanted = records.filter(
    ({ date }) =>
      date === null || (date >= (query.from ?? "").slice(0, date.length) && date <= (query.until ?? "9999")),
  );
  if (wanted.length === 0) return { status: "empty", reason: `${name} has no entries in this period.` };
  return { status: "ok", value: wanted.slice(0, Math.max(0, query.most)), total: wanted.length };
}

function entryOf(name: string, entry: unknown): PaperRecord | undefined {
  const links = list(at(entry, "link"));
  const page = links.find((link) => typeof link !== "string" && (at(link, "@rel") ?? "alternate") === "alternate");
  const description =
    textOf(at(entry, "content:encoded")) ??
    textOf(at(entry, "description")) ??
    textOf(at(entry, "summary")) ??
    textOf(at(entry, "content"));
  const text = plainText(description);
  // arXiv's feeds: "arXiv:2401.00001v1 Announce Type: new Abstract: …".
  const abstract = /\bAbstract:\s*(\S.*)$/.exec(text ?? "")?.[1];
  return pageRecord(name, {
    url:
      at(page, "@href") ??
      links.map(textOf).find((link) => link !== undefined) ??
      textOf(at(entry, "guid")) ??
      textOf(at(entry, "id")),
    title: plainText(textOf(at(entry, "title"))),
    snippet: text,
    ...(abstract === undefined ? {} : { abstract: abstractText(abstract) }),
    authors: authorsOf(entry),
    date: ["pubDate", "dc:date", "prism:publicationDate", "published", "updated"]
      .map((field) => day(textOf(at(entry, field))))
      .find((date) => date !== undefined),
    doi: textOf(at(entry, "prism:doi")) ?? textOf(at(entry, "dc:identifier")),
  });
}

/** An element's text, with attributes or without. */
const textOf = (element: unknown): string | undefined =>
  line(typeof element === "string" ? element : at(Array.isArray(element) ? element[0] : element, "#text"));

function authorsOf(entry: unknown): string[] {
  const names = [
    ...list(at(entry, "author")).map((author) => textOf(at(author, "name"))),
    ...list(at(entry, "dc:creator")).flatMap((creator) => (textOf(creator) ?? "").split(/[;,]\s*(?=\p{Lu})/u)),
  ];
  return names.map((name) => plainText(name)).filter((name) => name !== undefined);
}
