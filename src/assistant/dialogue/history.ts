import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { jsonIn } from "../../engine/lib/json-fields.js";
import { makeFolder } from "../../engine/storage/regular-file.js";
import type { Redact } from "../../engine/lib/redact.js";
import { ownFolder } from "../settings.js";
import type { Pastes } from "./pastes.js";

/** Entries that are kept, and characters of the texts pasted into one. */
const kept = 1000;
const longestPasted = 20_000;

const historyPath = (env: NodeJS.ProcessEnv): string => join(ownFolder(env), "history");

/** What was typed before, newest first, as readline wants it. A line that is not an entry is left out. */
export function pastLines(env: NodeJS.ProcessEnv, pastes: Pastes): string[] {
  let text: string;
  try {
    text = readFileSync(historyPath(env), "utf8");
  } catch {
    return [];
  }
  const written = text.trimEnd().split("\n");
  if (written.length > 2 * kept) write(env, `${written.slice(-kept).join("\n")}\n`, "w");
  const lines: string[] = [];
  for (const entry of written.slice(-kept)) {
    const [line, pasted] = entryIn(entry) ?? [];
    if (line === undefined) continue;
    // Another session may have had another text under the same label.
    const relabelled = (pasted ?? []).reduce((all, [label, whole]) => all.replace(label, pastes.label(whole)), line);
    if (relabelled !== lines[0]) lines.unshift(relabelled);
  }
  return lines;
}

type Entry = readonly [line: string, pasted: readonly (readonly [label: string, text: string])[]];

function entryIn(text: string): Entry | undefined {
  const value = jsonIn(text);
  if (!Array.isArray(value) || typeof value[0] !== "string" || !Array.isArray(value[1])) return undefined;
  const isWhole = value[1].every((each) => Array.isArray(each) && each.every((part) => typeof part === "string"));
  return isWhole ? (value as unknown as Entry) : undefined;
}

/** Adds a line as it was shown, with what was pasted into it, readable by its user alone and without keys. */
export function addToHistory(env: NodeJS.ProcessEnv, line: string, pastes: Pastes, redact: Redact): void {
  const pasted = pastes.within(line).filter(([, text]) => text.length <= longestPasted);
  write(env, `${redact(JSON.stringify([line, pasted]))}\n`, "a");
}

/** A history that can't be written is not a reason to end a conversation. */
function write(env: NodeJS.ProcessEnv, text: string, flag: "a" | "w"): void {
  const path = historyPath(env);
  try {
    makeFolder(dirname(path), 0o700);
    (flag === "a" ? appendFileSync : writeFileSync)(path, text, { mode: 0o600 });
  } catch {
    // As if it had not been typed.
  }
}
