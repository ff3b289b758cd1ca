import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dateOf } from "../../../../src/text/dates.js";
import type { Entry } from "../../../../src/research/papers/records/entry.js";
import { recordOf } from "../../../../src/research/papers/records/listed-papers.js";
import { bibtexOf } from "../../../../src/research/papers/export/bibtex.js";
import { citedWorks } from "../../../../src/research/papers/export/cited-work.js";
import { cslOf } from "../../../../src/research/papers/export/csl.js";
import { risOf } from "../../../../src/research/papers/export/ris.js";
import { storedFields } from "../../../../src/research/papers/paper-record.js";
import { isRecordFile, readRecords } from "../../../../src/research/papers/records/read-records.js";

function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(mkdtempSync(join(tmpdir(), "rr-records-")), name);
  writeFileSync(path, content);
  return path;
}
const entriesOf = async (name: string, content: string | Uint8Array): Promise<readonly Entry[]> =>
  (await readRecords(fileOf(name, content))).entries;
const ris = (...lines: readonly string[]): string => `${["TY  - JOUR", ...lines, "ER  - "].join("\r\n")}\r\n`;

describe("a RIS file", () => {
  test("may name a DOI twice, and its year by PY or Y1, never by DA alone", async () => {
    const [entry] = await entriesOf(
      "a.ris",
      ris("TI  - T", "DO  - 10.1000/A", "DO  - 10.1000/a", "PY  - 0000", "Y1  - 2019//", "DA  - 10 15"),
    );
    expect(entry).toMatchObject({ identifiers: { doi: "10.1000/a" }, date: "2019-10-15" });
  });

  test("keeps what holds the sign of a tag, and goes on with a value in the next line", async () => {
    const [entry] = await entriesOf("a.ris", ris("TI  - Sleep  - a question", "  of dose", "AB  - Aim  - to test."));
    expect(entry).toMatchObject({ title: "Sleep - a question of dose", abstract: "Aim - to test." });
  });

  test("may have its tags in small letters", async () => {
    const text = "ty  - JOUR\nti  - First\nau  - Lo, Ann\npy  - 2011\ner  - \n\nty  - JOUR\nti  - Second\ner  - \n";
    expect(await entriesOf("a.ris", text)).toMatchObject([
      { title: "First", authors: ["Lo, Ann"], date: "2011", type: "journal-article" },
      { title: "Second" },
    ]);
  });

  test("gives all authors in their order, whichever tags and signs part them", async () => {
    const [entry] = await entriesOf(
      "a.ris",
      ris(
        "TI  - T",
        "A1  - First, Ann",
        "AU  - Second, Bob; Third, Cid",
        "AU  - Fourth, Dee;",
        "      Fifth, Eve",
        "AU  - others",
        "AU  - &NA;",
        "A2  - Editor, Ed",
      ),
    );
    expect(entry?.authors).toEqual(["First, Ann", "Second, Bob", "Third, Cid", "Fourth, Dee", "Fifth, Eve"]);
    expect(entry?.publication?.editors).toEqual(["Editor, Ed"]);
  });

  test.each([
    ["Sample A, van Dijk JP, Third C.", ["Sample A", "van Dijk JP", "Third C."]],
    ["Sample, Ann and Example, Bob", ["Sample, Ann", "Example, Bob"]],
    ["Lee, Ann, Jr.", ["Lee, Ann, Jr."]],
    ["Smith, J. A.", ["Smith, J. A."]],
    ["Department of Health, Education and Welfare, US", ["Department of Health, Education and Welfare, US"]],
    ["Barnes and Noble", ["Barnes and Noble"]],
    ["Lo,Ann", ["Lo, Ann"]],
  ])("gives the persons in '%s'", async (line, authors) => {
    expect((await entriesOf("a.ris", ris("TI  - T", `AU  - ${line}`)))[0]?.authors).toEqual(authors);
  });

  test.each([
    ["M3  - doi:10.1000/b", { doi: "10.1000/b" }],
    ["ID  - 10.1000/c_1", { doi: "10.1000/c_1" }],
    ["N1  - Cited by 3. doi: 10.1000/d", { doi: "10.1000/d" }],
    ["L3  - http://dx.doi.org/10.1000/e", { doi: "10.1000/e" }],
    ["UR  - https://link.example.org/doi/abs/10.1000/f", { doi: "10.1000/f" }],
    ["UR  - https://arxiv.org/abs/2401.00001", { arxiv: "2401.00001" }],
    ["C2  - PMC1234567", { pmcid: "PMC1234567" }],
    ["UR  - https://pubmed.ncbi.nlm.nih.gov/12345678/", { pmid: "12345678" }],
    ["AN  - 2020-0001", {}],
    ["AN  - PMID:12345678", { pmid: "12345678" }],
    ["DO  - 10.1000/g; 10.1000/h", { doi: "10.1000/g" }],
    ["DO  - 10.1000/i [doi]", { doi: "10.1000/i" }],
    ["DO  - 10.1000/cut off", {}],
    ["UR  - https://publisher.example.org/article/10.1000/j.pdf?x=1", { doi: "10.1000/j" }],
    ["UR  - https://publisher.example.org/10.1000/j/or-more", {}],
    ["JO  - arXiv preprint arXiv:2401.00001", { arxiv: "2401.00001" }],
    ["M1  - arXiv:2401.00001", { arxiv: "2401.00001" }],
    ["N1  - Language: English. PMID: NLM12345678.", { pmid: "12345678" }],
  ])("tells an identifier by %s", async (line, identifiers) => {
    expect((await entriesOf("a.ris", ris("TI  - T", line)))[0]?.identifiers).toEqual(identifiers);
  });

  test.each([
    [
      "Cochrane's own tags",
      ["NO  - 4", "PG  - 11‐19", "US  - https://e.org/a"],
      { issue: "4", pages: "11-19", url: "https://e.org/a" },
    ],
    ["a month in words between slashes", ["Y1  - 2020/Mar//"], { date: "2020-03" }],
    [
      "a resolver's address before the work's",
      ["L2  - http://sfx.e.org/x", "UR  - https://e.org/work"],
      { url: "https://e.org/work" },
    ],
    ["the number of an article", ["C7  - 123456"], { pages: "123456" }],
    [
      "identifiers in a note",
      ["N1  - PMID: 123", "N1  - PMCID: PMC45"],
      { identifiers: { pmid: "123", pmcid: "PMC45" } },
    ],
    ["stars of main headings", ["KW  - *zinc"], { publication: { keywords: ["zinc"] } }],
    ["Embase's own number", ["U2  - L620000001"], { publication: { accession: "L620000001" } }],
    ["EBSCO's code of a database", ["DB  - ccm", "DP  - EBSCOhost"], { database: "EBSCOhost ccm" }],
    [
      "a number of PubMed as Ovid's only one",
      ["DB  - Ovid MEDLINE(R)", "ID  - 32011223"],
      { identifiers: { pmid: "32011223" } },
    ],
    ["an address without its protocol", ["UR  - www.e.org/a"], { url: "http://www.e.org/a" }],
    ["letters before its pages", ["SP  - pp. 11-19"], { pages: "11-19" }],
    ["a sign for more pages", ["SP  - 11", "EP  - +"], { pages: "11" }],
    ["a first page that ends with a dash", ["SP  - 11-", "EP  - 19"], { pages: "11-19" }],
    ["words in place of pages", ["SP  - no pagination", "EP  - 9"], { pages: "9" }],
    ["an ISSN without its hyphen", ["SN  - 1234567X (ISSN)"], { publication: { issn: "1234-567X" } }],
    ["DBLP's number of a person", ["AU  - Bob Example 0002"], { authors: ["Bob Example"] }],
    ["the volume of IEEE and CNKI", ["VO  - 12"], { volume: "12" }],
    ["the name of a preprint server", ["JF  - medRxiv"], { type: "preprint" }],
    ["signs encoded in a DOI", ["DO  - 10.1000/X%28Y%29"], { identifiers: { doi: "10.1000/x(y)" } }],
    ["signs escaped twice", ["AB  - Science &amp;amp; Zinc"], { abstract: "Science & Zinc" }],
    [
      "letters written as references",
      ["AU  - M&uuml;ller, J&#246;rg", "AB  - 5&nbsp;&#x2014; 6 &lt; 7<p>New"],
      { authors: ["Müller, Jörg"], abstract: "5 — 6 < 7 New" },
    ],
  ])("is read with %s", async (_, lines, wanted) => {
    expect(await entriesOf("a.ris", ris("TI  - T", ...lines))).toMatchObject([wanted]);
  });

  test("names the whole that a part stands in, and the publisher of a book", async () => {
    const text = [
      "TY  - CHAP\nTI  - A chapter\nT2  - The book\nID  - 10.1000/978-0_1\nED  - Editor, Ed\nSN  - 978-0-00-000000-2\nER  - ",
      "TY  - CPAPER\nTI  - A talk\nC3  - Proc. of a meeting\nER  - ",
      "TY  - BOOK\nTI  - A book\nT2  - A series\nPB  - Press\nCY  - Town\nET  - 2nd\nER  - ",
      "TY  - THES\nT1  - A thesis\nPB  - A school\nER  - ",
    ].join("\n\n");
    expect(await entriesOf("a.ris", text)).toMatchObject([
      {
        type: "book-chapter",
        venue: "The book",
        identifiers: { doi: "10.1000/978-0_1" },
        publication: { isbn: "978-0-00-000000-2" },
      },
      { type: "proceedings-article", venue: "Proc. of a meeting" },
      { type: "book", publication: { publisher: "Press", place: "Town", edition: "2nd", series: "A series" } },
      { type: "dissertation", publication: { publisher: "A school" } },
    ]);
  });

  test("of the Cochrane Library, whose tags are its own", async () => {
    const text =
      "TY  - JOUR\nAN  - CN-1\nAU  - Sample A\nTI  - T\nSO  - J\nYR  - 2014\nPG  - 1-9\nPM  - PUBMED 24567890\nDOI - 10.1002/c.1\nER  -\n";
    expect(await entriesOf("a.ris", text)).toMatchObject([
      { venue: "J", date: "2014", pages: "1-9", identifiers: { doi: "10.1002/c.1", pmid: "24567890" } },
    ]);
  });

  test("of a trial in the CENTRAL register has its address, and no DOI of the register", async () => {
    const lines = [
      "SO  - https://clinicaltrials.gov/show/NCT01234567",
      "US  - https://www.cochranelibrary.com/central/doi/10.1002/central/CN-02345678/full",
    ];
    const [entry] = await entriesOf("a.ris", ris("TI  - T", ...lines));
    expect([entry?.identifiers, entry?.venue, entry?.url]).toEqual([
      {},
      undefined,
      "https://clinicaltrials.gov/show/NCT01234567",
    ]);
  });

  test.each([
    ["one blank", "TY - JOUR\nTI - T\nPY - 2001\nER -\n"],
    ["no blank after the hyphen", "TY -JOUR\nTI -T\nPY -2001\nAB - Of\nIL-6 in shrews\nER -\n"],
    ["tabs", "TY\t- JOUR\nTI\t- T\nPY\t- 2001\nER\t- \n"],
    ["no end of the record", "TY  - JOUR\nTI  - T\nPY  - 2001\n"],
    ["blanks before its tags", "  TY  - JOUR\n  TI  - T\n  PY  - 2001\n  ER  - \n"],
    ["old Macintosh line ends", "TY  - JOUR\rTI  - T\rPY  - 2001\rER  - \r"],
  ])("is read with %s", async (_, text) => {
    expect(await entriesOf("a.ris", text)).toMatchObject([{ title: "T", date: "2001" }]);
  });

  test("may be several files, joined", async () => {
    const text = `\uFEFF${ris("TI  - First")}EF  - \r\n\uFEFF${ris("TI  - Second")}TY - JOUR\nTI - Third\nER -\n`;
    const { entries, broken } = await readRecords(fileOf("a.ris", text));
    expect(entries).toMatchObject(["First", "Second", "Third"].map((title) => ({ title, type: "journal-article" })));
    expect(broken.count).toBe(0);
  });

  test("keeps a record without a type", async () => {
    const text = `TI  - First\nAU  - A\nER  - \n${ris("TI  - Second")}TI  - Third\nAU  - B\nER  - \n`;
    expect((await entriesOf("a.ris", text)).map(({ title }) => title)).toEqual(["First", "Second", "Third"]);
  });

  test("takes no place from what an article has not got yet, or from what is its arXiv id", async () => {
    const [article] = await entriesOf("a.ris", ris("TI  - T", "VL  - n/a", "IS  - N/A", "SP  - 1", "EP  - n/a"));
    expect([article?.volume, article?.issue, article?.pages]).toEqual([undefined, undefined, "1"]);
    const [preprint] = await entriesOf(
      "a.bib",
      "@article{a, title={T}, volume={abs/2001.01234}, pages={arXiv:2001.01234}}",
    );
    expect([preprint?.volume, preprint?.pages]).toEqual([undefined, undefined]);
    // EndNote has the date of the online version as the edition.
    const [dated] = await entriesOf("a.ris", ris("TI  - T", "PB  - P", "ET  - 2020/03/12"));
    expect(dated?.publication).toEqual({ publisher: "P" });
  });

  test("calls a paper in a series, and a preprint of no kind, what they are", async () => {
    const text =
      "TY  - SER\nTI  - A talk\nT2  - Notes\nM3  - Conference paper\nER  - \nTY  - GEN\nTI  - B\nM3  - arXiv preprint\nER  - \n";
    expect(await entriesOf("a.ris", text)).toMatchObject([
      { type: "proceedings-article", venue: "Notes" },
      { type: "preprint" },
    ]);
  });

  test.each([
    ["a.ris", ris("TI  - RETRACTED: Zinc")],
    ["a.ris", ris("TI  - Zinc", "M3  - Retracted")],
    ["a.nbib", "PMID- 1\nTI  - Zinc\nPT  - Journal Article\nPT  - Retracted Publication\n"],
    ["a.ciw", "FN x\nPT J\nTI Zinc\nDT Article; Retracted Publication\nER\n"],
    ["a.csv", "title,is_retracted\nZinc,true\n"],
    ["a.bib", "@article{a, title={Zinc}, type={Retracted}}"],
    ["a.json", JSON.stringify([{ type: "article-journal", title: "[Retracted] Zinc" }])],
  ])("%s says that a work is retracted: %j", async (name, text) => {
    const [entry] = await entriesOf(name, text);
    expect(entry?.retracted).toBe("retraction");
    expect(recordOf(entry as Entry, "x")).toMatchObject({ retracted: true, updates: [{ type: "retraction" }] });
  });

  test("takes a note that begins with the word as a note, but not the mark of our exports", async () => {
    const of = async (note: string) => (await entriesOf("a.ris", ris("TI  - Zinc", `N1  - ${note}`)))[0];
    const entry = await of("Retracted lenses were cleaned");
    expect(entry?.publication?.note).toBe("Retracted lenses were cleaned");
    expect(entry).not.toHaveProperty("retracted");
    for (const note of ["Retracted", "Retracted.", "Retracted. A note"])
      expect((await of(note))?.retracted).toBe("retraction");
  });

  test.each(["utf16le", "latin1"] as const)("is read in %s", async (encoding) => {
    const text = ris("TI  - Über den Schlaf der Mäuse", "AU  - Müller, Jürgen");
    const bytes = Buffer.from(encoding === "utf16le" ? `\uFEFF${text}` : text, encoding);
    expect(await entriesOf("a.ris", bytes)).toMatchObject([
      { title: "Über den Schlaf der Mäuse", authors: ["Müller, Jürgen"] },
    ]);
  });
});

