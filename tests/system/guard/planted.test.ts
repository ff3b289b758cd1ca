import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { noBubblewrap, skippedFor } from "../../support/processes/bubblewrap.js";
import { openTaskFolder, planted } from "./killed.js";

let it: ReturnType<typeof openTaskFolder>;
afterEach(() => it.close());

/** An agent of a shell that plants all of it, says that it did, and goes on for a minute. */
function planting(names: readonly string[]): string {
  const files = Object.entries(planted(it.mark)).filter(([name]) => names.includes(name));
  for (const [name, text] of files) writeFileSync(join(it.top, name.replace(/^\./, "dot")), text);
  const lines = files.map(([name, text]) => `cat > ${name} <<'END'\n${text}\nEND`);
  const file = join(it.folder, "agent.sh");
  writeFileSync(file, `${lines.join("\n")}\ntouch planted.txt\nsleep 60\n`);
  return "cmd:sh agent.sh";
}

const all = Object.keys(planted("x"));
const task = ["task", "Make a.txt", "--check", "test -e a.txt"];

describe.skipIf(noBubblewrap !== undefined)(
  `what an agent planted in a task's sandbox is gone before anything is read, where research-ralph was ended${skippedFor(noBubblewrap)}`,
  () => {
    test.for(["SIGKILL", "SIGABRT", "SIGSEGV"] as const)("by %s", async (signal) => {
      it = openTaskFolder(true);
      const agent = planting(all);
      const isPlanted = () => existsSync(join(it.folder, "planted.txt"));
      await it.killOnce([...task, "--sandbox", "bubblewrap", "--agent", agent], isPlanted, signal);
      expect(all.filter((name) => existsSync(join(it.folder, name)))).toEqual(all);
      expect(it.guards()).toHaveLength(1);
      // Without a word on agent, sandbox or criteria: what was planted would say all of that.
      const { out, err } = await it.run("task");
      expect(existsSync(it.mark), `${out}${err}`).toBe(false);
      expect(all.filter((name) => existsSync(join(it.folder, name)))).toEqual([]);
      expect(err).toMatch(/ralph\.config\.json.* changed while an agent worked whose run was then killed, or since/);
      const aside = join(it.folder, ".ralph/set-aside/1");
      expect(readFileSync(join(aside, "ralph.config.json"), "utf8")).toContain(it.mark);
      expect(it.guards()).toEqual([]);
      // It is told once.
      expect((await it.run("task")).err).not.toContain("changed while");
    });
  },
);

test.skipIf(process.platform !== "linux")(
  "an agent that a kill left at work on the host is ended by the next start, which is told, before that looks at its files",
  async () => {
    it = openTaskFolder(true);
    // It goes on changing what it may not, in a session of its own too.
    const script = "cat > /dev/null; setsid sh loop.sh & touch begun; sh loop.sh";
    writeFileSync(
      join(it.folder, "loop.sh"),
      "while :; do echo '{' > ralph.config.json; echo $$ >> beats; sleep 0.02; done",
    );
    writeFileSync(join(it.folder, "agent.sh"), script);
    const args = [...task, "--sandbox", "host", "--unconfined", "--agent", "cmd:sh agent.sh"];
    await it.killOnce(args, () => existsSync(join(it.folder, "beats")));
    const { err } = await it.run("list");
    expect(err).toContain(`${it.folder}: An agent of a run that was killed was still at work; it was ended.`);
    const beats = readFileSync(join(it.folder, "beats"), "utf8");
    await sleep(300);
    expect(readFileSync(join(it.folder, "beats"), "utf8")).toBe(beats);
    expect(existsSync(join(it.folder, "ralph.config.json"))).toBe(false);
  },
);

test.for([["run"], ["list"], ["config"], ["ask", "why?"], ["doctor"]] as const)(
  "the next start puts things right whichever command it is: %s",
  async (args) => {
    it = openTaskFolder(true);
    const agent = planting(["ralph.config.json", "prompt.md"]);
    const isPlanted = () => existsSync(join(it.folder, "planted.txt"));
    await it.killOnce([...task, "--sandbox", "host", "--unconfined", "--agent", agent], isPlanted);
    const { err } = await it.run(...args);
    expect(["ralph.config.json", "prompt.md"].filter((name) => existsSync(join(it.folder, name)))).toEqual([]);
    expect(err).toMatch(/changed while an agent worked whose run was then killed/);
    expect(existsSync(it.mark)).toBe(false);
  },
);

test("what an agent changed that nothing confines is as it was before, after a kill too", async () => {
  it = openTaskFolder(true);
  const own = JSON.stringify({ task: "Make a.txt", acceptance_criteria: [{ type: "file_exists", path: "a.txt" }] });
  it.write("ralph.json", own);
  const file = join(it.folder, "agent.sh");
  const deeds = [
    `echo '{"task":"x","acceptance_criteria":[{"type":"command_succeeds","command":"touch ${it.mark}"}]}' > ralph.json`,
    "echo evil > .git/hooks/post-checkout; git config core.fsmonitor ./evil",
    "echo '{}' > .ralph/journal/99.json",
    "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m mine",
  ];
  writeFileSync(file, `${deeds.join("\n")}\ntouch planted.txt\nsleep 60\n`);
  const args = ["task", "--sandbox", "host", "--unconfined", "--agent", "cmd:sh agent.sh"];
  await it.killOnce(args, () => existsSync(join(it.folder, "planted.txt")));
  await it.run("task", "--dry-run", "--sandbox", "host");
  expect(readFileSync(join(it.folder, "ralph.json"), "utf8")).toBe(own);
  expect(existsSync(join(it.folder, ".git/hooks/post-checkout"))).toBe(false);
  expect(readFileSync(join(it.folder, ".git/config"), "utf8")).not.toContain("fsmonitor");
  expect(existsSync(join(it.folder, ".ralph/journal/99.json"))).toBe(false);
  expect(existsSync(it.mark)).toBe(false);
  // A person may have committed since: branches stay as they are.
  expect(existsSync(join(it.folder, ".git/refs/heads"))).toBe(true);
  expect((await it.run("task", "--dry-run", "--sandbox", "host")).err).not.toContain("changed while");
});

test("what a later version remembered keeps a command from starting there, and nowhere else", async () => {
  it = openTaskFolder(true);
  const agent = planting(["ralph.config.json"]);
  const isPlanted = () => existsSync(join(it.folder, "planted.txt"));
  await it.killOnce([...task, "--sandbox", "host", "--unconfined", "--agent", agent], isPlanted);
  const [guard = ""] = it.guards();
  const kept = join(it.home, ".local/state/research-ralph/guards", guard);
  writeFileSync(kept, readFileSync(kept, "utf8").replace('"of":"task"', '"of":"novel"'));
  expect(await it.run("list")).toMatchObject({ code: 5, err: expect.stringContaining("update research-ralph") });
  const other = join(it.top, "other");
  mkdirSync(other);
  expect(await it.runIn(other, "list")).toMatchObject({ code: 0, err: expect.stringContaining("update") });
  expect(existsSync(it.mark)).toBe(false);
});
