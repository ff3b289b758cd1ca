/** The log that people read, within a research folder. Entries are only ever appended to it (appendOnce in files.ts). */
export const progressName = "progress.txt";
