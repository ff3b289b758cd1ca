import { basename, dirname, join } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../../../engine/lib/errors.js";
import { nearestCandidate } from "../../../engine/lib/nearest.js";
import { packageFile } from "../../../engine/lib/package-root.js";
import { readRegularFile, readRegularText, decodeUserText } from "../../../engine/storage/regular-file.js";
import { waitingEdit } from "../../../engine/storage/guard/held-edits.js";
import { promptName } from "../../project-files/layout.js";
import { kinds } from "../../units/kinds.js";

/** The headings of the parts of a prompt.md: for each kind of unit, and for several kinds. */
export const promptParts: readonly string[] = [
  ...["COMMON", "REQUIREMENTS"],
  ...new Set(kinds.map(({ part }) => part)),
  ...["REPAIR", "CRITIC", "ANSWER", "QUESTION", "COMPLETE"],
];

/** The text of a part of a prompt.md, by its level-one heading. */
export type Prompt = (part: string) => string;

/** The folder whose prompt.md and AGENTS.md apply: the parent of `researches/`, else `fallback`. */
export const rootOf = (folder: string, fallback: string): string =>
  basename(dirname(folder)) === "researches" ? dirname(dirname(folder)) : fallback;

/**
 * The user's prompt.md in the version that the user approved. Missing parts come from the packaged prompt.
 */
export async function loadPrompt(root: string, stateDir: string): Promise<Prompt> {
  const packaged = partsOf(await readRegularText(packageFile(promptName)));
  const userParts = partsOf((await agreedPrompt(root, stateDir)) ?? "");
  return (name) =>
    (isOutdated(name, userParts.get(name)) ? undefined : userParts.get(name)) ?? packaged.get(name) ?? "";
}

/** Fields of a report's result in an earlier form, which is not accepted any more. */
const formerReportField = /"(?:executive_summary|key_findings)"/;

/** Whether a part asks for an earlier form of a result. Then the packaged part is used instead. */
const isOutdated = (name: string, text: string | undefined): boolean =>
  name === "REPORT" && text !== undefined && formerReportField.test(text);

/** One sentence for each part of the user's prompt.md that is not used. */
export async function unusedPrompt(root: string, stateDir: string): Promise<readonly string[]> {
  const text = await agreedPrompt(root, stateDir);
  // Instead of a prompt of the original tool, the packaged prompt is used without a notice.
  if (text === undefined || text.includes("{{RESEARCH_DIR}}")) return [];
  const path = join(root, promptName);
  const userParts = partsOf(text);
  if (!promptParts.some((name) => userParts.has(name)))
    return [
      `${path} is not used, because it has none of the headings that name its parts, such as '# COMMON' and '# ANALYSIS'; agents get the packaged text. 'research-ralph init' in an empty folder makes one with all of them.`,
    ];
  return [
    ...headingsOf(text)
      .filter((name) => !promptParts.some((part) => part === name))
      .flatMap((name) => {
        const part = nearestCandidate(name, promptParts);
        if (part === undefined && name !== name.toUpperCase()) return [];
        const hint = part === undefined ? `its parts are ${promptParts.join(", ")}` : `did you mean '# ${part}'?`;
        return [`${path} has a heading '# ${name}', which names no part of it; ${hint}`];
      }),
    ...promptParts
      .filter((name) => isOutdated(name, userParts.get(name)))
      .map(
        (name) =>
          `${path} asks in its part ${name} for a result of an earlier form; the packaged part is used instead. Copy the new part into it, or delete that part.`,
      ),
  ];
}

/** The text of prompt.md in the version that the user approved; undefined if it is missing. */
export async function agreedPrompt(root: string, stateDir: string): Promise<string | undefined> {
  const path = join(root, promptName);
  const waiting = await waitingEdit(stateDir, path);
  return waiting === undefined ? await readPromptFile(path) : (waiting.before ?? undefined);
}

/** The text of a prompt.md; undefined if it is missing. @throws ExpectedError if it is empty or can't be read. */
export async function readPromptFile(path: string): Promise<string | undefined> {
  let text: string;
  try {
    text = decodeUserText(await readRegularFile(path), path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    if (error instanceof ExpectedError) throw error;
    throw new ExpectedError(
      `${path} can't be read (${messageOf(error)}); correct its permissions, or delete it to use the packaged prompt.`,
    );
  }
  if (text.trim() === "")
    throw new ExpectedError(
      `${path} is empty; delete it to use the packaged prompt, or write one ('research-ralph init' elsewhere shows it).`,
    );
  return text;
}

/** The parts by heading: splits at level-one headings outside of code fences. */
function partsOf(text: string): Map<string, string> {
  const parts = new Map<string, string>();
  let name: string | undefined;
  for (const { line, isFenced } of linesOf(text)) {
    const heading = isFenced ? null : /^# +([A-Z]+)\s*$/.exec(line);
    if (heading !== null) name = heading[1];
    else if (name !== undefined) parts.set(name, `${parts.get(name) ?? ""}${line}\n`);
  }
  return new Map([...parts].map(([key, value]) => [key, value.trim()]));
}

/** Headings of one word that could name a part, in any case. */
const headingsOf = (text: string): string[] =>
  linesOf(text).flatMap(({ line, isFenced }) => {
    const [, name] = (isFenced ? null : /^# +([A-Za-z]+)\s*$/.exec(line)) ?? [];
    return name === undefined ? [] : [name];
  });

function linesOf(text: string): { readonly line: string; readonly isFenced: boolean }[] {
  let isFenced = false;
  return text.split(/\r?\n/).map((line) => {
    if (line.startsWith("```")) isFenced = !isFenced;
    return { line, isFenced };
  });
}

/** The text with or without the sections for scored projects, and without their marks. */
export const withScores = (text: string, isScored: boolean): string =>
  isScored
    ? text.replace(/^<!-- \/?scores -->\n/gm, "")
    : text.replace(/^<!-- scores -->\n[\s\S]*?^<!-- \/scores -->\n/gm, "");

/** Replaces {{NAME}}. Unknown placeholders stay. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{\{([A-Z_]+)\}\}/g, (placeholder, name: string) =>
    name in values ? String(values[name]) : placeholder,
  );
