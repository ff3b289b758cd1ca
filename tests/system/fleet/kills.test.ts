import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseLedger } from "../../../src/engine/storage/state/ledger.js";
import { join } from "node:path";
import { killProcesses } from "../../support/processes/kill-processes.js";
import { noRedis, redisNote, type RedisServer, startRedis } from "../../support/network/redis.js";
import { faultsIn, type Results, results } from "../crash/inspect.js";
import { randomFrom } from "../crash/random.js";
import { makeWorld, type World } from "../crash/world.js";
import { processesWith, type Program, quickProgram, start, run } from "./support/programs.js";
import { fresh, until } from "./support/rig.js";

/** Instants at which something is killed; `npm run test:system` tries few. */
const instants = Number(process.env["RR_FLEET_KILLS"] ?? 8);
const seed = Number(process.env["RR_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

const times = { lock: 6_000, stallCheck: 500, lease: 6_000, look: 300, announce: 500, silence: 800, noWorker: 2_000 };
/** What a program says that is started while Redis is away. */
const away = "could not be reached";
const env = { TEST_FLEET_TIMES: JSON.stringify(times), TEST_AGENT_MS: "2000" };

const twoPlaces = ["--agent", "baseline", "--concurrency", "2"];
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** The agents that a worker has begun and not ended, by what it said. */
const atWork = (worker: Program): number =>
  worker
    .said()
    .split("\n")
    .reduce((sum, line) => sum + Number(line.includes('"type":"begun"')) - Number(line.includes('"type":"ended"')), 0);

let program: string;
let server: RedisServer;
const running = new Set<Program>();
const launch = (...args: Parameters<typeof start>): Program => {
  const one = start(...args);
  running.add(one);
  void one.ended.then(() => running.delete(one));
  return one;
};

describe.skipIf(noRedis !== undefined)(`kills of workers, coordinators and Redis${redisNote}`, () => {
  beforeAll(async () => {
    [program, server] = [await quickProgram(), await startRedis()];
  });
  afterAll(async () => {
    killProcesses([...running].flatMap(({ child }) => child.pid ?? []));
    await Promise.all([...running].map(({ ended }) => ended));
    await server.stop();
  });

  test(
    `at ${instants} random instants lose nothing, double nothing and leave no process`,
    { timeout: 3_600_000 },
    async () => {
      console.log(`RR_SEED=${seed} repeats these random numbers.`);
      const random = randomFrom(seed);
      const usual = await undisturbed();
      const homes = [fresh(), fresh()];
      const worker = (home: string): Program =>
        launch(program, ["worker", "--json", ...twoPlaces, "--redis", server.url], home, env);
      const workers = homes.map(worker);
      const killed = { worker: 0, coordinator: 0, redis: 0 };
      const met = { ...killed };
      let [kills, projects, accepted, begunAgain] = [0, 0, 0, 0];
      while (kills < instants) {
        const world = makeWorld("baseline", false, 3);
        const settled = new Set<number>();
        const note = (said: string): void => {
          for (const [, iteration] of said.matchAll(/"type":"iteration-ended".*?"iteration":(\d+)/g))
            settled.add(Number(iteration));
          begunAgain += said.match(/starts the job again/g)?.length ?? 0;
        };
        const args = [...world.args.slice(0, -1), "fleet:baseline", "--redis", server.url];
        const begin = (): Program =>
          launch(program, args, world.root, { ...env, XDG_STATE_HOME: join(world.root, "state") });
        let project = begin();
        for (;;) {
          // Between two agents there is little to break: four of five kills wait for one that works.
          const isPatient = random.next() < 0.8;
          const waited = async (): Promise<false> => {
            const giveUp = performance.now() + (isPatient ? 10_000 : 0);
            await until(() => performance.now() >= giveUp || workers.some((each) => atWork(each) > 0));
            await pause(random.next() * (isPatient ? 800 : 2_500));
            return false;
          };
          const isOver = await Promise.race([project.ended.then(() => true), waited()]);
          for (const [at, home] of homes.entries())
            if (workers[at]?.said().includes(away) === true) workers[at] = worker(home);
          if (isOver && project.said().includes(away)) {
            project = begin();
            continue;
          }
          if (isOver) break;
          if (kills >= instants) continue;
          kills += 1;
          const victim = random.next();
          const busy = workers.map(atWork);
          const [one = 0, two = 0] = busy;
          if (victim < 0.5) {
            const at = one === two ? Number(victim < 0.25) : Number(two > one);
            killed.worker += 1;
            met.worker += Number((busy[at] ?? 0) > 0);
            workers[at]?.child.kill("SIGKILL");
            await workers[at]?.ended;
            workers[at] = worker(homes[at] ?? "");
          } else if (victim < 0.8) {
            killed.coordinator += 1;
            met.coordinator += Number(one + two > 0);
            project.child.kill("SIGKILL");
            await project.ended;
            note(project.said());
            project = begin();
          } else {
            killed.redis += 1;
            met.redis += Number(one + two > 0);
            await server.kill();
            await pause(random.next() * 1_500);
            await server.start();
          }
        }
        note(project.said());
        expect([(await project.ended).code, project.said().slice(-2_000)], `RR_SEED=${seed}`).toEqual([
          0,
          expect.any(String),
        ]);
        expect(faultsIn(world, settled, usual), `RR_SEED=${seed}`).toEqual([]);
        expect(results(world).papers, `RR_SEED=${seed}`).toEqual(usual.papers);
        const { lines } = parseLedger(readFileSync(join(world.folder, "ledger.jsonl"), "utf8"), "ledger.jsonl");
        const units = lines.flatMap(({ outcome, unit }) => (outcome === "accepted" ? [unit] : []));
        expect(
          units.filter((unit, at) => units.indexOf(unit) !== at),
          `RR_SEED=${seed}`,
        ).toEqual([]);
        projects += 1;
        accepted += units.length;
        world.remove();
      }
      for (const { child } of workers) child.kill("SIGTERM");
      expect((await Promise.all(workers.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([0, 0]);
      await until(() => homes.every((home) => processesWith(home).length === 0));
      for (const home of homes) rmSync(home, { recursive: true, force: true });
      const ofWhat = (["worker", "coordinator", "redis"] as const).map(
        (what) => `${killed[what]} of ${what} (${met[what]} with agents at work)`,
      );
      const row = `fleet | ${kills} kills: ${ofWhat.join(", ")} | ${projects} projects complete, ${accepted} units accepted, none twice, none lost | ${begunAgain} attempts begun again`;
      console.log(row);
      // Else this test shows nothing.
      expect(met.worker + met.coordinator + met.redis).toBeGreaterThan(kills / 3);
      const table = process.env["RR_FLEET_TABLE"];
      if (table !== undefined) appendFileSync(table, `${row}\n`);
    },
  );
});

/** How the research ends where nothing is killed, on one machine. */
async function undisturbed(): Promise<Results> {
  const world: World = makeWorld("baseline", false, 3);
  const { code, err } = await run(process.execPath, [program, ...world.args], world.root, {
    XDG_STATE_HOME: join(world.root, "state"),
  });
  expect([code, err]).toEqual([0, expect.any(String)]);
  const found = results(world);
  world.remove();
  return found;
}
