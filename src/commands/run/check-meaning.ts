import { requireAgents } from "../../compose/agents.js";
import { checkOf, type ConfigFlags, resolveConfig } from "../../compose/config.js";
import { roleNamesOf } from "../../compose/sharing.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";
import { editResearch } from "../../research/project-files/edit-by-command.js";
import { readResearch } from "../../research/project-files/research.js";
import { readNarrative } from "../../research/units/narrative/kept-narrative.js";
import { openCheck } from "../../research/units/narrative/open-check.js";
import { derive } from "../../research/workflow/derive.js";
import { statusOf } from "../../research/workflow/next-unit.js";
import { work } from "./run.js";

interface CheckArguments {
  readonly folder?: string;
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
  readonly verbose?: boolean;
  readonly json: boolean;
}

/** The message if no agent of the user can check sentences. */
export const needsModelMessage =
  "Only a model can check whether a sentence follows from its passages; name one, such as --agent claude.";

/**
 * Has a second reader judge whether the sentences of a finished report follow from their passages, for old reports too.
 * Sentences that were judged before are skipped. The exit code is that of the run.
 * @throws ExpectedError (exit code 2) if there is nothing to check, or no model to check it.
 */
export async function checkMeaningCommand(args: CheckArguments, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, args.folder);
  const name = shellWord(nameFor(io.cwd, folder));
  const settings = await resolveConfig(io, args.flags);
  // This command checks even if the configuration turns checks off for later reports.
  const config = { ...settings, check: settings.check ?? checkOf(undefined) };
  const roles = roleNamesOf(config);
  if (Object.keys(roles).length === 0) throw new ExpectedError(needsModelMessage, 2);
  const { rrd, ledger } = await readResearch(folder);
  const narrative = await readNarrative(folder);
  const { phase } = statusOf(rrd, ledger);
  if (rrd.meaning?.open === undefined && phase !== "COMPLETE")
    throw new ExpectedError(
      `The report of ${name} is not finished, so its sentences can't be checked yet; 'research-ralph run ${name}' writes and checks it.`,
      2,
    );
  if (rrd.meaning?.open === undefined && narrative === undefined)
    throw new ExpectedError(
      `An earlier version of the program wrote the report of ${name}, without the quotes of each sentence; after 'research-ralph reset ${name} --unit report' the next run writes and checks it again.`,
      2,
    );
  await requireAgents(config, io, false, roles);
  const opened = await editResearch(
    folder,
    (current) =>
      current.meaning?.open !== undefined || narrative === undefined ? current : openCheck(current, narrative).rrd,
    { derive, git: config.git, notify: (_, message) => say(io, message) },
  );
  if (opened.rrd.meaning?.open === undefined) {
    say(io, "Every sentence that rests on quotes was checked already; 'research-ralph report' shows the results.");
    return 0;
  }
  return work(folder, opened.rrd, config, io, args);
}
