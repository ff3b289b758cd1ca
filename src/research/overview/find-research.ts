import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { joinedNames } from "../../engine/lib/words.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { lastGoodFile, researchesName, rrdFile, rrdName } from "../project-files/layout.js";

/** The options of commands for one project. */
export interface FolderOptions {
  /** As typed, a path or a name; undefined for the only project. */
  readonly folder?: string;
  /** Print one JSON value. */
  readonly json: boolean;
}

/** Several projects exist and none was named. The commands add a complete command line for the first. */
export class UnnamedWork extends ExpectedError {
  /** `what`: the name of these items in the plural. */
  constructor(
    what: string,
    readonly names: readonly [string, ...string[]],
  ) {
    super(`There are ${names.length} ${what}: ${listOfNames(names)}; name one`, 2);
  }
}

/** Absolute paths of the projects in ./researches, sorted by name. */
export async function listResearches(cwd: string): Promise<string[]> {
  const top = join(cwd, researchesName);
  if (!existsSync(top)) return [];
  const names = withExplainedErrors(top, () => readdirSync(top)).filter((name) => !name.startsWith("."));
  return names
    .map((name) => join(top, name))
    .filter(isProjectFolder)
    .sort();
}

/** A folder with an unreadable rrd.json is listed too, so that reading it gives the error. */
function isProjectFolder(folder: string): boolean {
  try {
    return statSync(rrdFile(folder), { throwIfNoEntry: false }) !== undefined || hasRrd(folder);
  } catch {
    return true;
  }
}

/**
 * The absolute path of a project, from a path, the path of its rrd.json, a name in ./researches, or a unique beginning
 * of a name. Without an argument: the only project, or the project of the current folder. Throws ExpectedError (exit
 * code 2) with the nearest names, or all.
 */
export async function findResearch(cwd: string, argument: string | undefined): Promise<string> {
  if (argument === undefined) return onlyResearch(cwd);
  if (argument.trim() === "")
    throw new ExpectedError("The name of the project is empty; name one as 'research-ralph status --all' shows it.", 2);
  const candidates = [resolve(cwd, argument), join(cwd, researchesName, argument)].map((path) =>
    basename(path) === rrdName ? dirname(path) : path,
  );
  const project = candidates.find(hasRrd);
  if (project !== undefined) return project;

  const folder = candidates.find((path) => existsSync(path));
  // The project in whose folder the user stands has its name there too.
  const projects = [...(hasRrd(cwd) ? [cwd] : []), ...(await listResearches(cwd))];
  const names = projects.map((path) => basename(path));
  const matchingProjects = folder === undefined ? projects.filter((path) => basename(path).startsWith(argument)) : [];
  if (matchingProjects[0] !== undefined && matchingProjects.length === 1) return matchingProjects[0];
  if (matchingProjects.length > 1)
    throw new ExpectedError(
      `Several projects begin with '${argument}': ${listOfNames(matchingProjects.map((path) => basename(path)))}.`,
      2,
    );
  if (folder !== undefined && statSync(folder).isFile())
    throw new ExpectedError(`${argument} is a file and not a project; ${advice(argument, names)}.`, 2);
  if (folder !== undefined)
    throw new ExpectedError(
      `${argument} is not a project: there is no rrd.json in ${folder}; ${advice(argument, names)}.`,
      2,
    );
  throw new ExpectedError(`There is no project '${argument}'; ${advice(argument, names)}.`, 2);
}

/** findResearch for each argument; each project once. */
export async function findProjects(cwd: string, typedNames: readonly string[]): Promise<[string, ...string[]]> {
  const first = await findResearch(cwd, typedNames[0]);
  const folders = new Set([first]);
  for (const name of typedNames.slice(1)) folders.add(await findResearch(cwd, name));
  folders.delete(first);
  return [first, ...folders];
}

/** A project whose rrd.json was deleted is still a project: the error names its last good version. */
const hasRrd = (folder: string): boolean => existsSync(rrdFile(folder)) || existsSync(lastGoodFile(folder));

async function onlyResearch(cwd: string): Promise<string> {
  if (hasRrd(cwd)) return cwd;
  const projects = await listResearches(cwd);
  const [first, ...others] = projects;
  if (first === undefined) throw new ExpectedError(`There is no project here; ${advice("", [])}.`, 2);
  if (others.length === 0) return first;
  throw new UnnamedWork("projects here", [nameFor(cwd, first), ...others.map((path) => nameFor(cwd, path))]);
}

/** Advice for an unknown name: the nearest names, otherwise some names, otherwise how to create a project. */
function advice(argument: string, names: readonly string[]): string {
  if (names.length === 0)
    return `create one with research-ralph new "<topic>", or go to the folder that contains '${researchesName}'`;
  const typedName = basename(argument).toLowerCase();
  const similarNames = names.filter((name) => typedName.length >= 3 && name.toLowerCase().includes(typedName));
  // Users often leave out the date.
  const nearest =
    nearestCandidate(typedName, names) ??
    names.find((name) => nearestCandidate(typedName, [name.replace(/-\d{4}-\d{2}-\d{2}$/, "")]) !== undefined);
  const [first, second] = similarNames;
  if (second !== undefined) return `near are ${listOfNames(similarNames)}`;
  if (first !== undefined || nearest !== undefined) return `the nearest one is ${first ?? nearest}`;
  return names.length === 1 ? `the only one is ${names[0]}` : `there are ${listOfNames(names)}`;
}

/** The first six names, and the number of the others. */
export const listOfNames = (names: readonly string[]): string => joinedNames(names, 6);

/**
 * A short name of a project for commands: for a long name in ./researches its shortest unique beginning, so that a
 * command fits on a line; otherwise its path.
 */
export function nameFor(cwd: string, folder: string): string {
  const [top, name] = [dirname(folder), basename(folder)];
  if (top !== join(cwd, researchesName)) return displayPath(cwd, folder);
  if (name.length <= maxNameChars || oneLine(name) !== name) return oneLine(name);
  const otherNames = existsSync(top) ? readdirSync(top).filter((otherName) => otherName !== name) : [];
  const isUnique = (beginning: string): boolean =>
    !otherNames.some((other) => other.startsWith(beginning)) && !existsSync(join(cwd, beginning));
  const words = name.split("-");
  const beginnings = words.map((_, index) => words.slice(0, index + 1).join("-"));
  return beginnings.find((beginning) => beginning.length >= maxNameChars / 2 && isUnique(beginning)) ?? name;
}

/** Names with more characters than this are shortened in commands. */
const maxNameChars = 32;

/** A path for readers: relative if it is inside `cwd`. Control characters are removed. */
export function displayPath(cwd: string, path: string): string {
  const relativePath = relative(cwd, path);
  return oneLine(relativePath === "" ? "." : relativePath.startsWith("..") ? path : relativePath);
}
