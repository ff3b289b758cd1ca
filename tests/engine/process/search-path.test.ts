import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { pathOutside, programIn, agentFolders } from "../../../src/engine/process/search-path.js";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "path-")));
  for (const name of ["project/node_modules/.bin", "project-tools", "elsewhere"])
    mkdirSync(join(root, name), { recursive: true });
  symlinkSync(join(root, "project"), join(root, "link"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const left = (...entries: string[]) => pathOutside([join(root, "project")], entries.join(":"));

it.each(["project/node_modules/.bin", "project", "project/not/there/yet", "link/node_modules/.bin"])(
  "takes a folder of the project out of a PATH: %s",
  (name) => expect(left(join(root, name), "/usr/bin")).toBe("/usr/bin"),
);

it.each(["", ".", "./node_modules/.bin", "node_modules/.bin"])("takes a relative one out: '%s'", (name) =>
  expect(left(name, "/usr/bin")).toBe("/usr/bin"),
);

it("keeps all others, also of a name that begins alike, in their order", () => {
  const others = [join(root, "project-tools"), join(root, "elsewhere"), "/usr/bin"];
  expect(left(...others)).toBe(others.join(":"));
});

it.each(["", ".", "project/bin"])("is the system's where nothing is left: '%s'", (name) =>
  expect(left(name === "project/bin" ? join(root, name) : name)).toBe("/usr/bin:/bin"),
);

it("knows a project by a link to it", () =>
  expect(pathOutside([join(root, "link")], `${join(root, "project", "bin")}:/bin`)).toBe("/bin"));

it("finds a program that can be executed, and no folder of its name", () => {
  mkdirSync(join(root, "elsewhere", "sh"));
  expect(programIn(`${join(root, "elsewhere")}:/bin`, "sh")).toBe("/bin/sh");
  expect(programIn(root, "sh")).toBeUndefined();
});

it("takes no home for a folder in which an agent may have worked, and none that holds it", () =>
  expect(agentFolders(["/home/ada", "/home", "/", "/home/ada/project", "/home/adam"], "/home/ada")).toEqual([
    "/home/ada/project",
    "/home/adam",
  ]));
