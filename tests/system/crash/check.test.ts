import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { ReportFile } from "../../../src/research/generated/report.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { sharedPackage } from "../../support/processes/built.js";
import { folderProject } from "../../support/projects/folder-project.js";
import { readPapers } from "../../support/projects/passages-for-controls.js";
import { randomFrom } from "./random.js";

const kills = Number(process.env["RR_CHECK_KILLS"] ?? 6);
const seed = Number(process.env["RR_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
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

/** Runs the project, and kills the run with all that it started after `delayMs`; whether it was killed. */
async function runUntil(cli: string, root: string, delayMs: number | undefined): Promise<boolean> {
  const args = [cli, "run", "hands", "--agent", agent, "--unconfined", "--quiet", "--no-git"];
  const env = { PATH: process.env["PATH"], HOME: root, RESEARCH_RALPH_TRUST: "true" };
  const child = spawn(process.execPath, args, { cwd: root, env, detached: true, stdio: "ignore" });
  const ended = once(child, "close");
  if (delayMs !== undefined) {
    const hasEnded = (await Promise.race([ended.then(() => true), sleep(delayMs, false)])) as boolean;
    if (!hasEnded && child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }
  await ended;
  return child.signalCode === "SIGKILL";
}

const linesOf = (folder: string): LedgerLine[] => {
  const path = join(folder, "ledger.jsonl");
  const whole = existsSync(path) ? readFileSync(path, "utf8") : "";
  return whole
    .slice(0, whole.lastIndexOf("\n") + 1)
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as LedgerLine]));
};
const acceptedIn = (folder: string) =>
  linesOf(folder).flatMap(({ outcome, unit }) => (outcome === "accepted" ? [unit] : []));

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
