import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The names of the engine's files, in a project's folder and in the folder of the program's state (`stateDir`). Other
 * files of research, tasks and teams have their own layout.ts. No other code contains these names.
 */

/** The system's temporary folder; /tmp if the folder in TMPDIR does not exist. */
export const temporaryRoot = (): string => (existsSync(tmpdir()) ? tmpdir() : "/tmp");

/** The folder, in a project's folder, for files that the user need not keep. Git ignores it. */
export const hiddenName = ".ralph";
/** The lock file in `.ralph`. */
export const lockName = "lock";
/**
 * The ledger: a file with one line per iteration, in the project's folder; for work outside of a project, in the state
 * folder.
 */
export const ledgerName = "ledger.jsonl";
/** Files that the user creates in a project's folder to stop a run before its next iteration. */
export const pauseName = "PAUSE";
export const stopName = "STOP";

/** Makes a function that returns the path of a file in `.ralph` of a project's folder. */
export const inHidden =
  (...names: readonly string[]) =>
  (folder: string): string =>
    join(folder, hiddenName, ...names);

export const hiddenFolder = inHidden();
/** The copy of the last valid state; `stateName`: the name of the state file. */
export const lastGoodOf = (folder: string, stateName: string): string =>
  inHidden(stateName.replace(/\.json$/, ".last-good.json"))(folder);
/** Copies of files, made before a command of the user changed them. */
export const backupsFolder = inHidden("backups");
/** The hash of each output file when it was last written. */
export const writtenFile = inHidden("written.json");
/** Empty marker file: it exists while output files are written without a ledger line, until they are committed. */
export const uncommittedFile = inHidden("uncommitted");
export const lockFile = inHidden(lockName);
/** The journal: results that are being written into the state, one file per iteration. */
export const journalFolder = inHidden("journal");
/** The journal entries that have taken effect. */
export const doneFolder = inHidden("journal", "done");
/** Notes of agents for the next agent of the same unit, one file per iteration. */
export const notedFolder = inHidden("noted");
/** Messages that the user sends to the project from another terminal. */
export const inboxName = "inbox";
export const inboxFolder = inHidden(inboxName);
/** The output of each agent, one file per iteration. */
export const transcriptsName = "transcripts";
export const transcriptsFolder = inHidden(transcriptsName);
/** The iterations that are under way. */
export const underWayName = "under-way.json";
export const underWayFile = inHidden(underWayName);
/** The agent's versions of protected files, which were restored. */
export const setAsideFolder = inHidden("set-aside");

/** The path of the brief that belongs to a transcript. */
export const briefOf = (transcript: string): string => transcript.replace(/\.jsonl$/, ".brief.md");

export const ledgerFile = (folder: string): string => join(folder, ledgerName);

/** The user's trust decisions, one file for each folder. */
export const trustFolder = (stateDir: string): string => join(stateDir, "trust");
/** The time of the next allowed request for each host, shared by all processes of a user. */
export const hostsFolder = (stateDir: string): string => join(stateDir, "hosts");
/** Details of unexpected errors for bug reports. */
export const bugsFolder = (stateDir: string): string => join(stateDir, "bugs");
/** The folder, in a cache, with the answer to each request. */
export const answersIn = (cache: string): string => join(cache, "answers");
/** The key that signs the user's messages and approvals. */
export const keyFile = (stateDir: string): string => join(stateDir, "steering-key");
/** Edits that an agent may have made and that wait for the user's approval, one file each. */
export const waitingFolder = (stateDir: string): string => join(stateDir, "waiting");
/** Files saved from a project or task that an agent deleted. */
export const rescuedFolder = (stateDir: string): string => join(stateDir, "rescued");
/**
 * Records of the files that agents may not change. Always in the default state folder, even if another is configured.
 */
export const guardsFolder = (stateDir: string): string => join(stateDir, "guards");
/** The beginning of the paths of temporary folders in which an agent summarises the history. */
export const historianFolderPrefix = (stateDir: string): string => join(stateDir, "historian-");
/** Codex's temporary folder, and its last message in classic mode. */
export const codexTemporary = (stateDir: string): string => join(stateDir, "codex-tmp");
export const codexLastMessage = (stateDir: string): string => join(stateDir, "codex-last-message.txt");
/** The home folder for Codex, without the user's configuration. */
export const codexHome = (stateDir: string): string => join(stateDir, "codex-home");

/** The folder of this machine's workers: a file about each worker, and the workspaces of its agents. */
export const workersFolder = (stateDir: string): string => join(stateDir, "fleet");
/** The file, in a worker's folder, with its identity and the processes that it has started. */
export const workerNote = (folder: string): string => join(folder, "worker.json");
/** The output of agents that ran on this machine for other machines. */
export const distantTranscripts = (stateDir: string): string => join(stateDir, "fleet-transcripts");
/** The random id of a project, by which its runs on several machines recognise each other. */
export const projectIdFile = inHidden("fleet-id");

/** The folder, in a user's home, with settings, memory and conversations. */
export const userFolder = (home: string): string => join(home, ".local/ralph");
/** The private key for signing the jobs of this user's runs. */
export const fleetKeyFile = (home: string): string => join(userFolder(home), "fleet-key.pem");

/** The result file of an agent in its workspace. */
export const resultName = "result.json";

/**
 * The beginning of a name, at most 200 bytes, so that a suffix can be added. File systems allow names of 255 bytes, and
 * a Japanese character takes three bytes.
 */
export function truncateName(name: string): string {
  let truncatedName = "";
  for (const character of name) {
    if (Buffer.byteLength(truncatedName + character) > 200) break;
    truncatedName += character;
  }
  return truncatedName;
}

/** Files with the user's instructions for agents; Claude Code reads the second. */
export const lessonsName = "AGENTS.md";
export const claudeName = "CLAUDE.md";
/** The configuration of a folder's MCP servers, for Claude Code and similar agents. */
export const mcpServersName = ".mcp.json";
/** The file in which the user describes the purpose of all research in the folder. */
export const missionName = "MISSION.md";
