import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { workspacesOf } from "../../../src/research/workflow/workspace.js";
import { temporaryFolder } from "../../support/projects/research.js";

// Root may remove anything; this is what everybody else meets: nothing goes out of a folder that may not be written.
const busy = vi.hoisted(() => ({ path: "" }));
vi.mock("node:fs/promises", async (importOriginal) => {
  const real = await importOriginal<typeof import("node:fs/promises")>();
  const isLocked = (path: string): boolean =>
    lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true &&
    ((lstatSync(path).mode & 0o300) !== 0o300 || readdirSync(path).some((name) => isLocked(join(path, name))));
  const rm: typeof real.rm = async (path, options) => {
    if (path === busy.path || isLocked(String(path)))
      throw Object.assign(new Error(`EACCES: permission denied, unlink '${path}'`), { code: "EACCES" });
    await real.rm(path, options);
  };
  return { ...real, rm };
});

/**
 * A workspace in which an agent has locked folders within folders, one of them by a link to a folder of the person's.
 */
async function locked() {
  const [state, mine] = [temporaryFolder(), temporaryFolder()];
  chmodSync(mine, 0o500);
  const workspaces = workspacesOf(state, "/researches/one");
  const workspace = await workspaces.create(1);
  mkdirSync(join(workspace, "locked", "deep"), { recursive: true });
  writeFileSync(join(workspace, "locked", "deep", "file"), "");
  symlinkSync(mine, join(workspace, "link"));
  for (const name of ["locked/deep", "locked", "."]) chmodSync(join(workspace, name), 0o500);
  return { workspaces, workspace, mine };
}

test.each(["sweep", "remove", "create"] as const)(
  "a workspace that its agent locked goes all the same: %s",
  async (how) => {
    const { workspaces, workspace, mine } = await locked();
    await (how === "sweep" ? workspaces.sweep() : workspaces[how](1));
    expect(existsSync(join(workspace, "locked"))).toBe(false);
    expect(lstatSync(mine).mode & 0o777).toBe(0o500);
  },
);

test("one that can't be removed at all stays, and stops nobody", async () => {
  const { workspaces, workspace } = await locked();
  busy.path = workspace;
  await workspaces.sweep();
  await workspaces.remove(1);
  expect(existsSync(workspace)).toBe(true);
  await expect(workspaces.create(1)).rejects.toThrow(
    `No workspace could be made at ${workspace} (EACCES: permission denied`,
  );
  busy.path = workspaces.keptPath(2);
  await workspaces.create(2);
  await workspaces.keep(2);
  await workspaces.keepOnly(new Set());
  busy.path = "";
});

test.each(["workspaces", "workspaces/one", "workspaces/one/1"])(
  "nothing behind a link in the place of %s is removed",
  async (place) => {
    const [state, mine] = [temporaryFolder(), temporaryFolder()];
    const workspaces = workspacesOf(state, "/researches/one");
    const name = basename(workspaces.root);
    for (const inner of [`${name}/1`, `${name}/refused-1`, "1", "2", "refused-2", "papers"]) {
      mkdirSync(join(mine, inner), { recursive: true });
      writeFileSync(join(mine, inner, "precious"), "");
    }
    const before = readdirSync(mine, { recursive: true }).toSorted();
    const link = join(state, place.replace("one", name));
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(mine, link);
    await workspaces.sweep();
    await workspaces.keepOnly(new Set());
    await workspaces.remove(1);
    if (place.endsWith("1")) expect(lstatSync(await workspaces.create(1)).isSymbolicLink()).toBe(false);
    else await expect(workspaces.create(1)).rejects.toThrow(`${link} is a symbolic link`);
    await workspaces.keep(2);
    await workspaces.keep(1);
    await workspaces.close();
    expect(readdirSync(mine, { recursive: true }).toSorted()).toEqual(before);
  },
);

test.each(["a", "研"])("a project whose name is as long as names can be has one: %s", async (letter) => {
  const folder = `/researches/${letter.repeat(255 / Buffer.byteLength(letter))}`;
  const [one, other] = [folder, folder.slice(0, -1)].map((each) => workspacesOf(temporaryFolder(), each));
  expect(existsSync((await one?.create(1)) ?? "")).toBe(true);
  expect(basename(one?.root ?? "")).not.toBe(basename(other?.root ?? ""));
});

test("a refused one is kept with what is in it, and not at all where it is empty", async () => {
  const workspaces = workspacesOf(temporaryFolder(), "/researches/one");
  await workspaces.create(1);
  expect(await workspaces.keep(1)).toBeUndefined();
  writeFileSync(join(await workspaces.create(2), "result.json"), "{}");
  expect(await workspaces.keep(2)).toBe(workspaces.keptPath(2));
  expect(readdirSync(workspaces.root)).toEqual(["refused-2"]);
});

test("only what has a name of ours is swept", async () => {
  const workspaces = workspacesOf(temporaryFolder(), "/researches/one");
  for (const name of ["1", "2x", "notes", "refused-1", "refused-", "refused-1b"])
    mkdirSync(join(workspaces.root, name), { recursive: true });
  await workspaces.sweep();
  expect(readdirSync(workspaces.root).toSorted()).toEqual(["2x", "notes", "refused-", "refused-1", "refused-1b"]);
  await workspaces.keepOnly(new Set());
  expect(readdirSync(workspaces.root).toSorted()).toEqual(["2x", "notes", "refused-", "refused-1b"]);
});
