import { type GuardedRead, maxReaderMemory, readGuarded } from "../../engine/documents/guarded-reader.js";
import type { DocumentHints } from "../../engine/documents/read-document.js";
import { entry } from "../../engine/lib/package-root.js";
import { openTaskProcess } from "../../engine/process/task-process.js";

let program: () => string | Promise<string> = () => entry("reader");

/** Sets where the reader's program lies; for tests, which run the sources without a build. */
export function useReaderProgram(find: () => string | Promise<string>): void {
  program = find;
}

/** The one process of this program that reads documents and looks for quotes. It starts with the first document that needs it. */
export const readerProcess = openTaskProcess({ program: () => program(), maxMemory: maxReaderMemory });

/** Reads a document from a stranger; see `readGuarded`. */
export const readUntrusted = async (
  bytes: Uint8Array,
  hints: DocumentHints & { readonly signal?: AbortSignal },
): Promise<GuardedRead> => await readGuarded(readerProcess, bytes, hints);
