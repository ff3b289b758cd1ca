import { isOwnNote } from "../export/own-notes.js";
import { groupName, isStandalone, narrowedType, type RawEntry, type ReadEntry, type WorkType } from "./entry.js";

/** A format in which each line of a record has a tag and a value. */
interface Dialect {
  /** Matches a line with a tag: the tag and the value. */
  readonly line: RegExp;
  /** Tags that begin a record. */
  readonly begins: ReadonlySet<string>;
  /** Whether a record may lack its first tag. Then any tag after the end of a record begins the next one. */
  readonly startsWithAnyTag?: true;
  /** A line that ends a record. */
  readonly ends?: RegExp;
  readonly fields: (of: Tags) => RawEntry & { readonly key?: string };
}

/** Access to the values of a record by their tags. */
type Tags = {
  /** All values of these tags, in the order of the file. */
  readonly all: (...tags: readonly string[]) => string[];
  /** The first value of the first one of these tags that has a value. */
  readonly first: (...tags: readonly string[]) => string | undefined;
};

const dialects = {
  // The standard has two spaces before the hyphen; some programs write one space, or tabs.
  ris: {
    // DOI is a tag of the Cochrane Library.
    line: /^([A-Z][A-Z\d](?= {2}|\t)|DOI)[ \t]+- ?(.*)$/,
    begins: new Set(["TY"]),
    startsWithAnyTag: true,
    ends: /^ER(?:\s+-|\s*$)/,
    fields: risFields,
  },
  looseRis: {
    line: /^([A-Z][A-Z\d]|DOI)(?:\s{1,3}-\s?|-(?:\s|$))(.*)$/,
    begins: new Set(["TY"]),
    startsWithAnyTag: true,
    ends: /^ER\s*(?:-|$)/,
    fields: risFields,
  },
  medline: { line: /^([A-Z]{2,4}) {0,2}- (.*)$/, begins: new Set(["PMID"]), fields: medlineFields },
  webOfScience: {
    line: /^([A-Z][A-Z\d])(?: (.*))?$/,
    begins: new Set(["PT"]),
    ends: /^ER\s*$/,
    fields: webOfScienceFields,
  },
  endNote: {
    line: /^%(\S) ?(.*)$/,
    begins: new Set(["0"]),
    startsWithAnyTag: true,
    ends: /^\s*$/,
    fields: endNoteFields,
  },
} satisfies Record<string, Dialect>;

/**
 * The tagged format of a text by its first tags: RIS, MEDLINE (.nbib), Web of Science (.ciw) or EndNote (.enw);
 * undefined for other texts.
 */
function dialectOf(text: string): Dialect | undefined {
  // Files of several programs may have been joined.
  const isStrict = /^TY(?: {2}|\t+)- ?\S/m.test(text) && !/^TY(?! {2}-|\t+-)\s{0,3}-\s?\S/m.test(text);
  if (isStrict) return dialects.ris;
  if (/^TY\s{0,3}-\s?\S/m.test(text)) return dialects.looseRis;
  if (/^PMID {0,2}- /m.test(text)) return dialects.medline;
  if (/^PT [A-Z]\s*$/m.test(text) && /^ER\s*$/m.test(text)) return dialects.webOfScience;
  return /^%[0AT] /m.test(text) ? dialects.endNote : undefined;
}

/** Whether a text is a list of tagged records. */
export const isTagged = (text: string): boolean => dialectOf(withUsualTags(text)) !== undefined;

/** RIS without the indent that copied records may have, and with tags in capital letters, which some programs lack. */
function withUsualTags(text: string): string {
  const withCapitals = /^[ \t]*ty[ \t]{1,3}- ?[A-Za-z]{2,8}[ \t]*$/m.test(text)
    ? text.replace(/^[ \t]*[a-z][a-z\d](?=[ \t]{1,3}-(?:\s|$))/gm, (tag) => tag.toUpperCase())
    : text;
  return /^[ \t]+TY\s{0,3}-/m.test(withCapitals)
    ? withCapitals.replace(/^[ \t]+(?=[A-Z][A-Z\d]\s{0,3}-)/gm, "")
    : withCapitals;
}

