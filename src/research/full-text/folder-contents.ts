import { stat } from "node:fs/promises";
import { basename, dirname, extname, relative, sep } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { countEach } from "../../engine/lib/group.js";
import { many } from "../../engine/lib/words.js";
import { readRegularUpTo } from "../../engine/storage/regular-file.js";
import { isJats } from "../../text/documents/jats/is-jats.js";
import { decodeText } from "../../text/documents/text/decode.js";
import { isRecordTable } from "../papers/records/csv.js";
import { recordFormatOf } from "../papers/records/read-records.js";

/** The files of a folder and its subfolders, by what they hold; absolute paths, in their order. */
export interface FolderContents {
  readonly documents: readonly string[];
  /** Files that list works. */
  readonly lists: readonly string[];
  /** Files whose ending papers and lists have too, and that hold neither. */
  readonly neither: readonly string[];
  /** How many files there are of each other ending: ".docx". */
  readonly others: ReadonlyMap<string, number>;
}

const maxBytes = 50 * 1024 * 1024;
/** These names alone tell what is in a file. */
const documentNames = /\.(?:pdf|html?|xhtml|md|markdown|nxml|tar\.gz|tgz|tex)$/i;
const listNames = /\.(?:bib|bibtex|ris|nbib|medline|ciw|enw)$/i;
const eitherNames = /\.(?:xml|json|csv|tsv|txt)$/i;

/** Names of the files that this program writes: they are not read as papers. */
export interface OwnFiles {
  /** Of a project's state: its folder is a project's. */
  readonly state: string;
  readonly inProject: readonly string[];
  readonly besideProjects: readonly string[];
}

/**
 * What a folder holds, without the projects in it and the files that this program lays beside them.
 * @throws ExpectedError where there is no such folder.
 */
export async function contentsOf(folder: string, own: OwnFiles | undefined): Promise<FolderContents> {
  const isFolder = await stat(folder).then(
    (at) => at.isDirectory(),
    () => false,
  );
  if (!isFolder)
    throw new ExpectedError(`There is no folder ${folder}; correct the source 'folder:<path>' in rrd.json.`);
  const { default: glob } = await import("fast-glob");
  const found = await glob("**/*", {
    cwd: folder,
    absolute: true,
    followSymbolicLinks: false,
    suppressErrors: true,
    ignore: ["**/node_modules/**"],
  });
  const projects = found.filter((path) => basename(path) === own?.state).map((path) => dirname(path));
  const inProject = (path: string, project: string) =>
    project === folder ? own?.inProject.includes(relative(project, path)) : path.startsWith(`${project}${sep}`);
  const isOwn = (path: string) =>
    own?.besideProjects.includes(basename(path)) === true || projects.some((project) => inProject(path, project));
  const [documents, lists, neither, others]: [string[], string[], string[], string[]] = [[], [], [], []];
  for (const path of found.toSorted()) {
    if (isOwn(path)) continue;
    if (documentNames.test(path)) documents.push(path);
    else if (listNames.test(path)) lists.push(path);
    else if (!eitherNames.test(path)) others.push(extname(path).toLowerCase());
    else ({ document: documents, list: lists, neither })[await kindOf(path)].push(path);
  }
  return { documents, lists, neither, others: countEach(others) };
}

/** What a file holds whose ending does not tell. */
async function kindOf(path: string): Promise<"document" | "list" | "neither"> {
  const bytes = await readRegularUpTo(path, maxBytes).catch(() => 0);
  const isText = /\.txt$/i.test(path);
  if (typeof bytes === "number") return isText ? "document" : "neither";
  const text = decodeText(bytes);
  if (/\.[ct]sv$/i.test(path)) return isRecordTable(text.replace(/^\uFEFF/, "")) ? "list" : "neither";
  if (recordFormatOf(text, basename(path)) !== undefined) return "list";
  return isText || isJats(text) ? "document" : "neither";
}

/** That a folder holds nothing to read: what is there instead, and what to do. */
export function nothingIn(folder: string, { neither, others }: FolderContents): string {
  const kinds = [...others].map(([ending, count]) => `${count} ${ending === "" ? "without an ending" : ending}`);
  const held = [...kinds, ...(neither.length === 0 ? [] : [`${neither.length} like ${basename(neither[0] ?? "")}`])];
  const what = held.length === 0 ? "it is empty" : `it holds ${held.slice(0, 5).join(", ")}`;
  return `${folder} holds no paper and no list of works (${what}); put PDF, HTML, JATS, TeX, Markdown or text files there, or exports such as .ris, .bib, .nbib or .csv.`;
}

/** The files of a folder that hold neither a paper nor a list, as one sentence; undefined where all were taken. */
export const neitherSentence = (folder: string, { neither }: FolderContents): string | undefined =>
  neither.length === 0
    ? undefined
    : `${folder}: ${many(neither.length, "file")} ${neither.length === 1 ? "is" : "are"} neither a paper nor a list of works, and not read: ${neither
        .slice(0, 5)
        .map((path) => relative(folder, path))
        .join(", ")}${neither.length > 5 ? ", …" : ""}.`;
