import { existsSync } from "node:fs";
import { guardsRoot } from "../engine/config/state-dir.js";
import { isStartedByAgent } from "../engine/process/descendants.js";
import type { Io } from "../engine/ui/io.js";
import type { GuardedProject } from "../research/project-files/guarded/guarded-files.js";
import type { GuardedTask } from "../task/project-files/protect.js";

type About = ({ readonly of: "research" } & GuardedProject) | ({ readonly of: "task" } & GuardedTask);

/**
 * Puts right what agents left whose run was killed, and answers with sentences for a person. To be awaited before any
 * configuration is read. What an agent has started puts nothing right: it may not be allowed to look there.
 * @throws ExpectedError where a file around the current folder can't be put back.
 */
export async function healAfterKill(io: Pick<Io, "env" | "cwd">): Promise<string[]> {
  if (isStartedByAgent(io.env)) return [];
  const kept = guardsRoot(io.env);
  if (!existsSync(kept)) return [];
  const { healGuards } = await import("../engine/storage/guard/guard-record.js");
  return await healGuards<About>(kept, io.cwd, async (about) => {
    if (about.of === "research")
      return (await import("../research/project-files/guarded/guarded-files.js")).projectEntries(about);
    return about.of === "task" ? (await import("../task/project-files/protect.js")).taskEntries(about) : undefined;
  });
}