describe("a group whose name could be that of a person", () => {
  test.each([
    ["a.ris", ris("TI  - T", "AU  - World Bank,", "AU  - Lo, Ann", "ED  - Red Cross,")],
    ["a.bib", "@article{a, title={T}, author={{World Bank} and Lo, Ann}, editor={{Red Cross}}}"],
    [
      "a.json",
      JSON.stringify({
        title: "T",
        author: [{ literal: "World Bank" }, { family: "Lo", given: "Ann" }],
        editor: [{ literal: "Red Cross" }],
      }),
    ],
    [
      "a.json",
      JSON.stringify({
        itemType: "report",
        title: "T",
        creators: [
          { creatorType: "author", name: "World Bank" },
          { creatorType: "author", lastName: "Lo", firstName: "Ann" },
          { creatorType: "editor", name: "Red Cross" },
        ],
      }),
    ],
  ])("is one again in every format: %s, %s", async (name, text) => {
    const [entry] = await entriesOf(name, text);
    const facts = {
      authors: ["World Bank", "Lo, Ann"],
      publication: { editors: ["Red Cross"], groups: ["World Bank", "Red Cross"] },
    };
    expect(entry).toMatchObject(facts);
    const works = citedWorks([storedFields(recordOf(entry as Entry, "x"))]);
    expect(works[0]?.key).toBe("worldbank");
    for (const [ending, write] of Object.entries({ ris: risOf, bib: bibtexOf, json: cslOf }))
      expect((await entriesOf(`again.${ending}`, write(works)))[0]).toMatchObject(facts);
  });

  test.each([
    ["a.nbib", "PMID- 1\nTI  - T\nCN  - World Bank\nFAU - Lo, Ann\n", ["World Bank", "Lo, Ann"]],
    ["a.ciw", "PT J\nAU Lo, A\nCA World Bank\nTI T\nER\n", ["Lo, A", "World Bank"]],
    ["a.csv", 'Article Title,Authors,Group Authors\nT,"Lo, A",World Bank\n', ["Lo, A", "World Bank"]],
    ["a.csv", 'PMID,Title,Authors\n1,T,"Lo A, Bo CD 3rd; World Bank."\n', ["Lo A", "Bo CD 3rd", "World Bank"]],
    [
      "a.json",
      JSON.stringify({ title: "T", pubYear: "2020", authorString: "Lo A, Bo CD, World Bank." }),
      ["Lo A", "Bo CD", "World Bank"],
    ],
  ])("is one in %s too: %s", async (name, text, authors) => {
    expect(await entriesOf(name, text)).toMatchObject([{ authors, publication: { groups: ["World Bank"] } }]);
  });

  test("is none by a comma after a given name, after initials, or where persons are in one field", async () => {
    const text = ris("TI  - T", "AU  - Lo, Ann,", "AU  - Bo CD,", "AU  - Di A,", "      Fo B");
    const [entry] = await entriesOf("a.ris", text);
    expect(entry?.authors).toEqual(["Lo, Ann", "Bo CD", "Di A", "Fo B"]);
    expect(entry?.publication?.groups).toBeUndefined();
  });
});

