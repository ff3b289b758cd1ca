import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { timeForName } from "../../lib/clock.js";
import { ExpectedError, messageOf } from "../../lib/errors.js";
import { hiddenFolder, hiddenName, nameStart, setAsideFolder } from "../../lib/layout.js";
import { inodeAt, isTemporary } from "../atomic-file.js";
import { explaining, explainSystemError } from "../explain-system-error.js";
import { between, clearWay, isFolder, placesOf, realPath } from "./clear-way.js";
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
 * What an agent may not touch: remembered before it starts, looked at while and after it works, and as it was before
 * afterwards. The tenants say what, as a list of entries; held-edits.ts has what waits for a person's yes, and
 * guard-record.ts keeps on the disk what is remembered, for a start after a kill.
 */
export interface Entry {
  /**
   * `put back`: what is changed or deleted is as it was, and what was not there is not there. `ours alone`: content is
   * not remembered; what this program did not write is set aside, what is gone is told.
   */
  readonly rule: "put back" | "ours alone";
  readonly files?: readonly string[];
  readonly folders?: readonly Folder[];
  /** Says what of a change may stay; undefined, or absent: nothing. */
  readonly judge?: (change: Change) => Promise<Judged | undefined>;
  /** Sentences on what was done, for a person; `aside`: where changed files are kept. */
  readonly tell?: (found: readonly Found[], who: Who, aside: string) => readonly string[];
  /** What is known of these files; kept over the iterations of a run, so that they are read again only if changed. */
  readonly memory?: Map<string, Snapshot>;
  /** Left out of what is kept on the disk. */
  readonly inMemory?: true;
}

/** A folder with all that is in it but these names, at any depth. */
export interface Folder {
  readonly path: string;
  readonly except?: readonly string[];
}

/** Who may have done it, and in words what went on meanwhile: `claude ran unconfined`. */
export interface Who {
  readonly agent: string;
  readonly during: string;
}

/** A file that differs from what is remembered. */
export interface Change {
  readonly path: string;
  readonly before: Version;
  readonly now: Version;
  readonly who: Who;
  /** What another guarded file held before. */
  readonly remembered: (path: string) => Version | undefined;
}

/** What becomes of a change: it stays, or this version is put there; `says` is told either way. */
export type Judged = { readonly put?: Version; readonly says?: readonly string[] };

/** What was done about a file. */
export interface Found {
  readonly path: string;
  /** It was not there before; it is gone; else it was changed. */
  readonly was: "planted" | "gone" | "changed";
  /** What stood there was kept aside. */
  readonly isKept: boolean;
}

export interface Guard {
  /** Looks while an agent works, before files are read that it could have forged. What is found is told at the end. */
  look(who: Who): Promise<void>;
  /**
   * Puts things right once the agent has ended, and ends the guard; answers with a sentence for each kind of damage.
   * @throws ExpectedError where the guarded folder is gone or a file can't be put back; what it held is saved first,
   * and the message says where.
   */
  end(who: Who): Promise<readonly string[]>;
}

/** What the list does not say. */
export interface Guarded {
  /** The folder of the project or task. */
  readonly folder: string;
  readonly iteration: number;
  /** Folders that files are put into or moved out of: no link may stand in their places. */
  readonly places: readonly string[];
  /** Where files are saved that can't be put back. */
  readonly rescue: string;
}

/** Keeps what is remembered on the disk. */
export interface Record {
  /** Has these versions count from now on; `stamp` and `sha256`: of what is ours alone. */
  note(path: string, known: Remembered): void;
  /** Forgets all of it. */
  close(): void;
}

/** What is known of a guarded file. */
export type Remembered = {
  readonly snapshot?: Snapshot;
  /** Of a file that is ours alone: its inode, size and last change. */
  readonly stamp?: string;
  /** The same: what it holds. */
  readonly sha256?: string;
  /** After a kill: what it held before our last write, which may not have been made. */
  readonly earlier?: Version;
  /** The same of a file that is ours alone: it may have been moved away by us, or not be written yet. */
  readonly isOpen?: true;
};

type Known = Remembered & { readonly entry: Entry };

const absent: Version = { kind: "absent" };

