import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { timeForName } from "../../lib/clock.js";
import { ExpectedError, messageOf } from "../../lib/errors.js";
import { hiddenFolder, hiddenName, nameStart, setAsideFolder } from "../../lib/layout.js";
import { inodeAt, isTemporary } from "../atomic-file.js";
import { withExplainedErrors, explainSystemError } from "../explain-system-error.js";
import { foldersBetween, clearObstacles, isFolder, placesOf, realPath } from "./clear-way.js";
import {
  hasChanged,
  isSameVersion,
  isUntouched,
  keepAside,
  moveAside,
  putVersion,
  type Snapshot,
  snapshotOf,
  type Version,
} from "./file-snapshot.js";
import { watch } from "./own-writes.js";

/**
 * Files that an agent may not change. The guard remembers them before the agent starts, checks them while it works and
 * after it has ended, and restores them. Tenants pass the files as a list of entries. held-edits.ts handles edits that
 * need a person's approval; guard-record.ts saves the memory to the disk for a start after a kill.
 */
export interface Entry {
  /**
   * `put back`: changed and deleted files are restored, and new files are removed. `ours alone`: the content is not
   * remembered; files that this program did not write are set aside, and missing files are reported.
   */
  readonly rule: "put back" | "ours alone";
  readonly files?: readonly string[];
  readonly folders?: readonly Folder[];
  /** Decides what part of a change stays; undefined or absent: no part. */
  readonly judge?: (change: Change) => Promise<Judged | undefined>;
  /** Sentences for a person about what was done; `aside`: the folder of the changed files. */
  readonly tell?: (found: readonly Found[], who: Who, aside: string) => readonly string[];
  /** Snapshots of these files, kept for all iterations of a run, so that only changed files are read again. */
  readonly memory?: Map<string, Snapshot>;
  /** Not written to the record on the disk. */
  readonly inMemory?: true;
}

/** A folder with all its contents, except files and folders with these names at any depth. */
export interface Folder {
  readonly path: string;
  readonly except?: readonly string[];
}

/** The agent that may have made a change, and a clause for sentences, such as `claude ran unconfined`. */
export interface Who {
  readonly agent: string;
  readonly during: string;
}

/** A file that differs from its remembered version. */
export interface Change {
  readonly path: string;
  readonly before: Version;
  readonly now: Version;
  readonly who: Who;
  /** The remembered version of another guarded file. */
  readonly remembered: (path: string) => Version | undefined;
}

/** The decision about a change: it stays, or `put` replaces it. The sentences of `says` are reported in both cases. */
export type Judged = { readonly put?: Version; readonly says?: readonly string[] };

/** A change that the guard found and undid. */
export interface Found {
  readonly path: string;
  /** `planted`: the file is new; `gone`: it was deleted; `changed`: it has other content. */
  readonly was: "planted" | "gone" | "changed";
  /** The agent's version was set aside. */
  readonly isKept: boolean;
}

export interface Guard {
  /** Checks while an agent works, before files that it could have forged are read. `end` reports what was found. */
  look(who: Who): Promise<void>;
  /**
   * Restores the files after the agent has ended, and ends the guard. Returns one sentence for each kind of damage.
   * @throws ExpectedError if the guarded folder is missing or a file can't be restored. The remembered contents are
   * saved first, and the message says where.
   */
  end(who: Who): Promise<readonly string[]>;
}

/** The folder that a guard protects, and where it may save files. */
export interface Guarded {
  /** The folder of the project or task. */
  readonly folder: string;
  readonly iteration: number;
  /** Folders in which files are restored or moved; none of them may be replaced by a link. */
  readonly places: readonly string[];
  /** The folder for files that can't be restored. */
  readonly rescue: string;
}

/** Saves the guard's memory to the disk. */
export interface Record {
  /** Records that this version is valid from now on; `stamp` and `sha256` are for entries of the rule `ours alone`. */
  note(path: string, known: Remembered): void;
  /** Deletes the record. */
  close(): void;
}

/** What the guard remembers of a file. */
export type Remembered = {
  readonly snapshot?: Snapshot;
  /** For the rule `ours alone`: inode, size and time of change. */
  readonly stamp?: string;
  /** For the rule `ours alone`: hash of the content. */
  readonly sha256?: string;
  /** After a kill: the version before our last write, because the write may not have happened. */
  readonly earlier?: Version;
  /** After a kill, for the rule `ours alone`: we may have moved the file, or not have written it yet. */
  readonly isOpen?: true;
};

type Known = Remembered & { readonly entry: Entry };

