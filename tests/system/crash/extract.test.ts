import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Extracted, Rrd } from "../../../src/research/generated/rrd.js";
import { sharedPackage } from "../../support/processes/built.js";
import { randomFrom } from "./random.js";

const kills = Number(process.env["RR_EXTRACT_KILLS"] ?? 6);
const seed = Number(process.env["RR_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
console.log(`RR_SEED=${seed} repeats these random numbers.`);
const askedName = "asked.log";

/** Runs a command in `root`, and kills it with all that it started after `delayMs`; its exit code, none of a killed one. */
async function act(cli: string, root: string, words: readonly string[], delayMs?: number): Promise<number | null> {
  const env = { PATH: process.env["PATH"], HOME: root, RESEARCH_RALPH_TRUST: "true" };
  const child = spawn(process.execPath, [cli, ...words, "--quiet"], {
    cwd: root,
    env,
    detached: true,
    stdio: "ignore",
  });
  const ended = once(child, "close");
  if (delayMs !== undefined) {
    const hasEnded = (await Promise.race([ended.then(() => true), sleep(delayMs, false)])) as boolean;
    if (!hasEnded && child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }
  await ended;
  return child.exitCode;
}

async function extract(cli: string, root: string, delayMs?: number): Promise<number | null> {
  const agent = `cmd:${process.execPath} ${fileURLToPath(new URL("form-agent.mjs", import.meta.url))} ${join(root, askedName)}`;
  const agents = ["--agent", agent, "--second-reader", agent, "--unconfined"];
  return act(
    cli,
    root,
    ["extract", "--field", "tendon friction: what is said", "--yes", "--no-git", ...agents],
    delayMs,
  );
}

const folderOf = (root: string): string => {
  const [name = ""] = readdirSync(join(root, "researches"));
  return join(root, "researches", name);
};

const linesOf = (path: string): string[] => {
  const whole = existsSync(path) ? readFileSync(path, "utf8") : "";
  return whole
    .slice(0, whole.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "");
};
const askedIn = (root: string) => linesOf(join(root, askedName));
const acceptedIn = (root: string) =>
  linesOf(join(folderOf(root), "ledger.jsonl"))
    .map((line) => JSON.parse(line) as LedgerLine)
    .flatMap(({ outcome, unit }) => (outcome === "accepted" && unit.startsWith("extract-") ? [unit] : []));

/** What the forms hold, without the numbers of iterations and the agents' addresses, and the table of the report. */
function left(root: string) {
  const folder = folderOf(root);
  const { papers_pool } = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
  const said = (all: readonly Extracted[] = []) => all.map(({ by: _, iteration: __, ...rest }) => rest);
  const report = readFileSync(join(folder, "research-report.md"), "utf8");
  return {
    forms: papers_pool.map((paper) => [
      paper.id,
      said(paper.extracted),
      said(paper.extracted_again),
      (paper.fill_form ?? []).length,
    ]),
    table: report.split("\n").filter((line) => line.startsWith("| [")),
    accepted: acceptedIn(root).toSorted(),
  };
}

test(
  `SIGKILL at ${kills} random instants of extract loses no form, and asks nobody for one again that was accepted`,
  { timeout: 60 * 60_000 },
  async () => {
    const cli = join(await sharedPackage(), "dist/cli.js");
    const random = randomFrom(seed);
    const base = realpathSync(mkdtempSync(join(tmpdir(), "extract-kills-")));
    expect(await act(cli, base, ["demo", "--no-git"])).toBe(0);
    const fresh = (): string => {
      const root = realpathSync(mkdtempSync(join(tmpdir(), "extract-kills-")));
      cpSync(base, root, { recursive: true });
      return root;
    };
    const undisturbed = fresh();
    const begun = Date.now();
    expect(await extract(cli, undisturbed)).toBe(0);
    const whole = Date.now() - begun;
    const expected = left(undisturbed);
    expect(new Set(expected.accepted).size).toBe(expected.accepted.length);
    expect(expected.accepted.length).toBeGreaterThan(6);
    expect(askedIn(undisturbed).toSorted()).toEqual(expected.accepted);
    expect(JSON.stringify(expected.forms)).toContain('"status":"verified"');
    let done = 0;
    for (let rounds = 0; done < kills; rounds += 1) {
      expect(rounds, "too few runs were killed").toBeLessThan(6 * kills + 20);
      const root = fresh();
      let [accepted, asked]: [string[], number] = [[], 0];
      const look = (): void => {
        const now = acceptedIn(root);
        expect(now.slice(0, accepted.length), "what was accepted stays so").toEqual(accepted);
        const again = askedIn(root).slice(asked);
        expect(
          again.filter((unit) => accepted.includes(unit)),
          "nothing is paid twice",
        ).toEqual([]);
        [accepted, asked] = [now, askedIn(root).length];
      };
      for (; done < kills; done += 1) {
        const code = await extract(cli, root, random.next() * 0.7 * whole);
        look();
        if (code !== null) break;
      }
      expect(await extract(cli, root)).toBe(0);
      look();
      expect(left(root), `RR_SEED=${seed} RR_EXTRACT_KILLS=${kills}, after ${done} kills`).toEqual(expected);
      rmSync(root, { recursive: true, force: true });
    }
    for (const root of [undisturbed, base]) rmSync(root, { recursive: true, force: true });
  },
);
