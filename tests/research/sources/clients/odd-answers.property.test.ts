import { describe, expect, it } from "vitest";
import { readArxivFeed } from "../../../../src/research/sources/clients/arxiv.js";
import { readVersions } from "../../../../src/research/sources/clients/biorxiv.js";
import { readWork as readCrossref } from "../../../../src/research/sources/clients/crossref.js";
import { readResult } from "../../../../src/research/sources/clients/europe-pmc.js";
import { readWork as readOpenAlex } from "../../../../src/research/sources/clients/openalex.js";
import { readPaper } from "../../../../src/research/sources/clients/semantic-scholar.js";
import { readWork as readUnpaywall } from "../../../../src/research/sources/clients/unpaywall.js";
import type { PaperRecord } from "../../../../src/research/papers/paper-record.js";
import { allSources } from "../../../../src/research/sources/registry.js";
import fc, { anyText } from "../../../support/runner/fast-check.js";
import { answering } from "./answering.js";

/** A whole answer of each service, every field that is read in it. */
const openAlexWork = {
  id: "https://openalex.org/W1",
  doi: "https://doi.org/10.1000/a",
  ids: { pmid: "https://pubmed.ncbi.nlm.nih.gov/1", pmcid: "PMC1" },
  title: "A hand",
  publication_date: "2024-01-02",
  publication_year: 2024,
  type: "article",
  primary_location: {
    is_oa: true,
    landing_page_url: "https://doi.org/10.1000/a",
    pdf_url: "https://x.test/a.pdf",
    version: "publishedVersion",
    source: { display_name: "J", type: "journal" },
  },
  locations: [
    {
      is_oa: true,
      landing_page_url: "https://doi.org/10.1101/b",
      pdf_url: null,
      license: "cc-by",
      version: "submittedVersion",
    },
  ],
  authorships: [{ author: { display_name: "Ann Lee" } }],
  cited_by_count: 3,
  is_retracted: false,
  abstract_inverted_index: { A: [0], hand: [1] },
};
const s2Paper = {
  paperId: "0".repeat(40),
  externalIds: { DOI: "10.1000/a", ArXiv: "2401.00010", PubMed: "1", PubMedCentral: "2" },
  title: "A hand",
  abstract: "We study.",
  year: 2024,
  publicationDate: "2024-01-02",
  publicationTypes: ["JournalArticle"],
  venue: "J",
  journal: { name: "J" },
  authors: [{ name: "Ann Lee" }],
  citationCount: 3,
  openAccessPdf: { url: "https://x.test/a.pdf", license: "CCBY" },
};
const crossrefWork = {
  DOI: "10.1000/a",
  title: ["A hand"],
  type: "journal-article",
  author: [{ given: "Ann", family: "Lee" }],
  issued: { "date-parts": [[2024, 1, 2]] },
  abstract: "<jats:p>We study.</jats:p>",
  link: [{ URL: "https://x.test/a.pdf", "content-type": "application/pdf", "intended-application": "text-mining" }],
  license: [{ URL: "https://creativecommons.org/licenses/by/4.0/" }],
  relation: { "has-preprint": [{ id: "10.1101/b", "id-type": "doi" }] },
  "container-title": ["J"],
  "is-referenced-by-count": 3,
  "updated-by": [
    { type: "correction", source: "publisher", DOI: "10.1000/c", updated: { "date-parts": [[2024, 3, 1]] } },
  ],
  "update-to": [{ type: "correction", DOI: "10.1000/d" }],
};
const epmcResult = {
  id: "1",
  source: "MED",
  pmid: "1",
  pmcid: "PMC1",
  doi: "10.1000/a",
  title: "A hand.",
  authorString: "Lee A.",
  authorList: { author: [{ fullName: "Lee A", firstName: "Ann", lastName: "Lee" }] },
  journalInfo: { journal: { title: "J" }, printPublicationDate: "2024-01-02" },
  firstPublicationDate: "2024-01-02",
  abstractText: "We study.",
  pubTypeList: { pubType: ["Retracted Publication"] },
  commentCorrectionList: {
    commentCorrection: [{ type: "Retraction in", id: "2", source: "MED", reference: "J. 2024 Mar 1;1:1" }],
  },
  fullTextUrlList: { fullTextUrl: [{ availabilityCode: "OA", documentStyle: "pdf", url: "https://x.test/a.pdf" }] },
  isOpenAccess: "Y",
  citedByCount: 3,
  license: "cc by",
};
const unpaywallWork = {
  doi: "10.1000/a",
  title: "A hand",
  genre: "journal-article",
  is_oa: true,
  published_date: "2024-01-02",
  year: 2024,
  journal_name: "J",
  best_oa_location: {
    url: "https://x.test",
    url_for_pdf: "https://x.test/a.pdf",
    url_for_landing_page: "https://x.test/a",
    license: "cc-by",
  },
  oa_locations: [{ url_for_pdf: null, url_for_landing_page: "https://x.test/a" }],
  z_authors: [{ given: "Ann", family: "Lee", raw_author_name: "Ann Lee" }],
};
const biorxivVersion = {
  doi: "10.1101/a",
  title: "A hand",
  authors: "Lee, A.; Ray, B.",
  date: "2024-01-02",
  version: "1",
  type: "withdrawn",
  license: "cc_by",
  jatsxml: "https://x.test/a.xml",
  abstract: "We study.",
  published: "10.1000/a",
  server: "bioRxiv",
};

