// The computer science bibliography DBLP as a source, after its documentation
// (https://dblp.org/faq/How+to+use+the+dblp+search+API.html): `allow: { hosts: ["dblp.org:443"] }`, then
// `--source dblp`. It has no abstracts, and its search has no filter by date: years are compared here.

const perPage = 100;
const list = (value) => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

/** Titles and names are text of HTML, and a name may end in a number that tells two people apart. */
const signs = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'" };
const plain = (text) => String(text ?? "").replace(/&(amp|lt|gt|quot|apos|#39);/g, (_, sign) => signs[sign]);
const person = ({ text }) => plain(text).replace(/ \d{4}$/, "");

const kinds = {
  "Informal and Other Publications": "preprint",
  "Journal Articles": "published",
  "Conference and Workshop Papers": "published",
  "Books and Theses": "published",
  "Parts in Books or Collections": "published",
};

function record({ info }) {
  const { title, doi, ee, url, year, venue, volume, number, pages, type, authors } = info;
  const arxiv = /arxiv\.org\/abs\/([\w./-]+)$/i.exec(list(ee)[0] ?? "")?.[1];
  return {
    title: plain(title).replace(/\.$/, ""),
    authors: list(authors?.author).map(person),
    ...(year === undefined ? {} : { date: String(year) }),
    ...(doi === undefined ? {} : { doi }),
    ...(arxiv === undefined ? {} : { arxiv }),
    ...(url === undefined ? {} : { url }),
    ...(venue === undefined ? {} : { venue: list(venue).map(plain).join(", ") }),
    ...(volume === undefined ? {} : { volume: String(volume) }),
    ...(number === undefined ? {} : { issue: String(number) }),
    ...(pages === undefined ? {} : { pages: String(pages) }),
    ...(kinds[type] === undefined ? {} : { kind: kinds[type] }),
  };
}

/** @type {import("research-ralph/plugin").PluginSource} */
const dblp = {
  id: "dblp",
  endpoint: "https://dblp.org",
  search({ terms, most, next = 0 }) {
    const asked = new URLSearchParams({
      q: terms,
      format: "json",
      c: "0",
      h: String(Math.min(most, perPage)),
      f: String(next),
    });
    return { path: `/search/publ/api?${asked}`, accept: "application/json" };
  },
  read({ text, search: { from, until } }) {
    const { hits } = JSON.parse(text).result;
    const found = list(hits.hit);
    const isInPeriod = ({ date }) =>
      date === undefined || ((from?.slice(0, 4) ?? "") <= date && date <= (until?.slice(0, 4) ?? "9999"));
    const after = Number(hits["@first"]) + found.length;
    return {
      records: found
        .map(record)
        .filter(({ title }) => title !== "")
        .filter(isInPeriod),
      total: Number(hits["@total"]),
      ...(found.length > 0 && after < Number(hits["@total"]) ? { next: after } : {}),
    };
  },
};

export default { name: "dblp", version: "1.0.0", sources: [dblp] };
