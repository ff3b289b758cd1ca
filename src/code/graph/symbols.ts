import { extname } from "node:path";
import type { SgNode } from "@ast-grep/napi";
import { loadParser } from "./language.js";

/** The symbols of a source file: functions, methods as `Class.method`, constants. */
export interface Symbols {
  /** The lines of each symbol, without indentation and empty lines. Lines outside all symbols have the key `""`. */
  readonly lines: ReadonlyMap<string, readonly string[]>;
  /** The symbol that contains a line. The first line is 1. */
  at(line: number): string;
}

/**
 * The symbols of a file at `path`. In other languages than JavaScript, TypeScript, Python and Rust, the whole file is
 * one symbol, `""`.
 */
export async function symbolsIn(path: string, text: string): Promise<Symbols> {
  const fileLines = text.split("\n");
  const symbolOfLine: string[] = fileLines.map(() => "");
  const root = await parseFile(path, text);
  if (root !== undefined) markSymbols(root, "", symbolOfLine);
  const lines = new Map<string, string[]>();
  for (const [index, fileLine] of fileLines.entries()) {
    const line = fileLine.trim();
    const symbol = symbolOfLine[index] ?? "";
    if (line !== "") lines.set(symbol, [...(lines.get(symbol) ?? []), line]);
  }
  return { lines, at: (line) => symbolOfLine[line - 1] ?? "" };
}

async function parseFile(path: string, text: string): Promise<SgNode | undefined> {
  const ending = extname(path);
  const grammarName = ending === ".py" ? "python" : ending === ".rs" ? "rust" : undefined;
  if (grammarName !== undefined) return (await loadParser())(grammarName, text).root();
  const { parse, Lang } = await import("@ast-grep/napi");
  if (/^\.[jt]sx$/.test(ending)) return parse(Lang.Tsx, text).root();
  if (/^\.[cm]?ts$/.test(ending)) return parse(Lang.TypeScript, text).root();
  return /^\.[cm]?js$/.test(ending) ? parse(Lang.JavaScript, text).root() : undefined;
}

/** Maximum depth of a declaration below a file or a class body: in an export, a block or a decorator. */
const maxDepth = 4;

/** Writes the symbol of each declaration below `node` to its lines. */
function markSymbols(node: SgNode, prefix: string, symbolOfLine: string[], depth = 0): void {
  for (const child of node.children()) {
    const name =
      child.field("name") ?? child.field("left") ?? (child.kind() === "impl_item" ? child.field("type") : null);
    const body = child.field("body");
    if (name === null) {
      if (child.isNamed() && depth < maxDepth) markSymbols(child, prefix, symbolOfLine, depth + 1);
      continue;
    }
    const symbol = `${prefix}${name.text().slice(0, 100)}`;
    const { start, end } = child.range();
    symbolOfLine.fill(symbol, start.line, end.line + 1);
    // The members of a class are separate symbols; a function is one symbol.
    if (body !== null && hasMembers(child)) markSymbols(body, `${symbol}.`, symbolOfLine);
  }
}

const hasMembers = (node: SgNode): boolean => /class|impl|trait|mod|namespace/.test(String(node.kind()));
