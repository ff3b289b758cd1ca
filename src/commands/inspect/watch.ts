import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { watch as watchFiles } from "chokidar";
import fastGlob from "fast-glob";
import type { Io } from "../../engine/ui/io.js";
import { repainter } from "../../engine/ui/terminal/repaint.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { clockTime, timeText } from "../../engine/lib/words.js";
import { flowed } from "../../engine/ui/terminal/format.js";
import { costOf, iterationLine, type WatchRow, watchTable } from "../../engine/ui/watch-lines.js";
import { findResearch, type FolderOptions } from "../../research/overview/find-research.js";
import {
  type Change,
  changesOf,
  folderOf,
  isOfNoInterest,
  lookAt,
  type WatchedResearch,
} from "../../research/overview/watched-research.js";
import { rrdFile, rrdName } from "../../research/project-files/layout.js";
import { codeStateName } from "../../code/project-files/layout.js";
import { codeFolderOf } from "../../code/project-files/steered-code.js";
import { stateName } from "../../task/project-files/layout.js";
import { given } from "../../engine/lib/given.js";
import { isWatchedWork, lookAtWork } from "./watched-work.js";
import { taskFolderOf } from "../task/task-folder.js";
import { underWayText } from "../../research/overview/work-state.js";
import { foundAt } from "../../engine/storage/regular-file.js";

/** Folders below the watched one in which projects are looked for. */
const deepest = 5;
/** A fold writes several files; they are looked at together. */
const settleMs = 150;
/** How often elapsed times and locks of killed processes are looked at, in milliseconds. */
const lookAgainMs = 2_000;

/**
 * Follows all projects, tasks and coding runs under a folder until `ended` (by default Ctrl+C), no matter which process
 * works on them. Changes nothing.
 */
