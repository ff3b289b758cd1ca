import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { faultsIn, finalState, leftovers, type Results, results } from "./inspect.js";
import type { Random } from "./random.js";
import { keep } from "./person.js";
import { gitIsIdle, type Kill, type RunEnd, startRun } from "./runs.js";
import { makeWorld, type World, type WorldAgent } from "./world.js";

/**
 * Who else is at work: nobody, git with a checkpoint an iteration, a person whose editor saves old copies of rrd.json,
 * two more agents on other papers, or so many that their results are written together.
 */
export type Company = "nobody" | "git" | "an editor" | "more agents" | "many agents";

/** Agents at work at the same time. */
const jobsWith = (company: Company): number => ({ "more agents": 3, "many agents": 12 })[company as string] ?? 1;

/** How a research that nobody disturbed ends. */
export interface Undisturbed {
  readonly files: Readonly<Record<string, string>>;
  readonly results: Results;
}

/**
 * How long a start and an iteration take, in milliseconds: running means, as other programs come and go on the machine.
 */
export interface Pace {
  readyMs: number;
  iterationMs: number;
}

/** What a campaign needs besides a source of random numbers. */
export interface Means {
  readonly cli: string;
  readonly usual: Readonly<Record<WorldAgent, Undisturbed>>;
  readonly pace: Pace;
  readonly tally: Tally;
}

export interface Tally {
  kills: number;
  researches: number;
  /** Iterations that runs announced as accepted, and that were looked for. */
  accepted: number;
  /** Locks of git's that a kill left and a run reported. */
  staleLocks: number;
  staleSaves: number;
  /** Iterations that ended together with the one before. */
  together: number;
  readonly faults: string[];
}

export async function undisturbed(cli: string, agent: WorldAgent): Promise<Undisturbed> {
  const world = makeWorld(agent, false);
  try {
    const run = await startRun(cli, world);
    if (run.code !== 0) throw new Error(`the undisturbed run ended with ${run.code}: ${run.stderr}`);
    return { files: finalState(world), results: results(world) };
  } finally {
    world.remove();
  }
}

/**
 * Takes one fresh research to its end through kills at random instants; adds what was seen to the tally. It stops early
 * once `enough()`.
 */
export async function killUntilComplete(
  { cli, usual, pace, tally }: Means,
  random: Random,
  company: Company,
  enough: () => boolean,
): Promise<void> {
  // What changes while an agent runs that nothing confines is set aside, so a person's saves count for more beside a
  // confined one. Only confined agents work side by side.
  const jobs = jobsWith(company);
  const agent = company === "an editor" || jobs > 1 ? "baseline" : "script";
  const world = makeWorld(agent, company === "git", jobs);
  const fault = (what: string) => {
    tally.faults.push(`${company}, kill ${tally.kills}: ${what} (the folder is kept in ${keep(world.root)})`);
  };
  const settled = new Set<number>();
  let kills = 0;
  try {
    const editor = company === "an editor" ? openEditor(world, random.fork(), tally) : undefined;
    while (!enough()) {
      const run = await startRun(cli, world, nextKill(pace, random, company));
      keepPace(pace, run);
      if (company === "git") await asAPerson(world, run, tally, fault);
      for (const iteration of settledBy(run, world)) settled.add(iteration);
      tally.accepted += run.events.filter(
        (event) => event.type === "iteration-ended" && event.outcome.outcome === "accepted",
      ).length;
      tally.together += run.events.filter(
        ({ type }, index) => type === "iteration-ended" && run.events[index - 1]?.type === type,
      ).length;
      if (run.code !== undefined) {
        if (run.code !== 0) fault(`a run ended by itself with ${run.code}: ${lastWords(run)}`);
        break;
      }
      tally.kills += 1;
      for (const what of faultsIn(world, settled, editor === undefined ? usual[agent].results : undefined)) fault(what);
      if (++kills > maxKills) {
        fault(`no end after ${maxKills} kills`);
        break;
      }
    }
    await editor?.close();
    await finish(cli, world, usual[agent], company, fault, tally);
    tally.researches += 1;
  } finally {
    world.remove();
  }
}

/** About 18 iterations, of which a run gets two before it is killed: more kills than this is no progress. */
const maxKills = 150;

function nextKill(pace: Pace, random: Random, company: Company): Kill {
  const gitToo = company === "git" && random.next() < 0.8;
  if (random.next() < 0.3) return { delayMs: random.next() * 1.2 * pace.readyMs, gitToo };
  return { ended: Math.floor(random.next() * 4), delayMs: random.next() * 1.2 * pace.iterationMs, gitToo };
}

function keepPace(pace: Pace, { readyMs, events }: RunEnd): void {
  const times = events.filter(({ type }) => type === "iteration-ended").map(({ at }) => Date.parse(at));
  const mean = (old: number, young: number): number => old * 0.8 + young * 0.2;
  if (readyMs !== undefined) pace.readyMs = mean(pace.readyMs, readyMs);
  for (const [index, time] of times.slice(1).entries())
    pace.iterationMs = mean(pace.iterationMs, time - (times[index] ?? time));
}

