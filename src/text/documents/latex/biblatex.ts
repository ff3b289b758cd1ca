import { groupAt } from "./scan.js";

/** Whether biber made a bibliography for biblatex. Such a bibliography contains fields and no text. */
export const isBiblatex = (bibliography: string): boolean => /\\entry\s*\{/.test(bibliography);

/** Converts biber's fields to a `thebibliography` with authors, title, journal or book, year and DOI of each entry. */
export function bibliographyOf(bblText: string): string {
  const entries = bblText.split(/\\entry\s*(?=\{)/).slice(1);
  const items = entries.map((entry) => {
    const body = entry.split("\\endentry")[0] ?? "";
    const key = groupAt(body, 0)?.content.trim() ?? "";
    const field = (name: string): string | undefined => {
      const command = `\\field{${name}}`;
      const start = body.indexOf(command);
      return start === -1 ? undefined : groupAt(body, start + command.length)?.content.trim();
    };
    const doi = /\\verb\{doi\}\s*\\verb\s+(\S+)/.exec(body)?.[1];
    const journalOrBook = field("journaltitle") ?? field("booktitle");
    const details = [authorsOf(body).join(", "), field("title"), journalOrBook, field("year") ?? field("date"), doi];
    return `\\bibitem{${key}} ${details.filter((part) => part !== undefined && part !== "").join(". ")}.`;
  });
  return `\\begin{thebibliography}{${items.length}}\n${items.join("\n")}\n\\end{thebibliography}`;
}

/** Maximum number of authors of an entry. */
const maxAuthors = 50;

function authorsOf(body: string): string[] {
  const start = body.indexOf("\\name{author}");
  if (start === -1) return [];
  const rest = body.slice(start + "\\name{author}".length);
  const end = rest.search(/\\(?:name|list|field|strng|keyw)\s*\{/);
  const authorBlock = end === -1 ? rest : rest.slice(0, end);
  const namePart = (author: string, kind: string) => {
    const match = new RegExp(`\\b${kind}=(?=\\{)`).exec(author);
    return match === null ? undefined : groupAt(author, match.index + match[0].length)?.content.trim();
  };
  return authorBlock
    .split(/\{hash=/)
    .slice(1, maxAuthors + 1)
    .map((author) =>
      ["given", "prefix", "family"]
        .map((kind) => namePart(author, kind))
        .filter((part) => part !== undefined)
        .join(" "),
    );
}
