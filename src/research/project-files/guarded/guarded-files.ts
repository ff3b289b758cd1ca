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
import { many } from "../../../engine/lib/words.js";
import type { Snapshot, Version } from "../../../engine/storage/guard/file-snapshot.js";
import {
  type Change,
  type GuardEntry,
  type Guard,
  type GuardSettings,
  type Decision,
  listed,
} from "../../../engine/storage/guard/guard.js";
import { openRecordedGuard } from "../../../engine/storage/guard/guard-record.js";
import {
  type Edit,
  forgetApproved,
  heldEdits,
  holdAddedLines,
  realFile,
  waitingEdit,
} from "../../../engine/storage/guard/held-edits.js";
import { isHeld } from "../../../engine/storage/lock.js";
import { isOurMessage } from "../../../engine/storage/state/steering-inbox.js";
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
import { placesOfSkill } from "../../../engine/config/skill-files.js";
import { onlyToolsAdded } from "../logs/query-log.js";
import { formatRrd, parseRrd } from "../rrd-file.js";
import { isSignedState } from "./signed-state.js";
import { type Steered, keepSteering } from "../steering-fields.js";

/**
 * What an agent may not touch that nothing confines, as a list for the guard. Its changes can't be told from a
 * person's: see docs/decisions/in-your-name.md. In rrd.json what steers is kept and what forges results is put back;
 * lines added to the log and instructions to agents wait for a person's yes; every other file is as it was.
 */
export interface GuardedProject {
  readonly folder: string;
  /** Where AGENTS.md and prompt.md lie. */
  readonly root: string;
  /** The files that configure the project and the user: hooks in them run as the user. */
  readonly configs: readonly string[];
  /** The folder of the program's state, outside of the user's tree. */
  readonly stateDir: string;
  /** The agent works on the project's files itself: of these only what a person has told the project is guarded. */
  readonly classic?: boolean;
}

/** Versions of other projects' files; kept over the iterations of a run. */
export type FileMemory = Map<string, Snapshot>;

/** Remembers a project's files before an agent starts that nothing confines. `kept`: where that is kept on the disk. */
export async function guardProject(
  project: GuardedProject,
  kept: string,
  iteration: number,
  memory: FileMemory,
): Promise<Guard> {
  const { folder, root, stateDir, classic = false } = project;
  await forgetApproved([...instructionFiles(root), progressFile(folder)], stateDir);
  const entries = [...projectEntries(project), ...(classic ? [] : await otherProjects(project, memory))];
  const settings: GuardSettings = {
    folder,
    iteration,
    places: classic ? [] : places(folder),
    rescue: rescuedFolder(stateDir),
  };
  return await openRecordedGuard(kept, { of: "research", ...project }, settings, entries);
}

/** Folders that files are moved out of or put into. */
const places = (folder: string): string[] => [
  ...[
    journalFolder,
    doneFolder,
    inboxFolder,
    notedFolder,
    textsFolder,
    transcriptsFolder,
    aboutFolder,
    backupsFolder,
  ].map((at) => at(folder)),
  ...[answersFolder, documentsFolder].flatMap((at) => [at(folder), answersIn(at(folder))]),
];