/** Reads the records of a tagged file of any of the four formats. */
export function readTagged(file: string): ReadEntry[] {
  const text = withUsualTags(file);
  const dialect = dialectOf(text);
  if (dialect === undefined) return [];
  return recordsOf(text, dialect).map(({ line, values }) => {
    const { key, ...entry } = dialect.fields(tagsOf(values));
    return { line, entry, ...(key === undefined ? {} : { key, ownKey: key }) };
  });
}

interface TaggedRecord {
  readonly line: number;
  readonly values: { readonly tag: string; value: string }[];
}

/**
 * The records of a text. A record starts with a tag of `begins`, and ends with a line of `ends` or before the next
 * record.
 */
function recordsOf(text: string, { line: pattern, begins, startsWithAnyTag, ends }: Dialect): TaggedRecord[] {
  const records: TaggedRecord[] = [];
  let openRecord: TaggedRecord | undefined;
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    if (ends?.test(line) === true) {
      openRecord = undefined;
      continue;
    }
    const [, tag, value = ""] = pattern.exec(line) ?? [];
    if (tag === undefined) {
      // A line without a tag continues the previous value.
      const lastValue = openRecord?.values.at(-1);
      if (lastValue !== undefined && line.trim() !== "") lastValue.value += `\n${line.trim()}`;
      continue;
    }
    if (begins.has(tag) || (openRecord === undefined && startsWithAnyTag === true && value.trim() !== ""))
      records.push((openRecord = { line: index + 1, values: [] }));
    openRecord?.values.push({ tag, value: value.trim() });
  }
  return records;
}

function tagsOf(values: TaggedRecord["values"]): Tags {
  const valuesOf = (...tags: readonly string[]) =>
    values.flatMap(({ tag, value }) => (tags.includes(tag) && value !== "" ? [value] : []));
  return { all: valuesOf, first: (...tags) => tags.flatMap((tag) => valuesOf(tag)).at(0) };
}

/** Types of works by the codes of RIS, or by words that some programs write. */
const kinds: readonly (readonly [RegExp, WorkType])[] = [
  [/^(?:JOUR|EJOUR?|JFULL|MGZN|NEWS|ABST|INPR)$|\bjournals?\b|\barticle in press\b/i, "journal-article"],
  [/^proceedings$/i, "proceedings"],
  [/^(?:CONF|CPAPER)$|\b(?:conferences?|proceedings?|meeting)\b/i, "proceedings-article"],
  [/^(?:CHAP|ECHAP|ENCYC|DICT)$|\b(?:book section|chapter)\b/i, "book-chapter"],
  [/^(?:BOOK|EBOOK|EDBOOK|SER)$|\bbook\b/i, "book"],
  [/\bmaster.{0,3} thesis\b/i, "masters-thesis"],
  [/^THES$|\b(?:thesis|dissertation)\b/i, "dissertation"],
  [/^(?:RPRT|GOVDOC)$|\breport\b/i, "report"],
  [/^UNPB$|\bpreprint\b|^posted-content$/i, "preprint"],
  [/^(?:DATA|DBASE|AGGR)$|\bdata ?set\b/i, "dataset"],
  [/^COMP$|\bcomputer program\b|\bsoftware\b/i, "software"],
  [/^PAT$|\bpatent\b/i, "patent"],
  [/^(?:ELEC|ICOMM|WEB|BLOG)$|\bweb ?page\b/i, "web-page"],
  // "Article" and "Review" of databases.
  [/\barticle$|^(?:article|review|letter|editorial|note|short survey)\b/i, "journal-article"],
];

/** The type of a work by its name in a file; undefined for an unknown name. */
export const workTypeOf = (name: string | undefined): WorkType | undefined =>
  name === undefined ? undefined : kinds.find(([pattern]) => pattern.test(name.trim()))?.[1];

/** Whether the type in a file is that of a retracted work: "Retracted", "Article; Retracted Publication". */
export const isRetractedType = (name = ""): boolean => /\bretracted\b/i.test(name);

