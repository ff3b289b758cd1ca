import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isValid } from "../../../src/engine/storage/schema-check.js";
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
  it("says that a critic of research has no effect on it", async () => {
    writeFileSync(path("ralph.config.json"), JSON.stringify({ think: { critic: "baseline" } }));
    const { err } = await task("x y", "--check", "true", ...agent(nothing));
    expect(err.replace(/\s+/g, " ")).toContain("think has no effect on a task: its criteria judge each attempt");
  });

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
});

describe("status and init", () => {
  it("tell of a task in the current here(), and write one to edit", async () => {
    expect((await cli(["init", "--task"], here())).code).toBe(0);
    const { out } = await cli(["status"], here());
    expect(out).toContain("0 of 2 criteria met, none checked yet");
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
      /has 2 errors: line 1, \/acceptance_criteria\/0 "path" is missing \(Rename "paths" to "path"\); line 1, \/acceptance_criteria\/0 "paths" is not a known field \(/,
    ],
  ];
  it.each(wrong)("with %s is told of with exit code 2", async (_, text, message) => {
    if (text === "") mkdirSync(path("ralph.json"));
    else writeFileSync(path("ralph.json"), text);
    const { code, err } = await task();
    expect([code, err.replace(/\s+/g, " ")]).toEqual([2, expect.stringMatching(message)]);
  });
});

describe("an agent that can't be started", () => {
  it("is told, and its attempts are named as such and not counted", async () => {
    write({ task: "Make a.txt", acceptance_criteria: [exists("a.txt")] });
    const args = ["--agent", "cmd:/not/there", "--unconfined", "--sandbox", "host"];
    const { code, err } = await task(...args);
    expect(code).toBe(1);
    expect(err).toContain("cmd:/not/there can't be started");
    expect(err).toMatch(/the agent never started to work, so no iteration counts · /);
    expect(err).not.toContain("0 iterations");
    expect((await cli(["status"], here())).out).toMatch(
      /Iterations 0 of 10, and 1 that does not count: no agent started to work\n +#1 cmd:\/not\/there: failed \(missing\), 0 of 1 met/,
    );
    expect((await json(...args)).last).toMatchObject({ iterations: 0, not_counted: 2 });
  });
});
