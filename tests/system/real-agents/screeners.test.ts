import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Flow, Rrd } from "../../../src/research/generated/rrd.js";
import { run } from "../../support/processes/built.js";
import { unitOf } from "../../support/projects/small-project.js";
import { trialProject, trialReader } from "../../support/projects/trial-project.js";
import { type Answer, type ModelRequest, optionsFor, startFakeLlm } from "./support/agents.js";
import { installed } from "./support/install.js";
import { besideModel } from "../../support/network/beside-model.js";

const here = besideModel("screeners");

const cli = (root: string, ...args: string[]) =>
  run(process.execPath, [join(here.built, "dist", "cli.js"), ...args], root);
const project = (root: string) => join(root, "researches", "small-trial");
const rrdOf = (root: string) => JSON.parse(readFileSync(join(project(root), "rrd.json"), "utf8")) as Rrd;
const ledgerOf = (root: string) =>
  readFileSync(join(project(root), "ledger.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LedgerLine);
const statusesOf = (root: string) =>
  Object.fromEntries(rrdOf(root).papers_pool.map(({ id, status, excluded_by: by }) => [id, by ?? status]));
const flowOf = (root: string): Flow => rrdOf(root).statistics?.discovery_metrics?.flow ?? {};
const sum = (counts: Readonly<Record<string, number>> = {}) => Object.values(counts).reduce((a, b) => a + b, 0);

function expectReconciled(flow: Flow): void {
  const { screening, full_text: read } = flow;
  const disputed = screening?.waiting ?? 0;
  const { screened: screenedOut = 0 } = flow.excluded ?? {};
  expect(sum(flow.identified)).toBe(
    sum(flow.excluded) - screenedOut + (screening?.screened ?? 0) + (flow.not_screened ?? 0),
  );
  expect(screening?.screened).toBe(sum(screening?.excluded) + disputed + (screening?.passed ?? 0));
  expect(read?.sought).toBe((read?.not_read ?? 0) + sum(read?.excluded) + (read?.waiting ?? 0) + (read?.included ?? 0));
}

/** Two models that disagree on two records: the second one finds animals where there are none, and none where there are. */
function disagreeing(request: ModelRequest): Answer {
  const unit = unitOf(request);
  const answer = trialReader(request);
  if (request.api !== "responses" || unit.kind !== "discovery" || typeof answer !== "object" || !("text" in answer))
    return answer;
  const result = JSON.parse(answer.text ?? "{}") as { kept: { id: string; criteria: Record<string, object> }[] };
  for (const { id, criteria } of result.kept) {
    const quote = "Patients were allocated at random to one of two groups.";
    if (id === "silent") criteria["c4"] = { answer: "yes", quote };
    if (id === "mice") criteria["c4"] = { answer: "unclear" };
  }
  return { ...answer, text: JSON.stringify(result) };
}

const problems = (["claude", "codex"] as const).flatMap((name) => {
  const found = installed(name);
  return "problem" in found ? [found.problem] : [];
});

describe.skipIf(problems.length > 0)(
  `five criteria, the real claude and the real codex as readers${problems.length > 0 ? ` (skipped: ${problems[0]})` : ""}`,
  () => {
    test("the project ends complete, its flow adds up, its conflicts are listed and settled by decide", async () => {
      here.server = await startFakeLlm(disagreeing);
      const home = join(here.folder, "home");
      mkdirSync(home);
      const agents = { claude: optionsFor("claude", here.server, home), codex: optionsFor("codex", here.server, home) };
      const root = trialProject(here.folder, agents);
      const readers = ["--screeners", "claude,codex", "--screening-conflicts", "person"];
      const ran = await cli(root, "run", "small-trial", ...readers);
      expect(ran.err).not.toContain("refused");
      expect([ran.code, ran.out.trim().split("\n").at(-1)]).toEqual([0, "<promise>COMPLETE</promise>"]);

      const screening = ledgerOf(root).filter(({ phase }) => phase === "DISCOVERY");
      expect(screening.slice(0, 2)).toMatchObject([
        { role: "reader-1", agent: "claude", outcome: "noted" },
        { role: "reader-2", agent: "codex", outcome: "accepted" },
      ]);
      expect(screening.slice(0, 2).every(({ tokens }) => (tokens?.input ?? 0) > 0)).toBe(true);
      // Neither is told what the other decided: both models were shown the same records, and nothing else of them.
      const shown = here.server.requests.map(unitOf).filter(({ kind }) => kind === "discovery");
      expect(shown[0]).toEqual(shown[1]);

      expect(statusesOf(root)).toEqual({ adults: "presented", children: "c2", silent: "waiting", mice: "waiting" });
      expect(flowOf(root)).toMatchObject({
        screening: { screened: 4, excluded: {}, waiting: 2, passed: 2 },
        full_text: { sought: 2, not_read: 0, excluded: { c2: 1 }, waiting: 0, included: 1 },
      });
      expectReconciled(flowOf(root));
      expect(rrdOf(root).statistics?.screening_agreement).toMatchObject({
        readers: ["claude", "codex"],
        judged: 4,
        both_include: 2,
        conflicts: 2,
        open: 2,
        kappa: -0.333,
      });

      const status = (await cli(root, "status", "small-trial")).out;
      expect(status).toContain("claude and codex agree on 2 of 4 records");
      expect(status.replace(/\s+/g, " ")).toContain("claude would include it; codex would exclude it (c4");
      expect((await cli(root, "show", "small-trial", "silent")).out).toContain("codex (reader 2): exclude");
      const cost = JSON.parse((await cli(root, "cost", "small-trial", "--json")).out) as { parts: object };
      expect(cost.parts).toMatchObject({
        "reader-1 (claude)": { iterations: 1, tokens: expect.any(Number) },
        "reader-2 (codex)": { iterations: 1, tokens: expect.any(Number) },
      });

      expect((await cli(root, "decide", "small-trial", "mice", "exclude", "Mice.")).out).toMatch(/^\S+ is excluded/);
      const included = await cli(root, "decide", "small-trial", "silent", "include", "Adults only.");
      expect(included.out).toMatch(/^\S+ is included and will be read/);
      const again = await cli(root, "run", "small-trial", ...readers);
      expect(again.code).toBe(0);
      expect(statusesOf(root)).toEqual({ adults: "presented", children: "c2", silent: "presented", mice: "rejected" });
      // Nobody has read the one that is left out: it left by title and abstract.
      expect(flowOf(root)).toMatchObject({
        screening: { screened: 4, excluded: { person: 1 }, passed: 3 },
        full_text: { sought: 3, waiting: 0, included: 2, excluded: { c2: 1 } },
      });
      expectReconciled(flowOf(root));
      expect(rrdOf(root).statistics?.screening_agreement).toMatchObject({ conflicts: 2, open: 0 });
    });
  },
);
