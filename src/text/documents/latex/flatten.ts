import type { SourceFiles } from "./archive.js";
import { pathWithin } from "./archive.js";
import { bibliographyOf, isBiblatex } from "./biblatex.js";
import { withoutFalseBranches } from "./conditionals.js";
import { documentBegin, documentBody } from "./scan.js";
import { extractBetween } from "../text/document-text.js";

/** Maximum length of the source. Articles have a few hundred kilobytes; a file that includes itself has no end. */
const maxSourceChars = 5 * 1024 * 1024;
/** Maximum depth of included files. */
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

/** Joins the main file of a source with the files that it includes. Undefined if no file contains a document. */
export function flatten(files: SourceFiles): Flattened | undefined {
  const filesWithoutComments = new Map(
    [...files].filter(([path]) => !/\.bbl$/i.test(path)).map(([path, text]) => [path, withoutComments(text)]),
  );
  const documents = [...filesWithoutComments].filter(([, text]) => /\\document(?:class|style)\b/.test(text));
  const main = (documents.length > 0 ? documents : [...filesWithoutComments])
    .filter(([, text]) => text.includes(documentBegin) || documents.length > 0)
    .toSorted((a, b) => b[1].length - a[1].length)
    .slice(0, maxDocuments)
    .map(([path, text]) => ({ path, ...insertFiles(text, filesWithoutComments, path) }))
    // Of several documents, the longest is the article. Letters and the covers of supplements are shorter.
    .toSorted((a, b) => b.text.length - a.text.length || (a.path < b.path ? -1 : 1))[0];
  if (main === undefined) return undefined;

  const text = withBibliography(withoutFalseBranches(main.text), files, main.path);
  const preamble = text.slice(0, Math.max(0, text.indexOf(documentBegin)));
  return { preamble, body: documentBody(text), isCut: main.isCut };
}

/** Removes comments. A comment includes the line end, but not an empty line, which separates paragraphs. */
function withoutComments(text: string): string {
  /** The environment with program code that the current line is in. */
  let codeEnvironment: string | undefined;
  // "\0" is put at the end of a line whose comment was removed.
  const markedText = text
    .replace(/\r\n?/g, "\n")
    .replaceAll("\0", "")
    .split("\n")
    .map((line) => {
      // A percent sign in program code does not begin a comment.
      if (codeEnvironment !== undefined) {
        if (line.includes(`\\end{${codeEnvironment}}`)) codeEnvironment = undefined;
        return `${line}\n`;
      }
      const beforeComment = line.slice(0, commentStart(line));
      codeEnvironment = codeEnvironmentAtEnd(beforeComment);
      if (line[beforeComment.length] !== "%") return `${line}\n`;
      return beforeComment.trim() === "" ? "" : `${beforeComment}\0`;
    })
    .join("");
  const plainText = markedText.replace(/\0[ \t]*\n/g, "\n\n").replace(/\0[ \t]*/g, "");
  return ["comment", "filecontents", "filecontents*"].reduce(
    (rest, name) => extractBetween(rest, `\\begin{${name}}`, `\\end{${name}}`).text,
    plainText,
  );
}

/**
 * The index at which a line's comment begins; if it has none, the length of the line. A percent sign after a backslash
 * or in `\verb|…|` does not begin a comment.
 */
function commentStart(line: string): number {
  for (let index = 0; index < line.length; index += 1) {
    if (line[index] === "%") return index;
    if (line[index] !== "\\") continue;
    const verb = line.startsWith("verb", index + 1) ? /^\\verb\*?([^\w\s*])/.exec(line.slice(index, index + 8)) : null;
    const verbStart = index + (verb?.[0].length ?? 0);
    const verbLength = verb === null ? -1 : line.slice(verbStart, verbStart + maxVerbChars).indexOf(verb[1] ?? "");
    index = verbLength === -1 ? index + 1 : verbStart + verbLength;
  }
  return line.length;
}

/** Maximum length of the text in `\verb|…|`. */
const maxVerbChars = 300;
const codeEnvironments = ["verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "alltt"];

/** The environment with program code that a line begins but does not end. */
const codeEnvironmentAtEnd = (line: string): string | undefined =>
  line.includes("\\begin{")
    ? codeEnvironments.find((name) => line.lastIndexOf(`\\begin{${name}}`) > line.lastIndexOf(`\\end{${name}}`))
    : undefined;

/** Inserts the included files into the text of the file at `path`. `isCut`: one was too long, or included too deep. */
function insertFiles(text: string, files: SourceFiles, path: string): { text: string; isCut: boolean } {
  let freeChars = maxSourceChars;
  let isCut = false;
  const insert = (source: string, folder: string, depth: number): string => {
    const pattern =
      /\\(?:(?:input|include|subfile|subfileinclude|InputIfFileExists)\s*\{([^{}]{1,200})\}|input\s+([\w./-]{1,200})|(?:sub)?import\*?\s*\{([^{}]{0,200})\}\s*\{([^{}]{1,200})\})/g;
    return source.replace(
      pattern,
      (_, inBraces?: string, afterSpace?: string, importFolder?: string, name?: string) => {
        const includedName = importFolder === undefined ? (inBraces ?? afterSpace ?? "") : `${importFolder}/${name}`;
        const includedText = findFile(includedName.trim(), folder, files);
        if (includedText === undefined) return "";
        if (depth >= maxDepth || includedText.length > freeChars) {
          isCut = true;
          return "";
        }
        freeChars -= includedText.length;
        const innerFolder = importFolder === undefined ? folder : (pathWithin(importFolder) ?? folder);
        return insert(documentBody(includedText), innerFolder, depth + 1);
      },
    );
  };
  const root = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  return { text: insert(text.slice(0, maxSourceChars), root, 0), isCut: isCut || text.length > maxSourceChars };
}

/** The text of the file with this name in the folder, or else from the root folder. */
function findFile(name: string, folder: string, files: SourceFiles): string | undefined {
  for (const path of [`${folder}/${name}`, name].map((each) => pathWithin(each.replace(/^\//, "")))) {
    const text =
      path === undefined ? undefined : (files.get(`${path}.tex`) ?? files.get(path) ?? files.get(`${path}.ltx`));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Inserts the bibliography from its .bbl file, which BibTeX or biber made. Its database is not part of a source. */
function withBibliography(text: string, files: SourceFiles, mainPath: string): string {
  if (text.includes("\\bibitem")) return text;
  const bblFiles = [...files].filter(([path]) => /\.bbl$/i.test(path));
  const mainBblPath = mainPath.replace(/\.[a-z]+$/i, ".bbl").toLowerCase();
  const bblFile = bblFiles.find(([path]) => path.toLowerCase() === mainBblPath) ?? bblFiles[0];
  if (bblFile === undefined) return text;
  const source = withoutComments(bblFile[1]).slice(0, maxSourceChars);
  const bibliography = isBiblatex(source) ? bibliographyOf(source) : source;
  const index = /\\(?:bibliography\s*\{|printbibliography)/.exec(text)?.index ?? text.indexOf("\\end{document}");
  return index === -1 ? `${text}\n${bibliography}` : `${text.slice(0, index)}\n${bibliography}\n${text.slice(index)}`;
}
