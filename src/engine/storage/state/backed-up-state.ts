import { join } from "node:path";
import { backupsFolder } from "../../lib/layout.js";
import { copyIn } from "./backup.js";
import type { Fields, StateFormat } from "./format.js";
import { readStateFile } from "./state-file.js";

/** The state in the folder `backup` of .ralph/backups; undefined if it is gone or broken. */
export async function readBackedUpState<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  backup: string,
): Promise<State | undefined> {
  const path = copyIn(join(backupsFolder(folder), backup), format.file);
  return (await readStateFile(path, format).catch(() => undefined))?.ok;
}
