import { execFile } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
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
    // The plugin's server is started with npx, which takes the program that is installed for all.
    npm_config_prefix: here.folder,
    RESEARCH_RALPH_AGENT: "baseline",
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

    test("starts a review, answers a question from it and shows the report's path, by the server's tools", async () => {
      const tool = (name: string, input: object) => ({
        name: `mcp__plugin_research-ralph_research-ralph__${name}`,
        input,
      });
      const review = {
        sources: ["samples"],
        name: "hands",
        papers: 3,
        keywords: ["sim2real"],
        max_minutes: 5,
        wait: true,
      };
      const steps = [
        tool("list", {}),
        tool("start", { topic: "do simulated hands transfer", ...review }),
        tool("ask", { question: "Does training in simulation transfer?" }),
        tool("report", {}),
      ];
      here.server = await startFakeLlm(({ results }) => {
        const next = steps[results.length];
        if (next !== undefined) return { text: "Next.", tools: [next] };
        const { answer, report } = JSON.parse(results.at(-1) ?? "{}") as { answer: string; report: string };
        return { text: `${answer} The report: ${report}` };
      });
      const yes = ["start", "ask"].map((name) => tool(name, {}).name).join(",");
      const { stdout } = await claude(
        ...["--plugin-dir", packageFile(), "--model", "sonnet", "--allowedTools", yes],
        ...["-p", "/research-ralph:review do simulated hands transfer"],
      );
      const [first] = here.server.requests;
      expect(first?.user).toContain("The person wants a literature review on: do simulated hands transfer");
      const [list, started, answered] = here.server.requests.at(-1)?.results ?? [];
      expect(JSON.parse(list ?? "")).toEqual({ work: [] });
      expect(JSON.parse(started ?? "")).toMatchObject({
        exit_code: 0,
        forecast: { papers: 3 },
        budget: { max_minutes: 5 },
      });
      const { statements, quotes } = JSON.parse(answered ?? "") as { statements: object[]; quotes: object[] };
      expect(statements.length).toBeGreaterThan(0);
      expect(quotes).toContainEqual(expect.objectContaining({ key: expect.stringMatching(/^\w+\d{4}/) }));
      const page = /The report: (\S*researches\/hands\S*\/report\.html)/.exec(stdout)?.[1] ?? "";
      expect(existsSync(page)).toBe(true);
    });
  },
);
