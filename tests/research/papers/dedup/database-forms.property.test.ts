import fc from "../../../support/runner/fast-check.js";
import { describe, expect, it } from "vitest";
import type { PaperRecord } from "../../../../src/research/papers/paper-record.js";
import { mergeRecords } from "../../../../src/research/papers/dedup/merge-records.js";

type Field = "title" | "authors" | "date" | "venue" | "volume" | "issue" | "pages" | "identifiers";
/** Fields of a record as a database writes them; undefined where it says nothing. */
type Form = { readonly [Name in Field]?: PaperRecord[Name] | undefined };

const article = {
  title: "Grip strength and haptic feedback after stroke in older adults",
  authors: ["Moreau, Lise", "Okafor, Chidi", "Brandt, Jens"],
  date: "2011",
  venue: "Journal of Tactile Rehabilitation",
  volume: "31",
  issue: "8",
  pages: "630-637",
} satisfies Form;
const base: PaperRecord = {
  id: "a",
  url: "https://x.test/a",
  pdf_url: null,
  source: "A",
  abstract: null,
  identifiers: {},
  ...article,
};
const record = (id: string, source: string, form: Form): PaperRecord => {
  const said = Object.entries({ ...base, id, url: `https://x.test/${id}`, source, ...form });
  return Object.fromEntries(said.filter(([, value]) => value !== undefined)) as unknown as PaperRecord;
};
/** Without volume, issue and pages, so that the names of the venues decide. */
const nowhere = { volume: undefined, issue: undefined, pages: undefined } satisfies Form;
const merged = (...forms: Form[]) =>
  mergeRecords(
    forms.map((form, index) => record(`r${index}`, `S${index}`, form)),
    [],
  );
const works = (...forms: Form[]) => merged(...forms).works.length;
const from = fc.constantFrom;
const { title } = article;

/** One field of the article as databases write it, so that any choice of them is the same work. */
const titles = from(
  title,
  `${title}.`,
  title.toUpperCase(),
  `[${title}]. [French]`,
  `${title}. [Review] [33 refs]`,
  `${title} (Provisional abstract)`,
  `${title}.[Erratum appears in J Tactile Rehabil. 2012 May;32(4):943]`,
  `[${title} (author's transl)]`,
  `${title} (Reprinted from J Touch, vol 3, pg 3-9, 1998)`,
  `${title}. (in French)`,
  `&lt;i&gt;Grip&lt;/i&gt; ${title.slice(5)}`,
  `[HTML] ${title}`,
  `${title} [letter; comment]`,
  `${title}... including commentary by Hale P with author response`,
  `OP0123 ${title}`,
  `Abstract P123: ${title}`,
  `${title}... [corrected] [published erratum appears in J TACTILE REHABIL 2012;32(4):943]`,
  `Force de préhension et retour haptique chez la personne âgée; ${title}`,
  `Force de préhension et retour haptique chez la personne âgée [${title}]`,
);
const venues = from(
  "Journal of Tactile Rehabilitation",
  "J Tactile Rehabil",
  "J. Tact. Rehabil.",
  "The journal of tactile rehabilitation : official journal of the Society of Touch",
  "Journal of Tactile Rehabilitation; a journal of the hand",
  "Journal of Tactile Rehabilitation = Revue de réadaptation tactile",
  "Revue de réadaptation tactile [Journal of tactile rehabilitation]",
  "Journal of Tactile Rehabilitation.Conference: 8th Congress of Touch Oslo Norway.",
  "Journal of Tactile Rehabilitation (00123456)",
  "Journal of Tactile Rehabilitation. Supplement",
  "Journal of Tactile Rehabilitation (English edition)",
  "J TACTILE REHABIL-LONDON",
  "JTR: Journal of Tactile Rehabilitation",
);
const names = from(
  ["Moreau, Lise", "Okafor, Chidi", "Brandt, Jens"],
  ["Moreau L", "Okafor C", "Brandt J"],
  ["Moreau, L.", "Okafor, C."],
);
const forms = fc.record({
  title: titles,
  authors: names,
  venue: venues,
  volume: from("31", "31 (8)", "31 Suppl 2", "Vol. 31"),
  issue: from("8", "08", "Suppl 2", "Aug", "1204"),
  pages: from("630-637", "630-7", "630--637", "pp. 630-637"),
});

