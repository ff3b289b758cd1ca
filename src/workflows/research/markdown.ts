/** Text for one cell of a Markdown table: one line, no bars that would split it, nothing that renders as HTML. */
export const cell = (value: unknown): string => inline(value).replace(/\|/g, "\\|");

/** Text on one line, so that nothing in it can pass for a heading or an entry of ours. */
export const flat = (value: unknown): string =>
  String(value ?? "")
    .replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();

/** Text on one line whose angle brackets show as they are. */
export const inline = (value: unknown): string => flat(value).replace(/</g, "&lt;");

/** Text over several lines whose angle brackets show as they are, and in which nothing starts a heading or a table. */
export const block = (value: unknown): string =>
  String(value ?? "")
    .split(/\n\s*\n/)
    .map((paragraph) => inline(paragraph).replace(/^(#{1,6} |\||[-=]{3,}$)/, "\\$1"))
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");

/** A table, or the sentence given where there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly unknown[])[], none: string): string {
  if (rows.length === 0) return `_${none}_`;
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map((row) => line(row.map(cell)))].join("\n");
}

export const bullets = (lines: readonly unknown[]): string => lines.map((line) => `- ${inline(line)}`).join("\n");
