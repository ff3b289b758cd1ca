import { maxStepSeconds, type TaskProcess } from "../../engine/process/task-process.js";
import type { HtmlResult } from "./html/read-html.js";
import type { DocumentHints } from "./read-document.js";

/** Wall time for one document, in milliseconds. A PDF of 300 pages takes about five seconds. */
const maxReadingMs = 120_000;
/** Maximum resident memory of the reader process, in bytes. A PDF of 2,000 pages needs less than half. */
export const maxReaderMemoryBytes = 1536 * 1024 * 1024;
/**
 * The memory limit for a document is this base, plus `memoryPerByte` for each byte of the document. So small compressed
 * files that expand too much reach the limit early.
 */
const baseMemoryBytes = 512 * 1024 * 1024;
/** Web pages need most memory for each byte. */
const memoryPerByte = 120;
/**
 * Plain texts up to this size are read in this process: reading takes linear time, and less than starting a process.
 */
const maxInProcessBytes = 256 * 1024;

/** The character "%", with which most PDFs start. */
const percentSign = 0x25;

/** A document's text, the reason why it has none, or an error that says nothing about the document. */
export type GuardedRead = HtmlResult | { readonly status: "error"; readonly reason: string; readonly transient: true };

/**
 * Reads an untrusted document in a separate process, with limits of time and memory. A document that exceeds them or
 * makes the reader fail is `unreadable`. Interruptions and failures to start the process are errors. `reader` serves
 * the task `readDocument`.
 */
export async function readGuarded(
  reader: TaskProcess,
  bytes: Uint8Array,
  hints: DocumentHints & { readonly signal?: AbortSignal; readonly maxMs?: number },
): Promise<GuardedRead> {
  const { signal, maxMs = maxReadingMs, ...documentHints } = hints;
  if (bytes.length <= maxInProcessBytes && bytes[0] !== percentSign) {
    // Loaded on demand: in most programs, only the reader process needs the readers.
    const { isPlainText, readDocument } = await import("./read-document.js");
    if (isPlainText(bytes, documentHints)) return await readDocument(bytes, documentHints);
  }
  const end = await reader.run<HtmlResult>("readDocument", [bytes, documentHints], {
    maxMs,
    memoryBytes: memoryFor(bytes),
    signal,
  });
  switch (end.status) {
    case "ok":
      return end.value;
    case "failed":
      return unreadable(`The reader failed on the document (${end.message.slice(0, 200)}).`);
    case "cut":
      return unreadable(reasons[end.limit](maxMs, memoryFor(bytes)));
    case "aborted":
      return { status: "error", reason: "Reading the document was interrupted.", transient: true };
    case "not-started":
      return {
        status: "error",
        reason: `The process that reads documents could not be started (${end.message.slice(0, 200)}).`,
        transient: true,
      };
  }
}

const memoryFor = (bytes: Uint8Array): number =>
  Math.min(maxReaderMemoryBytes, baseMemoryBytes + memoryPerByte * bytes.length);

const reasons = {
  time: (maxMs: number) => `The document could not be read within ${maxMs / 1000} seconds.`,
  step: () => `One page of the document takes more than ${maxStepSeconds} CPU seconds to be read.`,
  memory: (_: number, memoryBytes: number) =>
    `The document needs more than ${Math.floor(memoryBytes / 1024 / 1024)} MB of memory to be read.`,
  crash: () => "The document ended the process that reads it.",
} as const;

const unreadable = (reason: string): GuardedRead => ({ status: "unreadable", reason });
