import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { distantTranscripts, workerNote, workersFolder } from "../engine/lib/layout.js";
import { killLeftovers, ownStarter } from "../engine/process/descendants.js";
import { isSameProcess, startOfProcess } from "../engine/process/process-identity.js";
import { times } from "./keys.js";

/** What a worker writes down of itself, so that the next one can clear up after it. */
interface Note {
  readonly pid: number;
  readonly started?: string;
  /** Home folders may be shared by machines, and a pid says nothing on another one. */
  readonly host: string;
  /** By which its agents are found; see process/descendants.ts. */
  readonly starter: string;
}

/** The folder of one worker. */
export interface WorkerFolder {
  /** A fresh workspace, once there was room for the note again. Throws what the system says, ENOSPC on a full disk. */
  workspace(name: string): string;
  /** Where what an agent prints is kept. */
  transcript(name: string): string;
  /** Removes what an attempt left. */
  remove(workspace: string): void;
  /** Removes all of it. */
  close(): void;
}

/** Transcripts are kept so long, and the folders of other machines that nobody has touched meanwhile. */
const keepMs = 14 * 24 * 3_600_000;
/** A folder without a readable note may be one that is just being made. */
const youngMs = 3_600_000;

/**
 * Makes the folder of this worker, and removes old transcripts once a day. `id`: different for each.
 * Throws what the system says.
 */
export async function openWorkerFolder(stateDir: string, id: string): Promise<WorkerFolder> {
  const folder = join(workersFolder(stateDir), id);
  const transcripts = distantTranscripts(stateDir);
  const started = await startOfProcess(process.pid);
  const note: Note = { pid: process.pid, started, host: hostname(), starter: ownStarter };
  // A reader finds the old note or the new one, never half of one.
  const write = (at: string): void => {
    const next = `${workerNote(at)}.new`;
    writeFileSync(next, JSON.stringify(note));
    renameSync(next, workerNote(at));
  };
  // It gets its name with the note in it.
  const unready = join(workersFolder(stateDir), `.${id}`);
  mkdirSync(unready, { recursive: true, mode: 0o700 });
  mkdirSync(transcripts, { recursive: true, mode: 0o700 });
  write(unready);
  renameSync(unready, folder);
  const tidying = setInterval(() => {
    // Shows other machines that this worker lives.
    try {
      write(folder);
    } catch {
      // A full disk, say.
    }
    clearTranscripts(stateDir, Date.now());
  }, times.tidy).unref();
  return {
    workspace(name) {
      write(folder);
      const path = join(folder, name);
      mkdirSync(path, { mode: 0o700 });
      return path;
    },
    transcript: (name) => join(transcripts, `${name}.jsonl`),
    remove: (workspace) => clear(workspace),
    close() {
      clearInterval(tidying);
      clear(folder);
    },
  };
}

function clear(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // The next worker tries again.
  }
}

/**
 * Ends the agents of workers of this machine that were killed, and removes their workspaces: without a sandbox, which
 * would have ended them too, they would go on for nobody. Answers whether there were any.
 */
export async function clearUp(stateDir: string, now: number): Promise<boolean> {
  let hadAgents = false;
  const all = workersFolder(stateDir);
  for (const name of namesIn(all)) {
    const folder = join(all, name);
    const note = noteIn(folder);
    const untouched = now - lastChange(folder, now);
    if (note === undefined ? untouched < youngMs : await mayLive(note, untouched)) continue;
    if (note !== undefined && (await killLeftovers(note.starter))) hadAgents = true;
    clear(folder);
  }
  clearTranscripts(stateDir, now);
  return hadAgents;
}

const mayLive = async ({ pid, started, host }: Note, untouched: number): Promise<boolean> =>
  host === hostname() ? await isSameProcess(pid, started) : untouched < keepMs;

function clearTranscripts(stateDir: string, now: number): void {
  const transcripts = distantTranscripts(stateDir);
  for (const name of namesIn(transcripts)) {
    const path = join(transcripts, name);
    if (lastChange(path, now) < now - keepMs) clear(path);
  }
}

/** When a file was changed, or something put into a folder; `now` of one that has gone. Milliseconds. */
const lastChange = (path: string, now: number): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function noteIn(folder: string): Note | undefined {
  try {
    const { pid, started, host, starter } = JSON.parse(readFileSync(workerNote(folder), "utf8")) as Partial<Note>;
    const isWhole = typeof pid === "number" && typeof host === "string" && typeof starter === "string";
    return isWhole ? { pid, started, host, starter } : undefined;
  } catch {
    return undefined;
  }
}
