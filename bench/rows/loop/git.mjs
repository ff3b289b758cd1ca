import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { cpuOf } from "../../cpu.mjs";
import { writeAgent, writeResearch } from "../../fixture.mjs";
import { cli, inFolder, ms, mustRun, size } from "../../measure.mjs";

const [few, many] = [size(2, 1), size(12, 2)];

export const row = {
  name: "git",
  what: `git's processes, and the CPU that git adds, an iteration of research and of a task; and of start and end together; agents that nothing confines`,
  hold: "≤ 5 processes an iteration of research, ≤ 8 of a task",
  command: "npm run bench -- git",
  async run() {
    const told = [];
    for (const [name, prepare] of [
      ["research", prepareResearch],
      ["task", prepareTask],
    ])
      told.push(`${name} ${await measure(prepare)}`);
    return { ours: told.join("<br>") };
  },
};

/** A run of as many iterations, in a repository or not: its CPU seconds; where `counted`, how often it started git. */
async function runOf(prepare, iterations, git, counted) {
  return await inFolder(async (top) => {
    const cwd = join(top, "project");
    const log = join(top, "git.log");
    mkdirSync(cwd);
    if (git) execFileSync("git", ["init", "-q"], { cwd });
    const args = [cli, ...prepare(cwd, top, iterations, git)];
    const path = counted ? `${listening(top, log)}${delimiter}${process.env.PATH}` : process.env.PATH;
    const env = { ...process.env, PATH: path, XDG_STATE_HOME: join(top, "state"), HOME: top };
    if (!counted) return await cpuOf(process.execPath, args, { cwd, env }, [0, 3]);
    await mustRun(process.execPath, args, { cwd, env }, [0, 3]);
    return readFileSync(log, "utf8").trim().split("\n").length;
  });
}

/** A folder with a `git` that notes each of its starts. */
function listening(top, log) {
  const folder = join(top, "bin");
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  mkdirSync(folder);
  writeFileSync(join(folder, "git"), `#!/bin/sh\necho "$*" >> '${log}'\nexec '${real}' "$@"\n`, { mode: 0o755 });
  return folder;
}

/** Of two runs of different length: what an iteration takes, and what is left for start and end. */
async function split(take) {
  const [short, long] = [await take(few), await take(many)];
  const each = (long - short) / (many - few);
  return { each, rest: short - few * each };
}

async function measure(prepare) {
  const processes = await split((iterations) => runOf(prepare, iterations, true, true));
  const withGit = await split((iterations) => runOf(prepare, iterations, true, false));
  const without = await split((iterations) => runOf(prepare, iterations, false, false));
  const cpu = (part) => ms((withGit[part] - without[part]) * 1000);
  return `${processes.each.toFixed(1)} processes, CPU ${cpu("each")} an iteration; start and end ${processes.rest.toFixed(0)}, CPU ${cpu("rest")}`;
}

/** A research of that many unread papers; answers with the arguments of its run. */
function prepareResearch(cwd, top, iterations, git) {
  const folder = "researches/bench-2025-01-01";
  const sources = { GitHub: { off: true }, "Hugging Face": { off: true } };
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ git, sources }));
  writeResearch(join(cwd, folder), { papers: 30, pending: iterations });
  return ["run", folder, "--agent", `cmd:${writeAgent(top).command}`, "--unconfined", "-i", String(iterations)];
}

/** A task each of whose iterations makes one more of its files. */
function prepareTask(cwd, top, iterations) {
  const agent = join(top, "agent.sh");
  writeFileSync(agent, "N=$(($(ls *.txt 2>/dev/null | wc -l) + 1))\necho $N > $N.txt\n");
  const acceptance_criteria = Array.from({ length: iterations }, (_, index) => ({
    type: "file_exists",
    path: `${index + 1}.txt`,
  }));
  writeFileSync(
    join(cwd, "ralph.json"),
    JSON.stringify({ task: "Make the files.", acceptance_criteria, max_iterations: iterations }),
  );
  return ["task", "--agent", `cmd:sh ${agent}`, "--unconfined", "--sandbox", "host"];
}
