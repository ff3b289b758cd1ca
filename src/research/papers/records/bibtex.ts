import type { Creator, Entry as ParsedEntry, Options } from "@retorquere/bibtex-parser";
import { authorsOf, partsOfName } from "../authors.js";
import { type BibtexEntry, bibtexEntries } from "./bibtex-entries.js";
import { isWhole, narrowed, type RawEntry, type ReadEntry, type WorkType } from "./entry.js";

const types: Readonly<Record<string, WorkType>> = {
  article: "journal-article",
  inproceedings: "proceedings-article",
  conference: "proceedings-article",
  incollection: "book-chapter",
  inbook: "book-chapter",
  suppbook: "book-chapter",
  book: "book",
  mvbook: "book",
  booklet: "book",
  collection: "book",
  proceedings: "proceedings",
  phdthesis: "dissertation",
  thesis: "dissertation",
  mastersthesis: "masters-thesis",
  techreport: "report",
  report: "report",
  manual: "report",
  dataset: "dataset",
  software: "software",
  patent: "patent",
  online: "web-page",
  electronic: "web-page",
  www: "web-page",
  webpage: "web-page",
  mvcollection: "book",
  reference: "book",
  mvreference: "book",
  inreference: "book-chapter",
  bookinbook: "book-chapter",
  mvproceedings: "proceedings",
};

/** Fields whose value is not TeX. Programs escape signs in them all the same. */
const verbatim = new Set([
  "doi",
  "url",
  "eprint",
  "file",
  "pmid",
  "pubmed_id",
  "pubmed-id",
  "pmcid",
  "howpublished",
  "arxivid",
]);
/** Fields that a record has a place for; the others are not read. */
const wanted = new Set(
  `title subtitle shorttitle maintitle author editor year date month day journal journaltitle shortjournal booktitle volume number issue pages
  eid articleno art_number article-number abstract keywords keyword author_keywords note annote publisher school institution organization address location edition
  series isbn issn eissn language langid crossref xdata archiveprefix eprinttype primaryclass accession accession_number unique-id
  type`
    .split(/\s+/)
    .concat([...verbatim]),
);

/** Under its own name the library sorts this list, and leaves the TeX in it. */
const keywordList = "keywordlist";
const nameThere = (field: string): string => (field === "keywords" ? keywordList : field);

const options: Options = { sentenceCase: false, english: false, caseProtection: false, unsupported: "ignore" };

/**
 * Reads a .bib file, of BibTeX or BibLaTeX. TeX in names and titles becomes text; a field that cannot be read is left
 * out of its entry and named.
 */
export async function readBibtex(text: string): Promise<ReadEntry[]> {
  const { parse } = await import("@retorquere/bibtex-parser");
  const entries = bibtexEntries(text);
  const works = entries.filter(({ type }) => type !== "xdata");
  const byKey = new Map(entries.filter(({ key }) => key !== "").map((each) => [each.key.toLowerCase(), each]));
  return works.map((entry): ReadEntry => {
    const { key, line } = entry;
    const named = { line, ...(key === "" ? {} : { key, ownKey: key }) };
    const fields = withInherited(entry, byKey).filter(({ name }) => wanted.has(name));
    if (fields.length === 0) return { ...named, why: entry.why ?? "it has no fields that are known" };
    const { values, lost } = parseFields(parse, entry.type, fields);
    const cut = entry.why === undefined ? [] : [entry.why];
    return { ...named, entry: workOf(entry.type, values, fields), lost: [...cut, ...lost] };
  });
}

/** An entry's fields, and what it takes over from those that it names: of a whole, the title is the book's. */
function withInherited(entry: BibtexEntry, byKey: ReadonlyMap<string, BibtexEntry>): BibtexEntry["fields"] {
  const fields = new Map(entry.fields.map((field) => [field.name, field]));
  for (const name of ["xdata", "crossref"]) {
    const keys = (fields.get(name)?.value ?? "")
      .toLowerCase()
      .split(",")
      .map((each) => each.trim());
    for (const parent of keys.map((key) => byKey.get(key)))
      for (const field of parent === entry ? [] : (parent?.fields ?? [])) {
        const isTitle = name === "crossref" && field.name === "title";
        const taken = isTitle ? "booktitle" : field.name;
        if (!fields.has(taken) && !(name === "crossref" && field.name === "author"))
          fields.set(taken, { ...field, name: taken });
      }
  }
  return [...fields.values()];
}

type Values = { readonly [name: string]: string | readonly string[] | readonly Creator[] | undefined };
type Parse = typeof import("@retorquere/bibtex-parser").parse;

