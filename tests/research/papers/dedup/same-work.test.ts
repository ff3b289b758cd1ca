import { describe, expect, it } from "vitest";
import type { TitledPaper } from "../../../../src/research/papers/paper-record.js";
import { compareRecords } from "../../../../src/research/papers/dedup/same-work.js";
import { matchFeaturesOf } from "../../../../src/research/papers/dedup/match-features.js";
import { titleParts } from "../../../../src/research/papers/dedup/title-match.js";
import { samePaper } from "../../../support/documents/same-paper.js";

const base = {
  title: "Learning Dexterous Manipulation from Touch",
  authors: ["Ada Sample", "Bo Other"],
  date: "2024-05-01",
  url: "https://example.org/a",
} satisfies TitledPaper;
const longTitle = "Maintenance of grip strength despite discontinuation of training after a third tendon transfer";
const doi = (name: string) => ({ url: null, identifiers: { doi: name } });
const why = (a: TitledPaper, b: TitledPaper) => compareRecords(matchFeaturesOf(a), matchFeaturesOf(b));

describe("a title cut at its colon", () => {
  const place = { venue: "Journal of Touch", volume: "9", pages: "12-19", identifiers: {}, url: null };
  const [cut, whole] = [
    { ...base, title: "Robot touch", ...place },
    { ...base, title: "Robot touch: a pilot study of grip", ...place },
  ];
  it("is the same work in the same journal, volume and pages, also where one record names no authors", () => {
    expect(samePaper(cut, whole)).toBe(true);
    expect(samePaper({ ...cut, authors: [] }, whole)).toBe(true);
  });

  it.each([
    ["journal", { venue: "Annals of Grip" }],
    ["volume", { volume: "10" }],
    ["pages", { pages: "20-25" }],
    ["authors", { authors: ["Cy Stranger", "Di Another"] }],
  ])("is another work with other %s", (_, other) => {
    expect(samePaper({ ...cut, ...other }, whole)).toBe(false);
  });
});

