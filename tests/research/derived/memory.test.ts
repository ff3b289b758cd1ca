import { renderFor } from "../../../src/research/report/documents/documents.js";
import { tmpdir } from "node:os";
import { defaultHistoryLimits } from "../../../src/engine/lib/history-limits.js";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSummariser } from "../../../src/engine/loop/history/summarise.js";
import { withHistory } from "../../../src/engine/loop/history/keep-history.js";
import { stopWhenStuck } from "../../../src/engine/loop/stop-conditions/stuck.js";
import { limitIterations } from "../../../src/engine/loop/stop-conditions/limits.js";
import { runLoop } from "../../../src/engine/loop/run-loop.js";
import type { Agent } from "../../../src/engine/loop/types.js";
import { writeMessage } from "../../../src/engine/storage/state/steering-inbox.js";
import { openResearch, readResearch } from "../../../src/research/project-files/research.js";
import { redactFor } from "../../../src/engine/lib/redact.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { resetStagnation } from "../../../src/research/derived/observations.js";
import type { Proposal } from "../../../src/research/workflow/accept.js";
import { researchWorkflow } from "../../../src/research/workflow/workflow.js";
import { workspacesOf } from "../../../src/research/workflow/workspace.js";
import { fakeClock } from "../../support/clock.js";
import { listener } from "../../support/network/listener.js";
import {
  goodAgent,
  library,
  paper,
  reading,
  researchFolder,
  rrdWith,
  scriptedAgent,
} from "../../support/projects/research.js";
import { alone } from "../../support/processes/alone.js";
import { researchWords } from "../../../src/research/project-files/words.js";

const papers = (count: number) => Array.from({ length: count }, (_, n) => paper(`p${n + 1}`));
const wrong = scriptedAgent((unit) => ({
  result: { ...reading(String(unit["unit"])), scores: { execution: { novelty: 9 } } },
}));

/** An agent, and the briefs that it is given. */
function keepingBriefs(agent: Agent): { readonly agent: Agent; readonly briefs: string[] } {
  const briefs: string[] = [];
  const run: Agent["run"] = async function* (brief, options) {
    briefs.push(brief.text);
    yield* agent.run(brief, options);
  };
  return { agent: { ...agent, run }, briefs };
}

/** Runs an agent with what a run of one's own has: the history, hooks that may veto, and a redactor. */
async function runWith(
  at: { readonly root: string; readonly folder: string },
  agent: Agent,
  most: number,
  over: {
    readonly every?: number;
    readonly veto?: (proposal: Proposal) => Promise<string[]>;
    readonly redact?: (text: string) => string;
  } = {},
) {
  const { root, folder } = at;
  const clock = fakeClock();
  const { events, tell } = listener(clock);
  const research = await openResearch(folder, {
    derive,
    git: false,
    notify: (level, message) => void tell({ type: "notice", level, message }),
  });
  const never = new AbortController().signal;
  const { every = 5, ...options } = over;
  const workflow = researchWorkflow({
    research,
    library: async () => library(),
    workspaces: workspacesOf(join(root, "state"), folder),
    root,
    now: clock.now,
    sleep: clock.sleep,
    learn: false,
    redact: redactFor({}),
    experience: { usage: {}, from: "" },
    memory: defaultHistoryLimits,
    render: renderFor,
    veto: async () => [],
    close: research.close,
    ...options,
  });
  const verdict = await runLoop(withHistory(workflow, createSummariser({ every, tell, now: clock.now })), agent, {
    ...alone(agent),
    tell,
    stopConditions: [limitIterations(most), stopWhenStuck(researchWords)],
    clock,
    finish: never,
    abort: never,
  });
  return { verdict, events, ...(await readResearch(folder)) };
}

test("every outcome leaves one observation, in the file with the outcome itself", async () => {
  const at = researchFolder(rrdWith(papers(2)));
  const { rrd, ledger } = await runWith(at, goodAgent(), 4);
  expect(rrd.loop?.observations?.map(({ iteration, unit, outcome }) => ({ iteration, unit, outcome }))).toEqual(
    ledger.map(({ iteration, unit, outcome }) => ({ iteration, unit, outcome })),
  );
});

test("a run killed after its journal was written has its observation once", async () => {
  const at = researchFolder(rrdWith(papers(2)));
  await runWith(at, goodAgent(), 1);
  const before = await at.read();
  // As a kill leaves it right after rrd.json was written: journalled, in the state, not yet in the ledger.
  const done = join(at.folder, ".ralph/journal/done/1.json");
  writeFileSync(join(at.folder, ".ralph/journal/1.json"), readFileSync(done));
  writeFileSync(join(at.folder, "ledger.jsonl"), "");
  const research = await openResearch(at.folder, { derive, git: false, notify: () => undefined });
  await research.close();
  const after = await at.read();
  expect(after.rrd.loop?.observations).toEqual(before.rrd.loop?.observations);
  expect(after.ledger).toHaveLength(1);
});

