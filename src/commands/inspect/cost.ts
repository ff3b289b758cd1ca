import { basename } from "node:path";
import { configToRead } from "../../compose/config.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { shortDuration, quantity } from "../../engine/lib/words.js";
import { readLedger } from "../../engine/storage/state/ledger.js";
import type { Io } from "../../engine/ui/io.js";
import { labelledLines, say, wrap } from "../../engine/ui/terminal/format.js";
import { savingText } from "../../engine/ui/terminal/history-lines.js";
import { tableLines } from "../../engine/ui/terminal/table.js";
import {
  areTokensKnown,
  uncountedText,
  missingCosts,
  shortCost,
  unlabelledCost,
  unlabelledTokens,
  forecastSentence,
  type UsageSum,
} from "../../engine/ui/terminal/tally.js";
import { type Costs, sumOf, sumOfSums, type WorkCosts } from "../../research/overview/costs.js";
import type { FolderOptions } from "../../research/overview/find-research.js";
import { laterFormatIn } from "../../research/project-files/research.js";
import { findWork, listWork, workIn } from "../kinds/find-work.js";

/**
 * Prints the cost of a project or a task, by phase, agent, model and role. Without a folder, prints the cost of each
 * project and task in the current folder, and of `read` and of `new` if it created no project.
 */
export async function costCommand({ folder: argument, json }: FolderOptions, io: Io): Promise<number> {
  const all = argument === undefined ? await listWork(io.cwd) : [];
  const isSingle = argument !== undefined || all.length === 1 || workIn(io.cwd, io.cwd) !== undefined;
  if (isSingle) {
    const { kind, folder } = await findWork(io.cwd, argument);
    const costs = await kind.costs(folder, io);
    if (kind.noun === "project") {
      const laterFormat = await laterFormatIn(folder);
      if (laterFormat !== undefined) say(io, `warning: ${laterFormat}`);
    }
    if (json) io.stdout(`${JSON.stringify({ folder, ...costs }, null, 2)}\n`);
    else for (const line of costLines(costs, io.tableWidth)) io.stdout(`${line}\n`);
    return 0;
  }
  const { stateDir } = await configToRead(io);
  const otherLines = (await readLedger(stateDir)).lines;
  // The cost of work that can't be read is unknown and counts as zero.
  const sums = await Promise.all(
    all.map(async ({ kind, folder, path }) => ({
      folder,
      ...(await kind.readStanding(folder, path).catch(() => ({ spending: sumOf([]) }))).spending,
    })),
  );
  const total = sumOfSums([...sums, sumOf(otherLines)]);
  if (json) {
    io.stdout(`${JSON.stringify({ researches: sums, elsewhere: sumOf(otherLines), total }, null, 2)}\n`);
    return 0;
  }
  const rows: [string, UsageSum][] = [...sums.map(({ folder, ...sum }): [string, UsageSum] => [basename(folder), sum])];
  if (otherLines.length > 0) rows.push(["read and failed new", sumOf(otherLines)]);
  for (const line of table([...rows, ["total", total]], io.tableWidth)) io.stdout(`${line}\n`);
  return 0;
}

function costLines(costs: WorkCosts & Partial<Costs>, columns: number): string[] {
  const { total, phases, agents, models, parts, refused, failed, per_paper, historian, summaries, contexts, forecast } =
    costs;
  const section = (title: string, sums: Readonly<Record<string, UsageSum>>) =>
    Object.keys(sums).length === 0 ? [] : ["", `By ${title}`, ...table(Object.entries(sums), columns)];
  const wrapLines = (text: string) => wrap(text, columns - 1);
  const indentedLines = (text: string) => labelledLines("  ", text, columns - 1);
  const contextTexts = Object.entries(contexts).map(([kind, share]) => `${oneLine(kind)} ${Math.round(share * 100)} %`);
  if (total.iterations === 0 && total.tokens === 0 && total.unrecorded === undefined)
    return [
      "Nothing has been spent yet.",
      ...(forecast === undefined ? [] : ["", ...wrapLines(forecastSentence(forecast))]),
    ];
  return [
    ...table([["Total", total]], columns),
    ...(total.not_counted === undefined
      ? []
      : indentedLines(`${quantity(total.iterations, "iteration")}${uncountedText(total.not_counted)}.`)),
    ...missingCosts(total).flatMap((missing) => indentedLines(`Cost not known: ${missing}.`)),
    ...(phases === undefined ? [] : section("phase", phases)),
    ...section("agent", agents),
    ...section("model", models),
    ...(parts === undefined ? [] : section(phases === undefined ? "role" : "part of shared units", parts)),
    ...(refused.iterations + failed.iterations === 0
      ? []
      : [
          "",
          "Without a result",
          ...table(
            [
              ["refused", refused],
              ["failed", failed],
            ],
            columns,
          ),
        ]),
    ...(per_paper === undefined
      ? []
      : [
          "",
          ...wrapLines(
            `Each paper that was read (${per_paper.papers} so far): ${usageText(per_paper)}, including attempts without a result`,
          ),
        ]),
    ...(historian === undefined
      ? []
      : ["", ...wrapLines(`Summaries of the history by a model: ${usageText(historian)}`)]),
    ...(summaries === undefined
      ? []
      : [
          "",
          ...wrapLines(
            `History summarised ${quantity(summaries.times, "time")}: about ${savingText(summaries.tokens_saved)}`,
          ),
        ]),
    ...(contextTexts.length === 0 ? [] : ["", ...wrapLines(`Fullest context: ${contextTexts.join(", ")}`)]),
    ...(forecast === undefined ? [] : ["", ...wrapLines(forecastSentence(forecast))]),
    ...(total.estimated === true
      ? ["", ...wrapLines("≈ estimated from a dated price table, because the agent reports no cost")]
      : []),
    ...(total.subscription === true
      ? ["", ...wrapLines("* used under a subscription: the dollars are what the same use would cost by API")]
      : []),
  ];
}

/** The cost, with the mark * if it was used under a subscription. */
const costText = (sum: UsageSum, text: typeof shortCost): string =>
  `${text(sum)}${sum.subscription === true && sum.cost_usd !== undefined ? "*" : ""}`;

const usageText = (sum: UsageSum): string =>
  [costText(sum, unlabelledCost), unlabelledTokens(sum), shortDuration(sum.seconds * 1000)].join(", ");

const table = (rows: readonly (readonly [string, UsageSum])[], columns: number): string[] =>
  tableLines(
    [{ cut: "before-date" }, {}, {}, {}, {}],
    rows.map(([name, sum]) => [
      `  ${oneLine(name)}`,
      quantity(sum.iterations, "iteration"),
      costText(sum, shortCost),
      areTokensKnown(sum) ? unlabelledTokens(sum) : "– tokens",
      shortDuration(sum.seconds * 1000),
    ]),
    columns - 1,
  );
