import { maxStepSeconds, type TaskProcess } from "../../engine/process/task-process.js";
import type { HtmlResult } from "./html/read-html.js";
import type { DocumentHints } from "./read-document.js";

/** Wall time for one document, in milliseconds. A PDF of 300 pages takes some five seconds. */
const maxReading = 120_000;
/** Bytes of resident memory for the process that reads; a PDF of 2,000 pages stays below half of it. */
export const maxReaderMemory = 1536 * 1024 * 1024;
/**
 * Bytes of memory that reading takes at most: so much for the smallest document, and so many times its own size. Web
 * pages take the most for their size. A small file that unpacks to much is given up the sooner.
 */
const [leastMemory, memoryByte] = [512 * 1024 * 1024, 120];
/**
 * Plain texts up to this many bytes are read in this process: that reader takes linear time, and the start of another
 * costs more.
 */
const maxPlainHere = 256 * 1024;

/** Most PDFs begin with "%". */
const pdfMark = 0x25;

/** A document's text, why it has none, or why that could not be found out now. */
export type GuardedRead = HtmlResult | { readonly status: "error"; readonly reason: string; readonly transient: true };

/**
 * Reads a document that may be made to harm its reader: in a process of its own, within bounds of time and memory. A
 * document that exceeds them, or on which the reader fails, is `unreadable`; what the document does not cause (an
 * interruption, no process to be had) is an error.
 * `reader` serves the task `readDocument`.
 */
export async function readGuarded(
  reader: TaskProcess,
  bytes: Uint8Array,
  hints: DocumentHints & { readonly signal?: AbortSignal; readonly maxMs?: number },
): Promise<GuardedRead> {
  const { signal, maxMs = maxReading, ...plain } = hints;
  if (bytes.length <= maxPlainHere && bytes[0] !== pdfMark) {
    // The readers are loaded where they are needed: in most programs only by the other process.
    const { isPlainText, readDocument } = await import("./read-document.js");
    if (isPlainText(bytes, plain)) return await readDocument(bytes, plain);
  }
  const end = await reader.run<HtmlResult>("readDocument", [bytes, plain], { maxMs, memory: memoryFor(bytes), signal });
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

const memoryFor = (bytes: Uint8Array): number => Math.min(maxReaderMemory, leastMemory + memoryByte * bytes.length);

const reasons = {
  time: (maxMs: number) => `The document could not be read within ${maxMs / 1000} seconds.`,
  step: () => `One page of the document takes more than ${maxStepSeconds} CPU seconds to be read.`,
  memory: (_: number, memory: number) =>
    `The document needs more than ${Math.floor(memory / 1024 / 1024)} MB of memory to be read.`,
  crash: () => "The document ended the process that reads it.",
} as const;

const unreadable = (reason: string): GuardedRead => ({ status: "unreadable", reason });