describe("other exports of databases", () => {
  test("PubMed's, whose values go on behind six blanks", async () => {
    const text = [
      "PMID- 12345678",
      "TI  - A title that goes on in the",
      "      next line.",
      "FAU - Sample, Ann",
      "AU  - Sample A",
      "CN  - The Shrew Group",
      "DP  - 2020 Jan-Feb",
      "JT  - The journal of shrews",
      "VI  - 3",
      "PG  - 12-9",
      "LID - 10.1000/p.1 [doi]",
      "PMC - PMC7654321",
      "PT  - Journal Article",
      "MH  - Animals",
      "LA  - eng",
      "",
      "PMID- 2",
      "TI  - [A second one].",
    ].join("\n");
    expect(await entriesOf("a.nbib", text)).toMatchObject([
      {
        title: "A title that goes on in the next line",
        authors: ["Sample, Ann", "The Shrew Group"],
        date: "2020-01",
        venue: "The journal of shrews",
        identifiers: { doi: "10.1000/p.1", pmid: "12345678", pmcid: "PMC7654321" },
        type: "journal-article",
        publication: { language: "eng", keywords: ["Animals"] },
      },
      { title: "[A second one]" },
    ]);
  });

  test("Web of Science's, with one author a line", async () => {
    const text =
      "FN Clarivate\nVR 1.0\nPT J\nAU Sample, A\n   Example, B\nAF Sample, Ann\n   Example, Bob\nTI A title\n   in two lines\nSO J INV\nDT Article\nPD MAR 3\nPY 2018\nBP 10\nEP 20\nDI 10.1000/c.1\nPM 999\nUT WOS:1\nER\n\nEF\n";
    expect(await entriesOf("a.ciw", text)).toMatchObject([
      {
        title: "A title in two lines",
        authors: ["Sample, Ann", "Example, Bob"],
        date: "2018-03-03",
        pages: "10-20",
        identifiers: { doi: "10.1000/c.1", pmid: "999" },
        publication: { accession: "WOS:1" },
      },
    ]);
  });

  test("EndNote's, as text and as XML", async () => {
    const enw =
      "%0 Journal Article\n%A Sample, Ann\n%A Example, Bob\n%T On water\n%J J Inv\n%D 2017\n%R 10.1000/e.1\n%K a\nb\n\n%0 Book\n%T A book\n";
    expect(await entriesOf("a.enw", enw)).toMatchObject([
      {
        title: "On water",
        authors: ["Sample, Ann", "Example, Bob"],
        venue: "J Inv",
        publication: { keywords: ["a", "b"] },
      },
      { title: "A book", type: "book" },
    ]);
    const xml = `<?xml version="1.0"?><xml><records><record><ref-type name="Journal Article">17</ref-type><contributors><authors><author><style face="normal">Sample, Ann</style></author></authors></contributors><titles><title><style>The water of </style><style face="italic">Sorex</style></title></titles><dates><year><style>2015</style></year></dates><electronic-resource-num><style>10.1000/x.1</style></electronic-resource-num></record></records></xml>`;
    const path = fileOf("a.xml", xml);
    expect(await isRecordFile(path)).toBe(true);
    expect((await readRecords(path)).entries).toMatchObject([
      { title: "The water of Sorex", authors: ["Sample, Ann"], date: "2015", identifiers: { doi: "10.1000/x.1" } },
    ]);
  });

  test("a damaged record of EndNote's XML costs itself alone, and a sign that is not escaped costs nothing", async () => {
    const recordOf = (title: string) =>
      `<record><ref-type name="Electronic Article">43</ref-type><titles><title>${title}</title></titles></record>`;
    const text = ["A & B", "C <b>", "D"].map(recordOf).join("") + "<record><titles><title>E</title>";
    const { entries, broken } = await readRecords(fileOf("a.xml", `<xml><records>${text}`));
    expect(entries).toMatchObject(["A & B", "D"].map((title) => ({ title, type: "journal-article" })));
    expect(broken.examples).toEqual(["line 2: it is not well-formed", "line 4: its end is missing"]);
  });

  test.each([
    [
      "Scopus",
      'Authors,"Author full names",Title,Year,"Source title","Page start","Page end",DOI,"PubMed ID","Document Type",EID\n"Sample A.","Sample, Ann (57200000000); Example, Bob (57200000001)","A title, with comma",2020,J,1,9,10.1000/s,12,Conference paper,2-s2.0-1\n',
      { authors: ["Sample, Ann", "Example, Bob"], pages: "1-9", type: "proceedings-article" },
    ],
    [
      "Web of Science",
      "Authors\tAuthor Full Names\tArticle Title\tSource Title\tPublication Year\tDOI\tUT (Unique WOS ID)\nSample, A\tSample, Ann; Example, Bob\tA title, with comma\tJ\t2020\t10.1000/s\tWOS:1\n",
      { authors: ["Sample, Ann", "Example, Bob"] },
    ],
    [
      "PubMed",
      'PMID,Title,Authors,Citation,First Author,Journal/Book,Publication Year,Create Date,PMCID,NIHMS ID,DOI\n"12","A title, with comma","Sample A, Example B.","J. 2020",Sample A,J,2020,2020/01/02,,,10.1000/s\n',
      { authors: ["Sample A", "Example B"], identifiers: { doi: "10.1000/s", pmid: "12" } },
    ],
    [
      "Rayyan",
      'key,title,year,month,day,journal,issn,volume,issue,pages,authors,url,language,publisher,location,abstract,notes,doi\n1,"A title, with comma",2020,5,1,J,1234-5678,1,2,3-4,"Sample, Ann and Example, Bob",,eng,P,,"It is.",,10.1000/s\n',
      { date: "2020-05-01", authors: ["Sample, Ann", "Example, Bob"] },
    ],
    [
      "Covidence",
      'Title,Authors,Abstract,Published Year,Published Month,Journal,Volume,Issue,Pages,Accession Number,DOI\n"A title, with comma","Sample, Ann; Example, Bob",It is.,2020,May,J,1,2,3-4,A1,10.1000/s\n',
      { date: "2020-05", authors: ["Sample, Ann", "Example, Bob"] },
    ],
    [
      "Zotero",
      '"Key","Item Type","Publication Year","Author","Title","Publication Title","DOI","Date","Pages"\n"K","journalArticle","2020","Sample, Ann; Example, Bob","A title, with comma","J","10.1000/s","2020-05-01","3-4"\n',
      { date: "2020-05-01", type: "journal-article" },
    ],
    [
      "OpenAlex",
      'id,doi,display_name,publication_year,publication_date,authorships.author.display_name,primary_location.source.display_name\nhttps://openalex.org/W1,https://doi.org/10.1000/s,"A title, with comma",2020,2020-05-01,Ann Sample|Bob Example,J\n',
      { date: "2020-05-01", authors: ["Ann Sample", "Bob Example"] },
    ],
    [
      "Dimensions, which tells of its export above the header",
      '"About the data: exported on Nov 21, 2026"\nRank,DOI,Title,Source title,PubYear,Pagination,Authors\n1,10.1000/s,"A title, with comma",J,2019,11-19,"Sample, Ann; Example, Bob C."\n',
      { venue: "J", pages: "11-19", authors: ["Sample, Ann", "Example, Bob C."] },
    ],
    [
      "the Lens and Publish or Perish",
      'Title,Authors,Issue Number,StartPage,EndPage,DOI,External URL\n"A title, with comma","Sample, A.",2,11,19,10.1000/s,https://x.example.org/a\n',
      { issue: "2", pages: "11-19", url: "https://x.example.org/a", authors: ["Sample, A."] },
    ],
    [
      "ProQuest",
      'Title,Authors,digitalObjectIdentifier,pubtitle,year\n"A title, with comma","Sample, Ann; Example, Bob",10.1000/s,J,2019\n',
      { venue: "J" },
    ],
    [
      "a spreadsheet that took numbers and pages for something else",
      'sep=;\ntitle;year;pages;doi;pmid\n"A title, with comma";2019,0;19-Nov;10.1000/s;3,0000011E+07\n',
      { date: "2019", identifiers: { doi: "10.1000/s", pmid: "30000011" } },
    ],
    [
      "semicolons, as spreadsheets write them",
      'title;authors;year;doi\n"A title, with comma";"Sample, Ann";2020;10.1000/s\n',
      { authors: ["Sample, Ann"] },
    ],
  ])("a table of %s", async (_, text, wanted) => {
    expect(await entriesOf("a.csv", text)).toMatchObject([
      { title: "A title, with comma", identifiers: { doi: "10.1000/s" }, ...wanted },
    ]);
  });

  test.each([
    [
      "Scopus' number of an article",
      "Title,Source title,Page start,Page end,Art. No.,Source\nT,J,,,104567,Scopus\nU,,1,9,,Scopus\n",
      [
        { venue: "J", pages: "104567", database: "Scopus" },
        { pages: "1-9", database: "Scopus" },
      ],
    ],
    [
      "PubMed's citation",
      'PMID,Title,Citation,Journal/Book\n12,T.,"J Med. 2020 Mar 1;12(3):11-19. doi: 10.1000/a.",J Med\n',
      [{ title: "T", venue: "J Med", volume: "12", issue: "3", pages: "11-19" }],
    ],
    [
      "Cochrane's and Embase's place behind the journal",
      'Title,Source,Year\nT,"J, 2020, 12(3), 11‐19",2020\nU,"J (2020) 12:3 (11-19). Date of Publication: 2020",2020\nV,"J, an annual",2020\nW,"Congress (2020) 3rd day",2020\n',
      [
        { venue: "J", volume: "12", issue: "3", pages: "11-19" },
        { venue: "J", volume: "12", issue: "3", pages: "11-19" },
        { venue: "J, an annual" },
        { venue: "Congress" },
      ],
    ],
    [
      "Embase's place beside the journal's name",
      'Title,Source,Source title\nT,"J (2020) 12:3 (11-19). Date of Publication: 2020",J\n',
      [{ venue: "J" }],
    ],
    [
      "the columns of Web of Science for a book and of Springer",
      'Article Title,Item DOI,Book Authors,Book Series Title,Publisher City,Content Type\nT,10.1000/s,"Lo, A",Notes,Town,Article\n',
      [
        {
          authors: ["Lo, A"],
          type: "journal-article",
          identifiers: { doi: "10.1000/s" },
          publication: { series: "Notes", place: "Town" },
        },
      ],
    ],
    [
      "keywords between commas or in a list, but none that holds a comma",
      `Title,Keywords\nT,"zinc,iron"\nU,"['zinc', 'iron']"\nV,"Asthma, childhood"\n`,
      [["zinc", "iron"], ["zinc", "iron"], ["Asthma, childhood"]].map((keywords) => ({ publication: { keywords } })),
    ],
  ])("a table with %s", async (_, text, wanted) => {
    expect(await entriesOf("a.csv", text)).toMatchObject(wanted);
  });

  test("a quotation mark that does not close costs its row and no other, and a row that is too long is named", async () => {
    const rows = ['"A",1', '"B,2', '"C",3', ",", "D,4,5", '"E, ""so""\nF",6', '"G,7', '"H,8', "I,9", '"J,10'];
    const { entries, broken, fields } = await readRecords(fileOf("a.csv", ["Title,Year", ...rows].join("\n")));
    expect(entries.map(({ title }) => title)).toEqual(["A", "C", "D", 'E, "so" F', "I"]);
    expect(broken.examples).toEqual(
      [3, 9, 10, 12].map((line) => expect.stringContaining(`line ${line}: its quotation marks`) as string),
    );
    expect(fields.examples).toEqual([expect.stringContaining("line 6: it has more cells")]);
  });

  test("a table whose title has another name is refused with its columns, until the person names it", async () => {
    const path = fileOf("a.csv", "Name,When\nOn water,2020\n");
    await expect(readRecords(path)).rejects.toThrow(/--column title=<header>.*'Name', 'When'/);
    expect((await readRecords(path, { title: "name", year: "When" })).entries).toMatchObject([
      { title: "On water", date: "2020" },
    ]);
    await expect(readRecords(path, { title: "Titel" })).rejects.toThrow(/no column 'Titel'/);
  });
});

