import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { safeName } from "../papers/reference.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { stampOf, writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { makeFolder, readRegularText } from "../../engine/storage/regular-file.js";
import { isNewer, stateVersion } from "../../engine/storage/state/format-version.js";

/** One file of the cache. `stamp` tells whether the document, or the address that leads to it, has changed since. */
interface CachedText extends DocumentText {
  readonly format?: number;
  readonly paper: string;
  readonly stamp?: string;
  /** Set where the text must not be read again by a later run. */
  readonly run?: string;
}

/** A landing page kept for longer would go on standing for the paper after its PDF has become free. */
const thisRun = randomUUID();

/** Where a paper's text is kept. The folder must be ignored by git: most papers may be read, not passed on. */
const cachedTextPath = (cacheDir: string, id: string): string => join(cacheDir, `${safeName(id)}.json`);

/**
 * The text kept for a paper, or undefined where it is missing, it was changed by hand, its document has changed, or it
 * is an earlier run's landing page.
 */
export async function loadText(cacheDir: string, id: string, stamp?: string): Promise<DocumentText | undefined> {
  const kept = await read(cacheDir, id);
  return typeof kept === "object" && kept.stamp === stamp && (kept.run === undefined || kept.run === thisRun)
    ? kept.text
    : undefined;
}

/**
 * The text kept for a paper as whatever brief or quote was last made from it, also where its document has changed
 * since.
 */
export async function keptText(cacheDir: string, id: string): Promise<DocumentText | undefined> {
  const kept = await read(cacheDir, id);
  return typeof kept === "object" ? kept.text : undefined;
}

/** Whether a text is kept for a paper that is no longer the one that was stored: its hash differs, or it is damaged. */
export const isKeptTextChanged = async (cacheDir: string, id: string): Promise<boolean> =>
  (await read(cacheDir, id)) === "changed";

/** The version of the file that a paper's text is kept in; undefined where it is missing. */
export const keptTextStamp = (cacheDir: string, id: string): string | undefined =>
  stampOf(cachedTextPath(cacheDir, id));

async function read(
  cacheDir: string,
  id: string,
): Promise<{ text: DocumentText; stamp: string | undefined; run: string | undefined } | "changed" | undefined> {
  let written: string;
  try {
    written = await readRegularText(cachedTextPath(cacheDir, id));
  } catch {
    return undefined;
  }
  try {
    const kept = JSON.parse(written) as CachedText;
    if (isNewer(kept)) return undefined;
    const { paper, stamp, run, format: _, ...text } = kept;
    const isWhole =
      typeof text.text === "string" && createHash("sha256").update(text.text).digest("hex") === text.sha256;
    return isWhole && Array.isArray(text.marks) && Array.isArray(text.warnings) && paper === id
      ? { text, stamp, run }
      : "changed";
  } catch {
    // Torn: it is only a cache.
    return "changed";
  }
}

/** Keeps a paper's text and answers with the path. Throws the system's error where the disk refuses. */
export async function saveText(cacheDir: string, id: string, text: DocumentText, stamp?: string): Promise<string> {
  const path = cachedTextPath(cacheDir, id);
  makeFolder(cacheDir);
  await writeFileAtomic(
    path,
    JSON.stringify({
      format: stateVersion,
      paper: id,
      stamp,
      ...(text.depth === "abstract" ? { run: thisRun } : {}),
      ...text,
    } satisfies CachedText),
    { durable: false },
  );
  return path;
}
