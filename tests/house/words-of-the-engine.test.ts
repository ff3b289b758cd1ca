import { readFileSync } from "node:fs";
import fastGlob from "fast-glob";
import { parseAst } from "rolldown/parseAst";
import { expect, test } from "vitest";
import { packageFile } from "../../src/engine/lib/package-root.js";

/** Words that belong to the wings of research, tasks and the assistant: their files, records and configuration keys. */
const ofAWing = /paper|\brrd|screeners|screening|(?<!-)\bsources\b|arxiv|openalex|task_|todo\.md|ralph\.json|api_url/i;

/** The names and literals of a file that hold such a word, and the words. */
function wordsIn(text: string): { readonly word: string; readonly at: string }[] {
  const found: { word: string; at: string }[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    if (Array.isArray(node)) return node.forEach(visit);
    const { type, name, value, raw } = node as Readonly<Record<string, unknown>>;
    if (type === "ImportDeclaration") return visit((node as { specifiers: unknown }).specifiers);
    const written =
      type === "Identifier"
        ? name
        : type === "TemplateElement"
          ? (value as { raw: string }).raw
          : type === "Literal" && raw;
    const [word] = typeof written === "string" ? (ofAWing.exec(written) ?? []) : [];
    if (word !== undefined) found.push({ word: word.toLowerCase(), at: String(written).slice(0, 80) });
    Object.values(node).forEach(visit);
  };
  visit(parseAst(text, { lang: "ts" }));
  return found;
}

test("a planted name, literal, pattern and template of a wing are each found, and a comment is not", () => {
  const planted = "const papers = `a ${b} rrd.json`; // paper\ntype A = { task_x: 'todo.md' }; const c = /arXiv/;";
  expect(wordsIn(planted).map(({ word }) => word)).toEqual(["paper", "rrd", "task_", "todo.md", "arxiv"]);
});

test("the engine names nothing of a wing but what has a reason", () => {
  const root = packageFile("src", "engine");
  const files = fastGlob.sync("**/*.ts", { cwd: root, ignore: ["generated/{event,ledger}.ts"] });
  expect(files.length).toBeGreaterThan(100);
  const found = files.map((file) => [file, wordsIn(readFileSync(`${root}/${file}`, "utf8"))] as const);
  expect(found.flatMap(([file, words]) => words.map(({ at }) => `${file}: ${at}`))).toEqual([]);
});
