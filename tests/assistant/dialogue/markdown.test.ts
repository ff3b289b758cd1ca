import { stripVTControlCharacters } from "node:util";
import { createColors } from "picocolors";
import { describe, expect, it } from "vitest";
import { MarkdownPrinter } from "../../../src/assistant/dialogue/markdown.js";
import { textWidth } from "../../../src/engine/ui/terminal/format.js";
import fc from "../../support/runner/fast-check.js";

function set(pieces: readonly string[], columns = 40, isColoured = false): string {
  let written = "";
  const setter = new MarkdownPrinter({
    colors: createColors(isColoured),
    columns: () => columns,
    write: (text) => void (written += text),
  });
  for (const piece of pieces) setter.add(piece);
  setter.end();
  return written;
}

describe("Markdown on a terminal", () => {
  it.each([
    ["# A title", "A title\n"],
    ["say **this** and *that* and `code`", "say this and that and code\n"],
    ["2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name\n"],
    ["- one\n  - two\n3. three", "• one\n  • two\n3. three\n"],
    ["> quoted", "│ quoted\n"],
    ["```ts\nconst a = **b**;\n```\nend", "  const a = **b**;\nend\n"],
    ["see [here](https://example.org/)", "see here (https://example.org/)\n"],
    ["[https://e.org/](https://e.org/)", "https://e.org/\n"],
    ["| a | bcd |\n|---|---|\n| efg | h |\nend", "a    bcd\nefg  h\nend\n"],
    ["***", "───────────────────────────────────────\n"],
    [
      "- a long item that goes on and on and on until its end",
      "• a long item that goes on and on and\n  on until its end\n",
    ],
    ["", ""],
  ])("%j", (text, expected) => {
    expect(set([text])).toBe(expected);
  });

  it("is the same in whatever pieces it comes", () => {
    const part = fc.constantFrom(
      "word ",
      "**bold** ",
      "`a b` ",
      "\n",
      "\n\n",
      "- ",
      "# ",
      "1. ",
      "> ",
      "```\n",
      "| a | b |\n",
      "*x",
      "averylongwordwithoutanyspace ",
      "日本語 ",
      "[a](https://b.c) ",
      "\t",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), fc.array(fc.nat(12), { minLength: 1 }), (parts, cuts) => {
        const text = parts.join("");
        const pieces: string[] = [];
        for (let at = 0, cut = 0; at < text.length; cut += 1) {
          const length = (cuts[cut % cuts.length] ?? 0) + 1;
          pieces.push(text.slice(at, at + length));
          at += length;
        }
        expect(set(pieces)).toBe(set([text]));
      }),
    );
  });

  it("shows a row of a long paragraph before the paragraph ends", () => {
    let written = "";
    const setter = new MarkdownPrinter({
      colors: createColors(false),
      columns: () => 40,
      write: (text) => void (written += text),
    });
    setter.add("word ".repeat(40));
    expect(written.split("\n").length).toBeGreaterThan(3);
  });

  it("keeps every word, and fits rows of words into 20 columns", () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,15}$/), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(words, (list) => {
        const rows = set([list.join(" ")], 20)
          .trimEnd()
          .split("\n");
        expect(rows.join(" ")).toBe(list.join(" "));
        for (const row of rows) expect(textWidth(row)).toBeLessThan(20);
      }),
    );
  });

  it("colours nothing but what it sets itself", () => {
    expect(stripVTControlCharacters(set(["**a** `b`"], 40, true))).toBe("a b\n");
  });
});
