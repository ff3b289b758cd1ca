import { userInfo } from "node:os";
import { sep } from "node:path";
import { isWithin, realPathOf } from "../../engine/process/search-path.js";
import { ExpectedError } from "../../engine/lib/errors.js";

/**
 * Refuses work in the user's home folder, in a folder above it, and in `/`: agents may read and change all of the
 * folder that they work in, on the host and in every sandbox. `home`: as the environment names it. The one that the
 * system has for this user counts too, as keys lie there also under another HOME.
 * @throws ExpectedError (exit code 2).
 */
export function requireOwnFolder(folder: string, home: string): void {
  const at = realPathOf(folder);
  const homes = [home, homeOfUser()].filter((each) => each.startsWith(sep) && each !== sep).map(realPathOf);
  const held = homes.find((each) => isWithin(each, at));
  if (held === undefined && at !== sep) return;
  const what =
    held === at
      ? "your home folder"
      : held === undefined
        ? "the whole disk"
        : `a folder that holds your home (${held})`;
  throw new ExpectedError(
    `${folder} is ${what}, and an agent may read and change everything in the folder it works in, your keys in ~/.ssh included; make a folder of its own for this work, and start there.`,
    2,
  );
}

/** By the system's list of users; empty where this one is not in it, as in many containers. */
function homeOfUser(): string {
  try {
    return userInfo().homedir;
  } catch {
    return "";
  }
}
