import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import type { Invented } from "../../fixtures/invented-papers.js";
import { finished, newcomer } from "../update/finished-project.js";
import { sharedPackage } from "../../support/processes/built.js";
import { killProcesses } from "../../support/processes/kill-processes.js";
import { randomFrom } from "./random.js";
import { gitIsIdle, gitProcessesIn } from "./runs.js";

const kills = Number(process.env["RR_KILLS"] ?? 20);
const seed = Number(process.env["RR_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

let program: string;
beforeAll(async () => {
  program = join(await sharedPackage(), "dist/cli.js");
});

/** A finished project to which four things have happened: new, retracted, printed unchanged, dropped under another id. */
async function replayed() {
  const project = await finished({ target_papers: 8 });
  const { papers, alter, read, write, git } = project;
  const dropped = { id: "web_abc", title: "Tactile Grasping in the Dark", year: 2026, first_author: "Di Drop" };
  const rrd = read();
  write({ ...rrd, excluded: [...(rrd.excluded ?? []), { ...dropped, reason: "off topic", stage: "screened" }] });
  git("commit", "-qam", "by hand");
  const other: Partial<Invented> = { key: "p14", arxiv: "2606.00014", openalex: "W9000000014", authors: ["Di Drop"] };
  papers.push(newcomer, { ...newcomer, ...other, title: dropped.title });
  alter("p06", { retracted: true });
  const printed = { doi: "10.5555/inv.99", venue: "Journal of Invented Robotics", printed: "2026-06-25" };
  alter("p02", { ...printed, knownTo: ["arxiv", "openalex", "crossref"] });
  return project;
}
type Project = Awaited<ReturnType<typeof replayed>>;

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly ms: number;
}

/** One `update` of the built program; killed with its whole group after so many milliseconds. */
async function updateOnce({ home, folder }: Project, killAfter?: number, gitToo = false): Promise<Ended> {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [program, "update", folder, "--since", "2026-01-01", "--agent", "baseline", "--quiet"],
    {
      cwd: home,
      env: { PATH: process.env["PATH"], HOME: home, RESEARCH_RALPH_TRUST: "true", RESEARCH_RALPH_CHECK: "false" },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const closed = once(child, "close") as Promise<[number | null]>;
  if (killAfter !== undefined && child.pid !== undefined) {
    await Promise.race([sleep(killAfter), closed]);
    if (child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, "SIGKILL");
      if (gitToo) killProcesses(gitProcessesIn(home));
    }
  }
  const [code] = await closed;
  return { code, out, err, ms: performance.now() - began };
}

/** All that an update leaves, but for the times. */
function left({ read, lines, text, git }: Project) {
  const { updates = [], papers_pool: pool, insights, phase, excluded = [] } = read();
  const accepted = lines().flatMap(({ outcome, unit }) => (outcome === "accepted" ? [unit] : []));
  const asked = text("queries.jsonl")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { url: string }).url.replace(/127\.0\.0\.1:\d+/g, "here"));
  return {
    updates: updates.map(({ at: _, closed_at, iteration: __, ...rest }) => ({ ...rest, isClosed: closed_at != null })),
    pool: pool.map(({ id, status, retracted, identifiers, decision }) => [
      id,
      status,
      retracted,
      identifiers,
      decision,
    ]),
    insights: (insights ?? []).map(({ id, insight }) => [id, insight]),
    accepted: accepted.toSorted(),
    asked: asked.toSorted(),
    excluded: excluded.map(({ id }) => id).toSorted(),
    phase,
    report: text("research-report.md").match(/## What changed[\s\S]*?(?=## )/)?.[0],
    progress: (text("progress.txt").match(/^## .*$/gm) ?? []).map((head) => head.slice(14)).toSorted(),
    status: git("status", "--porcelain"),
  };
}

it(
  `SIGKILL of an update at ${kills} random instants loses nothing and doubles nothing`,
  { timeout: 6 * 60 * 60_000 },
  async () => {
    console.log(`RR_SEED=${seed} repeats these random numbers.`);
    const random = randomFrom(seed);
    const usual = await replayed();
    const whole = await updateOnce(usual);
    expect({ code: whole.code, err: whole.code === 0 ? "" : whole.err }).toEqual({ code: 0, err: "" });
    const expected = left(usual);
    expect(expected.updates).toMatchObject([{ id: "update-1", isClosed: true, new: ["arxiv_2606.00013"] }]);
    const tally = { kills: 0, projects: 0, before: 0, open: 0, closed: 0, locks: 0 };
    while (tally.kills < kills) {
      const project = await replayed();
      tally.projects += 1;
      let [isDone, said] = [false, ""];
      while (!isDone) {
        const isKilled = tally.kills < kills;
        const after = isKilled ? random.next() * whole.ms * 1.2 : undefined;
        const ended = await updateOnce(project, after, random.next() < 0.3);
        await gitIsIdle(project.home);
        said += ended.err;
        const { updates = [] } = project.read();
        expect(updates.length, ended.err).toBeLessThanOrEqual(1);
        if (ended.code === null) {
          tally.kills += 1;
          tally[updates[0] === undefined ? "before" : updates[0].closed_at === undefined ? "open" : "closed"] += 1;
        } else expect({ code: ended.code, err: ended.code === 0 ? "" : ended.err }).toEqual({ code: 0, err: "" });
        isDone = ended.code === 0;
        // A kill of git may leave its lock, which a person deletes who was told; the next run then commits what is left.
        const [, lock] = /git's lock (.+\.lock) exists/.exec(ended.err) ?? [];
        if (lock === undefined) continue;
        tally.locks += 1;
        rmSync(lock, { force: true });
        isDone = false;
      }
      expect(left(project), `RR_SEED=${seed} RR_KILLS=${kills} ${said}`).toEqual(expected);
      const [head, status] = [project.git("rev-parse", "HEAD"), project.git("status", "--porcelain")];
      const again = await updateOnce(project);
      expect([again.code, again.out]).toEqual([0, expect.stringContaining("nothing new")]);
      expect([project.git("rev-parse", "HEAD"), project.git("status", "--porcelain")]).toEqual([head, status]);
    }
    console.log(JSON.stringify(tally));
  },
);
