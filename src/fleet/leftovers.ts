import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { distantTranscripts, workerNote, workersFolder } from "../engine/lib/layout.js";
import { killLeftovers, ownMarkPrefix } from "../engine/process/descendants.js";
import { isSameProcess, startTimeOf } from "../engine/process/process-identity.js";
import { entriesIn } from "../engine/storage/regular-file.js";
import { times } from "./keys.js";

/** The note of a worker. If the worker is killed, the next worker uses it to remove agents and folders. */
interface WorkerNote {
  readonly pid: number;
  readonly started?: string;
  /** The machine of the process: machines may share a home folder. */
  readonly host: string;
  /** The mark in the environment of the worker's agents; see process/descendants.ts. */
  readonly starter: string;
}

/** The folder of one worker. */
export interface WorkerFolder {
  /**
   * Writes the note again and creates a workspace. Throws system errors, such as ENOSPC if the disk is full.
   */
  workspace(name: string): string;
  /** The path of the file for an agent's output. */
  transcript(name: string): string;
  /** Removes the workspace of an attempt. */
  remove(workspace: string): void;
  /** Removes the worker's folder. */
  close(): void;
}

/** Age at which transcripts, and untouched folders of other machines, are removed. */
const maxAgeMs = 14 * 24 * 3_600_000;
/** A folder without a readable note may be new, so it is removed only after this time. */
const maxAgeWithoutNoteMs = 3_600_000;

/**
 * Creates the folder of this worker, and removes old transcripts once a day. `id`: different for each worker. Throws
 * system errors.
 */
export async function openWorkerFolder(stateDir: string, id: string): Promise<WorkerFolder> {
  const folder = join(workersFolder(stateDir), id);
  const transcripts = distantTranscripts(stateDir);
  const started = await startTimeOf(process.pid);
  const note: WorkerNote = { pid: process.pid, started, host: hostname(), starter: ownMarkPrefix };
  // The note is renamed into place, so a reader always finds a complete one.
  const writeNote = (folderPath: string): void => {
    const newPath = `${workerNote(folderPath)}.new`;
    writeFileSync(newPath, JSON.stringify(note));
    renameSync(newPath, workerNote(folderPath));
  };
  // The folder gets its final name when it contains the note.
  const newFolder = join(workersFolder(stateDir), `.${id}`);
  mkdirSync(newFolder, { recursive: true, mode: 0o700 });
  mkdirSync(transcripts, { recursive: true, mode: 0o700 });
  writeNote(newFolder);
  renameSync(newFolder, folder);
  const tidyTimer = setInterval(() => {
    // The new time of the note shows other machines that this worker is alive.
    try {
      writeNote(folder);
    } catch {
      // For example, the disk is full.
    }
    clearTranscripts(stateDir, Date.now());
  }, times.cleanupInterval).unref();
  return {
    workspace(name) {
      writeNote(folder);
      const path = join(folder, name);
      mkdirSync(path, { mode: 0o700 });
      return path;
    },
    transcript: (name) => join(transcripts, `${name}.jsonl`),
    remove: (workspace) => removeIfPossible(workspace),
    close() {
      clearInterval(tidyTimer);
      removeIfPossible(folder);
    },
  };
}

function removeIfPossible(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // The next worker tries again.
  }
}

/**
 * Ends the agents of killed workers of this machine and removes their workspaces. Without a sandbox, such agents would
 * continue without use. Resolves with true if there were any.
 */
export async function removeDeadWorkers(stateDir: string, now: number): Promise<boolean> {
  let hasEndedAgents = false;
  const parentFolder = workersFolder(stateDir);
  for (const { name } of entriesIn(parentFolder)) {
    const folder = join(parentFolder, name);
    const note = readNote(folder);
    const ageMs = now - lastChange(folder, now);
    if (note === undefined ? ageMs < maxAgeWithoutNoteMs : await mayBeAlive(note, ageMs)) continue;
    if (note !== undefined && (await killLeftovers(note.starter))) hasEndedAgents = true;
    removeIfPossible(folder);
  }
  clearTranscripts(stateDir, now);
  return hasEndedAgents;
}

const mayBeAlive = async ({ pid, started, host }: WorkerNote, ageMs: number): Promise<boolean> =>
  host === hostname() ? await isSameProcess(pid, started) : ageMs < maxAgeMs;

function clearTranscripts(stateDir: string, now: number): void {
  const transcripts = distantTranscripts(stateDir);
  for (const { name } of entriesIn(transcripts)) {
    const path = join(transcripts, name);
    if (lastChange(path, now) < now - maxAgeMs) removeIfPossible(path);
  }
}

/** The time of the last change of a file or folder in milliseconds; `now` if it does not exist. */
const lastChange = (path: string, now: number): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;

function readNote(folder: string): WorkerNote | undefined {
  try {
    const { pid, started, host, starter } = JSON.parse(readFileSync(workerNote(folder), "utf8")) as Partial<WorkerNote>;
    const isComplete = typeof pid === "number" && typeof host === "string" && typeof starter === "string";
    return isComplete ? { pid, started, host, starter } : undefined;
  } catch {
    return undefined;
  }
}
