import { createHash } from "node:crypto";
import { join } from "node:path";
import { hiddenName, inHidden } from "../../engine/lib/layout.js";

/** Every file of a team's own, in the folder of the task that it works on. */

/** What helped against which error. */
export const vaultName = `${hiddenName}/memory.db`;
/** Files of a team that its agents may not change, within the folder of the task. */
export const filesOfTeam = [vaultName, `${vaultName}-wal`, `${vaultName}-shm`];
/** The import graph as it was read last. */
export const graphFile = inHidden("graph.json");
/** The test results of each round, and the diff that its critic saw. */
export const roundFolder = (folder: string, round: number): string => inHidden("code", String(round))(folder);
/** Where an adversary's tests stand while they run, and where they stay with --keep-tests. */
export const adversaryFolder = "ralph-adversarial";
export const keptTestsFolder = "adversarial-tests";

/** In the folder of the program's state: where the roles that change nothing work, a folder a project. */
export const rolesFolder = (stateDir: string, folder: string): string =>
  join(stateDir, "roles", createHash("sha256").update(folder).digest("hex").slice(0, 16));
