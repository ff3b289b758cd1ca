import { bodyAt, commandAt, groupAt, skipArguments } from "./scan.js";

/** The rows of a table's body as lines, cells parted by bars. `inline` turns one cell into text. */
export function tableText(body: string, inline: (latex: string) => string): string {
  const rows = split(body);
  const lines = rows.map((cells) => cells.map((cell) => inline(cell).replace(/\s+/g, " ").trim()).join(" | "));
  return lines.filter((line) => /[^\s|]/.test(line)).join("\n");
}

/** The body of a table without its columns' description. */
export function tableBody(name: string, content: string): string {
  const width = name === "tabular*" || name === "tabularx" || name === "tabulary" ? 2 : 1;
  return content.slice(skipArguments(content, 0, width));
}

/** Cells by row. Ampersands and line ends inside groups and inner environments belong to their cell. */
function split(body: string): string[][] {
  const rows: string[][] = [[]];
  let from = 0;
  const close = (until: number) => rows.at(-1)?.push(body.slice(from, until));
  for (let at = 0; at < body.length;) {
    const character = body[at];
    if (character === "&") {
      close(at);
      from = at += 1;
    } else if (character === "{") at = groupAt(body, at)?.end ?? at + 1;
    else if (character !== "\\") at += 1;
    else {
      const command = commandAt(body, at);
      if (command === undefined) break;
      if (command.name === "\\" || command.name === "tabularnewline" || command.name === "cr") {
        close(at);
        rows.push([]);
        // A row may be followed by the height of the gap below it.
        from = at = groupAt(body, body[command.end] === "*" ? command.end + 1 : command.end, "[")?.end ?? command.end;
      } else if (command.name === "begin") {
        const name = groupAt(body, command.end);
        at = name === undefined ? command.end : bodyAt(body, name.end, name.content).end;
      } else at = command.end;
    }
  }
  close(body.length);
  return rows;
}
