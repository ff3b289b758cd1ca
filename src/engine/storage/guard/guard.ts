import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { timeForName } from "../../lib/clock.js";
import { ExpectedError, messageOf } from "../../lib/errors.js";
import { hiddenFolder, hiddenName, truncateName, setAsideFolder } from "../../lib/layout.js";
import { joinedNames } from "../../lib/words.js";
import { existingPath } from "../../process/search-path.js";
import { inodeAt, isTemporary } from "../atomic-file.js";
import { withExplainedErrors, explainSystemError } from "../explain-system-error.js";
import { foldersBetween, clearObstacles, isFolder, folderStates } from "./clear-obstacles.js";
import {
  hasChanged,
  isSameVersion,
  isUntouched,
  copyAside,
  moveAside,
  putVersion,
  type Snapshot,
  snapshotOf,
  type Version,
} from "./file-snapshot.js";
import { watch } from "./own-writes.js";

/**
 * Files that an agent may not change. The guard remembers them before the agent starts, checks them while it works and
 * after it has ended, and restores them. The caller passes the files as a list of entries. held-edits.ts handles edits
 * that need a person's approval; guard-record.ts saves the memory to the disk for a start after a kill.
 */
export interface GuardEntry {
  /**
   * `restore`: changed and deleted files are restored, and new files are removed. `set aside`: the content is not
   * remembered; files that this program did not write are moved to `asideFolder`, and missing files are reported.
   */
  readonly rule: "restore" | "set aside";
  readonly files?: readonly string[];
  readonly folders?: readonly GuardedFolder[];
  /** Decides what part of a change stays. If it is absent or returns undefined, the whole change is undone. */
  readonly decide?: (change: Change) => Promise<Decision | undefined>;
  /** Sentences for a person about what was done; `asideFolder`: the folder with the changed files. */
  readonly describe?: (found: readonly Finding[], suspect: Suspect, asideFolder: string) => readonly string[];
  /** Snapshots of these files, kept for all iterations of a run, so that only changed files are read again. */
  readonly memory?: Map<string, Snapshot>;
  /** Not written to the record on the disk. */
  readonly inMemory?: true;
}

/** A folder with all files in it. `except`: names of files and folders that are left out, at any depth. */
export interface GuardedFolder {
  readonly path: string;
  readonly except?: readonly string[];
}

/** The agent that may have made a change, and a clause for sentences, such as `claude ran unconfined`. */
export interface Suspect {
  readonly agent: string;
  readonly during: string;
}

/** A file that differs from its remembered version. */
export interface Change {
  readonly path: string;
  readonly before: Version;
  readonly current: Version;
  readonly suspect: Suspect;
  /** The remembered version of another guarded file. */
  readonly rememberedVersion: (path: string) => Version | undefined;
}

/** The decision about a change: it stays, or `replacement` replaces it. `sentences` are reported in both cases. */
export type Decision = { readonly replacement?: Version; readonly sentences?: readonly string[] };

/** A change that the guard found and undid. */
export interface Finding {
  readonly path: string;
  /** `new`: the file did not exist before; `changed`: it has other content. */
  readonly kind: "new" | "deleted" | "changed";
  /** The agent's version was moved or copied to `asideFolder`. */
  readonly isSetAside: boolean;
}

export interface Guard {
  /**
   * Call this while an agent works, before a read of files that the agent could have forged. `end` reports findings.
   */
  check(suspect: Suspect): Promise<void>;
  /**
   * Restores the files after the agent has ended, and ends the guard. Returns one sentence for each kind of damage.
   * @throws ExpectedError if the guarded folder is missing or a file can't be restored. The remembered contents are
   * saved first, and the message says where.
   */
  end(suspect: Suspect): Promise<readonly string[]>;
}

/** The folder that a guard protects, and where it may save files. */
export interface GuardSettings {
  /** The folder of the project or task. */
  readonly folder: string;
  readonly iteration: number;
  /** Folders in which files are restored or moved; none of them may be replaced by a link. */
  readonly places: readonly string[];
  /** The folder for files that can't be restored. */
  readonly rescue: string;
}

/** The guard's memory on the disk. */
export interface GuardRecord {
  /** Records that this version is valid from now on; `stamp` and `sha256` are for entries of the rule `set aside`. */
  add(path: string, memory: RememberedFile): void;
  /** Deletes the record. */
  close(): void;
}

