import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Agent, Brief } from "../../../src/engine/loop/types.js";
import type { ResearchWorkflow } from "../../../src/research/workflow/workflow.js";
import { goodAgent, paper, reading, researchFolder, rrdWith } from "../../support/projects/research.js";

const jobs = 4;
const ids = Array.from({ length: 9 }, (_, index) => `p${index + 1}`);
const unitOf = ({ text }: Brief) => String(JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(text)?.[1] ?? "{}").unit);

/**
 * Papers of which the third is first read badly and the fifth at first not at all; agents end in the same moment once
 * all lanes have one, the last first.
 */
async function inLanes(over: {
  readonly veto?: () => Promise<string[]>;
  readonly wrapped?: (workflow: ResearchWorkflow) => ResearchWorkflow;
}) {
  const project = researchFolder(rrdWith(ids.map((id) => paper(id))));
  const tried = new Set<string>();
  const inner = goodAgent(({ unit }) => {
    const id = String(unit);
    const isFirst = !tried.has(id);
    tried.add(id);
    if (id === "p3" && isFirst)
      return { result: reading(id, { evidence: [{ claim: "It flies.", quote: "The gripper flew over the house." }] }) };
    if (id === "p5" && isFirst) return { end: { failure: { kind: "crashed", message: "It broke." } } };
    return undefined;
  });
  const waiting: (() => void)[] = [];
  const accepted = new Set<string>();
  const agent: Agent = {
    ...inner,
    async *run(brief, options) {
      const events = inner.run(brief, options);
      const isPaper = ids.includes(unitOf(brief));
      if (isPaper)
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          // Later, when no other is about to begin.
          setTimeout(() => {
            if (waiting.length < Math.min(jobs, ids.length - accepted.size)) return;
            for (const end of waiting.splice(0).toReversed()) end();
          }, 20);
        });
      yield* events;
    },
  };
  let most = 0;
  const wrapped = (workflow: ResearchWorkflow): ResearchWorkflow => {
    let count = 0;
    const whole = {
      ...workflow,
      accept: async (...given: Parameters<ResearchWorkflow["accept"]>) => {
        count += 1;
        const outcome = await workflow.accept(...given);
        if (typeof outcome === "object" && "outcome" in outcome && outcome.outcome === "accepted")
          accepted.add(given[1].id);
        return outcome;
      },
      together: async (work: () => Promise<void>) => {
        count = 0;
        const answer = await workflow.together?.(work);
        most = Math.max(most, count);
        return answer;
      },
    };
    return over.wrapped?.(whole) ?? whole;
  };
  const { verdict, events, rrd } = await project.run(agent, 60, {
    jobs,
    wrapped,
    ...(over.veto === undefined ? {} : { veto: over.veto }),
  });
  expect(verdict.verdict).toBe("complete");
  const files = ["rrd.json", "ledger.jsonl", "progress.txt", "research-report.md"];
  return {
    most,
    rrd,
    outcomes: events.flatMap((event) =>
      event.type === "iteration-ended" ? [`${event.unit} ${event.outcome.outcome}`] : [],
    ),
    files: Object.fromEntries(files.map((name) => [name, readFileSync(join(project.folder, name), "utf8")])),
  };
}

it("results that wait together leave the same project as those that are written one by one", async () => {
  const together = await inLanes({});
  const alone = await inLanes({ wrapped: ({ together: _, ...workflow }) => workflow });
  expect(together.most).toBeGreaterThan(1);
  expect(alone.most).toBe(0);
  // Each has its own outcome: one is refused, one fails, and both are done again.
  expect(together.outcomes).toEqual(expect.arrayContaining(["p3 refused", "p5 failed", "p3 accepted", "p5 accepted"]));
  expect(together.outcomes.toSorted()).toEqual(alone.outcomes.toSorted());
  expect(together.rrd.papers_pool.map(({ id, status }) => [id, status])).toEqual(
    alone.rrd.papers_pool.map(({ id, status }) => [id, status]),
  );
  expect(new Set(together.rrd.insights?.map(({ id }) => id)).size).toBe(together.rrd.insights?.length);
});

it("a hook is asked of each of them, and its veto refuses that one alone", async () => {
  let asked = 0;
  const { outcomes, most } = await inLanes({ veto: async () => ((asked += 1) === 2 ? ["not this one"] : []) });
  expect(most).toBeGreaterThan(1);
  expect(outcomes.filter((outcome) => outcome.endsWith("refused"))).toHaveLength(2);
  // The papers, the report and the ideas, and the one that was vetoed once more.
  expect(outcomes.filter((outcome) => outcome.endsWith("accepted"))).toHaveLength(ids.length + 2);
  expect(asked).toBe(ids.length + 3);
});
