import { existsSync, readdirSync, realpathSync } from "node:fs";
import { delimiter, dirname, join, resolve, sep } from "node:path";
import { homeOf } from "../engine/ui/io.js";
import { packagesAround } from "../task/place/project.js";

/**
 * Folders of a user's home in which language tools are installed, by the way they are known there. Each is read in a
 * sandbox where a folder of the user's PATH lies in it; what lies next to them, such as keys of registries, is not.
 */
const known = [
  [".cargo", "bin"],
  [".rustup"],
  [".pyenv"],
  [".nvm"],
  [".fnm"],
  [".local", "share", "fnm"],
  [".volta"],
  [".asdf"],
  [".local", "share", "mise"],
  // Beside these uv keeps logins.
  [".local", "share", "uv", "python"],
  [".local", "share", "uv", "tools"],
  [".bun"],
  [".deno"],
  ["go"],
  [".sdkman"],
  [".rbenv"],
] as const;

/**
 * Where rustup finds its toolchains: inside a sandbox HOME is another folder, by which it would find none. Nothing
 * where the user says it, or has none.
 */
export function rustupIn(env: NodeJS.ProcessEnv): { readonly RUSTUP_HOME?: string } {
  const folder = join(homeOf(env), ".rustup");
  return (env["RUSTUP_HOME"] ?? "") === "" && existsSync(folder) ? { RUSTUP_HOME: folder } : {};
}

/** What work in a folder has to read besides: the tools of the user's PATH, and the packages around it. */
export function surroundingsOf(folder: string, env: NodeJS.ProcessEnv): string[] {
  const packages = packagesAround(folder, homeOf(env));
  return [...toolchainsOf(env), ...(packages === undefined ? [] : [packages])];
}

/**
 * What has to be read so that the tools of a user's PATH run: the tests of a project need its language, which may lie
 * in the user's home. The system's own are there in every sandbox.
 */
function toolchainsOf(env: NodeJS.ProcessEnv): string[] {
  const home = homeOf(env);
  const path = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "" && existsSync(folder));
  const uses = (folder: string) => path.some((each) => each === folder || each.startsWith(`${folder}${sep}`));
  const cargo = uses(join(home, ".cargo"));
  const own = known
    .map((parts) => join(home, ...parts))
    .filter((folder) => existsSync(folder) && (uses(folder) || (cargo && folder.endsWith(".rustup"))));
  const elsewhere = path.filter((folder) => folder.startsWith(`/opt${sep}`)).map((folder) => resolve(folder, ".."));
  return [...new Set([...own, ...elsewhere, ...nodeIn(process.execPath)])];
}

/**
 * Node itself, with the packages that were installed with it. What lies around it may be anything: many put it into
 * ~/.local, where others keep keyrings.
 */
export function nodeIn(program: string): string[] {
  const folder = dirname(dirname(realpathSync(program)));
  if (folder.startsWith("/usr")) return [];
  const lib = join(folder, "lib");
  // A Node of conda or of a distribution needs the libraries that were installed with it.
  const hasOwnLibraries = filesIn(lib).some((name) => /^lib(?:node|uv|v8)\b.*\.so\b/.test(name));
  const parts = [
    join(folder, "bin"),
    hasOwnLibraries ? lib : join(lib, "node_modules"),
    join(folder, "include", "node"),
  ];
  return parts.filter((path) => existsSync(path));
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
