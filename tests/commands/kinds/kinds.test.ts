import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";
import { served } from "../../web/served.js";

const criteria = [
  { type: "file_exists", path: "a.txt" },
  { type: "contains_text", path: "a.txt", text: "hello" },
];
const state = {
  id: "make-a-00000000",
  source: "ralph.json",
  task: { task: "Make a.txt", acceptance_criteria: criteria },
  checks: [
    { criterion: "file_exists a.txt", passed: true, detail: "", ms: 1 },
    { criterion: "contains_text a.txt: hello", passed: false, detail: "It is <empty>.", ms: 1 },
  ],
  checked_at: "2026-03-01T10:00:00.000Z",
  attempts: [],
};

/** A folder with one project, and a task below it that no run has begun. */
function both(): { readonly cwd: string; readonly job: string } {
  const cwd = freshFolder();
  makeResearch(cwd, "hands-2026-03-01", { papers_pool: [paper("a", "pending")] });
  const job = join(cwd, "jobs", "make-a");
  mkdirSync(job, { recursive: true });
  writeFileSync(join(job, "ralph.json"), JSON.stringify(state.task, null, 2));
  return { cwd, job };
}

const begun = (job: string, over: object = {}): void =>
  writeFileSync(join(job, "ralph.state.json"), JSON.stringify({ ...state, ...over }));

test("list shows projects and tasks, told apart, and what is broken of either", async () => {
  const { cwd, job } = both();
  const { out } = await cli(["list"], cwd);
  expect(out).toMatch(/^NAME +KIND +PHASE +DONE/);
  expect(out).toMatch(/^hands-2026-03-01 +project +ANALYSIS/m);
  expect(out).toMatch(/^jobs\/make-a +task +TASK +░+ 0\/2/m);
  expect(out).toContain("1 project, 1 task\n");
  expect(JSON.parse((await cli(["list", "--json"], cwd)).out)).toMatchObject([
    { kind: "project", done: 0, total: 1 },
    { kind: "task", name: "jobs/make-a", folder: job, task: "Make a.txt", done: 0, total: 2 },
  ]);
  writeFileSync(join(job, "ralph.json"), "{");
  expect((await cli(["list"], cwd)).out).toMatch(/^jobs\/make-a +broken: ralph\.json:1:2: /m);
});

test("brief prints what the next attempt of a task would be given, by the last checks, and changes nothing", async () => {
  const { cwd, job } = both();
  const fresh = await cli(["brief", "jobs/make-a"], cwd);
  expect(fresh.out).toContain("# Acceptance criteria (0 of 2 met)");
  expect(fresh.err).toContain("no criterion has been checked yet");
  expect(readdirSync(job)).toEqual(["ralph.json"]);
  begun(job);
  await cli(["steer", "jobs/make-a", "Use tabs."], cwd);
  const next = await cli(["brief", "jobs/make-a"], cwd);
  expect(next.out).toContain("✗ contains_text a.txt: hello\n  It is <empty>.");
  expect(next.out).toContain("# From the user\n\n- Use tabs.");
  expect(next.err).toContain("Iteration 1, task: about ");
  // Other criteria than those that were checked.
  const other = { ...state.task, acceptance_criteria: [{ type: "file_exists", path: "b.txt" }] };
  writeFileSync(join(job, "ralph.json"), JSON.stringify(other));
  expect((await cli(["brief", "jobs/make-a"], cwd)).out).toContain("✗ file_exists b.txt");
});

test("brief says why no agent would be started for a task that is done or has used its iterations up", async () => {
  const { cwd, job } = both();
  begun(job, { checks: state.checks.map((check) => ({ ...check, passed: true })) });
  expect((await cli(["brief", "jobs/make-a"], cwd)).err).toMatch(/No agent would be started\. All acceptance criteria/);
  const limited = { ...state.task, max_iterations: 1 };
  const attempt = { id: "attempt-1", iteration: 1, at: "2026-03-01T10:00:00.000Z", outcome: "refused", met: 1 };
  writeFileSync(join(job, "ralph.json"), JSON.stringify(limited));
  begun(job, { task: limited, attempts: [attempt] });
  expect(JSON.parse((await cli(["brief", "jobs/make-a", "--json"], cwd)).out)).toEqual({
    unit: null,
    reason: "The task has used up its 1 iteration; raise max_iterations in its file.",
  });
});

test("validate reads the state of a coding run of an earlier version as the next run would", async () => {
  const cwd = freshFolder();
  const old = join(packageFile("tests/fixtures/formats"), "2026-11-28/code-killed/ralph.code.json");
  cpSync(old, join(cwd, "ralph.code.json"));
  expect(await cli(["validate"], cwd)).toMatchObject({
    code: 0,
    out: "ralph.code.json is valid: 0 errors, 0 warnings\n",
  });
  writeFileSync(join(cwd, "ralph.code.json"), "{");
  expect(await cli(["validate"], cwd)).toMatchObject({ code: 1, out: expect.stringContaining("can't be read") });
});