const readers: readonly (readonly [string, unknown, (json: unknown) => PaperRecord | undefined])[] = [
  ["OpenAlex", openAlexWork, readOpenAlex],
  ["Semantic Scholar", s2Paper, readPaper],
  ["Crossref", crossrefWork, (json) => readCrossref(json)],
  ["Europe PMC", epmcResult, (json) => readResult(json, "https://epmc.test")],
  ["Unpaywall", unpaywallWork, (json) => readUnpaywall(json)],
  ["bioRxiv", [biorxivVersion], (json) => readVersions(Array.isArray(json) ? json : [json])],
];

/** The paths of every value in a JSON document, the document itself too. */
function pathsOf(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [
    path,
    ...Object.entries(value).flatMap(([name, inner]) =>
      pathsOf(inner, [...path, Array.isArray(value) ? Number(name) : name]),
    ),
  ];
}

/** A copy with `instead` at the path. */
function replaced(value: unknown, [step, ...rest]: readonly (string | number)[], instead: unknown): unknown {
  if (step === undefined) return instead;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  copy[step] = replaced(copy[step], rest, instead);
  return copy;
}

/** Any JSON value, more often one that comes near to what is read. */
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    null,
    "",
    " ",
    0,
    -1,
    1e308,
    "\u0000",
    "\ud800",
    "<b>",
    "&#x110000;",
    "10.48550/arXiv.2401.00010",
    "https://",
    "2024-13-40",
    "9999999999",
    [[]],
    {},
    { "date-parts": null },
    true,
    "x".repeat(30_000),
  ),
  anyText({ maxLength: 40 }),
);

/** What holds for every record, whatever it was read from. */
function expectWellFormed(record: PaperRecord): void {
  expect(record.title.trim()).not.toBe("");
  expect(record.id).toMatch(/^[\w.-]{1,130}$/);
  expect(record.url).toMatch(/^https?:\/\/\S+$/);
  expect(record.pdf_url === null || URL.canParse(record.pdf_url)).toBe(true);
  expect(record.date ?? "2024").toMatch(/^\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?$/);
  expect(record.authors.every((name) => typeof name === "string" && name.trim() !== "")).toBe(true);
  expect(record.abstract === null || (typeof record.abstract === "string" && record.abstract.length <= 20_000)).toBe(
    true,
  );
  expect(record.identifiers.doi ?? "10.1/x").toMatch(/^10\.\d/);
  for (const copy of record.copies ?? []) expect(URL.canParse(copy.url)).toBe(true);
  expect(record.citations === undefined || Number.isSafeInteger(record.citations.count)).toBe(true);
  const isOut = (record.updates ?? []).some(({ type }) => type === "retraction" || type === "withdrawal");
  expect(record.retracted === true).toBe(isOut);
  expect(JSON.stringify(record)).not.toMatch(/\\u0000|\\ud[89a-f]/);
}

