import { existsSync } from "node:fs";
import { join } from "node:path";
import { inHidden, lastGoodOf, ledgerName } from "../../engine/lib/layout.js";

/** Every file of a research project. What the engine keeps there is named in its own layout. */

/** The folder of the projects, within the folder that the program is called in. */
export const researchesName = "researches";

/** The state of a project. */
export const rrdName = "rrd.json";
/** The log that people read. Entries are only ever appended to it. */
export const progressName = "progress.txt";
/** One line for every question to a source. */
export const queriesName = "queries.jsonl";
/** Questions that were put to the project and what its papers answer, a line each. */
export const answersName = "answers.jsonl";
/** What the search has found, for a clone to replay it. */
export const searchName = "search-records.json.gz";
export const reportName = "research-report.md";
/** The narrative of the report as it was accepted. */
export const reportDataName = "report.json";
/** The report as a page, for a browser. */
export const pageName = "report.html";
/** The absolute path of the report's page; null where none is written yet. */
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

/** Made of the state alone: rendered with a report, again with its ideas, and whenever somebody asks. */
/** What is written of a report, whichever unit changes it; and of the ideas. */
export const reportDocuments = [reportDataName, reportName, bibliographyName, pageName] as const;
export const ideasDocuments = [ideasName, reportName, bibliographyName] as const;

export const documentNames: readonly string[] = [...reportDocuments, ideasName];

/** What a project keeps in git, as far as it is there; all that only this program and people write. */
export const committedFiles = {
  names: [
    ...[rrdName, progressName, ledgerName, queriesName, answersName, searchName],
    ...[reportDataName, reportName, pageName, bibliographyName, ideasName],
  ],
  state: rrdName,
  ledger: ledgerName,
} as const;

/** What a person tells the program with, next to the projects. */
export const promptName = "prompt.md";

// In .ralph:

/** The state as it was when it was valid last. */
export const lastGoodFile = (folder: string): string => lastGoodOf(folder, rrdName);
/** What a search has found, so that no batch asks for it again. */
export const candidatesFile = inHidden("candidates.json");
/** Up to which day an update has asked, where nothing came. */
export const updateFile = inHidden("update.json");
/** What became of papers since they were published, for a day. */
export const updatesFile = inHidden("updates.json");
/** What services said about papers' code and citations, for a day. */
export const aboutFolder = inHidden("about");
/** The texts of papers. */
export const textsFolder = inHidden("texts");
/** The words of these texts by passage, for questions. */
export const passagesFile = inHidden("passages.bin");
/** Answers of sources to a search, which it is replayed from. */
export const answersFolder = inHidden("http");
/** Pages and PDFs, apart from the answers: some hundred of them would push those out. */
export const documentsFolder = inHidden("documents");
/** What the run said that a client of `mcp` started last. */
export const runLogFile = inHidden("run.log");
/** Where a person has got to in deciding on records, with their notes. */
export const screeningFile = inHidden("screening.json");
/** Signature of the committed files as a run, or a person's command, has left them. */
export const signedFile = inHidden("left.json");

// In the folder of the program's state:

/** Answers to searches outside of a project. */
export const sharedAnswersFolder = (stateDir: string): string => join(stateDir, "http");
/** Where agents work, a folder a project. */
export const workspacesFolder = (stateDir: string): string => join(stateDir, "workspaces");
/** What the names of folders begin with in which a single paper is read. */
export const readFolders = (stateDir: string): string => join(stateDir, "read-");

/** The parts of a long text, within a workspace. */
export const partsName = "paper";
