import { basename, resolve } from "node:path";
import type { ConfigFlags, ResolvedConfig } from "../../compose/config.js";
import type { NamedTask } from "../../compose/open-task.js";
import { storeTrust, requireTrust } from "../../engine/config/trust.js";
import type { Io } from "../../engine/ui/io.js";
import { contextOutside } from "../../task/place/context.js";
import { stateFile, stateName, taskName } from "../../task/project-files/layout.js";
import { programCriteriaIn, contextIn } from "../../task/project-files/needs-trust.js";

/** `trustTarget` for `requireTrust`: the path of the task's file, if it is not one of the usual names. */
export const trustAt = ({ trustedFile }: NamedTask): { readonly trustTarget?: string } =>
  trustedFile === undefined || [taskName, stateName].includes(basename(trustedFile))
    ? {}
    : { trustTarget: trustedFile };

/** @throws ExpectedError if the task shows agents files outside of the workspace, and the user does not trust it. */
export async function trustContext(
  namedTask: NamedTask,
  config: ResolvedConfig,
  io: Io,
  flags: ConfigFlags,
): Promise<void> {
  const { folder, trustedFile, task } = namedTask;
  if (trustedFile === undefined) return;
  const outsideFiles = contextOutside(task, resolve(folder, config.task.workspace));
  await requireTrust(contextIn(outsideFiles, trustedFile), io, { ...flags, ...trustAt(namedTask) });
}

/**
 * Call this before the commands of the criteria run on the host. Criteria from the command line are trusted from then
 * on, because the user wrote them.
 * @throws ExpectedError if the criteria come from a file that the user does not trust.
 */
export async function trustCommands(namedTask: NamedTask, io: Io, flags: ConfigFlags): Promise<void> {
  const { folder, trustedFile, task } = namedTask;
  if (trustedFile === undefined) await storeTrust(programCriteriaIn(task, stateFile(folder)), io.env);
  else await requireTrust(programCriteriaIn(task, trustedFile), io, { ...flags, ...trustAt(namedTask) });
}