test.each([
  [
    "CSL-JSON of Crossref",
    "a.json",
    JSON.stringify([
      {
        title: ["T"],
        subtitle: ["S"],
        type: "journal-article",
        issued: { "date-parts": [[null]] },
        published: { "date-parts": [[2021, 1]] },
      },
    ]),
    { title: "T: S", type: "journal-article", date: "2021-01" },
  ],
  [
    "CSL-JSON by hand",
    "a.json",
    JSON.stringify({ title: "T", author: "Lo, Ann", issued: { year: 2010 } }),
    { authors: ["Lo, Ann"], date: "2010" },
  ],
  [
    "EndNote XML of a master's thesis",
    "a.xml",
    "<xml><records><record><ref-type name='Thesis'>32</ref-type><titles><title>T</title></titles><work-type>Master's thesis</work-type></record></records></xml>",
    { type: "masters-thesis" },
  ],
  ["EndNote of a master's thesis", "a.enw", "%0 Thesis\n%T T\n%9 Masters\n", { type: "masters-thesis" }],
  [
    "JSON of Better BibTeX",
    "a.json",
    JSON.stringify({
      config: {},
      items: [
        {
          itemType: "journalArticle",
          title: "T",
          citationKey: "lo2020",
          date: "2020",
          publicationTitle: "J",
          creators: [{ creatorType: "author", lastName: "Lo", firstName: "Ann" }],
          attachments: [{ path: "/a/b.pdf" }],
        },
      ],
    }),
    { ownKey: "lo2020", authors: ["Lo, Ann"], date: "2020", venue: "J", files: ["/a/b.pdf"] },
  ],
  [
    "an answer of Crossref about a chapter in a series",
    "a.json",
    JSON.stringify({
      type: "book-chapter",
      title: ["T"],
      DOI: "10.1000/c",
      "container-title": ["Lecture Notes", "The book"],
      "article-number": "e5",
      abstract: "<jats:title>Aim</jats:title><jats:p>Of <jats:italic>Sorex</jats:italic></jats:p>",
    }),
    { venue: "The book", pages: "e5", abstract: "Aim Of Sorex", publication: { series: "Lecture Notes" } },
  ],
  [
    "an answer of Crossref about a preprint",
    "a.json",
    JSON.stringify({ type: "posted-content", title: ["T"], DOI: "10.1000/c", institution: [{ name: "bioRxiv" }] }),
    { type: "preprint", venue: "bioRxiv" },
  ],
  [
    "an answer of Europe PMC about what was retracted",
    "a.json",
    JSON.stringify({
      title: "T",
      pubYear: "2018",
      firstPublicationDate: "2018-11-08",
      pubTypeList: { pubType: ["Journal Article", "Retracted Publication"] },
      keywordList: { keyword: ["zinc", "iron, iron"] },
      journalInfo: { journal: { issn: "1234-5678" } },
    }),
    { date: "2018-11-08", type: "journal-article", retracted: "retraction", publication: { issn: "1234-5678" } },
  ],
  ["CSL-JSON of Pandoc", "a.json", JSON.stringify([{ title: "T", DOI: "10.1000/p", issued: 2010 }]), { date: "2010" }],
  [
    "a table of Publish or Perish with a list of authors that goes on",
    "a.csv",
    'Authors,Title,Year\n"A Lo, C van der Bo…",T,2020\n',
    { authors: ["A Lo", "C van der Bo"] },
  ],
  ["an answer of Crossref", "a.json", JSON.stringify({ message: { items: [{ title: ["T"] }] } }), { title: "T" }],
  ["CSL-JSON under its keys", "a.json", JSON.stringify({ a: { title: "T" }, b: { title: "U" } }), { title: "T" }],
  [
    "Web of Science of a talk that a journal printed",
    "a.ciw",
    "PT J\nTI T\nDT Article; Proceedings Paper\nER\n",
    { type: "journal-article" },
  ],
  [
    "PubMed of a chapter",
    "a.nbib",
    "PMID- 1\nTI  - T\nBTI - The book\nPT  - Book\n",
    { type: "book-chapter", venue: "The book" },
  ],
  [
    "a table that R wrote",
    "a.csv",
    "author,title,journal,doi,source\nNA,T,NA,NA,embase\n",
    { title: "T", authors: [], database: "embase" },
  ],
  [
    "a table that Python wrote",
    "a.csv",
    `title,authors\nT,"['Lo, Ann', 'Bo, Cid']"\n`,
    { authors: ["Lo, Ann", "Bo, Cid"] },
  ],
  [
    "a table with the place behind the journal's name",
    "a.csv",
    'Title,Source,Year\nT,"J Inv (2020) 12:3 (1-12). Date of Publication: 1 May 2020",2020\n',
    { venue: "J Inv" },
  ],
  ["Web of Science of what is only online yet", "a.ciw", "PT J\nTI T\nEA JAN 2023\nER\n", { date: "2023-01" }],
  [
    "a table of Zotero",
    "a.csv",
    'Title,Author,Extra\nT,"García Márquez, José",PMID: 123\nU,"Lo, Ann; Bo, Cid",\n',
    { authors: ["García Márquez, José"], identifiers: { pmid: "123" } },
  ],
  [
    "a table of IEEE Xplore",
    "a.csv",
    "Document Title,Authors,Document Identifier\nT,A. Lo; B. Bo,IEEE Conferences\n",
    { authors: ["A. Lo", "B. Bo"], type: "proceedings-article" },
  ],
])("%s", async (_, name, text, wanted) => {
  expect((await entriesOf(name, text))[0]).toMatchObject(wanted);
});

