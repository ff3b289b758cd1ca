import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { makeResearch } from "../../support/projects/research-folder.js";

beforeAll(sharedPackage, 180_000);

/** An agent that does every part of a paper's unit, and hangs in the part that the file `hang` names. */
const agent = `
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
const here = process.argv[2];
const unit = JSON.parse(/<unit>\\n([\\s\\S]*?)\\n<\\/unit>/.exec(readFileSync(0, "utf8"))[1]);
const role = unit.role ?? "draft";
if (existsSync(join(here, "hang")) && readFileSync(join(here, "hang"), "utf8") === role) setInterval(() => {}, 1000);
else {
  const points = { novelty: 3, feasibility: 3, time_to_poc: 3, value_market: 3, defensibility: 3, adoption: 3 };
  const blue_ocean = { market_creation: 3, first_mover_window: 2, network_effects: 2, strategic_clarity: 4 };
  const result = role === "critic"
    ? { unit: unit.unit, findings: [{ where: "results", problem: "It says forty, not fifty." }] }
    : { unit: unit.unit, summary: "It works.", methodology: "It measures.", results: role + " " + (role === "draft" ? "fifty" : "forty"),
        limitations: "Few.", implementations_found: [], commercialized: null, scores: { execution: points, blue_ocean },
        evidence: [{ claim: "Forty.", quote: "We measured forty hands in one week." }], insights: [], notes: "Fine." };
  writeFileSync("result.json", JSON.stringify(result));
}
`;

async function project() {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "rr-shared-units-")));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, "agent.mjs"), agent);
  writeFileSync(
    join(cwd, "paper.md"),
    "# Forty hands\n\nWe measured forty hands in one week. It went well. Each hand was measured twice, by two people who did not know of each other.\n",
  );
  const folder = makeResearch(cwd, "shared-2026-03-01", {
    phase: "ANALYSIS",
    requirements: { target_papers: 1, sources: ["samples"], keywords: ["grasping"] },
    papers_pool: [
      {
        id: "p1",
        title: "Forty hands",
        url: `file:${join(cwd, "paper.md")}`,
        pdf_url: `file:${join(cwd, "paper.md")}`,
        source: "samples",
        status: "pending",
      },
    ],
  });
  const command = `${process.execPath} ${join(cwd, "agent.mjs")} ${cwd}`;
  const settings = {
    git: false,
    state_dir: join(cwd, "state"),
    unconfined: true,
    agent: "thinker",
    agents: { thinker: { command }, doubter: { command } },
    think: { critic: "doubter", rounds: 1 },
    sandbox: "host",
  };
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify(settings));
  const dist = join(await sharedPackage(), "dist/cli.js");
  const env = { PATH: process.env["PATH"], HOME: cwd, RESEARCH_RALPH_TRUST: "true", RESEARCH_RALPH_CHECK: "false" };
  const ledger = () =>
    readFileSync(join(folder, "ledger.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as LedgerLine);
  return { cwd, folder, dist, env, ledger };
}

test.each([
  ["critic", ["draft"]],
  ["answer", ["draft", "critic"]],
] as const)(
  "a kill -9 while the %s is at work keeps what came before, and the next run goes on there",
  async (part, kept) => {
    const { cwd, folder, dist, env, ledger } = await project();
    writeFileSync(join(cwd, "hang"), part);
    const child = spawn(process.execPath, [dist, "run", folder, "--json", "-i", "9"], { cwd, env, detached: true });
    child.stderr.resume();
    const ended = once(child, "exit");
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line);
      const event = JSON.parse(line) as { type: string; role?: string };
      if (event.type === "iteration-started" && event.role === part) break;
    }
    process.kill(-Number(child.pid), "SIGKILL");
    await ended;
    expect(ledger().map(({ role, outcome }) => `${role} ${outcome}`)).toEqual(kept.map((role) => `${role} noted`));
    expect(existsSync(join(folder, ".ralph", "noted", "1.json"))).toBe(true);

    rmSync(join(cwd, "hang"));
    const again = await run(process.execPath, [dist, "run", folder, "-i", String(3 - kept.length)], cwd);
    expect(again.err).not.toContain("done again");
    expect(ledger().map(({ role, agent: by, outcome }) => `${role} ${by} ${outcome}`)).toEqual([
      "draft thinker noted",
      "critic doubter noted",
      "answer thinker accepted",
    ]);
    expect(readFileSync(join(folder, "rrd.json"), "utf8")).toContain('"results": "answer forty"');
  },
);
