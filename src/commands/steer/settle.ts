import { type ConfigFlags, configToRead } from "../../compose/config.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";
import { type FieldChoice, settleField } from "../../research/overview/screen/settle-field.js";
import { updateReport } from "../../research/report/documents/show-in-report.js";
import { requirePerson } from "./require-person.js";

interface SettleArguments extends FieldChoice {
  readonly folder: string;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** Writes whose value a person follows for a field on which two agents differ, or the person's own. */
export async function settleCommand(
  { folder: argument, flags, json, ...said }: SettleArguments,
  io: Io,
): Promise<number> {
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, argument);
  const { git, stateDir } = await configToRead(io, flags, ["state_dir"]);
  const notify = (_: string, message: string) => say(io, message);
  const where = nameFor(io.cwd, folder);
  const { says, settled, value, ...done } = await settleField(folder, said, {
    where,
    now: io.clock.now(),
    stateDir,
    git,
    notify,
    show: () => updateReport(folder, { git, stateDir, now: io.clock.now, notify: (message) => say(io, message) }),
  });
  if (json) io.stdout(`${JSON.stringify({ folder, ...settled, ...done, value: value ?? null })}\n`);
  else io.stdout(`${says}\n`);
  return 0;
}
