import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { safeName } from "../papers/reference.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { stampOf, writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { makeFolder, readRegularText } from "../../engine/storage/regular-file.js";
import { isNewer, stateVersion } from "../../engine/storage/state/format-version.js";

/** A file of the cache. `stamp` changes when the document or its address changes. */
interface CachedText extends DocumentText {
  readonly format?: number;
  readonly paper: string;
  readonly stamp?: string;
  /** Set if only the run with this id may use the text. */
  readonly run?: string;
}

/** A cached landing page is valid only for this run: later the PDF may be free. */
const runId = randomUUID();

/** The cache file of a paper's text. Git must ignore the folder: most papers may be read but not distributed. */
const cachedTextPath = (cacheDir: string, id: string): string => join(cacheDir, `${safeName(id)}.json`);

/**
 * The cached text of a paper. Undefined if it is missing or was edited, if the document changed, or if it is a landing
 * page from an earlier run.
 */
export async function loadText(cacheDir: string, id: string, stamp?: string): Promise<DocumentText | undefined> {
  const cached = await readCacheFile(cacheDir, id);
  return typeof cached === "object" && cached.stamp === stamp && (cached.run === undefined || cached.run === runId)
    ? cached.text
    : undefined;
}

/** The text that the last brief or quote check used, even if the document has changed since. */
export async function lastCachedText(cacheDir: string, id: string): Promise<DocumentText | undefined> {
  const cached = await readCacheFile(cacheDir, id);
  return typeof cached === "object" ? cached.text : undefined;
}

/** Whether the cached text is damaged or differs from the one that was stored. */
export const isCachedTextChanged = async (cacheDir: string, id: string): Promise<boolean> =>
  (await readCacheFile(cacheDir, id)) === "changed";

/** The stamp of the cache file of a paper's text; undefined if it is missing. */
export const cachedTextStamp = (cacheDir: string, id: string): string | undefined =>
  stampOf(cachedTextPath(cacheDir, id));

async function readCacheFile(
  cacheDir: string,
  id: string,
): Promise<{ text: DocumentText; stamp: string | undefined; run: string | undefined } | "changed" | undefined> {
  let content: string;
  try {
    content = await readRegularText(cachedTextPath(cacheDir, id));
  } catch {
    return undefined;
  }
  try {
    const cached = JSON.parse(content) as CachedText;
    if (isNewer(cached)) return undefined;
    const { paper, stamp, run, format: _, ...text } = cached;
    const isIntact =
      typeof text.text === "string" && createHash("sha256").update(text.text).digest("hex") === text.sha256;
    return isIntact && Array.isArray(text.marks) && Array.isArray(text.warnings) && paper === id
      ? { text, stamp, run }
      : "changed";
  } catch {
    // A damaged file, for example after a crash. It is only a cache.
    return "changed";
  }
}

/** Caches a paper's text. Throws the system's error if the file can't be written. */
export async function saveText(cacheDir: string, id: string, text: DocumentText, stamp?: string): Promise<void> {
  makeFolder(cacheDir);
  await writeFileAtomic(
    cachedTextPath(cacheDir, id),
    JSON.stringify({
      format: stateVersion,
      paper: id,
      stamp,
      ...(text.depth === "abstract" ? { run: runId } : {}),
      ...text,
    } satisfies CachedText),
    { isDurable: false },
  );
}
