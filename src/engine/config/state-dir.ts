import { homedir } from "node:os";
import { join } from "node:path";
import { guardsFolder } from "../lib/layout.js";

/** Where workspaces, bug reports and what the user trusts live unless somebody says otherwise. */
export const defaultStateDir = (env: NodeJS.ProcessEnv, home: string): string =>
  join(
    env["XDG_STATE_HOME"]?.startsWith("/") ? env["XDG_STATE_HOME"] : join(home, ".local", "state"),
    "research-ralph",
  );

/** Where guards are kept on the disk: no configuration says it, as an agent may have planted that. */
export const keptGuards = (env: NodeJS.ProcessEnv): string =>
  guardsFolder(defaultStateDir(env, env["HOME"] ?? homedir()));
