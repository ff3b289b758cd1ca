// The program of the process that reads documents; readerProcess starts it. It may end at any time. Bytes become text in engine/documents.
import { readDocument } from "../../engine/documents/read-document.js";
import { serveTasks } from "../../engine/process/serve-tasks.js";

serveTasks({ readDocument });
