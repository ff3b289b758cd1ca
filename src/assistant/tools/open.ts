import { join } from "node:path";
import type { Memory } from "../../memory/memory.js";
import type { Io } from "../../engine/ui/io.js";
import { settingsFolder, type Settings } from "../settings.js";
import type { BoundTool } from "./call.js";
import { type ProgramServices, toolContext, type ToolContext } from "./context.js";
import { assistantTools } from "./list.js";

/** All tools of a session with the user, and their common context. */
export async function openTools({
  io,
  settings,
  memory,
  services,
  ask,
}: {
  readonly io: Io;
  readonly settings: Pick<Settings, "window">;
  /** The first tool that needs the memory opens it. */
  readonly memory: () => Promise<Memory | string>;
  readonly services: ProgramServices;
  readonly ask: ToolContext["ask"];
}): Promise<{ readonly tools: readonly BoundTool[]; readonly context: ToolContext }> {
  const context = toolContext({
    root: io.cwd,
    window: settings.window,
    backupFolder: join(settingsFolder(io.env), "replaced"),
    env: io.env,
    exec: io.runProgram,
    memory,
    http: services.http,
    readDocument: services.readDocument,
    ask,
  });
  return { tools: assistantTools(context, await services.tools()), context };
}
