import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { besideModel } from "../../support/network/beside-model.js";
import { claudeEnv, startFakeLlm } from "./support/agents.js";
import { installed } from "./support/install.js";

const here = besideModel("plugin");
const found = installed("claude");

/** The real Claude Code with the plugin, in an empty folder; research-ralph is on its PATH. */
async function claude(...args: string[]) {
  if ("problem" in found) throw new Error(found.problem);
  const [home, bin, work] = ["home", "bin", "work"].map((name) => join(here.folder, name)) as [string, string, string];
  for (const folder of [home, bin, work]) mkdirSync(folder, { recursive: true });
  symlinkSync(join(here.built, "dist", "cli.js"), join(bin, "research-ralph"));
  const env = {
    ...claudeEnv(here.server, home),
    PATH: `${bin}:${process.env["PATH"]}`,
    RESEARCH_RALPH_STATE_DIR: join(here.folder, "state"),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  const running = promisify(execFile)(found.program, args, { cwd: work, env, timeout: 240_000 });
  running.child.stdin?.end();
  return await running;
}

describe.skipIf("problem" in found)(
  `the plugin in the real Claude Code${"problem" in found ? ` (skipped: ${found.problem})` : ""}`,
  () => {
    test("is valid by Claude Code's own check", async () => {
      here.server = await startFakeLlm(() => ({ text: "done" }));
      const { stdout } = await claude("plugin", "validate", packageFile());
      expect(stdout).toContain("Validation passed");
    });

    test("starts a review, answers a question from it and shows the report's path", async () => {
      const steps = [
        'research-ralph new "do simulated hands transfer" --source samples --name hands -p 3 --keyword sim2real --agent baseline',
        "research-ralph run hands --agent baseline --quiet",
        'research-ralph ask hands "Does training in simulation transfer?" --agent baseline',
        "research-ralph report hands",
      ];
      here.server = await startFakeLlm(({ results }) => {
        const command = steps[results.length];
        if (command !== undefined) return { text: "Next.", tools: [{ name: "Bash", input: { command } }] };
        const folder = /Written in (\S+):/.exec(results.join("\n"))?.[1] ?? "nowhere";
        return { text: `The report: ${folder}/report.html` };
      });
      const { stdout } = await claude(
        ...["--plugin-dir", packageFile(), "--model", "sonnet"],
        ...["-p", "/research-ralph:review do simulated hands transfer"],
      );
      const [first] = here.server.requests;
      expect(first?.user).toContain("The person wants a literature review on: do simulated hands transfer");
      const results = here.server.requests.at(-1)?.results ?? [];
      expect(results).toHaveLength(steps.length);
      expect(results[2]).toMatch(/\[1\] \w+, § /);
      expect(stdout).toMatch(/The report: \S*researches\/hands\S*\/report\.html/);
    });
  },
);
