import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { nodeIn, surroundingsOf } from "../../src/compose/toolchains.js";

let home: string;
beforeEach(() => (home = realpathSync(mkdtempSync(join(tmpdir(), "home-")))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

it("shows of a Node in ~/.local its programs and packages, and nothing of what lies beside them", () => {
  for (const name of ["bin", "lib/node_modules/npm", "share/keyrings"])
    mkdirSync(join(home, ".local", name), { recursive: true });
  writeFileSync(join(home, ".local/bin/node"), "");
  expect(nodeIn(join(home, ".local/bin/node"))).toEqual([
    join(home, ".local/bin"),
    join(home, ".local/lib/node_modules"),
  ]);
});

it("shows the libraries that came with a Node, where it was built to use them", () => {
  for (const name of ["bin", "lib", "etc"]) mkdirSync(join(home, "conda", name), { recursive: true });
  for (const name of ["bin/node", "lib/libuv.so.1"]) writeFileSync(join(home, "conda", name), "");
  expect(nodeIn(join(home, "conda/bin/node"))).toEqual([join(home, "conda/bin"), join(home, "conda/lib")]);
});

it("shows of uv the Pythons and tools, and not its logins", () => {
  const uv = join(home, ".local/share/uv");
  for (const name of ["python/3.12/bin", "tools", "credentials"]) mkdirSync(join(uv, name), { recursive: true });
  const project = join(home, "project");
  mkdirSync(project);
  const shown = surroundingsOf(project, { HOME: home, PATH: join(uv, "python/3.12/bin") });
  expect(shown).toContain(join(uv, "python"));
  expect(shown.filter((path) => join(uv, "credentials").startsWith(path))).toEqual([]);
});
