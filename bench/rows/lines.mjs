import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, thousands } from "../measure.mjs";

export const row = {
  name: "lines",
  what: "lines of code in src, without blanks and comments",
  was: "29,545 (commit af2a2f2, the first at width 120)",
  hold: "≤ 27,500",
  command: "npm run bench -- lines",
  async run() {
    const { default: ts } = await import("typescript");
    return { ours: thousands(linesIn(ts, join(root, "src"))) };
  },
};

/** A line counts when a token that is not a comment begins, goes on or ends in it. */
function linesIn(ts, folder) {
  let count = 0;
  for (const name of readdirSync(folder, { recursive: true })) {
    if (!name.endsWith(".ts")) continue;
    const text = readFileSync(join(folder, name), "utf8");
    const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest);
    const lines = new Set();
    const visit = (node) => {
      const children = node.getChildren(source);
      if (children.length > 0) return children.forEach(visit);
      const start = node.getStart(source);
      if (start === node.end || node.kind === ts.SyntaxKind.EndOfFileToken || ts.isJSDoc?.(node)) return;
      const lineOf = (at) => source.getLineAndCharacterOfPosition(at).line;
      for (let line = lineOf(start); line <= lineOf(node.end); line++) lines.add(line);
    };
    visit(source);
    count += lines.size;
  }
  return count;
}
