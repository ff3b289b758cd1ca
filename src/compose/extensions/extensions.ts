import type {
  ExtendedRun,
  Extension,
  ExtensionCheck,
  ExtensionConfig,
  ExtensionPlace,
  LoadedExtension,
} from "./extension.js";
import type { Participant } from "../../engine/points/points.js";

/** All extensions. To remove one, delete its folder and its line here. */
const extensions: readonly Extension[] = [
  { isUsed: ({ plugins }) => plugins.length > 0, load: () => import("./plugins/extension.js") },
];

const loadUsed = (config: ExtensionConfig): Promise<LoadedExtension[]> =>
  Promise.all(extensions.filter((extension) => extension.isUsed(config)).map((extension) => extension.load()));

/** Registers what extensions add to commands. Returns a description of each part, or why it can't be used. */
export async function addExtensions(config: ExtensionConfig, place: ExtensionPlace): Promise<ExtensionCheck[]> {
  const checks = (await loadUsed(config)).map((extension) => extension.addTo(config, place));
  return (await Promise.all(checks)).flat();
}

/** The participants that extensions add to a run. */
export async function extensionsIn(
  config: ExtensionConfig,
  place: ExtensionPlace,
  run: ExtendedRun,
): Promise<Participant[]> {
  return await Promise.all((await loadUsed(config)).map((extension) => extension.takePart(config, place, run)));
}
