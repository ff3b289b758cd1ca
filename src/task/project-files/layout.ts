import { join } from "node:path";
import { hiddenName, inHidden, ledgerName, mcpServersName } from "../../engine/lib/layout.js";

/** Names of the files in a task's folder. The engine's layout contains the names of the engine's files. */

/** The task, its criteria and its limits, as the user wrote them. */
export const taskName = "ralph.json";
/** The progress of the task. */
export const stateName = "ralph.state.json";
/** A pattern of git for copies of state files that became invalid by an edit. */
export const brokenStatesPattern = `${stateName}.broken-*`;
/**
 * The log for people, and the ledger. They are in the hidden folder because the task's folder is the user's project.
 */
export const logName = `${hiddenName}/task.log`;
export const taskLedger = `${hiddenName}/${ledgerName}`;

export const taskFile = (folder: string): string => join(folder, taskName);
export const stateFile = (folder: string): string => join(folder, stateName);

/** The git index for snapshots. */
export const snapshotIndex = inHidden("snapshot.index");

/**
 * In the program's state folder: the folder for result files of commands, with the same path inside and outside a
 * sandbox.
 */
export const scratchFolder = (stateDir: string): string => join(stateDir, "scratch");
/** In the program's state folder: the folder that is mounted at /home in the sandbox of a task. */
export const homesFolder = (stateDir: string): string => join(stateDir, "homes");
/** In the program's state folder: worktrees of --worktree. */
export const worktreesFolder = (stateDir: string): string => join(stateDir, "worktrees");

/**
 * Files that could later start programs as the user: settings of tool servers, of agents outside a sandbox, and of git
 * filters. Agents may not create them. Existing files belong to the project, and git shows how they change.
 */
export const unwantedNewFiles = [mcpServersName, "prompt.md", ".gitattributes"];
