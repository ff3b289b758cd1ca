import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { rustupVariables, surroundingsOf } from "../../../src/task/place/toolchains.js";
import { noAccess } from "../../../src/engine/process/access.js";
import { programIn } from "../../../src/engine/process/search-path.js";
import { openSandbox } from "../../../src/engine/sandbox/open-sandbox.js";
import { run } from "../../../src/task/place/run.js";
import { noBubblewrap, skippedFor } from "../../support/processes/bubblewrap.js";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "builds-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command in a sandbox as a check of a task would, with this user's own environment. */
async function check(command: string, files: Readonly<Record<string, string>>, more: NodeJS.ProcessEnv = {}) {
  const cwd = join(folder, "project");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const env = { ...process.env, ...rustupVariables(process.env), ...more };
  const { sandbox } = await openSandbox("bubblewrap", { env });
  if (sandbox === undefined) throw new Error("no sandbox");
  const access = { ...noAccess, read: surroundingsOf(cwd, env), write: [cwd] };
  const { signal } = new AbortController();
  const place = { exec: sandbox.exec, cwd, env, access, node: process.execPath, scratch: folder, signal };
  const ran = await run(place, "sh", ["-c", command], { timeoutMs: 300_000 });
  return { ok: ran.ok, said: `${ran.stdout}${ran.stderr}` };
}

/** A build or a run of tests of each language whose tools are on this machine. */
const builds: readonly (readonly [tool: string, command: string, files: Readonly<Record<string, string>>])[] = [
  [
    "node",
    "node --test",
    { "sum.test.mjs": `import t from "node:test"; t("adds", () => { if (1 + 1 !== 2) throw 1; });` },
  ],
  [
    "python3",
    "python3 -m unittest -q",
    {
      "test_sum.py": "import unittest\nclass T(unittest.TestCase):\n  def test_sum(self): self.assertEqual(1 + 1, 2)\n",
    },
  ],
  [
    "make",
    "make -s check",
    {
      Makefile: "check: sum\n\t./sum\nsum: sum.c\n\t$(CC) $(CFLAGS) -o $@ $<\n",
      "sum.c": "int main(void) { return 1 + 1 - 2; }\n",
    },
  ],
  [
    "cmake",
    "cmake -S . -B out >/dev/null && cmake --build out >/dev/null && out/sum",
    {
      "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(sum C)\nadd_executable(sum sum.c)\n",
      "sum.c": "int main(void) { return 0; }\n",
    },
  ],
  [
    "cargo",
    "cargo test -q --offline",
    {
      "Cargo.toml": '[package]\nname = "sum"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs": "#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n",
    },
  ],
  [
    "javac",
    "javac Sum.java && java Sum",
    { "Sum.java": "class Sum { public static void main(String[] a) { assert 1 + 1 == 2; } }" },
  ],
  ["perl", "prove -q t", { "t/sum.t": "use Test::More tests => 1; is(1 + 1, 2);" }],
  [
    "go",
    "go test ./...",
    { "go.mod": "module sum\n", "sum_test.go": 'package sum\nimport "testing"\nfunc TestSum(t *testing.T) {}\n' },
  ],
  ["ruby", "ruby -e 'exit 1 + 1 == 2'", {}],
];

describe.skipIf(noBubblewrap !== undefined)(`builds in bubblewrap${skippedFor(noBubblewrap)}`, () => {
  for (const [tool, command, files] of builds) {
    const isThere = programIn(process.env["PATH"] ?? "", tool) !== undefined;
    test.skipIf(!isThere)(
      `${tool} works as on this machine${isThere ? "" : " (skipped: it is not here)"}`,
      async () => {
        expect(await check(command, files)).toMatchObject({ ok: true });
      },
    );
  }

  test("a language that its variable names, outside of the home, is read and can't be changed", async () => {
    const root = join(folder, "pyenv");
    mkdirSync(join(root, "shims"), { recursive: true });
    writeFileSync(join(root, "shims/mine"), "#!/bin/sh\necho $PYENV_ROOT\n", { mode: 0o755 });
    const more = {
      PYENV_ROOT: root,
      PATH: `${join(root, "shims")}:${process.env["PATH"]}`,
      RUSTUP_HOME: join(folder, "none"),
    };
    const { ok, said } = await check("mine; touch $PYENV_ROOT/x; echo [$RUSTUP_HOME]", { "a.txt": "" }, more);
    expect(ok).toBe(true);
    expect(said).toContain(root);
    expect(said).toContain("[]");
    expect(readdirSync(root)).toEqual(["shims"]);
  });
});
