const dayMs = 86_400_000;
const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: dayMs };

/** A duration: "2m 30s", "3 hours", "1 day and 2 hours", "13h36m0s", "250ms". */
const spanPattern =
  /(?:\d+(?:\.\d+)?\s*(?:ms|d(?:ays?)?|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)(?![a-z])[\s,]*(?:and\s+)?)+/
    .source;
const waitPattern = new RegExp(
  `(?:(?:again|resets?|retry|available)[\\s-]+(?:in|after)|\\bin)[\\s:]+(${spanPattern})`,
  "i",
);

/**
 * The time at which a limit ends, in milliseconds since the epoch; undefined if the text names none. "in 2h" counts
 * from `now`, and "at 3 pm" is the next such time after `now`.
 */
export function resetTimeIn(text: string, now: number): number | undefined {
  const epochSeconds = /(?:reset\w*|reached)\D{0,12}\b(\d{10})\b/i.exec(text)?.[1];
  if (epochSeconds !== undefined) return Number(epochSeconds) * 1000;
  const isoTime = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)/.exec(text)?.[0];
  if (isoTime !== undefined) return Date.parse(isoTime);
  // Only after a word like "resets" or "until": other dates may be timestamps of log lines.
  const date =
    /(?:again|resets?|available|until)\s+(?:at\s+|on\s+)?(\d{4}-\d\d-\d\d) (\d\d:\d\d(?::\d\d)?)( ?(?:UTC|GMT|Z))?/i.exec(
      text,
    );
  // Without a zone it is local time.
  if (date !== null) return Date.parse(`${date[1]}T${date[2]}${date[3] === undefined ? "" : "Z"}`);
  const seconds = /retry[ _-]?after["':= ]{1,4}(\d+(?:\.\d+)?)\b(?!\s*(?:ms|[dhm]))/i.exec(text)?.[1];
  if (seconds !== undefined) return now + Number(seconds) * 1000;
  const spanText = waitPattern.exec(text)?.[1];
  if (spanText === undefined) return clockTimeIn(text, now);
  const spanParts = spanText.matchAll(/(?<!\d)(\d+(?:\.\d+)?)\s*(ms|[dhms])/gi);
  return [...spanParts].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (unitMs[(unit ?? "").toLowerCase()] ?? 1),
    now,
  );
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/**
 * "resets 3am (Europe/Berlin)", "try again at 3:04 PM", "resets Nov 25, 5pm", "try again at Oct 30th, 2026 5:04 PM",
 * "resets Monday at 9am", "available again tomorrow".
 */
const clockPattern = new RegExp(
  [
    /(?:again|resets?|available)\s+(?:at\s+|on\s+)?(?=\d|tomorrow\b|(?:sun|mon|tue|wed|thu|fri|sat)|[a-z]{3,9}\.?\s+\d)/,
    /(?:(?<day>tomorrow|(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?)\b\.?,?\s*(?:at\s+)?)?/,
    /(?:(?<month>[a-z]{3})[a-z]{0,6}\.?\s+(?<date>\d{1,2})(?:st|nd|rd|th)?,?\s+(?:(?<year>\d{4}),?\s+)?(?:at\s+)?)?/,
    /(?:(?<hour>\d{1,2})(?::(?<minute>\d\d))?(?:\s*(?<amPm>[ap]m\b))?)?(?:\s?\((?<zone>[\w/+-]+)\))?/,
  ]
    .map(({ source }) => source)
    .join(""),
  "i",
);

/**
 * The next moment at which a clock shows the time in the text, in the named zone or in local time. Local times are kept
 * as if they were UTC, so `getUTCHours` gives the hour that a clock in the zone shows.
 */
function clockTimeIn(text: string, now: number): number | undefined {
  const {
    day: dayName,
    month,
    date,
    year,
    hour = "0",
    minute,
    amPm: amOrPm,
    zone,
  } = clockPattern.exec(text)?.groups ?? {};
  // "Try again 3 times" is not a time.
  if (dayName === undefined && amOrPm === undefined && minute === undefined) return undefined;
  const hours = amOrPm === undefined ? Number(hour) : (Number(hour) % 12) + (amOrPm.toLowerCase() === "pm" ? 12 : 0);
  const setTime = (day: Date): number => day.setUTCHours(hours, Number(minute ?? 0), 0, 0);
  try {
    const localNow = new Date(now + zoneOffsetMs(now, zone));
    if (dayName !== undefined) {
      const weekdayIndex = weekdays.indexOf(dayName.slice(0, 3).toLowerCase());
      const daysAhead = weekdayIndex === -1 ? 1 : (weekdayIndex - localNow.getUTCDay() + 7) % 7;
      const resetTime = utcTimeOf(setTime(localNow) + daysAhead * dayMs, zone);
      return resetTime > now ? resetTime : resetTime + 7 * dayMs;
    }
    if (month === undefined || date === undefined) {
      const timeToday = utcTimeOf(setTime(localNow), zone);
      return timeToday > now ? timeToday : utcTimeOf(setTime(localNow) + dayMs, zone);
    }
    const monthIndex = months.indexOf(month.toLowerCase());
    if (monthIndex === -1) return undefined;
    const timeInYear = (yearNumber: number): number =>
      utcTimeOf(setTime(new Date(Date.UTC(yearNumber, monthIndex, Number(date)))), zone);
    if (year !== undefined) return timeInYear(Number(year));
    const thisYear = timeInYear(localNow.getUTCFullYear());
    // A date of last month may be a limit that has ended; an earlier date is one of the next year.
    return thisYear > now - 31 * dayMs ? thisYear : timeInYear(localNow.getUTCFullYear() + 1);
  } catch {
    return undefined; // an unknown zone
  }
}

/** The time, in UTC, at which a clock in this zone shows `wallTime`. */
function utcTimeOf(wallTime: number, zone: string | undefined): number {
  // The offset may change between the two times (summer time), so it is looked up again.
  const approximateTime = wallTime - zoneOffsetMs(wallTime, zone);
  return wallTime - zoneOffsetMs(approximateTime, zone);
}

/** The offset of a zone from UTC at a time, in milliseconds. */
function zoneOffsetMs(time: number, zone: string | undefined): number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    dateStyle: "short",
    timeStyle: "medium",
  });
  const dateParts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => dateParts.get(type) ?? 0;
  // The short style has only the last two digits of the year.
  return (
    Date.UTC(2000 + part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second")) -
    Math.floor(time / 1000) * 1000
  );
}
