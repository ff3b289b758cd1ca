import { lstatSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { ExpectedError, messageOf } from "../../../engine/lib/errors.js";
import { timeForName } from "../../../engine/lib/clock.js";
import { setAsideFolder } from "../../../engine/lib/layout.js";
import { clearObstacles, placesOf } from "./clear-obstacles.js";
import {
  hasChanged,
  isSameVersion,
  keepAside,
  moveAside,
  putVersion,
  snapshotOf,
  type Version,
  versionAt,
} from "../../../engine/storage/file-snapshot.js";
import { onlyToolsAdded } from "../logs/query-log.js";
import { formatRrd, parseRrd } from "../rrd-file.js";
import { keepSteering, type Steered } from "./steering-fields.js";
import { explaining } from "../../../engine/storage/explain-system-error.js";

import { type FileMemory, guardOthers } from "./other-projects.js";
import { guardInstructions, holdAddedLines } from "./instructions.js";
import { guardSteering } from "./steering-files.js";
import { guardStoredData, list } from "./stored-data.js";
import {
  candidatesFile,
  committedFiles,
  lastGoodFile,
  nameStart,
  progressFile,
  queriesFile,
  rescuedFolder,
  rrdFile,
  rrdName,
  updatesFile,
} from "../layout.js";

/** The files of a project as they were before an agent started that nothing confines. */
export interface TamperGuard {
  /**
   * Takes back what changed since, once the agent has ended: one sentence for each kind of damage, none where there was
   * none.
   * @throws ExpectedError when the project folder is gone, or a file can't be put back; what it held is saved first,
   * and the message says where.
   */
  undoTampering(agent: string): Promise<readonly string[]>;
}

interface GuardOptions {
  readonly folder: string;
  /** Where AGENTS.md and prompt.md lie. */
  readonly root: string;
  /** The files that configure the project and the user: hooks in them run as the user. */
  readonly configs: readonly string[];
  /** The folder of the program's state, outside of the user's tree. */
  readonly stateDir: string;
  readonly iteration: number;
  /** What is known of other projects' files; kept over the iterations of a run. */
  readonly memory: FileMemory;
}

/**
 * Remembers, in this process's memory where no agent reaches, the files that only this program and people write. An
 * agent that nothing confines can write them too, and its changes can't be told from a person's: see
 * docs/decisions/in-your-name.md. In rrd.json what steers is kept and what forges results is put back; lines added to
 * the log and instructions to agents wait for a person's yes; every other file is as it was, and the changed ones are
 * kept aside.
 */
export async function guardFiles({
  folder,
  root,
  configs,
  stateDir,
  iteration,
  memory,
}: GuardOptions): Promise<TamperGuard> {
  const kept = new Map<string, Version>();
  const [aside, rescue] = [join(setAsideFolder(folder), String(iteration)), rescuedFolder(stateDir)];
  const [place, places] = [whereIs(folder), placesOf(folder, aside)];
  const paths = [
    ...committedFiles.names.map((name) => join(folder, name)),
    lastGoodFile(folder),
    candidatesFile(folder),
    updatesFile(folder),
    ...configs,
  ];
  const snapshots = await Promise.all(paths.map((path) => explaining(path, () => snapshotOf(path))));
  for (const [index, path] of paths.entries()) kept.set(path, snapshots[index]?.version ?? { kind: "absent" });
  const undoInstructions = await guardInstructions(folder, root, stateDir, aside);
  const more = [
    ...(await guardStoredData(folder, aside)),
    await guardSteering(folder, aside, stateDir),
    await guardOthers(folder, aside, stateDir, memory),
  ];

  /**
   * Where an editor was just saving rrd.json, half of it was remembered; the last good version is what the loop had
   * read.
   */
  const wholeVersion = (path: string, version: Version): Version =>
    path === rrdFile(folder) && !isJson(version) ? (kept.get(lastGoodFile(folder)) ?? version) : version;

  const restoreFiles = async (agent: string): Promise<string[]> => {
    const changed: string[] = [];
    const failed: { path: string; remembered: Version; why: unknown }[] = [];
    const sentences: string[] = [];
    let moved = false;
    const restore = async (path: string, remembered: Version): Promise<void> => {
      const now = await versionAt(path);
      if (isSameVersion(now, remembered)) return;
      if (path === queriesFile(folder) && isToolsLog(remembered, now)) return;
      const added =
        path === progressFile(folder) ? await holdAddedLines(folder, stateDir, remembered, now, agent) : undefined;
      if (added !== undefined) return void sentences.push(added);
      const steered = path === rrdFile(folder) ? steering(remembered, now) : undefined;
      if (steered !== undefined && steered.kept.length > 0) sentences.push(edited(steered.kept, agent));
      if (steered !== undefined && steered.refused.length > 0) sentences.push(refused(steered.refused, agent));
      if (steered?.forged === false) return;
      const version =
        steered === undefined
          ? wholeVersion(path, remembered)
          : { ...remembered, bytes: Buffer.from(formatRrd(steered.rrd)) };
      // A kill between the two must find a file: without its rrd.json a project can't go on, and a log that is gone is
      // begun again.
      if (now.kind !== "absent")
        moved = (await (version.kind === "absent" ? moveAside(path, aside) : keepAside(path, now, aside))) || moved;
      await putVersion(path, version);
      changed.push(path === lastGoodFile(folder) ? "the copy of the last good version" : basename(path));
    };
    const changedSince = await Promise.all(
      snapshots.map((snapshot, index) => hasChanged(paths[index] ?? folder, snapshot).catch(() => true)),
    );
    // One that can't be put back keeps none of the others from it.
    for (const [path, remembered] of [...kept].filter((_, index) => changedSince[index]))
      await explaining(path, () => restore(path, remembered)).catch((why: unknown) =>
        failed.push({ path, remembered, why }),
      );
    if (failed.length > 0) throw await notPutBack(failed, folder, rescue, agent);
    if (changed.length === 0) return sentences;
    const where = moved
      ? `; the changed ones are in ${aside}: if a change was yours, copy it back while no agent runs`
      : "";
    return [
      ...sentences,
      `${list(changed)} changed while ${agent} ran unconfined, and ${changed.length === 1 ? "was" : "were"} restored${where}.`,
    ];
  };

  return {
    async undoTampering(agent) {
      if (place === undefined || whereIs(folder) !== place || !isFolder(place))
        throw await rescued(folder, kept, rescue, agent);
      const sentences: string[] = [];
      let failure: unknown;
      const makeWay = () => explaining(folder, () => clearObstacles(folder, places, agent));
      // One step that fails keeps none of the others from being made.
      for (const step of [makeWay, undoInstructions, restoreFiles, ...more])
        sentences.push(...(await step(agent).catch((error: unknown) => ((failure ??= error), []))));
      if (failure !== undefined) throw failure;
      return sentences;
    },
  };
}

/** Its tools note what they ask there. Nothing is rebuilt from such lines, so a forged one does no harm. */
const isToolsLog = (before: Version, now: Version): boolean =>
  now.kind === "file" &&
  (before.kind === "file" || before.kind === "absent") &&
  onlyToolsAdded(before.kind === "file" ? before.bytes : Buffer.alloc(0), now.bytes);

/** What of an edit of rrd.json may stay; undefined where either version is not a valid state. */
function steering(before: Version, now: Version): Steered | undefined {
  const [old, edit] = [before, now].map((version) =>
    version.kind === "file" ? parseRrd(version.bytes.toString("utf8"), rrdName).ok : undefined,
  );
  return old === undefined || edit === undefined ? undefined : keepSteering(old, edit);
}

const edited = (kept: readonly string[], agent: string): string =>
  `rrd.json was edited (${list(kept)}) while ${agent} ran unconfined. The edit is kept as yours; check it if you did not make it.`;

const refused = (what: readonly string[], agent: string): string =>
  `Settings that only you may change were changed in rrd.json (${list(what)}) while ${agent} ran unconfined. They were restored; if the change was yours, make it again while no agent runs.`;

function isJson(version: Version): boolean {
  try {
    return version.kind === "file" && JSON.parse(version.bytes.toString("utf8")) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Saves what a deleted folder held, and says so. Nothing is made again where it stood: half a folder is worse than
 * none.
 */
async function rescued(
  folder: string,
  kept: ReadonlyMap<string, Version>,
  rescue: string,
  agent: string,
): Promise<ExpectedError> {
  const files = committedFiles.names
    .map((name) => join(folder, name))
    .map((path) => ({ path, remembered: kept.get(path) ?? ({ kind: "absent" } as const) }));
  const place = await saved(folder, files, rescue);
  return new ExpectedError(
    `${folder} was deleted or moved away while ${agent} ran; its files as they were are in ${place}: move that there and run again.`,
  );
}

/** Saves the files that can't be put back, and says so: an agent's forged ones stand in their places. */
async function notPutBack(
  failed: readonly { path: string; remembered: Version; why: unknown }[],
  folder: string,
  rescue: string,
  agent: string,
) {
  const place = await saved(folder, failed, rescue);
  const names = list(failed.map(({ path }) => basename(path)));
  return new ExpectedError(
    `${names} changed while ${agent} ran unconfined, and can't be put back (${messageOf(failed[0]?.why).replace(/\.$/, "")}); ` +
      `copy what stands in ${place} over it before you run again.`,
  );
}

/** Puts files as they were into a new folder below `rescue`, and answers with it. */
async function saved(
  folder: string,
  files: readonly { path: string; remembered: Version }[],
  rescue: string,
): Promise<string> {
  const place = join(rescue, `${nameStart(basename(folder))}-${timeForName(Date.now())}`);
  await explaining(place, async () => {
    for (const { path, remembered } of files) await putVersion(join(place, basename(path)), remembered);
  });
  return place;
}

/** Where a folder really lies; undefined where none does. A person may have linked it there. */
function whereIs(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
