import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { besideModel } from "../../support/network/beside-model.js";
import { killProcesses } from "../../support/processes/kill-processes.js";
import { noRedis, type RedisServer, startRedis } from "../../support/network/redis.js";
import { concise, smallProject } from "../../support/projects/small-project.js";
import {
  letLocksRunOut,
  processesWith,
  type Program,
  quickProgram,
  quickTimes,
  start,
  run,
} from "../fleet/support/programs.js";
import { until } from "../fleet/support/rig.js";
import { optionsFor, startFakeLlm } from "./support/agents.js";
import { installed } from "./support/install.js";

const here = besideModel("fleet");
let redis: RedisServer;
let worker: Program | undefined;

for (const name of ["claude", "codex"] as const) {
  const found = installed(name);
  const why = "problem" in found ? found.problem : noRedis;
  describe.skipIf(why !== undefined)(
    `the real ${name} on another machine${why === undefined ? "" : ` (skipped: ${why})`}`,
    () => {
      beforeEach(async () => {
        redis = await startRedis();
      });
      afterEach(async () => {
        if (worker?.child.exitCode === null && worker.child.pid !== undefined) killProcesses([worker.child.pid]);
        await worker?.ended;
        await redis.stop();
      });

      test("does a whole research: every quote is found, and the ledger has its tokens and its worker", async () => {
        here.server = await startFakeLlm(concise);
        const home = join(here.folder, "worker");
        mkdirSync(home);
        // Only the worker knows how the agent is started, and has its key.
        writeFileSync(
          join(home, "ralph.config.json"),
          JSON.stringify({ agents: { [name]: optionsFor(name, here.server, home) } }),
        );
        const root = await smallProject(here.folder, {});
        const cli = join(here.built, "dist", "cli.js");
        worker = start(cli, ["worker", "--agent", name, "--concurrency", "2", "--redis", redis.url], home);
        const { said } = worker;
        await until(() => said().includes(`offers ${name}`));
        const ended = await run(
          process.execPath,
          [cli, "run", "small-matter", "--agent", `fleet:${name}`, "--redis", redis.url],
          root,
        );
        expect([ended.code, ended.out.trim().split("\n").at(-1), ended.err]).toEqual([
          0,
          "<promise>COMPLETE</promise>",
          expect.any(String),
        ]);
        const research = join(root, "researches", "small-matter");
        const rrd = JSON.parse(readFileSync(join(research, "rrd.json"), "utf8")) as Rrd;
        for (const { analysis } of rrd.papers_pool)
          expect(analysis?.evidence?.map(({ status }) => status)).toEqual(["verified", "verified", "verified"]);
        const ledger = readFileSync(join(research, "ledger.jsonl"), "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as LedgerLine);
        expect(ledger).toHaveLength(5);
        for (const line of ledger)
          expect(line).toMatchObject({
            agent: `fleet:${name}`,
            outcome: "accepted",
            confinement: "workspace",
            worker: expect.any(String),
            tokens: { input: 1000, requests: 1 },
          });
        worker.child.kill("SIGTERM");
        expect((await worker.ended).code).toBe(0);
      });

      test("killed at work with its worker, then with its run: no process stays, and every unit is accepted once", async () => {
        here.server = await startFakeLlm((request) => ({ ...(concise(request) as object), delayMs: 3_000 }));
        const home = join(here.folder, "worker");
        mkdirSync(home);
        const config = { agents: { [name]: optionsFor(name, here.server, home) }, state_dir: join(home, "state") };
        writeFileSync(join(home, "ralph.config.json"), JSON.stringify(config));
        const root = await smallProject(here.folder, {});
        const cli = await quickProgram();
        const env = quickTimes({ lease: 4_000, look: 300, noWorker: 60_000 });
        const offer = async (): Promise<Program> => {
          const one = start(cli, ["worker", "--json", "--agent", name, "--redis", redis.url], home, env);
          await until(() => one.said().includes('"ready"'));
          return one;
        };
        const begin = (): Program =>
          start(cli, ["run", "small-matter", "--agent", `fleet:${name}`, "--redis", redis.url], root, env);
        /** The model is asked, and its answer is not there yet. */
        const isAsked = async (before: number): Promise<void> => {
          await until(() => here.server.requests.length > before);
          await new Promise((resolve) => setTimeout(resolve, 500));
        };
        worker = await offer();
        let project = begin();
        await isAsked(0);
        worker.child.kill("SIGKILL");
        await worker.ended;
        await letLocksRunOut(redis);
        let asked = here.server.requests.length;
        worker = await offer();
        await isAsked(asked);
        project.child.kill("SIGKILL");
        await project.ended;
        asked = here.server.requests.length;
        project = begin();
        await isAsked(asked);
        expect([(await project.ended).code, project.said()]).toEqual([0, expect.any(String)]);
        const ledger = readFileSync(join(root, "researches", "small-matter", "ledger.jsonl"), "utf8");
        const lines = ledger
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as LedgerLine);
        const accepted = lines.flatMap(({ outcome, unit }) => (outcome === "accepted" ? [unit] : []));
        expect([accepted.length, new Set(accepted).size]).toEqual([5, 5]);
        worker.child.kill("SIGTERM");
        expect((await worker.ended).code).toBe(0);
        await until(() => processesWith(home).length === 0);
      });
    },
  );
}
