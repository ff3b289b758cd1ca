import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRecords } from "../../../../src/research/papers/records/read-records.js";

function fileOf(name: string, text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "rr-bib-")), name);
  writeFileSync(path, text);
  return path;
}

const bib = `Some remark before the first entry.
@string{jot = "Journal of Touch"}
@comment{ignored, title = {No work}}
@article{sample2024,
  title = {A {GPU} study of M{\\"u}ller's <i>things</i>},
  author = {van der Berg, Jan and M{\\"u}ller, J{\\'e}r{\\^o}me and {The Touch Collaboration}},
  journal = jot # { B}, year = 2024, month = may,
  doi = {https://doi.org/10.1000/ABC.1},
  abstract = {What it is
    about.},
}
@misc{pre, title={A preprint}, eprint={2401.12345v2}, archivePrefix={arXiv}, pmid = {77}}
`;

describe("a bibliography file", () => {
  test("of BibTeX gives title, authors, date, venue, abstract and identifiers of each entry", async () => {
    const { entries, broken } = await readRecords(fileOf("a.bib", bib));
    expect(broken).toEqual({ count: 0, examples: [] });
    expect(entries).toEqual([
      {
        key: "sample2024",
        ownKey: "sample2024",
        title: "A GPU study of Müller's things",
        authors: ["van der Berg, Jan", "Müller, Jérôme", "The Touch Collaboration"],
        date: "2024-05",
        venue: "Journal of Touch B",
        type: "journal-article",
        abstract: "What it is about.",
        identifiers: { doi: "10.1000/abc.1" },
      },
      {
        key: "pre",
        ownKey: "pre",
        title: "A preprint",
        authors: [],
        type: "preprint",
        identifiers: { arxiv: "2401.12345", pmid: "77" },
      },
    ]);
  });

  test.each([
    [
      "OpenAlex",
      {
        results: [
          {
            id: "https://openalex.org/W1",
            doi: "https://doi.org/10.1000/x",
            title: "On touch",
            publication_year: 2020,
            publication_date: "2020-05-01",
            ids: { pmid: "https://pubmed.ncbi.nlm.nih.gov/77" },
            authorships: [{ author: { display_name: "Ann Lee" } }, { author: { display_name: "Ben Roe" } }],
            primary_location: { source: { display_name: "J Touch" } },
            biblio: { volume: "3", issue: null, first_page: "1", last_page: "9" },
            abstract_inverted_index: { about: [1], It: [0], touch: [2] },
          },
        ],
      },
    ],
    [
      "Semantic Scholar",
      {
        data: [
          {
            paperId: "7c",
            externalIds: { DOI: "10.1000/x", PubMed: "77" },
            title: "On touch",
            abstract: "It about touch",
            venue: "J Touch",
            journal: { name: "J Touch", volume: "3", pages: "1-9" },
            publicationDate: "2020-05-01",
            year: 2020,
            authors: [{ name: "Ann Lee" }, { name: "Ben Roe" }],
          },
        ],
      },
    ],
    [
      "Europe PMC",
      {
        resultList: {
          result: [
            {
              source: "MED",
              pmid: "77",
              doi: "10.1000/x",
              title: "On touch",
              authorString: "Ann Lee, Ben Roe",
              pubYear: "2020",
              firstPublicationDate: "2020-05-01",
              journalInfo: { volume: "3", journal: { title: "J Touch" } },
              pageInfo: "1-9",
              abstractText: "<h4>It</h4>about touch",
            },
          ],
        },
      },
    ],
  ])("of the answers of %s keeps all that a table of them would", async (_, answer) => {
    const { entries } = await readRecords(fileOf("a.json", JSON.stringify(answer)));
    expect(entries).toMatchObject([
      {
        title: "On touch",
        authors: ["Ann Lee", "Ben Roe"],
        date: expect.stringMatching(/^2020/),
        venue: "J Touch",
        volume: "3",
        pages: "1-9",
        abstract: "It about touch",
        identifiers: { doi: "10.1000/x", pmid: "77" },
      },
    ]);
  });

  test("of a list that a script has written is read with its DOI in capitals, however deep another value is", async () => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const text = `[{"title": "On touch", "DOI": "10.1000/x", "authors": ["Ann Lee"], "year": 2020, "rest": ${deep}}]`;
    expect((await readRecords(fileOf("a.json", text))).entries).toMatchObject([
      { title: "On touch", authors: ["Ann Lee"], date: "2020", identifiers: { doi: "10.1000/x" } },
    ]);
  });

  test("of RIS and of CSL-JSON is read too, with line ends of any system", async () => {
    const ris =
      "TY  - JOUR\r\nTI  - On touch\r\nAU  - Lee, Ann\r\nPY  - 2020/05/01\r\nJO  - J Touch\r\nDO  - 10.1000/x\r\nER  - \r\n";
    const wanted = { title: "On touch", authors: ["Lee, Ann"], identifiers: { doi: "10.1000/x" } };
    expect((await readRecords(fileOf("a.ris", `\uFEFF${ris}${ris}`))).entries).toMatchObject([wanted, wanted]);
    const csl = {
      id: "lee",
      title: "On <i>touch</i>",
      DOI: "10.1000/X",
      PMID: 12,
      author: [{ family: "Lee", given: "Ann" }, { literal: "The Group" }, null],
      issued: { "date-parts": [["2020", 5]] },
    };
    for (const value of [[csl], csl, { items: [csl] }])
      expect((await readRecords(fileOf("a.json", JSON.stringify(value)))).entries).toEqual([
        {
          key: "lee",
          ownKey: "lee",
          title: "On touch",
          authors: ["Lee, Ann", "The Group"],
          date: "2020-05",
          identifiers: { doi: "10.1000/x", pmid: "12" },
        },
      ]);
  });

  test("with broken entries loses none but them, and names them", async () => {
    const text = [
      bib,
      "@article{open, title = {It never ends}, year = 2020\n",
      "@article{nocomma title={x}}\n",
      "@article{untitled, year = 2020}\n",
      "@article{known, author = {Lo, Ann}, year = 2020}\n",
      `@article{deep, title={${"{".repeat(20_000)}Deep${"}".repeat(20_000)}}}\n`,
      `@article{long, title={${"x".repeat(300_000)}}}\n`,
      "@book{last, title={The last}} @book{sameline, title={On the same line}}",
    ].join("");
    const { entries, broken, fields } = await readRecords(fileOf("b.bib", text));
    expect(entries.map(({ key }) => key)).toEqual([
      ...["sample2024", "pre", "open", "nocomma", "known", "deep", "last", "sameline"],
    ]);
    expect(entries[2]).toMatchObject({ title: "It never ends", date: "2020" });
    expect(broken).toEqual({
      count: 2,
      examples: [
        "line 15 (untitled): it has neither title, author nor identifier",
        "line 18 (long): too long for an entry; its end may be missing",
      ],
    });
    expect(fields.examples).toContain("line 13 (open): its end is missing");
    expect(fields.examples).toContain("line 16 (known): it has no title");
  });

  test("that is not there is said to be missing", async () => {
    await expect(readRecords("/nowhere/a.ris")).rejects.toThrow(/^There is no file \/nowhere\/a\.ris\.$/);
  });

  test("names twenty broken entries and counts the others", async () => {
    const many = Array.from({ length: 60 }, (_, index) => `@article{x${index}, year={2001}}\n`).join("");
    const { broken } = await readRecords(fileOf("c.bib", `${bib}${many}`));
    expect([broken.count, broken.examples.length]).toEqual([60, 20]);
  });

  test.each([
    ["a.bib", "no entry at all", /contains no work that can be read/],
    ["a.json", "{", /is not valid JSON/],
    ["a.json", "[1, null]", /contains no work that can be read \(line 1: it is not an object/],
    ["a.ris", "TY  - JOUR\nER  - \n", /contains no work/],
  ])("%s holding %j is refused with a reason", async (name, text, reason) => {
    await expect(readRecords(fileOf(name, text))).rejects.toThrow(reason);
  });

  test("never asks the network, whatever stands in it", async () => {
    const fetched: unknown[] = [];
    const before = globalThis.fetch;
    globalThis.fetch = ((...args: unknown[]) => {
      fetched.push(args);
      return Promise.reject(new Error("no network"));
    }) as typeof fetch;
    try {
      const csl = [
        { id: "a", title: "https://example.org/a", DOI: "https://doi.org/10.1000/x", URL: "https://example.org" },
      ];
      await readRecords(fileOf("a.json", JSON.stringify(csl)));
      await readRecords(fileOf("a.bib", "@misc{a, title = {https://example.org/b.bib}, url={https://example.org/c}}"));
    } finally {
      globalThis.fetch = before;
    }
    expect(fetched).toEqual([]);
  });
});

test("an entry of BibTeX begins wherever no other one stands, but not behind a per cent sign", async () => {
  const text = [
    "Notes of mine @book{zero, title = {Nothing}, year = 2000}",
    "% @article{gone, title = {What was taken out}, year = 1999}",
    "write to me@example{now} @misc{one, title = {Something}} and @misc{two, title = {More of it}}",
    "@article{three, title = {The rest}, note = {see @misc{four, of others}}}",
  ].join("\n");
  const { entries } = await readRecords(fileOf("a.bib", text));
  expect(entries.map(({ title }) => title)).toEqual(["Nothing", "Something", "More of it", "The rest"]);
});
