import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Flow, Rrd } from "../../../src/research/generated/rrd.js";
import { prismaFlow as drawnFlow } from "../../../src/research/report/prisma-flow.js";
import { run } from "../../support/processes/built.js";
import { trialProject, trialReader } from "../../support/projects/trial-project.js";
import { optionsFor, startFakeLlm } from "./support/agents.js";
import { installed } from "./support/install.js";
import { besideModel } from "../../support/network/beside-model.js";

const here = besideModel("trials");

const cli = (root: string, ...args: string[]) =>
  run(process.execPath, [join(here.built, "dist", "cli.js"), ...args], root);
const rrdOf = (root: string): Rrd =>
  JSON.parse(readFileSync(join(root, "researches", "small-trial", "rrd.json"), "utf8")) as Rrd;
const statusesOf = (root: string) =>
  Object.fromEntries(rrdOf(root).papers_pool.map(({ id, status, excluded_by: by }) => [id, by ?? status]));
const flowOf = (root: string): Flow => rrdOf(root).statistics?.discovery_metrics?.flow ?? {};
const sum = (counts: Readonly<Record<string, number>> = {}) => Object.values(counts).reduce((a, b) => a + b, 0);

function expectReconciled(flow: Flow): void {
  const { screening, full_text: read } = flow;
  expect(sum(flow.identified)).toBe(sum(flow.excluded) + (read?.sought ?? 0) + (flow.not_screened ?? 0));
  expect(screening?.screened).toBe(sum(screening?.excluded) + (screening?.passed ?? 0));
  expect(read?.sought).toBe((read?.not_read ?? 0) + sum(read?.excluded) + (read?.waiting ?? 0) + (read?.included ?? 0));
}

for (const name of ["claude", "codex"] as const) {
  const found = installed(name);
  describe.skipIf("problem" in found)(
    `a project with five criteria and the real ${name}${"problem" in found ? ` (skipped: ${found.problem})` : ""}`,
    () => {
      test("ends complete, its flow adds up, and what waits is settled by decide", async () => {
        here.server = await startFakeLlm(trialReader);
        const home = join(here.folder, "home");
        mkdirSync(home);
        const root = trialProject(here.folder, { [name]: optionsFor(name, here.server, home) });
        const { code, out, err } = await cli(root, "run", "small-trial", "--agent", name);
        expect(err).not.toContain("refused");
        expect([code, out.trim().split("\n").at(-1)]).toEqual([0, "<promise>COMPLETE</promise>"]);

        expect(statusesOf(root)).toEqual({ adults: "presented", children: "c2", silent: "waiting" });
        expect(rrdOf(root).excluded).toMatchObject([{ id: "mice", criterion: "c4", stage: "screened" }]);
        expect(flowOf(root)).toMatchObject({
          identified: { "folder:papers": 4 },
          screening: { screened: 4, excluded: { c4: 1 }, passed: 3 },
          full_text: { sought: 3, not_read: 0, excluded: { c2: 1 }, waiting: 1, included: 1 },
        });
        expectReconciled(flowOf(root));
        expect(drawnFlow(rrdOf(root))).toMatchObject({ reasons: [{ count: 1 }] });
        // Discovery, three papers and the report: nobody reads what screening excluded.
        expect(here.server.requests).toHaveLength(5);

        expect((await cli(root, "status", "small-trial")).out).toContain("c4 (exclude: the subjects are animals)");
        const decided = await cli(root, "decide", "small-trial", "silent", "include", "Adults only.");
        expect(decided).toMatchObject({ code: 0, out: expect.stringMatching(/^\S+ is included/) });
        expect(statusesOf(root)).toMatchObject({ silent: "presented" });
        expect(flowOf(root).full_text).toMatchObject({ waiting: 0, included: 2 });
        expectReconciled(flowOf(root));
        // The report is older than the decision, so it is written again, and nothing else is done.
        const again = await cli(root, "run", "small-trial", "--agent", name);
        expect([again.code, here.server.requests.length]).toEqual([0, 6]);
      });
    },
  );
}
