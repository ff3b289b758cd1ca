import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { sharedPackage } from "../../support/processes/built.js";
import { type Company, killUntilComplete, report, type Tally, undisturbed } from "./campaign.js";
import { randomFrom } from "./random.js";

const kills = Number(process.env["RR_KILLS"] ?? 30);
const lanes = Number(process.env["RR_LANES"] ?? 1);
const seed = Number(process.env["RR_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** The first five are one of each, so that few kills meet all. */
const companies: readonly Company[] = [
  "nobody",
  "git",
  "an editor",
  "more agents",
  "many agents",
  "nobody",
  "many agents",
  "more agents",
  "git",
  "nobody",
  "an editor",
];

let root: string;
beforeAll(async () => {
  root = await sharedPackage();
});

it(
  `SIGKILL of the process group at ${kills} random instants loses nothing, doubles nothing and changes nothing of the end`,
  { timeout: 6 * 60 * 60_000 },
  async () => {
    console.log(`RR_SEED=${seed} repeats these random numbers.`);
    const cli = join(root, "dist/cli.js");
    const random = randomFrom(seed);
    const usual = { script: await undisturbed(cli, "script"), baseline: await undisturbed(cli, "baseline") };
    const tally: Tally = {
      kills: 0,
      researches: 0,
      accepted: 0,
      staleLocks: 0,
      staleSaves: 0,
      together: 0,
      faults: [],
    };
    const means = { cli, usual, pace: { readyMs: 500, iterationMs: 100 }, tally };
    let begun = 0;
    // Few kills are spread over the five companies; many go through whole researches.
    const share = Math.ceil(kills / 5);
    const work = async (): Promise<void> => {
      while (tally.kills < kills && tally.faults.length === 0) {
        const before = tally.kills;
        const company = companies[begun++ % companies.length] ?? "nobody";
        await killUntilComplete(
          means,
          random.fork(),
          company,
          () => tally.kills >= kills || (kills < 100 && tally.kills - before >= share),
        );
        report(tally);
      }
    };
    await Promise.all(Array.from({ length: lanes }, work));
    const { faults, ...counts } = tally;
    console.log(JSON.stringify(counts));
    const again = `RR_SEED=${seed} RR_KILLS=${kills} RR_LANES=${lanes} npm run test:crash draws these instants again.`;
    if (faults.length > 0) throw new Error([...faults, again].join("\n"));
    expect(tally.kills).toBeGreaterThanOrEqual(kills);
  },
);
