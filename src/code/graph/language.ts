import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageFile } from "../../engine/lib/package-root.js";

/** The imports of a file, in the syntax of its language. */
export interface Imports {
  readonly names: readonly string[];
  /** Why the file can't be parsed. */
  readonly problem?: string;
}

/** All grammars are registered together, once in a process. */
let registration: Promise<(language: "python" | "rust", text: string) => import("@ast-grep/napi").SgRoot> | undefined;

/** Loads the parser for Python and Rust. Throws if a grammar is not available on this platform. */
export function loadParser() {
  registration ??= (async () => {
    const napi = await import("@ast-grep/napi");
    napi.registerDynamicLanguage({ python: grammar("python", "py"), rust: grammar("rust", "rs") });
    return (language: "python" | "rust", text: string) => napi.parse(language, text);
  })();
  return registration;
}

const platformNames: Partial<Record<NodeJS.Platform, string>> = { darwin: "macOS", linux: "Linux", win32: "Windows" };

/**
 * The settings with which the parser loads a grammar. The packages of the grammars contain their sources too, which are
 * twice as large as the compiled grammars, so our build copies only the compiled ones.
 */
function grammar(name: "python" | "rust", extension: string) {
  const builtFolder = packageFile("dist", "grammars");
  const folder = existsSync(builtFolder)
    ? join(builtFolder, name)
    : packageFile("node_modules", "@ast-grep", `lang-${name}`, "prebuilds");
  return {
    libraryPath: join(folder, `prebuild-${platformNames[process.platform]}-${process.arch.toUpperCase()}`, "parser.so"),
    extensions: [extension],
    languageSymbol: `tree_sitter_${name}`,
    expandoChar: "µ",
  };
}
