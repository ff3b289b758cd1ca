import { lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  answersIn,
  backupsFolder,
  claudeName,
  missionName,
  doneFolder,
  inboxFolder,
  journalFolder,
  lessonsName,
  lockFile,
  notedFolder,
  pauseName,
  rescuedFolder,
  stopName,
  transcriptsFolder,
} from "../../../engine/lib/layout.js";
import { shellWord } from "../../../engine/lib/sanitise.js";
import { joinedNames, quantity } from "../../../engine/lib/words.js";
import type { Snapshot, Version } from "../../../engine/storage/guard/file-snapshot.js";
import type { Change, GuardEntry, Guard, GuardSettings, Decision } from "../../../engine/storage/guard/guard.js";
import { openRecordedGuard } from "../../../engine/storage/guard/guard-record.js";
import {
  type Edit,
  forgetApproved,
  heldEditEntries,
  holdAddedLines,
  realFile,
  waitingEdit,
} from "../../../engine/storage/guard/held-edits.js";
import { isHeld } from "../../../engine/storage/lock.js";
import { isFromThisProgram } from "../../../engine/storage/state/steering-inbox.js";
import {
  aboutFolder,
  answersFolder,
  candidatesFile,
  committedFiles,
  documentsFolder,
  lastGoodFile,
  progressFile,
  promptName,
  queriesFile,
  rrdFile,
  rrdName,
  textsFolder,
  updatesFile,
} from "../layout.js";
import { skillFilePaths } from "../../../engine/config/skill-files.js";
import { hasOnlyToolsAdded } from "../logs/query-log.js";
import { formatRrd, parseRrd } from "../rrd-file.js";
import { isSignedState } from "./signed-state.js";
import { type CheckedEdit, keepSteering } from "../steering-fields.js";

/**
 * A project whose files are guarded while an unconfined agent runs. Changes of the agent can't be distinguished from
 * the user's: see docs/decisions/in-your-name.md. In rrd.json, edits that steer are kept and results are restored.
 * Lines added to the log and instructions to agents wait for the user's approval. All other files are restored.
 */
export interface GuardedProject {
  readonly folder: string;
  /** The folder with AGENTS.md and prompt.md. */
  readonly root: string;
  /** The files that configure the project and the user: hooks in them run as the user. */
  readonly configs: readonly string[];
  /** The folder of the program's state, outside of the user's files. */
  readonly stateDir: string;
  /** Classic mode: the agent edits the project's files itself, so only the user's messages are guarded. */
  readonly classic?: boolean;
}

/** The versions of other projects' files, for all iterations of a run. */
export type FileMemory = Map<string, Snapshot>;

/** Saves a project's files before an unconfined agent starts. `recordFolder`: the folder for the saved versions. */
export async function guardProject(
  project: GuardedProject,
  recordFolder: string,
  iteration: number,
  memory: FileMemory,
): Promise<Guard> {
  const { folder, root, stateDir, classic = false } = project;
  await forgetApproved([...instructionFiles(root), progressFile(folder)], stateDir);
  const entries = [...projectEntries(project), ...(classic ? [] : await otherProjects(project, memory))];
  const settings: GuardSettings = {
    folder,
    iteration,
    places: classic ? [] : movableFolders(folder),
    rescue: rescuedFolder(stateDir),
  };
  return await openRecordedGuard(recordFolder, { of: "research", ...project }, settings, entries);
}

/** Folders from which files are moved or into which files are restored. */
const movableFolders = (folder: string): string[] => [
  ...[
    journalFolder,
    doneFolder,
    inboxFolder,
    notedFolder,
    textsFolder,
    transcriptsFolder,
    aboutFolder,
    backupsFolder,
  ].map((folderIn) => folderIn(folder)),
  ...[answersFolder, documentsFolder].flatMap((folderIn) => [folderIn(folder), answersIn(folderIn(folder))]),
];

