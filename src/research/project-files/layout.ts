import { existsSync } from "node:fs";
import { join } from "node:path";
import { inHidden, lastGoodOf, ledgerName } from "../../engine/lib/layout.js";

// The names of all files of a research project. The engine's files have their names in engine/lib/layout.ts.

/** The folder of the projects, in the folder in which the program is started. */
export const researchesName = "researches";

/** The state of a project. */
export const rrdName = "rrd.json";
/** The log for people. Entries are only appended. */
export const progressName = "progress.txt";
/** One line for every request to a source. */
export const queriesName = "queries.jsonl";
/** Questions to the project and their answers from its papers, one line each. */
export const answersName = "answers.jsonl";
/** The results of the search, from which a clone replays it. */
export const searchName = "search-records.json.gz";
export const reportName = "research-report.md";
/** The accepted narrative of the report. */
export const reportDataName = "report.json";
/** The report as a page, for a browser. */
export const pageName = "report.html";
/** The absolute path of the report's page; null if it does not exist yet. */
export function pageOf(folder: string): string | null {
  const page = join(folder, pageName);
  return existsSync(page) ? page : null;
}
export const bibliographyName = "references.bib";
export const ideasName = "product-ideas.json";

export const rrdFile = (folder: string): string => join(folder, rrdName);
export const progressFile = (folder: string): string => join(folder, progressName);
export const queriesFile = (folder: string): string => join(folder, queriesName);
export const answersFile = (folder: string): string => join(folder, answersName);
export const searchFile = (folder: string): string => join(folder, searchName);

/** The files that are written with a report and with ideas. They are made from the state alone. */
export const reportDocuments = [reportDataName, reportName, bibliographyName, pageName] as const;
export const ideasDocuments = [ideasName, reportName, bibliographyName] as const;

export const documentNames: readonly string[] = [...reportDocuments, ideasName];

/** The files of a project that are kept in git. Only this program and people write them. */
export const committedFiles = {
  names: [
    ...[rrdName, progressName, ledgerName, queriesName, answersName, searchName],
    ...[reportDataName, reportName, pageName, bibliographyName, ideasName],
  ],
  state: rrdName,
  ledger: ledgerName,
} as const;

/** The user's prompt, next to the folder of the projects. */
export const promptName = "prompt.md";

// In .ralph:

/** The last valid state. */
export const lastGoodFile = (folder: string): string => lastGoodOf(folder, rrdName);
/** The results of the search, so that later batches need no request. */
export const candidatesFile = inHidden("candidates.json");
/** The last day that an update has searched, if it found nothing. */
export const updateFile = inHidden("update.json");
/** Retractions and corrections of papers; valid for a day. */
export const updatesFile = inHidden("updates.json");
/** Data of services about papers' code and citations; valid for a day. */
export const aboutFolder = inHidden("about");
/** The texts of papers. */
export const textsFolder = inHidden("texts");
/** An index of the passages of these texts, for questions. */
export const passagesFile = inHidden("passages.bin");
/** Answers of sources to a search. The search is replayed from them. */
export const answersFolder = inHidden("http");
/** Pages and PDFs. They are not stored with the answers, which they would displace. */
export const documentsFolder = inHidden("documents");
/** The output of the last run that a client of `mcp` started. */
export const runLogFile = inHidden("run.log");
/** The user's progress in deciding on records, with their notes. */
export const screeningFile = inHidden("screening.json");
/** The records of papers before the user's last decisions on them. */
export const earlierRecordsFile = inHidden("decided.json");
/** The signature of the committed files after the last run or command of the user. */
export const signedFile = inHidden("left.json");

// In the folder of the program's state:

/** Answers to searches outside of a project. */
export const sharedAnswersFolder = (stateDir: string): string => join(stateDir, "http");
/** The workspaces of agents: one folder for each project. */
export const workspacesFolder = (stateDir: string): string => join(stateDir, "workspaces");
/** The beginning of the paths of folders for reading a single paper. */
export const readFolderPrefix = (stateDir: string): string => join(stateDir, "read-");

/** The folder with the parts of a long text, in a workspace. */
export const partsName = "paper";
