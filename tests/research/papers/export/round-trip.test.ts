import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bibtexOf } from "../../../../src/research/papers/export/bibtex.js";
import { type CitedWork, citedWorks, worksOf } from "../../../../src/research/papers/export/cited-work.js";
import { cslOf } from "../../../../src/research/papers/export/csl.js";
import { risOf } from "../../../../src/research/papers/export/ris.js";
import type { Paper, Rrd } from "../../../../src/research/generated/rrd.js";
import type { AuthorName } from "../../../../src/research/papers/person-name.js";
import { oneLine } from "../../../../src/engine/lib/sanitise.js";
import { read, type ReadWork } from "../../../support/documents/citation-reader.js";
import fc from "../../../support/runner/fast-check.js";
import { paper, rrdWith } from "../../../support/projects/research.js";

const writers = { bibtex: bibtexOf, ris: risOf, csl: cslOf } as const;
type Format = keyof typeof writers;

/**
 * Folders that this repository holds, not what a person has made beside them; RR_FOLDERS names more, with colons between
 * them.
 */
const folders = [
  "researches/sample-sim2real-transfer-dexterous-manipulation-2026-11-22",
  ...readdirSync("tests/fixtures/formats", { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name === "rrd.json")
    .map((entry) => entry.parentPath),
  ...(process.env["RR_FOLDERS"]?.split(":") ?? []),
];

/** A name as one string, in whatever parts a reader or we have it. */
const nameOf = (name: NonNullable<ReadWork["author"]>[number] | AuthorName): string => {
  const { literal, particle, family, given, suffix, ...rest } = name as Record<string, string | undefined>;
  const parts = literal === undefined ? [given, particle ?? rest["non-dropping-particle"], family, suffix] : [literal];
  return parts.filter((part) => part !== undefined && part !== "").join(" ");
};

/** The parts of a name, under the names that a reader has for them; RIS has the particle within the family name. */
function partsOf(name: AuthorName, format: Format): NonNullable<ReadWork["author"]>[number] {
  if ("literal" in name) return name;
  const { particle, family, ...rest } = name;
  if (particle === undefined) return name;
  return format === "ris"
    ? { ...rest, family: `${particle} ${family}` }
    : { ...rest, family, "non-dropping-particle": particle };
}

/** The names that a reader found. Where a format does not tell a group from a person, it has a family name alone. */
const namesIn = ({ author = [] }: ReadWork) =>
  author.map((name) => (Object.keys(name).join() === "family" ? { literal: name.family } : name));

const facts = ({ title, author = [], issued, DOI }: ReadWork) => ({
  title,
  authors: author.map(nameOf),
  year: issued?.["date-parts"]?.[0]?.[0],
  doi: DOI,
});
const expected = ({ title, authors, year, doi }: CitedWork) => ({ title, authors: authors.map(nameOf), year, doi });

describe.each(Object.entries(writers) as [Format, (works: readonly CitedWork[]) => string][])("%s", (format, write) => {
  test.each(folders)("titles, authors, years and DOIs of %s come back", (folder) => {
    const works = worksOf(JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd);
    const papers = (JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd).papers_pool;
    const found = read(write(works), format);
    expect(found.map(facts)).toEqual(works.map(expected));
    expect(found.map(({ title }) => title)).toEqual(papers.map(({ title }) => oneLine(title)));
    expect(found.map(({ id }) => id)).toEqual(works.map(({ key }) => key));
    expect(found.map(namesIn)).toEqual(works.map(({ authors }) => authors.map((name) => partsOf(name, format))));
  });

  test("family names, given names, particles, suffixes and groups come back as such", () => {
    const names: readonly (readonly [string, AuthorName])[] = [
      ["Guy Paré", { family: "Paré", given: "Guy" }],
      ["van Dijk JP", { particle: "van", family: "Dijk", given: "JP" }],
      ["Jan van der Berg", { particle: "van der", family: "Berg", given: "Jan" }],
      ["de Lamo Castrillo, Víctor", { particle: "de", family: "Lamo Castrillo", given: "Víctor" }],
      ["Vincent Van Gogh", { family: "Van Gogh", given: "Vincent" }],
      ["Lee, Ann B., Jr.", { family: "Lee", given: "Ann B.", suffix: "Jr." }],
      ["O'Neill-Brown, X.-Y.", { family: "O'Neill-Brown", given: "X.-Y." }],
      ["García Márquez, José María", { family: "García Márquez", given: "José María" }],
      ["The ATLAS Collaboration", { literal: "The ATLAS Collaboration" }],
      ["Society of Hands and Arms", { literal: "Society of Hands and Arms" }],
      ["王小明", { literal: "王小明" }],
    ];
    const works = citedWorks([paper("p", { authors: names.map(([name]) => name) })]);
    expect(works[0]?.authors).toEqual(names.map(([, parts]) => parts));
    expect(read(write(works), format).flatMap(namesIn)).toEqual(names.map(([, parts]) => partsOf(parts, format)));
  });

  test("a DOI comes back sign by sign", () => {
    const dois = [
      "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2",
      "10.1000/a_b#c%20d&e$f~g^h",
      "10.1007/978-3-031-08421-8_33",
      "10.1016/S0140-6736(20)30183-5",
      "10.1000/ünï-cödé",
    ];
    const works = citedWorks(dois.map((doi, index) => paper(`p${index}`, { identifiers: { doi } })));
    expect(read(write(works), format).map(({ DOI }) => DOI)).toEqual(dois);
  });

  test("Unicode, braces, dollars, percent signs, dashes, quotation marks and mark-up come back", () => {
    const titles = [
      "A $5 {robot} hand: 50 % of #1_a & b^2 ~ c\\d",
      "Über „Hände“ – naïve façade—日本語の題 عنوان 🤖",
      "-- --- ``quoted'' 'single' ?` !` \"double\"",
      "Unbalanced } brace { here",
      "\\textbf{Bold} $\\alpha_{1}$ <i>in vivo</i> https://example.org/a_b",
      "TI - not a tag, ER - neither",
      "10% off, @article{x, and more}",
      "a".repeat(3000),
    ];
    const works = citedWorks(titles.map((title, index) => paper(`p${index}`, { title })));
    expect(read(write(works), format).map(({ title }) => title)).toEqual(titles);
  });

  test("any title comes back, whatever signs it holds", () => {
    fc.assert(
      fc.property(fc.array(nastyText, { minLength: 1, maxLength: 4 }), (titles) => {
        const works = citedWorks(titles.map((title, index) => paper(`p${index}`, { title })));
        expect(read(write(works), format).map(({ title }) => title)).toEqual(works.map(({ title }) => title));
      }),
      { numRuns: 150 },
    );
  });

  test("any name comes back, however odd", () => {
    fc.assert(
      fc.property(fc.array(nastyName, { minLength: 1, maxLength: 4 }), (authors) => {
        const works = citedWorks([paper("p", { authors })]);
        const withoutCommas = (name: string) => (format === "ris" ? name.replace(/\s*,\s*/g, " ").trim() : name);
        expect(read(write(works), format).map((work) => facts(work).authors)).toEqual([
          (works[0]?.authors ?? []).map(nameOf).map(withoutCommas),
        ]);
      }),
      { numRuns: 150 },
    );
  });
});

const pieces = ["{", "}", "$", "\\", "%", "&", "#", "_", "^", "~", "--", "''", "``", '"', "@", "=", ",", " and ", " "];
const word = fc.oneof(
  fc.constantFrom(...pieces),
  fc.constantFrom("ER  - ", "TY  - JOUR", "\n", "\r\n", "\u202e", "\u200b", "\\begin{x}", "\\end{x}", "$x^2$", "<b>"),
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom("robot", "Über", "日本", "عنوان"),
);
const nastyText = fc
  .array(word, { minLength: 1, maxLength: 12 })
  .map((words) => words.join(""))
  .filter((text) => oneLine(text) !== "");
const nastyName = fc.oneof(
  fc
    .tuple(fc.constantFrom("Ann", "J. P.", "Élan", "X.-Y."), fc.constantFrom("", "van der ", "de la ", "O'"), nastyText)
    .map(([given, particle, rest]) => `${given} ${particle}${rest}`),
  fc.constantFrom("OpenAI", "The ATLAS Collaboration", "Lee, Ann, Jr.", "van Dijk JP", "王小明", "Müller, Élan"),
);

test("papers of one author and year have keys of their own", () => {
  const statuses: readonly Paper["status"][] = ["rejected", "presented", "pending", "presented"];
  const rrd = rrdWith(statuses.map((status, index) => paper(`p${index}`, { status })));
  expect(worksOf(rrd).map(({ key }) => key)).toEqual(["author2026", "author2026b", "author2026c", "author2026d"]);
});

test("an address that no browser opens is left out", () => {
  const works = citedWorks([paper("p", { url: "sample:p.md", pdf_url: "javascript:alert(1)" })]);
  for (const write of Object.values(writers)) expect(write(works)).not.toMatch(/sample:|javascript/);
});

test("what a service calls an article in arXiv is a preprint", () => {
  const [inServer, inJournal] = citedWorks([
    paper("p", { publication_type: "article", venue: "arXiv (Cornell University)" }),
    paper("q", { publication_type: "article", venue: "Soft Robotics" }),
  ]);
  expect([inServer?.kind, inJournal?.kind]).toEqual(["preprint", "article"]);
});

test("RIS tells an address once", () => {
  const arxiv = { identifiers: { arxiv: "2401.00001" }, url: "https://arxiv.org/abs/2401.00001" };
  const addresses = (over: object) => risOf(citedWorks([paper("p", over)])).match(/^UR .*(?=\r)/gm);
  expect(addresses(arxiv)).toEqual(["UR  - https://arxiv.org/abs/2401.00001"]);
  expect(addresses({ ...arxiv, url: "https://example.org/p" })).toHaveLength(2);
});

test("RIS tells the decision, the tags and the PDF, and folds no line", () => {
  const rrd = rrdWith(
    [paper("p", { status: "presented", pdf_url: "https://example.org/p.pdf", abstract: "x ".repeat(900) })],
    { insights: [{ insight: "i", paper_id: "p", tags: ["grasp", "touch"] }] },
  );
  const lines = risOf(worksOf(rrd)).trimEnd().split("\r\n");
  expect(lines.filter((line) => line.startsWith("KW"))).toEqual(["KW  - included", "KW  - grasp", "KW  - touch"]);
  expect(lines).toContain("L1  - https://example.org/p.pdf");
  expect(lines.filter((line) => !/^[A-Z][A-Z\d] {2}-/.test(line))).toEqual([]);
});

test("a DOI that stands in the address alone is told", () => {
  const [work] = citedWorks([paper("p", { url: "https://doi.org/10.1145/3625468.3652198" })]);
  expect(work?.doi).toBe("10.1145/3625468.3652198");
});

test("a month or a day that no calendar has is left out of every date", () => {
  const dateOf = (date: string) => citedWorks([paper("p", { date })])[0]?.date;
  expect(["2024-03-31", "2024-13-45", "2024-06-00", "2024-06", "soon"].map(dateOf)).toEqual([
    ...[[2024, 3, 31], [2024], [2024, 6], [2024, 6], undefined],
  ]);
});