/** The entries of one project. */
export function projectEntries({ folder, root, configs, stateDir, classic = false }: GuardedProject): GuardEntry[] {
  if (classic) return [inboxOf(folder, stateDir), signalsOf(folder, "")];
  const holdContext = { stateDir, folder };
  return [
    ...heldEditEntries(instructionFiles(root), [progressFile(folder)], holdContext),
    {
      rule: "restore",
      files: [
        ...committedFiles.names.map((name) => join(folder, name)),
        ...[lastGoodFile(folder), candidatesFile(folder), updatesFile(folder), ...configs],
      ],
      async decide(change) {
        const { path } = change;
        if (path === queriesFile(folder)) return hasOnlyToolLines(change) ? {} : undefined;
        if (path === progressFile(folder)) return await holdAddedLines(path, change, holdContext);
        return path === rrdFile(folder) ? decideOnState(change, lastGoodFile(folder)) : undefined;
      },
      describe(found, { during }, aside) {
        if (found.length === 0) return [];
        const names = found.map(({ path }) =>
          path === lastGoodFile(folder) ? "the copy of the last good version" : basename(path),
        );
        const where = found.some(({ isSetAside }) => isSetAside)
          ? `; the changed ones are in ${aside}: if a change was yours, copy it back while no agent runs`
          : "";
        return [
          `${joinedNames(names)} changed while ${during}, and ${names.length === 1 ? "was" : "were"} restored${where}.`,
        ];
      },
    },
    {
      rule: "set aside",
      folders: [{ path: journalFolder(folder) }],
      describe(found, { agent }, aside) {
        const added = found.filter(({ kind }) => kind !== "deleted").map(({ path }) => basename(path));
        const deletedCount = found.length - added.length;
        return [
          ...(added.length > 0
            ? [`${agent} wrote to the journal (${joinedNames(added)}); that is set aside in ${aside} and not used.`]
            : []),
          ...(deletedCount > 0
            ? [
                `${agent} deleted ${deletedCount} entries of the journal; the results are in rrd.json, but a reset can't go back to those iterations.`,
              ]
            : []),
        ];
      },
    },
    {
      rule: "set aside",
      folders: [{ path: textsFolder(folder) }],
      describe(found, { agent }) {
        const { length } = found.filter(({ kind }) => kind !== "deleted");
        return length === 0
          ? []
          : [`${agent} changed ${length} of the papers' texts stored in .ralph; they will be fetched again.`];
      },
    },
    {
      // The documents have their hashes as names, and are checked against them.
      rule: "restore",
      folders: [answersFolder(folder), documentsFolder(folder)].map((cache) => ({ path: answersIn(cache) })),
      describe: ({ length }, { agent }) =>
        length === 0 ? [] : [`${agent} changed stored answers of sources in .ralph (${length}); they were restored.`],
    },
    inboxOf(folder, stateDir),
    signalsOf(folder, ""),
  ];
}

/** Whether only lines of tools were added, which may log their requests during the run. A forged line does no harm. */
const hasOnlyToolLines = ({ before, current: currentVersion }: Change): boolean =>
  currentVersion.kind === "file" &&
  (before.kind === "file" || before.kind === "absent") &&
  hasOnlyToolsAdded(before.kind === "file" ? before.bytes : Buffer.alloc(0), currentVersion.bytes);

/** Decides which parts of an edit of rrd.json stay. */
function decideOnState(
  { before, current: currentVersion, suspect, rememberedVersion }: Change,
  lastGood: string,
): Decision | undefined {
  const checkedEdit = checkEdit(before, currentVersion);
  // If an editor was saving the file just then, the saved version is incomplete. The last good version replaces it.
  if (checkedEdit === undefined)
    return isJson(before) ? undefined : { replacement: rememberedVersion(lastGood) ?? before };
  const sentences = [
    ...(checkedEdit.keptEdits.length > 0
      ? [
          `rrd.json was edited (${joinedNames(checkedEdit.keptEdits)}) while ${suspect.during}. The edit is kept as yours; check it if you did not make it.`,
        ]
      : []),
    ...(checkedEdit.restoredSettings.length > 0
      ? [
          `Settings that only you may change were changed in rrd.json (${joinedNames(checkedEdit.restoredSettings)}) while ${suspect.during}. They were restored; if the change was yours, make it again while no agent runs.`,
        ]
      : []),
  ];
  if (!checkedEdit.hasRestoredFields || before.kind !== "file") return { sentences };
  return { sentences, replacement: { ...before, bytes: Buffer.from(formatRrd(checkedEdit.rrd)) } };
}

/** The checked edit; undefined if one of the versions is not a valid state. */
function checkEdit(before: Version, current: Version): CheckedEdit | undefined {
  const [earlierState, edit] = [before, current].map((version) =>
    version.kind === "file" ? parseRrd(version.bytes.toString("utf8"), rrdName).ok : undefined,
  );
  return earlierState === undefined || edit === undefined ? undefined : keepSteering(earlierState, edit);
}

function isJson(version: Version): boolean {
  try {
    return version.kind === "file" && JSON.parse(version.bytes.toString("utf8")) !== undefined;
  } catch {
    return false;
  }
}

/**
 * The inbox with the user's messages. A new message stays only if a command of this program signed it; others are set
 * aside. Deleted or changed messages are restored, so no message may be removed while the agent runs. `isOther`: the
 * inbox of a neighbouring project, whose own run may remove messages.
 */
