import type { CitedWork } from "./cited-work.js";

/** The beginning of every note of this program, so that users recognise it and imports ignore it. */
const notePrefix = "research-ralph: ";

/** Notes about a work, one line each: its outcome and the reason, its passages, and its address in the report. */
export function ownNotes({ key, decision = "", outcome }: CitedWork): string[] {
  const { stage, criterion, reason, quote, decidedBy, duplicateOf, passages = [], report } = outcome ?? {};
  const decisionText = [decision, decision === stage ? undefined : stage].filter(Boolean).join(", ");
  const parts = [
    duplicateOf === undefined ? undefined : `the same work as ${duplicateOf}`,
    criterion === undefined ? undefined : `by ${criterion}`,
    decidedBy === undefined ? undefined : `decided by ${decidedBy}`,
    reason,
    quote === undefined || quote === "" ? undefined : `in its own words: ${quote}`,
  ].filter((part) => part !== undefined && part !== "");
  return [
    [key, decisionText, ...parts].filter(Boolean).join("; "),
    ...passages.map(({ text, locator }) => (locator === undefined ? text : `${text} (${locator})`)),
    ...(report === undefined ? [] : [`in the report: ${report}`]),
  ].map((line) => `${notePrefix}${line}`);
}

/** The decision in a note of this program. The exports contain the same decision as a keyword. */
export const decisionInOwnNotes = (note: string): string | undefined =>
  /(?<![^\n ])research-ralph: [^;\n]+; ([^;,\n]+)/.exec(note)?.[1];

/** Whether this program wrote the note. */
export const isOwnNote = (note: string): boolean => note.trimStart().startsWith(notePrefix);

/** The mark at the start of a retracted work's note: "Retracted."; in BibTeX "Retracted" if there is no other note. */
const retractedMark = /^\s*Retracted(?:\.|(?=[^\S\n]*(?:\n|$)))/;

/** Whether a note begins with this program's mark for a retracted work. */
export const isMarkedRetracted = (note: string): boolean => retractedMark.test(withoutOwnLines(note));

/** A note without lines of this program, and without its mark for a retracted work. */
export const withoutOwnNotes = (note: string): string => withoutOwnLines(note).replace(retractedMark, "");

const withoutOwnLines = (note: string): string => note.replace(/(?<![^\n ])research-ralph: [^\n]*/g, "");
