import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";

const pattern = /^\..+\.[0-9a-f]{12}\.ralph-tmp$/;

/** A new name beside `path`, in the same folder because a rename does not cross file systems. */
export const temporaryName = (path: string): string => join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.ralph-tmp`);

/** Whether a file's name is one of temporaryName's: what an interrupted write left. */
export const isTemporary = (name: string): boolean => pattern.test(name);
