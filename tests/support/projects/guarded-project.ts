import { join } from "node:path";
import {
  type FileMemory,
  guardProject,
  type GuardedProject,
} from "../../../src/research/project-files/guarded/guarded-files.js";

interface Options extends GuardedProject {
  readonly iteration: number;
  readonly memory: FileMemory;
}

/** Guards a project while an agent works that nothing confines; `undoTampering` tells what was done once it has ended. */
export async function guardFiles({ iteration, memory, ...project }: Options) {
  const guard = await guardProject(project, join(project.stateDir, "guards"), iteration, memory);
  return { undoTampering: (agent: string) => guard.end({ agent, during: `${agent} ran unconfined` }) };
}
