import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../lib/errors.js";
import { explaining } from "./system-error.js";

/** The log that people read, within a research folder. It is only ever appended to. */
export const progressName = "progress.txt";

/** The whole log; empty where there is none. */
export async function readProgress(folder: string): Promise<string> {
  const path = join(folder, progressName);
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "";
    return explaining(path, () => Promise.reject(error));
  }
}
