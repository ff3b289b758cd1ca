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

/** A parser for Python and Rust. */
export function grammars() {
  registered ??= (async () => {
    const [napi, python, rust] = await Promise.all([
      import("@ast-grep/napi"),
      import("@ast-grep/lang-python"),
      import("@ast-grep/lang-rust"),
    ]);
    napi.registerDynamicLanguage({ python: python.default, rust: rust.default });
    return (language: "python" | "rust", text: string) => napi.parse(language, text);
  })();
  return registered;
}