describe("an answer with any value in place of any field", () => {
  it.each(readers)("of %s is read into a well-formed record or none, and never throws", (_, whole, read) => {
    const paths = pathsOf(whole);
    let records = 0;
    expect(read(whole)).toBeDefined();
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(paths.length - 1), anything), { minLength: 1, maxLength: 3 }), (changes) => {
        let odd = whole;
        for (const [index, instead] of changes) {
          const path = paths[index] ?? [];
          // An earlier change may have taken the place away.
          if (
            path
              .slice(0, -1)
              .every(
                (step, at) =>
                  typeof path.slice(0, at + 1).reduce<unknown>((here, each) => (here as never)?.[each], odd) ===
                    "object" && step !== undefined,
              )
          )
            odd = replaced(odd, path, instead);
        }
        const record = read(odd);
        if (record === undefined) return;
        records += 1;
        expectWellFormed(record);
      }),
      { numRuns: 400 },
    );
    expect(records).toBeGreaterThan(100);
  });

  it("of arXiv is read into well-formed records or none, and never throws", async () => {
    const fields = [
      "id",
      "title",
      "published",
      "updated",
      "summary",
      "author",
      "arxiv:doi",
      "arxiv:comment",
      "arxiv:journal_ref",
      "link",
    ];
    const value = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.constantFrom(
        "<name>A</name>",
        "<a><b/></a>",
        "",
        "<![CDATA[ x ]]>",
        "&#0;",
        "&#xD800;",
        "http://arxiv.org/abs/2401.00010v1",
        "10.1000/a",
      ),
    );
    let records = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...fields), value), { maxLength: 12 }), async (given) => {
        const inner = [...given, ["id", "http://arxiv.org/abs/2401.00010v1"], ["title", "T"]]
          .map(([name, text]) => `<${name}>${text}</${name}>`)
          .join("");
        const answer = await readArxivFeed(`<feed><entry>${inner}</entry></feed>`);
        if (answer.status !== "ok") return;
        records += answer.value.records.length;
        answer.value.records.forEach(expectWellFormed);
      }),
      { numRuns: 300 },
    );
    expect(records).toBeGreaterThan(30);
  });

  it("from any source is an answer in the envelope with one sentence, never an exception", async () => {
    const works = [{ doi: "10.1101/a", arxiv: "2401.00010", pmid: "1" }];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...allSources),
        fc.oneof(
          fc.jsonValue().map((value) => JSON.stringify(value)),
          fc.string(),
          fc.constantFrom("<html></html>", "<feed/>", "", '{"results":[null]}', '{"message":{"items":[1]}}'),
        ),
        fc.constantFrom(200, 200, 200, 204, 400, 403, 404, 429, 500),
        async (source, body, status) => {
          const { context } = answering(() => ({ status, body }), {
            endpoint: "https://service.test",
            key: "secret-key",
            contact: "a@example.org",
          });
          const answers = await Promise.all([
            source.search?.({ terms: "a hand", most: 3 }, context),
            source.match?.({ title: "A hand" }, context),
            source.lookup?.(works, context),
            source.references?.(works[0] ?? {}, 3, context),
            source.citations?.(works[0] ?? {}, 3, context),
          ]);
          for (const answer of answers) {
            if (answer === undefined) continue;
            expect(["ok", "empty", "rate_limited", "blocked", "error"]).toContain(answer.status);
            if (answer.status !== "ok") expect(answer.reason).toMatch(/^[^\n]{10,}$/);
            // Only an answer of the service's own, or that it does not know a work, may say that there is nothing.
            if ([400, 403, 429, 500].includes(status)) expect(answer.status).not.toBe("empty");
            expect(JSON.stringify(answer)).not.toContain("secret-key");
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
