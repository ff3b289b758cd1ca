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

/** A plugin changes a few texts: of anything that takes more it is a fault. */
const limits = { processes: 64, memory: 2048 * megabyte, temporary: 64 * megabyte, file: 64 * megabyte };

/** Loads the plugins of a configuration. `folders`: those of the project, which they may read. */
export async function pluginsFor(
  config: ExtensionConfig,
  { cwd, env }: ExtensionPlace,
  more: Pick<PluginOptions, "folders"> & Partial<Pick<PluginOptions, "redact" | "signal" | "more">> = { folders: [] },
): Promise<Plugins> {
  const house = await houseOf(config, { cwd, env }, more.folders);
  return await loadPlugins({ plugins: config.plugins, house, root: cwd, env, redact: redactFor(env), ...more });
}

/**
 * Where plugins run: in bubblewrap, whatever confines the agents; on the host only if bubblewrap is missing and the
 * person allowed it.
 */
async function houseOf(
  { unconfined, sandbox_env }: ExtensionConfig,
  { cwd, env: outside }: ExtensionPlace,
  folders: readonly string[],
): Promise<PluginOptions["house"]> {
  const around = agentFolders([cwd, ...folders], outside["HOME"] ?? homedir());
  const env = { ...outside, PATH: pathOutside(around, outside["PATH"]) };
  const found = await findBubblewrap(env);
  const allowedVariables = namesIn(sandbox_env);
  if ("program" in found) {
    const { exec } = bubblewrap(found.program, { env, limits, allowedVariables });
    return { exec, node: process.execPath };
  }
  if (!unconfined) return { problem: `nothing confines it here: ${found.problem}. ${found.fix} Or add --unconfined` };
  const named = sandboxEnvironment(env, {
    allowedVariables,
    access: noAccess,
    isOnline: false,
    node: process.execPath,
  });
  const own = { ...named, HOME: outside["HOME"] };
  const exec: PluginEnvironment["exec"] = (request) => runProcess({ ...request, env: own });
  return { exec, node: process.execPath, unconfined: true };
}
