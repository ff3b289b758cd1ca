import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../../src/commands/main.js";
import { readTaskFile, createTaskReader } from "../../../src/task/project-files/task-file.js";
import { ioIn } from "../../support/processes/in-process.js";
import { templateRepository } from "../../support/projects/git-template.js";
import {
  agent,
  cli,
  eachInTaskFolder,
  exists,
  git,
  here,
  home,
  json,
  ledger,
  nothing,
  path,
  read,
  shell,
  state,
  task,
  touch,
  write,
} from "../../support/projects/task-folder.js";

eachInTaskFolder();

describe("a task", () => {
  it("keeps and puts back no file that programs install or build, also where git ignores none", async () => {
    await templateRepository(here());
    write({ task: "x", acceptance_criteria: [exists("never")], max_iterations: 1 });
    const built = ["node_modules/a/i.js", "p/__pycache__/a.pyc", "c/target/debug/a", "a.pyc", "c/target/CACHEDIR.TAG"];
    const own = ["target/mine.txt", "src/node_modules.js", "debug/a"];
    for (const name of [...built, ...own]) mkdirSync(dirname(path(name)), { recursive: true });
    await json(...agent((run) => [...built, ...own].map((name) => writeFileSync(path(name), `${run}\n`))));
    const refs = git("for-each-ref", "--format=%(refname)", "refs/ralph/*/1").split("\n");
    expect(git("ls-tree", "-r", "--name-only", refs[0] ?? "").split("\n")).toEqual(own.toSorted());
    expect((await task("--undo", "0")).code).toBe(0);
    expect([...built, ...own].filter((name) => existsSync(path(name)))).toEqual(built);
  });

  it("is stuck after five attempts without progress, and goes on with --force", async () => {
    write({ task: "x", acceptance_criteria: [exists("never")], max_iterations: 20 });
    const noise = agent((run) => (run > 5 ? touch("never") : writeFileSync(path("noise.txt"), String(run))));
    const first = await json(...noise);
    expect([first.code, first.last.verdict, first.last.status, first.last.iterations]).toEqual([
      4,
      "stuck",
      "error",
      5,
    ]);
    expect((await json(...noise)).last.iterations).toBe(5);
    expect((await json("--force", ...noise)).last).toMatchObject({ status: "success", iterations: 6 });
  });

  it("checks the criteria after a run that failed too", async () => {
    write({ task: "x", acceptance_criteria: [exists("a.txt")] });
    const { last } = await json(...shell("touch a.txt; exit 7"));
    expect(last).toMatchObject({ status: "success", iterations: 1 });
    expect(state().attempts[0]).toMatchObject({ outcome: "failed", failure: "crashed", met: 1 });
  });

  it("does not hold the task to a test that an agent put in the place of others", async () => {
    const testing = (name: string) => `require("node:test")("${name}", () => require("node:fs").accessSync("a.txt"))`;
    writeFileSync(path("package.json"), '{"scripts":{"test":"node --test"}}');
    writeFileSync(path("x.test.js"), testing("mine"));
    write({ task: "x", acceptance_criteria: [{ type: "tests_pass" }], max_iterations: 3 });
    const replaced = (run: number): void => {
      writeFileSync(path("x.test.js"), run === 1 ? 'require("node:test")("easy", () => {})' : testing("mine"));
      if (run === 2) touch("a.txt");
    };
    const { last } = await json(...agent(replaced));
    expect(last).toMatchObject({ status: "success", iterations: 2 });
    // Node 24 names the file first.
    expect(state().tests_seen).toEqual([expect.stringMatching(/^(x\.test\.js > )?mine$/)]);
  });

  it("warns of what is no longer met, and refuses what is no better than ever before", async () => {
    write({ task: "x", acceptance_criteria: [exists("a.txt"), exists("b.txt")], max_iterations: 3 });
    writeFileSync(path("a.txt"), "");
    const works = [() => (rmSync(path("a.txt")), touch("b.txt")), nothing, () => touch("a.txt")];
    const { lines } = await json(...agent((run) => works[run - 1]?.()));
    const warnings = lines.filter(({ type, level }) => type === "notice" && level === "warning");
    expect(warnings.map(({ message }) => message).join("\n")).toContain("No longer met: file_exists a.txt");
    expect(ledger().map(({ outcome }) => outcome)).toEqual(["refused", "refused", "accepted"]);
    expect(ledger().every(({ phase, unit }) => phase === "TASK" && unit === "task")).toBe(true);
  });

  it("restores a broken state by --undo, as it is told to, where no git has kept the files too", async () => {
    const given = ["x y", "--check", "test -e 1.txt", ...agent(() => touch("1.txt"))];
    expect((await task(...given)).code).toBe(0);
    writeFileSync(path("ralph.state.json"), '{"a');
    const { code, err } = await task(...given);
    expect(code).toBe(1);
    const [, iteration = ""] = /research-ralph task --undo (\d+)/.exec(err) ?? [];
    const undone = await task("--undo", iteration);
    expect([undone.code, undone.err.includes("the last good version was restored")], undone.err).toEqual([0, true]);
    expect(existsSync(path("1.txt"))).toBe(true);
    expect((await task(...given)).code).toBe(0);
    expect((await task("--undo", iteration)).code).toBe(2);
  });

  it("reads a changed ralph.json again before the next iteration", async () => {
    write({ task: "x", acceptance_criteria: [exists("a.txt")], max_iterations: 3 });
    const changed = JSON.stringify({ task: "y", acceptance_criteria: [exists("b.txt")], max_iterations: 3 });
    // By the person, between two iterations: what an agent changes is put back.
    writeFileSync(path("../changed.json"), changed);
    const hook = { on: ["after-iteration"], run: `cp ${path("../changed.json")} ${path("ralph.json")}` };
    mkdirSync(join(home(), ".local/ralph"), { recursive: true });
    writeFileSync(join(home(), ".local/ralph/config.json"), JSON.stringify({ hooks: [hook] }));
    const { last } = await json(...agent((run) => run === 2 && touch("b.txt")));
    expect(last).toMatchObject({ status: "success", iterations: 2 });
    expect(state().task.task).toBe("y");
  });

  it("keeps two files of one name apart where both are put back", async () => {
    await templateRepository(here());
    write({ task: "x", acceptance_criteria: [exists("a.txt")], max_iterations: 1 });
    mkdirSync(path(".git/modules/m/hooks"), { recursive: true });
    writeFileSync(path(".git/modules/m/config"), "[core]\n");
    const change = () => [".git", ".git/modules/m"].map((name) => writeFileSync(path(`${name}/config`), `# ${name}\n`));
    await json(...agent(change));
    const kept = ["git/config", "git/modules/m/config"].map((name) => read(`.ralph/set-aside/1/${name}`));
    expect(kept).toEqual(["# .git\n", "# .git/modules/m\n"]);
    expect(read(".git/modules/m/config")).toBe("[core]\n");
  });

  it("has its file protected under another name too, and undo leaves it as the person has it", async () => {
    await templateRepository(here());
    const mine = { task: "x", acceptance_criteria: [exists("a.txt")], max_iterations: 2 };
    writeFileSync(path("mine.json"), JSON.stringify(mine));
    const easy = JSON.stringify({ task: "x", acceptance_criteria: [exists("mine.json")] });
    const works = (run: number): void => {
      writeFileSync(path("n.txt"), `${run}\n`);
      writeFileSync(path("mine.json"), easy);
    };
    const { last, lines } = await json("mine.json", ...agent(works));
    expect(last).toMatchObject({ status: "max_iterations", iterations: 2 });
    expect(last.reason).toContain("Raise max_iterations in mine.json to continue");
    expect(JSON.parse(read("mine.json"))).toEqual(mine);
    expect(lines.some(({ message }) => message?.startsWith("mine.json changed while the agent was at work"))).toBe(
      true,
    );
    writeFileSync(path("mine.json"), JSON.stringify({ ...mine, max_iterations: 9 }));
    expect(await task("--undo", "1")).toMatchObject({ code: 0 });
    expect([read("n.txt"), JSON.parse(read("mine.json")).max_iterations]).toEqual(["1\n", 9]);
  });

  it("keeps the agent's own steps in todo.md, and leaves a file of that name that is the user's alone", async () => {
    await templateRepository(here());
    writeFileSync(path("whole.task.md"), "my own notes\n");
    write({ task: "Make it", acceptance_criteria: [exists("a.txt"), exists("b.txt")], max_iterations: 3 });
    const works = (run: number): void => {
      if (run === 1) writeFileSync(path("todo.md"), "## Steps\n\n- [x] first step\n- [ ] second step\n");
      touch(run === 1 ? "a.txt" : "b.txt");
    };
    const { lines } = await json(...agent(works));
    expect(read("whole.task.md")).toBe("my own notes\n");
    expect(lines.some(({ message }) => message?.startsWith("whole.task.md is not research-ralph's"))).toBe(true);
    expect(read("todo.md")).toContain(
      "- [x] file_exists a.txt\n- [x] file_exists b.txt\n\n## Steps\n\n- [x] first step\n- [ ] second step ←",
    );
    expect(state().plan?.current_task_id).toBe("step-2");
    expect(read("current.state.md")).toContain("Criteria: 2 of 2 met");
    expect(readFileSync(path(".git/info/exclude"), "utf8")).toContain("/ralph.state.json\n");
  });
});