/** What the guard remembers of a file. */
export type RememberedFile = {
  readonly snapshot?: Snapshot;
  /** For the rule `set aside`: inode, size and time of change. */
  readonly stamp?: string;
  /** For the rule `set aside`: hash of the content. */
  readonly sha256?: string;
  /**
   * After a kill: the version before the last write of the killed process, because that write may not have happened.
   */
  readonly olderVersion?: Version;
  /** After a kill, for the rule `set aside`: the killed process may have moved the file, or not have written it yet. */
  readonly mayBeMissing?: true;
};

type GuardedFile = RememberedFile & { readonly entry: GuardEntry };

const absent: Version = { kind: "absent" };

/**
 * Remembers the files of the entries. `openRecord` receives them before an agent is started. `previous`: the memory of
 * a guard whose process was killed.
 */
export async function openGuard(
  entries: readonly GuardEntry[],
  settings: GuardSettings,
  {
    openRecord,
    previous,
  }: {
    readonly openRecord?: (memory: ReadonlyMap<string, RememberedFile>) => Promise<GuardRecord>;
    readonly previous?: ReadonlyMap<string, RememberedFile>;
  } = {},
): Promise<Guard> {
  const { folder, rescue } = settings;
  const memory = new Map<string, GuardedFile>();
  for (const entry of entries)
    for (const path of pathsOf(entry)) {
      const rememberedFile = previous === undefined ? await rememberFile(entry, path) : previous.get(path);
      if (rememberedFile !== undefined) memory.set(path, { ...rememberedFile, entry });
    }
  // Files that have been deleted since can't be found in the folders, so they are added from the record.
  for (const [path, rememberedFile] of previous ?? []) {
    const entry = entryOf(entries, path);
    if (entry !== undefined) memory.set(path, { ...rememberedFile, entry });
  }
  const originalPath = existingPath(folder);
  const roots = entries.flatMap(({ folders = [] }) => folders.map(({ path }) => path));
  const innerFolders = [...memory.keys()].flatMap((path) =>
    roots.filter((root) => path.startsWith(`${root}${sep}`)).flatMap((root) => foldersBetween(root, dirname(path))),
  );
  const setAsidePath = setAsideFolder(folder);
  const guardFolders = [hiddenFolder(folder), setAsidePath, join(setAsidePath, String(settings.iteration))];
  const places = folderStates([folder, ...guardFolders, ...settings.places, ...innerFolders]);
  const record = await openRecord?.(new Map([...memory].filter(([, { entry }]) => entry.inMemory !== true)));
  const findings = new Map<GuardEntry, Finding[]>();
  const reportedSentences: string[] = [];
  const removedPaths: string[] = [];
  let asideFolder: string | undefined;
  let failures: { readonly path: string; readonly version: Version; readonly error: unknown }[] = [];

  const isFolderMoved = (): boolean =>
    originalPath === undefined || existingPath(folder) !== originalPath || !isFolder(originalPath);
  const asidePathOf = (path: string): string =>
    join(
      (asideFolder ??= isFolderMoved() ? rescueFolder() : unusedAsideFolder(settings)),
      pathWithinAside(folder, path),
    );
  const rescueFolder = (): string => join(rescue, `${truncateName(basename(folder))}-${timeForName(Date.now())}`);
  const remember = (path: string, entry: GuardEntry, rememberedFile: RememberedFile | undefined): void => {
    if (rememberedFile === undefined) memory.delete(path);
    else memory.set(path, { ...rememberedFile, entry });
  };

  const stopWatching = watch({
    beforeWrite(path, content) {
      const entry = memory.get(path)?.entry ?? entryOf(entries, path);
      if (entry === undefined) return () => undefined;
      const bytes = content();
      const ownVersion: RememberedFile =
        entry.rule === "set aside"
          ? { sha256: hashOf(bytes) }
          : { snapshot: { version: { kind: "file", bytes, mode: modeAt(path) } } };
      if (entry.inMemory !== true) record?.add(path, ownVersion);
      return () => remember(path, entry, ownVersion);
    },
    beforeMove(path, to) {
      const before = memory.get(path);
      const targetEntry = to === undefined ? undefined : (memory.get(to)?.entry ?? entryOf(entries, to));
      if (before !== undefined) {
        const deletedVersion = before.entry.rule === "set aside" ? undefined : { snapshot: { version: absent } };
        remember(path, before.entry, deletedVersion);
        record?.add(path, deletedVersion ?? {});
      }
      if (
        to === undefined ||
        targetEntry?.rule !== "set aside" ||
        (before !== undefined && !isOwnVersion(path, before))
      )
        return;
      const ownVersion = { sha256: hashOf(readFileSync(path)) };
      remember(to, targetEntry, ownVersion);
      record?.add(to, ownVersion);
    },
    validContent(path) {
      const rememberedFile = memory.get(path);
      const entry = rememberedFile?.entry ?? entryOf(entries, path);
      if (entry === undefined) return "unwatched";
      if (entry.rule === "set aside")
        return rememberedFile !== undefined && isOwnVersion(path, rememberedFile) ? "unwatched" : undefined;
      const { kind, ...version } = rememberedFile?.snapshot?.version ?? absent;
      return "bytes" in version ? version.bytes : kind === "absent" ? undefined : "unwatched";
    },
  });

  const recordFinding = (entry: GuardEntry, path: string, kind: Finding["kind"], isSetAside: boolean): void => {
    const list = findings.get(entry) ?? [];
    if (!list.some((finding) => finding.path === path)) list.push({ path, kind, isSetAside });
    findings.set(entry, list);
  };

  /** Checks a file that only this program writes. */
  const restoreOwnFile = (entry: GuardEntry, path: string): void => {
    const rememberedFile = memory.get(path);
    if (rememberedFile !== undefined && isOwnVersion(path, rememberedFile)) return;
    memory.delete(path);
    if (inodeAt(path) === undefined)
      return rememberedFile === undefined || rememberedFile.mayBeMissing === true
        ? undefined
        : recordFinding(entry, path, "deleted", false);
    recordFinding(entry, path, rememberedFile === undefined ? "new" : "changed", moveAside(path, asidePathOf(path)));
  };

  const restoreFile = async (entry: GuardEntry, path: string, suspect: Suspect): Promise<void> => {
    if (entry.rule === "set aside") return restoreOwnFile(entry, path);
    const rememberedFile = memory.get(path);
    const snapshot = rememberedFile?.snapshot ?? { version: absent };
    if (!(await hasChanged(path, snapshot))) return;
    const current = await snapshotOf(path);
    const before = snapshot.version;
    if (isSameVersion(current.version, before) || isVersion(current.version, rememberedFile?.olderVersion)) return;
    const change = {
      path,
      before,
      current: current.version,
      suspect,
      rememberedVersion: (filePath: string) => memory.get(filePath)?.snapshot?.version,
    };
    const verdict = await entry.decide?.(change);
    // If this program has written the file while `decide` ran, the new version is checked.
    if (memory.get(path) !== rememberedFile) return await restoreFile(entry, path, suspect);
    reportedSentences.push(...(verdict?.sentences ?? []));
    if (verdict !== undefined && verdict.replacement === undefined) return remember(path, entry, { snapshot: current });
    const version = verdict?.replacement ?? before;
    const kind = before.kind === "absent" ? "new" : current.version.kind === "absent" ? "deleted" : "changed";
    const saveCurrent = () =>
      version.kind === "absent"
        ? moveAside(path, asidePathOf(path))
        : copyAside(path, current.version, asidePathOf(path));
    const isSetAside = current.version.kind !== "absent" && saveCurrent();
    try {
      putVersion(path, version);
    } catch (error) {
      failures.push({ path, version, error });
      throw error;
    }
    recordFinding(entry, path, kind, isSetAside);
    record?.add(path, { snapshot: { version } });
    remember(path, entry, { snapshot: { version } });
  };

  /** `isFolderMoved`: the folder is missing, so only files outside of it can be restored. */
  const checkFiles = async (suspect: Suspect, isFolderMoved: boolean): Promise<void> => {
    failures = [];
    let failure: unknown;
    const withCollectedFailure = async (path: string, work: () => void | Promise<void>) => {
      // A failure to restore one file must not prevent the restoring of the others.
      await withExplainedErrors(path, async () => await work()).catch((error: unknown) => (failure ??= error));
    };
    if (!isFolderMoved)
      await withCollectedFailure(folder, () => void removedPaths.push(...clearObstacles(folder, places, asideFolder)));
    for (const entry of entries) {
      const rememberedPaths = [...memory].filter(([, file]) => file.entry === entry).map(([path]) => path);
      for (const path of new Set([...rememberedPaths, ...(entry.folders ?? []).flatMap(filesIn)]))
        if (!isFolderMoved || !path.startsWith(`${folder}${sep}`))
          await withCollectedFailure(path, () => restoreFile(entry, path, suspect));
    }
    if (failures.length > 0) throw await restoreError(suspect);
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
  const missingFolderError = async (suspect: Suspect): Promise<ExpectedError> => {
    const files = [...memory].flatMap(([path, { snapshot }]) =>
      dirname(path) === folder && snapshot !== undefined ? [[path, snapshot.version] as const] : [],
    );
    const place = await saveFiles(files);
    return new ExpectedError(
      `${folder} was deleted or moved away while ${suspect.during}; its files as they were are in ${place}: move that there and run again.`,
    );
  };

  const restoreError = async (suspect: Suspect): Promise<ExpectedError> => {
    const place = await saveFiles(failures.map(({ path, version }) => [path, version] as const));
    const names = failures.map(({ path }) => basename(path));
    const reason = messageOf(explainSystemError(failures[0]?.error, failures[0]?.path ?? folder)).replace(/\.$/, "");
    return new ExpectedError(
      `${joinedNames(names)} changed while ${suspect.during}, and can't be put back (${reason}); copy what stands in ${place} over it before you run again.`,
    );
  };

  return {
    check: async (suspect) => {
      if (!isFolderMoved()) await checkFiles(suspect, false);
    },
    async end(suspect) {
      try {
        const isFolderMissing = isFolderMoved();
        await checkFiles(suspect, isFolderMissing);
        record?.close();
        if (isFolderMissing) throw await missingFolderError(suspect);
      } finally {
        stopWatching();
      }
      const place = asideFolder ?? "";
      const sentences = [
        ...(removedPaths.length === 0 ? [] : [replacedText(folder, [...new Set(removedPaths)], suspect)]),
        ...reportedSentences,
        ...entries.flatMap((entry) => entry.describe?.(findings.get(entry) ?? [], suspect, place) ?? []),
      ];
      findings.clear();
      removedPaths.length = 0;
      reportedSentences.length = 0;
      return sentences;
    },
  };
}

/** The paths of an entry: its files, and the existing files in its folders. */
const pathsOf = ({ files = [], folders = [] }: GuardEntry): string[] => [...files, ...folders.flatMap(filesIn)];

/** All files and links in a folder and its subfolders; for a file, the file itself. */
function filesIn({ path, except = [] }: GuardedFolder): string[] {
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
const entryOf = (entries: readonly GuardEntry[], path: string): GuardEntry | undefined =>
  entries.find(
    ({ files = [], folders = [] }) =>
      files.includes(path) ||
      folders.some(({ path: root, except = [] }) => {
        if (!path.startsWith(`${root}${sep}`)) return false;
        const names = relative(root, path).split(sep);
        return !names.some((name) => except.includes(name)) && !isTemporary(names.at(-1) ?? "");
      }),
  );

/** What to remember of a file; undefined for a folder that stands in its place, because it can't be restored. */
async function rememberFile({ rule, memory }: GuardEntry, path: string): Promise<RememberedFile | undefined> {
  if (rule === "set aside") return { stamp: stampAt(path) };
  const earlierSnapshot = memory?.get(path);
  if (earlierSnapshot !== undefined && isUntouched(path, earlierSnapshot)) return { snapshot: earlierSnapshot };
  const snapshot = await withExplainedErrors(path, () => snapshotOf(path));
  memory?.set(path, snapshot);
  return snapshot.version.kind === "other" && isFolder(path) ? undefined : { snapshot };
}

/** The inode, size and change time (ctime) of a file. No program can set back the change time. */
function stampAt(path: string): string {
  const stats = inodeAt(path);
  return stats === undefined ? "absent" : `${stats.ino}:${stats.size}:${stats.ctimeMs}`;
}

function isOwnVersion(path: string, { stamp, sha256 }: RememberedFile): boolean {
  if (stamp !== undefined && stamp === stampAt(path)) return true;
  return sha256 !== undefined && inodeAt(path)?.isFile() === true && sha256 === hashOf(readFileSync(path));
}

const isVersion = (version: Version, other: Version | undefined): boolean =>
  other !== undefined && isSameVersion(version, other);

const hashOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const modeAt = (path: string): number => (inodeAt(path)?.mode ?? 0o644) & 0o7777;

/** A folder that does not exist yet: an existing one may contain files that a person needs. */
function unusedAsideFolder(settings: GuardSettings, count = 1): string {
  const { folder, iteration } = settings;
  const candidate = join(setAsideFolder(folder), `${iteration}${count === 1 ? "" : `-${count}`}`);
  return inodeAt(candidate) === undefined ? candidate : unusedAsideFolder(settings, count + 1);
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

const replacedText = (folder: string, removedPaths: readonly string[], { agent }: Suspect): string =>
  `${agent} replaced ${removedPaths.map((path) => relative(folder, path)).join(", ")} with something else, which was removed. The previous contents are lost, except what the state file holds.`;
