import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../../src/commands/main.js";
import { isValid } from "../../../src/engine/storage/schema-check.js";
import { readTask, taskAsSaved } from "../../../src/task/project-files/task-file.js";
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
  it("is not worked on where an agent would have all of the user's home, on the host and in a sandbox", async () => {
    mkdirSync(path("within"));
    const given = ["task", "x y", "--check", "true", ...agent(nothing)];
    for (const [cwd, at, what] of [
      [here(), here(), "is your home folder"],
      [here(), path("within"), `holds your home (${path("within")})`],
      ["/", here(), "your home"],
    ] as const)
      for (const sandbox of ["host", "auto"]) {
        const { code, err } = await cli([...given, "--sandbox", sandbox], cwd, { HOME: at });
        expect([code, err.trim().split("\n").length, err.includes(what)], err).toEqual([2, 1, true]);
        expect(err).toContain("make a folder of its own");
      }
    // By a link, and by a workspace of the configuration.
    symlinkSync(here(), `${home()}`);
    expect((await cli(given, here(), { HOME: home() })).code).toBe(2);
    writeFileSync(path("within/ralph.config.json"), JSON.stringify({ task_workspace: ".." }));
    expect((await cli(given, path("within"), { HOME: here() })).code).toBe(2);
    rmSync(path("within/ralph.config.json"));
    expect(existsSync(path("ralph.state.json"))).toBe(false);
    // A folder in it is what everybody has.
    expect((await cli(given, path("within"), { HOME: here() })).code).toBe(0);
  });

  it("is complete without an agent where all criteria are met already", async () => {
    writeFileSync(path("a.txt"), "a");
    write({ task: "Make a.txt", acceptance_criteria: [exists("a.txt")] });
    let started = false;
    const { code, last, lines } = await json(...agent(() => (started = true)));
    expect([code, last.status, last.iterations]).toEqual([0, "success", 0]);
    expect(lines.some(({ type }) => type === "iteration-started")).toBe(false);
    expect(started).toBe(false);
    for (const line of lines.slice(0, -1)) expect(isValid("event", line)).toBe(true);
  });

  it("is worked on until its criteria are met, and each iteration is kept and can be undone", async () => {
    await templateRepository(here());
    write({ task: "Make both", acceptance_criteria: [exists("1.txt"), exists("2.txt")] });
    writeFileSync(path("mine.txt"), "mine");
    git("add", "mine.txt");
    const before = [git("status", "--porcelain", "--", "mine.txt"), git("symbolic-ref", "HEAD")];
    const { code, last } = await json(...shell("echo $N > $N.txt; [ $N = 2 ] && echo changed > mine.txt"));
    expect([code, last.status, last.iterations]).toEqual([0, "success", 2]);
    expect(state().attempts.map(({ outcome, met }) => [outcome, met])).toEqual([
      ["accepted", 1],
      ["accepted", 2],
    ]);
    expect(isValid("ralph-state", state())).toBe(true);
    const refs = git("for-each-ref", "--format=%(refname)", "refs/ralph").split("\n");
    expect(refs.map((ref) => ref.split("/").at(-1))).toEqual(["0", "1", "2", "last"]);
    expect(git("status", "--porcelain").split("\n").toSorted()).toEqual(
      ["?? 1.txt", "?? 2.txt", "?? ralph.json", "AM mine.txt"].toSorted(),
    );
    expect(git("symbolic-ref", "HEAD")).toBe(before[1]);

    expect((await task("--undo", "1")).code).toBe(0);
    expect([existsSync(path("1.txt")), existsSync(path("2.txt")), read("mine.txt")]).toEqual([true, false, "mine"]);
    expect(state().attempts[1]?.undone).toBe(true);
    expect((await task("--undo", "9")).code).toBe(2);
    const dry = await task("--dry-run", "--sandbox", "host");
    expect([dry.code, dry.out]).toEqual([
      1,
      "✓ file_exists 1.txt\n✗ file_exists 2.txt: There is no 2.txt.\n1 of 2 criteria met\n",
    ]);
  });

  it.skipIf(!existsSync("/proc/self"))("says so where its folder can't be written, and calls it no bug", async () => {
    const { code, err } = await cli(["task", "x y", "--check", "true", ...agent(nothing)], "/proc");
    expect(code).toBe(1);
    expect(err).toContain("/proc/.ralph");
    expect(err).not.toContain("bug");
  });

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

  it("counts equal as exhausted: the budget before the iterations, and both after the criteria", async () => {
    const criteria = { task: "x", acceptance_criteria: [exists("never")] };
    write({ ...criteria, max_iterations: 1 });
    const one = await json(...agent(nothing));
    expect([one.code, one.last.status, one.last.iterations]).toEqual([3, "max_iterations", 1]);
    expect(one.last.reason).toContain("max_iterations in ralph.json");
    // Another start does nothing more, but looks at the criteria first.
    const again = await json(...agent(nothing));
    expect([again.code, again.last.status, again.last.iterations]).toEqual([3, "max_iterations", 1]);
    writeFileSync(path("never"), "");
    expect((await json(...agent(nothing))).last.status).toBe("success");
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
  it("takes commands as its criteria, and is the same task when it is given again", async () => {
    const words = [
      "Make a.txt",
      "--check",
      "test -s a.txt",
      ...agent((run) => run === 2 && writeFileSync(path("a.txt"), "a")),
      "-i",
      "1",
    ];
    expect((await json(...words)).last).toMatchObject({ status: "max_iterations", iterations: 1 });
    expect((await json(...words)).last).toMatchObject({ status: "success", iterations: 2 });
    expect(existsSync(path("ralph.json"))).toBe(false);
    const other = await json("Make c.txt", "--check", "test -e c.txt", ...agent(() => touch("c.txt")));
    expect(other.last).toMatchObject({ status: "success", iterations: 1 });
    expect(other.lines.some(({ message }) => message?.includes("belonged to another task"))).toBe(true);
  });

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

describe("status and init", () => {
  it("tell of a task in the current here(), and write one to edit", async () => {
    expect((await cli(["init", "--task"], here())).code).toBe(0);
    const { out } = await cli(["status"], here());
    expect(out).toContain("Criteria   2, not checked yet");
    await task(...agent(() => writeFileSync(path("hello.txt"), "Hello from Ralph")));
    const report = JSON.parse((await cli(["status", "--json"], here())).out);
    expect(report).toMatchObject({ status: "success", met: 2, criteria: 2, running: false });
    expect((await cli(["status"], here())).out).toContain("✓ file_exists hello.txt");
  });
});

describe("a file that is no task", () => {
  const wrong: [string, string | Buffer, RegExp][] = [
    [
      "no criteria",
      '{"task":"x","acceptance_criteria":[]}',
      /\/acceptance_criteria must hold at least 1.*command_succeeds/,
    ],
    [
      "an unknown criterion",
      '{"task":"x","acceptance_criteria":[{"type":"file_exist","path":"a"}]}',
      /\/acceptance_criteria\/0\/type "file_exist" is not a known criterion \(The nearest one is "file_exists"\)/,
    ],
    [
      "criteria that are no list",
      '{"task":"x","acceptance_criteria":"npm test"}',
      /is "npm test" \(Add one, such as \{/,
    ],
    ["no task", '{"acceptance_criteria":[{"type":"tests_pass"}]}', /"task" is missing \(Say in "task" what/],
    ["a folder in its place", "", /ralph\.json is a folder/],
    [
      "a field that stands there twice",
      '{"task":"x","max_iterations":2,"max_iterations":20,"acceptance_criteria":[{"type":"file_exists","path":"a"}]}',
      /ralph\.json has "max_iterations" twice in one object \(Keep one of them\)/,
    ],
    [
      "another encoding than UTF-8",
      Buffer.from('{"task": "caf\xe9"}', "latin1"),
      /ralph\.json is not UTF-8; save it as/,
    ],
    ["no JSON", '{"task": "x",', /ralph\.json:1:\d+: the file ends in the middle/],
    [
      "an address that can't be asked, within another criterion",
      JSON.stringify({
        task: "x",
        acceptance_criteria: [{ type: "not", criterion: { type: "http_ok", url: "ftp://127.0.0.1/a" } }],
      }),
      /\/acceptance_criteria\/0\/criterion\/url "ftp:" can't be asked \(Begin it with http/,
    ],
    [
      "an address that is none",
      JSON.stringify({ task: "x", acceptance_criteria: [{ type: "http_ok", url: "localhost" }] }),
      /\/acceptance_criteria\/0\/url "localhost" is not an address/,
    ],
    [
      "a blank command within another criterion",
      String.raw`{"task":"x","acceptance_criteria":[{"type":"all_of","criteria":[{"type":"command_succeeds","command":" \t"}]}]}`,
      /\/acceptance_criteria\/0\/criteria\/0\/command must not be blank/,
    ],
    [
      "a NUL in a path",
      String.raw`{"task":"x","acceptance_criteria":[{"type":"file_exists","path":"a\u0000"}]}`,
      /\/acceptance_criteria\/0\/path holds a NUL/,
    ],
    [
      "no iteration",
      '{"task":"x","acceptance_criteria":[{"type":"file_exists","path":"a"}],"max_iterations":0}',
      /\/max_iterations must be at least 1, is 0 \(Write how many attempts/,
    ],
    [
      "a field of a criterion that is none",
      '{"task":"x","acceptance_criteria":[{"type":"file_exists","paths":"a"}]}',
      /\/acceptance_criteria\/0 "path" is missing, and 1 more \(Rename "paths" to "path"/,
    ],
  ];
  it.each(wrong)("with %s is told of with exit code 2", async (_, text, message) => {
    if (text === "") mkdirSync(path("ralph.json"));
    else writeFileSync(path("ralph.json"), text);
    const { code, err } = await task();
    expect([code, err.replace(/\s+/g, " ")]).toEqual([2, expect.stringMatching(message)]);
  });
});

describe("a ralph.json that a person saves while an agent works", () => {
  const criteria = [exists("1.txt"), exists("2.txt")];
  it.each(["", '{"task": "Make'])("is waited for until it is whole, where it is %j first", async (part) => {
    write({ task: "Make both", acceptance_criteria: criteria });
    mkdirSync(path(".ralph"));
    const readNow = taskAsSaved(path("ralph.json"));
    await readNow();
    writeFileSync(path("ralph.json"), part);
    const reading = readNow();
    await expect(readTask(path("ralph.json"))).rejects.toThrow("ralph.json");
    write({ task: "Make one", acceptance_criteria: [exists("1.txt")] });
    expect(await reading).toMatchObject({ task: "Make one" });
  });
});

describe("an agent that can't be started", () => {
  it("is told, and its attempts are named as such and not counted", async () => {
    write({ task: "Make a.txt", acceptance_criteria: [exists("a.txt")] });
    const args = ["--agent", "cmd:/not/there", "--unconfined", "--sandbox", "host"];
    const { code, err } = await task(...args);
    expect(code).toBe(1);
    expect(err).toContain("cmd:/not/there can't be started");
    expect(err).toMatch(/the agent never got to work, so no iteration counts · /);
    expect(err).not.toContain("0 iterations");
    expect((await cli(["status"], here())).out).toMatch(
      /Iterations 0 of 10, and 1 that does not count: no agent got to work\n +#1 cmd:\/not\/there: failed \(missing\), 0 of 1 met/,
    );
    expect((await json(...args)).last).toMatchObject({ iterations: 0, not_counted: 2 });
  });
});