/** The fields as text. Where the whole can't be read, field by field, so that one costs none of the others. */
function parseFields(parse: Parse, type: string, fields: BibtexEntry["fields"]) {
  const values: Record<string, Values[string]> = {};
  for (const { name, value } of fields) if (verbatim.has(name)) values[name] = unescaped(value);
  const inTex = fields.filter(({ name }) => !verbatim.has(name));
  const whole = attempt(parse, type, inTex);
  if (whole !== undefined) Object.assign(values, whole);
  else
    for (const field of inTex)
      Object.assign(values, attempt(parse, type, [field]) ?? attempt(parse, type, [withoutTex(field)]));
  // Names that it can't read are read as other sources write such lists.
  const lost = inTex.filter(
    ({ name, value }) => !isNames(name) && /[\p{L}\d]/u.test(value) && isEmpty(values[nameThere(name)]),
  );
  return {
    values,
    lost: lost.map(
      ({ name, line, value }) => `the field ${name} in line ${line} can't be read (${value.slice(0, 40)})`,
    ),
  };
}

const isEmpty = (value: Values[string]): boolean => value === undefined || value.length === 0;

function attempt(parse: Parse, type: string, fields: BibtexEntry["fields"]): ParsedEntry["fields"] | undefined {
  const text = fields.map(({ name, value }) => `${nameThere(name)} = {${prepared(name, value)}}`).join(",\n");
  try {
    const { entries, errors } = parse(`@${type}{k,\n${text}\n}`, options);
    const [entry] = entries;
    return errors.length > 0 || entry === undefined ? undefined : entry.fields;
  } catch {
    // The library throws for values that it did not foresee.
    return undefined;
  }
}

