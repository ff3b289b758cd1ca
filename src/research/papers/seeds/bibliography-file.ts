import { extname } from "node:path";
import { decodeText } from "../../../text/documents/text/decode.js";
import { ExpectedError, messageOf } from "../../../engine/lib/errors.js";
import { given } from "../../../engine/lib/given.js";
import { readRegularUpTo } from "../../../engine/storage/regular-file.js";
import type { Identifiers } from "../paper-record.js";
import { parseReference } from "../reference.js";

/** One work of a bibliography file. */
export interface Entry {
  /** Its key in the file, or where it stands: "entry 12". */
  readonly key: string;
  readonly title: string;
  readonly authors: readonly string[];
  readonly date?: string;
  readonly venue?: string;
  readonly volume?: string;
  readonly issue?: string;
  readonly pages?: string;
  readonly abstract?: string;
  readonly identifiers: Identifiers;
  readonly url?: string;
}

export interface Bibliography {
  readonly entries: readonly Entry[];
  /** How many entries could not be read, and the first of them with why. */
  readonly broken: { readonly count: number; readonly named: readonly string[] };
}

const formats = { ".bib": "bibtex", ".bibtex": "bibtex", ".ris": "ris", ".json": "csl" } as const;
type Format = (typeof formats)[keyof typeof formats];

/** What was read of a file and what not, one sentence; undefined where all of it was. */
export const brokenSentence = (name: string, { entries, broken }: Bibliography): string | undefined =>
  broken.count === 0
    ? undefined
    : `${name}: ${entries.length} ${entries.length === 1 ? "entry was" : "entries were"} read, ${broken.count} could not be read: ${broken.named.join("; ")}${broken.count > broken.named.length ? "; …" : ""}.`;

/** Whether a file's name says that it lists works: BibTeX, RIS or CSL-JSON. */
export const isBibliography = (path: string): boolean => formatOf(path) !== undefined;

const formatOf = (path: string): Format | undefined =>
  formats[extname(path).toLowerCase() as keyof typeof formats] as Format | undefined;

const maxBytes = 50 * 1024 * 1024;
const maxEntries = 20_000;
/** An entry that is longer is not one: its end is missing, or it holds a whole text. */
const maxEntry = 200_000;
const maxNamed = 20;
/** Milliseconds for one file; 10,000 entries with abstracts take some eight seconds. */
const maxTime = 120_000;
const maxText = 2_000;

/**
 * Reads the works of a .bib, RIS or CSL-JSON file, entry by entry, so that a broken one costs none but itself. Works in
 * bounded time and memory, and never asks the network.
 * @throws ExpectedError (exit code 2) for a file that is too large, or in which nothing could be read.
 */
export async function readBibliography(path: string, now: () => number = Date.now): Promise<Bibliography> {
  const format = formatOf(path);
  if (format === undefined)
    throw new ExpectedError(`${path} is not a .bib, .ris or .json file; export the references as one of these.`, 2);
  const bytes = await readRegularUpTo(path, maxBytes).catch((error: unknown) => {
    throw new ExpectedError(`${path} can't be read: ${messageOf(error)}.`, 2);
  });
  if (typeof bytes === "number")
    throw new ExpectedError(`${path} has ${bytes} bytes; at most ${maxBytes} are read. Split it.`, 2);
  const pieces = piecesOf(decodeText(bytes).replace(/^\uFEFF/, ""), format, path);
  const parse = await parser(format);
  const until = now() + maxTime;
  const entries: Entry[] = [];
  const named: string[] = [];
  let count = 0;
  const isBroken = (name: string, why: string) => {
    count += 1;
    if (named.length < maxNamed) named.push(`${name}: ${why}`);
  };
  for (const [index, piece] of pieces.entries()) {
    if (index >= maxEntries || now() > until) {
      const why = index >= maxEntries ? `only ${maxEntries} entries of a file are read` : "reading took too long";
      count += pieces.length - index;
      named.push(`${pieces.length - index} more: ${why}`);
      break;
    }
    const name = nameOf(piece, index);
    if (typeof piece.content === "string" && piece.content.length > maxEntry) {
      isBroken(name, "too long for an entry; its end may be missing");
      continue;
    }
    try {
      for (const work of parse(piece)) {
        const entry = entryOf(work, piece, name);
        if (entry === undefined) isBroken(name, "it has no title");
        else entries.push(entry);
      }
    } catch (error) {
      isBroken(name, reasonOf(error));
    }
  }
  if (entries.length === 0)
    throw new ExpectedError(
      `${path} contains no work that can be read${named.length === 0 ? "" : ` (${named.slice(0, 3).join("; ")})`}.`,
      2,
    );
  return { entries, broken: { count, named } };
}

