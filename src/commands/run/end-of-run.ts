import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Verdict } from "../../engine/loop/types.js";
import { many, wrap } from "../../engine/ui/terminal/format.js";
import { costText } from "../../engine/ui/terminal/tally.js";
import type { Io } from "../../engine/ui/io.js";
import { pageName, reportName } from "../../research/folder/layout.js";
import { readResearch } from "../../research/folder/research.js";
import { totalOf } from "../../research/overview/costs.js";
import { countsOf, countsText } from "../../research/overview/counts.js";
import { workStateOf } from "../../research/overview/work-state.js";
import { nameFor, shown } from "../../research/overview/find-research.js";

/**
 * What a project has come to when a run of it ends, and what to do next; nothing where it can't be read, which the
 * verdict says.
 */
export async function endLines(folder: string, verdict: Verdict, io: Io): Promise<string[]> {
  const read = await readResearch(folder).catch(() => undefined);
  if (read === undefined) return [];
  const name = nameFor(io.cwd, folder);
  const counts = countsOf(read.rrd);
  const total = totalOf(read.rrd, read.ledger);
  const rows: [string, string][] = [
    ["Papers", countsText(counts)],
    ...(counts.quotes.all === 0
      ? []
      : [["Quotes", `${counts.quotes.found} of ${counts.quotes.all} found in the papers`] satisfies [string, string]]),
    ["Cost", `${costText(total)}, for ${many(total.iterations, "iteration")} of the project in all`],
    ...(counts.waiting === undefined
      ? []
      : [["Decide", `research-ralph status ${name} lists what waits for you`] satisfies [string, string]]),
    ["Next", nextStep(name, verdict, (await workStateOf(folder)).held.length > 0)],
  ];
  const lines = rows.flatMap(([label, text]) =>
    wrap(text, Math.max(20, io.columns - 12)).map((line, index) => `  ${(index === 0 ? label : "").padEnd(8)}${line}`),
  );
  // Never broken: a person clicks on it, or copies it.
  const reports = [pageName, reportName].map((name) => join(folder, name)).filter((path) => existsSync(path));
  const named = reports.flatMap((path, index) => reportLines(path, index === 0 ? "Report" : "", io));
  return [...named, ...lines];
}

/** The path behind its label; where that does not fit, as a link that is shorter, or from the first column. */
function reportLines(path: string, label: string, io: Io): string[] {
  const row = (text: string) => `  ${label.padEnd(8)}${link(path, text, io)}`;
  const room = io.columns - 11;
  if (path.length <= room) return [row(path)];
  const near = shown(io.cwd, path);
  if (io.color && near.length <= room) return [row(near)];
  return [...(label === "" ? [] : [`  ${label}`]), link(path, path, io)];
}

const link = (path: string, text: string, { color }: Io): string =>
  color ? `\u001b]8;;${pathToFileURL(path).href}\u001b\\${text}\u001b]8;;\u001b\\` : text;

function nextStep(name: string, { verdict }: Verdict, isHeld: boolean): string {
  if (isHeld) return `research-ralph resume ${name}, then research-ralph run ${name}`;
  switch (verdict) {
    case "complete":
      return `read the report; research-ralph show ${name} lists the papers, best first`;
    case "stuck":
      return `research-ralph steer ${name} "…" says what to do otherwise, then research-ralph run ${name}`;
    case "failed":
      return `research-ralph doctor, then research-ralph run ${name}`;
    case "blocked":
      return `do what the verdict says, then research-ralph run ${name}`;
    default:
      return `research-ralph run ${name} continues`;
  }
}
