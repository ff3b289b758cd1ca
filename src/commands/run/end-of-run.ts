import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ResolvedConfig } from "../../compose/config.js";
import type { Verdict } from "../../engine/loop/types.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import { labelledLines, truncate } from "../../engine/ui/terminal/format.js";
import { costText, uncountedText } from "../../engine/ui/terminal/tally.js";
import type { Io } from "../../engine/ui/io.js";
import { pageName, reportName } from "../../research/project-files/layout.js";
import { readResearch } from "../../research/project-files/research.js";
import { totalOf } from "../../research/overview/costs.js";
import { countsOf, countsText } from "../../research/overview/counts.js";
import { runStatusOf } from "../../engine/storage/running-units.js";
import { readNarrative } from "../../research/units/narrative/kept-narrative.js";
import { nameFor, displayPath } from "../../research/overview/find-research.js";

/** The first sentences of an answer tell whether the report is worth opening; it holds the rest. */
const maxAnswerChars = 240;

/**
 * What a project has come to when a run of it ends, and what to do next; nothing where it can't be read, which the
 * verdict says.
 */
export async function endLines(
  folder: string,
  verdict: Verdict,
  { agent, unconfined, origins }: Pick<ResolvedConfig, "agent" | "unconfined" | "origins">,
  io: Io,
): Promise<string[]> {
  const read = await readResearch(folder).catch(() => undefined);
  if (read === undefined) return [];
  const name = nameFor(io.cwd, folder);
  const counts = countsOf(read.rrd);
  const total = totalOf(read.rrd, read.ledger);
  const isHeld = (await runStatusOf(folder)).held.length > 0;
  // What was typed for this run alone has to be typed again.
  const typed = [
    ...(origins.agent === "--agent" ? [` --agent ${shellWord(agent)}`] : []),
    ...(origins.unconfined === "--unconfined" && unconfined ? [" --unconfined"] : []),
  ].join("");
  const narrative = await readNarrative(folder);
  const isUnchecked = narrative?.check?.unchecked !== undefined;
  const check = isUnchecked
    ? (await import("../../research/report/narrative/meaning.js")).meaningOf(narrative, read.rrd)
    : undefined;
  const answer = verdict.verdict === "complete" ? (narrative?.answer ?? []).map(({ text }) => text).join(" ") : "";
  const rows: Row[] = [
    ...(answer === "" ? [] : [{ label: "Answer", text: truncate(oneLine(answer), maxAnswerChars) }]),
    { label: "Papers", text: countsText(counts) },
    ...(counts.quotes.all === 0
      ? []
      : [{ label: "Quotes", text: `${counts.quotes.found} of ${counts.quotes.all} found in the papers` }]),
    ...(check === undefined ? [] : [{ label: "Check", text: oneLine(check.says) }]),
    {
      label: "Cost",
      text: `${costText(total)}, for ${quantity(total.iterations, "iteration")} of the project in all${uncountedText(total.not_counted)}`,
    },
    ...(counts.waiting === undefined
      ? []
      : [{ label: "Decide", text: "what waits for you, a key each:", commands: [`research-ralph screen ${name}`] }]),
    {
      label: "Next",
      ...nextStep(name, `research-ralph run ${name}${typed}`, verdict, isHeld, read.ledger.at(-1)?.agent),
    },
  ];
  const lines = rows.flatMap((row) => rowLines(row, io.columns));
  // Never broken: a person clicks on it, or copies it.
  const reports = [pageName, reportName].map((name) => join(folder, name)).filter((path) => existsSync(path));
  return [...(reports.length === 0 ? [] : reportLines(reports, io)), ...lines];
}

/** The paths behind their label; where one does not fit, each on a line of its own below it. */
function reportLines(paths: readonly string[], io: Io): string[] {
  const room = io.columns - 11;
  // A log is read elsewhere, so its paths are absolute.
  const texts = io.isTTY || io.color ? paths.map((path) => displayPath(io.cwd, path)) : paths;
  const links = paths.map((path, index) => link(path, texts[index] ?? path, io));
  if (texts.some((text) => text.length > room)) return ["  Report", ...links.map((each) => `    ${each}`)];
  return links.map((each, index) => `  ${(index === 0 ? "Report" : "").padEnd(8)}${each}`);
}

const link = (path: string, text: string, { color }: Io): string =>
  color ? `\u001b]8;;${pathToFileURL(path).href}\u001b\\${text}\u001b]8;;\u001b\\` : text;

interface Row {
  readonly label: string;
  readonly text: string;
  /** To be typed or copied, and so never broken. */
  readonly commands?: readonly string[];
}

const rowLines = ({ label, text, commands = [] }: Row, columns: number): string[] => [
  ...labelledLines(`  ${label.padEnd(8)}`, text, columns - 2),
  ...commands.map((command) => (command.length <= columns - 11 ? `${" ".repeat(10)}${command}` : command)),
];

/** `agent`: that of the last iteration, which may not be the one that the settings name. */
function nextStep(
  name: string,
  run: string,
  { verdict }: Verdict,
  isHeld: boolean,
  agent?: string,
): Omit<Row, "label"> {
  const doctor = `research-ralph doctor${agent === undefined ? "" : ` --agent ${shellWord(agent)}`}`;
  if (isHeld) return { text: "let it continue, then run it:", commands: [`research-ralph stop --undo ${name}`, run] };
  switch (verdict) {
    case "complete":
      return { text: "read the report, and the papers:", commands: [`research-ralph show ${name}`] };
    case "stuck":
      return {
        text: "say what to do differently, then run it again:",
        commands: [`research-ralph steer ${name} "…"`, run],
      };
    case "failed":
      return { text: "see what is missing, then run it again:", commands: [doctor, run] };
    case "blocked":
      return { text: "do what the verdict says, then run it again:", commands: [run] };
    default:
      return { text: "run it again to continue:", commands: [run] };
  }
}
