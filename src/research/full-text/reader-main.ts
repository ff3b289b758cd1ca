// The program of the process that reads documents and looks for quotes; readerProcess starts it. It may end at any
// time. Bytes become text in text/documents.
import { setFlagsFromString } from "node:v8";
import { readDocument } from "../../text/documents/read-document.js";
import { serveTasks } from "../../engine/process/serve-tasks.js";
import type { checkReading } from "../../text/evidence/check-evidence.js";
import type { findQuotes } from "../../text/evidence/find-quote.js";

// V8 recompiles what it thinks will run for long: of a paper of 20 pages that took half of the CPU time. A flag that is
// unknown changes nothing.
setFlagsFromString("--interrupt-budget=1000000");
serveTasks({
  readDocument,
  // Most documents are read without a quote being looked for.
  checkReading: async (...args: Parameters<typeof checkReading>) =>
    (await import("../../text/evidence/check-evidence.js")).checkReading(...args),
  findQuotes: async (...args: Parameters<typeof findQuotes>) =>
    (await import("../../text/evidence/find-quote.js")).findQuotes(...args),
});
