import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { given } from "../engine/lib/given.js";
import { distantTranscripts, workerNote, workersFolder } from "../engine/lib/layout.js";
import { killDescendants, marker, signal } from "../engine/process/descendants.js";
import { isSameProcess, startOfProcess } from "../engine/process/process-identity.js";
import { times } from "./keys.js";

/** A process by what names it for good. */
interface Noted {
  readonly pid: number;
  readonly started?: string | undefined;
}

/** An agent, and the mark that everything it started has in its environment; see process/descendants.ts. */
interface NotedAgent extends Noted {
  readonly mark?: string | undefined;
}

/** What a worker writes down of itself, so that the next one can clear up after it. */
interface Note extends Noted {
  /** Home folders may be shared by machines, and a pid says nothing on another one. */
  readonly host: string;
  readonly agents: readonly NotedAgent[];
}

/** The folder of one worker. */
export interface WorkerFolder {
  /** A fresh workspace, once the note could be written. Throws what the system says, ENOSPC on a full disk. */
  workspace(name: string): string;
  /** Where what an agent prints is kept. */
  transcript(name: string): string;
  /** Notes a process that an agent was started as; call the answer once that has ended. Neither of them throws. */
  started(pid: number, mark: string): () => void;
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
  const me = { pid: process.pid, started: await startOfProcess(process.pid), host: hostname() };
  const agents = new Map<number, NotedAgent>();
  // A reader finds the old note or the new one, never half of one.
  const write = (at: string): void => {
    const note: Note = { ...me, agents: [...agents.values()] };
    const next = `${workerNote(at)}.new`;
    writeFileSync(next, JSON.stringify(note));
    renameSync(next, workerNote(at));
  };
  // Before an agent does anything, and so within the turn in which it is started.
  const note = (): void => {
    try {
      write(folder);
    } catch {
      // A full disk, say. There was room for a note when the attempt began.
    }
  };
  // It gets its name with the note in it.
  const unready = join(workersFolder(stateDir), `.${id}`);
  mkdirSync(unready, { recursive: true, mode: 0o700 });
  mkdirSync(transcripts, { recursive: true, mode: 0o700 });
  write(unready);
  renameSync(unready, folder);
  const tidying = setInterval(() => {
    // Shows other machines that this worker lives.
    note();
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
    started(pid, mark) {
      agents.set(pid, { pid, mark });
      note();
      void startOfProcess(pid).then((started) => {
        if (!agents.has(pid)) return;
        agents.set(pid, { pid, mark, started });
        note();
      });
      return () => {
        agents.delete(pid);
        note();
      };
    },
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
 * would have ended them too, they would go on for nobody. Answers with how many agents there were.
 */
export async function clearUp(stateDir: string, now: number): Promise<number> {
  let ended = 0;
  const all = workersFolder(stateDir);
  for (const name of namesIn(all)) {
    const folder = join(all, name);
    const note = noteIn(folder);
    const untouched = now - lastChange(folder, now);
    if (note === undefined ? untouched < youngMs : await mayLive(note, untouched)) continue;
    for (const agent of note?.agents ?? []) if (await endAgent(agent)) ended += 1;
    clear(folder);
  }
  clearTranscripts(stateDir, now);
  return ended;
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
    const { pid, started, host, agents } = JSON.parse(readFileSync(workerNote(folder), "utf8")) as Partial<Note>;
    if (typeof pid !== "number" || typeof host !== "string") return undefined;
    const right = (agents ?? []).filter((each) => Number.isInteger(each?.pid) && each.pid > 1);
    return {
      pid,
      started,
      host,
      agents: right.map(({ mark, ...agent }) => ({ ...agent, ...given({ mark: aMark(mark) }) })),
    };
  } catch {
    return undefined;
  }
}

/** A part of a mark would be in the environment of strangers too. */
const aMark = (text: unknown): string | undefined =>
  typeof text === "string" && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : undefined;

/**
 * Whether there was one to end: its group, and everything that carries its mark. The process that was started may have
 * ended long before its tools: one that prints ends with its worker, whose pipe it was.
 */
async function endAgent({ pid, started, mark }: NotedAgent): Promise<boolean> {
  // A number that was given to another program since does not have our mark.
  const isThere = process.platform === "linux" ? carries(pid, mark) : await isSameProcess(pid, started);
  if (isThere) signal(-pid, "SIGKILL");
  const hadOthers = mark !== undefined && (await killDescendants(mark));
  return isThere || hadOthers;
}

function carries(pid: number, mark: string | undefined): boolean {
  try {
    return mark !== undefined && readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`${marker}=${mark}`);
  } catch {
    return false;
  }
}
