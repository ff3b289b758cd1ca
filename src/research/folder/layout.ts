import { ledgerName } from "../../engine/storage/records/ledger.js";
import { join } from "node:path";
import { hiddenName } from "../../engine/storage/records/journal.js";

/** The state of a project. */
export const rrdName = "rrd.json";

/** The log that people read, within a research folder. Entries are only ever appended to it (appendOnce in files.ts). */
export const progressName = "progress.txt";

/** What a project keeps in git, as far as it is there. */
export const committedFiles = {
  names: [
    rrdName,
    progressName,
    ledgerName,
    "queries.jsonl",
    "research-report.md",
    "references.bib",
    "product-ideas.json",
  ],
  state: rrdName,
  ledger: ledgerName,
} as const;

/** Where the answers of a research's search are kept, so that no batch asks for them again. */
export const keptSearch = (folder: string): string => join(folder, hiddenName, "candidates.json");
