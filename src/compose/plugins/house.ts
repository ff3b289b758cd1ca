import { redactorFor } from "../agents.js";
import type { ResolvedConfig } from "../config.js";
import { namesIn } from "../sandbox.js";
import { given } from "../../engine/lib/given.js";
import { pathOutside, workplaces } from "../../engine/process/search-path.js";
import { environmentInside } from "../../engine/sandbox/environment.js";
import { bubblewrap, findBubblewrap } from "../../engine/sandbox/bubblewrap.js";
import { noReach } from "../../engine/process/reach.js";
import { homeOf, type Io } from "../../engine/ui/io.js";
import { loadPlugins, type PluginHouse, type PluginOptions, type Plugins } from "../../engine/plugins/plugins.js";

/** What the configuration says of plugins and where they run. */
export type PluginConfig = Pick<ResolvedConfig, "plugins" | "unconfined" | "sandbox_env">;

const megabyte = 2 ** 20;

/** A plugin changes a few texts: of anything that takes more it is a fault. */
const limits = { processes: 64, memory: 2048 * megabyte, temporary: 64 * megabyte, file: 64 * megabyte };

/** Loads the plugins of a configuration. `folders`: those of the project, which they may read. */
export async function pluginsFor(
  config: PluginConfig & Parameters<typeof redactorFor>[0],
  io: Io,
  more: Pick<PluginOptions, "folders" | "signal" | "more" | "timeoutMs">,
): Promise<Plugins> {
  return await loadPlugins({
    plugins: config.plugins,
    house: await houseOf(config, io, more.folders),
    root: io.cwd,
    env: io.env,
    redact: redactorFor(config, io),
    ...more,
  });
}

/**
 * Where plugins run: in bubblewrap, whatever confines the agents; on the host only where bubblewrap is missing and the
 * person allowed it.
 */
async function houseOf(
  { unconfined, sandbox_env }: PluginConfig,
  io: Io,
  folders: readonly string[],
): Promise<PluginOptions["house"]> {
  const env = { ...io.env, PATH: pathOutside(workplaces([io.cwd, ...folders], homeOf(io.env)), io.env["PATH"]) };
  const found = await findBubblewrap(env);
  const passes = namesIn(sandbox_env);
  if ("program" in found) {
    const { exec } = bubblewrap(found.program, { env, limits, passes });
    return { exec, node: process.execPath };
  }
  if (!unconfined) return { problem: `nothing confines it here: ${found.problem}. ${found.fix} Or add --unconfined` };
  const named = environmentInside(env, { passes, reach: noReach, isOnline: false, node: process.execPath });
  const own = { ...named, ...given({ HOME: io.env["HOME"] }) };
  const exec: PluginHouse["exec"] = (request) => io.runProgram({ ...request, env: own });
  return { exec, node: process.execPath, unconfined: true };
}

/** What `doctor` and `validate` say of one plugin. */
export interface PluginCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Loads each plugin of a configuration and says what it is, or why it can't be loaded. */
export async function checkPlugins(config: Parameters<typeof pluginsFor>[0], io: Io): Promise<PluginCheck[]> {
  const { loaded, told } = await pluginsFor(config, io, { folders: [] });
  return [
    ...loaded.map(({ as, name, version, hooks, sources }) => {
      const parts = [...hooks, ...sources.map(({ id }) => `the source ${id}`)];
      return { name: as, ok: true, detail: `${name} ${version}: ${parts.join(", ") || "it has no hook"}` };
    }),
    ...told.flatMap((each) =>
      each.type === "notice" && each.plugin !== undefined
        ? [{ name: each.plugin, ok: false, detail: each.message }]
        : [],
    ),
  ];
}
