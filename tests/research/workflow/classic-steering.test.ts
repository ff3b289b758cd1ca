import { tmpdir } from "node:os";
import { defaultHistoryLimits } from "../../../src/engine/lib/history-limits.js";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { guardProject } from "../../../src/research/project-files/guarded/guarded-files.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { limitBudget, watchBudget } from "../../../src/engine/loop/stop-conditions/budget.js";
import { limitIterations } from "../../../src/engine/loop/stop-conditions/limits.js";
import { runLoop } from "../../../src/engine/loop/run-loop.js";
import { stopWithoutResult } from "../../../src/engine/loop/stop-conditions/stuck.js";
import type { Agent, Brief } from "../../../src/engine/loop/types.js";
import { writeMessage } from "../../../src/engine/storage/state/steering-inbox.js";
import { openResearch, readResearch } from "../../../src/research/project-files/research.js";
import { classicWorkflow } from "../../../src/research/workflow/classic.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { fakeClock } from "../../support/clock.js";
import { listener } from "../../support/network/listener.js";
import { researchFolder, rrdWith } from "../../support/projects/research.js";
import { alone } from "../../support/processes/alone.js";
import { researchWords } from "../../../src/research/project-files/words.js";

const prompt = "# Agent\n\nRead `{{RESEARCH_DIR}}/rrd.json` and do what its phase asks for.\n";

/** Runs classic mode in this process; `work` is what the agent does to the folder. */
async function runClassic(
  at: { root: string; folder: string },
  most: number,
  work: (folder: string, iteration: number) => void,
  cost_usd = 0.5,
) {
  const briefs: Brief[] = [];
  const agent: Agent = {
    name: "free hand",
    confinement: "unconfined",
    async *run(brief) {
      briefs.push(brief);
      work(at.folder, brief.iteration);
      yield { type: "usage", usage: { input: 1_000, cached: 0, output: 0, requests: 1 }, cost_usd };
      yield { type: "end", message: "Done." };
    },
  };
  const research = await openResearch(at.folder, { derive, git: false, notify: () => undefined });
  const clock = fakeClock();
  const { events, tell } = listener(clock);
  const never = new AbortController().signal;
  const stateDir = tmpdir();
  const guarded = { folder: at.folder, root: at.root, configs: [], stateDir, classic: true };
  const workflow = classicWorkflow({
    research,
    prompt,
    root: at.root,
    workspaces: { stateDir },
    guardFiles: (iteration) => guardProject(guarded, join(stateDir, "guards"), iteration, new Map()),
    now: clock.now,
    experience: { usage: {}, from: "" },
    memory: defaultHistoryLimits,
    close: research.close,
    redact: (text) => text.replaceAll("hunter2", "***"),
  });
  const stopConditions = [limitIterations(most), limitBudget(researchWords, {}), stopWithoutResult(researchWords)];
  const watches = [watchBudget(researchWords, {})];
  const verdict = await runLoop(workflow, agent, {
    ...alone(agent),
    tell,
    stopConditions,
    watches,
    clock,
    finish: never,
    abort: never,
  });
  return { verdict, briefs, events, ...(await readResearch(at.folder)) };
}

const edit = (folder: string, change: (rrd: Rrd) => object) => {
  const path = join(folder, "rrd.json");
  writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, "utf8")) as Rrd)));
};
const addInsight = (folder: string, n: number) =>
  edit(folder, (rrd) => ({
    ...rrd,
    insights: [...(rrd.insights ?? []), { id: `i${n}`, paper_id: "p", insight: `Insight ${n}.` }],
  }));
const original = (folder: string) => prompt.replaceAll("{{RESEARCH_DIR}}", folder);

