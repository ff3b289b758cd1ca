import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { lockFile, setAsideFolder, waitingFolder } from "../../lib/layout.js";
import { oneLine } from "../../lib/sanitise.js";
import { writeFileAtomic } from "../atomic-file.js";
import { withExplainedErrors } from "../explain-system-error.js";
import { withLock } from "../lock.js";
import { readRegularText } from "../regular-file.js";
import { isSigned, signatureOf } from "../signature.js";
import { copyAside, type Version, versionAt } from "./file-snapshot.js";
import type { GuardEntry, Decision } from "./guard.js";
import { joinedNames } from "../../lib/words.js";
import { announceMove } from "./own-writes.js";

/**
 * An edit of a file with instructions for agents. An unconfined agent ran at that time, so the author of the edit is
 * unknown. The edit stays on the disk, but briefs use the earlier text until a person approves it. The record of the
 * edit is in the state folder of the user, with a name from the file's path, so that all projects in a folder see the
 * same record.
 */
export interface Edit {
  /** The real path of the file, with links resolved. */
  readonly path: string;
  /** The agent that ran at that time. */
  readonly agent: string;
  /** The text before the edit; null if there was no file; undefined for a log, to which edits only add lines. */
  readonly before?: string | null;
  /** For a log: the added blocks of lines. */
  readonly added?: readonly string[];
  /** Signature of the person's approval, over `before` or `added`. */
  readonly signature?: string;
}

/** The state folder with the records of edits, and the project to name in messages. */
interface EditLocation {
  readonly stateDir: string;
  readonly folder: string;
}

/** Maximum number of characters of a file whose edit can wait for approval. A larger file is restored. */
const maxTextChars = 1_000_000;

/**
 * Guard entries for files whose edits wait for approval, and for the records of these edits. `logs`: files to which
 * lines may only be added; another entry guards them. A change that is not an edit of a text, such as a link, is
 * undone.
 */
export function heldEditEntries(
  files: readonly string[],
  logs: readonly string[],
  location: EditLocation,
): GuardEntry[] {
  const { stateDir } = location;
  const fileByRecord = new Map([...files, ...logs].map(realFile).map((path) => [editFile(stateDir, path), path]));
  return [
    {
      rule: "restore",
      files: [...fileByRecord.keys()],
      async decide({ path, before }) {
        const edit = await readEdit(stateDir, fileByRecord.get(path) ?? "");
        const isApprovedEdit =
          edit !== undefined &&
          (await isApproved(stateDir, edit)) &&
          (edit.added === undefined || isEqualList(edit.added, editIn(before)?.added));
        return isApprovedEdit ? {} : undefined;
      },
      describe: ({ length }, { agent }) =>
        length === 0
          ? []
          : [`${agent} changed the record of edits that wait for your approval; the record was restored.`],
    },
    {
      rule: "restore",
      files: [...new Set(files.flatMap((path) => [path, realFile(path)]))],
      async decide({ path, before, current: now, suspect, rememberedVersion }): Promise<Decision | undefined> {
        const [oldText, text] = [textIn(before), textIn(now)];
        if (oldText === undefined || text === undefined) return undefined;
        const edit = await readEdit(stateDir, path);
        const earlierEdit = editIn(rememberedVersion(editFile(stateDir, path)));
        // The text that a person approved last, either during the agent's work or before it.
        const approvedText =
          edit?.before !== undefined && (await isApproved(stateDir, edit))
            ? edit.before
            : earlierEdit === undefined
              ? oldText
              : (earlierEdit.before ?? null);
        if (approvedText === text) {
          await withExplainedErrors(path, () => forgetEdit(stateDir, path));
          return {};
        }
        await recordEdit(stateDir, { path, agent: suspect.agent, before: approvedText });
        return { sentences: [waitingText(path, approvedText ?? "", text ?? "", suspect.during, location)] };
      },
      describe: (findings, { during }) => {
        const names = joinedNames(findings.map(({ path }) => basename(path)));
        return findings.length === 0
          ? []
          : [`${names} changed while ${during}, and ${findings.length === 1 ? "was" : "were"} restored.`];
      },
    },
  ];
}