describe("a shared identifier", () => {
  it("makes one work of two records, in whatever form and version it is written", () => {
    expect(
      samePaper(
        { ...base, url: "https://doi.org/10.1000/ABC" },
        { ...base, title: "Dexterous Manipulation by Touch", ...doi("10.1000/abc") },
      ),
    ).toBe(true);
    expect(
      samePaper(
        { ...base, url: "https://arxiv.org/abs/2401.12345v1" },
        { title: "Touch", pdf_url: "https://arxiv.org/pdf/2401.12345v3" },
      ),
    ).toBe(true);
    expect(
      samePaper(
        { ...base, ...doi("10.48550/arXiv.2401.12345") },
        { ...base, title: "Touch", identifiers: { arxiv: "2401.12345v2" } },
      ),
    ).toBe(true);
    expect(
      samePaper(
        { ...base, identifiers: { pmid: "77" } },
        { ...base, title: "Dexterous touch", identifiers: { pmid: "77" } },
      ),
    ).toBe(true);
  });

  it.each([
    ["Suppl. 2", {}],
    ["S1", {}],
    ["4", { pages: "S12" }],
  ])("of a supplement (%s) does not make one work of unlike titles of one group", (issue, pages) => {
    const place = { venue: "Journal of Touch", volume: "9", issue, ...pages, ...doi("10.1000/abc") };
    const [one, other] = ["Grip strength after training", "Thumb reflexes during sleep"];
    expect(samePaper({ ...base, title: one, ...place }, { ...base, title: other, ...place })).toBe(false);
    expect(samePaper({ ...base, title: one, ...place }, { ...base, title: `${one}: a trial`, ...place })).toBe(true);
  });

  it("does not make one work of two that it was given to by mistake", () => {
    const other = {
      title: "A history of lighthouses in Brittany",
      authors: ["Cy Stranger"],
      date: "2020",
      ...doi("10.1000/abc"),
    };
    expect(why({ ...base, ...doi("10.1000/abc") }, other)).toEqual({
      same: false,
      apart: "doi 10.1000/abc stands on two works",
    });
    // One word that happens to stand in both.
    expect(
      samePaper(
        { ...base, ...doi("10.1000/abc") },
        { ...other, title: "Learning about lighthouses in Brittany and their keepers" },
      ),
    ).toBe(false);
  });

  it("holds for a translated title and for a preprint that the publisher's record names", () => {
    const german = { ...base, title: "Greifen lernen durch Tasten", ...doi("10.1000/abc") };
    expect(samePaper({ ...base, ...doi("10.1000/abc") }, german)).toBe(true);
    const published = {
      ...base,
      title: "Touch-based dexterity",
      ...doi("10.1000/xyz"),
      otherVersions: [{ doi: "10.1101/2024.01.02.123456" }],
    };
    expect(samePaper({ ...base, ...doi("10.1101/2024.01.02.123456") }, published)).toBe(true);
  });

  it("finds one correction in whatever way two databases name what it corrects", () => {
    const one = { ...base, title: `${base.title} (vol 142, pg 310, 2003)`, volume: "142", issue: "6", pages: "616" };
    for (const title of [
      `Erratum: ${base.title} (The Journal of Touch (March 2003) 142 (310-317))`,
      `Erratum: ${base.title} (The Journal of Touch (M`,
      `${base.title} (Journal of Touch (2003) 142 (310-317))`,
      `Corrigendum to "${base.title}"`,
    ])
      expect([title, samePaper(one, { ...one, title })]).toEqual([title, true]);
  });

  describe("with a word more or less in one title", () => {
    const place = { venue: "Journal of Touch", volume: "26", issue: "9", pages: "1663-1663", date: "2011" };
    const one = {
      ...base,
      ...place,
      title: "Early tactile training for atypical haemolytic uraemic syndrome in children: results of a cohort",
      authors: ["Sample A", "Other B", "Third C"],
    };
    const withTitle = (change: (title: string) => string, more: object = {}) => ({
      ...one,
      title: change(one.title),
      ...more,
    });

    it("is one where an abbreviation in brackets is missing", () => {
      const added = withTitle((title) => title.replace("syndrome", "syndrome (aHUS)"));
      expect(samePaper(one, added)).toBe(true);
      expect(samePaper(one, { ...added, volume: null, issue: null, pages: null })).toBe(true);
      expect(
        samePaper(
          one,
          withTitle((title) => title.replace("syndrome", "syndrome (part 2)")),
        ),
      ).toBe(false);
    });

    it("is two works where the words say whom it is about, but on the same pages", () => {
      const title = "Efficacy and safety of early tactile training against crusted scabies";
      const of = (name: string, pages: string | null = null) => ({ ...one, title: name, pages });
      for (const other of [
        `${title} in children`,
        `${title} in healthy older adults`,
        `${title} for pregnant women`,
        title.replace("crusted", "adult crusted"),
      ]) {
        expect([other, samePaper(of(title), of(other))]).toEqual([other, false]);
        expect([other, samePaper(of(title, "101-109"), of(other))]).toEqual([other, false]);
        expect([other, samePaper(of(title, "101-109"), of(other, "101-109"))]).toEqual([other, true]);
      }
      expect(samePaper(of(`${title} in adults`), of(`${title} in children`))).toBe(false);
      for (const other of [`${title}: a randomised trial in children`, `${title} in a cohort from Jena`])
        expect([other, samePaper(of(title), of(other))]).toEqual([other, true]);
    });

    it("is compared by the beginning of what is too long for a title, and without runs of dots and spaces", () => {
      expect(titleParts("grip ".repeat(4_000))?.words.length).toBe(400);
      const run = " .".repeat(30_000);
      expect(titleParts(`${one.title}${run}`)?.compact).toBe(titleParts(one.title)?.compact);
      expect(titleParts(`Early tactile ${" ".repeat(30_000)} training${run}…`)).toMatchObject({
        words: ["early", "tactile", "training"],
      });
    });

    it("is one on one page of a volume, or in one issue where a page is missing, and nowhere else", () => {
      const less = withTitle((title) => title.replace("tactile ", ""));
      expect(samePaper(one, less)).toBe(true);
      expect(samePaper(one, { ...less, pages: null })).toBe(true);
      expect(samePaper(one, { ...less, volume: null, issue: null, pages: null })).toBe(false);
      expect(samePaper(one, { ...less, pages: "1664" })).toBe(false);
      expect(samePaper(one, { ...less, authors: ["Sample A", "Other B"] })).toBe(false);
      // Two abstracts of one group on one page.
      expect(
        samePaper(
          one,
          withTitle((title) => title.replace("tactile", "late")),
        ),
      ).toBe(false);
      expect(
        samePaper(
          one,
          withTitle((title) => title.replace("for atypical", "not for atypical")),
        ),
      ).toBe(false);
    });

    it("is one with a slip in the year, where all else is the same", () => {
      expect(samePaper(one, { ...one, date: "2013" })).toBe(true);
      expect(samePaper(one, { ...one, date: "2015" })).toBe(false);
      expect(samePaper(one, { ...one, date: "2013", volume: "28" })).toBe(false);
      expect(samePaper(one, { ...one, date: "2013", venue: "Hand Surgery Today" })).toBe(false);
    });

    it("is one where the title of a book stands as its journal, as in PsycINFO", () => {
      const book = {
        ...base,
        title: "Neuroplasticity and rehabilitation",
        venue: "Neuroplasticity and rehabilitation",
      };
      expect(samePaper({ ...book, pages: "xiii, 351" }, book)).toBe(true);
      const journal = "Communications of the Association for Touch";
      expect(samePaper({ ...book, title: journal, venue: journal }, { ...book, title: journal, venue: journal })).toBe(
        false,
      );
    });

    it("is one on the same pages of an article, whatever the subtitle says", () => {
      const article = { ...one, pages: "1663-1670" };
      const update = { ...article, title: `${article.title}: an update` };
      expect(samePaper(article, update)).toBe(true);
      expect(samePaper(article, { ...update, pages: "1663" })).toBe(true);
      expect(samePaper(article, { ...update, pages: "1701-1708" })).toBe(false);
      expect(samePaper(article, { ...article, title: `${article.title}: part 2` })).toBe(false);
    });

    it("is one with a letter lost, wherever it stood", () => {
      for (const [word, lost] of [
        ["haemolytic", "haeolytic"],
        ["results", "rsults"],
        ["training", "traning"],
      ] as const)
        expect([
          lost,
          samePaper(
            one,
            withTitle((title) => title.replace(word, lost)),
          ),
        ]).toEqual([lost, true]);
      const present = { ...one, title: "Children may present with features of haemolytic uraemic syndrome" };
      expect(samePaper(present, { ...present, title: present.title.replace("present", "prsent") })).toBe(true);
      expect(samePaper(present, { ...present, title: present.title.replace("haemolytic", "hypohaemolytic") })).toBe(
        false,
      );
    });
  });

  it("leaves a work alone whose title begins like a correction's", () => {
    const title = "Correction of gait impairments after stroke by computer programs";
    expect(samePaper({ ...base, title }, { ...base, title, authors: "Sample A, Other B" })).toBe(true);
    expect(samePaper({ ...base, title }, { ...base, title: title.slice("Correction of ".length) })).toBe(false);
  });

  it("tells an article from its correction, also under one DOI", () => {
    expect(
      samePaper(
        { ...base, ...doi("10.1000/abc") },
        { ...base, title: `Correction to: ${base.title}`, ...doi("10.1000/abc") },
      ),
    ).toBe(false);
    expect(samePaper(base, { ...base, title: `${base.title}: Erratum` })).toBe(false);
    expect(samePaper(base, { ...base, kind: "notice" })).toBe(false);
    expect(samePaper(base, { ...base, title: `RETRACTED: ${base.title}` })).toBe(true);
  });

  it("is not shared by two arXiv papers, nor by two papers of PubMed, whatever their titles", () => {
    expect(
      samePaper({ ...base, identifiers: { arxiv: "2401.12345" } }, { ...base, identifiers: { arxiv: "2401.12346" } }),
    ).toBe(false);
    expect(samePaper({ ...base, identifiers: { pmid: "1" } }, { ...base, identifiers: { pmid: "2" } })).toBe(false);
  });
});

