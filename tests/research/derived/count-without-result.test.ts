import { tmpdir } from "node:os";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCommand } from "../../../src/commands/run/run.js";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { limitIterations } from "../../../src/engine/loop/stop-conditions/limits.js";
import { stopWithoutResult } from "../../../src/engine/loop/stop-conditions/stuck.js";
import { writeMessage } from "../../../src/engine/storage/state/steering-inbox.js";
import { freshFolder, line, makeResearch, paper as found } from "../../support/projects/research-folder.js";
import { goodAgent, paper, reading, researchFolder, rrdWith, scriptedAgent } from "../../support/projects/research.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { withoutUndefined } from "../../../src/engine/lib/without-undefined.js";
import { resetStagnation, iterationsWithoutResult } from "../../../src/research/derived/observations.js";
import { researchWords } from "../../../src/research/project-files/words.js";

const refused = (iteration: number, more: Partial<LedgerLine> = {}) =>
  line(iteration, `p${iteration}`, { outcome: "refused", agent: "scripted", ...more });
const rows = (count: number, more: Partial<LedgerLine> = {}) =>
  Array.from({ length: count }, (_, n) => refused(n + 1, more));
const rrd = (loop: Rrd["loop"], more: Partial<Rrd> = {}): Rrd => ({
  ...rrdWith([paper("p1")], more),
  ...withoutUndefined({ loop }),
});

/** Different wrong answers, so that no loop shows. */
const wrong = scriptedAgent((unit, { iteration }) => ({
  result: { ...reading(String(unit["unit"])), scores: { execution: { novelty: 6 + iteration } } },
}));
const runOf = (folder: ReturnType<typeof researchFolder>, most: number, agent = wrong) =>
  folder.run(agent, most, { stopConditions: [limitIterations(most), stopWithoutResult(researchWords)] });

describe("what counts as going nowhere", () => {
  test("iterations without an accepted result since the last one, a reset, or the last act of a person", () => {
    expect(iterationsWithoutResult(rrd({}), rows(4))).toHaveLength(4);
    expect(iterationsWithoutResult(rrd({}), [...rows(4), line(5, "p5"), refused(6)])).toHaveLength(1);
    expect(
      iterationsWithoutResult(rrd({}), [...rows(4), line(5, "p5", { outcome: "reset" }), refused(6)]),
    ).toHaveLength(1);
    expect(iterationsWithoutResult(rrd({ stagnation_since: 3 }), rows(4))).toHaveLength(1);
    expect(iterationsWithoutResult(resetStagnation(rrd({ iteration: 4 })), [...rows(4), refused(5)])).toHaveLength(1);
  });

  test("not those in which no agent started to work", () => {
    const failures = ["rate-limit", "network", "auth", "missing", "too-large", "aborted"].map((failure, n) =>
      refused(n + 1, { outcome: "failed", failure }),
    );
    expect(
      iterationsWithoutResult(rrd({}), [
        ...failures,
        refused(9),
        refused(10, { outcome: "failed", failure: "crashed" }),
      ]),
    ).toHaveLength(2);
  });

  test.each([
    ["a higher budget", { max_usd: 2, target_papers: 1 }, { max_usd: 3 }, 1, 0],
    ["no budget any more", { max_usd: 2, target_papers: 1 }, {}, 1, 0],
    ["a lower one", { max_usd: 2, target_papers: 1 }, { max_usd: 1 }, 1, 4],
    ["a budget where there was none", { target_papers: 1 }, { max_usd: 1 }, 1, 4],
    ["more papers", { target_papers: 1 }, {}, 2, 0],
    ["the same", { max_tokens: 2, target_papers: 1 }, { max_tokens: 2 }, 1, 4],
  ])("%s allowed", (_, limits, budget, target, left) => {
    const now = rrd(
      { iteration: 4, limits },
      { budget, requirements: { ...rrdWith([]).requirements, target_papers: target } },
    );
    expect(iterationsWithoutResult(now, rows(4))).toHaveLength(left);
  });
});

describe("a research that is started again and again", () => {
  const papers = Array.from({ length: 30 }, (_, n) => paper(`p${n + 1}`));

  test("ends as stuck at fifteen without a result over all its runs, and then starts no agent", async () => {
    const folder = researchFolder(rrdWith(papers));
    expect((await runOf(folder, 10)).verdict.verdict).toBe("limit");
    const second = await runOf(folder, 10);
    expect(second.verdict).toMatchObject({
      verdict: "stuck",
      reason: expect.stringMatching(/last 15 iterations.*steer.*--force/),
    });
    expect(iterationsWithoutResult(second.rrd, second.ledger)).toHaveLength(15);
    expect(second.ledger).toHaveLength(15);
    expect((await runOf(folder, 10)).ledger).toHaveLength(15);
  });

  test.each([
    ["the person steers", (folder: string) => writeMessage(folder, { text: "Mind the form." }, 1, tmpdir())],
    [
      "the person raises a limit",
      async (folder: string) => {
        const path = join(folder, "rrd.json");
        const now = JSON.parse(readFileSync(path, "utf8")) as Rrd;
        writeFileSync(path, JSON.stringify({ ...now, requirements: { ...now.requirements, target_papers: 31 } }));
      },
    ],
  ])("begins the count anew once %s", async (_, act) => {
    const folder = researchFolder(rrdWith(papers));
    await runOf(folder, 15);
    await act(folder.folder);
    const { verdict, rrd: after, ledger } = await runOf(folder, 2);
    expect(verdict.verdict).toBe("limit");
    expect(after.loop).toMatchObject({ stagnation_since: 15 });
    expect(iterationsWithoutResult(after, ledger)).toHaveLength(2);
  });

  test("begins it anew with accepted work", async () => {
    const folder = researchFolder(rrdWith(papers));
    await runOf(folder, 10);
    await runOf(folder, 1, goodAgent());
    const { verdict, rrd: after, ledger } = await runOf(folder, 10);
    expect(verdict.verdict).toBe("limit");
    expect(iterationsWithoutResult(after, ledger)).toHaveLength(10);
  });

  test("--force tries once more, and so does an agent that had no part in it", async () => {
    const [same, other] = ["cmd:echo nothing", "cmd:echo something"];
    const run = (agent: string, force: boolean) => runAgain(rows(15, { agent: same }), { agent, force });
    expect([await run(same, false), await run(same, true), await run(other, false)]).toEqual([4, 3, 3]);
  });

  test("--force goes on after repetitions too, where a reset already ended the other count", async () => {
    const repeated = [1, 2, 3, 4, 5].map((iteration) => ({
      ...{ iteration, unit: "p1", outcome: "refused" as const, answer: "0123456789ab", said: "The same." },
    }));
    const ledger = [...rows(5), line(6, "analysis", { outcome: "reset" })];
    const run = (force: boolean) => runAgain(ledger, { agent: "cmd:echo nothing", force }, { observations: repeated });
    expect([await run(false), await run(true)]).toEqual([4, 3]);
  });

  const runAgain = (ledger: LedgerLine[], how: { agent: string; force: boolean }, loop?: Rrd["loop"]) => {
    const cwd = freshFolder();
    const pool = papers.map(({ id }) => found(id, "pending", { abstract: "It works." }));
    makeResearch(cwd, "a", { papers_pool: pool, ...(loop === undefined ? {} : { loop }) }, ledger);
    const io = fakeIo({ cwd, env: { HOME: cwd, PATH: process.env["PATH"] } });
    const flags = { agent: how.agent, unconfined: true, git: false, iterations: 1 };
    return runCommand({ folder: "a", flags, ...how, classic: false, ask: false, quiet: true, json: false }, io);
  };
});
