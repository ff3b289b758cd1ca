import { readdirSync } from "node:fs";
import { lstat, readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { hasCode } from "../../engine/lib/errors.js";
import { packageFile } from "../../engine/lib/package-root.js";
import { isJats } from "../../text/documents/jats/is-jats.js";
import { decodeText } from "../../text/documents/text/decode.js";
import { maxPdfBytes } from "../../text/documents/pdf/read-pdf.js";
import type { NamedPaper } from "../papers/paper-record.js";
import { documentExtension, parseReference } from "../papers/reference.js";
import type { FetchResult } from "./choose-full-text.js";
import { readUntrusted } from "./reader-process.js";

/** Pages that contain a title and an abstract. A listing of two thousand PDFs must not read them completely. */
export const titlePages = 2;

/** The local file that a paper's address names; undefined if all its addresses are on the network. */
export function localFile(paper: NamedPaper): string | undefined {
  for (const address of [paper.pdf_url, paper.url]) {
    const reference = parseReference(address ?? "");
    if (reference.kind === "file") return reference.path;
    if (reference.kind === "sample") return samplePath(reference.name);
  }
  return undefined;
}

export const samplesFolder = packageFile("demo", "corpus");

/** The path of a sample, named with or without extension. The file may be missing. */
function samplePath(name: string): string {
  if (documentExtension.test(name)) return join(samplesFolder, name);
  const file = readdirSync(samplesFolder).find((fileName) => fileName.replace(documentExtension, "") === name);
  return join(samplesFolder, file ?? `${name}.md`);
}

const stemOf = (path: string): string => basename(path).replace(documentExtension, "").toLowerCase();

/**
 * Whether `path` replaces `other`, an unreadable document in the same folder: `scan.txt`, `scan.ocr.pdf` or
 * `scan-ocr.pdf` replace `scan.pdf`.
 */
export function replaces(path: string, other: string): boolean {
  if (path === other || dirname(path) !== dirname(other) || !documentExtension.test(path)) return false;
  const [stem, otherStem] = [stemOf(path), stemOf(other)];
  return stem === otherStem || (stem.startsWith(otherStem) && /^[-_. ]ocr$/.test(stem.slice(otherStem.length)));
}

/** Two file names for a replacement of this document, to suggest to the user. */
export function replacementNames(path: string): string[] {
  const stem = basename(path).replace(documentExtension, "");
  return [`${stem}.ocr.pdf`, `${stem}.txt`];
}

/** Documents that replace this one if it is unreadable, sorted by name. */
async function replacementsOf(path: string): Promise<string[]> {
  const names = await readdir(dirname(path)).catch(() => []);
  return names
    .toSorted()
    .map((name) => join(dirname(path), name))
    .filter((candidate) => replaces(candidate, path));
}

/** Reads the document, or its replacement if the document is unreadable. */
export async function readLocal(path: string, signal: AbortSignal): Promise<FetchResult> {
  const result = await readFileAt(path, signal);
  if (result.status === "ok") return result;
  for (const other of await replacementsOf(path)) {
    const otherResult = await readFileAt(other, signal);
    if (otherResult.status === "ok") return otherResult;
  }
  return result;
}

/** A text that changes when the document or a replacement changes; undefined if none exists. */
export async function stampOf(path: string): Promise<string | undefined> {
  const files = await filesWithStats(path);
  return files.length === 0 ? undefined : files.map((file) => `${file.path} ${file.size} ${file.mtimeMs}`).join(" ");
}

/**
 * Whether a document was changed or put in its place on this day or later. A file that was copied or moved keeps its
 * old modification time, but not its inode change time. False if the file does not exist.
 */
export async function isChangedSince(path: string, day: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && Math.max(stats.mtimeMs, stats.ctimeMs) >= Date.parse(day);
}

/** The names and sizes of the document and its replacements. */
export async function sizesAt(path: string): Promise<string> {
  const files = await filesWithStats(path);
  return files.map((file) => `${basename(file.path)} ${file.size}`).join(", ");
}

async function filesWithStats(path: string) {
  const paths = [path, ...(await replacementsOf(path))];
  const allStats = await Promise.all(paths.map((file) => stat(file).catch(() => undefined)));
  return allStats.flatMap((stats, index) =>
    stats === undefined ? [] : [{ path: paths[index] ?? path, size: stats.size, mtimeMs: stats.mtimeMs }],
  );
}

async function readFileAt(path: string, signal: AbortSignal): Promise<FetchResult> {
  // The address may come from an agent's search. A key or a settings file must never get into a brief.
  if (!documentExtension.test(path))
    return {
      status: "unreadable",
      reason: `${path} is not a document that can be read (PDF, HTML, Markdown or text).`,
    };
  try {
    // A symbolic link among downloaded documents could lead to any file of the user.
    if ((await lstat(path)).isSymbolicLink())
      return { status: "unreadable", reason: `${path} is a link; put the document itself there.` };
    const stats = await stat(path);
    // Reading a FIFO would block.
    if (!stats.isFile() && !stats.isDirectory())
      return { status: "unreadable", reason: `${path} is not a regular file.` };
    if (stats.size > maxPdfBytes)
      return { status: "unreadable", reason: `${path} is larger than ${maxPdfBytes / 1024 / 1024} MB.` };
    const bytes = await readFile(path);
    // Settings files of programs can be XML too.
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
