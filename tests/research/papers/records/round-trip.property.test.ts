import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bibtexOf } from "../../../../src/research/papers/export/bibtex.js";
import { citedWorks, type Outcome, type TracedRecord } from "../../../../src/research/papers/export/cited-work.js";
import { cslOf } from "../../../../src/research/papers/export/csl.js";
import { recordsAsCsv } from "../../../../src/research/papers/export/csv.js";
import { risOf } from "../../../../src/research/papers/export/ris.js";
import { storedFields } from "../../../../src/research/papers/paper-record.js";
import type { Entry, RawEntry, WorkType } from "../../../../src/research/papers/records/entry.js";
import { recordOf } from "../../../../src/research/papers/records/listed-papers.js";
import { entryOf } from "../../../../src/research/papers/records/normalise-entry.js";
import { readRecords } from "../../../../src/research/papers/records/read-records.js";
import fc from "../../../support/runner/fast-check.js";
import { rrdWith } from "../../../support/projects/research.js";

/** The table of docs/sources.md: for each format, what it says of each field. */
const [formats = [], ...rows] =
  readFileSync("docs/sources.md", "utf8")
    .split("\n## What each format holds\n")[1]
    ?.split("\n")
    .filter((line) => line.startsWith("|") && !line.startsWith("| ---"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .map((cells, index) => (index === 0 ? cells.slice(1) : cells)) ?? [];
const fields = rows.map(([name = ""]) => name.replaceAll("`", ""));
const cellOf = (format: string, field: string): string =>
  rows[fields.indexOf(field)]?.[formats.indexOf(format) + 1] ?? "";

/** Whether the table says that the field of this record comes back. */
function isHeld(format: string, field: string, facts: Facts): boolean {
  const cell = cellOf(format, field);
  const named = [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "");
  if (cell === "yes" || cell === "no") return cell === "yes";
  if (cell.startsWith("not of ")) return !named.includes(String(facts["type"]));
  if (cell.startsWith("only without ")) return named.every((name) => facts[name] === undefined);
  throw new Error(`The table says '${cell}' of ${field} in ${format}.`);
}

type Facts = Readonly<Record<string, unknown>>;

/** All that a reader told of a work, by the names of the table. */
function factsOf({ key: _, ownKey, identifiers, publication, ...facts }: Entry): Facts {
  return { ...facts, key: ownKey, ...identifiers, ...publication };
}

const folder = mkdtempSync(join(tmpdir(), "rr-round-trip-"));
async function readAs(name: string, text: string): Promise<Facts> {
  const path = join(folder, name);
  writeFileSync(path, text);
  return factsOf((await readRecords(path)).entries[0] as Entry);
}

/** A word of letters that every format holds, with signs that each writes in its own way. */
const word = fc.stringMatching(/^[A-Z][a-zäöüßéèçñøåłž]{1,8}$/);
const phrase = fc
  .array(
    fc.oneof(
      word,
      fc.constantFrom(
        "of",
        "&",
        "100 %",
        "A_B",
        "#3",
        "x^2",
        "{a}",
        "~",
        "5 $",
        "<0.05",
        "“so”",
        "dose-response",
        "a; b",
        "漢字",
        "'=1+1",
      ),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .chain((words) => fc.constantFrom("Study", "=1+", "'@", "-").map((start) => `${start} ${words.join(" ")}`));
const name = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(word, word).map(([family, given]) => `${family}, ${given}`) },
  fc.constantFrom(
    "van der Berg, Jan",
    "Lee, Ann, Jr.",
    "The ATLAS Collaboration",
    "World Bank,",
    "Médecins sans frontières,",
    "Plato",
    "García Márquez, José María",
  ),
);
const types: readonly WorkType[] = [
  ...(["journal-article", "proceedings-article", "book-chapter", "book", "proceedings", "dissertation"] as const),
  ...(["masters-thesis", "report", "preprint", "dataset", "software", "patent", "web-page"] as const),
];
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const one = <Value>(...values: readonly Value[]) => maybe(fc.constantFrom(...values));

/** A record in the fields that readers take out of files. */
const raw: fc.Arbitrary<RawEntry> = fc.record({
  title: phrase,
  authors: fc.uniqueArray(name, { maxLength: 4 }),
  editors: fc.uniqueArray(name, { maxLength: 2 }),
  dates: fc.constantFrom([], ["2001"], ["2001-02"], ["2020-12-31"]),
  venue: maybe(phrase),
  volume: one("3", "12A"),
  issue: one("1", "2-3"),
  pages: one("12-34", "e0123"),
  abstract: maybe(phrase),
  dois: fc.constantFrom([], ["10.1000/abc_1"], ["10.1000/(sici)1-2(3)4"]),
  arxiv: fc.constantFrom([], ["2106.00001"], ["cs/9711201"]),
  pmid: one("12345678"),
  pmcid: one("PMC123456"),
  urls: fc.constantFrom([], ["https://example.org/a_b?c=d"]),
  type: fc.constantFrom(...types),
  numbers: fc.constantFrom([], ["978-0-00-000000-2"], ["1234-5678"], ["978-0-00-000000-2", "1234-567X"]),
  keywords: fc.uniqueArray(fc.oneof(word, fc.constant("Diabetes Mellitus, Type 2")), { maxLength: 3 }),
  note: maybe(phrase),
  publisher: maybe(phrase),
  place: maybe(word),
  edition: one("2nd"),
  series: maybe(phrase),
  language: one("en", "Deutsch"),
  accession: one("WOS:000123", "2-s2.0-85"),
  database: one("Embase"),
  files: fc.constantFrom([], ["files/a.pdf"]),
  retracted: fc.boolean(),
});

/** What may have become of a record, which is no keyword and no note of it when it is read again. */
const anyOutcome = fc.constantFrom<Outcome>(
  { stage: "screening", decision: "open" },
  { stage: "full text", decision: "included", decidedBy: "a person", reason: "It fits; well, mostly." },
  { stage: "screening", decision: "excluded", criterion: "c2 (exclude: animals)", quote: "In mice." },
);

const asCsv = (records: readonly TracedRecord[]): string =>
  recordsAsCsv(rrdWith([]), records, { headers: [], cells: () => [] });

describe("a record that is imported, exported and imported again", () => {
  test.each([
    ["RIS", "ris", risOf],
    ["BibTeX", "bib", bibtexOf],
    ["CSL-JSON", "json", cslOf],
    ["CSV", "csv", undefined],
  ] as const)("has in %s the fields that the table says, and no others", async (format, ending, write) => {
    await fc.assert(
      fc.asyncProperty(raw, anyOutcome, async (given, outcome) => {
        const entry = entryOf(given, "entry 1", "lo2020") as Entry;
        const first = factsOf(entry);
        const { status: _, ...paper } = { ...storedFields(recordOf(entry, "Embase")), status: undefined, outcome };
        const records = [paper as TracedRecord];
        const found = await readAs(
          `again.${ending}`,
          write === undefined ? asCsv(records) : write(citedWorks(records)),
        );
        for (const field of new Set([...fields, ...Object.keys(first), ...Object.keys(found)])) {
          expect(fields, "fields of the table").toContain(field);
          const held = isHeld(format, field, first);
          if (held) expect([field, found[field]]).toEqual([field, first[field]]);
          else if (first[field] !== undefined) expect([field, found[field]]).not.toEqual([field, first[field]]);
        }
      }),
      { numRuns: 100 },
    );
  });
});

/** The fields of one work, as the formats that are only read can tell them. */
const work = {
  key: "lo2020",
  title: "Zinc in shrews",
  authors: ["Lo, Ann", "Bo, Cid", "World Bank"],
  editors: ["Editor, Ed"],
  groups: ["World Bank"],
  venue: "Journal of shrews",
  volume: "3",
  issue: "2",
  pages: "12-34",
  date: "2020-03",
  abstract: "We fed zinc.",
  doi: "10.1000/zinc.1",
  arxiv: "2106.00001",
  pmid: "12345678",
  pmcid: "PMC123456",
  url: "https://example.org/zinc",
  publisher: "Press",
  place: "Town",
  edition: "2nd",
  series: "A series",
  isbn: "978-0-00-000000-2",
  issn: "1234-5678",
  language: "English",
  keywords: ["Zinc", "Shrews"],
  note: "In two parts",
  accession: "ABC:123",
  database: "Embase",
  files: ["zinc.pdf"],
  type: "journal-article",
};

const medline = `PMID- 12345678
DP  - 2020 Mar
TI  - Zinc in shrews.
AB  - We fed zinc.
FAU - Lo, Ann
AU  - Lo A
FAU - Bo, Cid
CN  - World Bank
FED - Editor, Ed
LA  - English
PT  - Journal Article
PL  - Town
PB  - Press
JT  - Journal of shrews
CTI - A series
EN  - 2nd
IS  - 1234-5678 (Print)
ISBN- 978-0-00-000000-2
VI  - 3
IP  - 2
PG  - 12-34
LID - 10.1000/zinc.1 [doi]
PMC - PMC123456
MH  - Zinc
OT  - Shrews
GN  - In two parts
SO  - Journal of shrews. 2020 Mar;3(2):12-34.
`;

const webOfScience = `FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Lo, A
   Bo, C
AF Lo, Ann
   Bo, Cid
CA World Bank
BE Editor, Ed
TI Zinc in shrews
SO Journal of shrews
SE A series
LA English
DT Article
DE Zinc; Shrews
AB We fed zinc.
PU Press
PI Town
SN 1234-5678
BN 978-0-00-000000-2
PD MAR
PY 2020
VL 3
IS 2
BP 12
EP 34
DI 10.1000/zinc.1
PM 12345678
UR https://example.org/zinc
UT ABC:123
ER
EF
`;

const endNote = `%0 Journal Article
%A Lo, Ann
%A Bo, Cid
%A World Bank,
%E Editor, Ed
%T Zinc in shrews
%J Journal of shrews
%S A series
%V 3
%N 2
%P 12-34
%D 2020
%8 Mar
%X We fed zinc.
%I Press
%C Town
%7 2nd
%@ 1234-5678
%@ 978-0-00-000000-2
%G English
%K Zinc
%K Shrews
%Z In two parts
%R 10.1000/zinc.1
%U https://example.org/zinc
%U https://arxiv.org/abs/2106.00001
%U https://pubmed.ncbi.nlm.nih.gov/12345678/
%U https://pmc.ncbi.nlm.nih.gov/articles/PMC123456/
%M ABC:123
%~ Embase
%F lo2020
%> zinc.pdf
`;

const endNoteXml = `<?xml version="1.0"?><xml><records><record><ref-type name="Journal Article">17</ref-type><contributors>
<authors><author><style face="normal">Lo, Ann</style></author><author>Bo, Cid</author><author>World Bank,</author></authors><secondary-authors>
<author>Editor, Ed</author></secondary-authors></contributors><titles><title>Zinc in shrews</title>
<secondary-title>Journal of shrews</secondary-title><tertiary-title>A series</tertiary-title></titles>
<volume>3</volume><number>2</number><pages>12-34</pages><dates><year>2020</year><pub-dates><date>Mar</date></pub-dates></dates>
<abstract>We fed zinc.</abstract><publisher>Press</publisher><pub-location>Town</pub-location><edition>2nd</edition>
<isbn>1234-5678; 978-0-00-000000-2</isbn><language>English</language><keywords><keyword>Zinc</keyword><keyword>Shrews</keyword>
</keywords><notes>In two parts</notes><electronic-resource-num>10.1000/zinc.1</electronic-resource-num><custom2>PMC123456</custom2>
<urls><related-urls><url>https://example.org/zinc</url><url>https://arxiv.org/abs/2106.00001</url>
<url>https://pubmed.ncbi.nlm.nih.gov/12345678/</url></related-urls>
<pdf-urls><url>internal-pdf://zinc.pdf</url></pdf-urls></urls><accession-num>ABC:123</accession-num>
<remote-database-name>Embase</remote-database-name><label>lo2020</label></record></records></xml>`;

describe("a format that is only read", () => {
  test.each([
    ["MEDLINE", "a.nbib", medline, { accession: "12345678", database: "PubMed" }],
    ["Web of Science", "a.ciw", webOfScience, { database: "Web of Science" }],
    ["EndNote", "a.enw", endNote, {}],
    ["EndNote XML", "a.xml", endNoteXml, {}],
  ])("%s tells the fields that the table says, and no others", async (format, name, text, own) => {
    const found = await readAs(name, text);
    for (const [field, value] of Object.entries({ ...work, ...own }))
      expect([field, found[field]]).toEqual([field, isHeld(format, field, work) ? value : undefined]);
  });
});