/**
 * Remembers what the entries name. `begun`: gets it before anybody may start an agent. `after`: what a guard remembered
 * that a kill has ended.
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
      const remembered = after === undefined ? await rememberedOf(entry, path) : after.get(path);
      if (remembered !== undefined) known.set(path, { ...remembered, entry });
    }
  // Files that were there and are gone now are in none of the folders.
  for (const [path, remembered] of after ?? []) {
    const entry = entryOf(entries, path);
    if (entry !== undefined) known.set(path, { ...remembered, entry });
  }
  const at = realPath(folder);
  const roots = entries.flatMap(({ folders = [] }) => folders.map(({ path }) => path));
  const inner = [...known.keys()].flatMap((path) =>
    roots.filter((root) => path.startsWith(`${root}${sep}`)).flatMap((root) => between(root, dirname(path))),
  );
  const kept = setAsideFolder(folder);
  const own = [hiddenFolder(folder), kept, join(kept, String(guarded.iteration))];
  const places = placesOf([folder, ...own, ...guarded.places, ...inner]);
  const record = await begun?.(new Map([...known].filter(([, { entry }]) => entry.inMemory !== true)));
  const found = new Map<Entry, Found[]>();
  const says: string[] = [];
  const cleared: string[] = [];
  let aside: string | undefined;
  let failed: { readonly path: string; readonly version: Version; readonly why: unknown }[] = [];

  const isGone = (): boolean => at === undefined || realPath(folder) !== at || !isFolder(at);
  const asideOf = (path: string): string =>
    join((aside ??= isGone() ? savePlace() : freeAside(guarded)), placeAside(folder, path));
  const savePlace = (): string => join(rescue, `${nameStart(basename(folder))}-${timeForName(Date.now())}`);
  const know = (path: string, entry: Entry, remembered: Remembered | undefined): void => {
    if (remembered === undefined) known.delete(path);
    else known.set(path, { ...remembered, entry });
  };

  const stop = watch({
    writes(path, content) {
      const entry = known.get(path)?.entry ?? entryOf(entries, path);
      if (entry === undefined) return () => undefined;
      const bytes = content();
      const ours: Remembered =
        entry.rule === "ours alone"
          ? { sha256: hashOf(bytes) }
          : { snapshot: { version: { kind: "file", bytes, mode: modeAt(path) } } };
      if (entry.inMemory !== true) record?.note(path, ours);
      return () => know(path, entry, ours);
    },
    moves(path, to) {
      const before = known.get(path);
      const target = to === undefined ? undefined : (known.get(to)?.entry ?? entryOf(entries, to));
      if (before !== undefined) {
        const gone = before.entry.rule === "ours alone" ? undefined : { snapshot: { version: absent } };
        know(path, before.entry, gone);
        record?.note(path, gone ?? {});
      }
      if (to === undefined || target?.rule !== "ours alone" || (before !== undefined && !isOurs(path, before))) return;
      const ours = { sha256: hashOf(readFileSync(path)) };
      know(to, target, ours);
      record?.note(to, ours);
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

  const note = (entry: Entry, path: string, was: Found["was"], isKept: boolean): void => {
    const list = found.get(entry) ?? [];
    if (!list.some((each) => each.path === path)) list.push({ path, was, isKept });
    found.set(entry, list);
  };

  /** One file that only this program writes. */
  const settleOurs = (entry: Entry, path: string): void => {
    const remembered = known.get(path);
    if (remembered !== undefined && isOurs(path, remembered)) return;
    known.delete(path);
    if (inodeAt(path) === undefined)
      return remembered === undefined || remembered.isOpen === true ? undefined : note(entry, path, "gone", false);
    note(entry, path, remembered === undefined ? "planted" : "changed", moveAside(path, asideOf(path)));
  };

  const settle = async (entry: Entry, path: string, who: Who): Promise<void> => {
    if (entry.rule === "ours alone") return settleOurs(entry, path);
    const remembered = known.get(path);
    const snapshot = remembered?.snapshot ?? { version: absent };
    if (!(await hasChanged(path, snapshot))) return;
    const now = await snapshotOf(path);
    const before = snapshot.version;
    if (isSameVersion(now.version, before) || isVersion(now.version, remembered?.earlier)) return;
    const change = {
      path,
      before,
      now: now.version,
      who,
      remembered: (of: string) => known.get(of)?.snapshot?.version,
    };
    const judged = await entry.judge?.(change);
    // This program may have written there meanwhile: then that is what counts.
    if (known.get(path) !== remembered) return await settle(entry, path, who);
    says.push(...(judged?.says ?? []));
    if (judged !== undefined && judged.put === undefined) return know(path, entry, { snapshot: now });
    const version = judged?.put ?? before;
    const was = before.kind === "absent" ? "planted" : now.version.kind === "absent" ? "gone" : "changed";
    const keep = () =>
      version.kind === "absent" ? moveAside(path, asideOf(path)) : keepAside(path, now.version, asideOf(path));
    const isKept = now.version.kind !== "absent" && keep();
    try {
      putVersion(path, version);
    } catch (why) {
      failed.push({ path, version, why });
      throw why;
    }
    note(entry, path, was, isKept);
    record?.note(path, { snapshot: { version } });
    know(path, entry, { snapshot: { version } });
  };

  /** `isGone`: only what lies outside of the folder can be put right. */
  const check = async (who: Who, isGone: boolean): Promise<void> => {
    failed = [];
    let failure: unknown;
    const attempt = async (path: string, work: () => void | Promise<void>) => {
      // One that can't be put right keeps none of the others from it.
      await explaining(path, async () => await work()).catch((error: unknown) => (failure ??= error));
    };
    if (!isGone) await attempt(folder, () => void cleared.push(...clearWay(folder, places, aside)));
    for (const entry of entries) {
      const mine = [...known].filter(([, each]) => each.entry === entry).map(([path]) => path);
      for (const path of new Set([...mine, ...(entry.folders ?? []).flatMap(filesIn)]))
        if (!isGone || !path.startsWith(`${folder}${sep}`)) await attempt(path, () => settle(entry, path, who));
    }
    if (failed.length > 0) throw await notPutBack(who);
    if (failure !== undefined) throw failure;
  };

  const saved = async (files: readonly (readonly [string, Version])[]): Promise<string> => {
    const place = savePlace();
    await explaining(place, async () => {
      for (const [path, version] of files) putVersion(join(place, basename(path)), version);
    });
    return place;
  };

  /** Nothing is made again where the folder stood: half a folder is worse than none. */
  const gone = async (who: Who): Promise<ExpectedError> => {
    const files = [...known].flatMap(([path, { snapshot }]) =>
      dirname(path) === folder && snapshot !== undefined ? [[path, snapshot.version] as const] : [],
    );
    const place = await saved(files);
    return new ExpectedError(
      `${folder} was deleted or moved away while ${who.during}; its files as they were are in ${place}: move that there and run again.`,
    );
  };

  const notPutBack = async (who: Who): Promise<ExpectedError> => {
    const place = await saved(failed.map(({ path, version }) => [path, version] as const));
    const names = failed.map(({ path }) => basename(path));
    const why = messageOf(explainSystemError(failed[0]?.why, failed[0]?.path ?? folder)).replace(/\.$/, "");
    return new ExpectedError(
      `${listed(names)} changed while ${who.during}, and can't be put back (${why}); copy what stands in ${place} over it before you run again.`,
    );
  };

  return {
    look: async (who) => {
      if (!isGone()) await check(who, false);
    },
    async end(who) {
      try {
        const lost = isGone();
        await check(who, lost);
        record?.close();
        if (lost) throw await gone(who);
      } finally {
        stop();
      }
      const place = aside ?? "";
      const sentences = [
        ...(cleared.length === 0 ? [] : [replacedText(folder, [...new Set(cleared)], who)]),
        ...says,
        ...entries.flatMap((entry) => entry.tell?.(found.get(entry) ?? [], who, place) ?? []),
      ];
      found.clear();
      cleared.length = 0;
      says.length = 0;
      return sentences;
    },
  };
}

