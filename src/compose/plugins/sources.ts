import { addSources } from "../../research/sources/registry.js";
import { sourcesOf } from "../../research/sources/plugin-source.js";
import { type PluginConfig, type PluginPlace, pluginsFor } from "./house.js";

/** What `doctor` and `validate` say of one plugin. */
export interface PluginCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/**
 * Loads each plugin of a configuration, puts the sources that they add among those that can be named, and says what
 * each is, or why it or one of its sources can't be used.
 */
export async function addPluginSources(config: PluginConfig, place: PluginPlace): Promise<PluginCheck[]> {
  const { loaded, told } = await pluginsFor(config, place);
  return [
    ...loaded.map((plugin) => {
      const { sources, refused } = sourcesOf(plugin);
      const problems = [...refused, ...addSources(sources)];
      const parts = [...plugin.hooks, ...plugin.sources.map(({ id }) => `the source ${id}`)];
      const what = `${plugin.name} ${plugin.version}: ${parts.join(", ") || "it has no hook"}`;
      return { name: plugin.as, ok: problems.length === 0, detail: problems.length === 0 ? what : problems.join(" ") };
    }),
    ...told.flatMap((each) =>
      each.type === "notice" && each.plugin !== undefined
        ? [{ name: each.plugin, ok: false, detail: each.message }]
        : [],
    ),
  ];
}
