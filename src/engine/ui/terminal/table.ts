import { pad, truncate, width } from "./format.js";

/** A column of a table. */
export interface Column {
  readonly head?: string;
  /**
   * It gives way where the table is too wide: cut at its end, or before the date at its end, which tells names of one
   * topic apart.
   */
  readonly cut?: "end" | "before-date";
  /** Left out where the table is too wide; the lowest number goes first. */
  readonly drop?: number;
}

/** Columns that are left to the one that gives way. */
const minCut = 16;
const gap = 2;

/**
 * Rows as lines of at most `room` columns, with a line of heads where there are any. The column that gives way is cut
 * to 16 columns, then whole columns go; what is left may stick out. The last cell of a row with fewer cells takes what
 * room is left. Cells are sanitised texts.
 */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[], room: number): string[] {
  const natural = columns.map(({ head = "" }, place) =>
    Math.max(width(head), ...rows.filter((row) => row.length === columns.length).map((row) => width(row[place] ?? ""))),
  );
  const least = ({ cut }: Column, place: number) => {
    const whole = Math.max(natural[place] ?? 0, ...(place === 0 ? rows.map(([cell = ""]) => width(cell)) : []));
    return cut === undefined ? whole : Math.min(minCut, whole);
  };
  const taken = (places: readonly number[], of: (place: number) => number) =>
    places.reduce((sum, place) => sum + of(place) + gap, -gap);
  let places = columns.map((_, place) => place);
  const dispensable = places
    .filter((place) => columns[place]?.drop !== undefined)
    .sort((a, b) => (columns[a]?.drop ?? 0) - (columns[b]?.drop ?? 0));
  for (const place of dispensable)
    if (taken(places, (each) => least(columns[each] ?? {}, each)) > room)
      places = places.filter((each) => each !== place);
  const fixed = places.filter((place) => columns[place]?.cut === undefined);
  const left = room - taken(fixed, (place) => least(columns[place] ?? {}, place)) - gap;
  const widths = columns.map((column, place) => {
    const whole = Math.max(natural[place] ?? 0, ...(place === 0 ? rows.map(([cell = ""]) => width(cell)) : []));
    return column.cut === undefined ? whole : Math.max(Math.min(minCut, whole), Math.min(whole, left));
  });
  const line = (cells: readonly string[]) => {
    const isWhole = cells.length === columns.length;
    const shown = isWhole ? places : cells.map((_, place) => place);
    const texts = shown.map((place, at) => {
      const [cell, most] = [cells[place] ?? "", widths[place] ?? 0];
      if (!isWhole && at === shown.length - 1) return cell;
      return pad(columns[place]?.cut === "before-date" ? withDate(cell, most) : truncate(cell, most), most);
    });
    const text = texts.join(" ".repeat(gap)).trimEnd();
    return isWhole ? text : truncate(text, room);
  };
  const heads = columns.map(({ head = "" }) => head);
  return [...(heads.some((head) => head !== "") ? [line(heads)] : []), ...rows.map(line)];
}

function withDate(name: string, columns: number): string {
  if (width(name) <= columns) return name;
  const end = /-\d{4}-\d{2}-\d{2}(-\d+)?$/.exec(name)?.[0] ?? "";
  return `${truncate(name.slice(0, name.length - end.length), columns - width(end))}${end}`;
}