/** The files of an entry that are there, or are to be there. */
const pathsOf = ({ files = [], folders = [] }: Entry): string[] => [...files, ...folders.flatMap(filesIn)];

/** All files and links in a folder, its inner folders included; the file itself where it is one. */
function filesIn({ path, except = [] }: Folder): string[] {
  const found = inodeAt(path);
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => !except.includes(name) && !isTemporary(name))
    .flatMap((entry) =>
      entry.isDirectory() ? filesIn({ path: join(path, entry.name), except }) : [join(path, entry.name)],
    );
}

/** The entry that a file is of, or would be. */
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

/** Undefined for a folder in place of a file: that can't be put back. */
async function rememberedOf({ rule, memory }: Entry, path: string): Promise<Remembered | undefined> {
  if (rule === "ours alone") return { stamp: stampAt(path) };
  const known = memory?.get(path);
  if (known !== undefined && isUntouched(path, known)) return { snapshot: known };
  const snapshot = await explaining(path, () => snapshotOf(path));
  memory?.set(path, snapshot);
  return snapshot.version.kind === "other" && isFolder(path) ? undefined : { snapshot };
}

/** The time of the last change of an inode can't be set back by a program. */
function stampAt(path: string): string {
  const found = inodeAt(path);
  return found === undefined ? "absent" : `${found.ino}:${found.size}:${found.ctimeMs}`;
}

function isOurs(path: string, { stamp, sha256 }: Remembered): boolean {
  if (stamp !== undefined && stamp === stampAt(path)) return true;
  return sha256 !== undefined && inodeAt(path)?.isFile() === true && sha256 === hashOf(readFileSync(path));
}

const isVersion = (version: Version, other: Version | undefined): boolean =>
  other !== undefined && isSameVersion(version, other);

const hashOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const modeAt = (path: string): number => (inodeAt(path)?.mode ?? 0o644) & 0o7777;

/** Where nothing is kept yet: what was set aside before may be a person's. */
function freeAside(guarded: Guarded, count = 1): string {
  const { folder, iteration } = guarded;
  const wanted = join(setAsideFolder(folder), `${iteration}${count === 1 ? "" : `-${count}`}`);
  return inodeAt(wanted) === undefined ? wanted : freeAside(guarded, count + 1);
}

/**
 * Where what stood at `path` is kept within a folder of what was set aside: as it lies in the project, so that two
 * files of one name are both kept. Git's own folder gets another name: nobody's git shall take it for a repository.
 */
const placeAside = (folder: string, path: string): string =>
  relative(folder, path)
    .split(sep)
    .filter((part) => part !== ".." && part !== hiddenName)
    .map((part) => (part === ".git" ? "git" : part))
    .join(sep);

const replacedText = (folder: string, cleared: readonly string[], { agent }: Who): string =>
  `${agent} replaced ${cleared.map((path) => relative(folder, path)).join(", ")} with something else, which was removed. The previous contents are lost, except what the state file holds.`;

/** Names in a sentence: five, and how many more there are. */
export const listed = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ");