describe("title, first author and year", () => {
  it("make one work of two records whose names in Chinese characters are written with and without a space", () => {
    const work = { title: "漢字の研究", date: "2020", venue: "J", volume: "1", pages: "2-3", url: null };
    expect(samePaper({ ...work, authors: ["山田太郎"] }, { ...work, authors: ["山田, 太郎"] })).toBe(true);
    expect(samePaper({ ...work, authors: ["山田太郎"] }, { ...work, authors: ["山田 花子"] })).toBe(false);
  });

  const published = {
    ...base,
    title: "Learning dexterous manipulation from touch.",
    authors: "Sample, Ada and Other, Bo",
    date: "2025",
    ...doi("10.1000/xyz"),
  };

  it("make one work of two records, and of a preprint and its published version", () => {
    expect(samePaper(base, published)).toBe(true);
    expect(samePaper(base, { ...published, authors: [] })).toBe(true);
    expect(samePaper(base, { ...published, authors: ["Cy Stranger"] })).toBe(false);
    expect(samePaper(base, { ...published, date: "2019" })).toBe(false);
    const preprint = { ...base, date: "2022-11-03", url: "https://arxiv.org/abs/2211.00001" };
    expect(why(preprint, published)).toEqual({
      same: true,
      why: "preprint and published version: the same title and the same authors, 2022 and 2025",
    });
  });

  it.each<[string, Partial<TitledPaper>, Partial<TitledPaper>]>([
    ["in an abbreviated journal", { venue: "Ann Hepatol" }, { venue: "Annals of Hepatology" }],
    ["with initials for names", { authors: "B. Other; A. Sample" }, { authors: "Other, Bo and Sample, Ada" }],
    [
      "with names run together",
      { authors: "Tan A.Schulze A.O'Donnell C. P." },
      { authors: ["A. Tan", "A. Schulze", "C. P. O’Donnell"] },
    ],
    [
      "with the family name first",
      { authors: "Omulo Sylvia and Thumbi Samuel M." },
      { authors: "Omulo, S. and Thumbi, S. M." },
    ],
    [
      "online in one year, in an issue of the next",
      { venue: "Journal of Touch", pages: "1--17" },
      { venue: "Journal of Touch", date: "2025", pages: "566--582" },
    ],
    [
      "in two spellings",
      { title: "Modelling the behaviour of tactile fingers in industrial robots" },
      { title: "Modeling the behavior of tactile fingers in industrial robots" },
    ],
    ["with and without a hyphen", { title: "Multi-site studies of touch" }, { title: "Multisite studies of touch" }],
    [
      "in numbered versions of one DOI",
      { ...doi("10.1002/14651858.CD002273.pub2"), issue: "3" },
      { ...doi("10.1002/14651858.cd002273.pub3"), issue: "2", date: "2025" },
    ],
    ["on a page with a letter before it", { volume: "4", pages: "e123" }, { volume: "4", pages: "123" }],
    ["under an escaped DOI", doi("10.1002/(SICI)1097%3C1::AID%3E3.0"), doi("10.1002/(sici)1097&lt;1::aid&gt;3.0")],
    [
      "in two updates of a Cochrane review",
      { venue: "Cochrane Database of Systematic Reviews", pages: "CD001234", date: "2003" },
      { venue: "Cochrane Database Syst Rev", issue: "3", pages: "CD001234.", date: "2009" },
    ],
    [
      "whose volume stands in the column of the issue",
      { venue: "J. Touch", issue: "26", pages: "9" },
      { venue: "Journal of Touch", volume: "26", issue: "9", pages: "1746-1746" },
    ],
    [
      "in a journal, and at the meeting whose abstracts it printed",
      { venue: "Journal of Touch.Conference: 23rd Congress of the Society of Grip Oslo Norway.", volume: "9" },
      { venue: "23rd Congress of the Society of Grip Oslo Norway.", volume: "9" },
    ],
    [
      "with a slip in the page, under a long title",
      { title: longTitle, venue: "J. Touch", volume: "15", pages: "22-22" },
      { title: longTitle, venue: "Journal of Touch", volume: "15", pages: "52-52" },
    ],
    ["of which one record says that nobody is named", {}, { authors: ["[No authors listed]"] }],
    ["in a list that was cut", {}, { authors: ["Ada Sample", "et al."] }],
    [
      "in a journal that PubMed tells from others by its place",
      { venue: "Presse du toucher (Paris, France : 1983)" },
      { venue: "Presse toucher", volume: "3" },
    ],
    [
      "in a journal with its translation behind a full stop",
      { venue: "Int J Touch" },
      { venue: "International Journal of Touch. Journal International du Toucher", volume: "3" },
    ],
    [
      "with two DOIs on one page",
      { ...doi("10.1000/a"), venue: "J. Touch", volume: "4", pages: "17-20" },
      { ...doi("10.1000/b"), venue: "Journal of Touch", volume: "4 (1)", pages: "17" },
    ],
  ])("find a work %s", (_, a, b) => {
    expect(why({ ...base, ...a }, { ...base, ...b })).toMatchObject({ same: true });
  });

  it.each<[string, Partial<TitledPaper>, Partial<TitledPaper>]>([
    ["a journal and a workshop", { venue: "Journal of Digital Studies" }, { venue: "Workshop of Digital Studies" }],
    ["a journal and one whose name goes on", { venue: "Lancet" }, { venue: "Lancet Oncology" }],
    [
      "a conference paper and the journal's version",
      { ...doi("10.1109/X.2011.1"), date: "2011" },
      { ...doi("10.1080/1"), date: "2014" },
    ],
    [
      "a conference paper of one author and a later article of two",
      { authors: "Sample, Ada", venue: "Americas Conference on Touch", date: "2023" },
      {},
    ],
    [
      "two years of a series",
      { venue: "Hawaii International Conference on System Sciences" },
      { venue: "Hawaii International Conference on System Sciences", date: "2025" },
    ],
    ["two parts", { title: `${base.title}, Part I: Sensors` }, { title: `${base.title}, Part II: Sensors` }],
    ["a work and its second part", {}, { title: `${base.title}: Part 2` }],
    ["two volumes", { venue: "J. Touch", volume: "4" }, { venue: "Journal of Touch", volume: "5" }],
    [
      "two pages of one issue",
      { venue: "J. Touch", volume: "4", pages: "S12" },
      { venue: "Journal of Touch", volume: "4", pages: "S40-S41" },
    ],
    [
      "two pages of one issue, under a long title but in two issues",
      { title: longTitle, venue: "J. Touch", volume: "25", issue: "9", pages: "1875-1875" },
      { title: longTitle, venue: "Journal of Touch", volume: "25", issue: "12", pages: "2539-2542" },
    ],
    [
      "two texts of several pages in one volume",
      { title: longTitle, venue: "J. Touch", volume: "25", pages: "101-112" },
      { title: longTitle, venue: "Journal of Touch", volume: "25", pages: "201-214" },
    ],
    [
      "a monthly column in two issues of a volume",
      { title: "Gateways to clinical touch", venue: "J. Touch", volume: "25", issue: "3", pages: "185" },
      { title: "Gateways to clinical touch", venue: "Journal of Touch", volume: "25", issue: "4", pages: "285" },
    ],
    [
      "a monthly column in one volume, without issues",
      { title: "Gateways to clinical touch", venue: "J. Touch", volume: "25", pages: "185" },
      { title: "Gateways to clinical touch", venue: "Journal of Touch", volume: "25", pages: "285" },
    ],
    [
      "the abstracts of two journals",
      { title: longTitle, venue: "Journal of Touch", volume: "37", issue: "3", pages: "S42" },
      { title: longTitle, venue: "Neurology", volume: "41", issue: "7", pages: "e505" },
    ],
    [
      "a correction and its article in one volume",
      { volume: "4", issue: "1" },
      { title: `${base.title} (vol 4, pg 3, 2024)`, volume: "4", issue: "6" },
    ],
    ["a correction and a reply", { title: `Erratum: ${base.title}` }, { title: `Reply: ${base.title}` }],
    [
      "sister trials",
      { title: "Open label trial of a glove in adult patients with therapy-resistant tremor" },
      { title: "Open label trial of a glove in adolescent patients with therapy-resistant tremor" },
    ],
    [
      "opposite words",
      { title: "Effects of hypoglycemia on grip strength in adults" },
      { title: "Effects of hyperglycemia on grip strength in adults" },
    ],
    [
      "another species",
      { title: "Tactile learning of grip strength in mice" },
      { title: "Tactile learning of grip strength in rats" },
    ],
    ["a work and one with a subtitle, of two years", { date: "2025", title: `${base.title}: Human Errors` }, {}],
    ["another person of the same name", { authors: "Hall, Laura L" }, { authors: "Hall, Gillian" }],
    [
      "editorials",
      { title: "Editorial", authors: ["Ada Sample"], date: "2023" },
      { title: "Editorial", authors: ["Ada Sample"], date: "2024" },
    ],
    ["reviews of books", { title: "Book review" }, { title: "Book review" }],
    ["records without a title", { title: "UNKNOWN" }, { title: "UNKNOWN" }],
    [
      "titles that are the journal's name",
      { title: "Journal of Touch Journal of Touch Volume 52 Paper 41", venue: "Journal of Touch" },
      { title: "Journal of Touch Journal of Touch Volume 52 Paper 45", venue: "Journal of Touch" },
    ],
  ])("do not make one work of %s", (_, a, b) => {
    expect(why({ ...base, ...a }, { ...base, ...b })).toMatchObject({ same: false });
  });

  it("give the same answer whichever record comes first", () => {
    expect(samePaper(published, base)).toBe(samePaper(base, published));
  });
});
