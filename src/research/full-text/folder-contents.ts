import { stat } from "node:fs/promises";
import { basename, dirname, extname, relative, sep } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { countEach } from "../../engine/lib/group.js";
import { quantity } from "../../engine/lib/words.js";
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
  /** Files with an extension that papers or lists can have, but whose content is neither. */
  readonly neither: readonly string[];
  /** The number of other files for each extension, such as ".docx". */
  readonly otherExtensions: ReadonlyMap<string, number>;
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
  const [documents, lists, neither, otherExtensions]: [string[], string[], string[], string[]] = [[], [], [], []];
  for (const path of files.toSorted()) {
    if (isOwn(path)) continue;
    if (documentNames.test(path)) documents.push(path);
    else if (listNames.test(path)) lists.push(path);
    else if (!ambiguousNames.test(path)) otherExtensions.push(extname(path).toLowerCase());
    else ({ document: documents, list: lists, neither })[await kindOf(path)].push(path);
  }
  return { documents, lists, neither, otherExtensions: countEach(otherExtensions) };
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
export function noPapersSentence(folder: string, { neither, otherExtensions }: FolderContents): string {
  const kinds = [...otherExtensions].map(
    ([ending, count]) => `${count} ${ending === "" ? "without an ending" : ending}`,
  );
  const contents = [
    ...kinds,
    ...(neither.length === 0 ? [] : [`${neither.length} like ${basename(neither[0] ?? "")}`]),
  ];
  const summary = contents.length === 0 ? "it is empty" : `it holds ${contents.slice(0, 5).join(", ")}`;
  return `${folder} holds no paper and no list of works (${summary}); put PDF, HTML, JATS, TeX, Markdown or text files there, or exports such as .ris, .bib, .nbib or .csv.`;
}

/** A sentence that lists the files that are neither papers nor lists; undefined without such files. */
export const neitherSentence = (folder: string, { neither }: FolderContents): string | undefined =>
  neither.length === 0
    ? undefined
    : `${folder}: ${quantity(neither.length, "file")} ${neither.length === 1 ? "is" : "are"} neither a paper nor a list of works, and not read: ${neither
        .slice(0, 5)
        .map((path) => relative(folder, path))
        .join(", ")}${neither.length > 5 ? ", …" : ""}.`;
