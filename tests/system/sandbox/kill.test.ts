import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { noBubblewrap, skippedFor } from "../../support/processes/bubblewrap.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { unitAgent } from "../../support/processes/command-agents.js";
import { freshFolder, sampleResearch } from "../../support/projects/research-folder.js";

let cli: string;
beforeAll(async () => {
  cli = join(await sharedPackage(), "dist", "cli.js");
});

/** How many processes run that have this among their arguments. */
const running = (argument: string): number =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument);
    } catch {
      return false;
    }
  }).length;

describe.skipIf(noBubblewrap !== undefined)(`a run whose agent is in bubblewrap${skippedFor(noBubblewrap)}`, () => {
  test("takes it along when it is killed, and the next run goes on from there", async () => {
    const cwd = freshFolder();
    const folder = sampleResearch(cwd);
    const env = { PATH: process.env["PATH"], HOME: cwd, RESEARCH_RALPH_CHECK: "false" };
    for (const round of [1, 2, 3]) {
      const mark = `54${process.pid}.${round}`;
      const agent = `cmd:sh -c "setsid sleep ${mark} & sleep ${mark}"`;
      const args = [cli, "run", "--agent", agent, "--sandbox", "bubblewrap", "--no-git"];
      const killed = spawn(process.execPath, args, { cwd, env, stdio: "ignore" });
      await expect.poll(() => running(mark)).toBe(2);
      killed.kill("SIGKILL");
      // Its agent ends with its first thread; what it held is free only once it is gone itself.
      await once(killed, "exit");
      await expect.poll(() => running(mark)).toBe(0);
    }
    const args = [cli, "run", "--agent", unitAgent, "--sandbox", "bubblewrap", "--no-git"];
    const { code, out, err } = await run(process.execPath, args, cwd);
    const text = readFileSync(join(folder, "ledger.jsonl"), "utf8").trimEnd();
    expect(code, `${out}\n${err}\n${text}`).toBe(0);
    const ledger = text.split("\n");
    const lines = ledger.map((line) => JSON.parse(line) as { outcome: string; confinement: string });
    expect(lines.map(({ outcome, confinement }) => [outcome, confinement])).toEqual(
      Array.from({ length: 5 }, () => ["accepted", "sandbox"]),
    );
  });
});
