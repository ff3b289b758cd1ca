import type { Participant } from "../../../engine/points/points.js";
import { addSources } from "../../../research/sources/registry.js";
import type { ExtendedRun, ExtensionCheck, ExtensionConfig, ExtensionPlace } from "../extension.js";
import { pluginsFor } from "./house.js";
import { researchNews } from "./research-news.js";
import { sourcesOf } from "./source.js";

/**
 * Loads each plugin of a configuration and registers its sources. Returns a description of each plugin, or why it or
 * one of its sources can't be used.
 */
export async function addTo(config: ExtensionConfig, place: ExtensionPlace): Promise<ExtensionCheck[]> {
  const { loaded, told: notices } = await pluginsFor(config, place);
  return [
    ...loaded.map((plugin) => {
      const { sources, refused } = sourcesOf(plugin);
      const problems = [...refused, ...addSources(sources)];
      const parts = [...plugin.hooks, ...plugin.sources.map(({ id }) => `the source ${id}`)];
      const description = `${plugin.name} ${plugin.version}: ${parts.join(", ") || "it has no hook"}`;
      return {
        name: `plugin ${plugin.as}`,
        ok: problems.length === 0,
        detail: problems.length === 0 ? description : problems.join(" "),
      };
    }),
    ...notices.flatMap((notice) =>
      notice.type === "notice" && notice.plugin !== undefined
        ? [{ name: `plugin ${notice.plugin}`, ok: false, detail: notice.message }]
        : [],
    ),
  ];
}

/** Loads the plugins for a run, and shows their names. */
export async function takePart(
  config: ExtensionConfig,
  place: ExtensionPlace,
  { folders, research, tell, redact, signal }: ExtendedRun,
): Promise<Participant> {
  const more = research === undefined ? {} : { more: researchNews(research) };
  const { loaded, participant, told: notices } = await pluginsFor(config, place, { folders, signal, redact, ...more });
  for (const notice of notices) void tell(notice);
  const names = loaded.map(({ name, version }) => `${name} ${version}`).join(", ");
  if (names !== "") void tell({ type: "notice", level: "info", message: `Plugins of this run: ${names}.` });
  return participant;
}
