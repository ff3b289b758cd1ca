import { randomUUID } from "node:crypto";
import { chmodSync, constants, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { fieldsIn } from "../lib/json-fields.js";
import type { Login, Mount } from "../process/reach.js";
import { tooDeepAt } from "../storage/json-syntax.js";
import { readTextSync } from "../storage/regular-file.js";

/** Login files of a program in a sandbox, each as a copy in a folder of its own. */
export interface Logins {
  /** Where the copies stand outside and inside. */
  readonly mounts: readonly Mount[];
  /** Brings over what was renewed on either side since the last time. */
  sync(): void;
  /** What a person should know: logins that were changed inside and not taken over. */
  notices(): string[];
}

/** Larger is not a login. */
const maxLogin = 1_000_000;

/**
 * Copies login files into `folder`. The program may renew its copy as it likes, by writing or by renaming a new file
 * over it, which a mounted file would not allow. What is renewed goes back where nothing but the tokens has changed and
 * the user's own file is still the one that was copied; a file that was renewed outside meanwhile comes in.
 */
export function copyLogins(logins: readonly Login[], folder: string): Logins {
  const copies = logins.flatMap((login, index) => {
    const text = readTextSync(login.from, maxLogin);
    if (text === undefined) return [];
    const at = join(folder, String(index));
    mkdirSync(at, { mode: 0o700 });
    const copy = join(at, basename(login.at));
    writeFileSync(copy, text, { mode: 0o600 });
    return [{ login, folder: at, copy, known: text, left: text }];
  });
  return {
    mounts: copies.map(({ login, folder: from }) => ({ from, at: dirname(login.at) })),
    sync: () => {
      for (const each of copies) {
        const [outside, inside] = [
          readTextSync(each.login.from, maxLogin),
          readTextSync(each.copy, maxLogin, constants.O_NOFOLLOW),
        ];
        if (outside !== undefined && outside !== each.known) {
          // Renewed outside: of what the program may have made of it meanwhile, nothing is kept.
          if (inside === each.left) replace(each.copy, outside);
          each.known = outside;
          each.left = inside === each.left ? outside : (inside ?? outside);
        } else if (inside !== undefined && inside !== each.left && outside !== undefined) {
          each.left = inside;
          if (!isRenewal(each.known, inside, each.login.renewed)) continue;
          replace(realpathSync(each.login.from), inside);
          each.known = inside;
        }
      }
    },
    notices: () =>
      copies
        .filter(({ known, left }) => known !== left)
        .map(({ login: { from } }) => `The login in the sandbox was changed; ${from} stays as it is.`),
  };
}

/** Writes a file anew without following what stands in its place. */
function replace(path: string, text: string): void {
  const fresh = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  try {
    writeFileSync(fresh, text, { flag: "wx", mode: 0o600 });
    chmodSync(fresh, 0o600);
    renameSync(fresh, path);
  } catch {
    // The folder may be read-only or full; the login that is there stays, and the program has the renewed one.
    rmSync(fresh, { force: true });
  }
}

/** Whether `after` is `before` with other values of the same kind at the paths in `renewed`, and nothing else. */
export function isRenewal(before: string, after: string, renewed: readonly string[]): boolean {
  const [old, fresh] = [before, after].map(leavesOf);
  if (old === undefined || fresh === undefined) return false;
  const paths = new Set([...old.keys(), ...fresh.keys()]);
  return [...paths].every((path) => {
    const [was, is] = [old.get(path), fresh.get(path)];
    if (isDeepStrictEqual(was, is)) return true;
    return renewed.includes(path) && isPlain(is) && (was === undefined || was === null || typeof was === typeof is);
  });
}

const isPlain = (value: unknown): boolean =>
  typeof value === "string"
    ? value !== "" && value.length <= maxLogin
    : typeof value === "number" || (Array.isArray(value) && value.every((each) => typeof each === "string"));

/**
 * All values of a JSON object, by their path with dots; undefined where it is not one, or is nested so deep that a walk
 * through it would end the run: a program in a sandbox wrote it.
 */
function leavesOf(text: string): Map<string, unknown> | undefined {
  const whole = fieldsIn(text);
  if (whole === undefined || tooDeepAt(whole) !== undefined) return undefined;
  const leaves = new Map<string, unknown>();
  const add = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) leaves.set(path.join("."), value);
    else for (const [name, each] of Object.entries(value)) add(each, [...path, name]);
  };
  add(whole, []);
  return leaves;
}
