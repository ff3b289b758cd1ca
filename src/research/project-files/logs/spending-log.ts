import { appendFile } from "node:fs/promises";
import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { formatLine } from "../../../engine/storage/state/ledger.js";
import { ledgerFile } from "../../../engine/lib/layout.js";

/**
 * Adds work that left no project folder to the ledger of the state folder: it was paid for all the same. In one write,
 * as several programs may do so at once. What goes wrong is left: nothing that anybody waits for depends on it.
 */
export async function recordElsewhere(
  stateDir: string,
  command: NonNullable<LedgerLine["command"]>,
  lines: readonly LedgerLine[],
): Promise<void> {
  if (lines.length === 0) return;
  await appendFile(ledgerFile(stateDir), lines.map((line) => formatLine({ ...line, command })).join("")).catch(
    () => undefined,
  );
}
