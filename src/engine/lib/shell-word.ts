/** A path as one word of a command that a person may copy: as it is where a shell takes it so, else in double quotes. */
export const shellWord = (path: string): string => (/^[\w./:@%+=,~-]+$/.test(path) ? path : `"${path.replace(/["\\$`]/g, "\\$&")}"`);
