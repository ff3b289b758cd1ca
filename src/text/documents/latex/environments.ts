import { bodyAt, groupAt, skipArguments } from "./scan.js";
import { tableBody, tableText } from "./table.js";
import { increment, inlineText, appendMath, append, type ReaderState } from "./reader-state.js";
import {
  drawingEnvironments,
  environmentArguments,
  formulaEnvironments,
  tableEnvironments,
  verbatimEnvironments,
} from "./symbols.js";
import { sectionLabel } from "../text/markdown.js";

/** The level of each command that begins a section. */
export const headingLevels: Readonly<Record<string, number>> = {
  part: 0,
  chapter: 1,
  section: 1,
  subsection: 2,
  subsubsection: 3,
};

/** Begins a new part with a heading that has the same number as in LaTeX. @returns the end of the heading. */
export function beginSection(
  latex: string,
  end: number,
  level: number,
  isStarred: boolean,
  state: ReaderState,
  depth: number,
): number {
  const headingGroup = groupAt(latex, groupAt(latex, end, "[")?.end ?? end);
  if (headingGroup === undefined) return end;
  const title = inlineText(headingGroup.content, state, depth).replace(/\s+/g, " ");
  const number = isStarred || level === 0 ? "" : nextSectionNumber(state, level);
  const heading = number === "" ? title : `${number} ${title}`;
  state.currentNumber = number;
  state.parts.push({ label: sectionLabel(heading), heading, pieces: [] });
  return headingGroup.end;
}

/** The counter of each heading level. */
const sectionCounters = ["", "section", "subsection", "subsubsection"];

function nextSectionNumber(state: ReaderState, level: number): string {
  increment(state, sectionCounters[level] ?? "section");
  for (const lower of sectionCounters.slice(level + 1)) state.counters.set(lower, 0);
  const numbers = sectionCounters.slice(1, level + 1).map((name) => state.counters.get(name) ?? 0);
  return numbers
    .map((number, index) =>
      index === 0 && state.isAppendix ? String.fromCharCode(64 + Math.max(number, 1)) : String(number),
    )
    .join(".");
}

/**
 * Reads the beginning of an environment after `\begin`; of a formula, a table, an abstract, code or a drawing, all of
 * it.
 * @returns the index after the text that was read.
 */
export function readEnvironment(latex: string, end: number, state: ReaderState, depth: number): number {
  const nameGroup = groupAt(latex, end);
  if (nameGroup === undefined) return end;
  const name = nameGroup.content.trim();
  const after = nameGroup.end;
  if (formulaEnvironments.has(name)) {
    const body = bodyAt(latex, after, name);
    appendMath(
      name.startsWith("alignat") ? body.content.slice(skipArguments(body.content, 0, 1)) : body.content,
      true,
      state,
    );
    return body.end;
  }
  if (tableEnvironments.has(name)) {
    const body = bodyAt(latex, after, name);
    const rows = tableText(tableBody(name, body.content), (cell) => {
      const cellState = { ...state, isTable: true };
      const cellText = inlineText(cell, cellState, depth);
      state.textLength = cellState.textLength;
      return cellText;
    });
    append(state, `\n\n${rows}\n\n`);
    return body.end;
  }
  if (verbatimEnvironments.has(name) || drawingEnvironments.has(name)) {
    const body = bodyAt(latex, after, name);
    if (verbatimEnvironments.has(name)) append(state, `\n\n${body.content.trim()}\n\n`);
    return body.end;
  }
  if (name === "abstract") {
    const body = bodyAt(latex, after, name);
    state.parts.push({ label: "§ Abstract", heading: "Abstract", pieces: [] });
    state.read(body.content, state, depth + 1);
    state.parts.push({ pieces: [] });
    return body.end;
  }
  if (name === "thebibliography") state.parts.push({ label: "§ References", heading: "References", pieces: [] });
  const float = /^(?:sideways|wrap|SC|sub|long)?(figure|table|algorithm|listing)\*?$/.exec(name)?.[1];
  if (float !== undefined && !name.startsWith("sub"))
    state.currentNumber = `${float[0]?.toUpperCase()}${float.slice(1)} ${increment(state, float)}`;
  const theorem = state.theorems.get(name);
  if (theorem === undefined) append(state, "\n\n");
  else {
    const nameOption = groupAt(latex, after, "[");
    const theoremName = nameOption === undefined ? "" : ` (${inlineText(nameOption.content, state, depth)})`;
    append(state, `\n\n${inlineText(theorem, state, depth)}${theoremName}. `);
  }
  return skipArguments(latex, after, environmentArguments[name] ?? 0);
}
