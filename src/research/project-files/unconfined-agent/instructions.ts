import { basename } from "node:path";
import { oneLine } from "../../../engine/lib/sanitise.js";
import { explaining } from "../../../engine/storage/explain-system-error.js";
import { isSameVersion, type Version, versionAt } from "../../../engine/storage/file-snapshot.js";
import {
  type Edit,
  editFile,
  forgetEdit,
  instructionFiles,
  isApproved,
  readEdit,
  realFile,
  recordEdit,
} from "../approval.js";
import { progressFile } from "../layout.js";
import { list, restored, type Undo } from "./stored-data.js";

/** Characters of a file that waits for a yes. Nobody instructs agents with more; a larger one is put back. */
const maxText = 1_000_000;

/**
 * Remembers AGENTS.md, CLAUDE.md and prompt.md, and what waits for a person's yes. Whose edit of them it was can't be
 * seen, so it stays and waits for a yes; what is not an edit of a text, such as a link, is put back.
 */
export async function guardInstructions(folder: string, root: string, stateDir: string, aside: string): Promise<Undo> {
  const files = [...new Set(instructionFiles(root).flatMap((path) => [path, realFile(path)]))];
  const places = [...files, realFile(progressFile(folder))];
  const edits = new Map<string, Edit>();
  for (const path of places) {
    const edit = await readEdit(stateDir, path);
    if (edit !== undefined && (await isApproved(stateDir, edit))) await forgetEdit(stateDir, path);
    else if (edit !== undefined) edits.set(path, edit);
  }
  const [records, versions] = [
    await versionsAt(places.map((path) => editFile(stateDir, path))),
    await versionsAt(files),
  ];

  /** What a person has agreed to: meanwhile, or before. */
  const agreedTo = async (path: string, before: string | null): Promise<string | null> => {
    const now = await readEdit(stateDir, path);
    if (now?.before !== undefined && (await isApproved(stateDir, now))) return now.before;
    return edits.get(path)?.before ?? (edits.has(path) ? null : before);
  };

  return async (agent) => {
    const planted = new Map<string, Version>();
    for (const path of places) {
      const edit = await readEdit(stateDir, path);
      const isYes =
        edit !== undefined &&
        (await isApproved(stateDir, edit)) &&
        (edit.added === undefined || isSame(edit.added, edits.get(path)?.added));
      const record = editFile(stateDir, path);
      planted.set(record, isYes ? (records.get(record) ?? absent) : await versionAt(record));
    }
    const undone = await restored(records, planted, aside);
    const now = await versionsAt(files);
    const [waiting, put]: [string[], string[]] = [[], []];
    for (const path of files) {
      const [then, after] = [versions.get(path) ?? absent, now.get(path) ?? absent];
      if (isSameVersion(then, after)) continue;
      const [old, text] = [textIn(then), textIn(after)];
      if (old === undefined || text === undefined) {
        await restored(new Map([[path, then]]), new Map([[path, after]]), aside);
        put.push(basename(path));
        continue;
      }
      const before = await agreedTo(path, old);
      if (before === text) await explaining(path, () => forgetEdit(stateDir, path));
      else {
        await recordEdit(stateDir, { path, agent, before });
        waiting.push(waits(path, before ?? "", text ?? "", agent, folder));
      }
    }
    return [
      ...waiting,
      ...(put.length > 0
        ? [`${list(put)} changed while ${agent} ran unconfined, and ${put.length === 1 ? "was" : "were"} restored.`]
        : []),
      ...(undone.length > 0
        ? [`${agent} changed the record of edits that wait for your approval; the record was restored.`]
        : []),
    ];
  };
}

const isSame = (a: readonly string[], b: readonly string[] | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

const absent: Version = { kind: "absent" };

const versionsAt = async (paths: readonly string[]): Promise<Map<string, Version>> =>
  new Map(await Promise.all(paths.map(async (path) => [path, await explaining(path, () => versionAt(path))] as const)));

/** Null where there is no file; undefined for what is not text that could wait. */
function textIn(version: Version): string | null | undefined {
  if (version.kind === "absent") return null;
  if (version.kind !== "file" || version.bytes.length > maxText) return undefined;
  return version.bytes.toString("utf8");
}

/**
 * Has what was added to the project's log wait for a yes, and answers with a sentence; undefined where the edit did
 * more than add lines.
 */
export async function holdAddedLines(
  folder: string,
  stateDir: string,
  before: Version,
  now: Version,
  agent: string,
): Promise<string | undefined> {
  const [old, text] = [textIn(before), textIn(now)];
  if (before.kind !== "file" || typeof old !== "string" || typeof text !== "string") return undefined;
  const added = addedLines(old, text);
  if (added === undefined) return undefined;
  const path = realFile(progressFile(folder));
  const earlier = await readEdit(stateDir, path);
  const open = earlier === undefined || (await isApproved(stateDir, earlier)) ? [] : (earlier.added ?? []);
  await recordEdit(stateDir, { path, agent, added: [...open, ...added] });
  return waits(path, old, text, agent, folder);
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

const waits = (path: string, before: string, now: string, agent: string, folder: string): string =>
  `${basename(path)} changed while ${agent} ran unconfined (${difference(before, now)}). The change stays, but briefs use the earlier text until you approve it: research-ralph approve ${basename(folder)}; --reject undoes it.`;

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
