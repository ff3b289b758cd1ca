import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Where the engine keeps its own files, in a project's folder and in the folder of the program's state. A wing names
 * its files in a layout of its own; nothing else writes such a name.
 */

/** The system's temporary folder: /tmp where TMPDIR names none that is there. */
export const temporaryRoot = (): string => (existsSync(tmpdir()) ? tmpdir() : "/tmp");

/** The folder of what people need not keep, within a project's folder. Git-ignored. */
export const hiddenName = ".ralph";
/** The lock within `.ralph`. */
export const lockName = "lock";
/**
 * The file with one line an iteration, within a project's folder, and within the state folder for work outside of a
 * project.
 */
export const ledgerName = "ledger.jsonl";
/** Files of a person's within a project's folder that keep a run from its next iteration. */
export const pauseName = "PAUSE";
export const stopName = "STOP";

/** The path of something in `.ralph`, given the project's folder. */
export const inHidden =
  (...names: readonly string[]) =>
  (folder: string): string =>
    join(folder, hiddenName, ...names);

export const hiddenFolder = inHidden();
/** The state as it was when it was valid last; `stateName`: the name of the state's file. */
export const lastGoodOf = (folder: string, stateName: string): string =>
  inHidden(stateName.replace(/\.json$/, ".last-good.json"))(folder);
/** Copies of files as they were before a person's command changed them. */
export const backupsFolder = inHidden("backups");
/** Hashes of the output files that this program wrote last. */
export const writtenFile = inHidden("written.json");
/** There while output files are written of which no ledger line tells, until they are committed. Empty. */
export const uncommittedFile = inHidden("uncommitted");
export const lockFile = inHidden(lockName);
/** Results on their way into the state, one file an iteration. */
export const journalFolder = inHidden("journal");
/** Those that have taken effect. */
export const doneFolder = inHidden("journal", "done");
/** What agents left for the next one that shares their unit, one file an iteration. */
export const notedFolder = inHidden("noted");
/** What a person tells the project from another terminal. */
export const inboxName = "inbox";
export const inboxFolder = inHidden(inboxName);
/** What each agent printed, one file an iteration. */
export const transcriptsName = "transcripts";
export const transcriptsFolder = inHidden(transcriptsName);
/** The iterations that a run has begun and not ended. */
export const underWayName = "under-way.json";
export const underWayFile = inHidden(underWayName);
/** What an agent changed that it may not, where it was put back. */
export const setAsideFolder = inHidden("set-aside");

/** Next to a transcript: what that agent was given to read. */
export const briefOf = (transcript: string): string => transcript.replace(/\.jsonl$/, ".brief.md");

export const ledgerFile = (folder: string): string => join(folder, ledgerName);

/** What the user trusts, one file for each folder. */
export const trustFolder = (stateDir: string): string => join(stateDir, "trust");
/**
 * When each host may be asked next, shared by all processes of a user. `stateDir`: the folder of the program's state.
 */
export const hostsFolder = (stateDir: string): string => join(stateDir, "hosts");
/** What is kept of errors that nobody expected, for a bug report. */
export const bugsFolder = (stateDir: string): string => join(stateDir, "bugs");
/** Within a cache of answers: which answer a request had. */
export const answersIn = (cache: string): string => join(cache, "answers");
/** The key that a person's words are signed with. */
export const keyFile = (stateDir: string): string => join(stateDir, "steering-key");
/** Edits that an agent may have made and that wait for a person's yes, a file each. */
export const waitingFolder = (stateDir: string): string => join(stateDir, "waiting");
/** What was saved of a project or task that an agent deleted. */
export const rescuedFolder = (stateDir: string): string => join(stateDir, "rescued");
/** What guards remember of files that agents may not touch. In the folder of the state that no configuration names. */
export const guardsFolder = (stateDir: string): string => join(stateDir, "guards");
/** What the names of folders begin with in which an agent shortens the history. */
export const historianFolders = (stateDir: string): string => join(stateDir, "historian-");
/** Codex's temporary folder, and its last message in classic mode. */
export const codexTemporary = (stateDir: string): string => join(stateDir, "codex-tmp");
export const codexLastMessage = (stateDir: string): string => join(stateDir, "codex-last-message.txt");
/** Codex's home, without the user's own configuration. */
export const codexHome = (stateDir: string): string => join(stateDir, "codex-home");

/** What the workers of this machine have under way: notes of each, and the workspaces of its agents. */
export const workersFolder = (stateDir: string): string => join(stateDir, "fleet");
/** Within the folder of a worker: who it is, and which processes it has started. */
export const workerNote = (folder: string): string => join(folder, "worker.json");
/** What agents printed that ran here for other machines. */
export const distantTranscripts = (stateDir: string): string => join(stateDir, "fleet-transcripts");
/** Random id of a project, by which its runs on several machines know of each other. */
export const projectIdFile = inHidden("fleet-id");

/** A user's settings, memory and conversations, within their home. */
export const userFolder = (home: string): string => join(home, ".local/ralph");
/** The private key that the jobs of this user's runs are signed with. */
export const fleetKeyFile = (home: string): string => join(userFolder(home), "fleet-key.pem");

/** What an agent answers with, within its workspace. */
export const resultName = "result.json";

/**
 * As much of a name as leaves room for what is added to it: file systems allow 255 bytes, which are some 80 letters of
 * Japanese.
 */
export function nameStart(name: string): string {
  let start = "";
  for (const letter of name) {
    if (Buffer.byteLength(start + letter) > 200) break;
    start += letter;
  }
  return start;
}

/** What a person tells agents with; the second one is Claude Code's own. */
export const lessonsName = "AGENTS.md";
export const claudeName = "CLAUDE.md";
/** The MCP servers of a folder, for Claude Code and its kin. */
export const mcpServersName = ".mcp.json";
/** The original's file of what the person's work is for. */
export const missionName = "MISSION.md";
