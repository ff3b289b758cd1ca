import { extname } from "node:path";
import type { SgNode } from "@ast-grep/napi";
import { grammars } from "./language.js";

/** The named parts of a source file: a function, a method as `Class.method`, a constant. */
export interface Symbols {
  /** Its lines in their order, without indentation and empty ones, by symbol; what stands outside of all is `""`. */
  readonly lines: ReadonlyMap<string, readonly string[]>;
  /** The symbol that holds a line, the first being 1. */
  at(line: number): string;
}

/**
 * The symbols of a file at `path`. A file of another language than JavaScript, TypeScript, Python and Rust is one
 * symbol, `""`.
 */
export async function symbolsIn(path: string, text: string): Promise<Symbols> {
  const rows = text.split("\n");
  const owners: string[] = rows.map(() => "");
  const root = await parsed(path, text);
  if (root !== undefined) mark(root, "", owners);
  const lines = new Map<string, string[]>();
  for (const [at, row] of rows.entries()) {
    const line = row.trim();
    const owner = owners[at] ?? "";
    if (line !== "") lines.set(owner, [...(lines.get(owner) ?? []), line]);
  }
  return { lines, at: (line) => owners[line - 1] ?? "" };
}

async function parsed(path: string, text: string): Promise<SgNode | undefined> {
  const ending = extname(path);
  const own = ending === ".py" ? "python" : ending === ".rs" ? "rust" : undefined;
  if (own !== undefined) return (await grammars())(own, text).root();
  const { parse, Lang } = await import("@ast-grep/napi");
  if (/^\.[jt]sx$/.test(ending)) return parse(Lang.Tsx, text).root();
  if (/^\.[cm]?ts$/.test(ending)) return parse(Lang.TypeScript, text).root();
  return /^\.[cm]?js$/.test(ending) ? parse(Lang.JavaScript, text).root() : undefined;
}

/** How deep below a file or the body of a class a declaration may stand: in an export, a block, a decorator. */
const maxDepth = 4;

/** Writes the name of each declaration below `node` to the lines it takes. */
function mark(node: SgNode, prefix: string, owners: string[], depth = 0): void {
  for (const child of node.children()) {
    const name =
      child.field("name") ?? child.field("left") ?? (child.kind() === "impl_item" ? child.field("type") : null);
    const body = child.field("body");
    if (name === null) {
      if (child.isNamed() && depth < maxDepth) mark(child, prefix, owners, depth + 1);
      continue;
    }
    const symbol = `${prefix}${name.text().slice(0, 100)}`;
    const { start, end } = child.range();
    owners.fill(symbol, start.line, end.line + 1);
    // A class is its members; a function is one whole.
    if (body !== null && isOfMembers(child)) mark(body, `${symbol}.`, owners);
  }
}

const isOfMembers = (node: SgNode): boolean => /class|impl|trait|mod|namespace/.test(String(node.kind()));
