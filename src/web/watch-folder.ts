import { watch } from "chokidar";

/**
 * Watches a folder as deep as `depth` until the returned function is called; `ignored` says of what nothing is wanted.
 * What can't be watched, such as a folder that may not be read, is left to those who look by themselves.
 */
export function watchFolder(
  folder: string,
  { depth, ignored }: { readonly depth: number; readonly ignored: (path: string, isFile: boolean) => boolean },
  changed: () => void,
): () => Promise<void> {
  const watcher = watch(folder, {
    depth,
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (path, stats) => ignored(path, stats?.isFile() === true),
  });
  watcher.on("all", changed);
  // No event reports what happened before everything was watched.
  watcher.on("ready", changed);
  watcher.on("error", () => undefined);
  return () => watcher.close();
}