describe("a task that has no ralph.json any more", () => {
  it("in words is continued and undone in its folder without them", async () => {
    await templateRepository(here());
    const works = (run: number): void => touch(`${run}.txt`, ...(run === 2 ? ["a.txt"] : []));
    await json("Make a.txt", "--check", "test -e a.txt", ...agent(works), "-i", "1");
    expect((await json(...agent(works))).last).toMatchObject({ status: "success", iterations: 2 });
    expect(await task("--undo", "1")).toMatchObject({ code: 0 });
    expect([existsSync(path("1.txt")), existsSync(path("a.txt"))]).toEqual([true, false]);
    // It is no longer known to be complete, so a person who leads it is not told that it is finished.
    expect(state().status).toBeUndefined();
    expect((await cli(["resume"], here())).err).toBe("This task was neither paused nor stopped.\n");
  });

  it("but one of another name is continued by its folder", async () => {
    writeFileSync(path("other.json"), JSON.stringify({ task: "x", acceptance_criteria: [exists("a.txt")] }));
    await json("other.json", ...agent(nothing), "-i", "1");
    const { last } = await json(here(), ...agent(() => touch("a.txt")));
    expect(last).toMatchObject({ status: "success", iterations: 2 });
  });
});

it("a state that was broken by hand is restored by --undo, as the message about it says", async () => {
  await templateRepository(here());
  write({ task: "x", acceptance_criteria: [exists("a.txt")] });
  await json(...agent(() => touch("a.txt")));
  writeFileSync(path("ralph.state.json"), '{"task": }');
  const { code, err } = await task(...agent(nothing));
  expect([code, err]).toEqual([1, expect.stringContaining("'research-ralph task --undo 1'")]);
  const undone = await task("--undo", "1");
  expect([undone.code, undone.err]).toEqual([0, expect.stringContaining("the last good version was restored")]);
  expect(state().attempts).toHaveLength(1);
  expect(readdirSync(here()).some((name) => name.startsWith("ralph.state.json.broken-"))).toBe(true);
});

