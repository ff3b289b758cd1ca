import { type Dirent, existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { isExecutable, isWithin } from "../../engine/process/search-path.js";
import { toolFolderVariables } from "../../engine/sandbox/environment.js";
import { homeOf } from "../../engine/ui/io.js";
import { outermostPackageFolder, pythonOf } from "./project.js";

/**
 * Folders of a user's home in which language tools are installed, by the way they are known there. Each is read in a
 * sandbox where a folder of the user's PATH lies in it, or a program there leads into it; what lies next to them, such
 * as keys of registries, is not.
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
  const packages = outermostPackageFolder(folder, homeOf(env));
  return [...toolchainsOf(folder, env), ...(packages === undefined ? [] : [packages])];
}

/** Folders of a PATH with another name may hold more than programs. */
const programFolders = new Set(["bin", "sbin", "shims", "condabin"]);
/** What is there in every sandbox. */
const ofSystem = /^\/(?:usr|bin|sbin|lib\w*)(?:\/|$)/;
/** Files that say that the folder they stand in is an environment of its own, which is of conda or of Python. */
const environments = ["conda-meta", "pyvenv.cfg"];

/**
 * What has to be read so that the tools of a user's PATH run: the tests of a project need its language, which may lie
 * in the user's home. The system's own are there in every sandbox. Of a folder of programs, such as ~/.local/bin, that
 * folder is shown and the packages that its links lead to.
 */
function toolchainsOf(project: string, env: NodeJS.ProcessEnv): string[] {
  const home = homeOf(env);
  const path = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "" && existsSync(folder));
  const never = [project, home, realOf(home) ?? home];
  const mayShow = (folder: string) =>
    !ofSystem.test(folder) && !never.some((each) => isWithin(each, folder)) && !isWithin(folder, project);
  const bins = path.filter((folder) => programFolders.has(basename(folder)) && mayShow(folder));
  const targets = bins.flatMap(linksIn).filter(mayShow);
  // The project's own environment is an agent's to write: only environments and known folders follow from it.
  const called = [...path, ...targets, realOf(pythonOf(project)) ?? ""];
  const whole = called.flatMap((each) => environmentAround(each, home) ?? []).filter(mayShow);
  // An environment of Python's is a link to another Python.
  const used = [...called, ...whole.flatMap((each) => realOf(join(each, "bin", "python")) ?? [])];
  const uses = (folder: string) => used.some((each) => isWithin(each, folder));
  const cargo = uses(join(home, ".cargo"));
  const own = known
    .map((parts) => join(home, ...parts))
    .filter((folder) => existsSync(folder) && (uses(folder) || (cargo && folder.endsWith(".rustup"))));
  // A tool that lies outside of the home is found by its variable; cargo alone keeps logins where its programs are.
  const named = toolFolderVariables
    .map((name) => ({ name, folder: env[name] ?? "" }))
    .filter(({ folder }) => isAbsolute(folder) && existsSync(folder) && !isWithin(folder, home))
    .map(({ name, folder }) => (name === "CARGO_HOME" ? join(folder, "bin") : folder))
    .filter(mayShow);
  const elsewhere = path.filter((folder) => folder.startsWith(`/opt${sep}`)).map((folder) => resolve(folder, ".."));
  // What lies in a folder that is shown is there with it.
  const without = (folders: readonly string[], some: readonly string[]) =>
    some.filter((each) => !folders.some((folder) => isWithin(each, folder)));
  const folders = [...own, ...named, ...whole, ...elsewhere];
  const all = [...folders, ...without(folders, bins)];
  const programs = targets.map((target) => packageOf(target) ?? target);
  return [...new Set([...all, ...without(all, programs), ...nodeIn(process.execPath)])];
}

/** The programs outside of a folder that links in it lead to. */
const linksIn = (folder: string): string[] =>
  entriesIn(folder)
    .filter((entry) => entry.isSymbolicLink())
    .flatMap(({ name }) => realOf(join(folder, name)) ?? [])
    .filter((path) => !isWithin(path, folder) && isExecutable(path));

/** The environment that a program or a folder of programs belongs to. */
function environmentAround(path: string, home: string): string | undefined {
  for (let at = dirname(path); at !== dirname(at) && at !== "." && !isWithin(home, at); at = dirname(at))
    if (environments.some((name) => existsSync(join(at, name)))) return at;
  return undefined;
}

/** The npm package that a program belongs to, with those that are installed next to it. */
const packageOf = (path: string): string | undefined => /^.*?\/node_modules(?=\/)/.exec(path)?.[0];

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
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
  const hasOwnLibraries = entriesIn(lib).some(({ name }) => /^lib(?:node|uv|v8)\b.*\.so\b/.test(name));
  const parts = [
    join(folder, "bin"),
    hasOwnLibraries ? lib : join(lib, "node_modules"),
    join(folder, "include", "node"),
  ];
  return parts.filter((path) => existsSync(path));
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