describe("BibTeX as programs write it", () => {
  test.each([
    [
      "signs that TeX knows",
      'title={An {\\aa}ngstr{\\"o}m map of {\\AA}rhus, $\\alpha$ < 5\\,\\%}',
      { title: "An ångström map of Århus, α < 5 %" },
    ],
    [
      "a DOI with an escaped sign",
      "title={T}, doi={10.1000/978-3_1\\_48}",
      { identifiers: { doi: "10.1000/978-3_1_48" } },
    ],
    ["a sum of money", "title={T}, abstract={It costs $5 per shrew.}", { abstract: "It costs $5 per shrew." }],
    ["two sums of money", "title={T}, abstract={It costs $5 or US$6.}", { abstract: "It costs $5 or US$6." }],
    ["names of fields with blanks", "title={T}, funding_text 1={G}, year={2020}", { date: "2020" }],
    [
      "authors by semicolons",
      "title={T}, author={Sample, A.; Example, B.; Third, C.}",
      { authors: ["Sample, A.", "Example, B.", "Third, C."] },
    ],
    [
      "authors by commas",
      "title={T}, author={Ann Sample, Bob Example, Cid Third}",
      { authors: ["Ann Sample", "Bob Example", "Cid Third"] },
    ],
    [
      "arXiv's sign between authors",
      "title={T}, author={OpenAI and : and Sample, Ann}",
      { authors: ["OpenAI", "Sample, Ann"] },
    ],
    ["a journal's macro of AASTeX", "title={T}, journal={\\apj}", { venue: "Astrophysical Journal" }],
    [
      "a publisher whose name holds the word between names",
      "title={T}, publisher={Taylor and Francis}",
      { publication: { publisher: "Taylor and Francis" } },
    ],
    ["Mendeley's two addresses", "title={T}, url={http://e.org/a http://e.org/b}", { url: "http://e.org/a" }],
    [
      "keywords that hold commas, and Paperpile's number of PubMed Central",
      "title={T}, keywords={Diabetes Mellitus, Type 2; zinc}, pmc={PMC123}",
      { identifiers: { pmcid: "PMC123" }, publication: { keywords: ["Diabetes Mellitus, Type 2", "zinc"] } },
    ],
    ["others", "title={T}, author={Sample, Ann and others}", { authors: ["Sample, Ann"] }],
    ["a suffix", "title={T}, author={Sample, Jr., Ann}", { authors: ["Sample, Ann, Jr."] }],
    [
      "arXiv as a journal",
      "title={T}, journal={arXiv preprint arXiv:2106.00001}",
      { identifiers: { arxiv: "2106.00001" }, type: "preprint" },
    ],
    [
      "an old arXiv id",
      "title={T}, eprint={9711201}, archivePrefix={arXiv}, primaryClass={cs.AI}",
      { identifiers: { arxiv: "cs/9711201" } },
    ],
    ["a DOI in the address alone", "title={T}, url={https://doi.org/10.1000/u}", { identifiers: { doi: "10.1000/u" } }],
    ["a subtitle", "title={T}, subtitle={and more}", { title: "T: and more" }],
    ["a PDF", "title={T}, file={Full Text:files/12/a b.pdf:application/pdf}", { files: ["files/12/a b.pdf"] }],
    [
      "a percent sign that is no comment",
      "title={Half: 50% of #1}, abstract={It is 10% of $20.}",
      { title: "Half: 50% of #1", abstract: "It is 10% of $20." },
    ],
    ["no dot under an accent", "title={T}, author={Gil, Mar{\\'\\i}a}", { authors: ["Gil, María"] }],
    ["Mendeley's drive letter", "title={T}, file={:C$\\backslash$:/a/b.pdf:pdf}", { files: ["C:/a/b.pdf"] }],
    ["a month and a day", "title={T}, year=2020, month=may, day=3", { date: "2020-05-03" }],
    ["a date no calendar has", "title={T}, date={2020-13-45}", { date: "2020" }],
    ["a day joined to a month", 'title={T}, year=2020, month = "12~" # may', { date: "2020-05-12" }],
    ["a string that nobody defines", "title={T}, journal = JOT # { B}", { venue: "JOT B" }],
    [
      "names of programs, spaces that TeX sets, and links",
      "title={\\LaTeX{} for Univ.\\ of X: \\href{https://e.org/a_b}{a \\TeX\\ text}}",
      { title: "LaTeX for Univ. of X: a TeX text" },
    ],
    [
      "names of functions, and accents of formulas",
      "title={$O(n \\log n)$, $\\log(\\max x)$, $2\\sin x$, $\\hat{x}$ and $\\tilde O(n)$}",
      { title: "O(n log n), log(max x), 2 sin x, x̂ and Õ(n)" },
    ],
    ["letters of formulas", "title={100~$\\mu$m of {$x_2$}}", { title: "100 μm of x₂" }],
    [
      "brackets escaped in a DOI",
      "title={T}, doi={10.1016/0921-4534\\(89\\)90484-x}",
      { identifiers: { doi: "10.1016/0921-4534(89)90484-x" } },
    ],
    ["a link that TeX sets", "title={T}, url={\\url{https://e.org/a\\_b}}", { url: "https://e.org/a_b" }],
    ["a comment between fields", "title={T}, % {not\n year={2020}", { date: "2020" }],
    ["signs that Mendeley escapes", "title={{\\~{}}5{\\^{}}2}", { title: "~5^2" }],
    ["degrees, and formulas that stand apart", "title={25$^{\\circ}$C \\[x\\] $$y$$}", { title: "25°C x y" }],
    [
      "paragraphs of a note",
      "title={T}, note={One.}, annote={Two.\n\nThree.}",
      { publication: { note: "One. Two. Three." } },
    ],
    ["a footnote to its title", "title={T\\footnote{By a grant}}", { title: "T" }],
    ["names that go on", "title={T}, author={Sample, Ann and \\textit{et al.}}", { authors: ["Sample, Ann"] }],
    [
      "names as PubMed writes them",
      "title={T}, author={Sample A and de Boer JP}",
      { authors: ["Sample, A", "de Boer, JP"] },
    ],
    [
      "names in two lines",
      "title={T}, author={Sample, Ann\r\n\tand Example, Bob}",
      { authors: ["Sample, Ann", "Example, Bob"] },
    ],
    ["one name with initials in front", "title={T}, author={A.B. Sample}", { authors: ["Sample, A.B."] }],
    ["two names by a comma", "title={T}, author={A.B. Sample, C. Example}", { authors: ["A.B. Sample", "C. Example"] }],
    ["an arXiv id, online", "title={T}, eprint={2001.01234}, eprinttype={arxiv}", { type: "preprint" }],
    ["what R does not know", "title={T}, doi={10.1000/r}, author={NA}, journal={NA}", { authors: [] }],
    ["mark-up that Crossref escapes", "title={A &lt;i&gt;b&lt;/i&gt; c}", { title: "A b c" }],
    ["days of a month from one to another", "title={T}, year=2001, month={12--15 Sept.}", { date: "2001-09-12" }],
    ["months from one to another", "title={T}, year=2001, month={10-12}", { date: "2001-10" }],
    [
      "an ampersand between names",
      "title={T}, author={Sample, A. \\& Example, B.}",
      { authors: ["Sample, A.", "Example, B."] },
    ],
    [
      "names in words with a comma before the last",
      "title={T}, author={Ann Sample, Bob Example, and Cid Third}",
      { authors: ["Sample, Ann", "Example, Bob", "Third, Cid"] },
    ],
    [
      "a mark behind a name",
      "title={T}, author={Sample, Ann$^{*}$ and Lo, B.\\thanks{x}}",
      { authors: ["Sample, Ann", "Lo, B."] },
    ],
    [
      "an arXiv id in place of the pages",
      "title={T}, journal={arXiv e-prints}, eid={arXiv:2001.01234}, pages={arXiv:2001.01234}",
      { identifiers: { arxiv: "2001.01234" } },
    ],
    [
      "numbers of Scopus and Web of Science",
      "title={T}, pubmed_id={123}, art_number={104}, author_keywords={a; b}, EISSN={1234-5678}",
      { identifiers: { pmid: "123" }, pages: "104", publication: { keywords: ["a", "b"], issn: "1234-5678" } },
    ],
    ["a time of day", "title={T}, date={2012-12-24T13:01:02}", { date: "2012-12-24" }],
    ["a tilde in an address", "title={T}, url={https://e.org/{\\~{}}z}", { url: "https://e.org/~z" }],
  ])("with %s", async (what, fields, wanted) => {
    const type = what.endsWith("online") ? "online" : "article";
    expect(await entriesOf("a.bib", `@${type}{x, ${fields}}`)).toMatchObject([wanted]);
  });

  test("what is defined is put in with the blanks at its ends, and may be made of what was defined before", async () => {
    const text = `@string{town = "York"} @STRING(place = {New } # town # ", ")
      @book{x, title = {T}, address = place # "NY", publisher = PLACE # {Press}}`;
    expect(await entriesOf("a.bib", text)).toMatchObject([
      { publication: { place: "New York, NY", publisher: "New York, Press" } },
    ]);
  });

  test("a set of entries is no work", async () => {
    const { entries, broken } = await readRecords(fileOf("a.bib", "@book{a, title={T}}\n@set{s, entryset={a}}"));
    expect([entries.length, broken.count]).toEqual([1, 0]);
  });

  test("a brace that is missing costs the fields behind it nothing", async () => {
    const text = "@article{a, title={Missing, author={Lo, Ann}, year=2000}\n@article{b, title={Next}}";
    expect(await entriesOf("a.bib", text)).toMatchObject([
      { title: "Missing", authors: ["Lo, Ann"], date: "2000" },
      { title: "Next" },
    ]);
  });

  test("a brace too many costs the fields behind it nothing, and is named", async () => {
    const text =
      "@article{a, title={Too {many}}}, author={Lo, Ann}, year=2000}\n\n% not, title = {this}\n@article{b, title={Next}}";
    const { entries, fields } = await readRecords(fileOf("a.bib", text));
    expect(entries).toMatchObject([{ title: "Too many", authors: ["Lo, Ann"], date: "2000" }, { title: "Next" }]);
    expect(fields.examples).toEqual(["line 1 (a): it has a brace too many"]);
  });

  test("an address may lack its protocol", async () => {
    expect(await entriesOf("a.bib", "@software{a, title={T}, url={code.example.org/a/b}}")).toMatchObject([
      { url: "http://code.example.org/a/b" },
    ]);
  });

  test("a quotation mark inside a value costs what follows it up to the next field, which is named", async () => {
    const text = '@article{a, title="Of "so" called shrews", author={Lo, Ann}, year=2000}\n@article{b, title={Next}}';
    const { entries, fields } = await readRecords(fileOf("a.bib", text));
    expect(entries).toMatchObject([{ title: "Of", authors: ["Lo, Ann"], date: "2000" }, { title: "Next" }]);
    expect(fields.examples).toEqual([`line 1 (a): what stands behind a field can't be read (so" called shrews")`]);
  });

  test("an entry may stand in brackets, and what a comment holds is none", async () => {
    const text =
      '@comment{\n@article{no, title={No}}\n}\n@article(a, title="One (or two)", year=2000)\n@article{b, title="Open, author={Lo, Ann}}';
    expect(await entriesOf("a.bib", text)).toMatchObject([
      { title: "One (or two)", date: "2000" },
      { title: "Open", authors: ["Lo, Ann"] },
    ]);
  });

  test("a record without a title is kept where it names its authors or an identifier", async () => {
    const { entries, fields } = await readRecords(
      fileOf("a.bib", "@misc{, author={Lo, Ann}}\n@techreport{, doi={10.1000/a}}"),
    );
    expect(entries).toMatchObject([{ title: "[No title]", authors: ["Lo, Ann"] }, { title: "[No title]" }]);
    expect(fields.count).toBe(2);
  });

  test("a part takes the title of its whole for the place where it stands, whichever comes first", async () => {
    const text = `@inproceedings{a, title={A part}, crossref={whole}}
      @proceedings{whole, title={Proc. of a meeting}, year=2003, editor={Editor, Ed}}`;
    expect(await entriesOf("a.bib", text)).toMatchObject([
      { title: "A part", venue: "Proc. of a meeting", date: "2003", publication: { editors: ["Editor, Ed"] } },
      { title: "Proc. of a meeting", type: "proceedings" },
    ]);
  });

  test("a part takes the name of the book from its whole, where the whole names it beside its own title", async () => {
    const text = `@inproceedings{a, title={A part}, crossref={whole}}
      @proceedings{whole, title={Meeting}, booktitle={Proc. of a meeting}}`;
    expect((await entriesOf("a.bib", text))[0]).toMatchObject({ title: "A part", venue: "Proc. of a meeting" });
  });

  test("a field that can't be read costs the field, and is named with line and entry", async () => {
    const text = "@article{x,\n title={T},\n year=2020,\n journal={\\unknown}\n}";
    const { entries, fields } = await readRecords(fileOf("a.bib", text));
    expect(entries).toMatchObject([{ title: "T", date: "2020" }]);
    expect(fields.examples).toEqual(["line 1 (x): the field journal in line 4 can't be read (\\unknown)"]);
  });
});

test.each([
  [["2021"], "May 12", "2021-05-12"],
  [["2020"], "Mar", "2020-03"],
  [["0000", "2019//"], undefined, "2019"],
  [["2021"], "2019-05-01", "2021"],
  [["20210512"], undefined, "2021-05-12"],
  [["c. 1999"], undefined, "1999"],
  [["Winter 1998"], undefined, "1998"],
  [["10 15"], undefined, undefined],
  [["15 May 2021"], undefined, "2021-05-15"],
  [[], "2021 Mar 3", "2021-03-03"],
])("the date of %j beside %j is %s", (dates, day, wanted) => {
  expect(dateOf(dates, day)).toBe(wanted);
});

test.each([
  ["an article in JATS", "a.xml", '<?xml version="1.0"?><article><front><article-meta/></front></article>'],
  ["a text", "a.txt", "Shrews drink water.\nThey drink it often.\n"],
])("%s is no list of works", async (_, name, content) => {
  expect(await isRecordFile(fileOf(name, content))).toBe(false);
});
