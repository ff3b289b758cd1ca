import type { Creator, Entry as ParsedEntry, Options } from "@retorquere/bibtex-parser";
import { journalOf } from "../../../text/journals.js";
import { authorsOf, partsOfName } from "../authors.js";
import { type BibtexEntry, bibtexEntries } from "./bibtex-entries.js";
import { isRetractedType } from "./ris.js";
import {
  groupName,
  keywordsIn,
  isStandalone,
  narrowedType,
  type RawEntry,
  type ReadEntry,
  type WorkType,
} from "./entry.js";

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

/** Fields whose value is not TeX. Some programs escape characters in them nevertheless. */
const verbatimFields = new Set([
  "doi",
  "url",
  "eprint",
  "file",
  "pmid",
  "pubmed_id",
  "pubmed-id",
  "pmcid",
  "pmc",
  "howpublished",
  "arxivid",
]);
/** The fields that are read. */
const knownFields = new Set(
  `title subtitle shorttitle maintitle author editor year date month day journal journaltitle shortjournal booktitle volume number issue pages
  eid articleno art_number article-number abstract keywords keyword author_keywords note annote publisher school institution organization address location edition
  series isbn issn eissn language langid crossref xdata archiveprefix eprinttype primaryclass accession accession_number unique-id
  type`
    .split(/\s+/)
    .concat([...verbatimFields]),
);

/** Another name for `keywords`, which the library would sort and not convert from TeX. */
const keywordList = "keywordlist";
const libraryName = (field: string): string => (field === "keywords" ? keywordList : field);

const options: Options = { sentenceCase: false, english: false, caseProtection: false, unsupported: "ignore" };

/**
 * Reads a .bib file of BibTeX or BibLaTeX. TeX becomes text. A field that can't be read is omitted from its entry and
 * listed in `lost` of the result.
 */
export async function readBibtex(text: string): Promise<ReadEntry[]> {
  const { parse } = await import("@retorquere/bibtex-parser");
  const entries = bibtexEntries(text);
  // BibLaTeX's "xdata" and "set" only refer to other entries, or are referred to.
  const works = entries.filter(({ type }) => type !== "xdata" && type !== "set");
  const byKey = new Map(entries.filter(({ key }) => key !== "").map((entry) => [entry.key.toLowerCase(), entry]));
  return works.map((entry): ReadEntry => {
    const { key, line } = entry;
    const position = { line, ...(key === "" ? {} : { key, ownKey: key }) };
    const fields = withInherited(entry, byKey)
      .filter(({ name }) => knownFields.has(name))
      .map((field) => (field.name === "journal" ? { ...field, value: journalOf(field.value) } : field));
    if (fields.length === 0) return { ...position, why: entry.why ?? "it has no fields that are known" };
    const { values, lost } = parseFields(parse, entry.type, fields);
    const problems = entry.why === undefined ? entry.lost : [entry.why];
    return { ...position, entry: workOf(entry.type, values, fields), lost: [...problems, ...lost] };
  });
}

/**
 * An entry's fields, with those that it inherits by `xdata` and `crossref`. The title of a `crossref` becomes the
 * book's title, unless it names that too.
 */
function withInherited(entry: BibtexEntry, byKey: ReadonlyMap<string, BibtexEntry>): BibtexEntry["fields"] {
  const fields = new Map(entry.fields.map((field) => [field.name, field]));
  for (const name of ["xdata", "crossref"]) {
    const keys = (fields.get(name)?.value ?? "")
      .toLowerCase()
      .split(",")
      .map((key) => key.trim());
    for (const parent of keys.map((key) => byKey.get(key)))
      for (const field of parent === entry ? [] : (parent?.fields ?? [])) {
        const isTitle = name === "crossref" && field.name === "title";
        if (isTitle && parent?.fields.some((other) => other.name === "booktitle") === true) continue;
        const fieldName = isTitle ? "booktitle" : field.name;
        if (!fields.has(fieldName) && !(name === "crossref" && field.name === "author"))
          fields.set(fieldName, { ...field, name: fieldName });
      }
  }
  return [...fields.values()];
}

type Values = { readonly [name: string]: string | readonly string[] | readonly Creator[] | undefined };
type Parse = typeof import("@retorquere/bibtex-parser").parse;

