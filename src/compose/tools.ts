import { variableOf } from "../config/keys.js";
import type { ResolvedConfig } from "../config/resolve.js";
import { packageFile } from "../lib/package-root.js";
import { allServices } from "../sources/registry.js";
import type { ServeTools } from "../workflows/research/brief.js";

/** How the CLI of an agent starts our own program to serve tools for this research. What is about one paper asks nothing outside. */
export const toolsOf =
  (folder: string, { sources }: Pick<ResolvedConfig, "sources">, env: NodeJS.ProcessEnv): ServeTools =>
  (names, paper) => ({
    command: process.execPath,
    args: [
      ...[packageFile("dist", "cli.js"), "mcp", "--research", folder, "--tools", names.join(",")],
      // An id comes from outside and may begin with a dash.
      ...(paper === undefined ? [] : [`--paper=${paper}`]),
    ],
    names,
    env: paper === undefined ? variablesFor(sources).filter((name) => env[name] !== undefined) : [],
  });

/** What searching needs of the environment: the sources' keys, and where this machine's state is. */
const variablesFor = (sources: ResolvedConfig["sources"]): string[] => [
  ...allServices.flatMap(({ keyVariable }) => keyVariable ?? []),
  ...Object.values(sources).flatMap(({ key_variable: variable }) => variable ?? []),
  ...["XDG_STATE_HOME", variableOf("state_dir"), variableOf("contact")],
];
