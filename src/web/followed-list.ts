import type { Standing } from "../engine/ui/standing.js";
import { stampOf } from "../engine/storage/atomic-file.js";
import { rrdName } from "../research/project-files/layout.js";
import { type LivePage, livePage } from "./live-page.js";
import { type Listed, listPage } from "./page/list.js";
import type { ShownWork } from "./followed-project.js";
import { isOfNoInterest, watchFolder } from "./watch-folder.js";

interface Works {
  works(): Promise<readonly ShownWork[]>;
  /** The folder that is looked through for projects; undefined: none appears. */
  readonly root?: string;
  now(): number;
}

/** The list of projects and tasks, as it changes. */
export function followedList({ works, root, now }: Works, warn: (error: unknown) => void): LivePage {
  const known = new Map<string, { readonly version: string; readonly standing: Standing }>();
  /** Two hundred projects take a second to be read; only those are read again that have changed. */
  const look = async ({ folder, files, look: read }: ShownWork): Promise<Standing | undefined> => {
    const version = files.map((path) => stampOf(path)).join();
    const before = known.get(folder);
    // A lock stays the same file when its process dies.
    if (before?.version === version && !before.standing.running) return before.standing;
    const standing = await read();
    if (standing === undefined) known.delete(folder);
    else known.set(folder, { version, standing });
    return standing;
  };
  return livePage({
    warn,
    async make() {
      const listed: Listed[] = [];
      for (const work of await works()) {
        const standing = await look(work);
        if (standing !== undefined) listed.push({ name: work.name, where: work.steered.where, standing });
      }
      return listPage(listed, now());
    },
    // Files elsewhere, as those of tasks, are looked at every two seconds.
    watch: (changed) =>
      root === undefined
        ? async () => {}
        : watchFolder(
            root,
            { depth: 3, ignored: (path, isFile) => isOfNoInterest(root, path, isFile, [rrdName]) },
            changed,
          ),
  });
}
