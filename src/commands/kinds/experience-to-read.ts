import type { Io } from "../../engine/ui/io.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Rrd } from "../../research/generated/rrd.js";
import type { Experience } from "../../research/workflow/forecast.js";

/** Collects the earlier usage for a project's forecast, for the agent that its next run would start. */
export async function collectExperience(
  folder: string,
  project: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  io: Io,
): Promise<Experience> {
  const [{ configToRead }, { withLastAgent }, { experienceOf }] = await Promise.all([
    import("../../compose/config.js"),
    import("../../compose/agents.js"),
    import("../../compose/forecast-basis.js"),
  ]);
  const config = await withLastAgent(await configToRead(io), folder, io);
  return experienceOf(folder, project, config, io);
}
