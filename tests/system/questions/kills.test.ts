import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { acquireLock } from "../../../src/engine/storage/lock.js";
import type { Answer } from "../../../src/research/generated/answer.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { randomFrom } from "../crash/random.js";

const kills = Number(process.env["RR_KILLS"] ?? 12);
const seed = Number(process.env["RR_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

let cli: string;
beforeAll(async () => {
  cli = join(await sharedPackage(), "dist/cli.js");
});

/** Lines of a log; a torn last one is mended by the next start. */
function linesOf<Line>(path: string): Line[] {
  const whole = readFileSync(path, "utf8");
  return whole
    .slice(0, whole.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

/** Starts the command in a process group of its own and kills the group after `delayMs`; what it printed until then. */
async function killed(
  args: readonly string[],
  cwd: string,
  delayMs: number,
): Promise<{ out: string; byItself: boolean }> {
  const child = spawn(process.execPath, [cli, ...args], { cwd, detached: true, stdio: ["ignore", "pipe", "ignore"] });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  const ended = once(child, "close");
  const hasEnded = (await Promise.race([ended.then(() => true), sleep(delayMs, false)])) as boolean;
  if (!hasEnded && child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  await ended;
  // One that ended in the same instant was not killed.
  return { out, byItself: child.signalCode !== "SIGKILL" };
}

test(
  `SIGKILL of ask at ${kills} random instants, also beside a run and of the run that takes its answers, loses and doubles nothing`,
  { timeout: 60 * 60_000 },
  async () => {
    console.log(`RR_SEED=${seed} repeats these random numbers.`);
    const random = randomFrom(seed);
    const root = realpathSync(mkdtempSync(join(tmpdir(), "ask-kills-")));
    const ended = await run(process.execPath, [cli, "demo", "--quiet"], root);
    expect(ended).toMatchObject({ code: 0 });
    const [name = ""] = readdirSync(join(root, "researches"));
    const folder = join(root, "researches", name);
    const papers = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")).papers_pool;
    const asking = (question: string) => ["ask", name, question, "--agent", "baseline", "--quiet"];
    const begun = Date.now();
    await run(process.execPath, [cli, ...asking("Which question was first about the hand?")], root);
    let whole = Date.now() - begun;
    const promised = ["Which question was first about the hand?"];
    const asked = new Set(promised);
    /** Kills by what they came upon; `finished`: rounds that ended by themselves, which count as none. */
    const counts = { direct: 0, inbox: 0, drain: 0, finished: 0 };
    const killsDone = () => counts.direct + counts.inbox + counts.drain;

    for (let round = 0; killsDone() < kills; round += 1) {
      expect(round, `too few rounds were killed: ${JSON.stringify(counts)}`).toBeLessThan(6 * kills + 20);
      const question = `How long does the calibration of hand ${round} take?`;
      const draw = random.next();
      const way = draw < 0.5 ? "direct" : draw < 0.8 ? "inbox" : "drain";
      const delay = random.next() * 1.2 * whole;
      if (way === "drain") {
        const { byItself } = await killed(["run", name, "--agent", "baseline", "--quiet"], root, delay);
        counts[byItself ? "finished" : way] += 1;
        continue;
      }
      asked.add(question);
      const lock = way === "inbox" ? await acquireLock(join(folder, ".ralph/lock"), { subject: "test" }) : undefined;
      const from = Date.now();
      const { out, byItself } = await killed(asking(question), root, delay);
      await lock?.release();
      // Other programs come and go on the machine: as many are to be killed late as early.
      counts[byItself ? "finished" : way] += 1;
      if (byItself) {
        whole = Date.now() - from;
      } else whole *= 1.1;
      // What was told to a person is kept, whatever came then.
      if (out.trim() !== "") promised.push(question);
    }

    // What waits is taken up by the next runs, and a later question finds its way as ever.
    for (const args of [
      ["run", name, "--agent", "baseline", "--quiet"],
      asking("Which question was last about the hand?"),
    ])
      expect(await run(process.execPath, [cli, ...args], root)).toMatchObject({ code: 0 });
    promised.push("Which question was last about the hand?");
    asked.add("Which question was last about the hand?");

    const replay = `RR_SEED=${seed} RR_KILLS=${kills} repeats it`;
    const answers = linesOf<Answer>(join(folder, "answers.jsonl"));
    const questions = answers.map(({ question }) => question);
    console.log(JSON.stringify({ ...counts, told: promised.length, kept: answers.length }));
    expect(new Set(questions).size, `a question was answered twice; ${replay}`).toBe(questions.length);
    expect(
      questions.filter((question) => !asked.has(question)),
      replay,
    ).toEqual([]);
    expect(
      promised.filter((question) => !questions.includes(question)),
      `told and not kept; ${replay}`,
    ).toEqual([]);
    const ledger = linesOf<LedgerLine>(join(folder, "ledger.jsonl"));
    const units = ledger.filter(({ unit, outcome }) => unit.startsWith("answer-") && outcome === "accepted");
    expect(units.map(({ unit }) => unit).toSorted(), replay).toEqual(answers.map(({ id }) => id).toSorted());
    expect(new Set(ledger.map(({ iteration }) => iteration)).size, replay).toBe(ledger.length);
    const rrd = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8"));
    expect({ phase: rrd.phase, papers: rrd.papers_pool }, replay).toEqual({ phase: "COMPLETE", papers });
    const log = readFileSync(join(folder, "progress.txt"), "utf8");
    for (const { id } of answers)
      expect(log.split(` - Question ${id}\n`), `${id} in the log; ${replay}`).toHaveLength(2);
    const checked = await run(process.execPath, [cli, "validate", name], root);
    expect(checked, replay).toMatchObject({ code: 0 });
    const left = readdirSync(join(folder, ".ralph")).filter((file) => /lock|\.tmp/.test(file));
    expect(left, replay).toEqual([]);
    rmSync(root, { recursive: true, force: true });
  },
);