/** The web addresses in a value. */
export const addressesIn = (value: string): readonly string[] =>
  value.match(/(?:https?:\/\/|\bwww\.)[^\s;|<>"]+/gi) ?? [];

function risFields({ all, first }: Tags) {
  const typeName = first("TY") ?? "";
  // Scopus uses SER for papers in a series and GEN for other types. The type is then in M3.
  const workType = /^(?:SER|GEN)$/i.test(typeName) ? workTypeOf(first("M3")) : undefined;
  const type = narrowedType(workType ?? workTypeOf(typeName), first("M3"));
  const database = databaseIn(first("DB"), first("DP"));
  // Quoted passages in notes of this program's own export may name other works.
  const notes = all("N1");
  const foreignNotes = notes.filter((note) => !isOwnNote(note));
  const isPubMed = /pubmed|medline|^(?:nlm|med)$/i.test(database ?? "");
  // Embase's number is in U2, and Ovid's may be only in ID.
  const accession = first("AN") ?? all("U2").find((value) => /^L\d{5,}$/.test(value));
  const pmidInId = isPubMed ? /^\d{7,8}$/.exec(first("ID") ?? "")?.[0] : undefined;
  const title = first("TI", "T1", "CT");
  const isPart = type === "proceedings-article" || type === "book-chapter";
  const containerTitle = isPart ? first("T2", "C3", "BT", "JO", "JF") : undefined;
  const journal = first("JF", "JO", "T2", "JA", "J2", "J1", ...(title === undefined ? [] : ["BT"]), "C3", "SO");
  return {
    key: first("LB", "ID"),
    title: database === undefined ? (title ?? first("BT", "ST", "TT")) : withoutStop(title ?? first("BT", "ST", "TT")),
    authors: all("AU", "A1"),
    editors: all("ED", "A2"),
    dates: all("PY", "Y1", "YR"),
    day: first("DA"),
    venue: isStandalone(type) ? undefined : (containerTitle ?? journal),
    volume: first("VL", "VO"),
    issue: first("IS", "NO"),
    // C7 is the number of an article in Scopus, and a DOI in other files.
    pages: first("SP", "PG") ?? all("C7").find((value) => !value.includes("/")),
    lastPage: first("EP"),
    abstract: first("AB", "N2"),
    dois: [...all("DO", "DOI"), ...all("M3", "M1"), ...all("ID"), ...all("C7"), ...foreignNotes, ...all("L3")],
    pmid:
      (isPubMed && accession !== undefined ? /^\d{1,9}$/.exec(accession)?.[0] : undefined) ??
      /^PMID:?\s?(\d{1,9})$/i.exec(accession ?? "")?.[1] ??
      /^\d{5,9}$/.exec(first("C2") ?? "")?.[0] ??
      /^(?:PUBMED )?(\d{1,9})\b/i.exec(first("PM") ?? "")?.[1] ??
      pmidInId,
    pmcid: /^PMC\d{1,9}$/i.exec(first("C2") ?? "")?.[0],
    urls: [...all("UR", "US"), ...all("L2", "LK", "L1")].flatMap((value) => addressesIn(value)),
    type,
    retracted: isRetractedType(first("M3")),
    numbers: all("SN"),
    keywords: all("KW").flatMap((value) => value.split(/[;\n]/)),
    note: notes.join("\n"),
    publisher: first("PB"),
    place: first("CY", "PP"),
    edition: first("ET"),
    series: isStandalone(type) ? first("T2", "T3") : first("T3"),
    language: first("LA"),
    accession,
    database,
    files: all("L1", "L4").filter((value) => !/^https?:/i.test(value)),
  };
}

/** A title without the full stop that PubMed, Ovid and EBSCO add. */
export const withoutStop = (title: string | undefined): string | undefined => title?.replace(/(?<!\.)\.$/, "");

/** The name of the database. EBSCO has a code, such as "ccm", so the provider's name is added. */
const databaseIn = (name: string | undefined, provider: string | undefined): string | undefined =>
  name !== undefined && provider !== undefined && /^[a-z\d]{3,5}$/.test(name)
    ? `${provider} ${name}`
    : (name ?? provider);

function medlineFields({ all, first }: Tags) {
  const ids = all("LID", "AID");
  const types = all("PT");
  const title = first("TI") ?? first("BTI", "CTI");
  const groups = new Set(all("CN"));
  return {
    title: withoutStop(title),
    authors: all(all("FAU").length > 0 ? "FAU" : "AU", "CN").map((name) => (groups.has(name) ? groupName(name) : name)),
    editors: all(all("FED").length > 0 ? "FED" : "ED"),
    dates: all("DP"),
    venue: first("JT", "TA") ?? (first("TI") === undefined ? undefined : first("BTI")),
    volume: first("VI"),
    issue: first("IP"),
    pages: first("PG"),
    abstract: first("AB"),
    dois: ids.flatMap((id) => /^(\S+)\s*\[doi\]/i.exec(id)?.[1] ?? []),
    pmid: first("PMID"),
    pmcid: first("PMC"),
    type: types.some((name) => /preprint/i.test(name))
      ? ("preprint" as const)
      : first("TI") !== undefined && first("BTI") !== undefined
        ? ("book-chapter" as const)
        : workTypeOf(types.find((name) => workTypeOf(name) !== undefined)),
    retracted: types.some(isRetractedType),
    numbers: [...all("IS"), ...all("ISBN")],
    keywords: all("MH", "OT"),
    publisher: first("PB"),
    place: first("PL"),
    language: first("LA"),
    accession: first("PMID"),
    database: "PubMed",
  };
}

function webOfScienceFields({ all, first }: Tags) {
  const lines = (...tags: readonly string[]) => all(...tags).flatMap((value) => value.split("\n"));
  const workType = workTypeOf(first("DT"));
  const isPart = first("SO") !== undefined && first("SO") !== first("TI");
  // "Article; Proceedings Paper" of a journal is an article.
  const kinds: Readonly<Record<string, WorkType | undefined>> = {
    J: workType === "proceedings-article" ? "journal-article" : workType,
    B: workType ?? "book",
    S: workType ?? (isPart ? "book-chapter" : "book"),
    C: workType ?? "proceedings-article",
    P: "patent",
  };
  return {
    title: first("TI"),
    authors: [
      ...["A", "B"].flatMap((kind) => lines(all(`${kind}F`).length > 0 ? `${kind}F` : `${kind}U`)),
      ...lines("CA").map(groupName),
    ],
    editors: lines("BE", "ED"),
    // An article that is not in an issue yet has only the date of its online version.
    dates: [...all("PY"), ...all("EA")],
    day: first("PD"),
    venue: first("SO"),
    volume: first("VL"),
    issue: first("IS"),
    pages: first("BP") ?? first("AR"),
    lastPage: first("EP"),
    abstract: first("AB"),
    dois: all("DI"),
    pmid: first("PM"),
    type: kinds[first("PT") ?? ""] ?? workType,
    retracted: isRetractedType(first("DT")),
    numbers: [...all("BN"), ...all("SN"), ...all("EI")],
    keywords: all("DE", "ID").flatMap((value) => value.split(/;/)),
    publisher: first("PU"),
    place: first("PI"),
    series: first("SE"),
    language: first("LA"),
    accession: first("UT"),
    database: "Web of Science",
    urls: all("UR"),
  };
}

function endNoteFields({ all, first }: Tags) {
  const type = narrowedType(workTypeOf(first("0")), first("9"));
  return {
    key: first("F"),
    title: first("T"),
    authors: all("A"),
    editors: all("E"),
    dates: all("D"),
    day: first("8"),
    venue: first("J", "B"),
    volume: first("V"),
    issue: first("N"),
    pages: first("P"),
    abstract: first("X"),
    dois: [...all("R"), ...all("M")],
    urls: all("U").flatMap((value) => addressesIn(value)),
    type,
    numbers: all("@"),
    keywords: all("K").flatMap((value) => value.split(/[;\n]/)),
    note: first("Z"),
    publisher: first("I"),
    place: first("C"),
    edition: first("7"),
    series: first("S"),
    language: first("G"),
    accession: first("M"),
    database: first("~", "W"),
    files: all(">").filter((value) => !/^https?:/i.test(value)),
  };
}
