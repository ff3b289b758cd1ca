// What the loop costs an iteration: the time from the end of one run of a do-nothing agent to the start of the next,
// less what the agent's start costs in a loop of bare Node. Next to it, in the same run, what the disk and git cost
// bare; and what the loop does in that time.
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeAgent, writeResearch } from "./fixture.mjs";
import { cli, inFolder, median, ms, mustRun, root } from "./measure.mjs";

const iterations = 20;
const folder = "researches/bench-2025-01-01";
const trace = join(root, "bench/trace.mjs");

/** Milliseconds between each run of the agent and the next. */
function gaps(spans) {
  const runs = readFileSync(spans, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" ").map(Number));
  rmSync(spans);
  return runs.slice(1).map(([start], index) => (start - runs[index][1]) / 1e6);
}

/** Milliseconds of each of `iterations` calls. */
async function timesOf(work) {
  const times = [];
  for (let index = 0; index < iterations; index++) {
    const from = performance.now();
    await work(index);
    times.push(performance.now() - from);
  }
  return times;
}

/**
 * A project whose last `iterations` papers are unread, and an agent that reads one at once; also as a CLI that confines
 * itself.
 */
async function prepare(cwd, git) {
  const agent = writeAgent(cwd);
  const program = join(cwd, "claude.sh");
  const said = [
    '{"type":"system","subtype":"init","model":"none"}',
    '{"type":"result","subtype":"success","is_error":false,"result":"done"}',
  ];
  writeFileSync(program, `#!/bin/sh\n${agent.command}\n${said.map((line) => `echo '${line}'`).join("\n")}\n`);
  chmodSync(program, 0o755);
  // What is asked of the network for each paper has limits of its own, and is prepared while agents work.
  const sources = { GitHub: { off: true }, "Hugging Face": { off: true } };
  const config = { git, sources, agents: { claude: { command: program } } };
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify(config));
  writeResearch(join(cwd, folder), { papers: 30, pending: iterations });
  const env = { ...process.env, XDG_STATE_HOME: join(cwd, "state"), HOME: cwd };
  if (git) await mustRun("git", ["init", "-q"], { cwd, env });
  return { agent, program, env };
}

/** The gaps of one run of `most` iterations, and with `parts` what it did and its CPU time in milliseconds. */
async function underTheLoop({ git, confined, parts = false, most = iterations }) {
  return await inFolder(async (cwd) => {
    const { agent, env } = await prepare(cwd, git);
    const flags = confined ? ["--agent", "claude"] : ["--agent", `cmd:${agent.command}`, "--unconfined"];
    const traced = parts ? ["--import", trace] : [];
    const traces = join(cwd, "trace.json");
    const run = [...traced, cli, "run", folder, ...flags, "-i", String(most)];
    await mustRun(process.execPath, run, { cwd, env: { ...env, RR_TRACE: traces } }, [0, 3]);
    const refused = readFileSync(join(cwd, folder, "ledger.jsonl"), "utf8")
      .trim()
      .split("\n")
      .find((line) => {
        const { outcome, evidence } = JSON.parse(line);
        return outcome !== "accepted" || evidence?.could_not_check > 0;
      });
    if (refused !== undefined) throw new Error(`an iteration was not accepted, or its quote not found: ${refused}`);
    const found = gaps(agent.spans);
    if (found.length !== most - 1) throw new Error(`the agent ran ${found.length + 1} times, not ${most}`);
    if (!parts) return { found };
    const told = JSON.parse(readFileSync(traces, "utf8"));
    return { found, parts: told.parts, cpu: (told.cpu.user + told.cpu.system) / 1000 };
  });
}

/** The same agents started one after the other by bare Node. */
async function bareStarts(confined) {
  return await inFolder(async (cwd) => {
    const { agent, program } = await prepare(cwd, false);
    const input = '{"unit": "paper_11"}\n';
    for (let index = 0; index < iterations; index++)
      await (confined ? mustRun(program, [], { cwd, input }) : mustRun("sh", ["-c", agent.command], { cwd, input }));
    return gaps(agent.spans);
  });
}

/** Writing, syncing and renaming as many bytes as the state has. */
async function bareWrites() {
  return await inFolder(async (cwd) => {
    writeResearch(cwd, { papers: 30, pending: iterations });
    const text = readFileSync(join(cwd, "rrd.json"));
    return await timesOf(() => {
      const file = openSync(join(cwd, "new"), "w");
      writeFileSync(file, text);
      fsyncSync(file);
      closeSync(file);
      renameSync(join(cwd, "new"), join(cwd, "rrd.json"));
    });
  });
}

/** `git commit` of the state, changed each time. */
async function bareCommits() {
  return await inFolder(async (cwd) => {
    writeResearch(cwd, { papers: 30, pending: iterations });
    const git = (...args) =>
      mustRun("git", ["-c", "user.name=b", "-c", "user.email=b@localhost", "-c", "gc.auto=0", ...args], { cwd });
    await git("init", "-q");
    await git("add", "rrd.json");
    await git("commit", "-q", "-m", "begin");
    const text = readFileSync(join(cwd, "rrd.json"), "utf8");
    const times = [];
    for (let index = 0; index < iterations; index++) {
      writeFileSync(join(cwd, "rrd.json"), text.replace("Generated", `Generated ${index}`));
      const from = performance.now();
      await git("commit", "-q", "-m", "next", "--only", "--", "rrd.json");
      times.push(performance.now() - from);
    }
    return times;
  });
}

const times = (value, bare) => `${(value / bare).toFixed(1)} ×`;

/** The parts an iteration spends most on: calls, and milliseconds added up. */
const named = (parts) =>
  Object.entries(parts)
    .toSorted(([, a], [, b]) => b.ms - a.ms)
    .slice(0, 8)
    .map(([name, part]) => `${name} ${(part.ms / iterations).toFixed(1)} (${Math.round(part.calls / iterations)})`)
    .join(", ");

/** Confined and unconfined, compared with a bare write, fsync and rename. */
export async function measureOverhead() {
  // The disk's mood changes: a bare write before, between and after.
  const bare = await bareWrites();
  const less = { confined: median(await bareStarts(true)), unconfined: median(await bareStarts(false)) };
  const confined = median((await underTheLoop({ git: false, confined: true })).found) - less.confined;
  bare.push(...(await bareWrites()));
  const unconfined = median((await underTheLoop({ git: false, confined: false })).found) - less.unconfined;
  bare.push(...(await bareWrites()));
  const few = 2;
  const [whole, start] = [
    await underTheLoop({ git: false, confined: false, parts: true }),
    await underTheLoop({ git: false, confined: false, parts: true, most: few }),
  ];
  const cpu = (whole.cpu - start.cpu) / (iterations - few);
  const write = median(bare);
  return {
    bare: `${ms(write)} (write, fsync, rename)`,
    ours: `confined ${ms(confined)}, ${times(confined, write)}; unconfined ${ms(unconfined)}, ${times(unconfined, write)}; CPU ${ms(cpu)} unconfined; ms (calls) of its parts, which overlap: ${named(whole.parts)}`,
  };
}

/** What checkpoints add, compared with a bare commit. */
export async function measureCommits() {
  const bare = await bareCommits();
  const without = median((await underTheLoop({ git: false, confined: true })).found);
  const withGit = median((await underTheLoop({ git: true, confined: true })).found);
  bare.push(...(await bareCommits()));
  const commit = median(bare);
  return { bare: `${ms(commit)} (git commit)`, ours: `${ms(withGit - without)}, ${times(withGit - without, commit)}` };
}
