import { basename, resolve } from "node:path";
import type { ConfigFlags, ResolvedConfig } from "../../compose/config.js";
import type { NamedTask } from "../../compose/open-task.js";
import { storeTrust, requireTrust } from "../../engine/config/trust.js";
import type { Io } from "../../engine/ui/io.js";
import { contextOutside } from "../../task/place/context.js";
import { stateFile, stateName, taskName } from "../../task/project-files/layout.js";
import { programCriteriaIn, contextIn } from "../../task/project-files/needs-trust.js";

/** A task file with another name is passed by its path, and not by its folder. */
export const trustAt = ({ trustedFile: from }: NamedTask): { readonly trustTarget?: string } =>
  from === undefined || [taskName, stateName].includes(basename(from)) ? {} : { trustTarget: from };

/** Throws where the task shows its agents files outside of the workspace, and the user does not trust it. */
export async function trustContext(
  named: NamedTask,
  config: ResolvedConfig,
  io: Io,
  flags: ConfigFlags,
): Promise<void> {
  const { folder, trustedFile: from, task } = named;
  if (from === undefined) return;
  const outside = contextOutside(task, resolve(folder, config.task.workspace));
  await requireTrust(contextIn(outside, from), io, { ...flags, ...trustAt(named) });
}

/**
 * Throws where commands of the task's criteria would run on the host, and the user does not trust its file. Those of
 * the command line are theirs, also when the task goes on later without them.
 */
export async function trustCommands(named: NamedTask, io: Io, flags: ConfigFlags): Promise<void> {
  const { folder, trustedFile: from, task } = named;
  if (from === undefined) await storeTrust(programCriteriaIn(task, stateFile(folder)), io.env);
  else await requireTrust(programCriteriaIn(task, from), io, { ...flags, ...trustAt(named) });
}
