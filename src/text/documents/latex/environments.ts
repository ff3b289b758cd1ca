import { bodyAt, groupAt, skipArguments } from "./scan.js";
import { tableBody, tableText } from "./table.js";
import { count, inline, math, say, type Walk } from "./walk.js";
import { displayed, drawings, environmentArguments, tables, verbatim } from "./symbols.js";
import { sectionLabel } from "../text/markdown.js";

/** Depth of the headings that begin a part. */
export const levels: Readonly<Record<string, number>> = {
  part: 0,
  chapter: 1,
  section: 1,
  subsection: 2,
  subsubsection: 3,
};

/** Begins a new part under a heading, numbered as LaTeX numbers it. */
export function section(latex: string, end: number, level: number, star: boolean, walk: Walk, depth: number): number {
  const heading = groupAt(latex, groupAt(latex, end, "[")?.end ?? end);
  if (heading === undefined) return end;
  const title = inline(heading.content, walk, depth).replace(/\s+/g, " ");
  const number = star || level === 0 ? "" : numberAt(walk, level);
  const named = number === "" ? title : `${number} ${title}`;
  walk.current = number;
  walk.parts.push({ label: sectionLabel(named), heading: named, pieces: [] });
  return heading.end;
}

const names = ["", "section", "subsection", "subsubsection"];

function numberAt(walk: Walk, level: number): string {
  count(walk, names[level] ?? "section");
  for (const lower of names.slice(level + 1)) walk.counters.set(lower, 0);
  const numbers = names.slice(1, level + 1).map((name) => walk.counters.get(name) ?? 0);
  return numbers
    .map((number, index) =>
      index === 0 && walk.isAppendix ? String.fromCharCode(64 + Math.max(number, 1)) : String(number),
    )
    .join(".");
}

/** What an environment begins with, or the whole of it where it is read in another way. */
export function environment(latex: string, end: number, walk: Walk, depth: number): number {
  const group = groupAt(latex, end);
  if (group === undefined) return end;
  const name = group.content.trim();
  const after = group.end;
  if (displayed.has(name)) {
    const body = bodyAt(latex, after, name);
    math(name.startsWith("alignat") ? body.content.slice(skipArguments(body.content, 0, 1)) : body.content, true, walk);
    return body.end;
  }
  if (tables.has(name)) {
    const body = bodyAt(latex, after, name);
    const rows = tableText(tableBody(name, body.content), (cell) => {
      const inner = { ...walk, isTable: true };
      const written = inline(cell, inner, depth);
      walk.length = inner.length;
      return written;
    });
    say(walk, `\n\n${rows}\n\n`);
    return body.end;
  }
  if (verbatim.has(name) || drawings.has(name)) {
    const body = bodyAt(latex, after, name);
    if (verbatim.has(name)) say(walk, `\n\n${body.content.trim()}\n\n`);
    return body.end;
  }
  if (name === "abstract") {
    const body = bodyAt(latex, after, name);
    walk.parts.push({ label: "§ Abstract", heading: "Abstract", pieces: [] });
    walk.write(body.content, walk, depth + 1);
    walk.parts.push({ pieces: [] });
    return body.end;
  }
  if (name === "thebibliography") walk.parts.push({ label: "§ References", heading: "References", pieces: [] });
  const float = /^(?:sideways|wrap|SC|sub|long)?(figure|table|algorithm|listing)\*?$/.exec(name)?.[1];
  if (float !== undefined && !name.startsWith("sub"))
    walk.current = `${float[0]?.toUpperCase()}${float.slice(1)} ${count(walk, float)}`;
  const theorem = walk.theorems.get(name);
  if (theorem === undefined) say(walk, "\n\n");
  else {
    const addition = groupAt(latex, after, "[");
    say(
      walk,
      `\n\n${inline(theorem, walk, depth)}${addition === undefined ? "" : ` (${inline(addition.content, walk, depth)})`}. `,
    );
  }
  return skipArguments(latex, after, environmentArguments[name] ?? 0);
}