describe("one work", () => {
  it("is found in whatever forms databases write its title, authors, journal, volume, issue and pages", () => {
    fc.assert(
      fc.property(fc.array(forms, { minLength: 2, maxLength: 5 }), (some) => {
        expect(works(...some)).toBe(1);
      }),
      { numRuns: 300 },
    );
  });

  it.each<[string, Form, Form]>([
    [
      "& and 'and' in a journal's name",
      { venue: "Touch & Rehabilitation" },
      { venue: "Touch and Rehabilitation: An International, Multidisciplinary Journal" },
    ],
    [
      "a journal whose volume was printed as a book",
      { venue: "Basic Principles of Touch, Part A" },
      { venue: "Annals of the Tactile Academy" },
    ],
    ["a running issue number and one within the year", { issue: "9712", pages: "630" }, { issue: "3", pages: "S630" }],
    ["a volume that is none, without pages", { volume: "1)", pages: undefined }, { pages: undefined }],
    ["a volume numbered by the year", { volume: "2011", pages: undefined }, { pages: undefined }],
    ["a slip in the first page", { pages: "603-637" }, {}],
    ["a name that one database translates", { venue: "Zhonghua kang fu za zhi", ...nowhere }, nowhere],
    [
      "a word for several",
      { venue: "Ann NY Acad Sci", ...nowhere },
      { venue: "Annals of the New York Academy of Sciences", ...nowhere },
    ],
    [
      "an abbreviation that looks like another's",
      { venue: "Ann Int Med", ...nowhere },
      { venue: "Annals of Internal Medicine", ...nowhere },
    ],
    [
      "British spelling in a journal's name",
      { venue: "Int J Gynaecol Obstet", ...nowhere },
      { venue: "International Journal of Gynecology & Obstetrics", ...nowhere },
    ],
    [
      "an acronym behind 'Proceedings of'",
      { venue: "In Proceedings of ICIS 2012", ...nowhere },
      { venue: "International Conference on Information Systems", ...nowhere },
    ],
    [
      "a subtitle without a mark before it",
      { venue: "Touch European Journal of Touch and Skin", ...nowhere },
      { venue: "Touch", ...nowhere },
    ],
    [
      "one DOI among other words",
      {
        title: "Greifkraft und Tasten nach einem Schlaganfall",
        identifiers: { doi: "S0140(09)1 [pii] 10.1000/x [doi]" },
      },
      { identifiers: { doi: "10.1000/x" } },
    ],
    [
      "a DOI with its full text's address",
      { title: "Greifkraft und Tasten nach einem Schlaganfall", identifiers: { doi: "10.1000/x.9/full" } },
      { identifiers: { doi: "https://doi.org/10.1000/x.9" } },
    ],
    [
      "a slip in the name of its one author",
      { authors: ["Okafohr, C."], pages: "630-631" },
      { authors: ["Okafor, Chidi"], pages: "630-631" },
    ],
    ["a heading before the title", { title: `Medical progress: ${title}` }, {}],
    [
      "two translations of one title, on the same pages",
      { title: "Haptic feedback and grip strength following stroke in old adults" },
      {},
    ],
    [
      "an acronym with the year for a meeting",
      { venue: "Rehab 2011 Proceedings", volume: undefined, issue: undefined, pages: undefined },
      { venue: "Conference on Rehabilitation and Touch", volume: undefined, issue: undefined, pages: undefined },
    ],
  ])("is found in spite of %s", (_, a, b) => {
    expect(works({ ...article, ...a }, { ...article, ...b })).toBe(1);
  });

  it("is not broken by a record with a slip that more others agree with than contradict", () => {
    const online = { ...article, volume: undefined, pages: undefined, issue: undefined };
    const slip = { ...article, pages: "12-19", volume: undefined };
    expect(works(online, online, article, slip)).toBe(1);
    expect(works(online, article, slip)).toBe(2);
  });
});

