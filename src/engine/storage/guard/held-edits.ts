import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { lockFile, setAsideFolder, waitingFolder } from "../../lib/layout.js";
import { oneLine } from "../../lib/sanitise.js";
import { writeFileAtomic } from "../atomic-file.js";
import { explaining } from "../explain-system-error.js";
import { withLock } from "../lock.js";
import { readRegularText } from "../regular-file.js";
import { isSigned, signatureOf } from "../signature.js";
import { keepAside, type Version, versionAt } from "./file-snapshot.js";
import { type Entry, type Judged, listed } from "./guard.js";
import { ownMove } from "./own-writes.js";

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

/** Where edits are held, and of which project a person is told. */
interface Held {
  readonly stateDir: string;
  readonly folder: string;
}

/** Characters of a file that waits for a yes. Nobody instructs agents with more; a larger one is put back. */
const maxText = 1_000_000;

/**
 * Entries of a guard for files whose edits wait for a yes, and for the records of those. `logs`: only lines may be
 * added to them; they have an entry of their own. What is not an edit of a text, such as a link, is put back.
 */
export function heldEdits(files: readonly string[], logs: readonly string[], held: Held): Entry[] {
  const { stateDir } = held;
  const fileOf = new Map([...files, ...logs].map(realFile).map((path) => [editFile(stateDir, path), path]));
  return [
    {
      rule: "put back",
      files: [...fileOf.keys()],
      async judge({ path, before }) {
        const edit = await readEdit(stateDir, fileOf.get(path) ?? "");
        const isYes =
          edit !== undefined &&
          (await isApproved(stateDir, edit)) &&
          (edit.added === undefined || isSame(edit.added, editIn(before)?.added));
        return isYes ? {} : undefined;
      },
      tell: ({ length }, { agent }) =>
        length === 0
          ? []
          : [`${agent} changed the record of edits that wait for your approval; the record was restored.`],
    },
    {
      rule: "put back",
      files: [...new Set(files.flatMap((path) => [path, realFile(path)]))],
      async judge({ path, before, now, who, remembered }): Promise<Judged | undefined> {
        const [old, text] = [textIn(before), textIn(now)];
        if (old === undefined || text === undefined) return undefined;
        const edit = await readEdit(stateDir, path);
        const earlier = editIn(remembered(editFile(stateDir, path)));
        // What a person has agreed to: meanwhile, or before.
        const agreed =
          edit?.before !== undefined && (await isApproved(stateDir, edit))
            ? edit.before
            : earlier === undefined
              ? old
              : (earlier.before ?? null);
        if (agreed === text) {
          await explaining(path, () => forgetEdit(stateDir, path));
          return {};
        }
        await recordEdit(stateDir, { path, agent: who.agent, before: agreed });
        return { says: [waits(path, agreed ?? "", text ?? "", who.during, held)] };
      },
      tell: (found, { during }) => {
        const names = listed(found.map(({ path }) => basename(path)));
        return found.length === 0
          ? []
          : [`${names} changed while ${during}, and ${found.length === 1 ? "was" : "were"} restored.`];
      },
    },
  ];
}

/** Forgets the edits of these files that a person has said yes to, before a guard remembers what waits. */
export async function forgetApproved(files: readonly string[], stateDir: string): Promise<void> {
  for (const path of files.map(realFile)) {
    const edit = await readEdit(stateDir, path);
    if (edit !== undefined && (await isApproved(stateDir, edit))) await forgetEdit(stateDir, path);
  }
}

/** What becomes of a log to which lines were added: they stay and wait. Undefined for any other edit. */
export async function holdAddedLines(
  file: string,
  { before, now, who }: Parameters<NonNullable<Entry["judge"]>>[0],
  held: Held,
): Promise<Judged | undefined> {
  const { stateDir } = held;
  const [old, text] = [textIn(before), textIn(now)];
  if (before.kind !== "file" || typeof old !== "string" || typeof text !== "string") return undefined;
  const added = addedLines(old, text);
  if (added === undefined) return undefined;
  const path = realFile(file);
  const earlier = await readEdit(stateDir, path);
  const open = earlier === undefined || (await isApproved(stateDir, earlier)) ? [] : (earlier.added ?? []);
  await recordEdit(stateDir, { path, agent: who.agent, added: [...open, ...added] });
  return { says: [waits(path, old, text, who.during, held)] };
}

/** A file behind its links, or where it would be. */
export const realFile = (path: string): string =>
  existsSync(path)
    ? realpathSync(path)
    : join(existsSync(dirname(path)) ? realpathSync(dirname(path)) : dirname(path), basename(path));

