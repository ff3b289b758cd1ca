import { existsSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { estimateTokens } from "../../../src/engine/lib/tokens.js";
import { cli } from "../../support/processes/in-process.js";
import { byRole, codeProject, offByOne } from "../../support/projects/code-project.js";

let project: ReturnType<typeof codeProject>;
beforeEach(() => {
  project = codeProject(offByOne);
});
afterEach(() => project.remove());

const said = (value: object): string => `echo '${JSON.stringify(value)}'`;
const did = (action: string) => said({ hypothesis: "off by one", action_taken: action });
const steps = () =>
  project.state().rounds.map((round) => round.steps.map(({ role, event }) => `${role} ${event}`).join(", "));
const fix = "sed -i 's/i < b/i <= b/' src/range.mjs";

describe("the rounds of a coding run", () => {
  it("give the artisan the critic's findings once, and then let the tests decide", async () => {
    const revise = said({
      decision: "revise",
      findings: [{ file: "src/range.mjs", line: 4, reason: "the end is missing" }],
    });
    const artisan = `if [ $N = 1 ]; then echo "// wrong" >> src/range.mjs; ${did("a comment")}; else ${fix}; ${did("<=")}; fi`;
    const { last } = await project.json(...project.agent(byRole({ artisan, critic: revise })));
    expect([last.verdict, last.rounds]).toEqual(["complete", 1]);
    expect(steps()).toEqual(["librarian ok, artisan ok, critic revise, artisan ok, tests pass, adversary ok"]);
    expect(project.brief("artisan", 2)).toContain("the end is missing");
    expect(project.brief("critic")).toContain("+// wrong");
    expect(project.brief("critic")).not.toContain("a comment");
  });

  it("keep a round after which a file of tests can be loaded, although more tests fail than there were failures", async () => {
    project.remove();
    project = codeProject({ ...offByOne, "src/sum.mjs": `${offByOne["src/sum.mjs"]}const = 1;\n` });
    const artisan = `if grep -q '^const =' src/sum.mjs; then sed -i '/^const =/d' src/sum.mjs; else ${fix}; fi; ${did("one of two")}`;
    const { last } = await project.json(...project.agent(byRole({ artisan })));
    expect([last.verdict, last.rounds]).toEqual(["complete", 2]);
    const { rounds } = project.state();
    expect([rounds[0]?.tests?.failing, rounds[0]?.put_back]).toEqual([2, undefined]);
  });

  it("put a round that leaves more tests failing back, tell the next one of it, and leave a person's change alone", async () => {
    const artisan = `if [ $N = 1 ]; then echo "throw new Error('broken');" >> src/range.mjs; echo x > new.txt; ${did("threw")}; else ${fix}; ${did("<=")}; fi`;
    // The person saves a file while the critic reads.
    const critic = `if [ $N = 1 ]; then echo mine > $PROJECT/new.txt; fi; ${said({ decision: "approve", findings: [] })}`;
    const { last, lines } = await project.json(...project.agent(byRole({ artisan, critic })));
    expect([last.verdict, last.rounds]).toEqual(["complete", 2]);
    const [first] = project.state().rounds;
    expect([first?.put_back, first?.left_alone]).toEqual([["src/range.mjs"], ["new.txt"]]);
    expect(project.read("new.txt")).toBe("mine\n");
    expect(project.read("src/range.mjs")).not.toContain("broken");
    expect(project.brief("artisan", 2)).toContain("threw");
    expect(lines.some(({ message }) => /new\.txt was changed by somebody else/.test(message ?? ""))).toBe(true);
  });

  it("end as stuck after three with the same errors, and go on with --force", async () => {
    const artisan = `echo "// $N" >> src/sum.mjs; ${did("a comment")}`;
    const agent = project.agent(byRole({ artisan }));
    const { code, last } = await project.json(...agent);
    expect([code, last.verdict, last.rounds]).toEqual([4, "stuck", 3]);
    expect(last.reason).toContain("same errors");
    const again = await project.json(...agent, "--force", "--rounds", "4");
    expect([again.code, again.last.cause, again.last.rounds]).toEqual([3, "iterations", 4]);
  });

  it("end only by what the tests say now: files that a person broke since a round passed are repaired again", async () => {
    // The first adversary can't be started, so the run ends in a round that has passed its tests.
    const adversary = `if [ $N = 1 ]; then exit 127; fi; ${said({ tests: [], findings: [] })}`;
    const agent = project.agent(byRole({ adversary }));
    await project.json(...agent);
    expect(steps()).toEqual(["librarian ok, artisan ok, critic approve, tests pass"]);
    project.write("src/range.mjs", offByOne["src/range.mjs"] ?? "");
    const { last } = await project.json(...agent);
    expect([last.verdict, last.rounds, last.failing]).toEqual(["complete", 2, 0]);
    expect(steps()).toEqual([
      "librarian ok, artisan ok, critic approve, tests pass",
      "librarian ok, artisan ok, critic approve, tests pass, adversary ok",
    ]);
  });

  it("name the round that passed, where the run was killed before it could say so", async () => {
    const agent = project.agent(byRole({}));
    await project.json(...agent);
    const { loop: { last_run: _, ...loop } = {}, status: __, ...state } = project.state();
    project.write("ralph.state.json", JSON.stringify({ ...state, loop, done: false }));
    const { code, last } = await project.json(...agent);
    expect([code, last.verdict, last.reason]).toEqual([
      0,
      "complete",
      "The acceptance criterion is met. It took 1 round.",
    ]);
    expect(project.ledger()).toHaveLength(4);
  });

  it("refuse a librarian that names what is not in the project, and end as failed after three times", async () => {
    const plan = {
      cause: "secrets",
      files: [{ path: "/etc/passwd" }, { path: "src/range.mjs", lines: [1, 900] }],
      plan: ["read"],
    };
    const { code, last } = await project.json(...project.agent(byRole({ librarian: said(plan) })));
    expect([code, last.verdict, last.runs]).toEqual([1, "failed", 3]);
    expect(last.reason).toMatch(/librarian of round 1 failed three times.*\/etc\/passwd.*code\.roles\.librarian/);
    expect(project.brief("librarian", 2)).toContain("no text file /etc/passwd");
    expect(project.brief("librarian", 2)).toContain("src/range.mjs has 6 lines");
  });

  it("refuse an artisan that changes nothing", async () => {
    const artisan = `if [ $N = 1 ]; then ${did("nothing")}; else ${fix}; ${did("<=")}; fi`;
    const { last } = await project.json(...project.agent(byRole({ artisan })));
    expect([last.verdict, last.rounds, last.runs]).toEqual(["complete", 1, 5]);
    expect(project.brief("artisan", 2)).toContain("No file was changed");
  });

  it("take an artisan's answer that it left as a file out of the project", async () => {
    const answer = JSON.stringify({ hypothesis: "off by one", action_taken: "compared with <=" });
    const artisan = `echo '${answer}' > result.json; if [ $N = 2 ]; then ${fix}; fi; echo done`;
    const { last } = await project.json(...project.agent(byRole({ artisan })));
    expect([last.verdict, last.rounds]).toEqual(["complete", 1]);
    expect(steps()).toEqual(["librarian ok, artisan refused, artisan ok, critic approve, tests pass, adversary ok"]);
    expect(project.git("status", "--porcelain")).toBe("M src/range.mjs");
    expect(project.state().rounds[0]).toMatchObject({ hypothesis: "off by one", changed: ["src/range.mjs"] });
  });

  it("let the tests decide where the critic gives no answer that can be used", async () => {
    const { last } = await project.json(...project.agent(byRole({ critic: "echo no" })));
    expect([last.verdict, last.rounds, last.runs]).toEqual(["complete", 1, 6]);
    expect(steps()).toEqual([
      "librarian ok, artisan ok, critic refused, critic refused, critic refused, tests pass, adversary ok",
    ]);
  });

  it("mark a flaky test, which then decides nothing", async () => {
    project.write(
      "test/flaky.test.mjs",
      'import assert from "node:assert";\nimport { existsSync, rmSync, writeFileSync } from "node:fs";\nimport { test } from "node:test";\ntest("sometimes", () => {\n  const mark = process.env.HOME + "/../mark";\n  if (existsSync(mark)) rmSync(mark);\n  else {\n    writeFileSync(mark, "");\n    assert.fail("not now");\n  }\n});\n',
    );
    const { last } = await project.json(...project.agent(byRole({})));
    expect([last.verdict, last.rounds]).toEqual(["complete", 1]);
    expect(last.flaky.join()).toContain("sometimes");
  });

  it("remember what helped, so that the next time the error comes its fix stands in the brief", async () => {
    const agent = project.agent(byRole({}));
    await project.json(...agent);
    project.write("src/range.mjs", offByOne["src/range.mjs"] ?? "");
    const { last } = await project.json(...agent);
    expect(last.verdict).toBe("complete");
    expect(project.brief("librarian", 1)).not.toContain("Fixes that helped");
    for (const role of ["librarian", "artisan"]) expect(project.brief(role, 2)).toContain("Helped: compared with <=");
    const list = await cli(["code", "memory", "list", "--json"], project.folder);
    const { fixes } = JSON.parse(list.out);
    expect(fixes[0]).toMatchObject({ success: true, action_taken: "compared with <=" });
    expect((await cli(["code", "memory", "forget", String(fixes[0].id)], project.folder)).code).toBe(0);
    expect((await cli(["code", "memory", "show", String(fixes[0].id)], project.folder)).code).toBe(2);
  });

  it("end a task in words with its checks", async () => {
    project.write("src/range.mjs", (offByOne["src/range.mjs"] ?? "").replace("i < b", "i <= b"));
    const artisan = `if [ $N = 1 ]; then echo "// x" >> src/sum.mjs; else echo ok > done.txt; fi; ${did("wrote")}`;
    const { last } = await project.json(
      "add a file",
      "--check",
      "test -s done.txt",
      ...project.agent(byRole({ artisan })),
    );
    expect([last.verdict, last.rounds]).toEqual(["complete", 2]);
    expect(project.brief("artisan", 2)).toContain("command_succeeds test -s done.txt: It ended with exit code 1");
  });

  it("end a task in words without checks by a new test that fails on the files as they were, and by no other", async () => {
    project.write("src/range.mjs", (offByOne["src/range.mjs"] ?? "").replace("i < b", "i <= b"));
    const head = 'import assert from "node:assert"; import { test } from "node:test";';
    const empty = `${head} test("means nothing", () => assert.ok(true));`;
    const real = `${head} import { twice } from "../src/twice.mjs"; test("doubles", () => assert.equal(twice(2), 4));`;
    const artisan = `if [ $N = 1 ]; then echo '${empty}' > test/empty.test.mjs; else echo 'export const twice = (a) => 2 * a;' > src/twice.mjs; echo '${real}' > test/twice.test.mjs; fi; ${did("wrote")}`;
    const { last } = await project.json("add twice", ...project.agent(byRole({ artisan })));
    expect([last.verdict, last.rounds]).toEqual(["complete", 2]);
    expect(project.brief("artisan", 2)).toContain("pass with the files as they were before too");
  });

  it("run the adversary's tests, report what they find, and take them out unless they are to stay", async () => {
    const content =
      'import assert from "node:assert"; import { test } from "node:test"; import { range } from "../src/range.mjs"; test("is empty backwards", () => assert.equal(range(3, 1).length, 1));';
    const adversary = said({
      tests: [{ file: "edge.test.mjs", content }],
      findings: [{ title: "no check of its arguments" }],
    });
    const agent = project.agent(byRole({ adversary }));
    const { code, last } = await project.json(...agent);
    expect([code, last.verdict]).toEqual([0, "complete"]);
    expect(last.findings.map(({ title }: { title: string }) => title).join()).toContain("is empty backwards");
    expect(project.read("whole.task.md")).toContain("no check of its arguments");
    expect(project.git("status", "--porcelain")).toBe("M src/range.mjs");
    project.write("src/range.mjs", offByOne["src/range.mjs"] ?? "");
    await project.json(...agent, "--keep-tests");
    expect(existsSync(project.path("adversarial-tests/edge.test.mjs"))).toBe(true);
    expect(existsSync(project.path("ralph-adversarial"))).toBe(false);
  });

  it("keep every brief within its bound, whatever the tests print", async () => {
    project.write(
      "test/loud.test.mjs",
      `import { test } from "node:test";\nfor (let i = 0; i < 300; i += 1) test("fails " + i, () => { throw new Error("x".repeat(5000) + i); });\n`,
    );
    const artisan = `echo "// $N" >> src/sum.mjs; ${did("a comment")}`;
    await project.json(...project.agent(byRole({ artisan })), "--rounds", "1");
    expect(estimateTokens(project.brief("librarian"))).toBeLessThanOrEqual(50_000);
    for (const role of ["artisan", "critic"]) expect(estimateTokens(project.brief(role))).toBeLessThanOrEqual(12_000);
  });
});

describe("what a person can set", () => {
  it("runs the adversary's tests alone where the project's settings name other folders, and says so where it can't", async () => {
    project.write("package.json", JSON.stringify({ type: "module", scripts: { test: "node --test test/" } }));
    const test = (from: string) =>
      `import assert from "node:assert"; import { test } from "${from}"; test("edge", () => assert.equal(1, 2));`;
    const adversary = (from: string) =>
      byRole({ adversary: said({ tests: [{ file: "x.test.mjs", content: test(from) }], findings: [] }) });
    const { last } = await project.json(...project.agent(adversary("node:test")));
    expect([last.verdict, last.findings.map(({ test: name }: { test: string }) => name)]).toEqual([
      "complete",
      ["edge"],
    ]);
    // vitest takes no file that its configuration does not include.
    symlinkSync(packageFile("node_modules"), project.path("node_modules"));
    project.write("package.json", JSON.stringify({ type: "module", scripts: { test: "vitest run" } }));
    project.write("vitest.config.mjs", 'export default { test: { include: ["test/*.mjs"] } };');
    project.write("test/range.test.mjs", project.read("test/range.test.mjs").replace("node:test", "vitest"));
    project.write("src/range.mjs", offByOne["src/range.mjs"] ?? "");
    const again = await project.json(...project.agent(adversary("vitest")));
    expect([again.last.verdict, again.last.findings.length]).toEqual(["complete", 1]);
    expect(again.last.findings[0].title).toContain("did not run");
  });

  it("finds an adversary's tests of unittest, whose own search does not enter their folder", async () => {
    const python = codeProject({
      "app.py": "def two():\n    return 3\n",
      "test_app.py":
        "import unittest\nimport app\nclass A(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(app.two(), 2)\n",
    });
    const content =
      "import unittest\nimport app\nclass B(unittest.TestCase):\n    def test_type(self):\n        self.assertIsInstance(app.two(), str)\n";
    const script = byRole({
      librarian: said({ cause: "three", files: [{ path: "app.py" }], plan: ["2"] }),
      artisan: `sed -i 's/3/2/' app.py; ${did("2")}`,
      adversary: `cat <<'END'\n${JSON.stringify({ tests: [{ file: "edge.py", content }], findings: [] })}\nEND\n`,
    });
    const { last } = await python.json(...python.agent(script));
    python.remove();
    expect([last.verdict, last.findings.length, last.findings[0]?.test]).toEqual([
      "complete",
      1,
      expect.stringContaining("test_edge.B.test_type"),
    ]);
  });

  it("leaves the adversary out, lets code be the librarian, and hands temperatures to command agents", async () => {
    const [, spec = ""] = project.agent(
      byRole({ artisan: `echo "t=$RALPH_TEMPERATURE" > ../temperature; ${fix}; ${did("<=")}` }),
    );
    project.write(
      "ralph.config.json",
      JSON.stringify({
        code: { roles: { librarian: { agent: "built-in" }, artisan: { temperature: 0.4 }, adversary: false } },
      }),
    );
    const { last } = await project.json("--agent", spec, "--unconfined", "--sandbox", "host");
    expect([last.verdict, last.runs]).toEqual(["complete", 2]);
    expect(steps()).toEqual(["librarian ok, artisan ok, critic approve, tests pass"]);
    expect(project.brief("artisan")).toContain("src/range.mjs");
    expect(project.read("../temperature")).toBe("t=0.4\n");
  });

  it("may veto success by a hook, whose reason the next brief says", async () => {
    const hook = `if [ -e ${project.top}/vetoed ]; then true; else touch ${project.top}/vetoed; echo 'veto: no entry in the changelog'; fi`;
    project.write(
      "../home/.local/ralph/config.json",
      JSON.stringify({ hooks: [{ on: ["complete"], veto: true, run: hook }] }),
    );
    const artisan = `if [ $N = 1 ]; then ${fix}; else echo x > CHANGELOG.md; fi; ${did("<=")}`;
    const agent = project.agent(byRole({ artisan }));
    const { out } = await cli(["code", "--json", ...agent], project.folder, { HOME: project.path("../home") });
    const last = JSON.parse(out.trim().split("\n").at(-1) ?? "{}");
    expect([last.verdict, last.rounds]).toEqual(["complete", 2]);
    expect(project.brief("artisan", 2)).toContain("no entry in the changelog");
  });

  it("hold a hook's veto also where the run ends right after it, until the hook is content", async () => {
    const hook = `[ -e ${project.path("CHANGELOG.md")} ] || echo 'veto: no entry in the changelog'`;
    project.write(
      "../home/.local/ralph/config.json",
      JSON.stringify({ hooks: [{ on: ["complete"], veto: true, run: hook }] }),
    );
    const code = async (agent: readonly string[], ...more: readonly string[]) => {
      const { out } = await cli(["code", "--json", ...agent, ...more], project.folder, {
        HOME: project.path("../home"),
      });
      return JSON.parse(out.trim().split("\n").at(-1) ?? "{}");
    };
    const idle = `if [ $N = 1 ]; then ${fix}; else echo "// $N" >> src/sum.mjs; fi; ${did("<=")}`;
    const agent = project.agent(byRole({ artisan: idle }));
    // The fourth run is the librarian of the next round, which is told of the veto.
    expect(await code(agent, "-i", "4")).toMatchObject({ verdict: "limit", rounds: 2, failing: 0 });
    expect(project.brief("librarian", 2)).toContain("no entry in the changelog");
    project.write("CHANGELOG.md", "range holds both ends\n");
    expect(await code(agent)).toMatchObject({ verdict: "complete", rounds: 2 });
  });

  it("say that a change is not tested where a role fails after it", async () => {
    const agent = project.agent(byRole({ critic: "exit 1" }));
    const { err, code } = await cli(["code", ...agent], project.folder, project.home);
    const said = "1 passed, 2 failing, before the change of round 1, which is not tested yet";
    expect([code, err]).toEqual([1, expect.stringContaining(`Tests    ${said}`)]);
    expect((await cli(["status"], project.folder)).out.replaceAll(/\s+/g, " ")).toContain(said);
    const { last } = await project.json(...agent, "--dry-run");
    expect(last).toMatchObject({ met: 1, criteria: 1 });
  });
});

describe("wrong arguments", () => {
  it.each([
    [["--target", "../outside"], "outside of"],
    [["--target", "not-there.mjs"], "no such file"],
    [["--rounds", "0"], "whole number"],
    [["   "], "empty"],
    [["memory", "lose"], "Unknown command of the memory"],
  ])("%j end with exit code 2", async (args, message) => {
    const { code, err } = await cli(["code", ...args], project.folder, project.home);
    expect([code, err.includes(message)]).toEqual([2, true]);
  });

  it("a project without a test framework ends with exit code 2", async () => {
    project.write("package.json", "{}");
    const { code, err } = await cli(["code"], project.folder, project.home);
    expect([code, err.includes("--test-command")]).toEqual([2, true]);
  });
});
