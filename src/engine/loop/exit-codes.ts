import type { Verdict } from "./types.js";

const codes = { complete: 0, failed: 1, limit: 3, stuck: 4, blocked: 5 } as const;
const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * The exit code that a script sees: 0 complete, 1 failed, 3 limit, 4 stuck, 5 blocked, 128 + n interrupted by signal n.
 * Two more codes exist, but no run ends with them: 2 means a wrong command line, and 6 means that another process
 * already works in the folder. The verdict comes from a workflow's `next` or `accept` (in research: each
 * `units/<kind>/kind.ts`), or from one of the `stop-conditions/`.
 */
export const exitCodeOf = ({ verdict, signal }: Verdict): number =>
  verdict === "interrupted" ? signals[signal ?? "SIGINT"] : codes[verdict];
