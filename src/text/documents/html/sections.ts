import type { Cheerio, CheerioAPI } from "cheerio";
import type { Node } from "./select.js";
import { sectionLabel } from "../text/markdown.js";
import { barCountsOf } from "../text/table-columns.js";
import { collapseSpaces, type Part, tidyText } from "../text/document-text.js";

const blockElements = new Set(
  "address article blockquote body caption center dd details div dl dt figcaption figure footer header hr li main ol p pre section summary table tbody thead tfoot tr ul".split(
    " ",
  ),
);

/**
 * The text of an element, divided at its headings. Each section begins with a line such as `## 3 Method`. `notes` are
 * the footnotes to put after an element.
 */
export function partsOf(page: CheerioAPI, main: Cheerio<Node>, notes: ReadonlyMap<Node, readonly string[]>): Part[] {
  const parts: { label?: string; pieces: string[] }[] = [{ pieces: [] }];
  const append = (piece: string) => parts.at(-1)?.pieces.push(piece);
  const barCounts = barCountsOf(main.find("tr").toArray());
  for (const node of main.toArray()) appendNode(node, false);
  return parts.map(({ label, pieces }) => ({
    label,
    text: tidyText(pieces.join("").replace(/\n-\s+(?=\S)/g, "\n- ")),
  }));

  function appendNode(node: Node, isVerbatim: boolean): void {
    if (node.type === "text") return void append(isVerbatim ? node.data : collapseSpaces(node.data));
    if (node.type !== "tag") return;
    const name = node.name;
    if (/^h[1-6]$/.test(name)) {
      const heading = page(node).text().replace(/\s+/g, " ").trim();
      if (heading === "") return;
      if (name === "h1") return void append(`\n\n# ${heading}\n\n`);
      parts.push({ label: sectionLabel(heading), pieces: [`## ${heading}\n\n`] });
      return;
    }
    if (name === "br") return void append("\n");
    if (name === "li") append("\n- ");
    else if (blockElements.has(name)) append(name === "tr" ? "\n" : "\n\n");
    // LaTeXML also uses tables for the layout of equations; these get no bars between their cells.
    const barCount = barCounts.get(node) ?? 0;
    if (barCount > 0)
      append(page(node).closest("table").is(".ltx_eqn_table, .ltx_equation") ? " " : ` ${"| ".repeat(barCount)}`);
    for (const child of node.children) appendNode(child as Node, isVerbatim || name === "pre");
    if (blockElements.has(name) && name !== "tr" && name !== "li") append("\n\n");
    for (const note of notes.get(node) ?? []) append(`\n\n${note.replace(/\s+/g, " ")}\n\n`);
  }
}