describe("two works", () => {
  const others = from<Form>(
    { title: `Correction: ${title}` },
    { title: `${title} (vol 30, pg 12, 2010)` },
    { title: `${title} - Reply`, pages: "638" },
    { title: `${title}: Part 2` },
    { volume: "32", pages: "12-19" },
    { issue: "9", pages: "712-719" },
    { pages: "702-709" },
    { venue: "Annals of Neurology", volume: "12", pages: "4-9" },
    { authors: ["Sato, Yui", "Haddad, Rania", "Nowak, Piotr"], pages: undefined },
    { date: "2015", volume: "35" },
  );

  it("stay two in whatever forms databases write the first one", () => {
    fc.assert(
      fc.property(forms, others, (form, other) => {
        const { works: all } = merged({ ...article, ...form }, { ...article, issue: undefined, ...other });
        expect(all).toHaveLength(2);
      }),
      { numRuns: 300 },
    );
  });

  it.each<[string, Form, Form]>([
    [
      "editorials of one name in two issues, with DOIs of their own",
      {
        title: "Editor's comments",
        authors: ["Moreau, Lise"],
        issue: "1",
        pages: "3-8",
        identifiers: { doi: "10.1000/e1" },
      },
      {
        title: "Editor's comments",
        authors: ["Moreau, Lise"],
        issue: "2",
        pages: "3-8",
        identifiers: { doi: "10.1000/e2" },
      },
    ],
    [
      "abstracts of one supplement under its one DOI",
      { title: "Sleep and grip in shift workers", pages: "S12", identifiers: { doi: "10.1000/supplement" } },
      { title: "Lighthouses as landmarks for walkers", pages: "S40", identifiers: { doi: "10.1000/supplement" } },
    ],
    [
      "abstracts that stand on one page",
      { title: "Haptic feedback after stroke in older men", pages: "S12" },
      { title: "Haptic feedback before surgery in older women", pages: "S12" },
    ],
    [
      "papers of one title at two meetings, each named by its acronym",
      { venue: "ICIS 2009 Proceedings", ...nowhere },
      { venue: "ECIS 2009 Proceedings", ...nowhere },
    ],
    [
      "a study in one animal and in another",
      { title: "Grip strength after tendon transfer (in mice)", pages: undefined },
      { title: "Grip strength after tendon transfer (in rats)", pages: undefined },
    ],
    [
      "an article and a letter under its title, in another volume",
      { title: `${title} [letter]`, volume: "32", pages: undefined },
      { pages: undefined },
    ],
    [
      "a journal and one whose name goes on, without volume and pages",
      { venue: "Touch", volume: undefined, pages: undefined, issue: undefined },
      { venue: "Touch Oncology", volume: undefined, pages: undefined, issue: undefined },
    ],
  ])("are %s", (_, a, b) => {
    expect(works({ ...article, ...a }, { ...article, ...b })).toBe(2);
  });

  it("are found at once where names of venues may agree in very many ways", () => {
    const name = "aa ".repeat(60).trim();
    expect(
      works({ ...article, venue: `${name} b`, ...nowhere }, { ...article, venue: `${name} c c`, ...nowhere }),
    ).toBe(2);
  });

  it("say what keeps them apart", () => {
    const { lookAlikes } = merged(article, { ...article, issue: "9", pages: "712-719" });
    expect(lookAlikes.map(({ ids, why }) => [ids.toSorted(), why])).toEqual([[["r0", "r1"], "two issues"]]);
    expect(
      merged(article, { ...article, title: "A history of lighthouses in Brittany", pages: "1-9" }).lookAlikes,
    ).toEqual([]);
  });
});
