// Where a paper's text comes from: what is kept of it, a local file, or the network. Bytes become text in
// text/documents.
import { ExpectedError, hasCode, messageOf } from "../../engine/lib/errors.js";
import { fetchPaper, type FetchOptions, type Fetched, type NotRead } from "./choose-full-text.js";
import { localFile, readLocal, sizesAt, stampOf } from "./local-file.js";
import type { NamedPaper } from "../papers/paper-record.js";
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

/** The text of a paper as it can be had now, whatever is kept of it. Keeps nothing. */
export async function readAnew(paper: NamedPaper, options: FetchOptions): Promise<Fetched> {
  const file = localFile(paper);
  return file === undefined ? await fetchPaper(paper, options) : await readLocal(file, options.signal);
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
  return file === undefined ? undefined : await readLocal(file, signal);
}

/** Changes when somebody corrects an address. */
export const addressStamp = ({ pdf_url, url }: NamedPaper): string =>
  [...new Set([pdf_url, url])].filter(Boolean).join(" ");

/** What a reading of the paper tries: its addresses, or the names and sizes of its files, the same on any machine. */
export async function triedFor(paper: NamedPaper): Promise<string> {
  const file = localFile(paper);
  return file === undefined ? addressStamp(paper) : await sizesAt(file);
}
