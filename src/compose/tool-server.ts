import { variableOf } from "../engine/config/keys.js";
import type { ResolvedConfig } from "../engine/config/resolve.js";
import { entry } from "../engine/lib/package-root.js";
import { gitHub, huggingFace } from "../research/sources/clients/code-links.js";
import { allSources } from "../research/sources/registry.js";
import { settingsOf } from "../research/sources/source-settings.js";
import type { ServeTools } from "../research/workflow/brief/brief.js";

/** How the CLI of an agent starts our own program to serve tools for this project. What is about one paper asks nothing outside. */
export const toolsOf =
  (folder: string, { sources }: Pick<ResolvedConfig, "sources">, env: NodeJS.ProcessEnv): ServeTools =>
  (names, paper) => ({
    command: process.execPath,
    args: [
      ...[entry("cli"), "mcp", "--research", folder, "--tools", names.join(",")],
      // An id comes from outside and may begin with a dash.
      ...(paper === undefined ? [] : [`--paper=${paper}`]),
    ],
    names,
    env: paper === undefined ? variablesFor(sources, names).filter((name) => env[name] !== undefined) : [],
  });

/** By which way the network is reached. A CLI may start its servers with none of its own environment. */
const proxies = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]);

/** What searching needs of the environment: keys of what these tools ask, where this machine's state is, and the way to the network. */
function variablesFor(sources: ResolvedConfig["sources"], names: readonly string[]): string[] {
  const asked = names.includes("code_links") ? [...allSources, gitHub, huggingFace] : allSources;
  const keys = asked.flatMap((source) => settingsOf(source, sources).key_variable ?? source.keyVariable ?? []);
  return [
    ...new Set([
      ...keys,
      "XDG_STATE_HOME",
      variableOf("state_dir"),
      variableOf("contact"),
      ...proxies,
      "NODE_EXTRA_CA_CERTS",
    ]),
  ];
}
