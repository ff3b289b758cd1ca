import { userInfo } from "node:os";
import { sep } from "node:path";
import { isWithin, realPathOf } from "../../engine/process/search-path.js";
import { ExpectedError } from "../../engine/lib/errors.js";

/**
 * Throws an error if `folder` is the user's home folder, a folder that contains it, or `/`: agents may read and change
 * everything in their folder, on the host and in every sandbox. `home`: the home folder in the environment. The home
 * folder in the system's user list is refused too, because it contains the user's keys even if HOME is changed.
 * @throws ExpectedError (exit code 2).
 */
export function refuseHomeFolder(folder: string, home: string): void {
  const realFolder = realPathOf(folder);
  const homes = [home, homeOfUser()].filter((path) => path.startsWith(sep) && path !== sep).map(realPathOf);
  const homeInside = homes.find((path) => isWithin(path, realFolder));
  if (homeInside === undefined && realFolder !== sep) return;
  const description =
    homeInside === realFolder
      ? "your home folder"
      : homeInside === undefined
        ? "the whole disk"
        : `a folder that holds your home (${homeInside})`;
  throw new ExpectedError(
    `${folder} is ${description}, and an agent may read and change everything in the folder it works in, your keys in ~/.ssh included; make a folder of its own for this work, and start there.`,
    2,
  );
}

/** The home folder in the system's user list; empty if the user is not in that list, as in many containers. */
function homeOfUser(): string {
  try {
    return userInfo().homedir;
  } catch {
    return "";
  }
}
