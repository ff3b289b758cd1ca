import { join } from "node:path";
import { lockFile, pauseName, stopName } from "../../engine/lib/layout.js";
import { messageOf } from "../../engine/lib/errors.js";
import type { Standing } from "../../engine/ui/state-text.js";
import { sumOf } from "../../research/overview/costs.js";
import { findResearch, nameFor, displayPath, UnnamedWork } from "../../research/overview/find-research.js";
import type { Kind } from "./kind.js";
import { project } from "./project.js";
import { task } from "./task.js";

/** Every kind of work. A folder's task is meant before the project whose name is left away. */
export const kinds: readonly Kind[] = [task, project];

/** A piece of work that a person means, or one of a list. */
export interface FoundWork {
  readonly kind: Kind;
  /** Absolute. */
  readonly folder: string;
  /** As the person knows it. */
  readonly where: string;
  /** As a command names it. */
  readonly called: string;
}

/**
 * The work that is meant by a name or path, by default that of the current folder or the only project. `among`: the
 * kinds that can be meant. @throws ExpectedError (exit code 2) where nothing is found, or several are.
 */
export async function findWork(cwd: string, argument: string | undefined, among = kinds): Promise<FoundWork> {
  for (const kind of among) {
    const folder = await kind.find(cwd, argument);
    if (folder !== undefined) return found(kind, folder, cwd);
  }
  const all = argument === undefined ? (await listWork(cwd)).filter(({ kind }) => among.includes(kind)) : [];
  const [first, ...others] = all;
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined && all.some(({ kind }) => kind !== project))
    throw new UnnamedWork("projects and tasks here", [first.where, ...others.map(({ where }) => where)]);
  return found(project, await findResearch(cwd, argument), cwd);
}

/** Whether several are listed here and, without a name, no one of them is meant. */
export async function needsName(cwd: string): Promise<boolean> {
  for (const kind of kinds) if ((await kind.find(cwd, undefined)) !== undefined) return false;
  return (await listWork(cwd)).length > 1;
}

/** Everything here that is listed, projects before tasks. */
export async function listWork(cwd: string): Promise<FoundWork[]> {
  const lists = await Promise.all(
    [project, task].map(async (kind) => ((await kind.list?.(cwd)) ?? []).map((folder) => found(kind, folder, cwd))),
  );
  return lists.flat();
}

/** The work of a folder: its project, else its task. */
export function workIn(folder: string, cwd: string): FoundWork | undefined {
  const kind = kinds.find(({ isIn }) => isIn(folder));
  return kind && found(kind, folder, cwd);
}

const found = (kind: Kind, folder: string, cwd: string): FoundWork => ({
  kind,
  folder,
  where: displayPath(cwd, folder),
  called: kind === project ? nameFor(cwd, folder) : displayPath(cwd, folder),
});

/** How it stands, and that it is broken where it can't be read; undefined where it is gone. */
export async function lookAt({ kind, folder, called }: FoundWork): Promise<Standing | undefined> {
  try {
    return await kind.look(folder, called);
  } catch (error) {
    if (!kind.isIn(folder)) return undefined;
    const broken = messageOf(error).replaceAll(`${folder}/`, "");
    return { ...nothingKnown, noun: kind.noun, folder, broken };
  }
}

const nothingKnown = {
  phase: "",
  finished: false,
  progress: { done: 0, total: 0 },
  counts: "",
  waits: [],
  ledger: [],
  running: false,
  abandoned: false,
  held: [],
  underWay: [],
  spending: sumOf([]),
  commands: { goOn: "", resume: "" },
};

/** The files whose change tells of its state. */
export const filesOf = ({ kind, folder }: FoundWork): string[] => [
  ...[kind.stateName, kind.ledger, pauseName, stopName].map((name) => join(folder, name)),
  lockFile(folder),
];
