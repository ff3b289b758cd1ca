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
 * The function that asks before a tool writes a file or runs a command. With `--yes` every call is allowed. At a
 * terminal the user is asked, and Enter alone means no. Otherwise the answer is no, with a message on stderr.
 */
export function permissionFrom(io: Io, isAllowed: boolean, signal: AbortSignal): ToolContext["ask"] {
  if (isAllowed) return async () => "yes";
  return async ({ tool, preview }) => {
    if (!io.canAsk) {
      io.stderr(`ralph: ${tool} was not run: nobody can be asked here; --yes allows writing and running.\n`);
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
