import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newRrd } from "../../../src/research/workflow/new-research.js";
import { answers, numbers, papers, sample } from "./answers.js";

/** A folder with one research that has not begun, its papers, and an agent that answers at once. */
export interface World {
  readonly root: string;
  /** The research's folder. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Agents at work at the same time. */
  readonly jobs: number;
  /** Arguments of the command line for a run to the end. */
  readonly args: readonly string[];
  remove(): void;
}

/** `script` answers at once from prepared files; `baseline` is the built-in agent, which is confined. */
export type WorldAgent = "script" | "baseline";

/**
 * It writes by the workspace's path, as real agents do: one that outlives its run may then meet the next run's
 * workspace.
 */
const script = `cat > brief.txt
unit=$(sed -n '/^<unit>$/,/^<\\/unit>$/s/^ "unit": "\\([^"]*\\)",*$/\\1/p' brief.txt | head -n 1)
answer="$1/$unit"
if [ -f "$answer.first.json" ] && ! grep -q -e '"repair"' -e 'The last result was refused' brief.txt; then answer="$answer.first"; fi
cp "$answer.json" "$PWD/result.json"
[ "$unit" = ideas ] && echo '<promise>COMPLETE</promise>'
exit 0
`;

const agents: Readonly<Record<WorldAgent, (root: string) => string[]>> = {
  script: (root) => ["--agent", `cmd:sh ${join(root, "agent.sh")} ${join(root, "answers")}`, "--unconfined"],
  baseline: () => ["--agent", "baseline"],
};

export function makeWorld(agent: WorldAgent, withGit: boolean, jobs = 1): World {
  // The length of the path counts in briefs, so it is the same for all.
  const root = realpathSync(mkdtempSync(join(tmpdir(), "rr-crash-")));
  const folder = join(root, "researches", "grippers-2026-01-01");
  for (const each of [folder, join(root, "texts"), join(root, "answers")]) mkdirSync(each, { recursive: true });
  for (const number of numbers)
    writeFileSync(join(root, "texts", `${String(number).padStart(2, "0")}.md`), sample(number));
  for (const [name, answer] of Object.entries(answers))
    writeFileSync(join(root, "answers", `${name}.json`), JSON.stringify(answer));
  writeFileSync(join(root, "agent.sh"), script);
  // While this hook is asked of one of many agents, others end.
  const hooks = jobs > 3 ? { hooks: [{ on: ["accepted"], run: "sleep 0.05", veto: true }] } : {};
  writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ git: withGit, ...hooks }));

  const about = {
    name: "grippers of all kinds",
    description: "A research to be killed.",
    focus_area: "grippers",
    keywords: ["gripper"],
  };
  const rrd = {
    ...newRrd({ papers, sources: ["folder:texts"], rubric: "original" }, about),
    custom: { kept: "a field that nobody knows" },
  };
  writeFileSync(join(folder, "rrd.json"), `${JSON.stringify(rrd, null, 2)}\n`);
  const env = {
    PATH: process.env["PATH"],
    HOME: root,
    XDG_STATE_HOME: join(root, "state"),
    RESEARCH_RALPH_CHECK: "false",
    GIT_CONFIG_NOSYSTEM: "1",
    // For the hooks written above.
    RESEARCH_RALPH_TRUST: "true",
  };
  if (withGit) execFileSync("git", ["init", "-q", "-b", "main"], { cwd: root, env });
  return {
    root,
    folder,
    env,
    jobs,
    args: ["run", folder, "--json", "-i", "200", "--jobs", String(jobs), ...agents[agent](root)],
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}
