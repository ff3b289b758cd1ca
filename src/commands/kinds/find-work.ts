import { join } from "node:path";
import { lockFile, pauseName, stopName } from "../../engine/lib/layout.js";
import { messageOf } from "../../engine/lib/errors.js";
import type { Standing } from "../../engine/ui/state-text.js";
import { sumOf } from "../../research/overview/costs.js";
import { findResearch, nameFor, displayPath, UnnamedWork } from "../../research/overview/find-research.js";
import type { Kind } from "./kind.js";
import { project } from "./project.js";
import { task } from "./task.js";

/** All kinds of work. If the user gives no name, a task in the current folder comes before the only project. */
export const kinds: readonly Kind[] = [task, project];

/** A project or a task that the user named, or an entry of the list. */
export interface FoundWork {
  readonly kind: Kind;
  /** Absolute. */
  readonly folder: string;
  /** The path of its folder, for display. */
  readonly path: string;
  /** Its name as the argument of a command. */
  readonly commandName: string;
}

/**
 * Finds the work with a name or path; without one, the work in the current folder, or the only work in the list.
 * @throws ExpectedError (exit code 2) if nothing is found, or more than one.
 */
export async function findWork(cwd: string, argument: string | undefined, allowedKinds = kinds): Promise<FoundWork> {
  for (const kind of allowedKinds) {
    const folder = await kind.find(cwd, argument);
    if (folder !== undefined) return foundWork(kind, folder, cwd);
  }
  const candidates =
    argument === undefined ? (await listWork(cwd)).filter(({ kind }) => allowedKinds.includes(kind)) : [];
  const [first, ...others] = candidates;
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined && candidates.some(({ kind }) => kind !== project))
    throw new UnnamedWork("projects and tasks here", [first.path, ...others.map(({ path }) => path)]);
  return foundWork(project, await findResearch(cwd, argument), cwd);
}

/** Whether a command needs a name: the list has several entries, and none of them is in the current folder. */
export async function needsName(cwd: string): Promise<boolean> {
  for (const kind of kinds) if ((await kind.find(cwd, undefined)) !== undefined) return false;
  return (await listWork(cwd)).length > 1;
}

/** All projects and tasks of the current folder, projects first. */
export async function listWork(cwd: string): Promise<FoundWork[]> {
  const lists = await Promise.all(
    [project, task].map(async (kind) => ((await kind.list?.(cwd)) ?? []).map((folder) => foundWork(kind, folder, cwd))),
  );
  return lists.flat();
}

/** The project or the task in a folder; undefined if the folder has neither. */
export function workIn(folder: string, cwd: string): FoundWork | undefined {
  const kind = kinds.find(({ isIn }) => isIn(folder));
  return kind && foundWork(kind, folder, cwd);
}

const foundWork = (kind: Kind, folder: string, cwd: string): FoundWork => ({
  kind,
  folder,
  path: displayPath(cwd, folder),
  commandName: kind === project ? nameFor(cwd, folder) : displayPath(cwd, folder),
});

/** The state of the work, with the reason in `broken` if it can't be read; undefined if its files no longer exist. */
export async function standingOf({ kind, folder, commandName }: FoundWork): Promise<Standing | undefined> {
  try {
    return await kind.readStanding(folder, commandName);
  } catch (error) {
    if (!kind.isIn(folder)) return undefined;
    const broken = messageOf(error).replaceAll(`${folder}/`, "");
    return { ...emptyStanding, noun: kind.noun, folder, problem: broken };
  }
}

const emptyStanding = {
  phase: "",
  isFinished: false,
  progress: { done: 0, total: 0 },
  progressNoun: "",
  openDecisions: [],
  ledger: [],
  running: false,
  abandoned: false,
  held: [],
  underWay: [],
  spending: sumOf([]),
  commands: { continueCommand: "", resumeCommand: "" },
};

/** The files that change if the state of the work changes. */
export const watchedFiles = ({ kind, folder }: FoundWork): string[] => [
  ...[kind.stateName, kind.ledgerPath, pauseName, stopName].map((name) => join(folder, name)),
  lockFile(folder),
];