const absent: Version = { kind: "absent" };

/**
 * Remembers the files of the entries. `begun` receives them before an agent is started. `after`: the memory of an
 * earlier guard whose process was killed.
 */
export async function openGuard(
  entries: readonly Entry[],
  guarded: Guarded,
  {
    begun,
    after,
  }: {
    readonly begun?: (known: ReadonlyMap<string, Remembered>) => Promise<Record>;
    readonly after?: ReadonlyMap<string, Remembered>;
  } = {},
): Promise<Guard> {
  const { folder, rescue } = guarded;
  const known = new Map<string, Known>();
  for (const entry of entries)
    for (const path of pathsOf(entry)) {
      const remembered = after === undefined ? await initialRemembered(entry, path) : after.get(path);
      if (remembered !== undefined) known.set(path, { ...remembered, entry });
    }
  // Files that have been deleted since can't be found in the folders, so they are added from the record.
  for (const [path, remembered] of after ?? []) {
    const entry = entryOf(entries, path);
    if (entry !== undefined) known.set(path, { ...remembered, entry });
  }
  const originalPath = realPath(folder);
  const roots = entries.flatMap(({ folders = [] }) => folders.map(({ path }) => path));
  const innerFolders = [...known.keys()].flatMap((path) =>
    roots.filter((root) => path.startsWith(`${root}${sep}`)).flatMap((root) => foldersBetween(root, dirname(path))),
  );
  const setAsidePath = setAsideFolder(folder);
  const guardFolders = [hiddenFolder(folder), setAsidePath, join(setAsidePath, String(guarded.iteration))];
  const places = placesOf([folder, ...guardFolders, ...guarded.places, ...innerFolders]);
  const record = await begun?.(new Map([...known].filter(([, { entry }]) => entry.inMemory !== true)));
  const findings = new Map<Entry, Found[]>();
  const sentencesSoFar: string[] = [];
  const removedPaths: string[] = [];
  let aside: string | undefined;
  let failures: { readonly path: string; readonly version: Version; readonly why: unknown }[] = [];

  const isFolderMoved = (): boolean =>
    originalPath === undefined || realPath(folder) !== originalPath || !isFolder(originalPath);
  const asidePathOf = (path: string): string =>
    join((aside ??= isFolderMoved() ? rescueFolder() : unusedAsideFolder(guarded)), pathWithinAside(folder, path));
  const rescueFolder = (): string => join(rescue, `${nameStart(basename(folder))}-${timeForName(Date.now())}`);
  const updateRemembered = (path: string, entry: Entry, remembered: Remembered | undefined): void => {
    if (remembered === undefined) known.delete(path);
    else known.set(path, { ...remembered, entry });
  };

  const stopWatching = watch({
    writes(path, content) {
      const entry = known.get(path)?.entry ?? entryOf(entries, path);
      if (entry === undefined) return () => undefined;
      const bytes = content();
      const ownVersion: Remembered =
        entry.rule === "ours alone"
          ? { sha256: hashOf(bytes) }
          : { snapshot: { version: { kind: "file", bytes, mode: modeAt(path) } } };
      if (entry.inMemory !== true) record?.note(path, ownVersion);
      return () => updateRemembered(path, entry, ownVersion);
    },
    moves(path, to) {
      const before = known.get(path);
      const target = to === undefined ? undefined : (known.get(to)?.entry ?? entryOf(entries, to));
      if (before !== undefined) {
        const deletedVersion = before.entry.rule === "ours alone" ? undefined : { snapshot: { version: absent } };
        updateRemembered(path, before.entry, deletedVersion);
        record?.note(path, deletedVersion ?? {});
      }
      if (to === undefined || target?.rule !== "ours alone" || (before !== undefined && !isOurs(path, before))) return;
      const ownVersion = { sha256: hashOf(readFileSync(path)) };
      updateRemembered(to, target, ownVersion);
      record?.note(to, ownVersion);
    },
    agreed(path) {
      const remembered = known.get(path);
      const entry = remembered?.entry ?? entryOf(entries, path);
      if (entry === undefined) return "unwatched";
      if (entry.rule === "ours alone")
        return remembered !== undefined && isOurs(path, remembered) ? "unwatched" : undefined;
      const { kind, ...version } = remembered?.snapshot?.version ?? absent;
      return "bytes" in version ? version.bytes : kind === "absent" ? undefined : "unwatched";
    },
  });

  const recordFinding = (entry: Entry, path: string, kind: Found["was"], isKept: boolean): void => {
    const list = findings.get(entry) ?? [];
    if (!list.some((each) => each.path === path)) list.push({ path, was: kind, isKept });
    findings.set(entry, list);
  };

  /** Checks a file that only this program writes. */
  const restoreOwnFile = (entry: Entry, path: string): void => {
    const remembered = known.get(path);
    if (remembered !== undefined && isOurs(path, remembered)) return;
    known.delete(path);
    if (inodeAt(path) === undefined)
      return remembered === undefined || remembered.isOpen === true
        ? undefined
        : recordFinding(entry, path, "gone", false);
    recordFinding(entry, path, remembered === undefined ? "planted" : "changed", moveAside(path, asidePathOf(path)));
  };

  const restoreFile = async (entry: Entry, path: string, who: Who): Promise<void> => {
    if (entry.rule === "ours alone") return restoreOwnFile(entry, path);
    const remembered = known.get(path);
    const snapshot = remembered?.snapshot ?? { version: absent };
    if (!(await hasChanged(path, snapshot))) return;
    const current = await snapshotOf(path);
    const before = snapshot.version;
    if (isSameVersion(current.version, before) || isVersion(current.version, remembered?.earlier)) return;
    const change = {
      path,
      before,
      now: current.version,
      who,
      remembered: (filePath: string) => known.get(filePath)?.snapshot?.version,
    };
    const verdict = await entry.judge?.(change);
    // If this program has written the file during `judge`, check the new version.
    if (known.get(path) !== remembered) return await restoreFile(entry, path, who);
    sentencesSoFar.push(...(verdict?.says ?? []));
    if (verdict !== undefined && verdict.put === undefined) return updateRemembered(path, entry, { snapshot: current });
    const version = verdict?.put ?? before;
    const kind = before.kind === "absent" ? "planted" : current.version.kind === "absent" ? "gone" : "changed";
    const keepCopy = () =>
      version.kind === "absent"
        ? moveAside(path, asidePathOf(path))
        : keepAside(path, current.version, asidePathOf(path));
    const isKept = current.version.kind !== "absent" && keepCopy();
    try {
      putVersion(path, version);
    } catch (why) {
      failures.push({ path, version, why });
      throw why;
    }
    recordFinding(entry, path, kind, isKept);
    record?.note(path, { snapshot: { version } });
    updateRemembered(path, entry, { snapshot: { version } });
  };

  /** `isFolderMoved`: the folder is missing, so only files outside of it can be restored. */
  const check = async (who: Who, isFolderMoved: boolean): Promise<void> => {
    failures = [];
    let failure: unknown;
    const collectFailure = async (path: string, work: () => void | Promise<void>) => {
      // A failure to restore one file must not prevent the restoring of the others.
      await withExplainedErrors(path, async () => await work()).catch((error: unknown) => (failure ??= error));
    };
    if (!isFolderMoved)
      await collectFailure(folder, () => void removedPaths.push(...clearObstacles(folder, places, aside)));
    for (const entry of entries) {
      const knownPaths = [...known].filter(([, each]) => each.entry === entry).map(([path]) => path);
      for (const path of new Set([...knownPaths, ...(entry.folders ?? []).flatMap(filesIn)]))
        if (!isFolderMoved || !path.startsWith(`${folder}${sep}`))
          await collectFailure(path, () => restoreFile(entry, path, who));
    }
    if (failures.length > 0) throw await restoreError(who);
    if (failure !== undefined) throw failure;
  };

  const saveFiles = async (files: readonly (readonly [string, Version])[]): Promise<string> => {
    const place = rescueFolder();
    await withExplainedErrors(place, async () => {
      for (const [path, version] of files) putVersion(join(place, basename(path)), version);
    });
    return place;
  };

  /**
   * Saves the files elsewhere: a folder that is created again with only some files would be worse than a missing one.
   */
  const goneError = async (who: Who): Promise<ExpectedError> => {
    const files = [...known].flatMap(([path, { snapshot }]) =>
      dirname(path) === folder && snapshot !== undefined ? [[path, snapshot.version] as const] : [],
    );
    const place = await saveFiles(files);
    return new ExpectedError(
      `${folder} was deleted or moved away while ${who.during}; its files as they were are in ${place}: move that there and run again.`,
    );
  };

  const restoreError = async (who: Who): Promise<ExpectedError> => {
    const place = await saveFiles(failures.map(({ path, version }) => [path, version] as const));
    const names = failures.map(({ path }) => basename(path));
    const why = messageOf(explainSystemError(failures[0]?.why, failures[0]?.path ?? folder)).replace(/\.$/, "");
    return new ExpectedError(
      `${listed(names)} changed while ${who.during}, and can't be put back (${why}); copy what stands in ${place} over it before you run again.`,
    );
  };

  return {
    look: async (who) => {
      if (!isFolderMoved()) await check(who, false);
    },
    async end(who) {
      try {
        const isLost = isFolderMoved();
        await check(who, isLost);
        record?.close();
        if (isLost) throw await goneError(who);
      } finally {
        stopWatching();
      }
      const place = aside ?? "";
      const sentences = [
        ...(removedPaths.length === 0 ? [] : [replacedText(folder, [...new Set(removedPaths)], who)]),
        ...sentencesSoFar,
        ...entries.flatMap((entry) => entry.tell?.(findings.get(entry) ?? [], who, place) ?? []),
      ];
      findings.clear();
      removedPaths.length = 0;
      sentencesSoFar.length = 0;
      return sentences;
    },
  };
}

