import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { hookMarkVariable, isStartedByAgent, markVariable } from "../../../src/engine/process/descendants.js";

/** A shell with this environment that starts a program without any; answers with the program's process id. */
async function startedBy(env: Record<string, string>): Promise<number> {
  const script = 'env -i sleep 60 & trap "kill $!" TERM; echo $!; wait';
  const shell = spawn("sh", ["-c", script], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void shell.kill());
  const [said] = (await once(shell.stdout, "data")) as [Buffer];
  return Number(said.toString());
}

it.runIf(process.platform === "linux")(
  "what an agent starts with an empty environment or as a hook is an agent's; what a hook or a person starts is not",
  async () => {
    const hook = { [markVariable]: "a-run", [hookMarkVariable]: "1" };
    const [byAgent, byHook] = [await startedBy({ [markVariable]: "a-run" }), await startedBy(hook)];
    expect(isStartedByAgent({}, byAgent)).toBe(true);
    expect(isStartedByAgent(hook, byAgent)).toBe(true);
    expect(isStartedByAgent({}, byHook)).toBe(false);
    expect(isStartedByAgent(hook, byHook)).toBe(false);
    expect(isStartedByAgent({}, 0)).toBe(false);
  },
);
