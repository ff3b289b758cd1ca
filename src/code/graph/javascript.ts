import type { Imports } from "./language.js";

export const javascriptExtensions = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"] as const;

/**
 * Reads the imports of TypeScript and JavaScript: static imports, re-exports, and `import()` and `require` with a
 * literal.
 */
export async function javascriptImports(path: string, text: string): Promise<Imports> {
  const { parseSync } = await import("oxc-parser");
  // The parser creates the parts of its result when they are first read, and each part costs time.
  const parsed = parseSync(path, text, { sourceType: sourceTypeOf(path) });
  const module = parsed.module;
  const names = module.staticImports.map(({ moduleRequest }) => moduleRequest.value);
  // Reading the exports takes more time than all the rest, so it is done only if the file has re-exports.
  if (/\bexport\b[^;"'`]{0,4000}\bfrom\s*["']/.test(text))
    for (const { entries } of module.staticExports)
      for (const { moduleRequest } of entries) if (moduleRequest !== null) names.push(moduleRequest.value);
  for (const { moduleRequest } of module.dynamicImports) {
    const literal = /^["'`]([^"'`$]+)["'`]$/.exec(text.slice(moduleRequest.start, moduleRequest.end))?.[1];
    if (literal !== undefined) names.push(literal);
  }
  if (/\brequire\s*\(\s*["'`]/.test(text)) names.push(...requiredNames(parsed.program));
  const [firstError] = parsed.errors;
  return {
    names: [...new Set(names)],
    ...(firstError === undefined ? {} : { problem: firstError.message.slice(0, 200) }),
  };
}

const sourceTypeOf = (path: string): "module" | "commonjs" | "unambiguous" =>
  /\.[cm]?tsx?$|\.mjs$/.test(path) ? "module" : path.endsWith(".cjs") ? "commonjs" : "unambiguous";

/** The fields of a syntax node that identify a call of `require`. */
interface Call {
  readonly type?: string;
  readonly callee?: { readonly name?: string };
  readonly arguments?: readonly { readonly value?: unknown }[];
  readonly expression?: { readonly value?: unknown };
}

/** The literals in all calls of `require`. */
function requiredNames(program: unknown): string[] {
  const names: string[] = [];
  const nodesToVisit: unknown[] = [program];
  while (nodesToVisit.length > 0) {
    const node = nodesToVisit.pop();
    if (Array.isArray(node)) for (const child of node) nodesToVisit.push(child);
    else if (typeof node === "object" && node !== null) {
      const { type, callee, arguments: callArguments, expression } = node as Call;
      const requireArgument = type === "CallExpression" && callee?.name === "require" ? callArguments?.[0] : undefined;
      const literal = type === "TSExternalModuleReference" ? expression : requireArgument;
      const value = literal?.value;
      if (typeof value === "string") names.push(value);
      for (const child of Object.values(node)) if (typeof child === "object") nodesToVisit.push(child);
    }
  }
  return names;
}