/** A run asks for the same four files some twenty times an iteration. */
const names = new Map<string, string>();

/** Where the edit of a file is recorded. */
export function editFile(stateDir: string, path: string): string {
  let name = names.get(path);
  if (name === undefined) {
    name = `${createHash("sha256").update(path).digest("hex").slice(0, 16)}.json`;
    names.set(path, name);
  }
  return join(waitingFolder(stateDir), name);
}

/** What is recorded of a file, also once a person has said yes to it. */
async function readEdit(stateDir: string, path: string): Promise<Edit | undefined> {
  try {
    const edit = JSON.parse(await readRegularText(editFile(stateDir, path))) as Edit;
    return edit.path === path ? edit : undefined;
  } catch {
    return undefined;
  }
}

/** What a remembered record says; undefined where there was none. */
function editIn(version: Version | undefined): Edit | undefined {
  try {
    return version?.kind === "file" ? (JSON.parse(version.bytes.toString("utf8")) as Edit) : undefined;
  } catch {
    return undefined;
  }
}

/** Has an edit wait for a yes. */
export async function recordEdit(stateDir: string, edit: Edit): Promise<void> {
  const path = editFile(stateDir, edit.path);
  await explaining(path, () => mkdir(dirname(path), { recursive: true }));
  await writeFileAtomic(path, JSON.stringify(edit));
}

async function forgetEdit(stateDir: string, path: string): Promise<void> {
  const file = editFile(stateDir, path);
  ownMove(file, undefined);
  await rm(file, { force: true });
}

const signed = ({ path, before, added }: Edit): unknown => [path, before ?? null, added ?? null];

const isApproved = (stateDir: string, edit: Edit): Promise<boolean> => isSigned(stateDir, signed(edit), edit.signature);

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
  keepAside(path, await versionAt(path), join(setAsideFolder(folder), "rejected", basename(path)));
  if (before === null) await rm(path, { force: true });
  else if (before !== undefined) await writeFileAtomic(path, before);
  else
    await withLock(lockFile(folder), { describe: `The project ${folder}`, waitMs: 0 }, async () =>
      writeFileAtomic(path, (await agreedLog(stateDir, path)) ?? (await readRegularText(path))),
    );
  await approve(stateDir, edit);
}

const isSame = (a: readonly string[], b: readonly string[] | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/** Null where there is no file; undefined for what is not text that could wait. */
function textIn(version: Version): string | null | undefined {
  if (version.kind === "absent") return null;
  if (version.kind !== "file" || version.bytes.length > maxText) return undefined;
  return version.bytes.toString("utf8");
}

/** The blocks of lines that were added, in their order; undefined where a line was changed or is gone. */
function addedLines(before: string, now: string): string[] | undefined {
  const [old, lines] = [before.split(/(?<=\n)/), now.split(/(?<=\n)/)];
  const blocks: string[] = [];
  let [at, isOpen] = [0, false];
  for (const line of lines) {
    if (line === old[at]) {
      at += 1;
      isOpen = false;
    } else {
      blocks.push(`${isOpen ? (blocks.pop() ?? "") : ""}${line}`);
      isOpen = true;
    }
  }
  return at === old.length ? blocks : undefined;
}

const waits = (path: string, before: string, now: string, during: string, { folder }: Held): string =>
  `${basename(path)} changed while ${during} (${difference(before, now)}). The change stays, but briefs use the earlier text until you approve it: research-ralph approve ${basename(folder)}; --reject undoes it.`;

/** The lines that differ between the first and the last difference, at most three of each side. */
function difference(before: string, now: string): string {
  const [old, lines] = [before, now].map((text) => text.split("\n")) as [string[], string[]];
  let [start, end] = [0, 0];
  while (start < Math.min(old.length, lines.length) && old[start] === lines[start]) start += 1;
  while (end < Math.min(old.length, lines.length) - start && old.at(-1 - end) === lines.at(-1 - end)) end += 1;
  const shown = (sign: string, part: readonly string[]) => {
    const filled = part.map(oneLine).filter((line) => line !== "");
    return [
      ...filled.slice(0, 3).map((line) => `${sign} "${line.slice(0, 80)}"`),
      ...(filled.length > 3 ? [`${sign} ${filled.length - 3} more lines`] : []),
    ];
  };
  const parts = [
    ...shown("-", old.slice(start, old.length - end)),
    ...shown("+", lines.slice(start, lines.length - end)),
  ];
  return parts.join(", ") || "white space";
}