/** The text of one entry, or the object of one; what other entries define for it stands before it. */
interface Piece {
  readonly content: unknown;
  readonly before?: string;
}

function piecesOf(text: string, format: Format, path: string): Piece[] {
  if (format === "bibtex") return bibtexPieces(text);
  if (format === "ris")
    return text
      .split(/^(?=TY {1,2}- )/m)
      .filter((part) => /^TY {1,2}- /.test(part))
      .map(asPiece);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ExpectedError(`${path} is not valid JSON: ${messageOf(error)}.`, 2);
  }
  const { items } = (value ?? {}) as { readonly items?: unknown };
  const list = Array.isArray(value) ? value : Array.isArray(items) ? items : [value];
  return list.map(asPiece);
}

const asPiece = (content: unknown): Piece => ({ content });

/** An entry begins a line, or follows the end of another one. */
const entryStart = /(?:^|[\n\r}])[ \t]*(?=@[ \t]*[a-z]+[ \t]*[{(])/gi;
const abbreviation = /^@[ \t]*string[ \t]*[{(]\s*([^\s=]+)\s*=/i;
/** A bare word of a value, which stands for a string defined elsewhere: `journal = jot # { B}`. */
const bareWord = /[=#]\s*([a-z][^\s,#{}"=]*)/gi;

function bibtexPieces(text: string): Piece[] {
  const starts = [...text.matchAll(entryStart)].map(({ index, 0: lead }) => index + lead.length);
  const parts = starts.map((start, index) => text.slice(start, starts[index + 1]));
  const strings = new Map<string, string>();
  for (const part of parts) {
    const name = part.length > maxEntry ? undefined : abbreviation.exec(part)?.[1];
    if (name !== undefined) strings.set(name.toLowerCase(), part);
  }
  return parts
    .filter((part) => !/^@[ \t]*(?:string|comment|preamble)\b/i.test(part))
    .map((content) => {
      if (strings.size === 0 || content.length > maxEntry) return { content };
      const used = [...content.matchAll(bareWord)].flatMap(([, word = ""]) => strings.get(word.toLowerCase()) ?? []);
      return { content, before: [...new Set(used)].join("\n") };
    });
}

function nameOf({ content }: Piece, index: number): string {
  const named =
    typeof content === "string"
      ? (/^@[ \t]*[a-z]+[ \t]*[{(]\s*([^\s,{}"=]{1,100})\s*,/i.exec(content)?.[1] ??
        /^ID {1,2}- (\S{1,100})/m.exec(content)?.[1])
      : (content as { id?: unknown } | null)?.id;
  return typeof named === "string" && named !== "" ? named : `entry ${index + 1}`;
}

/** The first line of what the library says; its others draw where in the text it is. */
function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return "too deeply nested";
  const [first = ""] = messageOf(error).split("\n");
  return first.trim().replace(/:$/, "").slice(0, 200);
}

/** What the library makes of an entry: CSL-JSON, whose fields a file may have filled with anything. */
type Work = Readonly<Record<string, unknown>>;

const types = { bibtex: "@biblatex/text", ris: "@ris/file" } as const;

/**
 * Reads one entry. The library knows inputs that it would fetch from the network, such as an address or a DOI; a type
 * that is forced rules them out. CSL-JSON needs no reading.
 */
async function parser(format: Format): Promise<(piece: Piece) => readonly Work[]> {
  if (format === "csl")
    return ({ content }) => {
      if (typeof content !== "object" || content === null || Array.isArray(content))
        throw new Error("it is not an object");
      return [content as Work];
    };
  const { plugins } = await import("@citation-js/core");
  await (format === "bibtex" ? import("@citation-js/plugin-bibtex") : import("@citation-js/plugin-ris"));
  const options = { forceType: types[format], generateGraph: false };
  return ({ content, before = "" }) => plugins.input.chain(`${before}\n${String(content)}`, options);
}

function entryOf(work: Work, { content }: Piece, name: string): Entry | undefined {
  const title = plain(work["title"], 1000);
  if (title === undefined) return undefined;
  const raw = typeof content === "string" ? content : "";
  // The library leaves these fields of BibTeX out.
  const field = (field: string) => new RegExp(String.raw`\b${field}\s*=\s*[{"]+\s*([^{}"]{1,200})`, "i").exec(raw)?.[1];
  const url = text(work["URL"]) ?? field("url");
  const eprint = field("eprint");
  const isArxiv = eprint !== undefined && /arxiv/i.test(field("archiveprefix") ?? field("eprinttype") ?? "arxiv");
  const arxiv = [isArxiv ? eprint : undefined, url, text(work["DOI"])].map(arxivIn).find((id) => id !== undefined);
  const named = parseReference(text(work["DOI"]) ?? field("doi") ?? "");
  const doi = named.kind === "doi" ? named.doi : undefined;
  const pmid = /^\d{1,9}$/.exec(text(work["PMID"]) ?? field("pmid") ?? "")?.[0];
  const pmcid = /^PMC\d{1,9}$/i.exec(text(work["PMCID"]) ?? field("pmcid") ?? "")?.[0]?.toUpperCase();
  return {
    key: name,
    title,
    authors: namesIn(work["author"]),
    identifiers: given({ doi, arxiv, pmid, pmcid }),
    ...given({
      date: dateOf(work["issued"]),
      venue: plain(work["container-title"], 300),
      volume: plain(work["volume"], 40),
      issue: plain(work["issue"], 40),
      pages: plain(work["page"], 40),
      abstract: plain(work["abstract"], maxText),
      url: url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url) ? url : undefined,
    }),
  };
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== ""
    ? value.trim()
    : typeof value === "number"
      ? String(value)
      : undefined;

/** Without the mark-up that CSL allows in titles. */
const plain = (value: unknown, most: number): string | undefined => {
  const bare = text(value)
    ?.replace(/<\/?(?:[bi]|su[bp]|span)\b[^>]{0,100}>/gi, "")
    .replace(/\s+/g, " ")
    .trim();
  return bare === undefined || bare === "" ? undefined : bare.slice(0, most);
};

function arxivIn(name: string | undefined): string | undefined {
  const reference = name === undefined ? undefined : parseReference(name);
  return reference?.kind === "arxiv" ? reference.id : undefined;
}

/** Enough of a list to tell works apart. */
const maxAuthors = 20;

function namesIn(authors: unknown): string[] {
  if (!Array.isArray(authors)) return [];
  return authors.slice(0, maxAuthors).flatMap((author: Work | null) => {
    const [family, first] = [text(author?.["family"]), text(author?.["given"])];
    const particle = text(author?.["non-dropping-particle"]) ?? text(author?.["dropping-particle"]);
    const whole = text(author?.["literal"]);
    const last = particle === undefined ? family : `${particle} ${family ?? ""}`.trim();
    if (last === undefined) return whole ?? [];
    return first === undefined ? last : `${last}, ${first}`;
  });
}

/** YYYY, YYYY-MM or YYYY-MM-DD. */
function dateOf(issued: unknown): string | undefined {
  const { "date-parts": dates, raw, literal } = (issued ?? {}) as Work;
  const parts: unknown[] = Array.isArray(dates) && Array.isArray(dates[0]) ? dates[0] : [];
  const numbers = parts.map(Number);
  if (numbers.length > 0 && numbers.every((part) => Number.isInteger(part) && part > 0 && part < 10_000)) {
    const [year = 0, ...rest] = numbers;
    return [String(year).padStart(4, "0"), ...rest.slice(0, 2).map((part) => String(part).padStart(2, "0"))].join("-");
  }
  return /\b(?:1[5-9]|20)\d\d\b/.exec(text(raw) ?? text(literal) ?? "")?.[0];
}
