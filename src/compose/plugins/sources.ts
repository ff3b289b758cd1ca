import type { ResolvedConfig } from "../config.js";
import type { Io } from "../../engine/ui/io.js";

/**
 * The same configuration, once the sources that its plugins add are among those that can be named. `say`: told of each
 * that can't be.
 */
export async function withPluginSources(
  config: ResolvedConfig,
  io: Io,
  say: (sentence: string) => void = () => undefined,
): Promise<ResolvedConfig> {
  if (config.plugins.length === 0) return config;
  // Loaded where there are any.
  const [{ pluginsFor }, { sourcesOf }, { addSources }] = await Promise.all([
    import("./house.js"),
    import("../../research/sources/plugin-source.js"),
    import("../../research/sources/registry.js"),
  ]);
  const { loaded, told } = await pluginsFor(config, io, { folders: [] });
  for (const each of told) if (each.type === "notice") say(each.message);
  for (const plugin of loaded) {
    const { sources, refused } = sourcesOf(plugin);
    for (const sentence of [...refused, ...addSources(sources)]) say(sentence);
  }
  return config;
}
