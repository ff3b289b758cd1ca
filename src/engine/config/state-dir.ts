import { homedir } from "node:os";
import { join } from "node:path";
import { guardsFolder } from "../lib/layout.js";

/** The default folder of workspaces, bug reports and trust files. */
export const defaultStateDir = (env: NodeJS.ProcessEnv, home: string): string =>
  join(
    env["XDG_STATE_HOME"]?.startsWith("/") ? env["XDG_STATE_HOME"] : join(home, ".local", "state"),
    "research-ralph",
  );

/**
 * The folder for the files of guards. No configuration changes it, as an agent could have written that configuration.
 */
export const guardsRoot = (env: NodeJS.ProcessEnv): string =>
  guardsFolder(defaultStateDir(env, env["HOME"] ?? homedir()));