/** The fields as text. If the library can't read all of them together, they are read one by one. */
function parseFields(parse: Parse, type: string, fields: BibtexEntry["fields"]) {
  const values: Record<string, Values[string]> = {};
  for (const { name, value } of fields) if (verbatimFields.has(name)) values[name] = unescapeValue(value);
  const texFields = fields.filter(({ name }) => !verbatimFields.has(name));
  const allFields = tryParse(parse, type, texFields);
  if (allFields !== undefined) Object.assign(values, allFields);
  else
    for (const field of texFields)
      Object.assign(values, tryParse(parse, type, [field]) ?? tryParse(parse, type, [withoutTex(field)]));
  // Names that the library can't read are read by `namesOf`.
  const unreadFields = texFields.filter(
    ({ name, value }) => !isNames(name) && /[\p{L}\d]/u.test(value) && isEmpty(values[libraryName(name)]),
  );
  return {
    values,
    lost: unreadFields.map(
      ({ name, line, value }) => `the field ${name} in line ${line} can't be read (${value.slice(0, 40)})`,
    ),
  };
}

const isEmpty = (value: Values[string]): boolean => value === undefined || value.length === 0;

function tryParse(parse: Parse, type: string, fields: BibtexEntry["fields"]): ParsedEntry["fields"] | undefined {
  const text = fields.map(({ name, value }) => `${libraryName(name)} = {${prepareValue(name, value)}}`).join(",\n");
  try {
    const { entries, errors } = parse(`@${type}{k,\n${text}\n}`, options);
    const [entry] = entries;
    return errors.length > 0 || entry === undefined ? undefined : entry.fields;
  } catch {
    // The library throws for some values.
    return undefined;
  }
}

