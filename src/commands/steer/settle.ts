import type { ConfigFlags } from "../../compose/config.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { type FieldChoice, settleField } from "../../research/overview/screen/settle-field.js";
import { updateReport } from "../../research/report/documents/show-in-report.js";
import { projectToChange } from "./require-person.js";

interface SettleArguments extends FieldChoice {
  readonly folder: string;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** Stores the user's choice for a field on which two agents differ: the value of one of them, or another one. */
export async function settleCommand(
  { folder: typedName, flags, json, ...choice }: SettleArguments,
  io: Io,
): Promise<number> {
  const { folder, projectName, git, stateDir } = await projectToChange(io, typedName, flags);
  const notify = (_: string, message: string) => say(io, message);
  const { says, settled, value, ...otherFields } = await settleField(folder, choice, {
    where: projectName,
    now: io.clock.now(),
    stateDir,
    git,
    notify,
    show: () => updateReport(folder, { git, stateDir, now: io.clock.now, notify: (message) => say(io, message) }),
  });
  if (json) io.stdout(`${JSON.stringify({ folder, ...settled, ...otherFields, value: value ?? null })}\n`);
  else io.stdout(`${says}\n`);
  return 0;
}
