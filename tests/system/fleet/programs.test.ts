import { randomInt, randomUUID } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { sharedPackage } from "../../support/processes/built.js";
import { killProcesses } from "../../support/processes/kill-processes.js";
import { noRedis, redisNote, type RedisServer, startRedis } from "../../support/network/redis.js";
import { sampleResearch } from "../../support/projects/research-folder.js";
import {
  hasBegun,
  letLocksRunOut,
  offered,
  offering,
  processesWith,
  type Program,
  quickProgram,
  quickTimes,
  start,
  run,
} from "./support/programs.js";
import { fresh, until } from "./support/rig.js";

let server: RedisServer;
let built: string;
const started: Program[] = [];
const launch = (...args: Parameters<typeof start>): Program => {
  const program = start(...args);
  started.push(program);
  return program;
};
const ledgerOf = (folder: string): LedgerLine[] =>
  readFileSync(join(folder, "ledger.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LedgerLine);
/** The arguments of a run of one unit. */
const oneUnit = (agents: string): string[] => ["run", "--agent", agents, "--redis", server.url, "-i", "1", "--no-git"];
const researchIn = (cwd: string): string => join(cwd, "researches", readdirSync(join(cwd, "researches"))[0] ?? "");

describe.skipIf(noRedis !== undefined)(`the built program over Redis${redisNote}`, () => {
  beforeAll(async () => {
    built = join(await sharedPackage(), "dist/cli.js");
  });
  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    const left = started.splice(0);
    killProcesses(left.flatMap(({ child }) => (child.exitCode === null && child.pid !== undefined ? [child.pid] : [])));
    await Promise.all(left.map(({ ended }) => ended));
    await server.stop();
  });

  test("the demo over three workers gives the records and the report of a local run, times and who did it apart", async () => {
    const [here, local] = [fresh(), fresh()];
    const workers = [1, 2, 3].map(() =>
      launch(built, ["worker", "--agent", "baseline", "--concurrency", "2", "--redis", server.url], fresh()),
    );
    await until(() => workers.every(({ said }) => said().includes("offers baseline")));
    const [distant, usual] = await Promise.all([
      run(process.execPath, [built, "demo", "--agent", "fleet:baseline", "--redis", server.url], here),
      run(process.execPath, [built, "demo"], local),
    ]);
    expect([distant.code, usual.code, distant.out]).toEqual([0, 0, usual.out]);
    const timeless = (cwd: string, name: string): string =>
      readFileSync(join(researchIn(cwd), name), "utf8")
        .replaceAll("fleet:baseline", "baseline")
        // How long it took; and the names of agents are part of what the history counts.
        .replaceAll(
          /"(?:avg_seconds_per_paper|total_chars_before|total_tokens_saved|last_compression_ratio)": [\d.]+/g,
          "COUNTED",
        )
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
        .replaceAll(/"(?:[a-z_]*(?:ms|seconds|minutes)|wall_time)": [\d.]+/g, "TOOK")
        // Of the report too: "<1s" or "1m 5s".
        .replaceAll(/(?:<|&lt;)?\b(?:\d+h )?(?:\d+m )?\d+(?:\.\d+)? ?(?:ms|s|seconds?|minutes?)\b/g, "TOOK");
    for (const name of ["rrd.json", "research-report.md", "product-ideas.json", "references.bib"])
      expect(timeless(here, name), name).toEqual(timeless(local, name));
    const ledger = ledgerOf(researchIn(here)).filter(({ agent }) => agent !== undefined);
    expect(new Set(ledger.map(({ worker }) => worker)).size).toBeGreaterThan(0);
    for (const line of ledger)
      expect(line).toMatchObject({ agent: "fleet:baseline", confinement: "workspace", worker: expect.any(String) });

    for (const { child } of workers) child.kill("SIGTERM");
    expect((await Promise.all(workers.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(await server.redis.keys("rr:*:worker:*")).toEqual([]);
  });

  test("with six lanes the same records come about", async () => {
    const [here, local] = [fresh(), fresh()];
    const worker = launch(
      built,
      ["worker", "--agent", "baseline", "--concurrency", "6", "--redis", server.url],
      fresh(),
    );
    await until(() => worker.said().includes("offers baseline"));
    const [distant, usual] = await Promise.all([
      run(process.execPath, [built, "demo", "--agent", "fleet:baseline", "--redis", server.url], here, {
        RESEARCH_RALPH_JOBS: "6",
      }),
      run(process.execPath, [built, "demo"], local),
    ]);
    expect([distant.code, usual.code]).toEqual([0, 0]);
    const records = (cwd: string) => {
      const rrd = JSON.parse(readFileSync(join(researchIn(cwd), "rrd.json"), "utf8")) as {
        papers_pool: {
          id: string;
          status: string;
          score?: number;
          analysis?: { summary?: string; evidence?: unknown[] };
        }[];
      };
      return rrd.papers_pool
        .map(({ id, status, score, analysis }) => ({
          id,
          status,
          score,
          summary: analysis?.summary,
          evidence: analysis?.evidence,
        }))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    };
    expect(records(here)).toEqual(records(local));
  });

  test("neither library is loaded by --version and by a local run, and both are where they are needed", async () => {
    const cwd = fresh();
    const trace = join(cwd, "trace.cjs");
    writeFileSync(
      trace,
      `process.on("exit", () => { const found = Object.keys(require.cache).filter((path) => /node_modules\\/(bullmq|ioredis)\\//.test(path)); require("node:fs").writeFileSync(${JSON.stringify(join(cwd, "loaded"))}, String(found.length)); });`,
    );
    const loaded = async (...args: string[]) => {
      await run(process.execPath, ["--require", trace, built, ...args], cwd, { RESEARCH_RALPH_REDIS: server.url });
      return Number(readFileSync(join(cwd, "loaded"), "utf8"));
    };
    expect(await loaded("--version")).toBe(0);
    expect(await loaded("demo", "--quiet")).toBe(0);
    expect(await loaded("fleet")).toBeGreaterThan(10);
  });

  test(
    "a worker that is killed leaves no agent: the next one ends it, and the job is begun again elsewhere",
    { timeout: 120_000 },
    async () => {
      const program = await quickProgram();
      const [cwd, home] = [fresh(), fresh()];
      const env = quickTimes();
      // Of this try alone: what an earlier one has left is not taken for its agent.
      const mark = `rr-mark-${randomUUID()}`;
      // It works for a minute at its first call, and at once at the next one.
      const agent = `cmd:sh -c 'if [ -e ${home}/again ]; then cat >/dev/null; echo "{}"; else touch ${home}/again; sleep 100000; : ${mark}; fi'`;
      const args = offering(agent, server.url);
      const first = await offered(launch(program, args, home, env));
      sampleResearch(cwd);
      const project = launch(program, oneUnit(`fleet:${agent}`), cwd, env);
      await until(() => hasBegun(project) && existsSync(join(home, "again")));
      first.child.kill("SIGKILL");
      await first.ended;
      // On the host it goes on for nobody.
      expect(processesWith(mark).length).toBeGreaterThan(0);
      await letLocksRunOut(server);
      const second = launch(program, args, home, env);
      await until(() => second.said().includes("its agents were still running"));
      expect(processesWith(mark).filter((pid) => pid !== second.child.pid && pid !== project.child.pid)).toEqual([]);
      await project.ended;
      expect(project.said()).toContain("starts the job again");
      expect(readdirSync(join(home, ".local/state/research-ralph/fleet"))).toHaveLength(1);
    },
  );

  test("a worker that was stopped and wakes later changes nothing", async () => {
    const program = await quickProgram();
    const [cwd, asleep, awake] = [fresh(), fresh(), fresh()];
    const env = quickTimes({ look: 300 });
    // Its answer says where it was at work.
    const go = join(asleep, "go");
    const agent = `cmd:sh -c 'until [ -e ${go} ]; do sleep 0.1; done; cat > /dev/null; echo "{\\"unit\\":\\"$HOME\\"}"'`;
    const args = offering(agent, server.url);
    const first = await offered(launch(program, args, asleep, env));
    sampleResearch(cwd);
    const project = launch(program, oneUnit(`fleet:${agent}`), cwd, env);
    await until(() => hasBegun(project));
    first.child.kill("SIGSTOP");
    await letLocksRunOut(server);
    const second = launch(program, args, awake, env);
    await until(() => project.said().includes("starts the job again"));
    first.child.kill("SIGCONT");
    // Both are at work until then, however slow the machine is.
    await until(() => first.said().includes("not wanted"));
    writeFileSync(go, "");
    expect((await project.ended).code).toBe(3);
    const [line, ...more] = ledgerOf(join(cwd, "researches/grasping-2026-03-01")).filter(
      ({ outcome }) => outcome !== undefined,
    );
    expect(more).toEqual([]);
    expect(second.said()).toContain(line?.worker ?? "nobody");
    expect(first.said()).not.toContain(" said after");
  });

  test("a second run of a project elsewhere wins: the first ends as blocked, and not with its other agent", async () => {
    const program = await quickProgram();
    const [earlier, later, home] = [fresh(), fresh(), fresh()];
    const env = { TEST_FLEET_TIMES: JSON.stringify({ lease: 6_000, checkInterval: 300 }) };
    const go = join(home, "go");
    writeFileSync(join(home, "agent.sh"), `until [ -e ${go} ]; do sleep 0.1; done; cat > /dev/null; echo "{}"`);
    const agent = `cmd:sh ${home}/agent.sh`;
    await offered(launch(program, offering(agent, server.url), home, env));
    sampleResearch(earlier);
    const first = launch(program, oneUnit(`fleet:${agent},baseline`), earlier, env);
    await until(() => hasBegun(first));
    // The lock is of one machine, and stays there.
    const isNoLock = (path: string): boolean => basename(path) !== "lock";
    cpSync(join(earlier, "researches"), join(later, "researches"), { recursive: true, filter: isNoLock });
    const second = launch(program, oneUnit(`fleet:${agent}`), later, env);
    expect([(await first.ended).code, first.said()]).toEqual([5, expect.stringContaining("started elsewhere")]);
    expect(ledgerOf(researchIn(earlier)).map(({ agent }) => agent)).not.toContain("baseline");
    writeFileSync(go, "");
    expect((await second.ended).code).toBe(3);
  });

  test("Ctrl+C twice ends an agent on another machine", async () => {
    const program = await quickProgram();
    const [cwd, home] = [fresh(), fresh()];
    const span = `2${randomInt(1_000_000, 9_000_000)}`;
    const agent = `cmd:sh -c 'touch ${home}/begun; sleep ${span}'`;
    const worker = await offered(launch(program, offering(agent, server.url), home));
    sampleResearch(cwd);
    const project = launch(program, ["run", "--agent", `fleet:${agent}`, "--redis", server.url, "--no-git"], cwd);
    await until(() => existsSync(join(home, "begun")));
    project.child.kill("SIGINT");
    // Two at once are delivered as one.
    await until(() => project.said().includes("press Ctrl+C again to stop at once"));
    project.child.kill("SIGINT");
    expect((await project.ended).code).toBe(130);
    await until(() => processesWith(`sleep\u0000${span}`).length === 0);
    await until(() => worker.said().includes("not wanted"));
  });
});