/** A value in the format that the library expects. Some programs separate authors by semicolons instead of "and". */
function prepareValue(name: string, value: string): string {
  const cleaned = value
    // The library treats % as a comment, but databases write "10 %".
    .replace(/(?<!\\)%/g, String.raw`\%`)
    // Mendeley's "~" and "^" would be accents without a letter.
    .replace(/\\([~^])\{\}/g, (_, sign: string) => (sign === "~" ? "\\textasciitilde{}" : "\\textasciicircum{}"))
    // The library drops these, or converts links and paragraphs to mark-up.
    .replace(/\n\s*\n|\\par\b/g, "\n")
    .replace(/(?<!\\)\\(?=\s)/g, "~")
    .replace(/\\((?:La|Bib|Con|Xe|Lua)?TeX)\b(?:\{\})?/g, "$1")
    .replace(/\\(?:href|foreignlanguage|textcolor)\s*\{[^{}]{0,2000}\}\s*(?=\{)|\\url\s*(?=\{)/g, "")
    .replace(/\\(?:footnote|thanks)\s*\{[^{}]*\}/g, "")
    .replace(/(\\[a-z]{2,20})\*(?=\{)/g, "$1")
    // The library drops displayed formulas, and converts degrees to another character.
    .replace(/\$\$([^$]{1,1000})\$\$|\\\[([^$]{1,1000}?)\\\]/g, (_, a?: string, b?: string) => `$${a ?? b}$`)
    .replace(/\^\{\s*\\circ\s*\}/g, "^\\circ ")
    // The library drops names of functions, and letters with accents of formulas.
    .replace(functionName, (match: string, name: string, at: number, text: string) => {
      const space = (sign = "") => (/[\p{L}\d\\{}]/u.test(sign) ? "\u00a0" : "");
      return (
        space(
          text
            .slice(Math.max(0, at - 20), at)
            .trimEnd()
            .at(-1),
        ) +
        name +
        space(text[at + match.length])
      );
    })
    .replace(formulaAccent, (_, accent: string, inBraces?: string, letter?: string) => {
      const letters = inBraces ?? letter ?? "";
      return letters === "" ? "" : `${letters}${combiningAccents[accent] ?? ""}`;
    });
  return isNames(name) ? prepareNames(cleaned) : withEscapedAngles(withEscapedDollars(cleaned));
}

/** The names of functions that LaTeX defines: "\log n". */
const functionName =
  /\\(arccos|arcsin|arctan|arg|cosh?|coth?|csc|deg|det|dim|exp|gcd|hom|inf|ker|lg|lim(?:inf|sup)?|ln|log|max|min|Pr|sec|sinh?|sup|tanh?)(?![A-Za-z])\s*/g;
const combiningAccents: Readonly<Record<string, string>> = {
  ...{ hat: "\u0302", tilde: "\u0303", dot: "\u0307", ddot: "\u0308", check: "\u030c", breve: "\u0306" },
  ...{ acute: "\u0301", grave: "\u0300", vec: "\u20d7" },
};
/** An accent of formulas with its letters: "\hat{x}", "\tilde O". */
const formulaAccent =
  /\\(?:wide)?(hat|tilde|ddot|dot|check|breve|acute|grave|vec)(?:\s*\{([^{}]{1,20})\}|\s+(\p{L})|(?=\\))/gu;

const isNames = (field: string): boolean => field === "author" || field === "editor";

/** A list of names separated by "and", without footnotes and marks after names. */
function prepareNames(value: string): string {
  const names = value
    .replace(/\s+/g, " ")
    .replace(/\$\^\{?(?:[\d,*\s]|\\d?dagger)*\}?\$|\\textsuperscript\{[\d,*\s]*\}/g, "")
    .replace(/\\and\b/g, " and")
    .replace(/;\s+(?=\S)/g, " and ")
    // The number with which DBLP distinguishes persons of one name would be the surname.
    .replace(/ 0\d{3}(?= and |$)/g, "");
  const withoutEtAl = names.replace(etAl, "");
  return withoutEtAl.includes("{") ? withoutEtAl : namesWithAnd(withoutEtAl);
}

const etAl =
  /(?<![\s,])[\s,]+(?:and\s+)?(?:\\(?:textit|emph))?\{?(?:\\(?:it|em)\s)?et[\s~]al\b\.?\}?(?:\s+and\s+others)?\s*$/i;

/** Separates names by "and": "Smith, J. & Doe, A.", "Ann Smith, Bob Doe, and Cy Roe". */
function namesWithAnd(value: string): string {
  const names = value.includes(",") ? value.replace(/(?<![\s,]),?\s+\\?&\s/g, " and ") : value;
  const parts = names.split(/,\s+and\s+|\sand\s|,/).map((part) => part.trim());
  const isPlainList = /,\s+and\s/.test(names) && parts.every((part) => /\S\s+\S/.test(part));
  return isPlainList ? parts.join(" and ") : names;
}

/**
 * Escapes "<" and ">" outside of formulas, which the library would convert to other characters, as old TeX fonts do.
 */
const withEscapedAngles = (value: string): string =>
  value.includes("<") || value.includes(">")
    ? value
        .split(/((?<!\\)\$[^$]{0,500}\$)/)
        .map((part, index) =>
          index % 2 === 1 ? part : part.replaceAll("<", "{\\textless}").replaceAll(">", "{\\textgreater}"),
        )
        .join("")
    : value;

/** Escapes dollar signs before amounts of money, which are not formulas. */
function withEscapedDollars(value: string): string {
  const dollarCount = value.match(/(?<!\\)\$/g)?.length ?? 0;
  const amountCount = value.match(/(?<!\\)\$(?=\s?\d[\d.,]*(?:\s|[.,;:)}]|$))/g)?.length ?? 0;
  return dollarCount % 2 === 1 || (amountCount === dollarCount && amountCount > 1)
    ? value.replace(/(?<!\\)\$/g, String.raw`\$`)
    : value;
}

/** The field as plain text, if its TeX is invalid. */
const withoutTex = (field: BibtexEntry["fields"][number]): BibtexEntry["fields"][number] => ({
  ...field,
  value: field.value.replace(/\\[a-z]+\s*/gi, " ").replace(/[\\{}$^_&%#~]/g, " "),
});

/** Removes escapes in addresses, DOIs and paths. */
const unescapeValue = (value: string): string =>
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
      // BibLaTeX separates publishers by "and", which may be part of a name: "Taylor and Francis".
      const joined = Array.isArray(value) ? value.filter((item) => typeof item === "string").join(" and ") : value;
      // R writes NA for what is missing.
      if (typeof joined === "string" && joined !== "" && joined !== "NA") return joined;
    }
    return undefined;
  };
  const rawValue = (name: string) => fields.find((field) => field.name === name)?.value ?? "";
  const typeText = text("type") ?? "";
  const kind = narrowedType(types[type], typeText);
  const journal = text("journal", "journaltitle", "shortjournal");
  const place = text("pages", "eid", "articleno", "art_number", "article-number");
  const title = text("title", "shorttitle", "maintitle") ?? (isStandalone(kind) ? text("booktitle") : undefined);
  const subtitle = text("subtitle");
  const isThesis = /thesis/.test(type);
  const eprint = arxivOf(text("eprint", "arxivid"), text("archiveprefix", "eprinttype"), text("primaryclass"));
  const isUnpublishedType =
    (kind === undefined || kind === "web-page") && journal === undefined && text("booktitle") === undefined;
  const isPreprint = isUnpublishedType && (eprint !== undefined || /preprint/i.test(typeText));
  return {
    title: title !== undefined && subtitle !== undefined ? `${title}: ${subtitle}` : title,
    authors: namesOf(values["author"], rawValue("author")),
    editors: namesOf(values["editor"], rawValue("editor")),
    dates: [text("date"), text("year")].flatMap((part) => part ?? []),
    // Of a range of months, the first.
    day: [text("month")?.replace(/^(\d{1,2})\s?[-–/]{1,2}\s?\d{1,2}$/, "$1"), text("day")]
      .flatMap((part) => part ?? [])
      .join(" "),
    venue: isStandalone(kind) ? undefined : (journal ?? text("booktitle")),
    volume: text("volume"),
    issue: text("number", "issue"),
    pages: place,
    abstract: text("abstract"),
    dois: [text("doi"), text("howpublished"), text("note")].flatMap((part) => part ?? []),
    arxiv: [eprint, text("eid")].flatMap((part) => part ?? []),
    pmid:
      text("pmid", "pubmed_id", "pubmed-id") ?? (/pubmed/i.test(text("eprinttype") ?? "") ? text("eprint") : undefined),
    pmcid: text("pmcid", "pmc"),
    // Mendeley separates several addresses by spaces.
    urls: [text("url"), text("howpublished")].flatMap((part) => part?.split(/\s(?=https?:)/) ?? []),
    type: isPreprint ? "preprint" : kind,
    retracted: isRetractedType(typeText),
    numbers: [text("isbn"), text("issn"), text("eissn")].flatMap((part) => part ?? []),
    keywords: [text(keywordList), text("keyword"), text("author_keywords")].flatMap(keywordsIn),
    note: [text("note"), text("annote")].flatMap((part) => part ?? []).join("\n"),
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

/** The arXiv id in `eprint`. An old id may be without its class: "9711201" for cs/9711201. */
function arxivOf(eprint: string | undefined, prefix = "arxiv", category = ""): string | undefined {
  if (eprint === undefined || !/arxiv/i.test(prefix)) return undefined;
  const id = eprint.replace(/^arxiv:/i, "").trim();
  return /^\d{7}$/.test(id) && category !== "" ? `${category.split(".")[0]}/${id}` : id;
}

/** Names as "Family, Given, Jr.". A list without "and" is split as for other sources. */
function namesOf(value: Values[string], rawValue: string): string[] {
  const asText = () => [...authorsOf(withoutTex({ name: "", value: rawValue, line: 0 }).value)];
  if (!Array.isArray(value)) return asText();
  const plainRaw = rawValue.replace(/\s+/g, " ");
  const creators = value.filter((item): item is Creator => typeof item === "object");
  const names = creators.map(({ name, lastName, firstName, prefix, suffix }) => {
    if (lastName === undefined) return name === undefined ? (firstName ?? "") : groupName(name);
    const last = prefix === undefined || prefix === "" ? lastName : `${prefix} ${lastName}`;
    const givenFirst = [firstName, last].filter(Boolean).join(" ");
    // In PubMed's format "Smith JA", BibTeX would read a given name and a surname.
    const { rest, initials } = plainRaw.includes(givenFirst) ? partsOfName(givenFirst) : { rest: givenFirst };
    if (initials !== undefined && (initials.length === 1 || /\p{Ll}/u.test(rest))) return `${rest}, ${initials}`;
    return [last, firstName, suffix].filter((part) => part !== undefined && part !== "").join(", ");
  });
  const parts = rawValue.split(",");
  const isUnseparatedList =
    names.length === 1 &&
    (parts.length > 1 || rawValue.includes(";")) &&
    !/\sand\s/i.test(rawValue) &&
    !rawValue.startsWith("{") &&
    (rawValue.includes(";") || parts.length > 2 || parts.every((part) => leadingInitials.test(part)));
  if (!isUnseparatedList || /,\s*(?:jr|sr|ii|iii|iv)\.?\s*,/i.test(rawValue)) return names;
  return asText();
}

/** Initials before a surname: "J. D. Smith". */
const leadingInitials = /^\s*\p{Lu}\..*\p{Ll}/u;

/**
 * The paths of documents in the format of JabRef, Zotero and Mendeley: "name:path:type;…", with `:` escaped in a path.
 */
function filesOf(field: string): string[] {
  return field.split(/(?<!\\);/).flatMap((part) => {
    const pieces = part.split(/(?<!\\):(?!\\)/).map((piece) => piece.replace(/\\([:;\\])/g, "$1"));
    const path = pieces.length >= 3 ? pieces.slice(1, -1).join(":") : part.replace(/\\([:;\\])/g, "$1");
    return path.trim() === "" ? [] : [path.trim()];
  });
}
