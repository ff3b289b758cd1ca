import { basename, extname } from "node:path";
import { ExpectedError, messageOf } from "../../../engine/lib/errors.js";
import { statsAt, readRegularUpTo } from "../../../engine/storage/regular-file.js";
import { decodeText } from "../../../text/documents/text/decode.js";
import { bibtexEntries } from "./bibtex-entries.js";
import { readBibtex } from "./bibtex.js";
import { isCslJson, readCslJson } from "./csl.js";
import { type ChosenColumns, isRecordTable, readTable } from "./csv.js";
import { isEndNoteXml, readEndNoteXml } from "./endnote-xml.js";
import type { Bibliography, Entry, Named, ReadEntry } from "./entry.js";
import { entryOf, untitled } from "./normalise-entry.js";
import { isTagged, readTagged } from "./ris.js";

const maxBytes = 50 * 1024 * 1024;
const maxEntries = 20_000;
const maxNamed = 20;

/** What a file of records is read as. */
export type RecordFormat = "bibtex" | "tagged" | "csl" | "endnote-xml" | "table";

/**
 * Which format a text of records has, by its content; undefined for anything else, as a paper's text or an article in
 * JATS. `name`: the file's, whose ending tells where a header alone could not.
 */
export function recordFormatOf(text: string, name: string): RecordFormat | undefined {
  const bare = text.replace(/^\uFEFF/, "");
  if (/\.(?:csv|tsv)$/i.test(name)) return "table";
  if (isEndNoteXml(bare)) return "endnote-xml";
  if (/\.xml$/i.test(name)) return undefined;
  if (isCslJson(bare)) return "csl";
  if (isTagged(bare)) return "tagged";
  if (bibtexEntries(bare.slice(0, 1_000_000)).some(({ fields }) => fields.some((field) => field.name === "title")))
    return "bibtex";
  return isRecordTable(bare) && /\.(?:txt|tab)$/i.test(name) ? "table" : undefined;
}

/**
 * Whether a file lists works, as its ending or, of endings that papers have too, its content says.
 */
export async function isRecordFile(path: string): Promise<boolean> {
  if (/\.(?:bib|bibtex|ris|nbib|medline|ciw|enw|json|csv|tsv)$/i.test(path)) return true;
  if (!/\.(?:xml|txt)$/i.test(path) || statsAt(path)?.isFile() !== true) return false;
  const bytes = await readRegularUpTo(path, maxBytes).catch(() => 0);
  return typeof bytes !== "number" && recordFormatOf(decodeText(bytes), basename(path)) !== undefined;
}

/** What a file of this ending is meant to be, where its content does not tell. */
const byEnding: Readonly<Record<string, RecordFormat>> = {
  ".bib": "bibtex",
  ".bibtex": "bibtex",
  ".ris": "tagged",
  ".nbib": "tagged",
  ".ciw": "tagged",
  ".enw": "tagged",
  ".json": "csl",
};

/**
 * Reads the works of a file: BibTeX, RIS, MEDLINE (.nbib), Web of Science (.ciw), EndNote (.enw or XML), CSL-JSON or a
 * table (CSV). Its content tells which. An entry that can't be read costs none but itself, and a field none but itself.
 * Never asks the network.
 * @throws ExpectedError (exit code 2) for a file that is too large, has another format, or holds no work.
 */
export async function readRecords(path: string, columns: ChosenColumns = {}): Promise<Bibliography> {
  const bytes = await readRegularUpTo(path, maxBytes).catch((error: unknown) => {
    throw new ExpectedError(`${path} can't be read: ${messageOf(error)}.`, 2);
  });
  if (typeof bytes === "number")
    throw new ExpectedError(`${path} has ${bytes} bytes; at most ${maxBytes} are read. Split it.`, 2);
  // No format has NUL, and no path that a value is compared with may hold it.
  const text = decodeText(bytes)
    .replaceAll("\0", "")
    .replace(/^\uFEFF/, "");
  const format = recordFormatOf(text, basename(path)) ?? byEnding[extname(path).toLowerCase()];
  if (format === undefined)
    throw new ExpectedError(
      `${path} does not list works in a form that can be read; export it as RIS, BibTeX, MEDLINE (.nbib), EndNote, CSL-JSON or CSV.`,
      2,
    );
  return bibliographyOf(await readers[format](text, path, columns), path);
}

const readers: Readonly<
  Record<RecordFormat, (text: string, path: string, columns: ChosenColumns) => ReadEntry[] | Promise<ReadEntry[]>>
> = { bibtex: readBibtex, tagged: readTagged, csl: readCslJson, "endnote-xml": readEndNoteXml, table: readTable };

function bibliographyOf(read: readonly ReadEntry[], path: string): Bibliography {
  const entries: Entry[] = [];
  const [broken, fields] = [namedList(), namedList()];
  for (const [index, each] of read.slice(0, maxEntries).entries()) {
    const where = `line ${each.line}${each.key === undefined ? "" : ` (${each.key.slice(0, 60)})`}`;
    if ("why" in each) {
      broken.add(`${where}: ${each.why}`);
      continue;
    }
    const entry = entryOf(each.entry, each.key ?? `entry ${index + 1}`, each.ownKey);
    if (entry === undefined) broken.add(`${where}: it has neither title, author nor identifier`);
    else entries.push(entry);
    if (entry?.title === untitled) fields.add(`${where}: it has no title`);
    for (const why of each.lost ?? []) fields.add(`${where}: ${why}`);
  }
  if (read.length > maxEntries)
    broken.add(
      `${read.length - maxEntries} more: only ${maxEntries} entries of a file are read`,
      read.length - maxEntries,
    );
  if (entries.length === 0)
    throw new ExpectedError(
      `${path} contains no work that can be read${broken.named.length === 0 ? "" : ` (${broken.named.slice(0, 3).join("; ")})`}.`,
      2,
    );
  return { entries, broken: broken.all(), fields: fields.all() };
}

/** Counts what is named, and keeps the first. */
function namedList() {
  const named: string[] = [];
  let count = 0;
  return {
    named,
    add: (what: string, more = 1): void => {
      count += more;
      if (named.length < maxNamed) named.push(what);
    },
    all: (): Named => ({ count, named }),
  };
}

/** What was read of a file and what not, in one or two sentences; undefined where all of it was. */
export function unreadSentence(name: string, { entries, broken, fields }: Bibliography): string | undefined {
  const listed = ({ count, named }: Named) => `${named.join("; ")}${count > named.length ? "; …" : ""}`;
  const sentences = [
    broken.count === 0
      ? []
      : `${entries.length} ${entries.length === 1 ? "entry was" : "entries were"} read, ${broken.count} could not be read: ${listed(broken)}.`,
    fields.count === 0 ? [] : `Left out of entries that were read: ${listed(fields)}.`,
  ].flat();
  return sentences.length === 0 ? undefined : `${name}: ${sentences.join(" ")}`;
}