test("the same answer five times over ends the run as stuck, with the kind in the file and remedies in the briefs", async () => {
  const at = researchFolder(rrdWith(papers(4)));
  const { agent, briefs } = keepingBriefs(wrong);
  const { verdict, rrd, ledger } = await runWith(at, agent, 20);
  expect(verdict).toMatchObject({ verdict: "stuck", reason: expect.stringContaining("identical-answers") });
  expect(ledger).toHaveLength(5);
  expect(rrd.loop).toMatchObject({ loop_type: "identical-answers", stagnation_count: 5 });
  expect(briefs.map((text) => text.includes("# What to do differently"))).toEqual([false, false, true, true, true]);

  // Whoever starts it again without a change is told the same, and no agent is started.
  const same = await runWith(at, goodAgent(), 20);
  expect(same.verdict).toMatchObject({ verdict: "stuck" });
  expect(same.ledger).toHaveLength(5);

  // A person acts, and it goes on.
  writeFileSync(join(at.folder, "rrd.json"), JSON.stringify(resetStagnation(same.rrd)));
  const again = await runWith(at, goodAgent(), 1);
  expect(again.verdict.verdict).toBe("limit");
  expect(again.rrd.loop).toMatchObject({ loop_type: null, stagnation_count: 0 });
});

test("the history is summarised into the file and told to the next brief, fenced as data", async () => {
  const at = researchFolder(rrdWith(papers(8)));
  const { agent, briefs } = keepingBriefs(goodAgent());
  const { rrd, events } = await runWith(at, agent, 6);
  expect(events.filter(({ type }) => type === "history-compressed")).toHaveLength(1);
  expect(rrd.loop?.rch_metrics).toMatchObject({ compressions: 1, last_iteration: 5 });
  expect(rrd.loop?.history_summary).toContain("Iterations 1 to 5: 5 accepted");
  expect(briefs.at(-1)).toMatch(/# What happened so far\n\n<untrusted-text[^>]*>\nIterations 1 to 5: 5 accepted/);
});

test("a summary that a killed run still owed is made before the next brief, so that it reads as it would have", async () => {
  const at = researchFolder(rrdWith(papers(8)));
  await runWith(at, goodAgent(), 5, { every: 0 });
  const { agent, briefs } = keepingBriefs(goodAgent());
  const { rrd } = await runWith(at, agent, 1);
  expect(rrd.loop?.rch_metrics).toMatchObject({ compressions: 1, last_iteration: 5 });
  expect(briefs.at(-1)).toMatch(/# What happened so far\n\n<untrusted-text[^>]*>\nIterations 1 to 5: 5 accepted/);
});

test("what a person says is heard once, written to progress.txt once, and stands in every brief until it is cleared", async () => {
  const at = researchFolder(rrdWith(papers(4)));
  const briefs: string[] = [];
  const good = goodAgent();
  const agent: Agent = {
    ...good,
    async *run(brief, options) {
      briefs.push(brief.text);
      // Said while an agent works.
      if (briefs.length === 1) await writeMessage(at.folder, { text: "Mind the cost of hands. SECRET" }, 1, tmpdir());
      if (briefs.length === 3) await writeMessage(at.folder, { clear: true }, 2, tmpdir());
      yield* good.run(brief, options);
    },
  };
  const { rrd } = await runWith(at, agent, 4, { redact: (text) => text.replaceAll("SECRET", "[gone]") });
  expect(briefs.map((text) => text.includes("Mind the cost of hands. [gone]"))).toEqual([false, true, true, false]);
  expect(rrd.loop?.steering).toEqual([]);
  const log = readFileSync(join(at.folder, "progress.txt"), "utf8");
  expect(log).toMatch(/(^|\n)---\n\n## Steering \S+\n/);
  expect(log).not.toMatch(/---\s+---/);
  expect(log.split("Mind the cost of hands. [gone]")).toHaveLength(2);
  expect(log).not.toContain("SECRET");
  expect(readdirSync(join(at.folder, ".ralph/inbox"))).toEqual([]);
});

test("a message that a kill left behind after it was heard is not heard twice", async () => {
  const at = researchFolder(rrdWith(papers(3)));
  await writeMessage(at.folder, { text: "Mind the cost." }, 1, tmpdir());
  const inbox = join(at.folder, ".ralph/inbox");
  const [name = ""] = readdirSync(inbox);
  const message = readFileSync(join(inbox, name), "utf8");
  await runWith(at, goodAgent(), 1);
  expect(existsSync(join(inbox, name))).toBe(false);
  writeFileSync(join(inbox, name), message);
  const { rrd } = await runWith(at, goodAgent(), 1);
  expect(rrd.loop?.steering?.map(({ text }) => text)).toEqual(["Mind the cost."]);
  expect(readFileSync(join(at.folder, "progress.txt"), "utf8").split("Mind the cost.")).toHaveLength(2);
});

test("a veto refuses a result before it is folded in, and the next brief says why", async () => {
  const at = researchFolder(rrdWith(papers(1)));
  const asked: Proposal[] = [];
  const { agent, briefs } = keepingBriefs(goodAgent());
  const veto = async (proposal: Proposal) => {
    expect(existsSync(join(proposal.workspace, "result.json"))).toBe(true);
    asked.push(proposal);
    return asked.length === 1 ? ["the summary is too short"] : [];
  };
  const { rrd, ledger } = await runWith(at, agent, 2, { veto });
  expect(ledger.map(({ outcome }) => outcome)).toEqual(["refused", "accepted"]);
  expect(ledger[0]?.reasons?.[0]).toContain("the summary is too short");
  expect(briefs.at(-1)).toContain("the summary is too short");
  expect(rrd.papers_pool[0]?.status).not.toBe("pending");
  expect(asked.map(({ completes }) => completes)).toEqual([false, false]);
});
