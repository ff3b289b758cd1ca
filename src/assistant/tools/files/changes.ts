/**
 * The changes of a text: removed lines (`-`) and added lines (`+`), without equal lines at the beginning and the end.
 * It shows every change, because the user must see what they allow.
 */
export function changedLines(before: string, after: string): string {
  const [oldLines, newLines] = [linesOf(before), linesOf(after)];
  if (before !== after && oldLines.join("\n") === newLines.join("\n")) return "  the line break at the end";
  let firstDifference = 0;
  while (
    firstDifference < oldLines.length &&
    firstDifference < newLines.length &&
    oldLines[firstDifference] === newLines[firstDifference]
  )
    firstDifference += 1;
  let equalAtEnd = 0;
  while (
    equalAtEnd < oldLines.length - firstDifference &&
    equalAtEnd < newLines.length - firstDifference &&
    oldLines.at(-1 - equalAtEnd) === newLines.at(-1 - equalAtEnd)
  )
    equalAtEnd += 1;
  const removedLines = oldLines.slice(firstDifference, oldLines.length - equalAtEnd).map((line) => `- ${line}`);
  const addedLines = newLines.slice(firstDifference, newLines.length - equalAtEnd).map((line) => `+ ${line}`);
  const locationLine = firstDifference === 0 ? [] : [`  line ${firstDifference + 1}:`];
  return [...locationLine, ...removedLines, ...addedLines].join("\n");
}

/** The lines of a text. A line break at the end does not begin another line. */
const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
