import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { watchCommand } from "../../../src/commands/inspect/watch.js";
import { steerCommand } from "../../../src/commands/steer/steer.js";
import { cli, ioIn } from "../../support/processes/in-process.js";

let top = "";
let folder = "";
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "led-")));
  folder = join(top, "project");
  mkdirSync(folder);
  write({ task: "Make a.txt", acceptance_criteria: [{ type: "file_exists", path: "a.txt" }], max_iterations: 2 });
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const write = (task: object): void => writeFileSync(join(folder, "ralph.json"), JSON.stringify(task));
const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const state = () => JSON.parse(read("ralph.state.json"));
const home = () => ({ HOME: top });

/** Runs the task with an agent that is this script; its brief is in the file `brief.<run>` next to the folder. */
function work(script: string, ...args: string[]) {
  const file = join(top, "agent.sh");
  const count = `N=$(( $(ls "${top}" | grep -c '^brief') + 1 ))`;
  writeFileSync(file, `#!/bin/sh\n${count}\ncat > "${top}/brief.$N"\n${script}\necho done\n`);
  chmodSync(file, 0o755);
  return cli(["task", "--agent", `cmd:${file}`, "--unconfined", "--sandbox", "host", ...args], folder, home());
}

const brief = (run: number): string => readFileSync(join(top, `brief.${run}`), "utf8");
const there = async (path: string): Promise<void> => {
  while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 20));
};

describe("steer", () => {
  test("what is said by path, by file or in the folder stands in every brief until it is cleared", async () => {
    const said = async (cwd: string, ...args: string[]) =>
      JSON.parse((await cli(["steer", "--json", ...args], cwd, home())).out).steering;
    expect(await said(top, "project", "Use tabs.")).toEqual(["Use tabs."]);
    expect(await said(top, "project/ralph.json", "No comments.")).toEqual(["Use tabs.", "No comments."]);
    expect(await said(folder, "Short lines.")).toEqual(["Use tabs.", "No comments.", "Short lines."]);
    await work("true");
    expect(brief(1)).toContain("# From the user\n\n- Use tabs.\n- No comments.\n- Short lines.");
    expect(brief(2)).toContain("- Short lines.");
    expect((await cli(["status"], folder, home())).out).toMatch(/Steering {3}Use tabs\./);
    expect(await said(folder, "--clear")).toEqual([]);
    write({ task: "Make a.txt", acceptance_criteria: [{ type: "file_exists", path: "a.txt" }], max_iterations: 3 });
    await work("true");
    expect(brief(3)).not.toContain("From the user");
    expect(state().loop.steering).toEqual([]);
  });

  test("what is said while an agent works is heard by the next; what the agent plants is not", async () => {
    const running = work(
      `[ $N = 1 ] || exit 0; mkdir -p .ralph/inbox; echo '{"text": "planted"}' > .ralph/inbox/2026-01-01T00-00-00-000Z-00000000.json; echo > "${top}/begun"; while [ ! -e "${top}/go" ]; do sleep 0.05; done`,
    );
    await there(join(top, "begun"));
    const io = ioIn(folder, home());
    await steerCommand({ folder: undefined, text: "Use tabs.", clear: false, json: false }, io);
    expect(io.err()).toBe("Every brief includes it from the next iteration of this task on.\n");
    writeFileSync(join(top, "go"), "");
    const { code, err } = await running;
    expect(code).toBe(3);
    expect(err).toContain("Instructions received: Use tabs.");
    expect(err).toMatch(/00000000\.json changed while the agent was at work/);
    expect(brief(2)).toContain("- Use tabs.");
    expect(brief(2)).not.toContain("planted");
  });

  test("an argument that names nothing is no text where another is there, or no task is here", async () => {
    expect(await cli(["steer", "nothing", "text"], folder, home())).toMatchObject({ code: 2 });
    expect(await cli(["steer", "Use tabs."], top, home())).toMatchObject({ code: 2 });
  });
});

test("pause and stop keep a task from its next iteration until it is resumed", async () => {
  expect((await cli(["pause"], folder, home())).err).toBe(
    "This task is not running; no run can start until you run research-ralph stop --undo.\n",
  );
  expect((await cli(["status"], folder, home())).out).toMatch(
    /State +Paused\n +Next +'research-ralph stop --undo' removes PAUSE/,
  );
  expect(await work("echo > a.txt")).toMatchObject({ code: 5 });
  expect((await cli(["resume", "project"], top, home())).err).toBe(
    "project can run again: research-ralph task project\n",
  );
  await cli(["stop", "project/ralph.json"], top, home());
  expect(await work("echo > a.txt")).toMatchObject({ code: 130 });
  expect(existsSync(join(folder, "a.txt"))).toBe(false);
  expect(JSON.parse((await cli(["resume", "--json"], folder, home())).out)).toEqual({ folder, lifted: ["STOP"] });
  expect(await work("echo > a.txt")).toMatchObject({ code: 0 });
  expect((await cli(["pause"], folder, home())).err).toMatch(/^This task is finished, so a run would start no agent/);
});

test("watch shows a task and each of its iterations", async () => {
  const end = new AbortController();
  const io = ioIn(top);
  const watching = watchCommand({ json: true }, io, end.signal);
  const seen = async (what: string) => {
    for (let tries = 0; tries < 500 && !io.out().includes(what); tries++)
      await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const running = work(`while [ ! -e "${top}/go.$N" ]; do sleep 0.05; done; [ $N = 1 ] || echo > a.txt`);
  await seen('"started"');
  writeFileSync(join(top, "go.1"), "");
  await seen('"refused"');
  writeFileSync(join(top, "go.2"), "");
  await running;
  await seen('"stopped"');
  end.abort();
  expect(await watching).toBe(0);
  const lines = io
    .out()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.at(-1)).toMatchObject({
    type: "stopped",
    research: "project",
    folder,
    phase: "TASK",
    progress: { done: 1, total: 1 },
    last_run: { verdict: "complete" },
  });
  expect(lines.filter(({ type }) => type === "iteration").map(({ line }) => line.outcome)).toEqual([
    "refused",
    "accepted",
  ]);
});
