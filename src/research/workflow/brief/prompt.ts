import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../../../engine/lib/errors.js";
import { packageFile } from "../../../engine/lib/package-root.js";
import { readRegularText } from "../../../engine/storage/regular-file.js";
import { waitingEdit } from "../../folder/approval.js";
import { promptName } from "../../folder/layout.js";

const promptParts = [
  "COMMON",
  "REQUIREMENTS",
  "DISCOVERY",
  "ANALYSIS",
  "REPORT",
  "IDEATION",
  "REPAIR",
  "CRITIC",
  "ANSWER",
  "QUESTION",
  "COMPLETE",
] as const;
export type PromptPart = (typeof promptParts)[number];

/** The parts of a prompt.md, by the name of their level-one heading. */
export type Prompt = Readonly<Record<PromptPart, string>>;

/** The folder whose prompt.md and AGENTS.md apply: the parent of `researches/`, else `fallback`. */
export const rootOf = (folder: string, fallback: string): string =>
  basename(dirname(folder)) === "researches" ? dirname(dirname(folder)) : fallback;

/**
 * The user's prompt.md where there is one, as far as a person has agreed to it, with the packaged parts for headings it
 * leaves out.
 */
export async function loadPrompt(root: string, stateDir: string): Promise<Prompt> {
  const packaged = partsOf(await readFile(packageFile(promptName), "utf8"));
  const own = partsOf((await agreedPrompt(root, stateDir)) ?? "");
  const part = (name: PromptPart) =>
    (isOutdated(name, own.get(name)) ? undefined : own.get(name)) ?? packaged.get(name) ?? "";
  return Object.fromEntries(promptParts.map((name) => [name, part(name)])) as Prompt;
}

/** What a report's result was called before its sentences named quotes. No agent that is asked for it is accepted. */
const formerReport = /"(?:executive_summary|key_findings)"/;

/** Whether a part asks for a result of a form that is no longer accepted; the packaged part then stands for it. */
const isOutdated = (name: PromptPart, text: string | undefined): boolean =>
  name === "REPORT" && text !== undefined && formerReport.test(text);

/** Parts of a person's prompt.md that are passed over because they ask for a former kind of result. */
export async function outdatedParts(root: string, stateDir: string): Promise<readonly PromptPart[]> {
  const own = partsOf((await agreedPrompt(root, stateDir)) ?? "");
  return promptParts.filter((name) => isOutdated(name, own.get(name)));
}

/** The text of the prompt.md that a person has agreed to, or undefined where there is none. */
export async function agreedPrompt(root: string, stateDir: string): Promise<string | undefined> {
  const path = join(root, promptName);
  const waiting = await waitingEdit(stateDir, path);
  return waiting === undefined ? await readPromptFile(path) : (waiting.before ?? undefined);
}

/** The text of a prompt.md, or undefined where there is none. */
export async function readPromptFile(path: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await readRegularText(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    if (error instanceof ExpectedError) throw error;
    throw new ExpectedError(
      `${path} can't be read (${messageOf(error)}); mend its permissions, or delete it to use the packaged prompt.`,
    );
  }
  if (text.trim() === "")
    throw new ExpectedError(
      `${path} is empty; delete it to use the packaged prompt, or write one ('research-ralph init' elsewhere shows it).`,
    );
  return text;
}

/** Splits at level-one headings outside of code fences. */
function partsOf(text: string): Map<string, string> {
  const parts = new Map<string, string>();
  let name: string | undefined;
  let fenced = false;
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("```")) fenced = !fenced;
    const heading = fenced ? null : /^# +([A-Z]+)\s*$/.exec(line);
    if (heading !== null) name = heading[1];
    else if (name !== undefined) parts.set(name, `${parts.get(name) ?? ""}${line}\n`);
  }
  return new Map([...parts].map(([key, value]) => [key, value.trim()]));
}

/** Replaces {{NAME}}; a placeholder nobody knows stays as it is. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{\{([A-Z_]+)\}\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
