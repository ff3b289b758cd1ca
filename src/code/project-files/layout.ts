import { createHash } from "node:crypto";
import { join } from "node:path";
import { hiddenName, inHidden } from "../../engine/lib/layout.js";

/** Every file of a coding run's own, in the folder of the project that it works on. */

/** How far it is. */
export const codeStateName = "ralph.code.json";
/** What was found and done, for people. */
export const codeReportName = "code-report.md";
/** The log that people read. */
export const codeLogName = `${hiddenName}/code.log`;
/** What helped against which error. */
export const vaultName = `${hiddenName}/memory.db`;
/** The import graph as it was read last. */
export const graphFile = inHidden("graph.json");
/** The test results of each round, and the diff that its critic saw. */
export const roundFolder = (folder: string, round: number): string => inHidden("code", String(round))(folder);
/** The index of git by which snapshots are made. */
export const codeSnapshotIndex = inHidden("code-snapshot.index");

/** Where an adversary's tests stand while they run, and where they stay with --keep-tests. */
export const adversaryFolder = "ralph-adversarial";
export const keptTestsFolder = "adversarial-tests";

/** In the folder of the program's state: where the roles that change nothing work, a folder a project. */
export const rolesFolder = (stateDir: string, folder: string): string =>
  join(stateDir, "roles", createHash("sha256").update(folder).digest("hex").slice(0, 16));
