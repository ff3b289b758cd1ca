import type { Cheerio, CheerioAPI } from "cheerio";
import type { Node } from "./select.js";
import { sectionLabel } from "../text/markdown.js";
import { barsOf } from "../text/table-columns.js";
import type { Part } from "../text/document-text.js";

const blocks = new Set(
  "address article blockquote body caption center dd details div dl dt figcaption figure footer header hr li main ol p pre section summary table tbody thead tfoot tr ul".split(
    " ",
  ),
);

/**
 * The text below a node, split at its headings. Each section begins with its heading as a line `## 3 Method`. `notes`
 * are the footnotes that stand behind an element.
 */
export function partsOf(page: CheerioAPI, main: Cheerio<Node>, notes: ReadonlyMap<Node, readonly string[]>): Part[] {
  const parts: { label?: string; pieces: string[] }[] = [{ pieces: [] }];
  const say = (piece: string) => parts.at(-1)?.pieces.push(piece);
  const bars = barsOf(main.find("tr").toArray());
  for (const node of main.toArray()) walk(node, false);
  return parts.map(({ label, pieces }) => ({ label, text: tidy(pieces.join("")) }));

  function walk(node: Node, verbatim: boolean): void {
    if (node.type === "text") return void say(verbatim ? node.data : node.data.replace(/\s+/g, " "));
    if (node.type !== "tag") return;
    const name = node.name;
    if (/^h[1-6]$/.test(name)) {
      const heading = page(node).text().replace(/\s+/g, " ").trim();
      if (heading === "") return;
      if (name === "h1") return void say(`\n\n# ${heading}\n\n`);
      parts.push({ label: sectionLabel(heading), pieces: [`## ${heading}\n\n`] });
      return;
    }
    if (name === "br") return void say("\n");
    if (name === "li") say("\n- ");
    else if (blocks.has(name)) say(name === "tr" ? "\n" : "\n\n");
    // LaTeXML lays equations and authors out in tables; bars belong to tables of data.
    const before = bars.get(node) ?? 0;
    if (before > 0)
      say(page(node).closest("table").is(".ltx_eqn_table, .ltx_equation") ? " " : ` ${"| ".repeat(before)}`);
    for (const child of node.children) walk(child as Node, verbatim || name === "pre");
    if (blocks.has(name) && name !== "tr" && name !== "li") say("\n\n");
    for (const note of notes.get(node) ?? []) say(`\n\n${note.replace(/\s+/g, " ")}\n\n`);
  }
}

const tidy = (text: string) =>
  text
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n-\s+(?=\S)/g, "\n- ")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