describe("a task in words", () => {
  it("is told what a person can do about it without a file", async () => {
    const { last } = await json("x", "--check", "false", ...agent(nothing));
    expect(last).toMatchObject({
      verdict: "stuck",
      reason: expect.stringContaining("say more with research-ralph steer"),
    });
  });

  it("is written down by --save, with --tests and --goal", async () => {
    writeFileSync(path("goal.md"), "Make the tests pass.\n");
    const { code } = await task(
      "--goal",
      "goal.md",
      "--tests",
      "--check",
      "true",
      "--save",
      "--dry-run",
      "--sandbox",
      "host",
    );
    expect(code).toBe(1);
    expect(JSON.parse(read("ralph.json"))).toEqual({
      $schema: expect.stringContaining("/ralph.schema.json"),
      task: "Make the tests pass.",
      acceptance_criteria: [{ type: "command_succeeds", command: "true" }, { type: "tests_pass" }],
    });
    expect((await task("x", "--check", "true", "--save", "--dry-run")).code).toBe(2);
    write({ task: "Say hello", acceptance_criteria: [exists("never")] });
    expect(await task("")).toMatchObject({ code: 2, err: expect.stringContaining("The task is empty") });
  });

  it("works on a branch or in a worktree where that is asked for", async () => {
    await templateRepository(here());
    const early = await task("x", "--check", "test -e x.txt", "--worktree", ...shell("touch x.txt"));
    expect([early.code, early.err]).toEqual([2, expect.stringContaining("has no commit yet")]);
    git("-c", "user.name=u", "-c", "user.email=u@h", "commit", "-qm", "first", "--allow-empty");
    const main = git("symbolic-ref", "--short", "HEAD");
    const there = await task("x", "--check", "test -e x.txt", "--worktree", ...shell("touch x.txt"));
    expect([there.code, existsSync(path("x.txt")), git("symbolic-ref", "--short", "HEAD")]).toEqual([0, false, main]);
    expect(git("worktree", "list").split("\n")).toHaveLength(2);
    // It is found from here: what is asked of the folder's only task is asked of it.
    expect((await cli(["status"], here())).out).toContain("Finished");
    expect(JSON.parse((await cli(["list", "--json"], here())).out)).toMatchObject([
      { kind: "task", phase: "COMPLETE" },
    ]);
    // What its last words name is the worktree, and works from here.
    const [, place = ""] = /research-ralph task (\S+) --undo 0/.exec(there.err.replace(/\s+/g, " ")) ?? [];
    expect(existsSync(resolve(here(), place, "x.txt"))).toBe(true);
    expect(await task(place, "--undo", "0")).toMatchObject({ code: 0 });
    expect(existsSync(resolve(here(), place, "x.txt"))).toBe(false);
    const on = await task("y", "--check", "test -e y.txt", "--branch", "mine", ...agent(() => touch("y.txt")));
    expect([on.code, existsSync(path("y.txt")), git("symbolic-ref", "--short", "HEAD")]).toEqual([0, true, "mine"]);
  });
});

