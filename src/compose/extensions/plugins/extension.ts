import type { Participant } from "../../../engine/points/points.js";
import { addSources } from "../../../research/sources/registry.js";
import type { ExtendedRun, ExtensionCheck, ExtensionConfig, ExtensionPlace } from "../extension.js";
import { pluginsFor } from "./house.js";
import { researchNews } from "./research-news.js";
import { sourcesOf } from "./source.js";

/**
 * Loads each plugin of a configuration, puts the sources that they add among those that can be named, and says what
 * each is, or why it or one of its sources can't be used.
 */
export async function addTo(config: ExtensionConfig, place: ExtensionPlace): Promise<ExtensionCheck[]> {
  const { loaded, told } = await pluginsFor(config, place);
  return [
    ...loaded.map((plugin) => {
      const { sources, refused } = sourcesOf(plugin);
      const problems = [...refused, ...addSources(sources)];
      const parts = [...plugin.hooks, ...plugin.sources.map(({ id }) => `the source ${id}`)];
      const what = `${plugin.name} ${plugin.version}: ${parts.join(", ") || "it has no hook"}`;
      return {
        name: `plugin ${plugin.as}`,
        ok: problems.length === 0,
        detail: problems.length === 0 ? what : problems.join(" "),
      };
    }),
    ...told.flatMap((each) =>
      each.type === "notice" && each.plugin !== undefined
        ? [{ name: `plugin ${each.plugin}`, ok: false, detail: each.message }]
        : [],
    ),
  ];
}

/** Loads the plugins for a run, and names them. */
export async function takePart(
  config: ExtensionConfig,
  place: ExtensionPlace,
  { folders, research, tell, redact, signal }: ExtendedRun,
): Promise<Participant> {
  const more = research === undefined ? {} : { more: researchNews(research) };
  const { loaded, participant, told } = await pluginsFor(config, place, { folders, signal, redact, ...more });
  for (const each of told) void tell(each);
  const names = loaded.map(({ name, version }) => `${name} ${version}`).join(", ");
  if (names !== "") void tell({ type: "notice", level: "info", message: `Plugins of this run: ${names}.` });
  return participant;
}
