import { basename, dirname, resolve } from "node:path";
import { watch as watchFiles } from "chokidar";
import fastGlob from "fast-glob";
import { hiddenName } from "../../engine/lib/layout.js";
import { clockTime } from "../../engine/lib/words.js";
import { readStats } from "../../engine/storage/regular-file.js";
import type { Io } from "../../engine/ui/io.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import type { Standing } from "../../engine/ui/state-text.js";
import { canRepaint, wrapForTerminal } from "../../engine/ui/terminal/format.js";
import { createRepainter } from "../../engine/ui/terminal/repaint.js";
import { type StateChange, changeLine, changesOf, watchTable } from "../../engine/ui/watch-lines.js";
import type { FolderOptions } from "../../research/overview/find-research.js";
import { isIrrelevant } from "../../web/watch-folder.js";
import { findWork, type FoundWork, kinds, standingOf, workIn } from "../kinds/find-work.js";

/** Maximum depth of folders below the watched one. */
const maxDepth = 5;
/** Milliseconds to wait for more changes: one iteration writes several files. */
const settleMs = 150;
/** Milliseconds between checks of elapsed times and of locks of killed processes. */
const recheckMs = 2_000;

/**
 * Shows the state of all projects and tasks in a folder, whichever process works on them, until `abortSignal` is
 * aborted (by default with Ctrl+C). Changes nothing.
 */
export async function watchCommand(
  { folder, json }: FolderOptions,
  io: Io,
  abortSignal?: AbortSignal,
): Promise<number> {
  const root = folder === undefined ? io.cwd : await watchedFolder(io.cwd, folder);
  const signals = abortSignal === undefined ? listenForSignals(io) : undefined;
  const endSignal = abortSignal ?? signals?.finish ?? AbortSignal.abort();
  const states = new Map<string, Standing>();
  const works = new Map<string, FoundWork>();
  const screen = json || !canRepaint(io) ? undefined : createRepainter(io);
  const table = () =>
    watchTable(
      [...states.values()].sort((a, b) => basename(a.folder).localeCompare(basename(b.folder))),
      io.clock.now(),
      io.columns,
    );
  const paint = (lines: readonly string[] = []) => screen?.paint(lines, table());

  const printChange = (change: StateChange) => {
    if (json) return io.stdout(`${JSON.stringify(jsonOf(change, io.clock.now()))}\n`);
    const line = `${clockTime(io.clock.now())} ${changeLine(change, io.clock.now())}`;
    if (screen === undefined) io.stderr(`${line}\n`);
    else paint(wrapForTerminal(line, io).split("\n"));
  };

  const checkWork = async (workFolder: string) => {
    // The state file may be missing for a moment while it is saved; then the kind of the work is the same as before.
    const work = workIn(workFolder, root) ?? works.get(workFolder);
    const [before, after] = [states.get(workFolder), work && (await standingOf(work))];
    if (work !== undefined) works.set(workFolder, work);
    if (after === undefined) states.delete(workFolder);
    else states.set(workFolder, after);
    for (const change of changesOf(before, after)) printChange(change);
  };

  const findStates = async () =>
    (
      await fastGlob(
        stateNames.map((name) => `**/${name}`),
        { cwd: root, absolute: true, deep: maxDepth, ignore: ["**/node_modules/**"] },
      )
    ).sort();
  for (const workFolder of new Set((await findStates()).map((file) => dirname(file)))) await checkWork(workFolder);
  if (!json && screen === undefined) for (const line of table()) io.stderr(`${line}\n`);
  if (states.size === 0 && !json) io.stderr(`No project or task under ${root} yet; waiting for one.\n`);
  paint();

  // One check after the other: two at the same time could report the same iteration twice.
  const changedFolders = new Set<string>();
  let pendingChecks = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const checkSoon = (workFolder: string) => {
    changedFolders.add(workFolder);
    timer ??= setTimeout(() => {
      timer = undefined;
      const folders = [...changedFolders];
      changedFolders.clear();
      pendingChecks = pendingChecks.then(async () => {
        for (const workFolder of folders) await checkWork(workFolder);
        paint();
      });
    }, settleMs);
  };
  const isIgnored = (path: string, stats?: { isFile(): boolean }) =>
    isIrrelevant(root, path, stats?.isFile() === true, stateNames);
  const filter = { ignored: isIgnored };
  const watcher = watchFiles(root, { ...filter, ignoreInitial: true, depth: maxDepth, followSymlinks: false });
  watcher.on("all", (event, path) => void (event.endsWith("Dir") || checkSoon(folderOf(path))));
  // Changes before the watcher was ready have no events.
  watcher.on("ready", () => void findStates().then((files) => files.forEach((file) => checkSoon(dirname(file)))));
  // Folders that can't be watched are checked at intervals.
  watcher.on("error", () => undefined);
  // A killed process leaves its lock, and no file changes.
  const interval = setInterval(() => {
    for (const standing of states.values()) if (standing.running) checkSoon(standing.folder);
    paint();
  }, recheckMs);
  try {
    if (!endSignal.aborted)
      await new Promise<void>((done) => endSignal.addEventListener("abort", () => done(), { once: true }));
  } finally {
    clearInterval(interval);
    clearTimeout(timer);
    await watcher.close();
    await pendingChecks;
    screen?.close();
    signals?.stop();
  }
  return 0;
}

/**
 * The folder of the work with this name, or any existing folder, because work may start in it later.
 * @throws ExpectedError if neither exists.
 */
async function watchedFolder(cwd: string, argument: string): Promise<string> {
  const path = resolve(cwd, argument);
  return findWork(cwd, argument).then(
    ({ folder }) => folder,
    (error: unknown) => (readStats(path)?.isDirectory() === true ? path : Promise.reject(error)),
  );
}

/** A change as a JSON object, like `iteration-ended` of a run. */
function jsonOf(change: StateChange, now: number): object {
  const { noun, folder, problem, phase, progress, running, lastRun, underWay, spending } = change.work;
  const common = { type: change.type, at: new Date(now).toISOString(), kind: noun, research: basename(folder), folder };
  if (problem !== undefined) return { ...common, reason: problem };
  const line = change.type === "iteration" ? { line: change.line } : {};
  const { iterations: _, ...usage } = spending;
  return { ...common, phase, progress, running, under_way: underWay, last_run: lastRun ?? null, ...line, ...usage };
}

const stateNames = kinds.map(({ stateName }) => stateName);
/** The folder of the work to which a file belongs. */
const folderOf = (path: string): string =>
  basename(dirname(path)) === hiddenName ? dirname(dirname(path)) : dirname(path);
