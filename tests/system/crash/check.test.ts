import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Answer } from "../../../src/research/generated/answer.js";
import type { ReportFile } from "../../../src/research/generated/report.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { sharedPackage } from "../../support/processes/built.js";
import { folderProject } from "../../support/projects/folder-project.js";
import { readPapers } from "../../support/projects/passages-for-controls.js";
import { randomFrom } from "./random.js";

const kills = Number(process.env["RR_CHECK_KILLS"] ?? 6);
const seed = Number(process.env["RR_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
console.log(`RR_SEED=${seed} repeats these random numbers.`);
const agent = `cmd:${process.execPath} ${fileURLToPath(new URL("check-agent.mjs", import.meta.url))}`;

/** A project whose papers are read and whose report is not written. */
function project(): { root: string; folder: string } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "check-kills-")));
  const papers = readPapers();
  const folder = folderProject(root, "hands", Object.fromEntries(papers.map(({ id }) => [id, `# ${id}\n`])));
  const path = join(folder, "rrd.json");
  const rrd = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, JSON.stringify({ ...rrd, phase: "ANALYSIS", papers_pool: papers }));
  return { root, folder };
}

interface Ended {
  readonly isKilled: boolean;
  readonly out: string;
}

/** Runs a command of the project, and kills it with all that it started after `delayMs`. */
async function actUntil(
  cli: string,
  root: string,
  words: readonly string[],
  delayMs: number | undefined,
): Promise<Ended> {
  const args = [cli, ...words, "--agent", agent, "--unconfined", "--quiet", "--no-git"];
  const env = { PATH: process.env["PATH"], HOME: root, RESEARCH_RALPH_TRUST: "true" };
  const child = spawn(process.execPath, args, { cwd: root, env, detached: true, stdio: ["ignore", "pipe", "ignore"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const ended = once(child, "close");
  if (delayMs !== undefined) {
    const hasEnded = (await Promise.race([ended.then(() => true), sleep(delayMs, false)])) as boolean;
    if (!hasEnded && child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }
  await ended;
  return { isKilled: child.signalCode === "SIGKILL", out };
}
const runUntil = async (cli: string, root: string, delayMs: number | undefined): Promise<boolean> =>
  (await actUntil(cli, root, ["run", "hands"], delayMs)).isKilled;

function linesOf<Line>(folder: string, name: string): Line[] {
  const path = join(folder, name);
  const whole = existsSync(path) ? readFileSync(path, "utf8") : "";
  return whole
    .slice(0, whole.lastIndexOf("\n") + 1)
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]));
}
const acceptedIn = (folder: string) =>
  linesOf<LedgerLine>(folder, "ledger.jsonl").flatMap(({ outcome, unit }) => (outcome === "accepted" ? [unit] : []));

/** What a check leaves, without times and numbers of iterations. */
function left(folder: string) {
  const {
    iteration: _,
    written_at: __,
    check,
    ...report
  } = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as ReportFile;
  const { papers_pool, meaning, phase } = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
  const claims = papers_pool.map(({ analysis }) => analysis?.evidence?.map((each) => each.check?.verdict));
  return { report, by: check?.by, unproven: check?.unproven, claims, meaning, phase, accepted: acceptedIn(folder) };
}

test(
  `SIGKILL at ${kills} random instants of a report and its check loses no answer and counts none twice`,
  { timeout: 60 * 60_000 },
  async () => {
    const cli = join(await sharedPackage(), "dist/cli.js");
    const random = randomFrom(seed);
    const undisturbed = project();
    const begun = Date.now();
    await runUntil(cli, undisturbed.root, undefined);
    const whole = Date.now() - begun;
    const expected = left(undisturbed.folder);
    expect(expected.accepted).toEqual(["report", "check", "mend", "check"]);
    expect(expected.report.not_borne_out).toHaveLength(1);
    let done = 0;
    for (let rounds = 0; done < kills; rounds += 1) {
      expect(rounds, "too few runs were killed").toBeLessThan(6 * kills + 20);
      const { root, folder } = project();
      let before: string[] = [];
      while (done < kills && (await runUntil(cli, root, random.next() * 1.2 * whole))) {
        done += 1;
        // What was accepted stays accepted.
        const now = acceptedIn(folder);
        expect(now.slice(0, before.length)).toEqual(before);
        before = now;
      }
      await runUntil(cli, root, undefined);
      expect(left(folder), `RR_SEED=${seed} RR_CHECK_KILLS=${kills}, after ${done} kills`).toEqual(expected);
      rmSync(root, { recursive: true, force: true });
    }
    rmSync(undisturbed.root, { recursive: true, force: true });
  },
);

test(
  `SIGKILL at ${kills} random instants of ask --check keeps each answer that was told, and its check goes on, each step once`,
  { timeout: 60 * 60_000 },
  async () => {
    const cli = join(await sharedPackage(), "dist/cli.js");
    const random = randomFrom(seed);
    const { root, folder } = project();
    const words = (number: number) => [
      "ask",
      "hands",
      `What helps grip strength and finger reach (${number})?`,
      "--check",
    ];
    const begun = Date.now();
    await actUntil(cli, root, words(0), undefined);
    let whole = Date.now() - begun;
    const steps = ["answer", "checker-1", "mend", "checker-1"];
    let done = 0;
    const told: string[] = [];
    for (let round = 1; done < kills; round += 1) {
      expect(round, "too few commands were killed").toBeLessThan(6 * kills + 20);
      const from = Date.now();
      const { isKilled, out } = await actUntil(cli, root, words(round), random.next() * 1.1 * whole);
      if (isKilled) done += 1;
      else whole = Date.now() - from;
      if (out.includes("Warm milk")) told.push(`What helps grip strength and finger reach (${round})?`);
    }
    await actUntil(cli, root, words(99_999), undefined);
    const stopped = new Map(linesOf<Answer>(folder, "answers.jsonl").map(({ id, open }) => [id, open]));
    for (const [id, open] of stopped)
      if (open !== undefined) await actUntil(cli, root, ["ask", "hands", id, "--check"], undefined);

    const replay = `RR_SEED=${seed} RR_CHECK_KILLS=${kills} repeats it`;
    const answers = linesOf<Answer>(folder, "answers.jsonl");
    const ledger = linesOf<LedgerLine>(folder, "ledger.jsonl");
    expect(new Set(ledger.map(({ iteration }) => iteration)).size, replay).toBe(ledger.length);
    const questions = new Map(answers.map(({ id, question }) => [id, question]));
    expect(new Set(questions.values()).size, `a question has two answers; ${replay}`).toBe(questions.size);
    expect(
      told.filter((question) => ![...questions.values()].includes(question)),
      `told and not kept; ${replay}`,
    ).toEqual([]);
    for (const [id] of questions) {
      const rows = ledger.filter(({ unit }) => unit === id).map(({ role = "answer" }) => role);
      expect(rows, `${id}; ${replay}`).toEqual(steps);
      const kept = answers.filter((answer) => answer.id === id).map(({ statements }) => statements.length);
      expect(kept, `${id}; ${replay}`).toEqual([3, 3, 3, 2]);
    }
    expect(ledger.filter(({ unit }) => !questions.has(unit)).map(({ unit }) => unit)).toEqual([]);
    expect([...questions.values()].at(-1), replay).toBe("What helps grip strength and finger reach (99999)?");
    rmSync(root, { recursive: true, force: true });
  },
);
