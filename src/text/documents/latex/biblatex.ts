import { groupAt } from "./scan.js";

/** Whether a bibliography is one that biber made for biblatex: a data base of fields, no text. */
export const isBiblatex = (bibliography: string): boolean => /\\entry\s*\{/.test(bibliography);

/** biber's data base as a bibliography of the old kind: authors, title, where it stands, year, identifier. */
export function bibliographyOf(data: string): string {
  const entries = data.split(/\\entry\s*(?=\{)/).slice(1);
  const items = entries.map((entry) => {
    const body = entry.split("\\endentry")[0] ?? "";
    const key = groupAt(body, 0)?.content.trim() ?? "";
    const field = (name: string): string | undefined => {
      const at = body.indexOf(`\\field{${name}}`);
      return at === -1 ? undefined : groupAt(body, at + name.length + 8)?.content.trim();
    };
    const doi = /\\verb\{doi\}\s*\\verb\s+(\S+)/.exec(body)?.[1];
    const where = field("journaltitle") ?? field("booktitle");
    const said = [namesIn(body).join(", "), field("title"), where, field("year") ?? field("date"), doi];
    return `\\bibitem{${key}} ${said.filter((part) => part !== undefined && part !== "").join(". ")}.`;
  });
  return `\\begin{thebibliography}{${items.length}}\n${items.join("\n")}\n\\end{thebibliography}`;
}

const maxNames = 50;

function namesIn(body: string): string[] {
  const at = body.indexOf("\\name{author}");
  if (at === -1) return [];
  const rest = body.slice(at + "\\name{author}".length);
  const until = rest.search(/\\(?:name|list|field|strng|keyw)\s*\{/);
  const block = until === -1 ? rest : rest.slice(0, until);
  const part = (text: string, name: string) => {
    const found = new RegExp(`\\b${name}=(?=\\{)`).exec(text);
    return found === null ? undefined : groupAt(text, found.index + found[0].length)?.content.trim();
  };
  return block
    .split(/\{hash=/)
    .slice(1, maxNames + 1)
    .map((name) =>
      [part(name, "given"), part(name, "prefix"), part(name, "family")].filter((each) => each !== undefined).join(" "),
    );
}
