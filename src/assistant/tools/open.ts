import { join } from "node:path";
import type { Memory } from "../../memory/memory.js";
import type { Io } from "../../engine/ui/io.js";
import { ownFolder, type Settings } from "../settings.js";
import type { BoundTool } from "./call.js";
import { type Handed, toolContext, type ToolContext } from "./context.js";
import { assistantTools } from "./list.js";

/** All tools of one session of a person's, and what they share. */
export async function ownTools({
  io,
  settings,
  memory,
  handed,
  ask,
}: {
  readonly io: Io;
  readonly settings: Pick<Settings, "window">;
  /** Opened by the first tool that needs it. */
  readonly memory: () => Promise<Memory | string>;
  readonly handed: Handed;
  readonly ask: ToolContext["ask"];
}): Promise<{ readonly tools: readonly BoundTool[]; readonly context: ToolContext }> {
  const context = toolContext({
    root: io.cwd,
    window: settings.window,
    backups: join(ownFolder(io.env), "replaced"),
    env: io.env,
    exec: io.runProgram,
    memory,
    http: handed.http,
    readDocument: handed.readDocument,
    ask,
  });
  return { tools: assistantTools(context, await handed.tools()), context };
}
