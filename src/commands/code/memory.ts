import { existsSync } from "node:fs";
import { join } from "node:path";
import { vaultName } from "../../code/project-files/layout.js";
import { type Fix, openVault, type Vault } from "../../code/vault/vault.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";

const usage = "research-ralph code memory list, show <id> or forget <id>";
/** Maximum number of fixes that are listed. */
const maxListed = 1_000;

/** Lists, shows or deletes fixes: what agents tried against an error in this project, and whether it helped. */
export async function memoryCommand(words: readonly string[], io: Io, json: boolean): Promise<number> {
  const [action, idText, ...more] = words;
  const id = Number(idText);
  const isList = action === "list" && idText === undefined;
  const isSingle = (action === "show" || action === "forget") && Number.isInteger(id) && id > 0 && more.length === 0;
  if (!isList && !isSingle) throw new ExpectedError(`Unknown command of the memory; use ${usage}.`, 2);
  const print = (value: object, text: string) => io.stdout(json ? `${JSON.stringify(value)}\n` : text);
  if (!existsSync(join(io.cwd, vaultName))) {
    if (!isList) throw missingFixError(id);
    print({ fixes: [] }, "Nothing is remembered in this project yet.\n");
    return 0;
  }
  const vault = await openVault(io.cwd, (message) => say(io, `warning: ${message}`));
  if (typeof vault === "string") throw new ExpectedError(vault);
  try {
    if (isList) {
      const fixes = await vault.list(maxListed);
      print(
        { fixes },
        fixes.length === 0 ? "Nothing is remembered in this project yet.\n" : fixes.map(fixLine).join(""),
      );
      return 0;
    }
    const fix = await requireFix(vault, id);
    if (action === "show") print(fix, fixDetails(fix));
    else {
      await vault.forget(id);
      print({ forgotten: id }, `Forgotten: ${fixLine(fix)}`);
    }
    return 0;
  } finally {
    await vault.close();
  }
}

async function requireFix(vault: Vault, id: number): Promise<Fix> {
  const fix = await vault.get(id);
  if (fix === undefined) throw missingFixError(id);
  return fix;
}

const missingFixError = (id: number): ExpectedError =>
  new ExpectedError(`There is no fix ${id}; 'research-ralph code memory list' shows all.`, 2);

const fixLine = ({ id, success, test, error_signature, action_taken }: Fix): string =>
  `${String(id).padStart(4)}  ${success ? "helped" : "failed"}  ${oneLine(test === "" ? error_signature : test).slice(0, 100)}: ${oneLine(action_taken).slice(0, 120)}\n`;

const fixDetails = (fix: Fix): string =>
  `${[
    `Fix ${fix.id}, ${fix.success ? "which helped" : "which did not help"}`,
    `Test        ${fix.test === "" ? "unknown: an earlier version did not store it, so agents do not get this fix" : oneLine(fix.test)}`,
    `Error       ${oneLine(fix.error_signature)}`,
    `Failed in   ${fix.frame === "" ? "the test itself" : oneLine(fix.frame)}`,
    ...fix.changed.map(({ file, symbol }) => `Changed     ${oneLine(symbol === "" ? file : `${file}#${symbol}`)}`),
    `Hypothesis  ${oneLine(fix.hypothesis)}`,
    `Action      ${oneLine(fix.action_taken)}`,
    `When        ${fix.timestamp}`,
    `Tokens      ${fix.cost_tokens}`,
    `Framework   ${fix.framework}${fix.language === "" ? "" : ` (${fix.language})`}`,
  ].join("\n")}\n`;
