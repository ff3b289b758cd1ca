import { homedir } from "node:os";
import { redactFor } from "../../../engine/lib/redact.js";
import {
  loadPlugins,
  type PluginEnvironment,
  type PluginOptions,
  type Plugins,
} from "../../../engine/plugins/plugins.js";
import { noAccess } from "../../../engine/process/access.js";
import { runProcess } from "../../../engine/process/run-process.js";
import { pathOutside, agentFolders } from "../../../engine/process/search-path.js";
import { bubblewrap, findBubblewrap } from "../../../engine/sandbox/bubblewrap.js";
import { sandboxEnvironment, namesIn } from "../../../engine/sandbox/environment.js";
import type { ExtensionConfig, ExtensionPlace } from "../extension.js";

const megabyte = 2 ** 20;

/** A plugin changes only a few texts. A plugin that exceeds these limits has an error. */
const limits = {
  maxProcesses: 64,
  maxMemoryBytes: 2048 * megabyte,
  maxTemporaryBytes: 64 * megabyte,
  maxFileBytes: 64 * megabyte,
};

/** Loads the plugins of a configuration. `folders`: the folders of the project, which plugins may read. */
export async function pluginsFor(
  config: ExtensionConfig,
  { cwd, env }: ExtensionPlace,
  options: Pick<PluginOptions, "folders"> & Partial<Pick<PluginOptions, "redact" | "signal" | "workInput">> = {
    folders: [],
  },
): Promise<Plugins> {
  const pluginEnvironment = await openPluginEnvironment(config, { cwd, env }, options.folders);
  return await loadPlugins({
    plugins: config.plugins,
    environment: pluginEnvironment,
    root: cwd,
    env,
    redact: redactFor(env),
    ...options,
  });
}

/**
 * How plugins are started: in bubblewrap, even if the agents run elsewhere; on the host only if bubblewrap is missing
 * and the user allowed it.
 */
async function openPluginEnvironment(
  { unconfined, sandbox_env }: ExtensionConfig,
  { cwd, env: userEnv }: ExtensionPlace,
  folders: readonly string[],
): Promise<PluginOptions["environment"]> {
  const workFolders = agentFolders([cwd, ...folders], userEnv["HOME"] ?? homedir());
  const env = { ...userEnv, PATH: pathOutside(workFolders, userEnv["PATH"]) };
  const bubblewrapSearch = await findBubblewrap(env);
  const allowedVariables = namesIn(sandbox_env);
  if ("program" in bubblewrapSearch) {
    const { exec } = bubblewrap(bubblewrapSearch.program, { env, limits, allowedVariables });
    return { exec, node: process.execPath };
  }
  if (!unconfined)
    return {
      problem: `nothing confines it here: ${bubblewrapSearch.problem}. ${bubblewrapSearch.fix} Or add --unconfined`,
    };
  const pluginVariables = sandboxEnvironment(env, {
    allowedVariables,
    access: noAccess,
    isOnline: false,
    node: process.execPath,
  });
  const hostVariables = { ...pluginVariables, HOME: userEnv["HOME"] };
  const exec: PluginEnvironment["exec"] = (request) => runProcess({ ...request, env: hostVariables });
  return { exec, node: process.execPath, unconfined: true };
}
