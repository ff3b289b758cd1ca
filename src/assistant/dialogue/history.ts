import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { jsonIn } from "../../engine/lib/json-fields.js";
import { makeFolder } from "../../engine/storage/regular-file.js";
import type { Redact } from "../../engine/lib/redact.js";
import { settingsFolder } from "../settings.js";
import type { Pastes } from "./pastes.js";

/** Maximum number of stored entries. */
const maxEntries = 1000;
/** Maximum characters of a pasted text in an entry. */
const maxPastedChars = 20_000;

const historyPath = (env: NodeJS.ProcessEnv): string => join(settingsFolder(env), "history");

/** The lines of the history, newest first, as readline needs them. Invalid entries are skipped. */
export function pastLines(env: NodeJS.ProcessEnv, pastes: Pastes): string[] {
  let text: string;
  try {
    text = readFileSync(historyPath(env), "utf8");
  } catch {
    return [];
  }
  const entries = text.trimEnd().split("\n");
  if (entries.length > 2 * maxEntries) write(env, `${entries.slice(-maxEntries).join("\n")}\n`, "w");
  const lines: string[] = [];
  for (const entry of entries.slice(-maxEntries)) {
    const [line, pastedTexts] = readEntry(entry) ?? [];
    if (line === undefined) continue;
    // Labels are numbered anew in each session, so the text gets a label of this session.
    const relabelledLine = (pastedTexts ?? []).reduce(
      (text, [label, pastedText]) => text.replace(label, pastes.label(pastedText)),
      line,
    );
    if (relabelledLine !== lines[0]) lines.unshift(relabelledLine);
  }
  return lines;
}

type Entry = readonly [line: string, pasted: readonly (readonly [label: string, text: string])[]];

function readEntry(text: string): Entry | undefined {
  const value = jsonIn(text);
  if (!Array.isArray(value) || typeof value[0] !== "string" || !Array.isArray(value[1])) return undefined;
  const isComplete = value[1].every((pair) => Array.isArray(pair) && pair.every((part) => typeof part === "string"));
  return isComplete ? (value as unknown as Entry) : undefined;
}

/** Adds a line and its pasted texts to the history. Only the user can read the file. API keys are removed. */
export function addToHistory(env: NodeJS.ProcessEnv, line: string, pastes: Pastes, redact: Redact): void {
  const pastedTexts = pastes.pastedTextsIn(line).filter(([, text]) => text.length <= maxPastedChars);
  write(env, `${redact(JSON.stringify([line, pastedTexts]))}\n`, "a");
}

/** Writes the history. Errors are ignored, because they are not a reason to end a conversation. */
function write(env: NodeJS.ProcessEnv, text: string, flag: "a" | "w"): void {
  const path = historyPath(env);
  try {
    makeFolder(dirname(path), 0o700);
    (flag === "a" ? appendFileSync : writeFileSync)(path, text, { mode: 0o600 });
  } catch {
    // The entry is lost.
  }
}
