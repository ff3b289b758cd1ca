import type { SourceFiles } from "./archive.js";
import { pathWithin } from "./archive.js";
import { bibliographyOf, isBiblatex } from "./biblatex.js";
import { withoutFalseBranches } from "./conditionals.js";
import { takeOut } from "../text/document-text.js";

/**
 * Maximum characters of source. Articles have some hundred kilobytes; a file that includes itself would have no end.
 */
const maxSource = 5 * 1024 * 1024;
const maxDepth = 20;

/** Maximum number of documents, the longest files first, that are assembled and compared. */
const maxDocuments = 20;

interface Flattened {
  readonly preamble: string;
  /** The text between `\begin{document}` and `\end{document}`, without comments and with all included files. */
  readonly body: string;
  /** True if the source was longer than the maximum. */
  readonly isCut: boolean;
}

/**
 * The text of a source with its included files, starting from the main file. Undefined if no file contains a document.
 */
export function flatten(files: SourceFiles): Flattened | undefined {
  const clean = new Map(
    [...files].filter(([path]) => !/\.bbl$/i.test(path)).map(([path, text]) => [path, withoutComments(text)]),
  );
  const documents = [...clean].filter(([, text]) => /\\document(?:class|style)\b/.test(text));
  const main = (documents.length > 0 ? documents : [...clean])
    .filter(([, text]) => text.includes("\\begin{document}") || documents.length > 0)
    .toSorted((a, b) => b[1].length - a[1].length)
    .slice(0, maxDocuments)
    .map(([path, text]) => ({ path, ...include(text, clean, path) }))
    // Of several documents, the longest is the article; a letter or a supplement's cover is shorter.
    .toSorted((a, b) => b.text.length - a.text.length || (a.path < b.path ? -1 : 1))[0];
  if (main === undefined) return undefined;

  const text = withBibliography(withoutFalseBranches(main.text), files, main.path);
  const begin = text.indexOf("\\begin{document}");
  const [preamble, rest] =
    begin === -1 ? ["", text] : [text.slice(0, begin), text.slice(begin + "\\begin{document}".length)];
  const end = rest.indexOf("\\end{document}");
  return { preamble, body: end === -1 ? rest : rest.slice(0, end), isCut: main.isCut };
}

/** Removes comments. A comment includes the line end, but not an empty line, which separates paragraphs. */
function withoutComments(text: string): string {
  let code: string | undefined;
  const joined = text
    .replace(/\r\n?/g, "\n")
    .replaceAll("\0", "")
    .split("\n")
    .map((line) => {
      // A percent sign in code is not a comment.
      if (code !== undefined) {
        if (line.includes(`\\end{${code}}`)) code = undefined;
        return `${line}\n`;
      }
      const beforeComment = line.slice(0, commentAt(line));
      code = codeLeftOpen(beforeComment);
      if (line[beforeComment.length] !== "%") return `${line}\n`;
      return beforeComment.trim() === "" ? "" : `${beforeComment}\0`;
    })
    .join("");
  const plain = joined.replace(/\0[ \t]*\n/g, "\n\n").replace(/\0[ \t]*/g, "");
  return ["comment", "filecontents", "filecontents*"].reduce(
    (rest, name) => takeOut(rest, `\\begin{${name}}`, `\\end{${name}}`).text,
    plain,
  );
}

/**
 * The index at which a line's comment begins, or the line's end. A percent sign after a backslash or in `\\verb|…|` is
 * not a comment.
 */
function commentAt(line: string): number {
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === "%") return at;
    if (line[at] !== "\\") continue;
    const verb = line.startsWith("verb", at + 1) ? /^\\verb\*?([^\w\s*])/.exec(line.slice(at, at + 8)) : null;
    const from = at + (verb?.[0].length ?? 0);
    const close = verb === null ? -1 : line.slice(from, from + maxVerbChars).indexOf(verb[1] ?? "");
    at = close === -1 ? at + 1 : from + close;
  }
  return line.length;
}

const maxVerbChars = 300;
const codeEnvironments = ["verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "alltt"];

/** The code environment that a line begins but does not end. */
const codeLeftOpen = (line: string): string | undefined =>
  line.includes("\\begin{")
    ? codeEnvironments.find((name) => line.lastIndexOf(`\\begin{${name}}`) > line.lastIndexOf(`\\end{${name}}`))
    : undefined;

function include(text: string, files: SourceFiles, path: string): { text: string; isCut: boolean } {
  let freeChars = maxSource;
  let isCut = false;
  const insert = (source: string, folder: string, depth: number): string => {
    const pattern =
      /\\(?:(?:input|include|subfile|subfileinclude|InputIfFileExists)\s*\{([^{}]{1,200})\}|input\s+([\w./-]{1,200})|(?:sub)?import\*?\s*\{([^{}]{0,200})\}\s*\{([^{}]{1,200})\})/g;
    return source.replace(pattern, (_, braced?: string, bare?: string, dir?: string, name?: string) => {
      const includedName = dir === undefined ? (braced ?? bare ?? "") : `${dir}/${name}`;
      const found = find(includedName.trim(), folder, files);
      if (found === undefined) return "";
      if (depth >= maxDepth || found.text.length > freeChars) {
        isCut = true;
        return "";
      }
      freeChars -= found.text.length;
      return insert(bodyOf(found.text), dir === undefined ? folder : (pathWithin(dir) ?? folder), depth + 1);
    });
  };
  const root = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  return { text: insert(text.slice(0, maxSource), root, 0), isCut: isCut || text.length > maxSource };
}

/** A subfile is a complete document. */
function bodyOf(text: string): string {
  const begin = text.indexOf("\\begin{document}");
  if (begin === -1) return text;
  const end = text.indexOf("\\end{document}");
  return text.slice(begin + "\\begin{document}".length, end === -1 ? undefined : end);
}

function find(name: string, folder: string, files: SourceFiles): { text: string } | undefined {
  for (const path of [`${folder}/${name}`, name].map((each) => pathWithin(each.replace(/^\//, "")))) {
    const text =
      path === undefined ? undefined : (files.get(`${path}.tex`) ?? files.get(path) ?? files.get(`${path}.ltx`));
    if (text !== undefined) return { text };
  }
  return undefined;
}

/** The bibliography is in a separate file, made from a database that is not part of the source. */
function withBibliography(text: string, files: SourceFiles, main: string): string {
  if (text.includes("\\bibitem")) return text;
  const lists = [...files].filter(([path]) => /\.bbl$/i.test(path));
  const mainList =
    lists.find(([path]) => path.toLowerCase() === main.replace(/\.[a-z]+$/i, ".bbl").toLowerCase()) ?? lists[0];
  if (mainList === undefined) return text;
  const source = withoutComments(mainList[1]).slice(0, maxSource);
  const list = isBiblatex(source) ? bibliographyOf(source) : source;
  const at = /\\(?:bibliography\s*\{|printbibliography)/.exec(text)?.index ?? text.indexOf("\\end{document}");
  return at === -1 ? `${text}\n${list}` : `${text.slice(0, at)}\n${list}\n${text.slice(at)}`;
}
