import { type ConfigFlags, configToRead } from "../../compose/config.js";
import { workspaceOf } from "../../compose/open-task.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import type { Io } from "../../engine/ui/io.js";
import { wrap } from "../../engine/ui/terminal/format.js";
import { displayPath } from "../../research/overview/find-research.js";
import { roundsOf, spentBy } from "../../task/plan/used.js";
import { recordText, writeViews } from "../../task/plan/views.js";
import { taskRecords } from "../../task/project-files/steered-task.js";
import { countMet } from "../../task/workflow/status.js";

/** Writes the record of a task again from its state, and prints a summary of it. */
export async function taskReport(
  folder: string,
  { json, check, flags }: { readonly json: boolean; readonly check: boolean; readonly flags: ConfigFlags },
  io: Io,
): Promise<number> {
  if (check) throw new ExpectedError("--check is for the report of a project of papers; a task has no quotes.", 2);
  const { state } = await taskRecords(folder);
  const config = await configToRead(io, flags);
  const { views } = config.task;
  const { written } = await writeViews(workspaceOf({ folder }, config), views, state, new Set());
  const [rounds, { task, checks, tested }] = [roundsOf(state), state];
  const findings = rounds.flatMap((round) => round.findings ?? []);
  if (json) {
    const report = { folder, task, checks, rounds, tests: tested, findings, written };
    io.stdout(`${JSON.stringify(report, null, 2)}\n`);
    return 0;
  }
  const { iterations } = spentBy(state);
  const figures = [
    `${countMet(checks)} of ${task.acceptance_criteria.length} criteria met`,
    quantity(iterations, state.rounds === undefined ? "iteration" : "round"),
    ...(tested === undefined ? [] : [`${tested.passed} tests passed, ${tested.failing} failing`]),
    ...(findings.length === 0 ? [] : [quantity(findings.length, "finding")]),
  ].join(", ");
  const endText = written.includes(views.record)
    ? `Written: ${displayPath(io.cwd, folder) === "." ? "" : `${displayPath(io.cwd, folder)}/`}${views.record}`
    : `${views.record} was not written by research-ralph and stays as it is:\n\n${recordText(state)}`;
  for (const text of [oneLine(task.task), figures]) for (const line of wrap(text, io.columns)) io.stdout(`${line}\n`);
  io.stdout(`${endText}\n`);
  return 0;
}
