// The program of the process that reads documents and looks for quotes; readerProcess starts it. It may end at any time. Bytes become text
// in engine/documents.
import { readDocument } from "../../engine/documents/read-document.js";
import { serveTasks } from "../../engine/process/serve-tasks.js";
import { checkReading } from "../evidence/check.js";
import { findQuotes } from "../evidence/find-quote.js";

serveTasks({ readDocument, checkReading, findQuotes });
