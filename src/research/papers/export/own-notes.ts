import type { CitedWork } from "./cited-work.js";

/** Begins every note that this program writes, so that a person sees whose it is, and our readers leave it out. */
const mark = "research-ralph: ";

/** What a project says of a work, a line each: what became of it and why, passages, and where the report shows it. */
export function ownNotes({ key, decision = "", outcome }: CitedWork): string[] {
  const { stage, criterion, reason, quote, decidedBy, duplicateOf, passages = [], report } = outcome ?? {};
  const what = [decision, decision === stage ? undefined : stage].filter(Boolean).join(", ");
  const parts = [
    duplicateOf === undefined ? undefined : `the same work as ${duplicateOf}`,
    criterion === undefined ? undefined : `by ${criterion}`,
    decidedBy === undefined ? undefined : `decided by ${decidedBy}`,
    reason,
    quote === undefined || quote === "" ? undefined : `in its own words: ${quote}`,
  ].filter((part) => part !== undefined && part !== "");
  return [
    [key, what, ...parts].filter(Boolean).join("; "),
    ...passages.map(({ text, locator }) => (locator === undefined ? text : `${text} (${locator})`)),
    ...(report === undefined ? [] : [`in the report: ${report}`]),
  ].map((line) => `${mark}${line}`);
}

/** Whether this program wrote the note. */
export const isOwnNote = (note: string): boolean => note.trimStart().startsWith(mark);

/** A note without the lines that this program wrote; that a work was retracted is said in front of it. */
export const withoutOwnNotes = (note: string): string =>
  note.replace(/(?<![^\n ])research-ralph: [^\n]*/g, "").replace(/^\s*Retracted\b\.?/, "");
