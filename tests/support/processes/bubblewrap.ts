import { delimiter } from "node:path";
import { findBubblewrap } from "../../../src/engine/sandbox/bubblewrap.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";

/** The PATH of tests of sandboxes: where there is no bubblewrap, that of the Codex which the tests install may do. */
export const sandboxPath = [process.env["PATH"], packageFile(".e2e", "clis", "node_modules", ".bin")].join(delimiter);

const found = await findBubblewrap({ PATH: sandboxPath });

// The commands that these tests run have to find it where this one was found.
if ("program" in found && !("program" in (await findBubblewrap(process.env)))) process.env["PATH"] = sandboxPath;

/** Why tests that need bubblewrap are skipped here; undefined where they run. For the names of tests. */
export const noBubblewrap: string | undefined = "problem" in found ? found.problem : undefined;

/** For the name of a group of tests that may be skipped. */
export const skippedFor = (why: string | undefined): string => (why === undefined ? "" : ` (skipped: ${why})`);

/** Where agents are run in tests that try each place, and what the ledger calls it. */
export const whereAgentsRun: readonly (readonly [where: string, confinement: string])[] = [
  ["host", "workspace"],
  ...(noBubblewrap === undefined ? [["bubblewrap", "sandbox"] as const] : []),
];