/** A value as the library reads it: BibTeX parts authors by "and", and some programs by semicolons. */
function prepared(name: string, value: string): string {
  const whole = value
    // For the library a comment begins there; databases write "10 %".
    .replace(/(?<!\\)%/g, String.raw`\%`)
    // Mendeley's "~" and "^" would be accents without a letter.
    .replace(/\\([~^])\{\}/g, (_, sign: string) => (sign === "~" ? "\\textasciitilde{}" : "\\textasciicircum{}"))
    // It drops these, and makes mark-up of links and paragraphs.
    .replace(/\n\s*\n|\\par\b/g, "\n")
    .replace(/(?<!\\)\\(?=\s)/g, "~")
    .replace(/\\((?:La|Bib|Con|Xe|Lua)?TeX)\b(?:\{\})?/g, "$1")
    .replace(/\\(?:href|foreignlanguage|textcolor)\s*\{[^{}]{0,2000}\}\s*(?=\{)|\\url\s*(?=\{)/g, "")
    .replace(/\\(?:footnote|thanks)\s*\{[^{}]*\}/g, "")
    .replace(/(\\[a-z]{2,20})\*(?=\{)/g, "$1")
    // It drops formulas that stand apart, and draws degrees as another sign.
    .replace(/\$\$([^$]{1,1000})\$\$|\\\[([^$]{1,1000}?)\\\]/g, (_, a?: string, b?: string) => `$${a ?? b}$`)
    .replace(/\^\{\s*\\circ\s*\}/g, "^\\circ ");
  return isNames(name) ? preparedNames(whole) : withAngles(withoutMoney(whole));
}

const isNames = (field: string): boolean => field === "author" || field === "editor";

/** A list of names as BibTeX writes them, without footnotes and marks behind a name. */
function preparedNames(value: string): string {
  const names = value
    .replace(/\s+/g, " ")
    .replace(/\$\^\{?(?:[\d,*\s]|\\d?dagger)*\}?\$|\\textsuperscript\{[\d,*\s]*\}/g, "")
    .replace(/\\and\b/g, " and")
    .replace(/;\s+(?=\S)/g, " and ");
  const listed = names.replace(etAl, "");
  return listed.includes("{") ? listed : namesWithAnd(listed);
}

const etAl =
  /(?<![\s,])[\s,]+(?:and\s+)?(?:\\(?:textit|emph))?\{?(?:\\(?:it|em)\s)?et[\s~]al\b\.?\}?(?:\s+and\s+others)?\s*$/i;

/** "Smith, J. & Doe, A.", and "Ann Smith, Bob Doe, and Cy Roe" of names in two words. */
function namesWithAnd(value: string): string {
  const names = value.includes(",") ? value.replace(/(?<![\s,]),?\s+\\?&\s/g, " and ") : value;
  const parts = names.split(/,\s+and\s+|\sand\s|,/).map((part) => part.trim());
  const isPlainList = /,\s+and\s/.test(names) && parts.every((part) => /\S\s+\S/.test(part));
  return isPlainList ? parts.join(" and ") : names;
}

/** TeX's old fonts draw other signs for "<" and ">" outside of formulas, and so does the library. */
const withAngles = (value: string): string =>
  value.includes("<") || value.includes(">")
    ? value
        .split(/((?<!\\)\$[^$]{0,500}\$)/)
        .map((part, index) =>
          index % 2 === 1 ? part : part.replaceAll("<", "{\\textless}").replaceAll(">", "{\\textgreater}"),
        )
        .join("")
    : value;

/** A dollar sign before a number that no other one closes is a sum of money. */
function withoutMoney(value: string): string {
  const dollars = value.match(/(?<!\\)\$/g)?.length ?? 0;
  const sums = value.match(/(?<!\\)\$(?=\s?\d[\d.,]*(?:\s|[.,;:)}]|$))/g)?.length ?? 0;
  return dollars % 2 === 1 || (sums === dollars && sums > 1) ? value.replace(/(?<!\\)\$/g, String.raw`\$`) : value;
}

/** The same as plain text, where its TeX is broken. */
const withoutTex = (field: BibtexEntry["fields"][number]): BibtexEntry["fields"][number] => ({
  ...field,
  value: field.value.replace(/\\[a-z]+\s*/gi, " ").replace(/[\\{}$^_&%#~]/g, " "),
});

/** Signs that programs escape in addresses, DOIs and paths. */
const unescaped = (value: string): string =>
  value
    .replace(/^\\url\s*\{(.*?)\}?$/s, "$1")
    .replace(/\$\\backslash\$|\\textbackslash(?:\{\})?/g, "\\")
    .replace(/\\text(less|greater|underscore|asciitilde)(?:\{\})?/g, (_, name: string) => signs[name] ?? "")
    .replace(/\{?\\([~^])\{\}\}?|\{?\\([_%&#$~{}()])\}?/g, "$1$2")
    .replace(/\{([^{}]*)\}/g, "$1")
    .replace(/%3C/gi, "<")
    .replace(/%3E/gi, ">")
    .trim();
const signs: Readonly<Record<string, string>> = { less: "<", greater: ">", underscore: "_", asciitilde: "~" };

function workOf(type: string, values: Values, fields: BibtexEntry["fields"]): RawEntry {
  const text = (...names: readonly string[]): string | undefined => {
    for (const name of names) {
      const value = values[name];
      const joined = Array.isArray(value) ? value.filter((each) => typeof each === "string").join("; ") : value;
      // R writes NA for what is missing.
      if (typeof joined === "string" && joined !== "" && joined !== "NA") return joined;
    }
    return undefined;
  };
  const raw = (name: string) => fields.find((field) => field.name === name)?.value ?? "";
  const said = text("type") ?? "";
  const kind = narrowed(types[type], said);
  const journal = text("journal", "journaltitle", "shortjournal");
  const inJournal = /\barxiv:?\s*(\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]+(?:\.[a-z]{2})?\/\d{7})/i.exec(journal ?? "")?.[1];
  // ADS writes it in place of the pages, and DBLP of the volume.
  const place = text("pages", "eid", "articleno", "art_number", "article-number");
  const inVolume = /^abs\/(\S+)$/.exec(text("volume") ?? "")?.[1];
  const inPlace = inVolume ?? [place, text("eid")].find(isArxiv);
  const title = text("title", "shorttitle", "maintitle") ?? (isWhole(kind) ? text("booktitle") : undefined);
  const sub = text("subtitle");
  const isThesis = /thesis/.test(type);
  const eprint = arxivOf(text("eprint", "arxivid"), text("archiveprefix", "eprinttype"), text("primaryclass"));
  const isLoose =
    (kind === undefined || kind === "web-page") && journal === undefined && text("booktitle") === undefined;
  const isPreprint =
    inJournal !== undefined ||
    /^\s*(?:arxiv|biorxiv|medrxiv|corr)\b/i.test(journal ?? text("publisher") ?? "") ||
    (isLoose && (eprint !== undefined || /preprint/i.test(said)));
  return {
    title: title !== undefined && sub !== undefined ? `${title}: ${sub}` : title,
    authors: namesOf(values["author"], raw("author")),
    editors: namesOf(values["editor"], raw("editor")),
    dates: [text("date"), text("year")].flatMap((each) => each ?? []),
    // Of months from one to another the first.
    day: [text("month")?.replace(/^(\d{1,2})\s?[-–/]{1,2}\s?\d{1,2}$/, "$1"), text("day")]
      .flatMap((each) => each ?? [])
      .join(" "),
    venue: isWhole(kind) ? undefined : (journal ?? text("booktitle")),
    volume: inVolume === undefined ? text("volume") : undefined,
    issue: text("number", "issue"),
    pages: isArxiv(place) ? undefined : place,
    abstract: text("abstract"),
    dois: [text("doi"), text("howpublished"), text("note")].flatMap((each) => each ?? []),
    arxiv: [eprint, inJournal, inPlace].flatMap((each) => each ?? []),
    pmid:
      text("pmid", "pubmed_id", "pubmed-id") ?? (/pubmed/i.test(text("eprinttype") ?? "") ? text("eprint") : undefined),
    pmcid: text("pmcid"),
    urls: [text("url"), text("howpublished")].flatMap((each) => each ?? []),
    type: isPreprint && (kind === "journal-article" || kind === "web-page" || kind === undefined) ? "preprint" : kind,
    numbers: [text("isbn"), text("issn"), text("eissn")].flatMap((each) => each ?? []),
    keywords: keywordsIn(text(keywordList), text("keyword"), text("author_keywords")),
    note: [text("note"), text("annote")].flatMap((each) => each ?? []).join("\n"),
    publisher: isThesis
      ? text("school", "institution", "publisher")
      : text("publisher", "institution", "organization", "school"),
    place: text("address", "location"),
    edition: text("edition"),
    series: text("series"),
    language: text("language", "langid"),
    accession: text("accession", "accession_number", "unique-id"),
    files: filesOf(text("file") ?? ""),
  };
}

const keywordsIn = (...lists: readonly (string | undefined)[]): string[] =>
  lists.flatMap((list) => (list ?? "").split(/[;,]/)).map((word) => word.trim());

const isArxiv = (value: string | undefined): boolean => /^arxiv:/i.test(value ?? "");

/** An arXiv id in `eprint`; old ones may stand there without their class or slash: "9711201" of cs. */
function arxivOf(eprint: string | undefined, prefix = "arxiv", category = ""): string | undefined {
  if (eprint === undefined || !/arxiv/i.test(prefix)) return undefined;
  const id = eprint.replace(/^arxiv:/i, "").trim();
  return /^\d{7}$/.test(id) && category !== "" ? `${category.split(".")[0]}/${id}` : id;
}

/** Names as "Family, Given, Jr."; a list that knows no "and" is read as other sources write such lists. */
function namesOf(value: Values[string], raw: string): string[] {
  const asText = () => [...authorsOf(withoutTex({ name: "", value: raw, line: 0 }).value)];
  if (!Array.isArray(value)) return asText();
  const plainRaw = raw.replace(/\s+/g, " ");
  const creators = value.filter((each): each is Creator => typeof each === "object");
  const names = creators.map(({ name, lastName, firstName, prefix, suffix }) => {
    if (lastName === undefined) return name ?? firstName ?? "";
    const last = prefix === undefined || prefix === "" ? lastName : `${prefix} ${lastName}`;
    const inOrder = [firstName, last].filter(Boolean).join(" ");
    // "Smith JA" as PubMed writes it, which BibTeX would read as a given name and a surname.
    const { rest, initials } = plainRaw.includes(inOrder) ? partsOfName(inOrder) : { rest: inOrder };
    if (initials !== undefined && (initials.length === 1 || /\p{Ll}/u.test(rest))) return `${rest}, ${initials}`;
    return [last, firstName, suffix].filter((part) => part !== undefined && part !== "").join(", ");
  });
  const parts = raw.split(",");
  const isOneOfSeveral =
    names.length === 1 &&
    (parts.length > 1 || raw.includes(";")) &&
    !/\sand\s/i.test(raw) &&
    !raw.startsWith("{") &&
    (raw.includes(";") || parts.length > 2 || parts.every((part) => initialsInFront.test(part)));
  if (!isOneOfSeveral || /,\s*(?:jr|sr|ii|iii|iv)\.?\s*,/i.test(raw)) return names;
  return asText();
}

/** "J. D. Smith": initials in front of a surname. */
const initialsInFront = /^\s*\p{Lu}\..*\p{Ll}/u;

/** Paths of documents, as JabRef, Zotero and Mendeley write them: "name:path:type;…", with `:` escaped in a path. */
function filesOf(field: string): string[] {
  return field.split(/(?<!\\);/).flatMap((part) => {
    const pieces = part.split(/(?<!\\):(?!\\)/).map((piece) => piece.replace(/\\([:;\\])/g, "$1"));
    const path = pieces.length >= 3 ? pieces.slice(1, -1).join(":") : part.replace(/\\([:;\\])/g, "$1");
    return path.trim() === "" ? [] : [path.trim()];
  });
}
