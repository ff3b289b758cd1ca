import { readdirSync } from "node:fs";
import { lstat, readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { hasCode } from "../../engine/lib/errors.js";
import { packageFile } from "../../engine/lib/package-root.js";
import { isJats } from "../../text/documents/jats/is-jats.js";
import { decodeText } from "../../text/documents/text/decode.js";
import { maxPdf } from "../../text/documents/pdf/read-pdf.js";
import type { NamedPaper } from "../papers/paper-record.js";
import { documentEnding, parseReference } from "../papers/reference.js";
import type { Fetched } from "./choose-full-text.js";
import { readUntrusted } from "./reader-process.js";

/** Enough for a title and an abstract; a listing must not read two thousand PDFs to their end. */
export const pagesForATitle = 2;

/** The file on this machine that a paper's addresses lead to; undefined where they lead elsewhere. */
export function localFile(paper: NamedPaper): string | undefined {
  for (const address of [paper.pdf_url, paper.url]) {
    const reference = parseReference(address ?? "");
    if (reference.kind === "file") return reference.path;
    if (reference.kind === "sample") return samplePath(reference.name);
  }
  return undefined;
}

export const samplesFolder = packageFile("demo", "corpus");

/** The file of a sample, named with or without its ending. It need not be there. */
function samplePath(name: string): string {
  if (documentEnding.test(name)) return join(samplesFolder, name);
  const file = readdirSync(samplesFolder).find((each) => each.replace(documentEnding, "") === name);
  return join(samplesFolder, file ?? `${name}.md`);
}

const stemOf = (path: string): string => basename(path).replace(documentEnding, "").toLowerCase();

/**
 * Whether one document stands for another of its folder that can't be read: `scan.txt`, `scan.ocr.pdf` or
 * `scan-ocr.pdf` for `scan.pdf`.
 */
export function standsFor(path: string, other: string): boolean {
  if (path === other || dirname(path) !== dirname(other) || !documentEnding.test(path)) return false;
  const [stem, own] = [stemOf(path), stemOf(other)];
  return stem === own || (stem.startsWith(own) && /^[-_. ]ocr$/.test(stem.slice(own.length)));
}

/** Two names under which a person may put what stands for this document. */
export function standInsFor(path: string): string[] {
  const stem = basename(path).replace(documentEnding, "");
  return [`${stem}.ocr.pdf`, `${stem}.txt`];
}

/** Documents that stand for this one where it can't be read, in the order of their names. */
async function besides(path: string): Promise<string[]> {
  const names = await readdir(dirname(path)).catch(() => []);
  return names
    .toSorted()
    .map((name) => join(dirname(path), name))
    .filter((each) => standsFor(each, path));
}

/** The text of the document, or of one that stands for it where it can't be read. */
export async function readLocal(path: string, signal: AbortSignal): Promise<Fetched> {
  const own = await readFileAt(path, signal);
  if (own.status === "ok") return own;
  for (const other of await besides(path)) {
    const read = await readFileAt(other, signal);
    if (read.status === "ok") return read;
  }
  return own;
}

/** Changes when the document does, or one that may stand for it; undefined where neither is there. */
export async function stampOf(path: string): Promise<string | undefined> {
  const found = await foundAt(path);
  return found.length === 0 ? undefined : found.map((file) => `${file.path} ${file.size} ${file.mtimeMs}`).join(" ");
}

/**
 * Whether a document was changed, or came to its place, on this day or later. A file that was copied, unpacked or moved
 * keeps its old date of change, and the file system notes the day for itself. False where it is not there.
 */
export async function isChangedSince(path: string, day: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Math.max(found.mtimeMs, found.ctimeMs) >= Date.parse(day);
}

/** The names and sizes of the document and of those that may stand for it. */
export async function sizesAt(path: string): Promise<string> {
  const found = await foundAt(path);
  return found.map((file) => `${basename(file.path)} ${file.size}`).join(", ");
}

async function foundAt(path: string) {
  const paths = [path, ...(await besides(path))];
  const found = await Promise.all(paths.map((each) => stat(each).catch(() => undefined)));
  return found.flatMap((stats, index) =>
    stats === undefined ? [] : [{ path: paths[index] ?? path, size: stats.size, mtimeMs: stats.mtimeMs }],
  );
}

async function readFileAt(path: string, signal: AbortSignal): Promise<Fetched> {
  // An address comes from an agent's search: a key or a settings file must not be read into a brief.
  if (!documentEnding.test(path))
    return {
      status: "unreadable",
      reason: `${path} is not a document that can be read (PDF, HTML, Markdown or text).`,
    };
  try {
    // A link that lies among documents of others may lead to any file of the user's, with any name.
    if ((await lstat(path)).isSymbolicLink())
      return { status: "unreadable", reason: `${path} is a link; put the document itself there.` };
    const found = await stat(path);
    // To read a FIFO is to wait forever.
    if (!found.isFile() && !found.isDirectory())
      return { status: "unreadable", reason: `${path} is not a regular file.` };
    if (found.size > maxPdf)
      return { status: "unreadable", reason: `${path} is larger than ${maxPdf / 1024 / 1024} MB.` };
    const bytes = await readFile(path);
    // Settings of programs are XML too.
    if (/\.xml$/i.test(path) && !isJats(decodeText(bytes)))
      return { status: "unreadable", reason: `${path} is not an article in JATS.` };
    return await readUntrusted(bytes, { name: path, signal });
  } catch (error) {
    if (hasCode(error, "ENOENT")) return { status: "not-found", reason: `There is no file ${path}.` };
    if (hasCode(error, "EACCES", "EPERM", "EISDIR", "ENOTDIR", "EIO"))
      return { status: "error", reason: `${path} could not be read (${error.code}).` };
    throw error;
  }
}
