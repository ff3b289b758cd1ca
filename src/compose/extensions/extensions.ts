import type { ExtendedRun, ExtensionCheck, ExtensionConfig, ExtensionPlace } from "./extension.js";
import type { Participant } from "../../engine/points/points.js";

// The extensions are the plugins. To remove them, delete their folders and what is here of them.

/** Registers what extensions add to commands. Returns a description of each part, or why it can't be used. */
export async function addExtensions(config: ExtensionConfig, place: ExtensionPlace): Promise<ExtensionCheck[]> {
  return config.plugins.length === 0 ? [] : await (await import("./plugins/extension.js")).addTo(config, place);
}

/** The participants that extensions add to a run. */
export async function extensionsIn(
  config: ExtensionConfig,
  place: ExtensionPlace,
  run: ExtendedRun,
): Promise<Participant[]> {
  return config.plugins.length === 0
    ? []
    : [await (await import("./plugins/extension.js")).takePart(config, place, run)];
}
