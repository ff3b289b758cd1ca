// The program of the reader process, which reads documents and searches for quotes. `readerProcess` starts it, and it
// may be stopped at any time. Documents become text in text/documents.
import { setFlagsFromString } from "node:v8";
import { readDocument } from "../../text/documents/read-document.js";
import { serveTasks } from "../../engine/process/serve-tasks.js";
import type { checkReading } from "../../text/evidence/check-evidence.js";
import type { findQuotes } from "../../text/evidence/find-quote.js";

// Without this flag V8 recompiles too much: for a paper of 20 pages, that took half of the CPU time. V8 ignores unknown
// flags.
setFlagsFromString("--interrupt-budget=1000000");
serveTasks({
  readDocument,
  // Loaded on demand: most documents are read without a search for quotes.
  checkReading: async (...args: Parameters<typeof checkReading>) =>
    (await import("../../text/evidence/check-evidence.js")).checkReading(...args),
  findQuotes: async (...args: Parameters<typeof findQuotes>) =>
    (await import("../../text/evidence/find-quote.js")).findQuotes(...args),
});
