import type { Participant } from "../../../engine/points/points.js";
import { addSources } from "../../../research/sources/registry.js";
import type { ExtendedRun, ExtensionCheck, ExtensionConfig, ExtensionPlace } from "../extension.js";
import { pluginsFor } from "./house.js";
import { sourcesOf } from "./source.js";
import { join } from "node:path";
import { valueAt } from "../../../engine/lib/json-fields.js";
import { readResearch } from "../../../research/project-files/research.js";
import { reportName } from "../../../research/project-files/layout.js";

/**
 * Loads each plugin of a configuration and registers its sources. Returns a description of each plugin, or why it or
 * one of its sources can't be used.
 */
export async function addTo(config: ExtensionConfig, place: ExtensionPlace): Promise<ExtensionCheck[]> {
  const { loaded, notices } = await pluginsFor(config, place);
  return [
    ...loaded.map((plugin) => {
      const { sources, refused } = sourcesOf(plugin);
      const problems = [...refused, ...addSources(sources)];
      const parts = [...plugin.hooks, ...plugin.sources.map(({ id }) => `the source ${id}`)];
      const description = `${plugin.name} ${plugin.version}: ${parts.join(", ") || "it has no hook"}`;
      return {
        name: `plugin ${plugin.configuredName}`,
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
  const newsOption = research === undefined ? {} : { workInput: researchNews(research) };
  const { loaded, participant, notices } = await pluginsFor(config, place, { folders, signal, redact, ...newsOption });
  for (const notice of notices) void tell(notice);
  const names = loaded.map(({ name, version }) => `${name} ${version}`).join(", ");
  if (names !== "") void tell({ type: "notice", level: "info", message: `Plugins of this run: ${names}.` });
  return participant;
}

/**
 * What plugins of a research project get after a result was accepted: the record of the paper that was read, or the
 * path of the report.
 */
const researchNews =
  (folder: string) =>
  async (facts: object): Promise<Readonly<Record<string, object>>> => {
    const [unit, iteration] = [valueAt(facts, "unit"), valueAt(facts, "iteration")];
    if (unit === "report") return { onReport: { iteration, path: join(folder, reportName) } };
    const { rrd } = await readResearch(folder);
    const paper = rrd.papers_pool.find((candidate) => candidate.id === unit && candidate.iteration === iteration);
    return paper === undefined ? {} : { onReading: { iteration, paper } };
  };
