import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useBuiltCli } from "./support/built.js";
import { expectWhole, type Place } from "./support/place.js";

const place = useBuiltCli();

const inbox = (here: Place): string[] => {
  const folder = join(here.research, ".ralph", "inbox");
  return existsSync(folder) ? readdirSync(folder) : [];
};

/** A paper of which the folder's source knows nothing. */
function another(here: Place): string {
  const file = join(here.cwd, "another.md");
  const text = "We measured a gripper of another kind on sixty parts, and it succeeds on 77 % of them. ".repeat(8);
  writeFileSync(file, `# Another gripper\n\n## Results\n\n${text}\n`);
  return file;
}

test("add, decide and report during a run: the run takes them at its next step, says so, and reads the paper", async () => {
  const here = place();
  const run = await here.startWaiting();
  const added = await here.cli(["add", here.research, another(here)]);
  expect([added.code, added.out], added.err).toEqual([0, expect.stringMatching(/^added: .*Another gripper/)]);
  expect(added.err.replace(/\s+/g, " ")).toContain(
    "The project is running; the run adds them before its next iteration",
  );
  const report = await here.cli(["report", here.research]);
  expect([report.code, report.out], report.err).toEqual([0, expect.stringContaining("Answer:")]);
  for (const command of ["join", "part", "reset"]) {
    const words = command === "join" ? ["a", "b"] : command === "part" ? ["a"] : [];
    const refused = await here.cli([command, here.research, ...words]);
    expect([refused.code, refused.out]).not.toContain(0);
    expect(refused.err).toMatch(/^research-ralph: [^\n]+\.\n$/);
  }
  here.go();
  const ended = await run.ended;
  expect(ended.code, ended.err).toBe(0);
  expect(ended.err).toMatch(/Added, to be read next: .*\(Another gripper\)/);
  expect(ended.err).toContain("Written as a person asked: research-report.md");
  expect(here.rrd().papers_pool.map(({ title, status }) => [title, status])).toContainEqual([
    "Another gripper",
    expect.stringMatching(/presented|rejected|insights_extracted/),
  ]);
  expect(inbox(here)).toEqual([]);
  expectWhole(here, 2);
});

test("kill -9 of the run between the note and the fold: the next run takes what was added", async () => {
  const here = place();
  const run = await here.startWaiting();
  await here.cli(["add", here.research, another(here)]);
  process.kill(run.pid, "SIGKILL");
  await run.ended;
  expect(inbox(here)).toHaveLength(1);
  here.go();
  const next = await here.cli(["run", here.research, "--agent", "slow"]);
  expect(next.code, next.err).toBe(0);
  expect(next.err).toMatch(/Added, to be read next: .*\(Another gripper\)/);
  expect(here.rrd().papers_pool.map(({ title }) => title)).toContain("Another gripper");
  expect(inbox(here)).toEqual([]);
});
