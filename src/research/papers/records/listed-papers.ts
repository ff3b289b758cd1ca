import { createHash } from "node:crypto";
import { basename, dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { readStats } from "../../../engine/storage/regular-file.js";
import { addressOf } from "../identifiers.js";
import type { PaperRecord } from "../paper-record.js";
import { normalTitle } from "../normalise-title.js";
import type { Bibliography, Entry } from "./entry.js";
import type { ChosenColumns } from "./csv.js";
import { readRecords, unreadNotice } from "./read-records.js";
import { idOf } from "../seeds/seed.js";
import { parseReference } from "../reference.js";

/** The works of a bibliography file as records, and the problems in it. */
export interface ListedPapers {
  readonly papers: readonly { readonly key: string; readonly record: PaperRecord }[];
  readonly broken: Bibliography["broken"];
  /** A notice about parts that could not be read; absent if all could be read. */
  readonly notice?: string;
}

/**
 * Reads the works of a file as records, without a service. `name`: the file as the user typed it.
 * @throws ExpectedError (exit code 2) if the file is too large, or nothing in it can be read.
 */
export async function readListedPapers(name: string, path: string, columns: ChosenColumns = {}): Promise<ListedPapers> {
  const bibliography = await readRecords(path, columns);
  const papers = bibliography.entries.map((entry) => ({
    key: entry.key,
    record: withFile(recordOf(entry, databaseOf(entry) ?? basename(path)), entry, dirname(path)),
  }));
  return { papers, broken: bibliography.broken, ...withoutUndefined({ notice: unreadNotice(name, bibliography) }) };
}

/** Adds the address of the PDF, if the entry names an existing file. `folder`: the base of relative paths. */
function withFile(record: PaperRecord, { files = [] }: Entry, folder: string): PaperRecord {
  const pdf = files
    .filter((file) => /\.pdf$/i.test(file))
    .flatMap((file) => possiblePaths(file, folder))
    .find((file) => readStats(file)?.isFile() === true);
  return pdf === undefined ? record : { ...record, pdf_url: pathToFileURL(pdf).href };
}

/**
 * Possible paths of an entry's file: its address, in the list's folder, or below the root, as in Mendeley's exports.
 */
function possiblePaths(file: string, folder: string): string[] {
  if (!/^file:/i.test(file)) return [resolve(folder, file), resolve("/", file)];
  const reference = parseReference(file);
  return reference.kind === "file" ? [reference.path] : [];
}

/** The database of an entry, without years: "Ovid MEDLINE(R)" for "Ovid MEDLINE(R) <1946 to 2026>". */
const databaseOf = ({ database }: Entry): string | undefined =>
  database?.replace(/<[^<>]{0,80}>$/, "").trim() || undefined;

/** An entry as a record, like those of sources. */
export function recordOf(entry: Entry, source: string): PaperRecord {
  const { title, authors, date, venue, volume, issue, pages, abstract, identifiers, url, type, publication } = entry;
  const { ownKey, retracted } = entry;
  const { arxiv } = identifiers;
  return {
    id: nameOf(entry),
    title,
    authors,
    date: date ?? null,
    source,
    abstract: abstract ?? null,
    identifiers,
    url: addressOf(identifiers) ?? url ?? "",
    pdf_url: arxiv === undefined ? null : `https://arxiv.org/pdf/${arxiv}`,
    ...(retracted === undefined ? {} : { retracted: true, updates: [{ type: retracted, source }] }),
    ...withoutUndefined({
      venue,
      volume,
      issue,
      pages,
      publication,
      ownKey,
      publicationType: type,
      kind: kindOf(type),
    }),
  };
}

const kindOf = (type: Entry["type"]): PaperRecord["kind"] =>
  type === undefined || type === "web-page" ? undefined : type === "preprint" ? "preprint" : "published";

/** The id of a work: from its identifiers or its address, or else a hash of its title and other fields. */
function nameOf({ identifiers, url, title, authors, date, venue, pages }: Entry): string {
  const identifyingText = [normalTitle(title), authors[0] ?? "", date ?? "", venue, pages].join("\n");
  return (
    idOf(identifiers, undefined) ??
    idOf({}, url) ??
    `listed_${createHash("sha256").update(identifyingText).digest("hex").slice(0, 12)}`
  );
}
