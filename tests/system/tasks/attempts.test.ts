import { spawn } from "node:child_process";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { TaskState } from "../../../src/task/generated/ralph-state.js";
import { noBubblewrap, skippedFor } from "../../support/processes/bubblewrap.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { killProcesses } from "../../support/processes/kill-processes.js";

/** What a person sees of the attempts of a task: each test runs the built program, with agents that are scripts. */
let program = "";
let top = "";
beforeAll(async () => {
  program = join(await sharedPackage(), "dist/cli.js");
});
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "attempts-")));
  mkdirSync(folder());
  execFileSync("git", ["init", "-q", folder()]);
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const folder = () => join(top, "project");
const read = (name: string): string => readFileSync(join(folder(), name), "utf8");
const state = (): TaskState => JSON.parse(read("ralph.state.json"));
const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(folder(), name)), { recursive: true });
  writeFileSync(join(folder(), name), text);
};
const brief = (attempt: number): string => readFileSync(join(top, `brief-${attempt}.md`), "utf8");
/** How often a command of the task has run that adds a line to this file beside the project. */
const lines = (name: string): number => readFileSync(join(top, name), "utf8").trim().split("\n").length;

/** An agent that is this script; `$N` is the number of its run, and each brief is kept. */
function agent(script: string): string[] {
  const file = join(top, "agent.sh");
  const count = `N=$(( $(cat ${top}/count 2>/dev/null || echo 0) + 1 ))\necho $N > ${top}/count`;
  writeFileSync(file, `#!/bin/sh\n${count}\ncat > ${top}/brief-$N.md\n${script}\n`, { mode: 0o755 });
  return ["--agent", `cmd:${file}`, "--unconfined", "--sandbox", "host"];
}

const env = () => ({ HOME: join(top, "home") });
const ralph = (...args: string[]) => run(process.execPath, [program, ...args], folder(), env());
const last = (out: string) => JSON.parse(out.trim().split("\n").at(-1) ?? "{}");
const task = (criteria: readonly object[], more: object = {}): void =>
  write("ralph.json", JSON.stringify({ task: "Make it work", acceptance_criteria: criteria, ...more }));

/** Six tests, of which each attempt mends one. */
const sixTests = (): void => {
  write("package.json", '{ "private": true, "type": "module", "scripts": { "test": "node --test" } }');
  const tests = [1, 2, 3, 4, 5, 6].map(
    (at) => `test("number ${at}", () => assert.ok(done.includes(${at}), "not done"));`,
  );
  write("done.mjs", "export const done = [];\n");
  write(
    "all.test.mjs",
    `import assert from "node:assert";\nimport { test } from "node:test";\nimport { done } from "./done.mjs";\n${tests.join("\n")}\n`,
  );
};
const mendOne = "sed -i \"s/\\[\\(.*\\)\\]/[\\1$(grep -o '[0-9]' done.mjs | wc -l | awk '{print $1+1}'),]/\" done.mjs";

describe("one failing test less with each attempt is progress", () => {
  it("of one agent, which ends complete", async () => {
    sixTests();
    task([{ type: "tests_pass" }]);
    const { code, out } = await ralph("task", "--json", ...agent(`${mendOne}; echo done`));
    expect([code, last(out).iterations], out).toEqual([0, 6]);
    expect(state().attempts.map(({ failing }) => failing)).toEqual([5, 4, 3, 2, 1, 0]);
  });

  it("of a team, whose rounds do not repeat one another although the errors read alike", async () => {
    sixTests();
    const answers = `case $(sed -n 's/^# Your role: //p' ${top}/brief-$N.md | head -1) in
librarian) echo '{"cause":"c","files":[{"path":"done.mjs"}],"plan":["x"]}' ;;
artisan) ${mendOne}; echo '{"hypothesis":"h","action_taken":"a"}' ;;
critic) echo '{"decision":"approve","findings":[]}' ;;
*) echo '{"tests":[],"findings":[]}' ;;
esac`;
    const { code, out } = await ralph("code", "--json", ...agent(answers));
    expect([code, last(out).verdict, last(out).rounds], out).toEqual([0, "complete", 6]);
    expect(state().rounds?.map(({ tests, repeats }) => [tests?.failing, repeats])).toEqual([
      ...[5, 4, 3, 2, 1].map((failing) => [failing, 1]),
      [0, undefined],
    ]);
  });
});

