import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { nodeIn, surroundingsOf } from "../../../src/task/place/toolchains.js";

let home: string;
beforeEach(() => (home = realpathSync(mkdtempSync(join(tmpdir(), "home-")))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

const at = (name: string): string => join(home, name);

function program(name: string): string {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), "#!/bin/sh\n");
  chmodSync(at(name), 0o755);
  return at(name);
}

/** What is shown to a project in ~/project with these folders of the home in its PATH, as it is named there. */
function shownOf(...path: readonly string[]): string[] {
  mkdirSync(at("project"), { recursive: true });
  const all = surroundingsOf(at("project"), { HOME: home, PATH: [...path.map(at), "/usr/bin"].join(":") });
  return all.flatMap((each) => (each.startsWith(`${home}/`) ? [each.slice(home.length + 1)] : []));
}

it("shows the folders of programs in a PATH, what their links lead to, and nothing beside them", () => {
  for (const name of [".docker/config.json", ".local/share/keyrings/login", "notes/secret.txt", "tools/own.sh"])
    program(name);
  for (const name of [".local/bin/uv", "bin/own", ".docker/bin/docker"]) program(name);
  program(".local/share/pipx/venvs/black/bin/black");
  writeFileSync(at(".local/share/pipx/venvs/black/pyvenv.cfg"), "");
  program(".asdf/installs/python/3.11/bin/python3");
  program(".npm-global/lib/node_modules/@scope/pnpm/cli.js");
  program(".local/share/uv/python/cpython-3.13/bin/python3.13");
  for (const [name, target] of [
    [".local/bin/black", ".local/share/pipx/venvs/black/bin/black"],
    [".local/bin/pnpm", ".npm-global/lib/node_modules/@scope/pnpm/cli.js"],
    [".local/bin/python3.13", ".local/share/uv/python/cpython-3.13/bin/python3.13"],
    [".local/share/pipx/venvs/black/bin/python", ".asdf/installs/python/3.11/bin/python3"],
    ["bin/script", "tools/own.sh"],
    ["bin/broken", "nowhere"],
    ["bin/uv", ".local/bin/uv"],
  ] as const)
    symlinkSync(at(target), at(name));
  expect(shownOf(".local/bin", "bin", ".docker/bin", "notes", "").toSorted()).toEqual(
    [
      ...[".asdf", ".docker/bin", ".local/bin", ".local/share/pipx/venvs/black", ".local/share/uv/python"],
      ...[".npm-global/lib/node_modules", "bin", "tools/own.sh"],
    ].toSorted(),
  );
  // No project's own folder, none around it, and no home.
  program("project/node_modules/.bin/x");
  symlinkSync(home, at("project/bin"));
  expect(shownOf("project/bin", "project/node_modules/.bin", "project", "")).toEqual([]);
});

it("shows environments of conda whole, and the Python behind the project's own", () => {
  for (const name of ["miniconda3/envs/lab/bin/python", ".pyenv/versions/3.12/bin/python3.12", "secret/bin/key"])
    program(name);
  mkdirSync(at("miniconda3/envs/lab/conda-meta"));
  mkdirSync(at("project/.venv/bin"), { recursive: true });
  symlinkSync(at(".pyenv/versions/3.12/bin/python3.12"), at("project/.venv/bin/python"));
  expect(shownOf("miniconda3/envs/lab/bin").toSorted()).toEqual([".pyenv", "miniconda3/envs/lab"]);
  // An agent may have made that link.
  rmSync(at("project/.venv/bin/python"));
  symlinkSync(at("secret/bin/key"), at("project/.venv/bin/python"));
  expect(shownOf()).toEqual([]);
});

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
