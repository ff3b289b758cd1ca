import type { FolderOptions } from "../../research/overview/find-research.js";
import { displayPath } from "../../research/overview/find-research.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { type Standing, stateText } from "../../engine/ui/state-text.js";
import { bar, say, statusRow, wrap } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { findWork } from "../kinds/find-work.js";

/** Prints where a piece of work stands; reads only. `papers`: all papers of a project, not only the first twenty. */
export async function statusCommand(
  { folder: argument, json, papers = false }: FolderOptions & { readonly papers?: boolean },
  io: Io,
): Promise<number> {
  const { kind, folder, called } = await findWork(io.cwd, argument);
  const standing = await kind.look(folder, called);
  const { json: report, rows, below = [], warning } = await kind.status(folder, io, { standing, papers });
  if (warning !== undefined) say(io, `warning: ${warning}`);
  if (json) io.stdout(`${JSON.stringify(report, null, 2)}\n`);
  else {
    const lines = rows.flatMap(([label, text]) => statusRow(label, text, io.columns));
    for (const line of [...headLines(standing, io), ...lines, ...below]) io.stdout(`${line}\n`);
  }
  return 0;
}

/** What all work has: what it is called, its folder, how it stands, what is under way and what is next. */
function headLines(standing: Standing, io: Io): string[] {
  const { headline, underWay, lastRun, next, progress } = stateText(standing, io.clock.now());
  const { done, total } = standing.progress;
  const percent = done === 0 ? "" : ` (${Math.floor((done / total) * 100)}%)`;
  const row = (label: string, text: string | undefined) =>
    text === undefined ? [] : statusRow(label, text, io.columns);
  return [
    ...wrap(oneLine(standing.title ?? ""), Math.max(20, io.columns - 1)).slice(0, 3),
    ...(standing.folder === io.cwd ? [] : [displayPath(io.cwd, standing.folder)]),
    "",
    ...row("State", headline),
    ...underWay.flatMap((each) => row("Under way", each)),
    ...row("Last run", lastRun),
    ...row("Next", next),
    ...row("Progress", `${bar(done, total, 20)} ${progress}${percent}`),
  ];
}
