import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../../engine/lib/errors.js";
import { makeTemporaryFolder } from "../../engine/storage/regular-file.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { readTextSync } from "../../engine/storage/regular-file.js";

/** More is not read of the user's attributes. */
const maxAttributes = 1_000_000;

/**
 * Attributes that count before those of every `.gitattributes`: git takes no line end, no `$Id$` and no encoding for
 * another. Which filter a file has is left as it is.
 */
const noConversion = "* -text -ident !working-tree-encoding\n";

/** Limits for `runGit`. */
export interface Unchanging {
  readonly common?: string;
}

/**
 * Has `act` done with a git that changes no byte of a file. For that time a folder of our own shows git what is in
 * `common`, with attributes of our own: only the repository's `info/attributes` has them count before what stands
 * beside the files, and that one is the user's. Where the file system has no links git changes what it is told to. It
 * is not in the project's folder: programs that look through that, such as `node --test`, would follow the links, and
 * end at one that leads nowhere, for as long as a kill has left it there.
 */
export async function withUnchangingGit<Result>(
  common: string,
  act: (raw: Unchanging) => Promise<Result>,
): Promise<Result> {
  const at = makeTemporaryFolder("git");
  try {
    return await act(await withExplainedErrors(at, () => linked(common, at)));
  } finally {
    await rm(at, { recursive: true, force: true });
  }
}

async function linked(common: string, at: string): Promise<Unchanging> {
  const info = join(common, "info");
  const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
  await mkdir(join(at, "info"));
  try {
    // Git LFS makes its folder with the first file that it keeps.
    for (const name of new Set([...(await namesIn(common)), "lfs"]))
      if (name !== "info") await symlink(join(common, name), join(at, name));
    for (const name of await namesIn(info))
      if (name !== "attributes") await symlink(join(info, name), join(at, "info", name));
  } catch (error) {
    if (!hasCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")) throw error;
    return {};
  }
  // An agent may have left a pipe there, which nobody writes into.
  const own = readTextSync(join(info, "attributes"), maxAttributes) ?? "";
  await writeFile(join(at, "info", "attributes"), `${own}\n${noConversion}`);
  return { common: at };
}
