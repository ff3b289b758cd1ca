import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { distantTranscripts, workerNote, workersFolder } from "../lib/layout.js";
import { killDescendants, marker, signal } from "../process/descendants.js";
import { isSameProcess, startOfProcess } from "../process/process-identity.js";

/** A process by what names it for good. */
interface Noted {
  readonly pid: number;
  readonly started?: string | undefined;
}

/** What a worker writes down of itself, so that the next one can clear up after it. */
interface Note extends Noted {
  readonly agents: readonly Noted[];
}

/** The folder of one worker. */
export interface WorkerFolder {
  /** A fresh workspace. Throws what the system says, ENOSPC on a full disk. */
  workspace(name: string): string;
  /** Where what an agent prints is kept. */
  transcript(name: string): string;
  /** Notes a process that an agent was started as; call the answer once that has ended. */
  started(pid: number): () => void;
  /** Removes what an attempt left. */
  remove(workspace: string): void;
  /** Removes all of it. */
  close(): void;
}

/** Transcripts are kept so long. */
const keepMs = 14 * 24 * 3_600_000;

/** Makes the folder of this worker. `id`: different for each. */
export async function openWorkerFolder(stateDir: string, id: string): Promise<WorkerFolder> {
  const folder = join(workersFolder(stateDir), id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const me: Noted = { pid: process.pid, started: await startOfProcess(process.pid) };
  const agents = new Map<number, Noted>();
  // Before an agent does anything, and so within the turn in which it is started.
  const write = (): void => {
    const note: Note = { ...me, agents: [...agents.values()] };
    writeFileSync(workerNote(folder), JSON.stringify(note));
  };
  write();
  return {
    workspace(name) {
      const path = join(folder, name);
      mkdirSync(path, { mode: 0o700 });
      return path;
    },
    transcript(name) {
      const all = distantTranscripts(stateDir);
      mkdirSync(all, { recursive: true, mode: 0o700 });
      return join(all, `${name}.jsonl`);
    },
    started(pid) {
      agents.set(pid, { pid });
      write();
      void startOfProcess(pid).then((started) => {
        if (!agents.has(pid)) return;
        agents.set(pid, { pid, started });
        write();
      });
      return () => {
        agents.delete(pid);
        write();
      };
    },
    remove: (workspace) => clear(workspace),
    close: () => clear(folder),
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
    if (note !== undefined && (await isSameProcess(note.pid, note.started))) continue;
    for (const agent of note?.agents ?? []) if (await endAgent(agent)) ended += 1;
    clear(folder);
  }
  const transcripts = distantTranscripts(stateDir);
  for (const name of namesIn(transcripts)) {
    const path = join(transcripts, name);
    if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) < now - keepMs) clear(path);
  }
  return ended;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function noteIn(folder: string): Note | undefined {
  try {
    const { pid, started, agents } = JSON.parse(readFileSync(workerNote(folder), "utf8")) as Partial<Note>;
    if (typeof pid !== "number") return undefined;
    const right = (agents ?? []).filter((each) => Number.isInteger(each?.pid) && each.pid > 1);
    return { pid, started, agents: right };
  } catch {
    return undefined;
  }
}

/** Whether there was one to end: its group, and what left the group and still carries our mark. */
async function endAgent({ pid, started }: Noted): Promise<boolean> {
  if (!(await isSameProcess(pid, started))) return false;
  const mark = markOf(pid);
  // A number that was given to another program since has no mark of ours.
  if (mark === undefined && process.platform === "linux") return false;
  signal(-pid, "SIGKILL");
  if (mark !== undefined) await killDescendants(mark);
  return true;
}

/** The mark that everything an agent started has in its environment; see process/descendants.ts. */
function markOf(pid: number): string | undefined {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    return entries.find((each) => each.startsWith(`${marker}=`))?.slice(marker.length + 1);
  } catch {
    return undefined;
  }
}
