import { createColors } from "picocolors";
import type { Ranked } from "../../research/search/rank.js";
import { wrap } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { oneLine } from "../../engine/lib/sanitise.js";

const mostAuthors = 4;
const widest = 100;

/** What a search found, for people: title, who and when, which sources say so, where to read it. */
export function foundLines(found: readonly Ranked[], io: Pick<Io, "color" | "columns">): string[] {
  const colors = createColors(io.color);
  const indent = " ".repeat(String(found.length).length + 2);
  const flow = (text: string) => wrap(oneLine(text), Math.min(io.columns, widest) - indent.length).map((line) => indent + line);
  return found.flatMap(({ record }, index) => {
    const [first = "", ...rest] = flow(record.title).map((line, row) =>
      row === 0 ? `${index + 1}.`.padEnd(indent.length) + line.trimStart() : line,
    );
    const { authors, date, venue, citations, members, retracted } = record;
    const who = authors.length > mostAuthors ? `${authors.slice(0, mostAuthors).join(", ")} and others` : authors.join(", ");
    const cited = citations === undefined ? undefined : `cited ${citations.count} ${citations.count === 1 ? "time" : "times"}`;
    const about = [who, date, venue, cited, [...new Set(members.map(({ source }) => source))].join(" + ")];
    return [
      ...(index === 0 ? [] : [""]),
      colors.bold(first),
      ...rest.map(colors.bold),
      ...(retracted === true ? [colors.red(`${indent}RETRACTED`)] : []),
      ...flow(about.filter((part) => typeof part === "string" && part !== "").join(" · ")),
      ...flow(record.url).map(colors.dim),
    ];
  });
}