/** The paths of an entry: its files, and the existing files in its folders. */
const pathsOf = ({ files = [], folders = [] }: Entry): string[] => [...files, ...folders.flatMap(filesIn)];

/** All files and links in a folder and its subfolders; for a file, the file itself. */
function filesIn({ path, except = [] }: Folder): string[] {
  const stats = inodeAt(path);
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => !except.includes(name) && !isTemporary(name))
    .flatMap((entry) =>
      entry.isDirectory() ? filesIn({ path: join(path, entry.name), except }) : [join(path, entry.name)],
    );
}

/** The entry to which a path belongs, whether or not a file exists there. */
const entryOf = (entries: readonly Entry[], path: string): Entry | undefined =>
  entries.find(
    ({ files = [], folders = [] }) =>
      files.includes(path) ||
      folders.some(({ path: root, except = [] }) => {
        if (!path.startsWith(`${root}${sep}`)) return false;
        const names = relative(root, path).split(sep);
        return !names.some((name) => except.includes(name)) && !isTemporary(names.at(-1) ?? "");
      }),
  );

/** Undefined for a folder in place of a file, because it can't be restored. */
async function initialRemembered({ rule, memory }: Entry, path: string): Promise<Remembered | undefined> {
  if (rule === "ours alone") return { stamp: stampAt(path) };
  const known = memory?.get(path);
  if (known !== undefined && isUntouched(path, known)) return { snapshot: known };
  const snapshot = await withExplainedErrors(path, () => snapshotOf(path));
  memory?.set(path, snapshot);
  return snapshot.version.kind === "other" && isFolder(path) ? undefined : { snapshot };
}

