import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { outermostPackageFolder } from "../../../src/task/place/project.js";

/** A folder with these files, and folders where a name ends with a slash. */
function folderWith(...names: string[]): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "packages-")));
  for (const name of names) {
    mkdirSync(name.endsWith("/") ? join(folder, name) : dirname(join(folder, name)), { recursive: true });
    if (!name.endsWith("/")) writeFileSync(join(folder, name), "{}");
  }
  return folder;
}

it.each([
  [
    "a package of several",
    ["repo/.git/", "repo/package.json", "repo/packages/a/package.json"],
    "repo/packages/a",
    "repo",
  ],
  ["a folder of a part", ["repo/.git/", "repo/back/pyproject.toml", "repo/back/src/"], "repo/back/src", "repo/back"],
  ["a package of packages", ["repo/.git/", "repo/go.work", "repo/a/go.mod", "repo/a/b/"], "repo/a/b", "repo"],
  ["the top of a repository", ["package.json", "repo/.git/", "repo/package.json"], "repo", undefined],
  ["a worktree or submodule", ["package.json", "repo/.git", "repo/src/"], "repo/src", undefined],
  ["no repository", ["package.json", "a/package.json"], "a", undefined],
  ["a repository without a manifest", ["repo/.git/", "repo/notes/"], "repo/notes", undefined],
] as const)("%s", (_, names, at, around) => {
  const folder = folderWith(...names);
  expect(outermostPackageFolder(join(folder, at), "/home/somebody")).toBe(around && join(folder, around));
});

it("never the user's home, which may be a repository itself, nor what holds it", () => {
  const home = folderWith(".git/", "package.json", "project/src/");
  expect(outermostPackageFolder(join(home, "project/src"), home)).toBeUndefined();
  expect(outermostPackageFolder(join(home, "project/src"), join(home, "users", "me"))).toBeUndefined();
  expect(outermostPackageFolder(join(home, "project/src"), "/elsewhere")).toBe(home);
});
