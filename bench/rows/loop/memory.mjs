import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeResearch } from "../../fixture.mjs";
import { cli, inFolder, size } from "../../measure.mjs";

export const row = {
  name: "memory",
  what: "memory of our process while an agent prints 1 GB",
  hold: "≤ 150 MB",
  command: "research-ralph run <folder> --agent 'cmd:yes <a line> | head -c 1000000000' --unconfined -i 1",
  async run() {
    if (process.platform !== "linux") throw new Error("the peak is read from /proc, which only Linux has");
    const bare = await peak(["-e", "setTimeout(() => {}, 500)"], process.cwd());
    return await inFolder(async (cwd) => {
      writeResearch(join(cwd, "researches/bench-2025-01-01"), { papers: 30, pending: 1 });
      writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ git: false }));
      const agent = `cmd:yes '${"a line of an agent that talks too much ".repeat(5)}' | head -c ${size(1_000_000_000, 1_000_000)}`;
      const ours = await peak(
        [cli, "run", "researches/bench-2025-01-01", "--agent", agent, "--unconfined", "-i", "1"],
        cwd,
      );
      return { bare: `${bare} MB`, ours: `${ours} MB` };
    });
  },
};

/** Peak resident memory of a Node process in MB (VmHWM), read until it ends. */
async function peak(args, cwd) {
  const env = { ...process.env, XDG_STATE_HOME: join(cwd, "state"), HOME: cwd };
  const child = spawn(process.execPath, args, { cwd, env, stdio: "ignore" });
  let kilobytes = 0;
  while (child.exitCode === null && child.signalCode === null) {
    const status = statusOf(child.pid);
    kilobytes = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? kilobytes);
    await sleep(20);
  }
  return Math.round(kilobytes / 1000);
}

function statusOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return ""; // It has just ended.
  }
}
