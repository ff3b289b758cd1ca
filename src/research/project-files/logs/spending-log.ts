import { appendFile } from "node:fs/promises";
import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { formatLine } from "../../../engine/storage/state/ledger.js";
import { ledgerFile } from "../../../engine/lib/layout.js";

/**
 * Adds work without a project folder to the ledger of the state folder, because it has a cost too. Writes all lines at
 * once, because several programs may write at the same time. Errors are ignored.
 */
export async function recordUnfiledWork(
  stateDir: string,
  command: NonNullable<LedgerLine["command"]>,
  lines: readonly LedgerLine[],
): Promise<void> {
  if (lines.length === 0) return;
  await appendFile(ledgerFile(stateDir), lines.map((line) => formatLine({ ...line, command })).join("")).catch(
    () => undefined,
  );
}
