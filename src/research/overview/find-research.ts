import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { lastGoodFile, researchesName, rrdFile, rrdName } from "../project-files/layout.js";

/** What the commands about one project are given. */
export interface FolderOptions {
  /** As typed: a path or a name; undefined: the only project there is. */
  readonly folder?: string;
  /** Print one JSON value. */
  readonly json: boolean;
}

/** None of several projects was named. The commands add a whole line that names the first. */
export class UnnamedWork extends ExpectedError {
  /** `what`: of what kind they all are, in the plural. */
  constructor(
    what: string,
    readonly names: readonly [string, ...string[]],
  ) {
    super(`There are ${names.length} ${what}: ${someOf(names)}; name one`, 2);
  }
}

/** Absolute paths of the projects under ./researches, sorted by name. */
export async function listResearches(cwd: string): Promise<string[]> {
  const top = join(cwd, researchesName);
  if (!existsSync(top)) return [];
  const names = withExplainedErrors(top, () => readdirSync(top)).filter((name) => !name.startsWith("."));
  return names
    .map((name) => join(top, name))
    .filter(isListed)
    .sort();
}

/** One that can't be read, or is a folder, is listed, so that reading it says why. */
function isListed(folder: string): boolean {
  try {
    return statSync(rrdFile(folder), { throwIfNoEntry: false }) !== undefined || hasRrd(folder);
  } catch {
    return true;
  }
}

/**
 * The absolute path of the project that somebody means by a path, a path of its rrd.json, or a name under ./researches,
 * also by the beginning of a name where only one begins so. Without an argument: the only research there is, or the one
 * whose folder this is. Throws ExpectedError (exit code 2) naming the nearest, or all.
 */
export async function findResearch(cwd: string, argument: string | undefined): Promise<string> {
  if (argument === undefined) return onlyResearch(cwd);
  if (argument.trim() === "")
    throw new ExpectedError("The name of the project is empty; name one as 'research-ralph status --all' shows it.", 2);
  const candidates = [resolve(cwd, argument), join(cwd, researchesName, argument)].map((path) =>
    basename(path) === rrdName ? dirname(path) : path,
  );
  const found = candidates.find(hasRrd);
  if (found !== undefined) return found;

  const folder = candidates.find((path) => existsSync(path));
  const all = await listResearches(cwd);
  const names = all.map((path) => basename(path));
  const begun = folder === undefined ? all.filter((path) => basename(path).startsWith(argument)) : [];
  if (begun[0] !== undefined && begun.length === 1) return begun[0];
  if (begun.length > 1)
    throw new ExpectedError(
      `Several projects begin with '${argument}': ${someOf(begun.map((path) => basename(path)))}.`,
      2,
    );
  if (folder !== undefined)
    throw new ExpectedError(
      `${argument} is not a project: there is no rrd.json in ${folder}; ${advice(argument, names)}.`,
      2,
    );
  throw new ExpectedError(`There is no project '${argument}'; ${advice(argument, names)}.`, 2);
}

/** As findResearch for each of them, each project once. */
export async function findProjects(cwd: string, named: readonly string[]): Promise<[string, ...string[]]> {
  const first = await findResearch(cwd, named[0]);
  const found = new Set([first]);
  for (const name of named.slice(1)) found.add(await findResearch(cwd, name));
  found.delete(first);
  return [first, ...found];
}

/** One whose rrd.json is gone is a project still: the error names its last good version. */
const hasRrd = (folder: string): boolean => existsSync(rrdFile(folder)) || existsSync(lastGoodFile(folder));

async function onlyResearch(cwd: string): Promise<string> {
  if (hasRrd(cwd)) return cwd;
  const all = await listResearches(cwd);
  const [first, ...others] = all;
  if (first === undefined) throw new ExpectedError(`There is no project here; ${advice("", [])}.`, 2);
  if (others.length === 0) return first;
  throw new UnnamedWork("projects here", [nameFor(cwd, first), ...others.map((path) => nameFor(cwd, path))]);
}

/** Names that are near to what was typed, else some there are, else how to make one. */
function advice(argument: string, names: readonly string[]): string {
  if (names.length === 0)
    return `create one with research-ralph new "<topic>", or go to the folder that contains '${researchesName}'`;
  const typed = basename(argument).toLowerCase();
  const alike = names.filter((name) => typed.length >= 3 && name.toLowerCase().includes(typed));
  // People leave the date away.
  const near =
    nearestCandidate(typed, names) ??
    names.find((name) => nearestCandidate(typed, [name.replace(/-\d{4}-\d{2}-\d{2}$/, "")]) !== undefined);
  const [first, second] = alike;
  if (second !== undefined) return `near are ${someOf(alike)}`;
  if (first !== undefined || near !== undefined) return `the nearest one is ${first ?? near}`;
  return names.length === 1 ? `the only one is ${names[0]}` : `there are ${someOf(names)}`;
}

/** The first six names and how many more there are. */
export const someOf = (names: readonly string[]): string =>
  names.length > 6 ? `${names.slice(0, 6).join(", ")} and ${names.length - 6} more` : names.join(", ");

/**
 * A short word that names a project to our commands: the beginning of a long name where it lies under ./researches, as
 * far as it begins no other, so that a command stands on one line; else its path.
 */
export function nameFor(cwd: string, folder: string): string {
  const [top, name] = [dirname(folder), basename(folder)];
  if (top !== join(cwd, researchesName)) return shown(cwd, folder);
  if (name.length <= longName || oneLine(name) !== name) return oneLine(name);
  const others = existsSync(top) ? readdirSync(top).filter((each) => each !== name) : [];
  const isClear = (beginning: string): boolean =>
    !others.some((other) => other.startsWith(beginning)) && !existsSync(join(cwd, beginning));
  const words = name.split("-");
  const beginnings = words.map((_, index) => words.slice(0, index + 1).join("-"));
  return beginnings.find((each) => each.length >= longName / 2 && isClear(each)) ?? name;
}

/** Characters from which on a name is cut short in a command. */
const longName = 32;

/**
 * A path as people like to read it: relative where it lies below `cwd`. A name may hold whatever a file system takes.
 */
export function shown(cwd: string, path: string): string {
  const short = relative(cwd, path);
  return oneLine(short === "" ? "." : short.startsWith("..") ? path : short);
}
