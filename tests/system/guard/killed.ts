import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Ended, sharedPackage } from "../../support/processes/built.js";
import { killedOrFinished, killProcesses } from "../../support/processes/kill-processes.js";

/** What an agent may not plant in a task's folder, each running a program on the host, if it is read. */
export const planted = (mark: string): Record<string, string> => {
  const agents = { worker: { command: "sh", args: ["-c", `touch ${mark}`] } };
  const hooks = [{ on: ["run-started", "complete", "accepted"], run: `touch ${mark}` }];
  const criterion = { type: "command_succeeds", command: `touch ${mark}` };
  return {
    "ralph.config.json": JSON.stringify({ agent: `cmd:touch ${mark}; cat`, unconfined: true, sandbox: "host", hooks }),
    "ralph.config.yaml": JSON.stringify({ agents, hooks }),
    "ralph.json": JSON.stringify({ task: "x", acceptance_criteria: [criterion] }),
    ".mcp.json": JSON.stringify({ mcpServers: { x: { command: "touch", args: [mark] } } }),
    "prompt.md": "---\nworkspace: folder\n---\n\nDo it.\n",
    ".gitattributes": "* filter=x\n",
  };
};

/** A repository of its own with a home, for a task. */
export function openTaskFolder(hasGit: boolean) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "guard-")));
  const folder = join(top, "project");
  const [home, mark] = [join(top, "home"), join(top, "mark")];
  for (const path of [folder, home]) mkdirSync(path);
  if (hasGit) execFileSync("git", ["init", "-q", folder]);
  const env = { PATH: process.env["PATH"], HOME: home, RESEARCH_RALPH_CHECK: "false", LANG: "C.UTF-8" };
  const start = async (args: readonly string[], cwd = folder) =>
    spawn(process.execPath, [join(await sharedPackage(), "dist/cli.js"), ...args], {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
  const it = {
    top,
    folder,
    home,
    mark,
    start,
    /** Files of the folder, those of git and of ours left out. */
    files: () => readdirSync(folder).filter((name) => name !== ".git" && name !== ".ralph"),
    guards: () => {
      const kept = join(home, ".local/state/research-ralph/guards");
      return existsSync(kept) ? readdirSync(kept).filter((name) => name.endsWith(".jsonl")) : [];
    },
    run: (...args: string[]): Promise<Ended> => it.runIn(folder, ...args),
    async runIn(cwd: string, ...args: string[]): Promise<Ended> {
      const child = await start(args, cwd);
      let [out, err] = ["", ""];
      child.stdout.on("data", (text: Buffer) => (out += text.toString()));
      child.stderr.on("data", (text: Buffer) => (err += text.toString()));
      const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
      return { code, out, err };
    },
    /** Kills research-ralph alone, once this holds. */
    async killOnce(args: readonly string[], holds: () => boolean, signal: NodeJS.Signals = "SIGKILL") {
      const child = await start(args);
      let printed = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (text: Buffer) => (printed += text.toString()));
      const ended = new Promise((resolve) => child.on("exit", resolve));
      while (!holds()) {
        if (child.exitCode !== null) throw new Error(`it ended by itself: ${printed}`);
        await sleep(10);
      }
      child.kill(signal);
      await ended;
      if (child.pid !== undefined) killProcesses([-child.pid]);
    },
    /** Kills the whole group so many milliseconds after this holds; answers with what it had printed. */
    async killAfter(args: readonly string[], holds: () => boolean, milliseconds: number): Promise<string> {
      const child = await start(args);
      const ended = killedOrFinished(child);
      while (!holds() && child.exitCode === null) await sleep(4);
      await sleep(milliseconds);
      if (child.pid !== undefined) killProcesses([-child.pid]);
      const { how, out } = await ended;
      if (how !== "killed") throw new Error(`it ended by itself: ${out}`);
      return out;
    },
    /** Waits until no process has this in its command line: on the host an agent outlives a kill. */
    async gone(words: string) {
      while (execFileSync("ps", ["-axww", "-o", "args="], { encoding: "utf8" }).includes(words)) await sleep(20);
    },
    write: (name: string, text: string) => writeFileSync(join(folder, name), text),
    close: () => rmSync(top, { recursive: true, force: true, maxRetries: 5 }),
  };
  return it;
}
