import type { FolderOptions } from "../../research/overview/find-research.js";
import { displayPath } from "../../research/overview/find-research.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { type Standing, stateText } from "../../engine/ui/state-text.js";
import { progressBar, say, statusLines, wrap } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { findWork } from "../kinds/find-work.js";

/** Prints the state of a project or a task; writes nothing. `papers`: list all papers, not only the first twenty. */
export async function statusCommand(
  { folder: argument, json, papers = false }: FolderOptions & { readonly papers?: boolean },
  io: Io,
): Promise<number> {
  const { kind, folder, commandName } = await findWork(io.cwd, argument);
  const standing = await kind.readStanding(folder, commandName);
  const { json: report, rows, linesBelow = [], warning } = await kind.status(folder, io, { standing, papers });
  if (warning !== undefined) say(io, `warning: ${warning}`);
  if (json) io.stdout(`${JSON.stringify(report, null, 2)}\n`);
  else {
    const lines = rows.flatMap(([label, text]) => statusLines(label, text, io.columns));
    for (const line of [...headLines(standing, io), ...lines, ...linesBelow]) io.stdout(`${line}\n`);
  }
  return 0;
}

/** The lines that projects and tasks have in common: title, folder, state, units under way and the next command. */
function headLines(standing: Standing, io: Io): string[] {
  const { headline, underWay, lastRun, next, progress } = stateText(standing, io.clock.now());
  const { done, total } = standing.progress;
  const percent = done === 0 ? "" : ` (${Math.floor((done / total) * 100)}%)`;
  const row = (label: string, text: string | undefined) =>
    text === undefined ? [] : statusLines(label, text, io.columns);
  return [
    ...wrap(oneLine(standing.title ?? ""), Math.max(20, io.columns - 1)).slice(0, 3),
    ...(standing.folder === io.cwd ? [] : [displayPath(io.cwd, standing.folder)]),
    "",
    ...row("State", headline),
    ...underWay.flatMap((text) => row("Under way", text)),
    ...row("Last run", lastRun),
    ...row("Next", next),
    ...row("Progress", `${progressBar(done, total, 20)} ${progress}${percent}`),
  ];
}
