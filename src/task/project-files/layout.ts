import { join } from "node:path";
import { hiddenName, inHidden, ledgerName, mcpServersName } from "../../engine/lib/layout.js";

/** Every file of a task's folder. What the engine keeps there is named in its own layout. */

/** The task, its criteria and its limits, as a person wrote them. */
export const taskName = "ralph.json";
/** How far the task is. */
export const stateName = "ralph.state.json";
/** What was kept of states that were broken by hand, as git's patterns have it. */
export const brokenStates = `${stateName}.broken-*`;
/** The log that people read, and the ledger: in the hidden folder, as the folder itself is the user's own project. */
export const logName = `${hiddenName}/task.log`;
export const taskLedger = `${hiddenName}/${ledgerName}`;

export const taskFile = (folder: string): string => join(folder, taskName);
export const stateFile = (folder: string): string => join(folder, stateName);

/** The index of git by which snapshots are made. */
export const snapshotIndex = inHidden("snapshot.index");

/** In the folder of the program's state: where commands leave result files, on both sides of a sandbox. */
export const scratchFolder = (stateDir: string): string => join(stateDir, "scratch");
/** There too: what stands at /home in the sandbox of a task. */
export const homesFolder = (stateDir: string): string => join(stateDir, "homes");
/** There too: worktrees of --worktree. */
export const worktreesFolder = (stateDir: string): string => join(stateDir, "worktrees");

/**
 * What would have programs run as the user later: servers of tools, agents outside of a sandbox, filters of git. One
 * that is in the folder is the project's, and its changes show in git.
 */
export const notToAppear = [mcpServersName, "prompt.md", ".gitattributes"];
