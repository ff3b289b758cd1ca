import { existsSync } from "node:fs";
import { guardsRoot } from "../engine/config/state-dir.js";
import { isStartedByAgent } from "../engine/process/descendants.js";
import type { Io } from "../engine/ui/io.js";
import type { GuardedProject } from "../research/project-files/guarded/guarded-files.js";
import type { GuardedTask } from "../task/project-files/protect.js";

type GuardedWork = ({ readonly of: "research" } & GuardedProject) | ({ readonly of: "task" } & GuardedTask);

/**
 * Restores the files that an agent changed before its run was killed, and returns one sentence for each of them. Must
 * be finished before the configuration is read. Does nothing in a program that an agent started, which may have no
 * access to these files.
 * @throws ExpectedError if a file around the current folder can't be restored.
 */
export async function repairAfterKill(io: Pick<Io, "env" | "cwd">): Promise<string[]> {
  if (isStartedByAgent(io.env)) return [];
  const guardFolder = guardsRoot(io.env);
  if (!existsSync(guardFolder)) return [];
  const { restoreAfterKill } = await import("../engine/storage/guard/guard-record.js");
  return await restoreAfterKill<GuardedWork>(guardFolder, io.cwd, async (work) => {
    if (work.of === "research")
      return (await import("../research/project-files/guarded/guarded-files.js")).projectEntries(work);
    return work.of === "task" ? (await import("../task/project-files/protect.js")).taskEntries(work) : undefined;
  });
}