export async function watchCommand({ folder, json }: FolderOptions, io: Io, ended?: AbortSignal): Promise<number> {
  const root = folder === undefined ? io.cwd : await watchedFolder(io.cwd, folder);
  const signals = ended === undefined ? listenForSignals(io) : undefined;
  const end = ended ?? signals?.finish ?? AbortSignal.abort();
  const known = new Map<string, WatchedResearch>();
  const screen = json || !io.isTTY ? undefined : repainter(io);
  const paint = (lines: readonly string[] = []) =>
    screen?.paint(
      lines,
      watchTable(
        sorted(known).map((each) => rowOf(each, io.clock.now())),
        io.columns,
      ),
    );

  const tell = (change: Change) => {
    if (json) return io.stdout(`${JSON.stringify(jsonOf(change, io.clock.now()))}\n`);
    const line = `${clockTime(io.clock.now())} ${lineOf(change, io.clock.now())}`;
    if (screen === undefined) io.stderr(`${line}\n`);
    else paint(flowed(line, io).split("\n"));
  };

  const look = async (where: string) => {
    // A project's file that is just being saved is waited for, which would be in vain for a task or a coding run.
    const isOther = !existsSync(rrdFile(where)) && isWatchedWork(where);
    const [before, after] = [known.get(where), await (isOther ? lookAtWork(where) : lookAt(where))];
    if (after === undefined) known.delete(where);
    else known.set(where, after);
    for (const change of changesOf(before, after)) tell(change);
  };

  const find = async () =>
    (
      await fastGlob(
        [rrdName, stateName, codeStateName].map((name) => `**/${name}`),
        { cwd: root, absolute: true, deep: deepest, ignore: ["**/node_modules/**"] },
      )
    ).sort();
  for (const where of new Set((await find()).map((file) => dirname(file)))) await look(where);
  if (!json && screen === undefined)
    for (const line of watchTable(
      sorted(known).map((each) => rowOf(each, io.clock.now())),
      io.columns,
    ))
      io.stderr(`${line}\n`);
  if (known.size === 0 && !json) io.stderr(`No project, task or coding run under ${root} yet; waiting for one.\n`);
  paint();

  // One look after the other: two at once could tell of the same iteration twice.
  const changed = new Set<string>();
  let looking = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const lookSoon = (path: string) => {
    changed.add(folderOf(path));
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
    isOfNoInterest(root, path, stats?.isFile() === true, [stateName, codeStateName]);
  const watcher = watchFiles(root, { ignored, ignoreInitial: true, depth: deepest, followSymlinks: false });
  watcher.on("all", (event, path) => void (event.endsWith("Dir") || lookSoon(path)));
  // No event reports what happened before everything was watched.
  watcher.on("ready", () => void find().then((files) => files.forEach(lookSoon)));
  // What can't be watched, such as a folder that may not be read, is looked at all the same.
  watcher.on("error", () => undefined);
  // A killed process leaves its lock: no file changes then.
  const again = setInterval(() => {
    for (const each of known.values()) if (each.running) lookSoon(rrdFile(each.folder));
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
 * A project that is named as elsewhere, or any folder that is there: one may be made in it yet. Throws ExpectedError
 * where nothing is.
 */
async function watchedFolder(cwd: string, argument: string): Promise<string> {
  const own = taskFolderOf(cwd, argument) ?? codeFolderOf(cwd, argument);
  if (own !== undefined) return own;
  const path = resolve(cwd, argument);
  return findResearch(cwd, argument).catch((error: unknown) => {
    if (foundAt(path)?.isDirectory() === true) return path;
    throw error;
  });
}

const sorted = (known: ReadonlyMap<string, WatchedResearch>): WatchedResearch[] =>
  [...known.values()].sort((a, b) => a.name.localeCompare(b.name));

function rowOf(research: WatchedResearch, now: number): WatchRow {
  const { name, broken, phase, progress, running, held, lastRun, ledger, underWay, spending, spentMs } = research;
  const { tokens, cost_usd, estimated, unreported } = spending;
  return {
    name,
    phase,
    progress,
    running,
    ...given({ doing: underWay.length === 0 ? undefined : underWay.map(underWayText).join(", ") }),
    ...given({ broken, held, ended: lastRun && `${lastRun.verdict} ${timeText(lastRun.at, now)}` }),
    iteration: ledger.reduce((most, line) => Math.max(most, line.iteration), 0),
    tokens,
    ...given({ cost_usd, estimated, unreported, spentMs }),
  };
}

function lineOf(change: Change, now: number): string {
  const { lastRun } = change.research;
  const row = rowOf(change.research, now);
  if (change.type === "broken") return `${row.name}: broken: ${oneLine(row.broken ?? "")}`;
  if (change.type === "iteration") return iterationLine(row, change.line);
  if (change.type === "started") return `${row.name}: a run is under way`;
  if (change.type === "gone") return `${row.name}: deleted`;
  const how =
    change.type === "crashed"
      ? "its run was killed; the next run continues from there"
      : lastRun === undefined
        ? "the run ended"
        : `the run ended: ${lastRun.verdict}: ${oneLine(lastRun.reason).replace(/\.$/, "")}`;
  const cost = costOf(row);
  return `${row.name}: ${how}; ${cost === undefined ? "its cost is not recorded" : `total cost ${cost}`}`;
}

/** A change as one JSON object: what `iteration-ended` is for a run of one's own. */
function jsonOf(change: Change, now: number): object {
  const { name, folder, broken, phase, progress, running, lastRun, underWay, spending } = change.research;
  const at = new Date(now).toISOString();
  const line = change.type === "iteration" ? { line: change.line } : {};
  const { iterations: _, ...spent } = spending;
  if (broken !== undefined) return { type: change.type, at, research: name, folder, reason: broken };
  return {
    type: change.type,
    at,
    research: name,
    folder,
    phase,
    progress,
    running,
    under_way: underWay,
    last_run: lastRun ?? null,
    ...line,
    ...spent,
  };
}
