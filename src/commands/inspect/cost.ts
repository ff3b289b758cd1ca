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
  idleText,
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
 * Prints what a project or a task cost and what for; without a folder, what all projects and tasks
 * here did, and `new` and `read` that left none.
 */
export async function costCommand({ folder: argument, json }: FolderOptions, io: Io): Promise<number> {
  const all = argument === undefined ? await listWork(io.cwd) : [];
  const isOne = argument !== undefined || all.length === 1 || workIn(io.cwd, io.cwd) !== undefined;
  if (isOne) {
    const { kind, folder } = await findWork(io.cwd, argument);
    const costs = await kind.costs(folder, io);
    if (kind.noun === "project") {
      const later = await laterFormatIn(folder);
      if (later !== undefined) say(io, `warning: ${later}`);
    }
    if (json) io.stdout(`${JSON.stringify({ folder, ...costs }, null, 2)}\n`);
    else for (const line of costLines(costs, io.tableWidth)) io.stdout(`${line}\n`);
    return 0;
  }
  const { stateDir } = await configToRead(io);
  const elsewhere = (await readLedger(stateDir)).lines;
  // What can't be read has cost something that nobody knows.
  const sums = await Promise.all(
    all.map(async ({ kind, folder, where }) => ({
      folder,
      ...(await kind.look(folder, where).catch(() => ({ spending: sumOf([]) }))).spending,
    })),
  );
  const total = sumOfSums([...sums, sumOf(elsewhere)]);
  if (json) {
    io.stdout(`${JSON.stringify({ researches: sums, elsewhere: sumOf(elsewhere), total }, null, 2)}\n`);
    return 0;
  }
  const rows: [string, UsageSum][] = [...sums.map(({ folder, ...sum }): [string, UsageSum] => [basename(folder), sum])];
  if (elsewhere.length > 0) rows.push(["failed new, and read", sumOf(elsewhere)]);
  for (const line of table([...rows, ["total", total]], io.tableWidth)) io.stdout(`${line}\n`);
  return 0;
}

function costLines(costs: WorkCosts & Partial<Costs>, room: number): string[] {
  const { total, phases, agents, models, parts, refused, failed, per_paper, historian, summaries, contexts, forecast } =
    costs;
  const part = (title: string, sums: Readonly<Record<string, UsageSum>>) =>
    Object.keys(sums).length === 0 ? [] : ["", `By ${title}`, ...table(Object.entries(sums), room)];
  const flow = (text: string) => wrap(text, room - 1);
  const below = (text: string) => labelledLines("  ", text, room - 1);
  const full = Object.entries(contexts).map(([kind, share]) => `${oneLine(kind)} ${Math.round(share * 100)} %`);
  if (total.iterations === 0 && total.tokens === 0 && total.unrecorded === undefined)
    return [
      "Nothing has been spent yet.",
      ...(forecast === undefined ? [] : ["", ...flow(forecastSentence(forecast))]),
    ];
  return [
    ...table([["Total", total]], room),
    ...(total.not_counted === undefined
      ? []
      : below(`${quantity(total.iterations, "iteration")}${idleText(total.not_counted)}.`)),
    ...missingCosts(total).flatMap((missing) => below(`Cost not known: ${missing}.`)),
    ...(phases === undefined ? [] : part("phase", phases)),
    ...part("agent", agents),
    ...part("model", models),
    ...(parts === undefined ? [] : part(phases === undefined ? "role" : "part of shared units", parts)),
    ...(refused.iterations + failed.iterations === 0
      ? []
      : [
          "",
          "For nothing",
          ...table(
            [
              ["refused", refused],
              ["failed", failed],
            ],
            room,
          ),
        ]),
    ...(per_paper === undefined
      ? []
      : [
          "",
          ...flow(
            `A paper read (${per_paper.papers} so far): ${spentText(per_paper)}, including attempts without a result`,
          ),
        ]),
    ...(historian === undefined ? [] : ["", ...flow(`Summaries of the history by a model: ${spentText(historian)}`)]),
    ...(summaries === undefined
      ? []
      : [
          "",
          ...flow(
            `History summarised ${quantity(summaries.times, "time")}: about ${savingText(summaries.tokens_saved)}`,
          ),
        ]),
    ...(full.length === 0 ? [] : ["", ...flow(`Fullest context: ${full.join(", ")}`)]),
    ...(forecast === undefined ? [] : ["", ...flow(forecastSentence(forecast))]),
    ...(total.estimated === true
      ? ["", ...flow("≈ estimated from a dated price table, because the agent reports no cost")]
      : []),
    ...(total.subscription === true
      ? ["", ...flow("* used under a subscription: the dollars are what the same use would cost by API")]
      : []),
  ];
}

/** The cost with a mark for a subscription's. */
const dollars = (sum: UsageSum, text: typeof shortCost): string =>
  `${text(sum)}${sum.subscription === true && sum.cost_usd !== undefined ? "*" : ""}`;

const spentText = (sum: UsageSum): string =>
  [dollars(sum, unlabelledCost), unlabelledTokens(sum), shortDuration(sum.seconds * 1000)].join(", ");

const table = (rows: readonly (readonly [string, UsageSum])[], room: number): string[] =>
  tableLines(
    [{ cut: "before-date" }, {}, {}, {}, {}],
    rows.map(([name, sum]) => [
      `  ${oneLine(name)}`,
      quantity(sum.iterations, "iteration"),
      dollars(sum, shortCost),
      areTokensKnown(sum) ? unlabelledTokens(sum) : "– tokens",
      shortDuration(sum.seconds * 1000),
    ]),
    room - 1,
  );
