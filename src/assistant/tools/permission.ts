import { createInterface } from "node:readline/promises";
import type { Io } from "../../engine/ui/io.js";
import type { Permission, ToolContext } from "./context.js";

const answers: Readonly<Record<string, Permission>> = {
  y: "yes",
  yes: "yes",
  n: "no",
  no: "no",
  "": "no",
  a: "always",
  always: "always",
};

/**
 * Returns the function that is called before a tool writes a file or runs a command. With `--yes`, it allows every
 * call. At a terminal it asks the user; Enter alone means no. Otherwise it refuses, with a message on stderr.
 */
export function createPermissionPrompt(io: Io, isAllowed: boolean, signal: AbortSignal): ToolContext["ask"] {
  if (isAllowed) return async () => "yes";
  return async ({ tool, preview }) => {
    if (!io.canAsk) {
      io.stderr(
        `ralph: ${tool} was not run: it needs your permission, and there is no terminal to ask; --yes allows it.\n`,
      );
      return "no";
    }
    const reader = createInterface({ input: io.stdin, output: io.terminal });
    try {
      for (;;) {
        const input = await reader.question(`\n${preview}\nAllow ${tool}? (yes, no, always) `, { signal });
        const answer = answers[input.trim().toLowerCase()];
        if (answer !== undefined) return answer;
      }
    } catch {
      // Ctrl+C or Ctrl+D.
      return "no";
    } finally {
      reader.close();
    }
  };
}
