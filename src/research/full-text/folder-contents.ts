import { stat } from "node:fs/promises";
import { basename, dirname, extname, relative, sep } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { groupBy } from "../../engine/lib/group.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { listText, quantity } from "../../engine/lib/words.js";
import { readRegularUpTo } from "../../engine/storage/regular-file.js";
import { isJats } from "../../text/documents/jats/is-jats.js";
import { decodeText } from "../../text/documents/text/decode.js";
import { isRecordTable } from "../papers/records/csv.js";
import { recordFormatOf } from "../papers/records/read-records.js";

/** The files of a folder and its subfolders, by content. All paths are absolute and sorted. */
export interface FolderContents {
  readonly documents: readonly string[];
  /** Lists of works. */
  readonly lists: readonly string[];
  /** All other files that are not hidden. */
  readonly unread: readonly string[];
}

const maxFileBytes = 50 * 1024 * 1024;
/** Files whose extension determines their content. */
const documentNames = /\.(?:pdf|html?|xhtml|md|markdown|nxml|tar\.gz|tgz|tex)$/i;
const listNames = /\.(?:bib|bibtex|ris|nbib|medline|ciw|enw)$/i;
const ambiguousNames = /\.(?:xml|json|csv|tsv|txt)$/i;

/** Names of files that this program writes. They are not read as papers. */
export interface OwnFiles {
  /** Name of the file with a project's state. A folder with this file is a project. */
  readonly state: string;
  readonly inProject: readonly string[];
  readonly besideProjects: readonly string[];
}

/**
 * Lists the content of a folder, without the projects in it and without the files that this program writes beside them.
 * @throws ExpectedError if the folder does not exist.
 */
export async function contentsOf(folder: string, ownFiles: OwnFiles | undefined): Promise<FolderContents> {
  const isFolder = await stat(folder).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isFolder)
    throw new ExpectedError(`There is no folder ${folder}; correct the source 'folder:<path>' in rrd.json.`);
  const { default: glob } = await import("fast-glob");
  const files = await glob("**/*", {
    cwd: folder,
    absolute: true,
    followSymbolicLinks: false,
    suppressErrors: true,
    ignore: ["**/node_modules/**"],
  });
  const projects = files.filter((path) => basename(path) === ownFiles?.state).map((path) => dirname(path));
  const belongsToProject = (path: string, project: string) =>
    project === folder ? ownFiles?.inProject.includes(relative(project, path)) : path.startsWith(`${project}${sep}`);
  const isOwn = (path: string) =>
    ownFiles?.besideProjects.includes(basename(path)) === true ||
    projects.some((project) => belongsToProject(path, project));
  const [documents, lists, unread]: [string[], string[], string[]] = [[], [], []];
  for (const path of files.toSorted()) {
    if (isOwn(path)) continue;
    if (documentNames.test(path)) documents.push(path);
    else if (listNames.test(path)) lists.push(path);
    else if (!ambiguousNames.test(path)) unread.push(path);
    else ({ document: documents, list: lists, neither: unread })[await kindOf(path)].push(path);
  }
  return { documents, lists, unread };
}

/** Determines the content of a file with an ambiguous extension. */
async function kindOf(path: string): Promise<"document" | "list" | "neither"> {
  const bytes = await readRegularUpTo(path, maxFileBytes).catch(() => 0);
  const isText = /\.txt$/i.test(path);
  if (typeof bytes === "number") return isText ? "document" : "neither";
  const text = decodeText(bytes);
  if (/\.[ct]sv$/i.test(path)) return isRecordTable(text.replace(/^\uFEFF/, "")) ? "list" : "neither";
  if (recordFormatOf(text, basename(path)) !== undefined) return "list";
  return isText || isJats(text) ? "document" : "neither";
}

/** A sentence that says that a folder contains nothing to read, what it contains instead, and what to do. */
export function noPapersSentence(folder: string, { unread }: FolderContents): string {
  const summary = unread.length === 0 ? "it is empty" : `it holds ${filesText(folder, unread)}`;
  return `${folder} holds no paper and no list of works (${summary}); put PDF, HTML, JATS, TeX, Markdown or text files there, or exports such as .ris, .bib, .nbib or .csv.`;
}

/** A sentence that lists the files of a folder that are not read; undefined without such files. */
export const unreadSentence = (name: string, folder: string, { unread }: FolderContents): string | undefined =>
  unread.length === 0
    ? undefined
    : `${name}: ${quantity(unread.length, "file")} ${unread.length === 1 ? "is" : "are"} not read: ${filesText(folder, unread)}; save documents as PDF or text, and lists of works as .ris or .bib.`;

/** "4 .docx, thesis.odt, cover.png and 3 more": the most frequent extensions first, and the name of an only file. */
function filesText(folder: string, paths: readonly string[]): string {
  const groups = [...groupBy(paths, (path) => extname(path).toLowerCase()).entries()]
    .toSorted(([, first], [, second]) => second.length - first.length)
    .map(([extension, [path = "", ...others]]) => ({
      count: others.length + 1,
      text:
        others.length === 0
          ? oneLine(relative(folder, path))
          : `${others.length + 1} ${extension === "" ? "without an extension" : oneLine(extension)}`,
    }));
  const restCount = groups.slice(maxGroups).reduce((sum, { count }) => sum + count, 0);
  const texts = groups.slice(0, maxGroups).map(({ text }) => text);
  return listText(restCount === 0 ? texts : [...texts, `${restCount} more`]);
}

const maxGroups = 3;
