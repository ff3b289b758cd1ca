import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder } from "../../support/projects/research-folder.js";

const topic = "sim2real transfer";
const agent = ["--agent", "baseline", "-p", "1"];
const branch = "research/sim2real-transfer";

/** A person's repository with work of theirs: a commit, a staged file, an edit. */
function repository(isEmpty = false) {
  const cwd = freshFolder();
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args], { cwd, encoding: "utf8" });
  git("init", "-q", "-b", "main");
  writeFileSync(join(cwd, ".gitignore"), ".local/\n");
  writeFileSync(join(cwd, "mine.txt"), "mine");
  if (!isEmpty) {
    git("add", ".");
    git("commit", "-qm", "mine");
  }
  writeFileSync(join(cwd, "staged.txt"), "staged");
  git("add", "staged.txt");
  writeFileSync(join(cwd, "mine.txt"), "mine, edited");
  mkdirSync(join(cwd, "papers"));
  writeFileSync(
    join(cwd, "papers/a.md"),
    "# Sim2real\n\nAbstract\n\nSim2real transfer of hands works in 9 of 10 trials.\n",
  );
  const own = () => [git("status", "--porcelain"), git("diff", "--cached"), isEmpty ? "" : git("rev-parse", "HEAD")];
  const subjects = (ref: string) => git("log", "--format=%s", ref).trim().split("\n");
  const made = (...more: string[]) => cli(["new", topic, "--source", "folder:papers", ...agent, ...more], cwd);
  return { cwd, git, own, subjects, made };
}

test.each([false, true])(
  "commits go to a branch of their own, and what a person has in the repository stays as it is; without a commit yet: %s",
  async (isEmpty) => {
    const { cwd, git, own, subjects, made } = repository(isEmpty);
    const before = own();
    const { code, out } = await made("--branch");
    expect(code).toBe(0);
    expect((await cli(["run", out.trim(), ...agent], cwd)).code).toBe(0);
    expect(own()).toEqual(before);
    const all = subjects(branch);
    expect(all).toContain(`new: ${out.trim().replace("researches/", "")}`);
    expect(all.at(-1)).toBe(isEmpty ? all.find((subject) => subject.startsWith("new:")) : "mine");
    const kept = () => git("ls-tree", "-r", "--name-only", branch);
    expect(kept()).toContain(`${out.trim()}/research-report.md`);
    expect(kept()).not.toContain(".ralph");
    expect(git("diff", branch, "--", `${out.trim()}/rrd.json`)).not.toBe("");
    // What is taken back leaves the branch too.
    expect((await cli(["reset", out.trim(), "--unit", "report"], cwd)).code).toBe(0);
    expect((await cli(["decide", out.trim(), "nothing", "exclude", "x"], cwd)).code).toBe(2);
    rmSync(join(cwd, out.trim(), "references.bib"), { force: true });
    await cli(["run", out.trim(), ...agent, "-i", "1"], cwd);
    expect(own()).toEqual(before);
    expect(git("show", `${branch}:${out.trim()}/rrd.json`)).toBe(
      execFileSync("cat", [join(cwd, out.trim(), "rrd.json")], { encoding: "utf8" }),
    );
  },
);

test("a branch that is checked out, a name that is none, and files that are committed already are told", async () => {
  const { cwd, git, made } = repository();
  const { out } = await made("--branch", "research/hands");
  const tree = join(cwd, ".local/tree");
  git("worktree", "add", "-q", tree, "research/hands");
  const run = await cli(["run", out.trim(), ...agent, "-i", "1"], cwd);
  expect(run.err).toContain("the branch research/hands is checked out");
  git("worktree", "remove", tree);
  expect(await made("--branch", "a..b")).toMatchObject({
    code: 2,
    err: expect.stringContaining("is not a valid name"),
  });
  const other = await made("--name", "other");
  expect(other.err).toContain("Its commits go to the branch that is checked out");
  expect(await cli(["run", other.out.trim(), ...agent, "--branch"], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("are committed on the branch that is checked out"),
  });
});
