/**
 * What becomes of a text, as the lines that go (`-`) and those that come (`+`), without those that begin and end both
 * alike. Whole, because it is what a person allows; no patch.
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
  return [...where, ...gone, ...come].join("\n");
}

/** A break at the end ends the last line and begins no other. */
const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
