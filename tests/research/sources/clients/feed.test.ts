import { describe, expect, it } from "vitest";
import { feedSource, readFeed } from "../../../../src/research/sources/clients/feed.js";
import { answering } from "./answering.js";

const read = async (xml: string, query: object = {}) =>
  await readFeed("feed:x", xml, { terms: "", most: 50, ...query });

const rss = (items: string) =>
  `<?xml version="1.0"?><rss version="2.0" xmlns:dc="x" xmlns:prism="y"><channel><title>J</title>${items}</channel></rss>`;
const item = (day: string, inner = "") =>
  `<item><title>Paper of ${day}</title><link>https://journal.test/${day.replace(/\W/g, "")}</link><pubDate>Tue, ${day} 10:00:00 GMT</pubDate>${inner}</item>`;

describe("feeds", () => {
  it("of RSS are read with dates, authors, DOIs and escaped text", async () => {
    const answer = await read(
      rss(
        item(
          "02 Jan 2024",
          "<dc:creator>Ann Lee, Bob Ray</dc:creator><prism:doi>10.1000/A</prism:doi><description>&lt;p&gt;On &lt;i&gt;hands&lt;/i&gt; &amp;amp; more&lt;/p&gt;</description>",
        ),
      ),
    );

    expect(answer).toMatchObject({
      status: "ok",
      value: [
        {
          id: "doi_10.1000_a",
          title: "Paper of 02 Jan 2024",
          date: "2024-01-02",
          authors: ["Ann Lee", "Bob Ray"],
          abstract: null,
          snippet: "On hands & more",
          url: "https://journal.test/02Jan2024",
        },
      ],
    });
  });

  it("of arXiv carry the abstract", async () => {
    const entry =
      "<item><title>A hand</title><link>https://arxiv.org/abs/2401.00010</link><description>arXiv:2401.00010v1 Announce Type: new&#xA;Abstract: We study hands.</description></item>";
    expect(await read(rss(entry))).toMatchObject({ value: [{ id: "arxiv_2401.00010", abstract: "We study hands." }] });
  });

  it("of Atom and RDF are read too", async () => {
    const atom =
      '<feed xmlns="http://www.w3.org/2005/Atom"><entry><title type="html">A &lt;b&gt;hand&lt;/b&gt;</title><link rel="self" href="https://x.test/self"/><link rel="alternate" href="https://x.test/a"/><updated>2024-03-01T00:00:00Z</updated><author><name>Ann Lee</name></author></entry></feed>';
    expect(await read(atom)).toMatchObject({
      value: [{ title: "A hand", url: "https://x.test/a", date: "2024-03-01", authors: ["Ann Lee"] }],
    });
    const rdf =
      '<rdf:RDF xmlns:rdf="r"><channel><title>J</title></channel><item rdf:about="https://x.test/b"><title>B</title><link>https://x.test/b</link><dc:date>2024-02-01</dc:date></item></rdf:RDF>';
    expect(await read(rdf)).toMatchObject({ value: [{ title: "B", date: "2024-02-01" }] });
  });

  it("give what was published in the time asked for", async () => {
    const feed = rss(["02 Jan 2024", "15 Feb 2024", "01 Mar 2024"].map((day) => item(day)).join(""));
    expect(await read(feed, { from: "2024-01-15", until: "2024-02-28" })).toMatchObject({
      total: 1,
      value: [{ date: "2024-02-15" }],
    });
    expect(await read(feed, { from: "2025-01-01" })).toMatchObject({ status: "empty" });
  });

  it.each([
    ["a page", "<html><body>no feed</body></html>"],
    ["half a feed", rss(item("02 Jan 2024")).slice(0, 200)],
    ["text", "hello"],
    ["entries without titles", rss("<item><guid>7</guid></item>")],
    ["entities of its own", `<!DOCTYPE rss [<!ENTITY a "b">]>${rss(item("02 Jan 2024"))}`],
  ])("in whose place comes %s are an error, not an empty feed", async (_, xml) => {
    expect(await read(xml)).toMatchObject({ status: "error", reason: expect.stringContaining("feed:x") });
  });

  it("are asked for at their address", async () => {
    const { context, requests } = answering([{ body: rss(item("02 Jan 2024")), type: "application/rss+xml" }], {
      endpoint: "https://journal.test/feed.xml",
    });
    expect(
      await feedSource("https://journal.test/feed.xml").search?.({ terms: "hand", most: 5 }, context),
    ).toMatchObject({ status: "ok", value: [{ source: "feed:https://journal.test/feed.xml" }] });
    expect(requests[0]?.url).toBe("https://journal.test/feed.xml");
  });
});
