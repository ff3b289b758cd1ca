import { join } from "node:path";
import { ledgerFile, lockFile, pauseName, stopName } from "../engine/lib/layout.js";
import { stampOf } from "../engine/storage/atomic-file.js";
import { rrdFile } from "../research/project-files/layout.js";
import { isOfNoInterest, lookAt, type WatchedResearch } from "../research/overview/watched-research.js";
import { type LivePage, livePage } from "./live-page.js";
import { listPage } from "./page/list.js";
import { watchFolder } from "./watch-folder.js";

interface Projects {
  projects(): Promise<readonly string[]>;
  /** The folder that is looked through for projects; undefined: none appears. */
  readonly root?: string;
  now(): number;
}

/** The list of projects, as it changes. */
export function followedList({ projects, root, now }: Projects, warn: (error: unknown) => void): LivePage {
  const known = new Map<string, { readonly version: string; readonly project: WatchedResearch }>();
  /** Two hundred projects take a second to be read; only those are read again that have changed. */
  const look = async (folder: string): Promise<WatchedResearch | undefined> => {
    const files = [rrdFile(folder), ledgerFile(folder), lockFile(folder)];
    const version = [...files, join(folder, pauseName), join(folder, stopName)].map((path) => stampOf(path)).join();
    const before = known.get(folder);
    // A lock stays the same file when its process dies.
    if (before?.version === version && !before.project.running) return before.project;
    const project = await lookAt(folder);
    if (project === undefined) known.delete(folder);
    else known.set(folder, { version, project });
    return project;
  };
  return livePage({
    warn,
    async make() {
      const found: WatchedResearch[] = [];
      for (const folder of await projects()) {
        const project = await look(folder);
        if (project !== undefined) found.push(project);
      }
      return listPage(found, now());
    },
    watch: (changed) =>
      root === undefined
        ? async () => {}
        : watchFolder(root, { depth: 3, ignored: (path, isFile) => isOfNoInterest(root, path, isFile) }, changed),
  });
}
