import { basename } from "node:path";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import type { Paper } from "../generated/rrd.js";
import { nameOf } from "../papers/paper-keys.js";
import { textsFolder } from "../project-files/layout.js";
import { readWithoutNetwork } from "../full-text/find-text.js";
import { localFile } from "../full-text/local-file.js";

/** A local document that is no longer as it was read. */
export interface DocumentChange {
  readonly paper: Paper;
  readonly path: string;
  /** The present text; undefined if the file is missing. */
  readonly text?: DocumentText;
}

/** How the local document of a paper differs from the text that was read; undefined if it does not. Writes nothing. */
export async function documentChange(
  folder: string,
  paper: Paper,
  signal: AbortSignal,
): Promise<DocumentChange | undefined> {
  const path = localFile(paper);
  if (path === undefined || paper.text_sha256 == null) return undefined;
  const present = await readWithoutNetwork(paper, { cacheDir: textsFolder(folder), signal });
  if (present?.status === "not-found") return { paper, path };
  return present?.status !== "ok" || present.text.sha256 === paper.text_sha256
    ? undefined
    : { paper, path, text: present.text };
}

/** Maximum number of documents that `documentSentences` names. */
const maxNamed = 3;

/** The local documents that are no longer as they were read: one sentence for each of the first three. */
export async function documentSentences(folder: string, papers: readonly Paper[], name: string): Promise<string[]> {
  const { signal } = new AbortController();
  const changes: DocumentChange[] = [];
  for (const paper of papers) {
    const change = await documentChange(folder, paper, signal);
    if (change !== undefined) changes.push(change);
  }
  const others = changes.length - maxNamed;
  return [
    ...changes.slice(0, maxNamed).map((change) => documentSentence(change, name)),
    ...(others > 0 ? [`${quantity(others, "other document")} of ${name} changed too or can't be found.`] : []),
  ];
}

/** One sentence: what happened to the document, and what to do. `name`: the project, as a command names it. */
export function documentSentence({ paper, path, text }: DocumentChange, name: string): string {
  const file = oneLine(basename(path));
  return text === undefined
    ? `${file} is missing: it was read at ${oneLine(path)}; put it back there.`
    : `${file} has changed since it was read; 'research-ralph reset ${shellWord(name)} --paper ${shellWord(nameOf(paper))}' and a run read it again.`;
}
