// Finds the text of a paper: in the cache, in a local file, or on the network. Documents become text in text/documents.
import { ExpectedError, hasCode, messageOf } from "../../engine/lib/errors.js";
import { fetchPaper, type FetchOptions, type FetchResult } from "./choose-full-text.js";
import { localFile, readLocal, sizesAt, stampOf } from "./local-file.js";
import type { NamedPaper } from "../papers/paper-record.js";
import { loadText, saveText } from "./text-cache.js";

export interface ReadOptions extends FetchOptions {
  /** The folder with cached texts, one file per paper. */
  readonly cacheDir: string;
}

/**
 * The text of a paper: from the cache, a local file, a sample, or the network in the order of `full-text-routes.ts`. A
 * full text is preferred to a landing page. Never throws for failures of the network or errors in a document.
 * @throws ExpectedError if the disk is full.
 */
export async function findText(paper: NamedPaper, options: ReadOptions): Promise<FetchResult> {
  const file = localFile(paper);
  const stamp = file === undefined ? addressStamp(paper) : await stampOf(file);
  const result = (await readCachedOrLocal(paper, file, stamp, options)) ?? (await fetchPaper(paper, options));
  if (result.status !== "ok") return result;
  try {
    await saveText(options.cacheDir, paper.id, result.text, stamp);
    return result;
  } catch (error) {
    // Continuing with the abstract would judge the paper by less than its full text, and it would never be judged
    // again.
    if (error instanceof ExpectedError && hasCode(error.cause, "ENOSPC", "EDQUOT")) throw error;
    const cause = messageOf(error).replace(/\.$/, "");
    return { status: "error", reason: `The text could not be stored in ${options.cacheDir}: ${cause}.` };
  }
}

/** Reads the paper's text from its source, without the cache. Writes nothing. */
export async function readUncached(paper: NamedPaper, options: FetchOptions): Promise<FetchResult> {
  const file = localFile(paper);
  return file === undefined ? await fetchPaper(paper, options) : await readLocal(file, options.signal);
}

/**
 * The text of a paper from the cache, a local file, or a sample. Undefined if the network is needed. Writes nothing.
 */
export async function readWithoutNetwork(
  paper: NamedPaper,
  options: Pick<ReadOptions, "cacheDir" | "signal">,
): Promise<FetchResult | undefined> {
  const file = localFile(paper);
  return await readCachedOrLocal(paper, file, file === undefined ? addressStamp(paper) : await stampOf(file), options);
}

async function readCachedOrLocal(
  paper: NamedPaper,
  file: string | undefined,
  stamp: string | undefined,
  { cacheDir, signal }: Pick<ReadOptions, "cacheDir" | "signal">,
): Promise<FetchResult | undefined> {
  const cached = await loadText(cacheDir, paper.id, stamp);
  if (cached !== undefined) return { status: "ok", text: cached };
  return file === undefined ? undefined : await readLocal(file, signal);
}

/** A text that changes when somebody corrects an address of the paper. */
export const addressStamp = ({ pdf_url, url }: NamedPaper): string =>
  [...new Set([pdf_url, url])].filter(Boolean).join(" ");

/**
 * What a reading of this paper would try: its addresses, or the names and sizes of its local files. Equal on every
 * machine.
 */
export async function readingAttempt(paper: NamedPaper): Promise<string> {
  const file = localFile(paper);
  return file === undefined ? addressStamp(paper) : await sizesAt(file);
}
