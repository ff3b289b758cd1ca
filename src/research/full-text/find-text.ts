// Where a paper's text comes from: what is kept of it, a local file, or the network. Bytes become text in
// text/documents.
import { lstat, readFile, stat } from "node:fs/promises";
import { ExpectedError, hasCode, messageOf } from "../../engine/lib/errors.js";
import { fetchPaper, type FetchOptions, type Fetched, type NotRead } from "./choose-full-text.js";
import { maxPdf } from "../../text/documents/pdf/read-pdf.js";
import type { NamedPaper } from "../papers/paper-record.js";
import { documentEnding, parseReference } from "../papers/reference.js";
import { isJats } from "../../text/documents/jats/is-jats.js";
import { decodeText } from "../../text/documents/text/decode.js";
import { readUntrusted } from "./reader-process.js";
import { samplePath } from "./local-folder.js";
import { loadText, saveText } from "./text-cache.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";

export interface ReadOptions extends FetchOptions {
  /** The folder that texts are kept in, one file a paper. */
  readonly cacheDir: string;
}

/** `path`: where the text was kept. */
type ReadPaper = { readonly status: "ok"; readonly text: DocumentText; readonly path: string } | NotRead;

/**
 * The text of a paper: the one kept from an earlier reading, a local file, a sample, or from the network in the order
 * of `full-text-routes.ts`. A whole text is preferred to a landing page. Never throws for what a network or a document
 * does.
 * @throws ExpectedError when the disk is full.
 */
export async function findText(paper: NamedPaper, options: ReadOptions): Promise<ReadPaper> {
  const file = localFile(paper);
  const stamp = file === undefined ? addressStamp(paper) : await stampOf(file);
  const read = (await readHere(paper, file, stamp, options)) ?? (await fetchPaper(paper, options));
  if (read.status !== "ok") return read;
  try {
    return { status: "ok", text: read.text, path: await saveText(options.cacheDir, paper.id, read.text, stamp) };
  } catch (error) {
    // If it went on with the abstract, the paper would be judged, and never again, by less than its full text.
    if (error instanceof ExpectedError && hasCode(error.cause, "ENOSPC", "EDQUOT")) throw error;
    const why = messageOf(error).replace(/\.$/, "");
    return { status: "error", reason: `The text could not be stored in ${options.cacheDir}: ${why}.` };
  }
}

/**
 * The text of a paper as far as no network is needed: the one kept, a local file's, a sample's. Undefined: it would be
 * fetched. Writes nothing.
 */
export async function readKeptPaper(
  paper: NamedPaper,
  where: Pick<ReadOptions, "cacheDir" | "signal">,
): Promise<Fetched | undefined> {
  const file = localFile(paper);
  return await readHere(paper, file, file === undefined ? addressStamp(paper) : await stampOf(file), where);
}

async function readHere(
  paper: NamedPaper,
  file: string | undefined,
  stamp: string | undefined,
  { cacheDir, signal }: Pick<ReadOptions, "cacheDir" | "signal">,
): Promise<Fetched | undefined> {
  const kept = await loadText(cacheDir, paper.id, stamp);
  if (kept !== undefined) return { status: "ok", text: kept };
  return file === undefined ? undefined : await readFileAt(file, signal);
}

function localFile(paper: NamedPaper): string | undefined {
  for (const address of [paper.pdf_url, paper.url]) {
    const reference = parseReference(address ?? "");
    if (reference.kind === "file") return reference.path;
    if (reference.kind === "sample") return samplePath(reference.name);
  }
  return undefined;
}

/** Changes when somebody corrects an address. */
export const addressStamp = ({ pdf_url, url }: NamedPaper): string =>
  [...new Set([pdf_url, url])].filter(Boolean).join(" ");

/** Changes when the document does. */
async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    return `${path} ${size} ${mtimeMs}`;
  } catch {
    return undefined;
  }
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
