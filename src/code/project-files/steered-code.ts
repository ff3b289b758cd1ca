import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { SteeredWork } from "../../engine/storage/state/from-outside.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import { codeStateName } from "./layout.js";
import { codeFormat } from "./state-file.js";
import { foundAt } from "../../engine/storage/regular-file.js";

/** The folder that `argument` names, the current one by default; undefined where no coding run has worked on it. */
export function codeFolderOf(cwd: string, argument: string | undefined): string | undefined {
  if (argument?.trim() === "") return undefined;
  const path = resolve(cwd, argument ?? ".");
  const isFolder = foundAt(path)?.isDirectory() === true;
  return isFolder && existsSync(join(path, codeStateName)) ? path : undefined;
}

/** A coding run as a person leads it from outside; `where`: as the person knows it. */
export const steeredCode = (folder: string, where: string): SteeredWork => ({
  folder,
  where,
  formats: codeFormat,
  finished: async () => {
    const read = await readRecords(folder, codeFormat).catch(() => undefined);
    return read?.state.done === true;
  },
  goOn: `research-ralph code${where === "." ? "" : ` in ${where}`}`,
  more: "give research-ralph code a text",
});
