import type { LedgerLine } from "../../engine/generated/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import type { RunStatus } from "../../engine/loop/types.js";
import { type SteeredWork, commandsOf } from "../../engine/storage/state/from-outside.js";
import { runStatusOf } from "../../engine/storage/running-units.js";
import type { Standing } from "../../engine/ui/state-text.js";
import type { Rrd } from "../generated/rrd.js";
import { namesIn } from "../papers/paper-keys.js";
import { kindOfLine } from "../units/kinds.js";
import { readResearch } from "../project-files/research.js";
import { changesSinceReport } from "../derived/since-report.js";
import { progressOf } from "../derived/status.js";
import { statusOf } from "../workflow/next-unit.js";
import { totalOf } from "./costs.js";
import { countsOf, countsText } from "./counts.js";
import { timeSpent } from "../workflow/timing.js";
import { researchFormat } from "../project-files/rrd-file.js";

/** A phase as text; undefined for the last one. */
const stageOf = (phase: Rrd["phase"]): string | undefined => (phase === "COMPLETE" ? undefined : phase.toLowerCase());

/** The standing of a project. `where`: its name for the user. Pure. */
export function researchStanding(
  { folder, where }: { readonly folder: string; readonly where: string },
  { rrd, ledger }: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  runStatus: RunStatus,
): Standing {
  const { phase, refusedPapers } = statusOf(rrd, ledger);
  const counts = countsOf(rrd);
  const name = shellWord(where);
  const since = changesSinceReport(rrd, ledger);
  const openDecisions = [
    ...(counts.waiting === undefined
      ? []
      : [`${quantity(counts.waiting, "paper")} for you to decide: 'research-ralph screen ${name}' shows each`]),
    ...(refusedPapers.length === 0
      ? []
      : [
          `${quantity(refusedPapers.length, "paper")} given up after refusals: 'research-ralph reset ${name} --paper <key>' tries again`,
        ]),
  ];
  return {
    ...runStatus,
    noun: "project",
    folder,
    title: oneLine(rrd.project).replace(/^Research:\s*/i, ""),
    phase,
    isFinished: phase === "COMPLETE",
    progress: progressOf(rrd),
    progressNoun: "papers done",
    results: countsText(counts),
    openDecisions,
    ledger,
    names: namesIn(rrd),
    activityOf: (work, called) => kindOfLine(work)?.activityText(called),
    spending: totalOf(rrd, ledger),
    commands: commandsOf(steeredResearch(folder, where)),
    ...(since === undefined ? {} : { continuation: `writes the report again, which is older than ${since}` }),
    ...withoutUndefined({
      stage: stageOf(phase),
      lastRun: rrd.loop?.last_run ?? undefined,
      spentMs: timeSpent(rrd, ledger),
    }),
  };
}

/** Reads the standing of a project without its lock. @throws ExpectedError if it can't be read. */
export const lookAtResearch = async (folder: string, where: string): Promise<Standing> =>
  researchStanding({ folder, where }, await readResearch(folder), await runStatusOf(folder));

/** A project as work that the user steers. `where`: its name for the user. */
export const steeredResearch = (folder: string, where: string): SteeredWork => ({
  folder,
  typedFolder: where,
  formats: researchFormat,
  isFinished: async () => {
    const read = await readResearch(folder).catch(() => undefined);
    return read !== undefined && statusOf(read.rrd, read.ledger).phase === "COMPLETE";
  },
  continueCommand: `research-ralph run ${where}`,
  howToAddWork: `let it write the report again: research-ralph reset ${where} --unit report, then research-ralph run ${where}`,
});
