import { readdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fence } from "../../engine/lib/sanitise.js";
import { resolveWithin, locateFile } from "../tools/files/paths.js";
import { truncate } from "../tools/files/truncate.js";

/** Maximum bytes of an attached file. */
const maxBytes = 10 * 1024 * 1024;
/** Maximum estimated tokens of an attached file. */
const maxTokens = 20_000;
/** Maximum number of suggestions for a completion. */
const maxNames = 50;

const mentions = /(?<=^|\s)@(?:"([^"\n]+)"|([^\s"]+))/g;

/** The message with the files that it mentions as `@file`, marked as data. */
export async function withFiles(message: string, root: string, contextTokens: number): Promise<string> {
  const names = [...new Set([...message.matchAll(mentions)].map(([, quoted, plain]) => quoted ?? plain ?? ""))];
  const sections: string[] = [message];
  for (const name of names) {
    // The last character may be the end of the sentence and not a part of the name.
    const text = (await textOf(root, name)) ?? (await textOf(root, name.replace(/[.,;:!?)]$/, "")));
    if (text === undefined) continue;
    const { text: shownText } = truncate(text, Math.min(maxTokens, Math.floor(contextTokens / 4)));
    sections.push(`File ${name}:\n${fence(shownText)}`);
  }
  return sections.join("\n\n");
}

/** The text of a file in the folder; undefined if it is missing, too large, outside the folder, or not text. */
async function textOf(root: string, name: string): Promise<string | undefined> {
  try {
    const location = await locateFile(root, name);
    if ("success" in location || !location.exists) return undefined;
    const file = await open(location.path, "r");
    try {
      const stats = await file.stat();
      if (!stats.isFile() || stats.size > maxBytes) return undefined;
      const text = await file.readFile("utf8");
      return text.includes("\0") ? undefined : text;
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** The paths in the folder that begin with `typedPath`. The paths of folders end with a slash. */
export function completePath(root: string, typedPath: string): string[] {
  const folder = typedPath.endsWith("/") ? typedPath : typedPath.includes("/") ? `${dirname(typedPath)}/` : "";
  const path = resolveWithin(root, folder === "" ? "." : folder);
  if (path === undefined) return [];
  const start = typedPath.slice(folder.length);
  try {
    return readdirSync(path)
      .filter((name) => name.startsWith(start) && (start.startsWith(".") || !name.startsWith(".")) && !/\s/.test(name))
      .sort()
      .slice(0, maxNames)
      .map((name) => `${folder}${name}${isFolder(join(path, name)) ? "/" : ""}`);
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
