import { basename, dirname, resolve } from "node:path";
import { watch as watchFiles } from "chokidar";
import fastGlob from "fast-glob";
import { hiddenName } from "../../engine/lib/layout.js";
import { clockTime } from "../../engine/lib/words.js";
import { statsAt } from "../../engine/storage/regular-file.js";
import type { Io } from "../../engine/ui/io.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import type { Standing } from "../../engine/ui/state-text.js";
import { canRepaint, wrapForTerminal } from "../../engine/ui/terminal/format.js";
import { repainter } from "../../engine/ui/terminal/repaint.js";
import { type StateChange, changeLine, changesOf, watchTable } from "../../engine/ui/watch-lines.js";
import type { FolderOptions } from "../../research/overview/find-research.js";
import { isIrrelevant } from "../../web/watch-folder.js";
import { findWork, type FoundWork, kinds, lookAt, workIn } from "../kinds/find-work.js";

/** Folders below the watched one in which projects are looked for. */
const deepest = 5;
/** A fold writes several files; they are looked at together. */
const settleMs = 150;
/** How often elapsed times and locks of killed processes are looked at, in milliseconds. */
const lookAgainMs = 2_000;

/**
 * Follows all projects and tasks under a folder until `ended` (by default Ctrl+C), no matter which process
 * works on them. Changes nothing.
 */
export async function watchCommand({ folder, json }: FolderOptions, io: Io, ended?: AbortSignal): Promise<number> {
  const root = folder === undefined ? io.cwd : await watchedFolder(io.cwd, folder);
  const signals = ended === undefined ? listenForSignals(io) : undefined;
  const end = ended ?? signals?.finish ?? AbortSignal.abort();
  const known = new Map<string, Standing>();
  const works = new Map<string, FoundWork>();
  const screen = json || !canRepaint(io) ? undefined : repainter(io);
  const table = () =>
    watchTable(
      [...known.values()].sort((a, b) => basename(a.folder).localeCompare(basename(b.folder))),
      io.clock.now(),
      io.columns,
    );
  const paint = (lines: readonly string[] = []) => screen?.paint(lines, table());

  const tell = (change: StateChange) => {
    if (json) return io.stdout(`${JSON.stringify(jsonOf(change, io.clock.now()))}\n`);
    const line = `${clockTime(io.clock.now())} ${changeLine(change, io.clock.now())}`;
    if (screen === undefined) io.stderr(`${line}\n`);
    else paint(wrapForTerminal(line, io).split("\n"));
  };

  const look = async (where: string) => {
    // A state that is gone may just be being saved: it is asked for as what it was.
    const work = workIn(where, root) ?? works.get(where);
    const [before, after] = [known.get(where), work && (await lookAt(work))];
    if (work !== undefined) works.set(where, work);
    if (after === undefined) known.delete(where);
    else known.set(where, after);
    for (const change of changesOf(before, after)) tell(change);
  };

  const find = async () =>
    (
      await fastGlob(
        stateNames.map((name) => `**/${name}`),
        { cwd: root, absolute: true, deep: deepest, ignore: ["**/node_modules/**"] },
      )
    ).sort();
  for (const where of new Set((await find()).map((file) => dirname(file)))) await look(where);
  if (!json && screen === undefined) for (const line of table()) io.stderr(`${line}\n`);
  if (known.size === 0 && !json) io.stderr(`No project or task under ${root} yet; waiting for one.\n`);
  paint();

  // One look after the other: two at once could tell of the same iteration twice.
  const changed = new Set<string>();
  let looking = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const lookSoon = (where: string) => {
    changed.add(where);
    timer ??= setTimeout(() => {
      timer = undefined;
      const folders = [...changed];
      changed.clear();
      looking = looking.then(async () => {
        for (const each of folders) await look(each);
        paint();
      });
    }, settleMs);
  };
  const ignored = (path: string, stats?: { isFile(): boolean }) =>
    isIrrelevant(root, path, stats?.isFile() === true, stateNames);
  const watcher = watchFiles(root, { ignored, ignoreInitial: true, depth: deepest, followSymlinks: false });
  watcher.on("all", (event, path) => void (event.endsWith("Dir") || lookSoon(folderOf(path))));
  // No event reports what happened before everything was watched.
  watcher.on("ready", () => void find().then((files) => files.forEach((file) => lookSoon(dirname(file)))));
  // What can't be watched, such as a folder that may not be read, is looked at all the same.
  watcher.on("error", () => undefined);
  // A killed process leaves its lock: no file changes then.
  const again = setInterval(() => {
    for (const each of known.values()) if (each.running) lookSoon(each.folder);
    paint();
  }, lookAgainMs);
  try {
    if (!end.aborted) await new Promise<void>((done) => end.addEventListener("abort", () => done(), { once: true }));
  } finally {
    clearInterval(again);
    clearTimeout(timer);
    await watcher.close();
    await looking;
    screen?.close();
    signals?.stop();
  }
  return 0;
}

/**
 * Work that is named as elsewhere, or any folder that is there: some may be begun in it yet. Throws ExpectedError where
 * nothing is.
 */
async function watchedFolder(cwd: string, argument: string): Promise<string> {
  const path = resolve(cwd, argument);
  return findWork(cwd, argument).then(
    ({ folder }) => folder,
    (error: unknown) => (statsAt(path)?.isDirectory() === true ? path : Promise.reject(error)),
  );
}

/** A change as one JSON object: what `iteration-ended` is for a run of one's own. */
function jsonOf(change: StateChange, now: number): object {
  const { noun, folder, broken, phase, progress, running, lastRun, underWay, spending } = change.work;
  const head = { type: change.type, at: new Date(now).toISOString(), kind: noun, research: basename(folder), folder };
  if (broken !== undefined) return { ...head, reason: broken };
  const line = change.type === "iteration" ? { line: change.line } : {};
  const { iterations: _, ...spent } = spending;
  return { ...head, phase, progress, running, under_way: underWay, last_run: lastRun ?? null, ...line, ...spent };
}

const stateNames = kinds.map(({ stateName }) => stateName);
/** The folder of the work that a file belongs to. */
const folderOf = (path: string): string =>
  basename(dirname(path)) === hiddenName ? dirname(dirname(path)) : dirname(path);
