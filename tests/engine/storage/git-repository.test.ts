import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { configurationOf, parseConfiguration, repositoryOf } from "../../../src/engine/storage/git-repository.js";
import { git, repository, temporaryFolder } from "../../support/folders.js";

it("git's configuration is read with every value of a key, also of more lines and of none", () => {
  const printed = "user.name\nA\0filter.a=b.clean\nx\ny\0core.bare\0user.name\nB=C\0";
  expect([...parseConfiguration(printed)]).toEqual([
    ["user.name", ["A", "B=C"]],
    ["filter.a=b.clean", ["x\ny"]],
    ["core.bare", [""]],
  ]);
  expect(parseConfiguration("").size).toBe(0);
});

it("where a folder lies in its repository is known by one look, of a worktree too", async () => {
  const root = repository();
  const inner = join(root, "a/b");
  mkdirSync(inner, { recursive: true });
  const own = { folder: join(root, ".git"), commonFolder: join(root, ".git"), tree: root };
  expect(await repositoryOf(root)).toEqual({ ...own, prefix: "" });
  expect(await repositoryOf(inner)).toEqual({ ...own, prefix: "a/b/" });
  const other = join(temporaryFolder(), "other");
  git(root, "worktree", "add", "-q", other);
  expect(await repositoryOf(other)).toEqual({
    folder: join(root, ".git/worktrees/other"),
    commonFolder: join(root, ".git"),
    tree: other,
    prefix: "",
  });
  expect((await configurationOf(other, {})).get("user.name")?.at(-1)).toBe("A Person");
});
