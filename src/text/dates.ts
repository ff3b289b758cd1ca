const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const monthWord = new RegExp(`\\b(${months.join("|")})[a-z]{0,7}\\b`, "i");
/** A year from 1400 to 2099, without a digit before or after it. */
const yearIn = /(?<!\d)(1[4-9]\d\d|20\d\d)(?!\d)/;

/**
 * The date of a record as YYYY, YYYY-MM or YYYY-MM-DD. Undefined if no value contains a year.
 * @param dates possible dates; the first one with a year counts.
 * @param day a month and a day in a separate field, such as "May 12". If it contains a year, it only counts if that is
 * the year of the date.
 */
export function dateOf(dates: readonly string[], day = ""): string | undefined {
  const date = dates.map(parseDate).find((each) => each !== undefined);
  const separateDay = yearIn.test(day) ? parseDate(day) : { ...monthAndDay(day) };
  const year = date?.year ?? (separateDay !== undefined && "year" in separateDay ? separateDay.year : undefined);
  if (year === undefined) return undefined;
  const hasSameYear = separateDay !== undefined && (!("year" in separateDay) || separateDay.year === year);
  const monthSource = date?.month === undefined && hasSameYear ? separateDay : (date ?? {});
  const parts = [String(year), monthSource.month, monthSource.day].flatMap((part) =>
    part === undefined ? [] : String(part).padStart(2, "0"),
  );
  return parts.join("-");
}

interface DateParts {
  readonly year: number;
  readonly month?: number;
  readonly day?: number;
}

/** Parses dates such as "2021", "2019//", "2021/05/12/", "2020 Jan-Feb", "12 May 2021", "20210512" and "c. 1999". */
function parseDate(text: string): DateParts | undefined {
  const numeric =
    /^\s*(\d{4})[-/.](\d{1,2})?(?:[-/.](\d{1,2}))?(?!\d|(?!T\d)\p{L})/u.exec(text) ??
    /^\s*(\d{4})(\d\d)(\d\d)\s*$/.exec(text);
  if (numeric !== null && yearIn.test(numeric[1] ?? "")) {
    const [year = 0, month, day] = numeric.slice(1).map((part) => (part ? Number(part) : undefined));
    return { year, ...validMonthAndDay(month, day) };
  }
  const year = yearIn.exec(text);
  if (year === null) return undefined;
  return { year: Number(year[1]), ...monthAndDay(text.replace(year[0], " ")) };
}

/** Parses a month and a day, such as "May 12", "12 May", "Mar", "05", "5/12" and "10 15". */
function monthAndDay(text: string): { readonly month?: number; readonly day?: number } {
  const word = monthWord.exec(text)?.[1]?.toLowerCase();
  if (word === undefined) {
    const [, month, day] = /^\s*(\d{1,2})(?:[-/\s](\d{1,2}))?\s*$/.exec(text) ?? [];
    return validMonthAndDay(
      month === undefined ? undefined : Number(month),
      day === undefined ? undefined : Number(day),
    );
  }
  const day = /(?<!\d)\d{1,2}(?!\d)/.exec(text)?.[0];
  return validMonthAndDay(months.indexOf(word) + 1, day === undefined ? undefined : Number(day));
}

/** The month and the day, without those that are out of range. */
function validMonthAndDay(month?: number, day?: number): { readonly month?: number; readonly day?: number } {
  if (month === undefined || month < 1 || month > 12) return {};
  return day === undefined || day < 1 || day > 31 ? { month } : { month, day };
}
