import { type GuardedRead, maxReaderMemoryBytes, readGuarded } from "../../text/documents/guarded-reader.js";
import type { DocumentHints } from "../../text/documents/read-document.js";
import { builtProgram } from "../../engine/lib/package-root.js";
import { openTaskProcess } from "../../engine/process/task-process.js";
import type { checkReading } from "../../text/evidence/check-evidence.js";
import type { findQuotes } from "../../text/evidence/find-quote.js";

/** The process that reads documents and searches for quotes. It starts when first needed. */
export const readerProcess = openTaskProcess({
  program: () => builtProgram("reader"),
  maxMemoryBytes: maxReaderMemoryBytes,
});

/**
 * Whether this process is not allowed to start others. Then it already runs with restricted permissions, reads
 * documents itself, and its parent limits the time. https://nodejs.org/docs/latest-v20.x/api/permissions.html
 */
const mustNotStartProcesses = (): boolean =>
  (process as { permission?: { has(scope: string): boolean } }).permission?.has("child") === false;

/** Reads an untrusted document; see `readGuarded`. */
export async function readUntrusted(
  bytes: Uint8Array,
  hints: DocumentHints & { readonly signal?: AbortSignal },
): Promise<GuardedRead> {
  if (!mustNotStartProcesses()) return await readGuarded(readerProcess, bytes, hints);
  const { readDocument } = await import("../../text/documents/read-document.js");
  return await readDocument(bytes, hints);
}

/**
 * Maximum size of a search, in characters, that runs in this process: it takes at most 0.2 s, less than starting
 * another process.
 */
const maxInProcessChars = 64 * 1024;
/** Wall time for one search, in milliseconds. A text of a million characters takes about five seconds. */
const maxSearchMs = 30_000;

/** The search functions. */
interface Searches {
  readonly checkReading: typeof checkReading;
  readonly findQuotes: typeof findQuotes;
}

/** Loaded on demand: they are large, and many runs never search for quotes. */
async function loadSearches(): Promise<Searches> {
  const [{ checkReading }, { findQuotes }] = await Promise.all([
    import("../../text/evidence/check-evidence.js"),
    import("../../text/evidence/find-quote.js"),
  ]);
  return { checkReading, findQuotes };
}

/**
 * Searches for an agent's quotes in an untrusted text, with limits of time and memory. `cut`: the reason why there is
 * no result; it says nothing about the quotes.
 */
export async function searchUntrusted<Name extends keyof Searches>(
  search: Name,
  ...args: Parameters<Searches[Name]>
): Promise<{ readonly value: ReturnType<Searches[Name]> } | { readonly cut: string }> {
  type Value = ReturnType<Searches[Name]>;
  if (mustNotStartProcesses() || JSON.stringify(args).length <= maxInProcessChars)
    return {
      value: ((await loadSearches())[search] as unknown as (...parameters: readonly unknown[]) => Value)(...args),
    };
  const end = await readerProcess.run<Value>(search, args, { maxMs: maxSearchMs });
  if (end.status === "ok") return { value: end.value };
  const cause =
    end.status === "cut"
      ? `it came to the limit of ${end.limit === "time" || end.limit === "memory" ? end.limit : "what its process can take"}`
      : end.status === "aborted"
        ? "it was interrupted"
        : end.message.slice(0, 200);
  return { cut: `the search for the quotes gave no answer (${cause})` };
}
