import type { FileReader, Imports } from "./language.js";

export const javascriptEndings = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"] as const;

/** Reads the imports of TypeScript and JavaScript: static ones, re-exports, dynamic ones and `require` by literal. */
export async function javascriptReader(): Promise<FileReader> {
  const { parseSync } = await import("oxc-parser");
  return {
    read(path, text): Imports {
      // Its parts are made when they are first asked for, and each costs time.
      const parsed = parseSync(path, text, { sourceType: sourceTypeOf(path) });
      const found = parsed.module;
      const names = found.staticImports.map(({ moduleRequest }) => moduleRequest.value);
      // Looking at exports costs more than all else, so it is done only where something is passed on.
      if (/\bexport\b[^;"'`]{0,4000}\bfrom\s*["']/.test(text))
        for (const { entries } of found.staticExports)
          for (const { moduleRequest } of entries) if (moduleRequest !== null) names.push(moduleRequest.value);
      for (const { moduleRequest } of found.dynamicImports) {
        const literal = /^["'`]([^"'`$]+)["'`]$/.exec(text.slice(moduleRequest.start, moduleRequest.end))?.[1];
        if (literal !== undefined) names.push(literal);
      }
      if (/\brequire\s*\(\s*["'`]/.test(text)) names.push(...required(parsed.program));
      const [first] = parsed.errors;
      return { names: [...new Set(names)], ...(first === undefined ? {} : { problem: first.message.slice(0, 200) }) };
    },
  };
}

const sourceTypeOf = (path: string): "module" | "commonjs" | "unambiguous" =>
  /\.[cm]?tsx?$|\.mjs$/.test(path) ? "module" : path.endsWith(".cjs") ? "commonjs" : "unambiguous";

/** The parts of a node that a call of `require` is seen by. */
interface Call {
  readonly type?: string;
  readonly callee?: { readonly name?: string };
  readonly arguments?: readonly { readonly value?: unknown }[];
  readonly expression?: { readonly value?: unknown };
}

/** The literals of all calls of `require`. */
function required(program: unknown): string[] {
  const names: string[] = [];
  const open: unknown[] = [program];
  while (open.length > 0) {
    const node = open.pop();
    if (Array.isArray(node)) for (const each of node) open.push(each);
    else if (typeof node === "object" && node !== null) {
      const { type, callee, arguments: given, expression } = node as Call;
      const called = type === "CallExpression" && callee?.name === "require" ? given?.[0] : undefined;
      const literal = type === "TSExternalModuleReference" ? expression : called;
      const value = literal?.value;
      if (typeof value === "string") names.push(value);
      for (const each of Object.values(node)) if (typeof each === "object") open.push(each);
    }
  }
  return names;
}
