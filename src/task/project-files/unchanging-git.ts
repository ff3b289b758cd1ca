import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../../engine/lib/errors.js";
import { makeTemporaryFolder } from "../../engine/storage/regular-file.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { readTextSync } from "../../engine/storage/regular-file.js";

/** The user's attributes are not read if the file has more bytes. */
const maxAttributesBytes = 1_000_000;

/**
 * Attributes that take priority over every `.gitattributes`: git converts no line end, no `$Id$` and no encoding. They
 * do not change which filter a file has.
 */
const noConversionAttributes = "* -text -ident !working-tree-encoding\n";

/** Options for `runGit`: the folder that it uses instead of the repository's common folder. */
export interface GitFolder {
  readonly commonFolder?: string;
}

/**
 * Calls `action` with a git that changes no byte of a file. Meanwhile git uses a temporary folder with links to the
 * files of `common` and with its own attributes. They are needed because only the repository's `info/attributes` takes
 * priority over `.gitattributes`, and that file belongs to the user. On file systems without links, git converts files
 * as configured. The temporary folder is outside the project: programs such as `node --test` would follow its links,
 * and would fail at a broken link if a killed process has left the folder there.
 */
export async function withUnchangingGit<Result>(
  common: string,
  action: (gitFolder: GitFolder) => Promise<Result>,
): Promise<Result> {
  const folder = makeTemporaryFolder("git");
  try {
    return await action(await withExplainedErrors(folder, () => linkRepository(common, folder)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function linkRepository(common: string, temporaryFolder: string): Promise<GitFolder> {
  const info = join(common, "info");
  const entriesOf = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
  await mkdir(join(temporaryFolder, "info"));
  try {
    // Git LFS creates its folder with the first file that it stores.
    for (const name of new Set([...(await entriesOf(common)), "lfs"]))
      if (name !== "info") await symlink(join(common, name), join(temporaryFolder, name));
    for (const name of await entriesOf(info))
      if (name !== "attributes") await symlink(join(info, name), join(temporaryFolder, "info", name));
  } catch (error) {
    if (!hasCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")) throw error;
    return {};
  }
  // An agent may have left a named pipe there. Reading a pipe that has no writer would wait forever.
  const userAttributes = readTextSync(join(info, "attributes"), maxAttributesBytes) ?? "";
  await writeFile(join(temporaryFolder, "info", "attributes"), `${userAttributes}\n${noConversionAttributes}`);
  return { commonFolder: temporaryFolder };
}
