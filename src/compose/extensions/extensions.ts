import type {
  ExtendedRun,
  Extension,
  ExtensionCheck,
  ExtensionConfig,
  ExtensionPlace,
  LoadedExtension,
} from "./extension.js";
import type { Participant } from "../../engine/points/points.js";

/** Every extension. Taking one away takes its folder and its line here. */
const extensions: readonly Extension[] = [
  { isUsed: ({ plugins }) => plugins.length > 0, load: () => import("./plugins/extension.js") },
];

const loaded = (config: ExtensionConfig): Promise<LoadedExtension[]> =>
  Promise.all(extensions.filter((each) => each.isUsed(config)).map((each) => each.load()));

/** Makes known what extensions add to commands, and says what each part is, or why it can't be used. */
export async function addExtensions(config: ExtensionConfig, place: ExtensionPlace): Promise<ExtensionCheck[]> {
  const checks = (await loaded(config)).map((each) => each.addTo(config, place));
  return (await Promise.all(checks)).flat();
}

/** Whom extensions add to a run. */
export async function extensionsIn(
  config: ExtensionConfig,
  place: ExtensionPlace,
  run: ExtendedRun,
): Promise<Participant[]> {
  return await Promise.all((await loaded(config)).map((each) => each.takePart(config, place, run)));
}