const inboxOf = (folder: string, stateDir: string, isOther = false): GuardEntry => ({
  rule: "restore",
  folders: [{ path: inboxFolder(folder) }],
  async decide({ path, before, current }) {
    if (before.kind !== "absent") return isOther ? {} : undefined;
    const isSignedMessage =
      current.kind === "file" &&
      (await isFromThisProgram(folder, basename(path), current.bytes.toString("utf8"), stateDir));
    return isSignedMessage ? {} : undefined;
  },
  describe(found, { agent, during }, aside) {
    const addedCount = found.filter(({ kind }) => kind === "new").length;
    const lostCount = found.length - addedCount;
    return [
      ...(addedCount > 0
        ? [
            `${quantity(addedCount, "message")} appeared in ${isOther ? inboxFolder(folder) : ".ralph/inbox"} while ${during}, without the signature of 'research-ralph steer'; moved to ${aside}, so no agent receives it. Send it again if it was yours.`,
          ]
        : []),
      ...(lostCount > 0
        ? [`${agent} deleted or changed ${quantity(lostCount, "message")} that you had left; they are back.`]
        : []),
    ];
  },
});

/** PAUSE and STOP do no harm, so they stay and are reported. */
const signalsOf = (folder: string, where: string): GuardEntry => ({
  rule: "restore",
  files: [pauseName, stopName].map((name) => join(folder, name)),
  decide: async ({ path, before, suspect }) => ({
    sentences:
      before.kind === "absent"
        ? [
            `${where}${basename(path)} appeared while ${suspect.during}; it takes effect. If it was not yours, 'research-ralph stop --undo ${shellWord(folder)}' removes it.`,
          ]
        : [],
  }),
});

/** Maximum size of other projects' files that are saved. */
const maxMemoryBytes = 64 * 1024 * 1024;

/**
 * The committed files of neighbouring projects without an active run, which would change them. Files that a run or
 * command of this program has signed stay.
 */
async function otherProjects({ folder, stateDir }: GuardedProject, memory: FileMemory): Promise<GuardEntry[]> {
  const entries: GuardEntry[] = [];
  let bytes = 0;
  for (const name of fileNamesIn(dirname(folder))) {
    const otherFolder = join(dirname(folder), name);
    if (otherFolder === folder || !isProject(otherFolder)) continue;
    const memoryOnly = { inMemory: true } as const;
    entries.push(
      { ...inboxOf(otherFolder, stateDir, true), ...memoryOnly },
      { ...signalsOf(otherFolder, `${otherFolder}: `), ...memoryOnly },
    );
    if (await isHeld(lockFile(otherFolder))) continue;
    const paths = committedFiles.names.map((fileName) => join(otherFolder, fileName));
    const files = paths.filter((path) => (bytes += statOf(path)?.size ?? 0) <= maxMemoryBytes);
    const reportedFolders = new Set<string>();
    entries.push({
      rule: "restore",
      files,
      memory,
      ...memoryOnly,
      async decide({ suspect }) {
        // The user may have worked on that project meanwhile.
        if (await isSignedState(otherFolder, stateDir)) return {};
        if (!(await isHeld(lockFile(otherFolder)))) return undefined;
        const isFirst = reportedFolders.size === 0;
        reportedFolders.add(otherFolder);
        return {
          sentences: isFirst
            ? [
                `${otherFolder} changed while ${suspect.during}, and a process is at work there; check it if that is not yours.`,
              ]
            : [],
        };
      },
      describe: (found, { during }, aside) =>
        found.map(
          ({ path, isSetAside }) =>
            `${path} changed while ${during}, and no run works on that project; it was restored${isSetAside ? `, and the changed one is in ${join(aside, name)}` : ""}.`,
        ),
    });
  }
  return entries;
}

function fileNamesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const statOf = (path: string) => {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

/** Whether a path is the folder of a project, and not a link to one. */
const isProject = (path: string): boolean =>
  statOf(path)?.isDirectory() === true && statOf(rrdFile(path)) !== undefined;

/** The files with instructions to agents, next to the folder of the projects. */
const instructionFiles = (root: string): string[] =>
  [lessonsName, claudeName, promptName, missionName, ...skillFilePaths("rrd")].map((name) => join(root, name));

/** Edits that wait for the user's approval: of instruction files and of the project's log. */
export async function waitingEdits(folder: string, root: string, stateDir: string): Promise<Edit[]> {
  const files = [...instructionFiles(root), progressFile(folder)];
  const edits = await Promise.all([...new Set(files.map(realFile))].map((path) => waitingEdit(stateDir, path)));
  return edits.filter((edit) => edit !== undefined);
}
