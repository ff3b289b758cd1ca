import { basename, extname } from "node:path";
import { ExpectedError } from "../../../engine/lib/errors.js";
import { readRegularUpTo, readStats, unreadableFile } from "../../../engine/storage/regular-file.js";
import { decodeText } from "../../../text/documents/text/decode.js";
import { bibtexEntries } from "./bibtex-entries.js";
import { readBibtex } from "./bibtex.js";
import { isCslJson, readCslJson } from "./csl.js";
import { type ChosenColumns, isRecordTable, readTable } from "./csv.js";
import { isEndNoteXml, readEndNoteXml } from "./endnote-xml.js";
import type { Bibliography, Entry, NamedProblems, ReadEntry } from "./entry.js";
import { entryOf, untitled } from "./normalise-entry.js";
import { isTagged, readTagged } from "./ris.js";

const maxBytes = 50 * 1024 * 1024;
const maxEntries = 20_000;
const maxNamedProblems = 20;

/** The formats of files with records. */
export type RecordFormat = "bibtex" | "tagged" | "csl" | "endnote-xml" | "table";

/**
 * The format of a text with records, by its content; undefined for other texts, such as a paper or an article in JATS.
 * `name`: the file's name; for tables its extension counts too.
 */
export function recordFormatOf(text: string, name: string): RecordFormat | undefined {
  const withoutMark = text.replace(/^\uFEFF/, "");
  if (/\.(?:csv|tsv)$/i.test(name)) return "table";
  if (isEndNoteXml(withoutMark)) return "endnote-xml";
  if (/\.xml$/i.test(name)) return undefined;
  if (isCslJson(withoutMark)) return "csl";
  if (isTagged(withoutMark)) return "tagged";
  if (
    bibtexEntries(withoutMark.slice(0, 1_000_000)).some(({ fields }) => fields.some((field) => field.name === "title"))
  )
    return "bibtex";
  return isRecordTable(withoutMark) && /\.(?:txt|tab)$/i.test(name) ? "table" : undefined;
}

/**
 * Whether a file lists works: by its extension, or by its content if papers have the same extension.
 */
export async function isRecordFile(path: string): Promise<boolean> {
  if (/\.(?:bib|bibtex|ris|nbib|medline|ciw|enw|json|csv|tsv)$/i.test(path)) return true;
  if (!/\.(?:xml|txt)$/i.test(path) || readStats(path)?.isFile() !== true) return false;
  const bytes = await readRegularUpTo(path, maxBytes).catch(() => 0);
  return typeof bytes !== "number" && recordFormatOf(decodeText(bytes), basename(path)) !== undefined;
}

/** The format by the file extension, if the content does not tell. */
const formatByEnding: Readonly<Record<string, RecordFormat>> = {
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
 * table (CSV). Its content tells the format. Entries and fields that can't be read are skipped and reported. Uses no
 * network.
 * @throws ExpectedError (exit code 2) if the file is too large, has another format, or contains no work.
 */
export async function readRecords(path: string, columns: ChosenColumns = {}): Promise<Bibliography> {
  const bytes = await readRegularUpTo(path, maxBytes).catch((error: unknown) => {
    throw unreadableFile(error, path);
  });
  if (typeof bytes === "number")
    throw new ExpectedError(`${path} has ${bytes} bytes; at most ${maxBytes} are read. Split it.`, 2);
  // No format contains NUL, and paths must not contain it.
  // A file of several joined files has a byte order mark before each.
  const text = decodeText(bytes).replace(/[\0\uFEFF]/g, "");
  const format = recordFormatOf(text, basename(path)) ?? formatByEnding[extname(path).toLowerCase()];
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

function bibliographyOf(entriesOfFile: readonly ReadEntry[], path: string): Bibliography {
  const entries: Entry[] = [];
  const [broken, fields] = [problemList(), problemList()];
  for (const [index, entryOfFile] of entriesOfFile.slice(0, maxEntries).entries()) {
    const position = `line ${entryOfFile.line}${entryOfFile.key === undefined ? "" : ` (${entryOfFile.key.slice(0, 60)})`}`;
    if ("why" in entryOfFile) {
      broken.add(`${position}: ${entryOfFile.why}`);
      continue;
    }
    const entry = entryOf(entryOfFile.entry, entryOfFile.key ?? `entry ${index + 1}`, entryOfFile.ownKey);
    if (entry === undefined) broken.add(`${position}: it has neither title, author nor identifier`);
    else entries.push(entry);
    if (entry?.title === untitled) fields.add(`${position}: it has no title`);
    for (const why of entryOfFile.lost ?? []) fields.add(`${position}: ${why}`);
  }
  if (entriesOfFile.length > maxEntries)
    broken.add(
      `${entriesOfFile.length - maxEntries} more: only ${maxEntries} entries of a file are read`,
      entriesOfFile.length - maxEntries,
    );
  if (entries.length === 0)
    throw new ExpectedError(
      `${path} contains no work that can be read${broken.named.length === 0 ? "" : ` (${broken.named.slice(0, 3).join("; ")})`}.`,
      2,
    );
  return { entries, broken: broken.all(), fields: fields.all() };
}

/** Counts problems, and keeps the first ones. */
function problemList() {
  const firstProblems: string[] = [];
  let count = 0;
  return {
    named: firstProblems,
    add: (problem: string, amount = 1): void => {
      count += amount;
      if (firstProblems.length < maxNamedProblems) firstProblems.push(problem);
    },
    all: (): NamedProblems => ({ count, examples: firstProblems }),
  };
}

/** One or two sentences about entries and fields that could not be read; undefined if all could be read. */
export function unreadNotice(name: string, { entries, broken, fields }: Bibliography): string | undefined {
  const problemsText = ({ count, examples: firstProblems }: NamedProblems) =>
    `${firstProblems.join("; ")}${count > firstProblems.length ? "; …" : ""}`;
  const sentences = [
    broken.count === 0
      ? []
      : `${entries.length} ${entries.length === 1 ? "entry was" : "entries were"} read, ${broken.count} could not be read: ${problemsText(broken)}.`,
    fields.count === 0 ? [] : `Left out of entries that were read: ${problemsText(fields)}.`,
  ].flat();
  return sentences.length === 0 ? undefined : `${name}: ${sentences.join(" ")}`;
}
