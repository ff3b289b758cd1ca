import { existsSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { existingPath, isExecutable, isWithin, realPathOf } from "../../engine/process/search-path.js";
import { toolFolderVariables } from "../../engine/sandbox/environment.js";
import { entriesIn } from "../../engine/storage/regular-file.js";
import { homeOf } from "../../engine/ui/io.js";
import { outermostPackageFolder, pythonOf } from "./project.js";

/**
 * Folders in the user's home in which language tools are installed. A sandbox shows such a folder if a folder of the
 * user's PATH is in it, or if a program of the PATH is a link into it. It does not show the files beside these folders,
 * such as keys of registries.
 */
const homeToolFolders = [
  [".cargo", "bin"],
  [".rustup"],
  [".pyenv"],
  [".nvm"],
  [".fnm"],
  [".local", "share", "fnm"],
  [".volta"],
  [".asdf"],
  [".local", "share", "mise"],
  // Only these two folders, because uv keeps logins beside them.
  [".local", "share", "uv", "python"],
  [".local", "share", "uv", "tools"],
  [".bun"],
  [".deno"],
  ["go"],
  [".sdkman"],
  [".rbenv"],
] as const;

/**
 * The variable by which rustup finds its toolchains in a sandbox, where HOME is another folder. Empty if the user has
 * set the variable or has no rustup.
 */
export function rustupVariables(env: NodeJS.ProcessEnv): { readonly RUSTUP_HOME?: string } {
  const folder = join(homeOf(env), ".rustup");
  return (env["RUSTUP_HOME"] ?? "") === "" && existsSync(folder) ? { RUSTUP_HOME: folder } : {};
}

/**
 * The folders that work in a folder needs to read: the tools of the user's PATH, and the packages around the folder.
 */
export function surroundingsOf(folder: string, env: NodeJS.ProcessEnv): string[] {
  const packages = outermostPackageFolder(folder, homeOf(env));
  return [...toolchainsOf(folder, env), ...(packages === undefined ? [] : [packages])];
}

/** Names of folders that contain only programs. A folder of the PATH with another name may contain other files too. */
const programFolderNames = new Set(["bin", "sbin", "shims", "condabin"]);
/** Matches the system's folders, which every sandbox has. */
const systemPathPattern = /^\/(?:usr|bin|sbin|lib\w*)(?:\/|$)/;
/** Names of files that only the root folder of an environment of conda or Python contains. */
const environmentMarkers = ["conda-meta", "pyvenv.cfg"];

/**
 * The folders that the tools of the user's PATH need: tests need the tools of their language, which may be installed in
 * the user's home. The system's tools are in every sandbox. For a folder of programs, such as ~/.local/bin, the result
 * also contains the packages to which the links in the folder lead.
 */
function toolchainsOf(project: string, env: NodeJS.ProcessEnv): string[] {
  const home = homeOf(env);
  const pathFolders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "" && existsSync(folder));
  const privateFolders = [project, home, realPathOf(home)];
  const mayShow = (path: string) =>
    !systemPathPattern.test(path) &&
    !privateFolders.some((folder) => isWithin(folder, path)) &&
    !isWithin(path, project);
  const programFolders = pathFolders.filter((folder) => programFolderNames.has(basename(folder)) && mayShow(folder));
  const linkedPrograms = programFolders.flatMap(linkedProgramsIn).filter(mayShow);
  // An agent may change the project's own Python, so only environments and known folders are derived from its path.
  const callablePaths = [...pathFolders, ...linkedPrograms, realPathOf(pythonOf(project))];
  const environmentFolders = callablePaths.flatMap((path) => environmentAround(path, home) ?? []).filter(mayShow);
  // The Python of a virtual environment is a link to another Python.
  const environmentPythons = environmentFolders.flatMap((folder) => existingPath(join(folder, "bin", "python")) ?? []);
  const usedPaths = [...callablePaths, ...environmentPythons];
  const isUsed = (folder: string) => usedPaths.some((path) => isWithin(path, folder));
  const isCargoUsed = isUsed(join(home, ".cargo"));
  const usedHomeFolders = homeToolFolders
    .map((parts) => join(home, ...parts))
    .filter((folder) => existsSync(folder) && (isUsed(folder) || (isCargoUsed && folder.endsWith(".rustup"))));
  // A tool outside of the home is found by its environment variable. Only cargo keeps logins beside its programs.
  const variableFolders = toolFolderVariables
    .map((name) => ({ name, folder: env[name] ?? "" }))
    .filter(({ folder }) => isAbsolute(folder) && existsSync(folder) && !isWithin(folder, home))
    .map(({ name, folder }) => (name === "CARGO_HOME" ? join(folder, "bin") : folder))
    .filter(mayShow);
  const optFolders = pathFolders
    .filter((folder) => folder.startsWith(`/opt${sep}`))
    .map((folder) => resolve(folder, ".."));
  const toolFolderPaths = [...usedHomeFolders, ...variableFolders, ...environmentFolders, ...optFolders];
  const shownFolders = [...toolFolderPaths, ...pathsOutside(toolFolderPaths, programFolders)];
  const packages = linkedPrograms.map((path) => packageOf(path) ?? path);
  return [...new Set([...shownFolders, ...pathsOutside(shownFolders, packages), ...nodeIn(process.execPath)])];
}

/** The paths that are in none of these folders. */
const pathsOutside = (folders: readonly string[], paths: readonly string[]): string[] =>
  paths.filter((path) => !folders.some((folder) => isWithin(path, folder)));

/** The programs outside of a folder to which links in the folder lead. */
const linkedProgramsIn = (folder: string): string[] =>
  entriesIn(folder)
    .filter((entry) => entry.isSymbolicLink())
    .flatMap(({ name }) => existingPath(join(folder, name)) ?? [])
    .filter((path) => !isWithin(path, folder) && isExecutable(path));

/** The root folder of the environment that contains a program or a folder of programs. */
function environmentAround(path: string, home: string): string | undefined {
  for (
    let current = dirname(path);
    current !== dirname(current) && current !== "." && !isWithin(home, current);
    current = dirname(current)
  )
    if (environmentMarkers.some((name) => existsSync(join(current, name)))) return current;
  return undefined;
}

/** The node_modules folder that contains a program of an npm package. */
const packageOf = (path: string): string | undefined => /^.*?\/node_modules(?=\/)/.exec(path)?.[0];

/**
 * The folders of Node and of the packages that were installed with it. The folder around them is not shown, because it
 * may contain any files: many users install Node into ~/.local, where other programs keep keys.
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
