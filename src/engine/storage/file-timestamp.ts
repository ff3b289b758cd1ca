/** A time, ISO 8601 in UTC, as every file system takes it in a name. `at`: milliseconds since the epoch. */
export const timeForName = (at: number): string => new Date(at).toISOString().replaceAll(":", "-");
