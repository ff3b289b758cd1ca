import type { Standing } from "../engine/ui/state-text.js";
import { stampOf } from "../engine/storage/atomic-file.js";
import { rrdName } from "../research/project-files/layout.js";
import { type LivePage, createLivePage } from "./live-page.js";
import { type ListEntry, listPage } from "./page/list.js";
import type { ShownWork } from "./followed-project.js";
import { isIrrelevant, watchFolder } from "./watch-folder.js";

interface ListOptions {
  works(): Promise<readonly ShownWork[]>;
  /** The folder in which projects are searched; undefined: new projects are not noticed. */
  readonly root?: string;
  now(): number;
}

/** The live list of projects and tasks. */
export function createLiveList({ works, root, now }: ListOptions, warn: (error: unknown) => void): LivePage {
  const standingByFolder = new Map<string, { readonly version: string; readonly standing: Standing }>();
  /** Reads only projects that have changed, because reading two hundred projects takes a second. */
  const readStanding = async ({ folder, files, readStanding: read }: ShownWork): Promise<Standing | undefined> => {
    const version = files.map((path) => stampOf(path)).join();
    const knownEntry = standingByFolder.get(folder);
    // If a running process died, its lock file is unchanged, so running projects are always read.
    if (knownEntry?.version === version && !knownEntry.standing.running) return knownEntry.standing;
    const standing = await read();
    if (standing === undefined) standingByFolder.delete(folder);
    else standingByFolder.set(folder, { version, standing });
    return standing;
  };
  return createLivePage({
    warn,
    async make() {
      const entries: ListEntry[] = [];
      for (const work of await works()) {
        const standing = await readStanding(work);
        if (standing !== undefined) entries.push({ name: work.name, where: work.steered.typedFolder, standing });
      }
      return listPage(entries, now());
    },
    // Other files, such as those of tasks, are checked every two seconds.
    watch: (changed) =>
      root === undefined
        ? async () => {}
        : watchFolder(
            root,
            { depth: 3, isIgnored: (path, isFile) => isIrrelevant(root, path, isFile, [rrdName]) },
            changed,
          ),
  });
}
