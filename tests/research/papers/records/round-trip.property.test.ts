import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bibtexOf } from "../../../../src/research/papers/export/bibtex.js";
import { citedWorks } from "../../../../src/research/papers/export/cited-work.js";
import { cslOf } from "../../../../src/research/papers/export/csl.js";
import { risOf } from "../../../../src/research/papers/export/ris.js";
import { keptFacts } from "../../../../src/research/papers/paper-record.js";
import type { Entry, WorkType } from "../../../../src/research/papers/records/entry.js";
import { readListedPapers } from "../../../../src/research/papers/records/listed-papers.js";
import { readRecords } from "../../../../src/research/papers/records/read-records.js";
import fc from "../../../support/runner/fast-check.js";

const folder = mkdtempSync(join(tmpdir(), "rr-round-trip-"));
const fileOf = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

/** A word of letters that every format holds, with signs that each writes in its own way. */
const word = fc.stringMatching(/^[A-Z][a-zäöüßéèçñøåłž]{1,8}$/);
const phrase = fc
  .array(
    fc.oneof(
      word,
      fc.constantFrom("of", "&", "100 %", "A_B", "#3", "x^2", "{a}", "~", "5 $", "<0.05", "“so”", "dose-response"),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((words) => `Study ${words.join(" ")}`);
const name = fc.tuple(word, word).map(([family, given]) => `${family}, ${given}`);
const types: readonly WorkType[] = [
  "journal-article",
  "proceedings-article",
  "book-chapter",
  "book",
  "dissertation",
  "masters-thesis",
  "report",
  "dataset",
  "software",
  "patent",
  "web-page",
];
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

const entry = fc.record({
  title: phrase,
  authors: fc.uniqueArray(name, { maxLength: 4 }),
  date: maybe(fc.constantFrom("2001", "2001-02", "2020-12-31")),
  venue: maybe(phrase),
  volume: maybe(fc.constantFrom("3", "12A")),
  issue: maybe(fc.constantFrom("1", "2-3")),
  pages: maybe(fc.constantFrom("12-34", "e0123")),
  abstract: maybe(phrase),
  doi: maybe(fc.constantFrom("10.1000/abc_1", "10.1000/(sici)1-2(3)4")),
  pmid: maybe(fc.constantFrom("12345678")),
  pmcid: maybe(fc.constantFrom("PMC123456")),
  type: fc.constantFrom(...types),
  publisher: maybe(phrase),
  place: maybe(word),
  editors: fc.uniqueArray(name, { maxLength: 2 }),
  edition: maybe(fc.constantFrom("2nd")),
  series: maybe(phrase),
  isbn: maybe(fc.constantFrom("978-0-00-000000-2")),
  language: maybe(fc.constantFrom("en", "Deutsch")),
  keywords: fc.uniqueArray(word, { maxLength: 3 }),
  note: maybe(phrase),
});

/** Kinds of which what a source names as the venue is who published them. */
const wholes: readonly unknown[] = ["book", "proceedings", "dissertation", "masters-thesis", "report"];

/** What each format can't hold, or holds only of some kinds. */
const lost: Readonly<Record<string, (entry: Entry) => readonly string[]>> = {
  ris: ({ type, publication }) => [
    ...(wholes.includes(type) ? ["venue", "publication.publisher"] : []),
    // A number of PubMed is the accession number.
    ...["publication.accession", "database"],
    ...(publication?.isbn === undefined ? [] : ["publication.issn"]),
  ],
  bibtex: ({ type }) => [
    ...(wholes.includes(type) ? ["venue", "publication.publisher"] : []),
    ...(["dataset", "software", "patent", "web-page"].includes(String(type)) ? ["venue"] : []),
  ],
  csl: () => [],
};

/** The words that say what became of a paper stand among its keywords, and its address beside its DOI. */
function comparable(entry: Entry, without: readonly string[]): Record<string, unknown> {
  const { key: _, url: __, publication = {}, files: ___, ...facts } = entry;
  const keywords = (publication.keywords ?? []).filter((each) => each !== "pending");
  const flat: Record<string, unknown> = {
    ...facts,
    ...Object.fromEntries(Object.entries(publication).map(([field, value]) => [`publication.${field}`, value])),
    ...{ "publication.keywords": keywords.length === 0 ? undefined : keywords },
  };
  return Object.fromEntries(
    Object.entries(flat).filter(([field, value]) => value !== undefined && !without.includes(field)),
  );
}

describe("a record that is imported, exported and imported again", () => {
  test.each([
    ["ris", "ris", risOf],
    ["bibtex", "bib", bibtexOf],
    ["csl", "json", cslOf],
  ] as const)("is the same in what %s can hold", async (format, ending, write) => {
    await fc.assert(
      fc.asyncProperty(
        entry,
        async ({
          doi,
          pmid,
          pmcid,
          publisher,
          place,
          editors,
          edition,
          series,
          isbn,
          language,
          keywords,
          note,
          ...facts
        }) => {
          const csl = fileOf("first.json", JSON.stringify([cslItem()]));
          const { papers } = await readListedPapers("first.json", csl);
          const kept = papers.map(({ record }) => ({ ...keptFacts(record), status: "pending" as const }));
          const first = (await readRecords(csl)).entries[0] as Entry;
          const again = (await readRecords(fileOf(`again.${ending}`, write(citedWorks(kept))))).entries[0] as Entry;
          const without = lost[format]?.(first) ?? [];
          expect(comparable(again, without)).toEqual(comparable(first, without));

          function cslItem(): object {
            const people = (names: readonly string[]) =>
              names.map((each) => ({ family: each.split(", ")[0], given: each.split(", ")[1] }));
            const kind = cslTypes[facts.type];
            return {
              ...{
                id: "lo2020",
                type: kind,
                title: facts.title,
                author: people(facts.authors),
                editor: people(editors),
              },
              ...(facts.type === "masters-thesis" ? { genre: "Master's thesis" } : {}),
              issued: { "date-parts": [(facts.date ?? "").split("-").filter(Boolean).map(Number)] },
              ...{ "container-title": facts.venue, volume: facts.volume, issue: facts.issue, page: facts.pages },
              ...{ abstract: facts.abstract, DOI: doi, PMID: pmid, PMCID: pmcid, publisher, "publisher-place": place },
              ...{ edition, "collection-title": series, ISBN: isbn, language, keyword: keywords.join(", "), note },
            };
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

const cslTypes: Readonly<Record<WorkType, string>> = {
  "journal-article": "article-journal",
  "proceedings-article": "paper-conference",
  "book-chapter": "chapter",
  book: "book",
  proceedings: "book",
  dissertation: "thesis",
  "masters-thesis": "thesis",
  report: "report",
  preprint: "article",
  dataset: "dataset",
  software: "software",
  patent: "patent",
  "web-page": "webpage",
};
