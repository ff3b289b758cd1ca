import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeAgent, writeResearch } from "../fixture.mjs";
import { cli, inFolder, run } from "../measure.mjs";

const kills = Number(process.env.BENCH_KILLS ?? 100);
const papers = 30;
const folder = "researches/bench-2025-01-01";

export const row = {
  name: "crash",
  what: `${kills} SIGKILLs of the whole group at random instants: corrupt files; entries lost or doubled`,
  hold: "0; 0",
  command: `BENCH_KILLS=${kills} npm run bench -- crash`,
  async run() {
    const total = { kills: 0, accepted: 0, corrupt: 0, wrong: [] };
    while (total.kills < kills) await inFolder((cwd) => oneResearch(cwd, total));
    const wrong = total.wrong.length === 0 ? "0" : `${total.wrong.length} (${total.wrong[0]})`;
    return { ours: `${total.corrupt}; ${wrong} (${total.accepted} accepted records)` };
  },
};

/** Kills runs of one research until it is nearly done, lets a last run recover, and adds what is wrong to `total`. */
async function oneResearch(cwd, total) {
  const agent = writeAgent(cwd);
  const flags = ["run", folder, "--agent", `cmd:${agent.command}`, "--unconfined", "--json"];
  const options = { cwd, env: { ...process.env, XDG_STATE_HOME: join(cwd, "state"), HOME: cwd } };
  writeResearch(join(cwd, folder), { papers, pending: papers - 1 });
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ git: false }));

  const announced = new Set();
  let pending = papers - 1;
  while (pending > 5 && total.kills < kills) {
    for (const event of await killed([cli, ...flags], options)) {
      if (event.type === "iteration-ended" && event.outcome.outcome === "accepted") announced.add(event.iteration);
    }
    total.kills += 1;
    try {
      pending = JSON.parse(readFileSync(join(cwd, folder, "rrd.json"), "utf8")).papers_pool.filter(isPending).length;
    } catch {
      total.corrupt += 1;
      return;
    }
  }
  const last = await run(process.execPath, [cli, ...flags, "-i", "1"], options);
  if (last.code !== 3) throw new Error(`the run after the kills ended with ${last.code}: ${last.stderr.trim().split("\n").at(-1)}`);
  const { accepted, wrong } = inspect(join(cwd, folder), announced);
  total.accepted += accepted;
  total.wrong.push(...wrong);
}

/**
 * Starts a run, kills its process group at a random instant, and answers with the events it had printed.
 * Every third kill may hit the start-up and its recovery; the others come after the first event, however slow the machine is.
 */
async function killed(args, options) {
  const child = spawn(process.execPath, args, { ...options, detached: true, stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  const closed = new Promise((resolve) => child.on("close", resolve));
  if (Math.random() > 1 / 3) await Promise.race([closed, new Promise((resolve) => child.stdout.once("data", resolve))]);
  await sleep(Math.random() * 1000);
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It was faster than the kill.
  }
  await closed;
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  return whole
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const isPending = ({ status }) => status === "pending";

/** Every accepted iteration must stand once in the ledger, once in progress.txt and, decided, in rrd.json. */
function inspect(path, announced) {
  const read = (name) => readFileSync(join(path, name), "utf8");
  const ledger = read("ledger.jsonl")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const accepted = ledger.filter(({ outcome }) => outcome === "accepted");
  const entries = read("progress.txt").match(/^Iteration: \d+$/gm) ?? [];
  const pool = new Map(JSON.parse(read("rrd.json")).papers_pool.map((paper) => [paper.id, paper]));
  const times = (list, wanted) => list.filter((value) => value === wanted).length;
  const lines = ledger.map(({ iteration }) => iteration);
  const wrong = [
    ...[...announced]
      .filter((iteration) => times(lines, iteration) !== 1)
      .map((iteration) => `iteration ${iteration} was announced; ledger lines: ${times(lines, iteration)}`),
    ...lines.filter((iteration, index) => lines.indexOf(iteration) !== index).map((iteration) => `iteration ${iteration} stands twice in the ledger`),
    ...accepted
      .filter(({ unit }) => isPending(pool.get(unit) ?? { status: "pending" }))
      .map(({ unit }) => `${unit} is accepted in the ledger and pending in rrd.json`),
    ...accepted
      .filter(({ iteration }) => times(entries, `Iteration: ${iteration}`) !== 1)
      .map(({ iteration }) => `iteration ${iteration} stands ${times(entries, `Iteration: ${iteration}`)} times in progress.txt`),
  ];
  return { accepted: accepted.length, wrong };
}