/** The entries of one project. */
export function projectEntries({ folder, root, configs, stateDir, classic = false }: GuardedProject): GuardEntry[] {
  if (classic) return [inboxOf(folder, stateDir), signalsOf(folder, "")];
  const held = { stateDir, folder };
  return [
    ...heldEdits(instructionFiles(root), [progressFile(folder)], held),
    {
      rule: "restore",
      files: [
        ...committedFiles.names.map((name) => join(folder, name)),
        ...[lastGoodFile(folder), candidatesFile(folder), updatesFile(folder), ...configs],
      ],
      async decide(change) {
        const { path } = change;
        if (path === queriesFile(folder)) return isToolsLog(change) ? {} : undefined;
        if (path === progressFile(folder)) return await holdAddedLines(path, change, held);
        return path === rrdFile(folder) ? steeringIn(change, lastGoodFile(folder)) : undefined;
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
          `${listed(names)} changed while ${during}, and ${names.length === 1 ? "was" : "were"} restored${where}.`,
        ];
      },
    },
    {
      rule: "set aside",
      folders: [{ path: journalFolder(folder) }],
      describe(found, { agent }, aside) {
        const foreign = found.filter(({ kind }) => kind !== "deleted").map(({ path }) => basename(path));
        const gone = found.length - foreign.length;
        return [
          ...(foreign.length > 0
            ? [`${agent} wrote to the journal (${listed(foreign)}); that is set aside in ${aside} and not used.`]
            : []),
          ...(gone > 0
            ? [
                `${agent} deleted ${gone} entries of the journal; the results are in rrd.json, but a reset can't go back to those iterations.`,
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
      // The answers themselves stand under their hash, and are checked against it.
      rule: "restore",
      folders: [answersFolder(folder), documentsFolder(folder)].map((cache) => ({ path: answersIn(cache) })),
      describe: ({ length }, { agent }) =>
        length === 0 ? [] : [`${agent} changed stored answers of sources in .ralph (${length}); they were restored.`],
    },
    inboxOf(folder, stateDir),
    signalsOf(folder, ""),
  ];
}

/** Its tools note what they ask there. Nothing is rebuilt from such lines, so a forged one does no harm. */
const isToolsLog = ({ before, now }: Change): boolean =>
  now.kind === "file" &&
  (before.kind === "file" || before.kind === "absent") &&
  onlyToolsAdded(before.kind === "file" ? before.bytes : Buffer.alloc(0), now.bytes);

/** What of an edit of rrd.json stays. */
function steeringIn({ before, now, suspect, rememberedVersion }: Change, lastGood: string): Decision | undefined {
  const steered = steering(before, now);
  // Where an editor was just saving it, half of it was remembered; the last good version is what the loop had read.
  if (steered === undefined) return isJson(before) ? undefined : { replacement: rememberedVersion(lastGood) ?? before };
  const sentences = [
    ...(steered.kept.length > 0
      ? [
          `rrd.json was edited (${listed(steered.kept)}) while ${suspect.during}. The edit is kept as yours; check it if you did not make it.`,
        ]
      : []),
    ...(steered.refused.length > 0
      ? [
          `Settings that only you may change were changed in rrd.json (${listed(steered.refused)}) while ${suspect.during}. They were restored; if the change was yours, make it again while no agent runs.`,
        ]
      : []),
  ];
  if (!steered.forged || before.kind !== "file") return { sentences };
  return { sentences, replacement: { ...before, bytes: Buffer.from(formatRrd(steered.rrd)) } };
}

/** Undefined where either version is not a valid state. */
function steering(before: Version, now: Version): Steered | undefined {
  const [old, edit] = [before, now].map((version) =>
    version.kind === "file" ? parseRrd(version.bytes.toString("utf8"), rrdName).ok : undefined,
  );
  return old === undefined || edit === undefined ? undefined : keepSteering(old, edit);
}

function isJson(version: Version): boolean {
  try {
    return version.kind === "file" && JSON.parse(version.bytes.toString("utf8")) !== undefined;
  } catch {
    return false;
  }
}

/**
 * What a person has told the project. A message that appeared meanwhile counts where one of our commands signed it; any
 * other is set aside, and those that were there before come back. Messages must not be taken out of the inbox while the
 * agent runs. `isOther`: of a project next to it, where a run takes them out.
 */
const inboxOf = (folder: string, stateDir: string, isOther = false): GuardEntry => ({
  rule: "restore",
  folders: [{ path: inboxFolder(folder) }],
  async decide({ path, before, now }) {
    if (before.kind !== "absent") return isOther ? {} : undefined;
    const isOurs =
      now.kind === "file" && (await isOurMessage(folder, basename(path), now.bytes.toString("utf8"), stateDir));
    return isOurs ? {} : undefined;
  },
  describe(found, { agent, during }, aside) {
    const planted = found.filter(({ kind }) => kind === "new").length;
    const lost = found.length - planted;
    return [
      ...(planted > 0
        ? [
            `${many(planted, "message")} appeared in ${isOther ? inboxFolder(folder) : ".ralph/inbox"} while ${during}, without the signature of 'research-ralph steer'; moved to ${aside}, so no agent receives it. Send it again if it was yours.`,
          ]
        : []),
      ...(lost > 0 ? [`${agent} deleted or changed ${many(lost, "message")} that you had left; they are back.`] : []),
    ];
  },
});

/** PAUSE and STOP do no harm, so they are obeyed, and told. */
const signalsOf = (folder: string, where: string): GuardEntry => ({
  rule: "restore",
  files: [pauseName, stopName].map((name) => join(folder, name)),
  decide: async ({ path, before, suspect }) => ({
    sentences:
      before.kind === "absent"
        ? [
            `${where}${basename(path)} appeared while ${suspect.during}; it takes effect. If it was not yours, 'research-ralph stop --undo' removes it.`,
          ]
        : [],
  }),
});

/** Bytes of other projects' files that are remembered. */
const maxBytes = 64 * 1024 * 1024;

/**
 * The committed files of the projects next to this one that no run is at work on: those change by themselves. What one
 * of our runs or commands has left stays.
 */
async function otherProjects({ folder, stateDir }: GuardedProject, memory: FileMemory): Promise<GuardEntry[]> {
  const entries: GuardEntry[] = [];
  let bytes = 0;
  for (const name of namesIn(dirname(folder))) {
    const other = join(dirname(folder), name);
    if (other === folder || !isProject(other)) continue;
    const apart = { inMemory: true } as const;
    entries.push({ ...inboxOf(other, stateDir, true), ...apart }, { ...signalsOf(other, `${other}: `), ...apart });
    if (await isHeld(lockFile(other))) continue;
    const paths = committedFiles.names.map((each) => join(other, each));
    const files = paths.filter((path) => (bytes += statOf(path)?.size ?? 0) <= maxBytes);
    const isNow = new Set<string>();
    entries.push({
      rule: "restore",
      files,
      memory,
      ...apart,
      async decide({ suspect }) {
        // A person may have worked there meanwhile.
        if (await isSignedState(other, stateDir)) return {};
        if (!(await isHeld(lockFile(other)))) return undefined;
        const isNews = isNow.size === 0;
        isNow.add(other);
        return {
          sentences: isNews
            ? [
                `${other} changed while ${suspect.during}, and a process is at work there; check it if that is not yours.`,
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

function namesIn(place: string): string[] {
  try {
    return readdirSync(place);
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

/** A folder, not a link to one: what lies elsewhere is not next to this project. */
const isProject = (path: string): boolean =>
  statOf(path)?.isDirectory() === true && statOf(rrdFile(path)) !== undefined;

/** The files next to the projects that instruct agents. */
export const instructionFiles = (root: string): string[] =>
  [lessonsName, claudeName, promptName, missionName, ...placesOfSkill("rrd")].map((name) => join(root, name));

/** The edits that wait for a yes: of the files next to the projects, and of the project's log. */
export async function waitingEdits(folder: string, root: string, stateDir: string): Promise<Edit[]> {
  const files = [...instructionFiles(root), progressFile(folder)];
  const edits = await Promise.all([...new Set(files.map(realFile))].map((path) => waitingEdit(stateDir, path)));
  return edits.filter((edit) => edit !== undefined);
}
