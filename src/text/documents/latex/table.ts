import { bodyAt, commandAt, groupAt, skipArguments } from "./scan.js";

/** The text of a table: one line for each row, with " | " between the cells. `cellText` returns the text of a cell. */
export function tableText(body: string, cellText: (latex: string) => string): string {
  const rows = cellsOf(body);
  const lines = rows.map((cells) => cells.map((cell) => cellText(cell).replace(/\s+/g, " ").trim()).join(" | "));
  return lines.filter((line) => /[^\s|]/.test(line)).join("\n");
}

/** The content of a table environment without its arguments: the column types, and the width of the table. */
export function tableBody(name: string, content: string): string {
  const argumentCount = name === "tabular*" || name === "tabularx" || name === "tabulary" ? 2 : 1;
  return content.slice(skipArguments(content, 0, argumentCount));
}

/** The cells of each row. Ampersands and row ends in groups and inner environments belong to the cell. */
function cellsOf(body: string): string[][] {
  const rows: string[][] = [[]];
  let cellStart = 0;
  const endCell = (cellEnd: number) => rows.at(-1)?.push(body.slice(cellStart, cellEnd));
  for (let index = 0; index < body.length;) {
    const character = body[index];
    if (character === "&") {
      endCell(index);
      cellStart = index += 1;
    } else if (character === "{") index = groupAt(body, index)?.end ?? index + 1;
    else if (character !== "\\") index += 1;
    else {
      const command = commandAt(body, index);
      if (command === undefined) break;
      if (command.name === "\\" || command.name === "tabularnewline" || command.name === "cr") {
        endCell(index);
        rows.push([]);
        // After the end of a row, an option may set the height of the gap below it.
        const optionStart = body[command.end] === "*" ? command.end + 1 : command.end;
        cellStart = index = groupAt(body, optionStart, "[")?.end ?? command.end;
      } else if (command.name === "begin") {
        const name = groupAt(body, command.end);
        index = name === undefined ? command.end : bodyAt(body, name.end, name.content).end;
      } else index = command.end;
    }
  }
  endCell(body.length);
  return rows;
}