it("its dry run fits the terminal", async () => {
  write({
    task: "x",
    acceptance_criteria: [{ type: "command_succeeds", command: `echo ${"many words ".repeat(30)}; exit 1` }],
  });
  const io = ioIn(here(), { HOME: home() }, { isTTY: true, columns: 50, tableWidth: 50 });
  expect(await main(["task", "--dry-run", "--sandbox", "host"], io, "0.0.0")).toBe(1);
  const lines = io.out().trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter((line) => line.length > 49)).toEqual([]);
  expect(lines.slice(1, -1).every((line) => line.startsWith("  "))).toBe(true);
});

describe("files that a task names to be read", () => {
  const words = (name: string) => `${name}, which "context" names, can't be read here`;

  it("are told of once where they are not there, and also by a dry run", async () => {
    writeFileSync(path("there.md"), "x");
    write({ task: "x", acceptance_criteria: [exists("a.txt")], context: ["there.md", "gone.md"] });
    const dry = await task("--dry-run", "--sandbox", "host");
    expect([dry.code, dry.err]).toEqual([1, expect.stringContaining(`warning: ${words("gone.md")}`)]);
    expect(dry.err).not.toContain("there.md");
    const { lines } = await json(...agent((run) => run === 2 && touch("a.txt")));
    expect(lines.filter(({ message }) => message?.includes('"context" names'))).toHaveLength(1);
  });
});

describe("a ralph.json that a person saves while an agent works", () => {
  const criteria = [exists("1.txt"), exists("2.txt")];
  it.each(["", '{"task": "Make'])("is waited for until it is whole, where it is %j first", async (part) => {
    write({ task: "Make both", acceptance_criteria: criteria });
    mkdirSync(path(".ralph"));
    const readNow = createTaskReader(path("ralph.json"));
    await readNow();
    writeFileSync(path("ralph.json"), part);
    const reading = readNow();
    await expect(readTaskFile(path("ralph.json"))).rejects.toThrow("ralph.json");
    write({ task: "Make one", acceptance_criteria: [exists("1.txt")] });
    expect(await reading).toMatchObject({ task: "Make one" });
  });
});
