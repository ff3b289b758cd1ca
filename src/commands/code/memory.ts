import { existsSync } from "node:fs";
import { join } from "node:path";
import { vaultName } from "../../code/project-files/layout.js";
import { type Fix, openVault, type Vault } from "../../code/vault/vault.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";

const usage = "research-ralph code memory list, show <id> or forget <id>";
/** Most fixes that are listed. */
const maxListed = 1_000;

/** Lists, shows or forgets what helped against which errors in this project. */
export async function memoryCommand(words: readonly string[], io: Io, json: boolean): Promise<number> {
  const [action, given, ...more] = words;
  const id = Number(given);
  const isList = action === "list" && given === undefined;
  const isOne = (action === "show" || action === "forget") && Number.isInteger(id) && id > 0 && more.length === 0;
  if (!isList && !isOne) throw new ExpectedError(`Unknown command of the memory; use ${usage}.`, 2);
  const print = (value: object, text: string) => io.stdout(json ? `${JSON.stringify(value)}\n` : text);
  if (!existsSync(join(io.cwd, vaultName))) {
    if (!isList) throw noFix(id);
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
        fixes.length === 0 ? "Nothing is remembered in this project yet.\n" : fixes.map(inOneLine).join(""),
      );
      return 0;
    }
    const fix = await found(vault, id);
    if (action === "show") print(fix, whole(fix));
    else {
      await vault.forget(id);
      print({ forgotten: id }, `Forgotten: ${inOneLine(fix)}`);
    }
    return 0;
  } finally {
    await vault.close();
  }
}

async function found(vault: Vault, id: number): Promise<Fix> {
  const fix = await vault.get(id);
  if (fix === undefined) throw noFix(id);
  return fix;
}

const noFix = (id: number): ExpectedError =>
  new ExpectedError(`There is no fix ${id}; 'research-ralph code memory list' shows all.`, 2);

const inOneLine = ({ id, success, test, error_signature, action_taken }: Fix): string =>
  `${String(id).padStart(4)}  ${success ? "helped" : "failed"}  ${oneLine(test === "" ? error_signature : test).slice(0, 100)}: ${oneLine(action_taken).slice(0, 120)}\n`;

const whole = (fix: Fix): string =>
  `${[
    `Fix ${fix.id}, ${fix.success ? "which helped" : "which did not help"}`,
    `Test        ${fix.test === "" ? "unknown: an earlier version kept none, so it is recommended to nobody" : oneLine(fix.test)}`,
    `Error       ${oneLine(fix.error_signature)}`,
    `Failed in   ${fix.frame === "" ? "the test itself" : oneLine(fix.frame)}`,
    ...fix.changed.map(({ file, symbol }) => `Changed     ${oneLine(symbol === "" ? file : `${file}#${symbol}`)}`),
    `Hypothesis  ${oneLine(fix.hypothesis)}`,
    `Action      ${oneLine(fix.action_taken)}`,
    `When        ${fix.timestamp}`,
    `Tokens      ${fix.cost_tokens}`,
    `Framework   ${fix.framework}${fix.language === "" ? "" : ` (${fix.language})`}`,
  ].join("\n")}\n`;