test("validate names every error of a ralph.json with its line and what to do, and what has no effect", async () => {
  const { cwd, job } = both();
  expect(await cli(["validate", "jobs/make-a"], cwd)).toMatchObject({
    code: 0,
    out: "jobs/make-a/ralph.json is valid: 0 errors, 0 warnings\n",
  });
  writeFileSync(
    join(job, "ralph.json"),
    `{
  "task": "",
  "acceptance_criteria": [
    { "type": "file_exist", "path": "a" },
    { "type": "all_of", "criteria": [{ "type": "contains_text",
      "path": "a" }] }
  ],
  "max_iteration": 3,
  "budget": { "max_usd": -1 }
}`,
  );
  const { code, out } = await cli(["validate", "jobs/make-a"], cwd);
  expect(code).toBe(1);
  expect(out.split("\n").map((line) => line.split(" — ")[0])).toEqual([
    "error: ralph.json:2 /task: must not be empty",
    'error: ralph.json:4 /acceptance_criteria/0/type: "file_exist" is not a known criterion',
    'error: ralph.json:5 /acceptance_criteria/1/criteria/0: "text" is missing',
    'warning: ralph.json:8 /max_iteration: is not a known field and has no effect; "max_iterations" is meant',
    expect.stringMatching(/^error: ralph\.json:9 \/budget\/max_usd: must be at least /),
    "Correct the file, then run research-ralph verify --files again.",
    "jobs/make-a/ralph.json is not valid: 4 errors, 1 warning",
    "",
  ]);
  expect(out).toContain(' — The nearest one is "file_exists".\n');
});

test("validate says of a task's broken state how the last good one comes back", async () => {
  const { cwd, job } = both();
  writeFileSync(join(job, "ralph.state.json"), "{ broken");
  const { code, out } = await cli(["validate", "jobs/make-a"], cwd);
  expect(code).toBe(1);
  expect(out).toMatch(/^error: .*ralph\.state\.json:1:3: /);
  expect(out).toMatch(/jobs\/make-a\/ralph\.state\.json is not valid: 1 error/);
});

test("without a name the only work here is meant; where there are several, status lists them", async () => {
  const { cwd, job } = both();
  expect((await cli(["status"], join(cwd, "jobs"))).out).toMatch(/^Make a\.txt\nmake-a\n/);
  const second = join(cwd, "jobs", "second");
  mkdirSync(second);
  writeFileSync(join(second, "ralph.json"), JSON.stringify(state.task));
  expect((await cli(["status"], join(cwd, "jobs"))).out).toBe((await cli(["status", "--all"], join(cwd, "jobs"))).out);
  const { code, err } = await cli(["show"], join(cwd, "jobs"));
  expect(code).toBe(2);
  expect(err).toContain(
    "There are 2 projects and tasks here: make-a, second; name one, as in research-ralph show make-a.",
  );
  expect((await cli(["status"], job)).out).toMatch(
    /^ {2}State {6}Not running\n {2}Next {7}'research-ralph task' starts it/m,
  );
});

test("show lists what a task did, and an iteration of it by its number", async () => {
  const { cwd, job } = both();
  begun(job);
  mkdirSync(join(job, ".ralph"));
  const line = { iteration: 1, at: "2026-03-01T10:00:00Z", unit: "task", phase: "TASK", outcome: "refused" };
  writeFileSync(
    join(job, ".ralph", "ledger.jsonl"),
    `${JSON.stringify({ ...line, agent: "cmd:x", reasons: ["No."] })}\n`,
  );
  expect((await cli(["show", "jobs/make-a"], cwd)).out).toContain("✗ contains_text a.txt: hello: It is <empty>.");
  expect((await cli(["show", "jobs/make-a", "1"], cwd)).out).toMatch(
    /^#1 TASK: task refused[^]*Refused because\n {2}No\./,
  );
  expect(await cli(["show", "jobs/make-a", "2"], cwd)).toMatchObject({ code: 2 });
});

test("the local page lists a task beside the projects, shows its criteria, and pauses it", async () => {
  const { cwd, job } = both();
  begun(job);
  const { get, post } = await served(cwd);
  const list = await (await get("/")).text();
  expect(list).toContain("<h1>Projects and tasks</h1>");
  expect(list).toContain('href="/p/task~jobs~make-a/"');
  const page = await (await get("/p/task~jobs~make-a/")).text();
  expect(page).toMatch(/class="met"><b>Met<\/b> <code>file_exists a\.txt/);
  expect(page).toContain("It is &lt;empty&gt;.");
  expect((await post("/p/task~jobs~make-a/pause")).status).toBe(303);
  expect(existsSync(join(job, "PAUSE"))).toBe(true);
  expect(await (await get("/p/task~jobs~make-a/")).text()).toMatch(
    /research-ralph stop --undo jobs\/make-a\W\S* removes PAUSE/,
  );
  writeFileSync(join(job, "ralph.state.json"), "{");
  expect(await (await get("/p/task~jobs~make-a/")).text()).toContain("ralph.state.json:1:2: ");
});
