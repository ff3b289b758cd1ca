import { createHash } from "node:crypto";
import { join } from "node:path";
import { hiddenName, inHidden } from "../../engine/lib/layout.js";

/** Names of a team's files in the folder of its task. */

/** The memory of fixes. */
export const vaultName = `${hiddenName}/memory.db`;
/** Files of a team that its agents may not change, relative to the folder of the task. */
export const protectedTeamFiles = [vaultName, `${vaultName}-wal`, `${vaultName}-shm`];
/** The cached import graph. */
export const graphFile = inHidden("graph.json");
/** The folder of a round, with its test results and the diff for its critic. */
export const roundFolder = (folder: string, round: number): string => inHidden("code", String(round))(folder);
/** The folder of an adversary's tests while they run. */
export const adversaryFolder = "ralph-adversarial";
/** The folder in which an adversary's tests are kept with --keep-tests. */
export const keptTestsFolder = "adversarial-tests";

/** In the program's state folder: the folder for roles that do not work in the project's folder. */
export const rolesFolder = (stateDir: string, folder: string): string =>
  join(stateDir, "roles", createHash("sha256").update(folder).digest("hex").slice(0, 16));
