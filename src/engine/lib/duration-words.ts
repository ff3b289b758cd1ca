/** A span of time in words, for limits that a person has set: "1.8 seconds", "1 minute", "90 minutes". */
export function spanInWords(ms: number): string {
  const [value, unit] = ms < 60_000 ? [ms / 1000, "second"] : [ms / 60_000, "minute"];
  const rounded = Math.round(value * 10) / 10;
  return `${rounded} ${unit}${rounded === 1 ? "" : "s"}`;
}
