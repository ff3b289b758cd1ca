// The program of the process that reads documents and looks for quotes; readerProcess starts it. It may end at any
// time. Bytes become text in engine/documents.
import { setFlagsFromString } from "node:v8";
import { readDocument } from "../../engine/documents/read-document.js";
import { serveTasks } from "../../engine/process/serve-tasks.js";
import { checkReading } from "../evidence/check.js";
import { findQuotes } from "../evidence/find-quote.js";

// V8 recompiles what it thinks will run for long: of a paper of 20 pages that took half of the CPU time. A flag that is
// unknown changes nothing.
setFlagsFromString("--interrupt-budget=1000000");
serveTasks({ readDocument, checkReading, findQuotes });
