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
 * Who is asked before a tool writes or runs: nobody with `--yes`; the person at the terminal, whose Enter is a no; else
 * the answer is no, and why stands on stderr.
 */
export function permissionFrom(io: Io, isAllowed: boolean, signal: AbortSignal): ToolContext["ask"] {
  if (isAllowed) return async () => "yes";
  return async ({ tool, preview }) => {
    if (!io.canAsk) {
      io.stderr(`ralph: ${tool} was not run: nobody can be asked here; --yes allows writing and running.\n`);
      return "no";
    }
    const asking = createInterface({ input: io.stdin, output: io.terminal });
    try {
      for (;;) {
        const said = await asking.question(`\n${preview}\nAllow ${tool}? (yes, no, always) `, { signal });
        const answer = answers[said.trim().toLowerCase()];
        if (answer !== undefined) return answer;
      }
    } catch {
      // Ctrl+C or Ctrl+D.
      return "no";
    } finally {
      asking.close();
    }
  };
}
