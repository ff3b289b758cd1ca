const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const monthWord = new RegExp(`\\b(${months.join("|")})[a-z]{0,7}\\b`, "i");
/** A year of printed works. It stands between signs that are not digits. */
const yearIn = /(?<!\d)(1[4-9]\d\d|20\d\d)(?!\d)/;

/**
 * The date of a record: YYYY, YYYY-MM or YYYY-MM-DD; undefined where no value holds a year: "10 15" does not tell
 * one of the first century. `dates`: the first that holds a year tells it. `day`: a month and a day beside the year, as
 * "May 12"; where it names a year of its own, another one tells nothing of this date.
 */
export function dateOf(dates: readonly string[], day = ""): string | undefined {
  const parsed = dates.map(parse).find((each) => each !== undefined);
  const apart = yearIn.test(day) ? parse(day) : { ...monthAndDay(day) };
  const year = parsed?.year ?? (apart !== undefined && "year" in apart ? apart.year : undefined);
  if (year === undefined) return undefined;
  const isOfYear = apart !== undefined && (!("year" in apart) || apart.year === year);
  const { month, day: date } = parsed?.month === undefined && isOfYear ? (apart ?? {}) : (parsed ?? {});
  const parts = [String(year), month, date].flatMap((part) =>
    part === undefined ? [] : String(part).padStart(2, "0"),
  );
  return parts.join("-");
}

interface DateParts {
  readonly year: number;
  readonly month?: number;
  readonly day?: number;
}

/** "2021", "2019//", "2021/05/12/", "2020 Jan-Feb", "12 May 2021", "20210512", "c. 1999". */
function parse(text: string): DateParts | undefined {
  const numeric =
    /^\s*(\d{4})[-/.](\d{1,2})?(?:[-/.](\d{1,2}))?(?!\d|(?!T\d)\p{L})/u.exec(text) ??
    /^\s*(\d{4})(\d\d)(\d\d)\s*$/.exec(text);
  if (numeric !== null && yearIn.test(numeric[1] ?? "")) {
    const [year = 0, month, day] = numeric.slice(1).map((part) => (part ? Number(part) : undefined));
    return { year, ...inCalendar(month, day) };
  }
  const year = yearIn.exec(text);
  if (year === null) return undefined;
  return { year: Number(year[1]), ...monthAndDay(text.replace(year[0], " ")) };
}

/** "May 12", "12 May", "Mar", "05", "5/12", "10 15". */
function monthAndDay(text: string): { readonly month?: number; readonly day?: number } {
  const word = monthWord.exec(text)?.[1]?.toLowerCase();
  if (word === undefined) {
    const [, month, day] = /^\s*(\d{1,2})(?:[-/\s](\d{1,2}))?\s*$/.exec(text) ?? [];
    return inCalendar(month === undefined ? undefined : Number(month), day === undefined ? undefined : Number(day));
  }
  const day = /(?<!\d)\d{1,2}(?!\d)/.exec(text)?.[0];
  return inCalendar(months.indexOf(word) + 1, day === undefined ? undefined : Number(day));
}

/** A month or a day that no calendar has is left out. */
function inCalendar(month?: number, day?: number): { readonly month?: number; readonly day?: number } {
  if (month === undefined || month < 1 || month > 12) return {};
  return day === undefined || day < 1 || day > 31 ? { month } : { month, day };
}
