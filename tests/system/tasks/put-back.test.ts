import { existsSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { templateRepository } from "../../support/projects/git-template.js";
import {
  agent,
  eachInTaskFolder,
  exists,
  git,
  here,
  json,
  nothing,
  path,
  read,
  shell,
  state,
  task,
  write,
} from "../../support/projects/task-folder.js";

eachInTaskFolder();

describe("a task with an agent that nothing confines", () => {
  it("runs no filter that an agent configured in a repository within the folder", async () => {
    await templateRepository(here());
    write({ task: "x", acceptance_criteria: [exists("never")] });
    const ran = `${here()}-filter-ran`;
    const nested = [
      "mkdir -p sub && cd sub && echo $N > file",
      "[ -d .git ] || { git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm 1; }",
      `git config filter.x.clean 'touch ${ran}; cat'; echo '* filter=x' > .gitattributes; echo x > file`,
    ];
    const { last, lines } = await json(...shell(nested.join("\n")), "-i", "3");
    expect(last.iterations).toBe(3);
    // Nobody finds out by --undo that nothing of it was kept.
    const said = lines.filter(({ message }) => message?.includes("sub is a repository within this one"));
    expect(said).toHaveLength(1);
    expect((await task("--undo", "1")).code).toBe(0);
    const refs = git("for-each-ref", "--format=%(refname)", "refs/ralph/*/3").split("\n");
    expect(git("ls-tree", "--name-only", refs[0] ?? "", "sub")).toBe("sub");
    const has = existsSync(ran);
    rmSync(ran, { force: true });
    expect(has).toBe(false);
  });

  it("puts back the task, its state, its journal and git's own files, and says so", async () => {
    await templateRepository(here());
    write({ task: "x", acceptance_criteria: [exists("a.txt")], max_iterations: 2 });
    writeFileSync(path("a.md"), "a");
    git("-c", "user.name=u", "-c", "user.email=u@h", "commit", "-qm", "first", "--allow-empty");
    const head = git("rev-parse", "HEAD");
    const evil = [
      `echo '{"task":"x","acceptance_criteria":[{"type":"file_exists","path":"a.md"}]}' > ralph.json`,
      "echo '{}' > ralph.state.json",
      "echo evil > .git/hooks/post-checkout",
      "git config core.fsmonitor ./evil",
      "git -c user.name=e -c user.email=e@h commit -q --allow-empty -m evil",
      "mkdir -p .ralph/journal; echo '{}' > .ralph/journal/99.json",
      "echo 'hooks: []' > ralph.config.yaml",
    ];
    const { lines, last } = await json(...shell(`if [ $N = 1 ]; then ${evil.join("; ")}; else touch a.txt; fi`));
    expect(last).toMatchObject({ status: "success", iterations: 2 });
    expect(JSON.parse(read("ralph.json")).acceptance_criteria).toEqual([exists("a.txt")]);
    expect(existsSync(path(".git/hooks/post-checkout"))).toBe(false);
    expect(read(".git/config")).not.toContain("fsmonitor");
    expect(git("rev-parse", "HEAD")).toBe(head);
    expect([existsSync(path(".ralph/journal/99.json")), existsSync(path("ralph.config.yaml"))]).toEqual([false, false]);
    const said = lines
      .filter(({ type }) => type === "notice")
      .map(({ message }) => message)
      .join("\n");
    expect(said).toMatch(/ralph\.json.*were put back; the earlier content is in \.ralph\/set-aside\/1\./);
  });

  it("puts back what a test that the agent wrote has changed while the criteria were checked", async () => {
    await templateRepository(here());
    const criteria = [{ type: "command_succeeds", command: "sh t.sh" }, exists("a.txt")];
    write({ task: "x", acceptance_criteria: criteria, max_iterations: 2 });
    writeFileSync(path("t.sh"), "exit 1");
    const easy = `echo '{"task":"x","acceptance_criteria":[{"type":"file_exists","path":"t.sh"}]}' > ralph.json`;
    const evil = `${easy}; rm -rf ralph.state.json; echo evil > .git/hooks/post-checkout; exit 1`;
    // A person's edit at the time of the agent is set aside too, and stays there.
    const edit = "echo mine > ralph.json";
    const { last, lines } = await json(...shell(`[ $N = 1 ] && ${edit}; cat > t.sh <<'END'\n${evil}\nEND\n`));
    expect(last).toMatchObject({ status: "max_iterations", iterations: 2 });
    const kept = ["1", "1-2"].map((name) => read(`.ralph/set-aside/${name}/ralph.json`));
    expect(kept).toEqual(["mine\n", expect.stringContaining('"path":"t.sh"')]);
    expect(JSON.parse(read("ralph.json")).acceptance_criteria).toEqual(criteria);
    expect(existsSync(path(".git/hooks/post-checkout"))).toBe(false);
    expect(state().attempts).toHaveLength(2);
    const said = lines.flatMap(({ message = "" }) => (message.includes("criteria were checked, and") ? [message] : []));
    expect(said).toHaveLength(2);
    // The next start runs it before any agent.
    expect((await json(...agent(nothing))).last).toMatchObject({ status: "max_iterations", iterations: 2 });
    expect(JSON.parse(read("ralph.json")).acceptance_criteria).toEqual(criteria);
  });

  it("puts back what a dry run's commands change, once an agent has worked", async () => {
    await templateRepository(here());
    const criterion = { type: "command_succeeds", command: "sh t.sh" };
    write({ task: "x", acceptance_criteria: [criterion, exists("a.txt")], max_iterations: 1 });
    writeFileSync(path("t.sh"), "exit 1");
    const dry = () => task("--dry-run", "--sandbox", "host");
    const evil = "rm -rf ralph.state.json; echo {} > ralph.json; echo x > .git/hooks/post-checkout; exit 1";
    await json(...agent(nothing));
    writeFileSync(path("t.sh"), evil);
    const { code, err } = await dry();
    expect([code, JSON.parse(read("ralph.json")).max_iterations, state().attempts]).toEqual([
      1,
      1,
      [expect.anything()],
    ]);
    expect(existsSync(path(".git/hooks/post-checkout"))).toBe(false);
    expect(err.replaceAll(/\s+/g, " ")).toContain("changed while the criteria were checked, and were put back");
    // The folder is free again.
    expect((await json(...agent(nothing))).last.status).toBe("max_iterations");
  });
});
