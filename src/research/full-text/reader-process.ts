import { type GuardedRead, maxReaderMemory, readGuarded } from "../../text/documents/guarded-reader.js";
import type { DocumentHints } from "../../text/documents/read-document.js";
import { builtProgram } from "../../engine/lib/package-root.js";
import { openTaskProcess } from "../../engine/process/task-process.js";
import type { checkReading } from "../../text/evidence/check-evidence.js";
import type { findQuotes } from "../../text/evidence/find-quote.js";

/**
 * The one process of this program that reads documents and looks for quotes. It starts with the first document that
 * needs it.
 */
export const readerProcess = openTaskProcess({ program: () => builtProgram("reader"), maxMemory: maxReaderMemory });

/**
 * Whether this process may start none: then it is confined itself, and does here what another would do. Who started it
 * bounds its time. https://nodejs.org/docs/latest-v20.x/api/permissions.html
 */
const mayStartNone = (): boolean =>
  (process as { permission?: { has(scope: string): boolean } }).permission?.has("child") === false;

/** Reads a document from a stranger; see `readGuarded`. */
export async function readUntrusted(
  bytes: Uint8Array,
  hints: DocumentHints & { readonly signal?: AbortSignal },
): Promise<GuardedRead> {
  if (!mayStartNone()) return await readGuarded(readerProcess, bytes, hints);
  const { readDocument } = await import("../../text/documents/read-document.js");
  return await readDocument(bytes, hints);
}

/**
 * Text and quotes up to so many characters are searched in this process: that takes 0.2 s at most, and the start of
 * another costs more.
 */
const maxSearchedHere = 64 * 1024;
/** Wall time for one search, in milliseconds. A text of a million characters takes some five seconds. */
const maxSearching = 30_000;

/** What can be looked for. */
interface Searches {
  readonly checkReading: typeof checkReading;
  readonly findQuotes: typeof findQuotes;
}

/** They are large, and a program that serves tools may never be asked for a quote. */
async function searches(): Promise<Searches> {
  const [{ checkReading }, { findQuotes }] = await Promise.all([
    import("../../text/evidence/check-evidence.js"),
    import("../../text/evidence/find-quote.js"),
  ]);
  return { checkReading, findQuotes };
}

/**
 * Looks for quotes that an agent gave in a text that strangers wrote, within bounds of time and memory. `cut`: why
 * there is no answer, which says nothing about the quotes.
 */
export async function searchUntrusted<Name extends keyof Searches>(
  search: Name,
  ...args: Parameters<Searches[Name]>
): Promise<{ readonly value: ReturnType<Searches[Name]> } | { readonly cut: string }> {
  type Value = ReturnType<Searches[Name]>;
  if (mayStartNone() || JSON.stringify(args).length <= maxSearchedHere)
    return { value: ((await searches())[search] as unknown as (...given: readonly unknown[]) => Value)(...args) };
  const end = await readerProcess.run<Value>(search, args, { maxMs: maxSearching });
  if (end.status === "ok") return { value: end.value };
  const why =
    end.status === "cut"
      ? `it came to the limit of ${end.limit === "time" || end.limit === "memory" ? end.limit : "what its process can take"}`
      : end.status === "aborted"
        ? "it was interrupted"
        : end.message.slice(0, 200);
  return { cut: `the search for the quotes gave no answer (${why})` };
}