/** Once an iteration begins, all before it have been recovered; once one is announced, it stands itself. */
function settledBy({ events }: RunEnd, { jobs }: World): number[] {
  const ended = events.flatMap((event) => (event.type === "iteration-ended" ? [event.iteration] : []));
  // Side by side others may be under way as one begins or ends, and the number of one that was lost is not used again.
  if (jobs > 1) return ended;
  const begun = events.flatMap((event) => (event.type === "iteration-started" ? [event.iteration - 1] : []));
  return Array.from({ length: Math.max(0, ...ended, ...begun) }, (_, index) => index + 1);
}

const lastWords = ({ stderr, events }: RunEnd): string =>
  `${stderr.trim().split("\n").at(-1)} ${JSON.stringify(events.at(-1) ?? "")}`;

/**
 * A kill of git may leave its lock. A run reports it, leaves it alone and goes on; a person who was told deletes it
 * once no git runs. Returns whether there was one.
 */
async function asAPerson(world: World, run: RunEnd, tally: Tally, fault: (what: string) => void): Promise<boolean> {
  await gitIsIdle(world.root);
  const told = run.events.flatMap((event) =>
    event.type === "notice" ? (/git's lock (.+\.lock) exists/.exec(event.message)?.[1] ?? []) : [],
  );
  // One that was reported may have been that of a git of the run before, which has ended since.
  const stale = [...new Set(told)].filter((lock) => existsSync(lock));
  for (const lock of stale) {
    tally.staleLocks += 1;
    // A complete project has no iteration left.
    if (run.code !== 0 && !run.events.some((event) => event.type === "iteration-ended"))
      fault(`${lock} stopped the run`);
    rmSync(lock);
  }
  return stale.length > 0;
}

/** The last run, which nobody disturbs: it must come to the end, and the end must be the usual one. */
async function finish(
  cli: string,
  world: World,
  usual: Undisturbed,
  company: Company,
  fault: (what: string) => void,
  tally: Tally,
): Promise<void> {
  let run = await startRun(cli, world);
  // Its commit is made up for by the next run.
  if (company === "git" && (await asAPerson(world, run, tally, fault))) run = await startRun(cli, world);
  if (run.code !== 0) return void fault(`the last run ended with ${run.code}: ${lastWords(run)}`);
  const lines = readFileSync(join(world.folder, "ledger.jsonl"), "utf8").trimEnd().split("\n");
  const ledger = new Set(lines.map((line) => (JSON.parse(line) as LedgerLine).iteration));
  for (const what of [
    ...faultsIn(world, ledger, company === "an editor" ? undefined : usual.results),
    ...leftovers(world).map((name) => `${name} is left over`),
  ])
    fault(what);

  if (company === "an editor" || jobsWith(company) > 1)
    return void difference("the results", JSON.stringify(results(world)), JSON.stringify(usual.results), fault);
  const files = finalState(world);
  for (const [name, text] of Object.entries(usual.files)) difference(name, files[name] ?? "", text, fault);
  if (company !== "git") return;

  const git = (...args: string[]) => execa("git", args, { cwd: world.folder, env: world.env, reject: false });
  const fsck = await git("fsck", "--no-dangling", "--no-progress");
  if (fsck.failed) fault(`git fsck: ${fsck.stderr}`);
  const whole = readFileSync(join(world.folder, "ledger.jsonl"), "utf8");
  const told = run.events.some((event) => event.type === "notice" && event.message.startsWith("No checkpoint"));
  const committed = await git("show", "HEAD:./ledger.jsonl");
  if (!told && `${committed.stdout}\n` !== whole) fault("the last commit does not hold the whole ledger");
}

function difference(name: string, found: string, wanted: string, fault: (what: string) => void): void {
  if (found === wanted) return;
  const at = [...wanted].findIndex((char, index) => char !== found[index]);
  const from = Math.max(0, (at === -1 ? wanted.length : at) - 120);
  fault(
    `${name} differs: ${JSON.stringify(found.slice(from, from + 300))} instead of ${JSON.stringify(wanted.slice(from, from + 300))}`,
  );
}

const editorProgram = fileURLToPath(new URL("editor.mjs", import.meta.url));

function openEditor(world: World, random: Random, tally: Tally): { close(): Promise<void> } {
  const seed = String(Math.floor(random.next() * 2 ** 32));
  const editor = spawn(process.execPath, [editorProgram, join(world.folder, "rrd.json"), seed], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  editor.stdout.on("data", (text: Buffer) => (tally.staleSaves += text.toString().trim().split("\n").length));
  const ended = once(editor, "exit");
  return {
    async close() {
      editor.stdin.end();
      await ended;
    },
  };
}

/** Leaves the counts where RR_REPORT says, for programs that run the tests. */
export function report(tally: Tally): void {
  const path = process.env["RR_REPORT"];
  if (path !== undefined) writeFileSync(path, JSON.stringify(tally));
}
