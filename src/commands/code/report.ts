import { type ConfigFlags, configToRead } from "../../compose/config.js";
import { redactorFor } from "../../compose/agents.js";
import { codeReportName } from "../../code/project-files/layout.js";
import { codeFormat, roundsOf } from "../../code/project-files/state-file.js";
import { keepReport } from "../../code/workflow/report.js";
import { latestTests } from "../../code/workflow/status.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import type { Io } from "../../engine/ui/io.js";
import { many } from "../../engine/lib/words.js";
import { wrap } from "../../engine/ui/terminal/format.js";
import { shown } from "../../research/overview/find-research.js";

/** Writes the report of a coding run again from its records, and says what stands in it. */
export async function codeReport(
  folder: string,
  { json, check, flags }: { readonly json: boolean; readonly check: boolean; readonly flags: ConfigFlags },
  io: Io,
): Promise<number> {
  if (check)
    throw new ExpectedError("--check is for the report of a project of papers; a coding run has no quotes.", 2);
  const { state } = await readRecords(folder, codeFormat);
  const config = await configToRead(io, flags);
  const written = await keepReport(folder, state, redactorFor(config, io));
  const [rounds, tests] = [roundsOf(state), latestTests(state)];
  const findings = rounds.flatMap((round) => round.findings ?? []);
  if (json) {
    const report = { folder, job: state.job, rounds, tests, findings, written: written ? [codeReportName] : [] };
    io.stdout(`${JSON.stringify(report, null, 2)}\n`);
    return 0;
  }
  const figures = [
    many(rounds.length, "round"),
    ...(tests === undefined ? [] : [`${tests.passed} passed, ${tests.failing} failing`]),
    many(findings.length, "finding"),
  ].join(" · ");
  const end = written
    ? `Written in ${shown(io.cwd, folder)}: ${codeReportName}`
    : `${codeReportName} was not written by research-ralph and stays as it is.`;
  const title = oneLine(state.job.text ?? "Repair the failing tests");
  for (const text of [title, figures, end]) for (const line of wrap(text, io.columns)) io.stdout(`${line}\n`);
  return 0;
}
