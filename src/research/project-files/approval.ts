import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { lockFile, setAsideFolder } from "../../engine/lib/layout.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { explaining } from "../../engine/storage/explain-system-error.js";
import { keepAside, versionAt } from "../../engine/storage/file-snapshot.js";
import { withLock } from "../../engine/storage/lock.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { isSigned, signatureOf } from "../../engine/storage/signature.js";
import { claudeName, lessonsName, progressFile, promptName, waitingFolder } from "./layout.js";

/**
 * An edit of a file that instructs agents, made while an agent ran that nothing confines: whose it was can't be seen.
 * It stays on the disk, and briefs use what stood there before until a person says yes. A record of it lies in the
 * folder of the program's state, by the file's path, so that all projects of a folder see the same.
 */
export interface Edit {
  /** The file itself, behind links. */
  readonly path: string;
  /** Who ran meanwhile. */
  readonly agent: string;
  /** What stood there, null where there was no file. Of a log, whose edits only add lines: undefined. */
  readonly before?: string | null;
  /** Of a log: what was added. */
  readonly added?: readonly string[];
  /** Set by a person's yes, over `before` or `added`. */
  readonly signature?: string;
}

/** A file behind its links, or where it would be. */
export const realFile = (path: string): string =>
  existsSync(path)
    ? realpathSync(path)
    : join(existsSync(dirname(path)) ? realpathSync(dirname(path)) : dirname(path), basename(path));

/** The files next to the projects that instruct agents. */
export const instructionFiles = (root: string): string[] =>
  [lessonsName, claudeName, promptName].map((name) => join(root, name));

/** A run asks for the same four files some twenty times an iteration. */
const names = new Map<string, string>();

export function editFile(stateDir: string, path: string): string {
  let name = names.get(path);
  if (name === undefined) {
    name = `${createHash("sha256").update(path).digest("hex").slice(0, 16)}.json`;
    names.set(path, name);
  }
  return join(waitingFolder(stateDir), name);
}

/** What is recorded of a file, also once a person has said yes to it. */
export async function readEdit(stateDir: string, path: string): Promise<Edit | undefined> {
  try {
    const edit = JSON.parse(await readRegularText(editFile(stateDir, path))) as Edit;
    return edit.path === path ? edit : undefined;
  } catch {
    return undefined;
  }
}

export async function recordEdit(stateDir: string, edit: Edit): Promise<void> {
  const path = editFile(stateDir, edit.path);
  await explaining(path, () => mkdir(dirname(path), { recursive: true }));
  await writeFileAtomic(path, JSON.stringify(edit));
}

export const forgetEdit = (stateDir: string, path: string): Promise<void> =>
  rm(editFile(stateDir, path), { force: true });

const signed = ({ path, before, added }: Edit): unknown => [path, before ?? null, added ?? null];

export const isApproved = (stateDir: string, edit: Edit): Promise<boolean> =>
  isSigned(stateDir, signed(edit), edit.signature);

/** The edit of a file that waits for a yes; one that a person has taken back by hand waits no longer. */
export async function waitingEdit(stateDir: string, file: string): Promise<Edit | undefined> {
  const path = realFile(file);
  const edit = await readEdit(stateDir, path);
  if (edit === undefined || (await isApproved(stateDir, edit))) return undefined;
  if (edit.before === undefined || edit.before !== (await textOf(path))) return edit;
  await forgetEdit(stateDir, path);
  return undefined;
}

/** Null where there is no file. */
const textOf = (path: string): Promise<string | null> => readRegularText(path).catch(() => null);

/** The edits that wait for a yes: of the files next to the projects, and of the project's log. */
export async function waitingEdits(folder: string, root: string, stateDir: string): Promise<Edit[]> {
  const files = [...instructionFiles(root), progressFile(folder)];
  const edits = await Promise.all([...new Set(files.map(realFile))].map((path) => waitingEdit(stateDir, path)));
  return edits.filter((edit) => edit !== undefined);
}

/** A log without what waits for a yes in it; undefined where nothing does. */
export async function agreedLog(stateDir: string, file: string): Promise<string | undefined> {
  const { added = [] } = (await waitingEdit(stateDir, file)) ?? {};
  if (added.length === 0) return undefined;
  return added.reduce(
    (rest, block) => {
      const at = rest.indexOf(block);
      return at < 0 ? rest : rest.slice(0, at) + rest.slice(at + block.length);
    },
    await readRegularText(file),
  );
}

/**
 * A person's yes. The record stays until the next run clears it away, so that it is seen while an agent is at work.
 * @throws ExpectedError for a full disk or missing permission.
 */
export async function approve(stateDir: string, edit: Edit): Promise<void> {
  const settled = edit.before === undefined ? edit : { ...edit, before: await textOf(edit.path) };
  await recordEdit(stateDir, { ...settled, signature: await signatureOf(stateDir, signed(settled)) });
}

/**
 * A person's no: the file is as it was before, and the edited one is kept in .ralph of the project.
 * @throws ExpectedError where a run is at work on the log, or the file can't be written.
 */
export async function reject(folder: string, stateDir: string, edit: Edit): Promise<void> {
  const { path, before } = edit;
  await keepAside(path, await versionAt(path), join(setAsideFolder(folder), "rejected"));
  if (before === null) await rm(path, { force: true });
  else if (before !== undefined) await writeFileAtomic(path, before);
  else
    await withLock(lockFile(folder), { describe: `The project ${folder}`, waitMs: 0 }, async () =>
      writeFileAtomic(path, (await agreedLog(stateDir, path)) ?? (await readRegularText(path))),
    );
  await approve(stateDir, edit);
}
