/** Lines of a preview, and characters of each. */
const maxLines = 40;
const maxWidth = 160;

/**
 * What becomes of a text, as the lines that go (`-`) and those that come (`+`), without those that begin and end both
 * alike. For a person to look at: bounded, and no patch.
 */
export function changes(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  if (before !== after && old.join("\n") === now.join("\n")) return "  the line break at the end";
  let from = 0;
  while (from < old.length && from < now.length && old[from] === now[from]) from += 1;
  let end = 0;
  while (end < old.length - from && end < now.length - from && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const gone = old.slice(from, old.length - end).map((line) => `- ${line}`);
  const come = now.slice(from, now.length - end).map((line) => `+ ${line}`);
  const where = from === 0 ? [] : [`  line ${from + 1}:`];
  return [...where, ...bounded(gone), ...bounded(come)].join("\n");
}

/** A break at the end ends the last line and begins no other. */
const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

function bounded(lines: readonly string[]): string[] {
  const shown = lines
    .slice(0, maxLines / 2)
    .map((line) => (line.length > maxWidth ? `${line.slice(0, maxWidth)}…` : line));
  const left = lines.length - shown.length;
  return left === 0 ? shown : [...shown, `  … ${left} more ${left === 1 ? "line" : "lines"}`];
}
