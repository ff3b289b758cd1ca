import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cli } from "../../support/processes/in-process.js";

let top = "";
let folder = "";
/** What a planted program leaves where it was run. */
let mark = "";
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "planted-")));
  folder = join(top, "project");
  mark = join(top, "mark");
  mkdirSync(folder);
  git("init", "-q");
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const git = (...args: string[]): string => execFileSync("git", args, { cwd: folder, encoding: "utf8" });

/** Runs a task in a folder with an agent that is this script. */
function work(script: string, criteria: readonly object[], at = folder) {
  const file = join(top, "agent.sh");
  writeFileSync(file, `#!/bin/sh\ncat > /dev/null\n${script}\necho done\n`);
  chmodSync(file, 0o755);
  writeFileSync(
    join(at, "ralph.json"),
    JSON.stringify({ task: "Make a.txt", acceptance_criteria: criteria, max_iterations: 1 }),
  );
  const args = ["task", "--agent", `cmd:${file}`, "--unconfined", "--sandbox", "host"];
  return cli(args, at, { HOME: top });
}

const made = [{ type: "file_exists", path: "a.txt" }];
const kept = (): string[] => git("for-each-ref", "--format=%(refname)", "refs/ralph").trim().split("\n");

describe("git, which keeps the files", () => {
  const attributes = "echo '*.txt filter=x' > .gitattributes; echo text > a.txt";

  test("starts no filter of the user's: it would run what an agent has left in the folder", async () => {
    git("config", "filter.x.clean", `sh -c '. ./filter.sh; cat'`);
    git("config", "filter.x.required", "true");
    const { code } = await work(`echo 'echo x > "${mark}"' > filter.sh; ${attributes}`, made);
    expect(code).toBe(0);
    expect(existsSync(mark)).toBe(false);
    expect(kept()).toHaveLength(3);
    expect(git("show", `${kept()[1]}:a.txt`)).toBe("text\n");
  });

  test("starts no filter of a file in the folder that the configuration includes", async () => {
    git("config", "include.path", "../.gitconfig");
    const filter = `[filter "x"]\n clean = sh -c 'echo x > ${mark}; cat'\n`;
    const { code } = await work(`cat > .gitconfig <<'END'\n${filter}END\n${attributes}`, made);
    expect(code).toBe(0);
    expect(existsSync(mark)).toBe(false);
    expect(git("show", `${kept()[1]}:a.txt`)).toBe("text\n");
  });

  test("stays with the repository around a folder, whatever repository an agent makes in it", async () => {
    const inner = join(folder, "inner");
    mkdirSync(inner);
    const { code, err } = await work(
      `git init -q; git config filter.x.clean 'sh -c "echo x > ${mark}; cat"'; ${attributes}`,
      made,
      inner,
    );
    expect(code).toBe(0);
    expect(existsSync(mark)).toBe(false);
    expect(existsSync(join(inner, ".git"))).toBe(false);
    expect(err).toMatch(/\.git.* changed while the agent was at work, and w(?:as|ere) put back/);
    expect(git("show", `${kept()[1]}:inner/a.txt`)).toBe("text\n");
  });

  test("runs no hook of an agent's later, where the user keeps hooks in the project", async () => {
    git("config", "core.hooksPath", ".husky/_");
    mkdirSync(join(folder, ".husky/_"), { recursive: true });
    writeFileSync(join(folder, ".husky/_/pre-commit"), "as it was");
    await work("for name in pre-commit pre-push; do echo x > .husky/_/$name; done; echo text > a.txt", made);
    expect(readdirSync(join(folder, ".husky/_"))).toEqual(["pre-commit"]);
    expect(readFileSync(join(folder, ".husky/_/pre-commit"), "utf8")).toBe("as it was");
  });
});

test("a link in place of a folder that is put back leads nothing elsewhere", async () => {
  const other = join(top, "other");
  mkdirSync(other);
  writeFileSync(join(other, "pre-commit"), "somebody's");
  mkdirSync(join(folder, ".git/hooks"), { recursive: true });
  writeFileSync(join(folder, ".git/hooks/pre-commit"), "the user's");
  const { code } = await work(`rm -r .git/hooks; ln -s ${other} .git/hooks; echo text > a.txt`, made);
  expect(code).toBe(0);
  expect(readFileSync(join(folder, ".git/hooks/pre-commit"), "utf8")).toBe("the user's");
  expect(lstatSync(join(folder, ".git/hooks")).isDirectory()).toBe(true);
  expect(readdirSync(other)).toEqual(["pre-commit"]);
  expect(readFileSync(join(other, "pre-commit"), "utf8")).toBe("somebody's");
});

describe("a pipe that an agent leaves, which nobody writes into,", () => {
  test("in place of a manifest is none, and keeps no run", async () => {
    const script = "for name in package.json pyproject.toml go.mod; do mkfifo $name; done";
    const { code, out, err } = await work(script, [{ type: "tests_pass" }]);
    expect(code).toBe(3);
    expect(out + err).not.toContain("Error");
  });

  test("in place of the plan gives way to the plan", async () => {
    const { code } = await work("rm -f todo.md; mkfifo todo.md whole.task.md; echo text > a.txt", made);
    expect(code).toBe(0);
    expect(lstatSync(join(folder, "todo.md")).isFile()).toBe(true);
  });
});