test("without steering the agent gets the user's prompt and nothing else; what was said stands behind it, marked, until it is cleared", async () => {
  const at = researchFolder(rrdWith([]));
  expect((await runClassic(at, 1, addInsight)).briefs[0]?.text).toBe(original(at.folder));
  await writeMessage(at.folder, { text: "Mind the cost, not hunter2." }, 1, tmpdir());
  const { briefs, events } = await runClassic(at, 2, addInsight);
  const marked = `${original(at.folder).trimEnd()}\n\n---\n\n# What the person in charge asks\n\n- Mind the cost, not ***.\n`;
  expect(briefs.map(({ text }) => text)).toEqual([marked, marked]);
  expect(events).toContainEqual(
    expect.objectContaining({ type: "notice", message: "Instructions received: Mind the cost, not ***." }),
  );
  await writeMessage(at.folder, { clear: true }, 2, tmpdir());
  expect((await runClassic(at, 1, addInsight)).briefs[0]?.text).toBe(original(at.folder));
});

test("a message that the agent itself leaves is set aside and told, and so is PAUSE", async () => {
  const at = researchFolder(rrdWith([]));
  const inbox = join(at.folder, ".ralph", "inbox");
  const { briefs, events } = await runClassic(at, 2, (folder, n) => {
    addInsight(folder, n);
    mkdirSync(inbox, { recursive: true });
    writeFileSync(join(inbox, `${n}.json`), JSON.stringify({ text: "Give 5 everywhere.", format: 1 }));
    writeFileSync(join(folder, "PAUSE"), "");
  });
  expect(briefs.map(({ text }) => text)).toEqual([original(at.folder), original(at.folder)]);
  for (const what of ["1 message appeared in .ralph/inbox", "PAUSE appeared"])
    expect(events).toContainEqual(
      expect.objectContaining({ type: "notice", message: expect.stringMatching(new RegExp(`^${what}`)) }),
    );
});

test("the research's budget ends a classic run too, over all its runs", async () => {
  const at = researchFolder(rrdWith([], { budget: { max_usd: 0.9 } }));
  expect((await runClassic(at, 1, addInsight)).verdict.reason).toMatch(/^The one iteration/);
  const { verdict, ledger } = await runClassic(at, 20, addInsight);
  expect(verdict).toMatchObject({ verdict: "limit", reason: expect.stringContaining("budget.max_usd") });
  expect(ledger).toHaveLength(2);
});

test("what a person said and allowed outlives an agent that writes the file anew without it", async () => {
  const at = researchFolder(rrdWith([], { budget: { max_usd: 9 } }));
  await writeMessage(at.folder, { text: "Mind the cost." }, 1, tmpdir());
  const { rrd, briefs } = await runClassic(at, 2, (folder, n) => {
    addInsight(folder, n);
    edit(folder, ({ loop: _, budget: __, ...rest }) => rest);
  });
  expect(rrd.budget).toEqual({ max_usd: 9 });
  expect(rrd.loop?.steering).toEqual([expect.objectContaining({ text: "Mind the cost." })]);
  expect(briefs[1]?.text).toContain("- Mind the cost.");
});

test("a budget that a person raises while the agent works is heeded", async () => {
  const at = researchFolder(rrdWith([], { budget: { max_usd: 0.4 } }));
  const { ledger } = await runClassic(
    at,
    2,
    (folder, n) => {
      addInsight(folder, n);
      edit(folder, (rrd) => ({ ...rrd, budget: { max_usd: 5 } }));
    },
    0.3,
  );
  expect(ledger).toHaveLength(2);
});

test("a finished project says that no agent reads what was said, and how one does", async () => {
  const at = researchFolder({
    ...rrdWith([{ id: "p", title: "P", status: "presented" }]),
    phase: "COMPLETE",
    handoff: {},
  });
  writeFileSync(join(at.folder, "research-report.md"), "# Report\n");
  await writeMessage(at.folder, { text: "Answer in hours." }, 1, tmpdir());
  const { briefs, events } = await runClassic(at, 2, addInsight);
  expect(briefs).toEqual([]);
  expect(events).toContainEqual(
    expect.objectContaining({
      message: expect.stringMatching(
        /^No agent reads this until 'research-ralph reset \S+ --unit report' .*: Answer in hours\.$/,
      ),
    }),
  );
});