/** Deletes the records of approved edits of these files. Call it before a guard remembers the waiting edits. */
export async function forgetApproved(files: readonly string[], stateDir: string): Promise<void> {
  for (const path of files.map(realFile)) {
    const edit = await readEdit(stateDir, path);
    if (edit !== undefined && (await isApproved(stateDir, edit))) await forgetEdit(stateDir, path);
  }
}

/** The decision for lines that were added to a log: they stay and wait for approval. Undefined for any other edit. */
export async function holdAddedLines(
  file: string,
  { before, current: now, suspect }: Parameters<NonNullable<GuardEntry["decide"]>>[0],
  location: EditLocation,
): Promise<Decision | undefined> {
  const { stateDir } = location;
  const [oldText, text] = [textIn(before), textIn(now)];
  if (before.kind !== "file" || typeof oldText !== "string" || typeof text !== "string") return undefined;
  const addedBlocks = addedLines(oldText, text);
  if (addedBlocks === undefined) return undefined;
  const path = realFile(file);
  const earlierEdit = await readEdit(stateDir, path);
  const waitingBlocks =
    earlierEdit === undefined || (await isApproved(stateDir, earlierEdit)) ? [] : (earlierEdit.added ?? []);
  await recordEdit(stateDir, { path, agent: suspect.agent, added: [...waitingBlocks, ...addedBlocks] });
  return { sentences: [waitingText(path, oldText, text, suspect.during, location)] };
}

/** The real path of a file, with links resolved; also for a file that does not exist yet. */
export const realFile = (path: string): string =>
  existsSync(path)
    ? realpathSync(path)
    : join(existsSync(dirname(path)) ? realpathSync(dirname(path)) : dirname(path), basename(path));

/** Cache of file names: a run needs those of the same four files about twenty times per iteration. */
const fileNameCache = new Map<string, string>();

/** The path of the record for the edit of a file. */
export function editFile(stateDir: string, path: string): string {
  let name = fileNameCache.get(path);
  if (name === undefined) {
    name = `${createHash("sha256").update(path).digest("hex").slice(0, 16)}.json`;
    fileNameCache.set(path, name);
  }
  return join(waitingFolder(stateDir), name);
}

/** Reads the record of a file's edit, whether or not a person has approved it. */
async function readEdit(stateDir: string, path: string): Promise<Edit | undefined> {
  try {
    const edit = JSON.parse(await readRegularText(editFile(stateDir, path))) as Edit;
    return edit.path === path ? edit : undefined;
  } catch {
    return undefined;
  }
}

/** Parses a remembered record; undefined if there was no record. */
function editIn(version: Version | undefined): Edit | undefined {
  try {
    return version?.kind === "file" ? (JSON.parse(version.bytes.toString("utf8")) as Edit) : undefined;
  } catch {
    return undefined;
  }
}

/** Records an edit that waits for approval. */
export async function recordEdit(stateDir: string, edit: Edit): Promise<void> {
  const path = editFile(stateDir, edit.path);
  await withExplainedErrors(path, () => mkdir(dirname(path), { recursive: true }));
  await writeFileAtomic(path, JSON.stringify(edit));
}

async function forgetEdit(stateDir: string, path: string): Promise<void> {
  const file = editFile(stateDir, path);
  announceMove(file, undefined);
  await rm(file, { force: true });
}

const signedFields = ({ path, before, added: addedBlocks }: Edit): unknown => [
  path,
  before ?? null,
  addedBlocks ?? null,
];

const isApproved = (stateDir: string, edit: Edit): Promise<boolean> =>
  isSigned(stateDir, signedFields(edit), edit.signature);

/** The edit of a file that waits for approval. If a person has undone the edit by hand, its record is deleted. */
export async function waitingEdit(stateDir: string, file: string): Promise<Edit | undefined> {
  const path = realFile(file);
  const edit = await readEdit(stateDir, path);
  if (edit === undefined || (await isApproved(stateDir, edit))) return undefined;
  if (edit.before === undefined || edit.before !== (await textOf(path))) return edit;
  await forgetEdit(stateDir, path);
  return undefined;
}

/** The text of a file; null if it does not exist. */
const textOf = (path: string): Promise<string | null> => readRegularText(path).catch(() => null);

