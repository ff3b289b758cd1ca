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
import { nameFor } from "../../research/overview/find-research.js";

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
  const named = reports.map((path, index) => `  ${(index === 0 ? "Report" : "").padEnd(8)}${link(path, io)}`);
  return [...named, ...lines];
}

const link = (path: string, { color }: Io): string =>
  color ? `\u001b]8;;${pathToFileURL(path).href}\u001b\\${path}\u001b]8;;\u001b\\` : path;

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