/** Contains the change time (ctime) of the inode, which no program can set back. */
function stampAt(path: string): string {
  const stats = inodeAt(path);
  return stats === undefined ? "absent" : `${stats.ino}:${stats.size}:${stats.ctimeMs}`;
}

function isOurs(path: string, { stamp, sha256 }: Remembered): boolean {
  if (stamp !== undefined && stamp === stampAt(path)) return true;
  return sha256 !== undefined && inodeAt(path)?.isFile() === true && sha256 === hashOf(readFileSync(path));
}

const isVersion = (version: Version, other: Version | undefined): boolean =>
  other !== undefined && isSameVersion(version, other);

const hashOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const modeAt = (path: string): number => (inodeAt(path)?.mode ?? 0o644) & 0o7777;

/** A folder that does not exist yet: an existing one may contain files that a person needs. */
function unusedAsideFolder(guarded: Guarded, count = 1): string {
  const { folder, iteration } = guarded;
  const candidate = join(setAsideFolder(folder), `${iteration}${count === 1 ? "" : `-${count}`}`);
  return inodeAt(candidate) === undefined ? candidate : unusedAsideFolder(guarded, count + 1);
}

/**
 * The path of a file within the folder of files that were set aside. It mirrors the path in the project, so that two
 * files with the same name don't collide. The folder .git is renamed, so that git does not see it as a repository.
 */
const pathWithinAside = (folder: string, path: string): string =>
  relative(folder, path)
    .split(sep)
    .filter((part) => part !== ".." && part !== hiddenName)
    .map((part) => (part === ".git" ? "git" : part))
    .join(sep);

const replacedText = (folder: string, removedPaths: readonly string[], { agent }: Who): string =>
  `${agent} replaced ${removedPaths.map((path) => relative(folder, path)).join(", ")} with something else, which was removed. The previous contents are lost, except what the state file holds.`;

/** Names for a sentence: at most five, then the number of the others. */
export const listed = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ");
