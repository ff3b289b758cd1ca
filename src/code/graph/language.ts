import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageFile } from "../../engine/lib/package-root.js";

/** What a file imports, by the words of its language. */
export interface Imports {
  readonly names: readonly string[];
  /** Why it can't be read as its language. */
  readonly problem?: string;
}

/** Reads files of a language. */
export interface FileReader {
  read(path: string, text: string): Imports;
}

/** The grammars are registered once a process, all at once. */
let registered: Promise<(language: "python" | "rust", text: string) => import("@ast-grep/napi").SgRoot> | undefined;

/** A parser for Python and Rust. Throws where a grammar is not built for this platform. */
export function grammars() {
  registered ??= (async () => {
    const napi = await import("@ast-grep/napi");
    napi.registerDynamicLanguage({ python: grammar("python", "py"), rust: grammar("rust", "rs") });
    return (language: "python" | "rust", text: string) => napi.parse(language, text);
  })();
  return registered;
}

const systems: Partial<Record<NodeJS.Platform, string>> = { darwin: "macOS", linux: "Linux", win32: "Windows" };

/**
 * A grammar as the parser loads it. The packages of the grammars hold their sources too, twice the size of all that is
 * built of them; the build copies what is built.
 */
function grammar(name: "python" | "rust", extension: string) {
  const copied = packageFile("dist", "grammars");
  const folder = existsSync(copied)
    ? join(copied, name)
    : packageFile("node_modules", "@ast-grep", `lang-${name}`, "prebuilds");
  return {
    libraryPath: join(folder, `prebuild-${systems[process.platform]}-${process.arch.toUpperCase()}`, "parser.so"),
    extensions: [extension],
    languageSymbol: `tree_sitter_${name}`,
    expandoChar: "µ",
  };
}
