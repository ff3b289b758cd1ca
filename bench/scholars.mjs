// Copies of four scholarly services on 127.0.0.1. To any question each answers with as many invented papers as are
// asked for.
import { createServer } from "node:http";

/** The services and where in ours each of them stands. */
export const services = [
  { name: "arXiv", path: "arxiv", intervalMs: 3_000 },
  { name: "OpenAlex", path: "openalex", intervalMs: 200 },
  { name: "Semantic Scholar", path: "semanticscholar", intervalMs: 1_000 },
  { name: "Crossref", path: "crossref", intervalMs: 200 },
];

// The length that abstracts have on average at arXiv.
const abstract = (about, index) =>
  `We study ${about} in setting ${index}. ${"A policy is trained in simulation, moved to the machine without tuning, and compared with three baselines. ".repeat(11)}`;
const subjects = "fingers,gloves,bins,cloth,ropes,doors,tools,fruit,cables,bottles".split(",");
const verbs = "Learning,Planning,Sensing,Modelling,Testing,Teaching,Tuning,Mapping".split(",");

/** Paper `index` of a question. Two services that are asked the same know the same papers, each by its own names. */
function paper(terms, index) {
  const key = [...terms].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9_000, 7) + index;
  const title = `${verbs[index % verbs.length]} ${terms} with ${subjects[(index * 7) % subjects.length]} in setting ${index}`;
  return {
    title,
    abstract: abstract(`${terms} with ${subjects[(index * 7) % subjects.length]}`, index),
    arxiv: `2609.${String(key).padStart(5, "0")}`,
    doi: `10.5555/bench.${key}`,
    authors: [`Ada Bench${index % 50}`, `Bo Sample${index % 7}`, "Cy Other"],
    date: `2026-09-${String((index % 28) + 1).padStart(2, "0")}`,
  };
}
const papers = (terms, most) =>
  Array.from({ length: Math.min(Number(most) || 10, 100) }, (_, index) => paper(terms, index));

const answers = {
  arxiv(query) {
    const terms = [...query.get("search_query").matchAll(/all:"?([^":]+?)"?(?= AND|$)/g)]
      .map(([, word]) => word)
      .join(" ");
    const entries = papers(terms, query.get("max_results")).map(
      ({ title, abstract: summary, arxiv, authors, date }) =>
        `<entry><id>http://arxiv.org/abs/${arxiv}v1</id><title>${title}</title><summary>${summary}</summary><published>${date}T00:00:00Z</published>${authors.map((name) => `<author><name>${name}</name></author>`).join("")}</entry>`,
    );
    return `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><opensearch:totalResults>${entries.length}</opensearch:totalResults>${entries.join("")}</feed>`;
  },
  openalex: (query) => ({
    meta: { count: 30 },
    results: papers(query.get("search").replaceAll('"', ""), query.get("per_page")).map(
      ({ title, doi, authors, date }, index) => ({
        id: `https://openalex.org/W${index + 1}${doi.slice(14)}`,
        doi: `https://doi.org/${doi}`,
        title,
        publication_date: date,
        type: "article",
        authorships: authors.map((display_name) => ({ author: { display_name } })),
        cited_by_count: index,
      }),
    ),
  }),
  semanticscholar: (query) => ({
    total: 30,
    data: papers(query.get("query"), query.get("limit")).map(({ title, doi, arxiv, authors, date }, index) => ({
      paperId: `${doi.slice(14)}${index}`.padStart(40, "0"),
      title,
      externalIds: { DOI: doi, ArXiv: arxiv },
      publicationDate: date,
      authors: authors.map((name) => ({ name })),
    })),
  }),
  crossref: (query) => ({
    message: {
      "total-results": 30,
      items: papers(query.get("query.bibliographic"), query.get("rows")).map(({ title, doi, authors, date }) => ({
        DOI: doi,
        title: [title],
        author: authors.map((name) => ({ given: name.split(" ")[0], family: name.split(" ")[1] })),
        issued: { "date-parts": [date.split("-").map(Number)] },
        type: "journal-article",
      })),
    },
  }),
};

/** `asked`: how many questions each service has had, by its path. */
export async function serveScholars() {
  const asked = {};
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://127.0.0.1");
    const [, path] = url.pathname.split("/");
    asked[path] = (asked[path] ?? 0) + 1;
    // Questions for single works, of which nothing is known here, name none.
    const isSearch = ["search_query", "search", "query", "query.bibliographic"].some((name) =>
      url.searchParams.has(name),
    );
    const answer = isSearch ? answers[path]?.(url.searchParams) : undefined;
    response.writeHead(answer === undefined ? 404 : 200, {
      "content-type": typeof answer === "string" ? "application/atom+xml" : "application/json",
    });
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer ?? {}));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const close = () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve)));
  return { origin, asked, close };
}