/** The text of a log without the lines that wait for approval; undefined if no lines wait. */
export async function approvedLog(stateDir: string, file: string): Promise<string | undefined> {
  const { added: addedBlocks = [] } = (await waitingEdit(stateDir, file)) ?? {};
  if (addedBlocks.length === 0) return undefined;
  return addedBlocks.reduce(
    (remaining, block) => {
      const index = remaining.indexOf(block);
      return index < 0 ? remaining : remaining.slice(0, index) + remaining.slice(index + block.length);
    },
    await readRegularText(file),
  );
}

/**
 * Approves an edit for a person. The record stays until the next run deletes it, so that a guard of a running agent
 * sees the approval.
 * @throws ExpectedError for a full disk or missing permission.
 */
export async function approve(stateDir: string, edit: Edit): Promise<void> {
  const finalEdit = edit.before === undefined ? edit : { ...edit, before: await textOf(edit.path) };
  await recordEdit(stateDir, { ...finalEdit, signature: await signatureOf(stateDir, signedFields(finalEdit)) });
}

/**
 * Rejects an edit for a person: restores the earlier text, and keeps the edited file in .ralph of the project.
 * @throws ExpectedError if a run uses the log, or the file can't be written.
 */
export async function reject(folder: string, stateDir: string, edit: Edit): Promise<void> {
  const { path, before } = edit;
  copyAside(path, await versionAt(path), join(setAsideFolder(folder), "rejected", basename(path)));
  if (before === null) await rm(path, { force: true });
  else if (before !== undefined) await writeFileAtomic(path, before);
  else
    await withLock(lockFile(folder), { subject: `The project ${folder}`, waitMs: 0 }, async () =>
      writeFileAtomic(path, (await approvedLog(stateDir, path)) ?? (await readRegularText(path))),
    );
  await approve(stateDir, edit);
}

const isEqualList = (a: readonly string[], b: readonly string[] | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/** The text of a version; null if there is no file; undefined for anything that can't wait for approval. */
function textIn(version: Version): string | null | undefined {
  if (version.kind === "absent") return null;
  if (version.kind !== "file" || version.bytes.length > maxTextChars) return undefined;
  return version.bytes.toString("utf8");
}

/** The blocks of added lines in order; undefined if a line was changed or deleted. */
function addedLines(oldVersionText: string, newText: string): string[] | undefined {
  const [oldText, lines] = [oldVersionText.split(/(?<=\n)/), newText.split(/(?<=\n)/)];
  const blocks: string[] = [];
  let [index, isOpen] = [0, false];
  for (const line of lines) {
    if (line === oldText[index]) {
      index += 1;
      isOpen = false;
    } else {
      blocks.push(`${isOpen ? (blocks.pop() ?? "") : ""}${line}`);
      isOpen = true;
    }
  }
  return index === oldText.length ? blocks : undefined;
}

const waitingText = (path: string, before: string, newText: string, during: string, { folder }: EditLocation): string =>
  `${basename(path)} changed while ${during} (${difference(before, newText)}). The change stays, but briefs use the earlier text until you approve it: research-ralph trust ${basename(folder)} --edits; --reject undoes it.`;

/** The lines that differ between the first and the last difference, at most three of each side. */
function difference(before: string, newText: string): string {
  const [oldText, lines] = [before, newText].map((text) => text.split("\n")) as [string[], string[]];
  let [start, end] = [0, 0];
  while (start < Math.min(oldText.length, lines.length) && oldText[start] === lines[start]) start += 1;
  while (end < Math.min(oldText.length, lines.length) - start && oldText.at(-1 - end) === lines.at(-1 - end)) end += 1;
  const excerpt = (sign: string, part: readonly string[]) => {
    const nonEmptyLines = part.map(oneLine).filter((line) => line !== "");
    return [
      ...nonEmptyLines.slice(0, 3).map((line) => `${sign} "${line.slice(0, 80)}"`),
      ...(nonEmptyLines.length > 3 ? [`${sign} ${nonEmptyLines.length - 3} more lines`] : []),
    ];
  };
  const parts = [
    ...excerpt("-", oldText.slice(start, oldText.length - end)),
    ...excerpt("+", lines.slice(start, lines.length - end)),
  ];
  return parts.join(", ") || "white space";
}