describe("what an agent says at its end", () => {
  it("stands in the brief of the next attempt and in the log, and after a kill too", async () => {
    task([{ type: "file_exists", path: "never" }], { max_iterations: 3 });
    const script = 'echo "I looked."; echo; echo "Learned in $N: the lock must be taken first."; echo $N > note.txt';
    expect((await ralph("task", ...agent(script), "-i", "1")).code).toBe(3);
    expect(read(".ralph/task.log")).toContain("said: Learned in 1: the lock must be taken first.");
    expect(read("whole.task.md")).toContain("Learned in 1: the lock must be taken first.");
    // Killed while the second one is at work.
    const child = spawn(
      process.execPath,
      [program, "task", ...agent(`[ $N = 2 ] && touch ${top}/at-work && sleep 30; ${script}`)],
      { cwd: folder(), env: { PATH: process.env["PATH"], ...env() }, stdio: "ignore", detached: true },
    );
    const ended = new Promise((resolve) => child.once("close", resolve));
    await expect.poll(() => existsSync(join(top, "at-work"))).toBe(true);
    expect(brief(2)).toContain("- #1: Learned in 1: the lock must be taken first.");
    killProcesses([-(child.pid ?? 0)]);
    await ended;
    await ralph("task", ...agent(script), "-i", "1");
    expect(brief(3)).toContain("- #1: Learned in 1: the lock must be taken first.");
  });

  it("takes a bounded part of the brief, and of a long one the end is kept", async () => {
    task([{ type: "file_exists", path: "never" }], { max_iterations: 8 });
    const words = 'for i in $(seq 1 400); do printf "word%s " $i; done; echo "the end of $N."';
    await ralph("task", "--force", ...agent(`echo $N > n.txt; ${words}`), "-i", "7");
    const said = /# What the agents before you said at their end\n([\s\S]*?)\n# /.exec(brief(5))?.[1] ?? "";
    expect(said).toContain("the end of 4.");
    expect(said).not.toContain("word1 ");
    expect(said.length).toBeLessThan(1_800);
  });
});

describe("how a run ended", () => {
  it.each([
    ["complete", "touch a.txt", 0, "Last run: complete."],
    ["limit", "echo $N > b.txt", 3, "Last run: limit."],
    ["failed", "exit 9", 1, "Last run: failed."],
  ])("as %s stands in current.state.md", async (_, script, code, said) => {
    task([{ type: "file_exists", path: "a.txt" }], { max_iterations: 4 });
    expect((await ralph("task", ...agent(`${script}; echo done`))).code).toBe(code);
    expect(read("current.state.md")).toContain(said);
    expect(read("current.state.md")).not.toContain("Status: running");
  });
});

describe("a model service that does not answer", () => {
  it("takes no attempt, and the criteria are not checked again for it", async () => {
    task([{ type: "command_succeeds", command: `echo x >> ${top}/checked; test -e a.txt` }], { max_iterations: 2 });
    const script = 'if [ $N -lt 3 ]; then echo "fetch failed" >&2; exit 1; fi; touch a.txt; echo done';
    const { code, out } = await ralph("task", "--json", ...agent(script));
    expect([code, last(out).iterations, last(out).not_counted], out).toEqual([0, 1, 2]);
    expect(lines("checked")).toBe(2);
  });
});

describe("attempts that leave the files as they are", () => {
  it("are seen to go round in a circle from the second one on, by what their agents did", async () => {
    task([{ type: "file_exists", path: "never" }], { max_iterations: 8 });
    const planning = 'echo "I will now look at the files. Next I will plan the change. Let me start by reading."';
    const { code, out } = await ralph("task", "--json", ...agent(planning));
    expect([code, last(out).verdict], out).toEqual([4, "stuck"]);
    const kinds = (state().loop?.observations ?? []).map(({ signs = [] }) => signs);
    for (const signs of kinds) expect(signs).toContain("planning-loop");
    expect(state().loop?.loop_type).toBe("planning-loop");
    expect(brief(4)).toContain("They announced what they would do and ended before doing it.");
  });
});

describe("a program of tests that can't start", () => {
  it("is told with its own words where it is cargo", async () => {
    write("Cargo.toml", '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n');
    const words = "error: rustup could not choose a version of cargo to run";
    mkdirSync(join(top, "bin"));
    writeFileSync(join(top, "bin/cargo"), `#!/bin/sh\necho "${words}" >&2\nexit 1\n`, { mode: 0o755 });
    const own = { ...env(), PATH: `${join(top, "bin")}:${process.env["PATH"]}` };
    const start = (...args: string[]) => run(process.execPath, [program, ...args], folder(), own);
    const dry = await start("task", "Make the tests pass", "--tests", "--dry-run", "--sandbox", "host");
    expect([dry.code, dry.out]).toEqual([1, expect.stringContaining(`cargo could not run: ${words}`)]);
    const team = await start("code", ...agent("echo done"));
    expect([team.code, team.err.replace(/\s+/g, " ")]).toEqual([5, expect.stringContaining(`can't be run (${words})`)]);
  });
});

describe.skipIf(noBubblewrap !== undefined)(`an absolute path in bubblewrap${skippedFor(noBubblewrap)}`, () => {
  it("is said to lie elsewhere outside: on the screen, in --json and in the state", async () => {
    task([{ type: "file_exists", path: "/home/daytona/hello.txt" }], { max_iterations: 3 });
    const script = "mkdir -p /home/daytona; echo 'Hello from Ralph' > /home/daytona/hello.txt; echo done";
    const confined = ["--agent", `cmd:cat > /dev/null; ${script}`, "--sandbox", "bubblewrap"];
    const first = await ralph("task", ...confined);
    expect(first.code, first.err).toBe(0);
    const [check] = state().checks;
    const place = check?.at ?? "";
    expect(readFileSync(place, "utf8")).toBe("Hello from Ralph\n");
    expect(first.err.replace(/\s+/g, "")).toContain(`outsideofthesandboxitis${place}`);
    expect(last((await ralph("task", "--json", ...confined)).out).criteria).toEqual([
      { criterion: "file_exists /home/daytona/hello.txt", passed: true, at: place },
    ]);
  });
});
