import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { TaskState } from "../../../src/task/generated/ralph-state.js";
import { cli } from "../processes/in-process.js";
import { copyTemplate, templateRepositoryNow } from "./git-template.js";

/** A git repository with these files, all of them committed, and what a coding run leaves in it. */
export function codeProject(files: Readonly<Record<string, string>>) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "code-")));
  const folder = join(top, "project");
  /** Another than the project: no run works in the user's home. */
  const home = { HOME: join(top, "home") };
  mkdirSync(folder);
  const path = (name: string): string => join(folder, name);
  const read = (name: string): string => readFileSync(path(name), "utf8");
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      encoding: "utf8",
    }).trim();
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
  };
  copyTemplate(folder, JSON.stringify(files), (at) => {
    templateRepositoryNow(at);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(at, name)), { recursive: true });
      writeFileSync(join(at, name), text);
    }
    for (const args of [
      ["add", "--all"],
      ["commit", "-qm", "first"],
    ])
      execFileSync("git", args, { cwd: at });
  });

  /**
   * An agent that is this script of the shell. `$ROLE` is its role, `$N` how often the role has run, `$PROJECT` the
   * project, `$BRIEF` a file with its brief; what it prints last is its answer.
   */
  function agent(script: string, name = "agent"): string[] {
    const file = join(top, `${name}.sh`);
    writeFileSync(
      file,
      `#!/bin/sh
BRIEF=${top}/brief.$$
cat > $BRIEF
PROJECT=${folder}
ROLE=$(sed -n 's/^# Your role: //p' $BRIEF | head -1)
mkdir -p ${top}/counts
N=$(( $(cat ${top}/counts/$ROLE 2>/dev/null || echo 0) + 1 ))
echo $N > ${top}/counts/$ROLE
cp $BRIEF ${top}/brief-$ROLE-$N.md
${script}
`,
    );
    chmodSync(file, 0o755);
    return ["--agent", `cmd:${file}`, "--unconfined", "--sandbox", "host"];
  }

  return {
    top,
    folder,
    home,
    path,
    read,
    write,
    git,
    agent,
    state: (): TaskState & Required<Pick<TaskState, "rounds">> => JSON.parse(read("ralph.state.json")),
    ledger: (): LedgerLine[] =>
      read(".ralph/ledger.jsonl")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    /** What a role was given to read, the how manieth time. */
    brief: (role: string, time = 1): string => readFileSync(join(top, `brief-${role}-${time}.md`), "utf8"),
    /** Runs the command with --json; its last line, all of its lines, and how it ended. */
    async json(...args: string[]) {
      const { code, out, err } = await cli(["code", "--json", ...args], folder, home);
      const lines = out
        .trim()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
      return { code, err, lines, last: lines.at(-1) };
    },
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
}

/** A project of node:test with an error off by one in src/range.mjs. */
export const offByOne: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({ name: "sample", private: true, type: "module", scripts: { test: "node --test" } }),
  "src/range.mjs":
    "/** The numbers from a up to b. */\nexport function range(a, b) {\n  const out = [];\n  for (let i = a; i < b; i++) out.push(i);\n  return out;\n}\n",
  "src/sum.mjs":
    'import { range } from "./range.mjs";\n\nexport const sum = (a, b) => range(a, b).reduce((total, each) => total + each, 0);\n',
  "test/range.test.mjs":
    'import assert from "node:assert";\nimport { test } from "node:test";\nimport { range } from "../src/range.mjs";\nimport { sum } from "../src/sum.mjs";\n\ntest("is a list", () => assert.ok(Array.isArray(range(1, 2))));\ntest("holds both ends", () => assert.deepEqual(range(1, 3), [1, 2, 3]));\ntest("sums up", () => assert.equal(sum(1, 3), 6));\n',
};

const plan = { cause: "The loop ends before b.", files: [{ path: "src/range.mjs", lines: [2, 6] }], plan: ["Use <=."] };
const did = { hypothesis: "off by one", action_taken: "compared with <=" };

/** What each role of the usual scripted agent does, by role; one may be replaced. */
export const usual = {
  librarian: `echo '${JSON.stringify(plan)}'`,
  artisan: `sed -i 's/i < b/i <= b/' src/range.mjs; echo '${JSON.stringify(did)}'`,
  critic: `echo '${JSON.stringify({ decision: "approve", findings: [] })}'`,
  adversary: `echo '${JSON.stringify({ tests: [], findings: [] })}'`,
};

/** The script of an agent that does this for each role. */
export const byRole = (scripts: Partial<typeof usual>): string =>
  `case $ROLE in\n${Object.entries({ ...usual, ...scripts })
    .map(([role, script]) => `${role}) ${script} ;;`)
    .join("\n")}\nesac`;
