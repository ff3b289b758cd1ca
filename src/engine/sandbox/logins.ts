import { randomUUID } from "node:crypto";
import { chmodSync, constants, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { fieldsIn } from "../lib/json-fields.js";
import type { Login, Mount } from "../process/access.js";
import { tooDeepAt } from "../storage/json-syntax.js";
import { readTextSync } from "../storage/regular-file.js";

/** Copies of the login files that a program in a sandbox needs, each in a separate folder. */
export interface Logins {
  /** The folders of the copies, outside and inside the sandbox. */
  readonly mounts: readonly Mount[];
  /** If a login was renewed on one side since the last call, copies it to the other side. */
  sync(): void;
  /** Messages for the user: logins that the program changed and that were not copied back. */
  notices(): string[];
}

/** Maximum size of a login file in bytes. */
const maxLoginBytes = 1_000_000;

/**
 * Copies login files into `folder`. The program may renew its copy: it writes the file, or renames a new file over it.
 * A file that is a mount can't be replaced by a rename, so the folder is mounted. A renewed login is copied back if
 * only the tokens have changed and the user's file has not changed since it was copied. If the user's file has changed,
 * it replaces a copy that the program has not changed.
 */
export function copyLogins(logins: readonly Login[], folder: string): Logins {
  const copies = logins.flatMap((login, index) => {
    const text = readTextSync(login.from, maxLoginBytes);
    if (text === undefined) return [];
    const loginFolder = join(folder, String(index));
    mkdirSync(loginFolder, { mode: 0o700 });
    const copyPath = join(loginFolder, basename(login.target));
    writeFileSync(copyPath, text, { mode: 0o600 });
    return [{ login, loginFolder, copyPath, lastOutsideText: text, lastInsideText: text }];
  });
  return {
    mounts: copies.map(({ login, loginFolder: from }) => ({ from, target: dirname(login.target) })),
    sync: () => {
      for (const loginCopy of copies) {
        const [outsideText, insideText] = [
          readTextSync(loginCopy.login.from, maxLoginBytes),
          readTextSync(loginCopy.copyPath, maxLoginBytes, constants.O_NOFOLLOW),
        ];
        if (outsideText !== undefined && outsideText !== loginCopy.lastOutsideText) {
          // The user's file has changed. If the program has changed its copy too, both stay as they are.
          if (insideText === loginCopy.lastInsideText) replaceFile(loginCopy.copyPath, outsideText);
          loginCopy.lastOutsideText = outsideText;
          loginCopy.lastInsideText =
            insideText === loginCopy.lastInsideText ? outsideText : (insideText ?? outsideText);
        } else if (insideText !== undefined && insideText !== loginCopy.lastInsideText && outsideText !== undefined) {
          loginCopy.lastInsideText = insideText;
          if (!isRenewal(loginCopy.lastOutsideText, insideText, loginCopy.login.renewedFields)) continue;
          replaceFile(realpathSync(loginCopy.login.from), insideText);
          loginCopy.lastOutsideText = insideText;
        }
      }
    },
    notices: () =>
      copies
        .filter(({ lastOutsideText, lastInsideText }) => lastOutsideText !== lastInsideText)
        .map(({ login: { from } }) => `The login in the sandbox was changed; ${from} stays as it is.`),
  };
}

/** Replaces a file; does not follow a link at its path. */
function replaceFile(path: string, text: string): void {
  const temporaryPath = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  try {
    writeFileSync(temporaryPath, text, { flag: "wx", mode: 0o600 });
    chmodSync(temporaryPath, 0o600);
    renameSync(temporaryPath, path);
  } catch {
    // The folder may be read-only or the disk full: then the old login stays, and only the program has the new one.
    rmSync(temporaryPath, { force: true });
  }
}

/** Whether only the fields at the paths in `renewedFields` differ, and their types are the same. */
export function isRenewal(before: string, after: string, renewedFields: readonly string[]): boolean {
  const [oldLeaves, newLeaves] = [before, after].map(leavesOf);
  if (oldLeaves === undefined || newLeaves === undefined) return false;
  const paths = new Set([...oldLeaves.keys(), ...newLeaves.keys()]);
  return [...paths].every((path) => {
    const [oldValue, newValue] = [oldLeaves.get(path), newLeaves.get(path)];
    if (isDeepStrictEqual(oldValue, newValue)) return true;
    return (
      renewedFields.includes(path) &&
      isTokenValue(newValue) &&
      (oldValue === undefined || oldValue === null || typeof oldValue === typeof newValue)
    );
  });
}

const isTokenValue = (value: unknown): boolean =>
  typeof value === "string"
    ? value !== "" && value.length <= maxLoginBytes
    : typeof value === "number" || (Array.isArray(value) && value.every((item) => typeof item === "string"));

/**
 * All values of a JSON object, by their dotted path, such as "tokens.access". Undefined if the text is not a JSON
 * object, or if it is nested too deeply: a program in a sandbox wrote the text, and deep recursion would crash the run.
 */
function leavesOf(text: string): Map<string, unknown> | undefined {
  const fields = fieldsIn(text);
  if (fields === undefined || tooDeepAt(fields) !== undefined) return undefined;
  const leaves = new Map<string, unknown>();
  const add = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) leaves.set(path.join("."), value);
    else for (const [name, field] of Object.entries(value)) add(field, [...path, name]);
  };
  add(fields, []);
  return leaves;
}
