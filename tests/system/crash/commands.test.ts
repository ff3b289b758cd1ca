import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseLedger } from "../../../src/engine/storage/state/ledger.js";
import { type FlowRow, flowCounts } from "../../../src/research/derived/flow-counts.js";
import { openResearch } from "../../../src/research/project-files/research.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { serveScholars } from "../../fixtures/scholar-server.js";
import { sharedPackage } from "../../support/processes/built.js";
import { timeless, withoutHistory } from "./inspect.js";
import { act, type Desk, type Ended, instantIn, keep, newDesk, tryOut } from "./person.js";
import { type Random, randomFrom } from "./random.js";
import { movesFrom, sitThrough, sitUntil } from "./sitting.js";

const kills = Number(process.env["RR_COMMAND_KILLS"] ?? 12);
const seed = Number(process.env["RR_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const hasTerminals = spawnSync("script", ["-qec", "exit 3", "/dev/null"]).status === 3;

/** What was killed, and how often; `part` and `reset` by their kind. */
type Tally = Map<string, number>;

interface Means {
  readonly cli: string;
  readonly tally: Tally;
  readonly random: Random;
  readonly enough: () => boolean;
}

const textOf = ({ folder }: Desk, name: string): string =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : "";

/** What the commands of a person and a run leave, without times. */
function state(desk: Desk): string {
  const text = (name: string) => textOf(desk, name);
  return [
    withoutHistory(timeless(text("rrd.json"))),
    timeless(text("ledger.jsonl")),
    timeless(text("progress.txt")),
  ].join("\n");
}

/** The same once the next command has completed what the last one left. */
async function settled(desk: Desk): Promise<string> {
  const research = await openResearch(desk.folder, {
    derive,
    git: false,
    isShortCommand: true,
    notify: () => undefined,
  });
  await research.close();
  return state(desk);
}

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((all, one) => all + one, 0);
const leaves = (row: FlowRow): number => row.duplicates + sum(row.removed) + row.notScreened + row.screened;

/** What is wrong in the project whatever the command was, a sentence each. */
function faultsIn(desk: Desk): string[] {
  const rrd = desk.rrd();
  const ids = [...rrd.papers_pool, ...(rrd.excluded ?? [])].map(({ id }) => id);
  const { lines, notices } = parseLedger(textOf(desk, "ledger.jsonl"), "ledger.jsonl");
  const iterations = lines.map(({ iteration }) => iteration);
  const logged = Array.from(textOf(desk, "progress.txt").matchAll(/^Iteration: (\d+)$/gm), ([, number]) =>
    Number(number),
  );
  const twice = (what: string, all: readonly (string | number)[]) =>
    all.filter((each, at) => all.indexOf(each) !== at).map((each) => `${what} ${each} stands twice`);
  const { searched, other } = flowCounts(rrd);
  return [
    ...notices,
    ...twice("record", ids),
    ...twice("the ledger line of iteration", iterations),
    ...twice("the log entry of iteration", logged),
    ...Object.entries({ searched, other }).flatMap(([name, row]) =>
      sum(row.identified) === leaves(row)
        ? []
        : [`the flow of ${name} does not add up: ${sum(row.identified)} identified, ${leaves(row)} further on`],
    ),
    ...rrd.papers_pool.filter(({ key }) => key === undefined).map(({ id }) => `${id} has no key`),
  ];
}

const pick = <Each>(all: readonly Each[], random: Random): Each | undefined =>
  all[Math.floor(random.next() * all.length)];

interface Step {
  readonly name: string;
  readonly args: readonly string[];
}

/** Some more often, as there are often no records that they could be about. */
const kindsOfSteps = [
  ...["join", "join", "join", "part", "part", "part", "add", "add", "add", "decide"],
  ...["reset --paper", "reset --unit", "reset --to", "reset --undo"],
];

/** A command that a person may give now; undefined where there is nothing for it to do. */
function stepFrom(desk: Desk, random: Random): Step | undefined {
  const rrd = desk.rrd();
  const paper = () => pick(rrd.papers_pool, random)?.id ?? "";
  /** Two that stand alike: what a person cannot join is no step. */
  const pair = () => {
    const one = pick(rrd.papers_pool, random);
    const other = pick(
      rrd.papers_pool.filter(({ id, status }) => id !== one?.id && status === one?.status),
      random,
    );
    return one === undefined || other === undefined ? undefined : [desk.folder, one.id, other.id];
  };
  const duplicate = pick(
    (rrd.excluded ?? []).filter(({ duplicate_of: of }) => of !== undefined),
    random,
  );
  const named: Record<string, () => readonly string[] | undefined> = {
    join: () => pair(),
    part: () => (duplicate === undefined ? undefined : [desk.folder, duplicate.id]),
    decide: () => [desk.folder, paper(), pick(["include", "exclude"], random) ?? "include", "It is what I say."],
    "reset --paper": () => [desk.folder, "--paper", paper()],
    "reset --unit": () => [desk.folder, "--unit", pick(["report", "discovery"], random) ?? "report"],
    "reset --to": () => [desk.folder, "--to", String(2 + Math.floor(random.next() * 8))],
    "reset --undo": () => [desk.folder, "--undo"],
    add: () => [desk.folder, desk.newList()],
  };
  const name = pick(kindsOfSteps, random) ?? "";
  const [command = ""] = name.split(" ");
  const args = named[name]?.();
  return args === undefined ? undefined : { name, args: [command, ...args] };
}

class Fault extends Error {}

/** Kills one command until it has got through; each time all or nothing of it stands. */
async function throughKills({ cli, tally, random, enough }: Means, desk: Desk, { name, args }: Step): Promise<void> {
  const before = await tryOut(desk.folder, () => settled(desk));
  let usual: Ended | undefined;
  const after = await tryOut(desk.root, async () => {
    usual = await act(cli, desk, args);
    return usual.code === 0 ? await settled(desk) : undefined;
  });
  // What a person asked for makes no sense now, such as to join a record with itself.
  if (usual === undefined || after === undefined) return;
  for (;;) {
    const ended = await act(cli, desk, args, enough() ? undefined : instantIn(usual, random));
    const found = await tryOut(desk.folder, async () => [await settled(desk), ...faultsIn(desk)] as const);
    const [stands, ...faults] = found;
    if (faults.length > 0) throw new Fault(`${args.join(" ")}: ${faults.join("; ")}`);
    if (ended.code === undefined) tally.set(name, (tally.get(name) ?? 0) + 1);
    else if (ended.code !== 0) throw new Fault(`${args.join(" ")} ended with ${ended.code}: ${ended.err}`);
    if (stands === after) return;
    if (ended.code === 0 || stands !== before)
      throw new Fault(`${args.join(" ")} is half done: ${firstDifference(stands, ended.code === 0 ? after : before)}`);
  }
}

/** So often a run is killed; the next one is left alone. */
const maxKills = 25;

/** Kills a run until it is complete: it ends as one that nobody disturbed. */
async function runThroughKills({ cli, tally, random, enough }: Means, desk: Desk, name: string): Promise<void> {
  const args = ["run", desk.folder, "--agent", "baseline", "--quiet", "-i", "200"];
  let usual: Ended | undefined;
  const after = await tryOut(desk.root, async () => {
    usual = await act(cli, desk, args);
    if (usual.code !== 0) throw new Fault(`the undisturbed run ended with ${usual.code}: ${usual.err}`);
    return await settled(desk);
  });
  if (usual === undefined) return;
  let units = 0;
  for (let runs = 0; ; runs += 1) {
    // A run is killed early enough for there to be several.
    const part = { ...usual, ms: Math.min(usual.ms, 1500), writes: Math.min(usual.writes, 60) };
    const ended = await act(cli, desk, args, runs === maxKills || enough() ? undefined : instantIn(part, random));
    const faults = await tryOut(desk.folder, async () => {
      await settled(desk);
      return faultsIn(desk);
    });
    const now = textOf(desk, "ledger.jsonl").split("\n").length;
    if (now < units) faults.push(`the ledger had ${units} lines and has ${now}`);
    units = now;
    if (faults.length > 0) throw new Fault(`${name}: ${faults.join("; ")}`);
    if (ended.code === undefined) tally.set(name, (tally.get(name) ?? 0) + 1);
    else if (ended.code === 0) break;
    else throw new Fault(`${name} ended with ${ended.code}: ${ended.err}`);
  }
  const stands = await settled(desk);
  if (stands !== after) throw new Fault(`${name} ends otherwise: ${firstDifference(stands, after)}`);
}

/** Kills a session at the terminal: every decision that was answered by the next record stands. */
async function screenThroughKills({ cli, tally, random }: Means, desk: Desk): Promise<void> {
  const moves = movesFrom(random);
  // What the command before has left to be completed is no matter of the session.
  await settled(desk);
  const states = await tryOut(desk.root, () => sitThrough(desk, moves, () => state(desk)));
  const instant = {
    records: Math.floor(random.next() * (moves.length + 1)),
    delayMs: random.next() * 60,
    gitToo: random.next() < 0.5,
  };
  if (instant.records === 0) instant.delayMs *= 5;
  const { isKilled, shown, said } = await sitUntil(cli, desk, moves, instant);
  const stands = await tryOut(desk.folder, async () => {
    const now = await settled(desk);
    return [now, ...faultsIn(desk)] as const;
  });
  const [now, ...faults] = stands;
  if (faults.length > 0) throw new Fault(`screen ${moves.join(" ")}: ${faults.join("; ")}`);
  // What is shown last was drawn after the decisions before it; one more may be on the disk already.
  const allowed = states.slice(Math.max(0, shown - 1), Math.max(1, shown + 1));
  if (!allowed.includes(now))
    throw new Fault(
      `screen ${JSON.stringify(moves)}, ${shown} records shown: ${firstDifference(now, allowed[0] ?? "")}\n${said.slice(-500)}`,
    );
  if (isKilled) tally.set("screen", (tally.get("screen") ?? 0) + 1);
  // Another session goes on from there.
  await sitUntil(cli, desk, ["i", "q"], { records: 99, delayMs: 0, gitToo: false });
}

function firstDifference(found: string, wanted: string): string {
  const at = [...wanted].findIndex((char, index) => char !== found[index]);
  const from = Math.max(0, (at === -1 ? wanted.length : at) - 150);
  return `${JSON.stringify(found.slice(from, from + 400))} instead of ${JSON.stringify(wanted.slice(from, from + 400))}`;
}

/** What a finished project must show after all of it. */
async function inspectEnd(means: Means, desk: Desk): Promise<void> {
  const quiet: Means = { ...means, enough: () => true };
  await runThroughKills(quiet, desk, "last run");
  const checked = await act(means.cli, desk, ["validate", desk.folder]);
  if (checked.code !== 0) throw new Fault(`validate: ${checked.out}${checked.err}`);
  const git = (...args: string[]) =>
    spawnSync("git", args, { cwd: desk.root, env: desk.env, encoding: "utf8" }).stdout.trim();
  const open = git("status", "--porcelain", "researches");
  if (open !== "") throw new Fault(`after the last run git status says: ${open}`);
  const left = readdirSync(join(desk.folder, ".ralph"), { recursive: true, encoding: "utf8" }).filter((name) =>
    /^lock|\.ralph-tmp$|^journal\/\d/.test(name),
  );
  if (left.length > 0) throw new Fault(`left over: ${left.join(", ")}`);
}

it(
  `SIGKILL of a person's commands at ${kills} random instants leaves each done or not done, and every decision`,
  { timeout: 6 * 60 * 60_000 },
  async () => {
    console.log(`RR_SEED=${seed} repeats these random numbers.`);
    const cli = join(await sharedPackage(), "dist/cli.js");
    const scholars = await serveScholars(undefined, []);
    const random = randomFrom(seed);
    const tally: Tally = new Map();
    const enough = () => sum(tally) >= kills;
    try {
      for (let desks = 1; !enough(); desks += 1) {
        const means: Means = { cli, tally, random: random.fork(), enough };
        const desk = newDesk(cli, scholars.sources);
        try {
          // Few kills are spread over everything.
          const share = sum(tally) + Math.ceil(kills / 4);
          await runThroughKills(
            { ...means, enough: () => enough() || (kills < 100 && sum(tally) >= share) },
            desk,
            "run of lists",
          );
          for (let steps = 0; steps < 40 && !enough(); steps += 1) {
            if (hasTerminals && steps % 4 > 0) await screenThroughKills(means, desk);
            const step = stepFrom(desk, means.random);
            if (step !== undefined) await throughKills(means, desk, step);
          }
          await inspectEnd(means, desk);
        } catch (error) {
          if (!(error instanceof Fault)) throw error;
          const how = `RR_SEED=${seed} RR_COMMAND_KILLS=${kills} npx vitest run -c vitest.crash.config.ts commands`;
          throw new Error(
            `Desk ${desks}, after ${sum(tally)} kills: ${error.message}\n${how} draws the same commands and instants again; the folder is kept in ${keep(desk.root)}.`,
            { cause: error },
          );
        }
        desk.remove();
        console.log(JSON.stringify({ kills: sum(tally), ...Object.fromEntries(tally) }));
      }
    } finally {
      await scholars.close();
    }
    expect(sum(tally)).toBeGreaterThanOrEqual(kills);
  },
);
