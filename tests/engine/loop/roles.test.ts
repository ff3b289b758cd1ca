import { describe, expect, test } from "vitest";
import { rulesFor } from "../../../src/engine/loop/rules-of-run.js";
import { runLoop } from "../../../src/engine/loop/run-loop.js";
import { isVerdict, type Agent, type AgentEvent, type Outcome, type Unit } from "../../../src/engine/loop/types.js";
import { researchWords } from "../../../src/research/project-files/words.js";
import { fakeClock } from "../../support/clock.js";
import { listener } from "../../support/network/listener.js";
import { failed, named, past, soFar, start, unit } from "./runs.js";

const settings = {
  iterations: 20,
  budget: {},
  words: researchWords,
  patienceMs: 60_000,
  finish: new AbortController().signal,
};
const shared = (role: string, round = 1): Unit => ({ ...unit("p1"), role, round });

describe("the agent of a unit", () => {
  const roles = { critic: [named("codex"), named("amp")], reviewer: [named("claude")] };
  const { choose } = rulesFor({ ...settings, agents: [named("claude"), named("amp")], roles });
  const chosen = (run: Parameters<typeof choose>[0], wanted: Unit) => {
    const choice = choose(run, wanted);
    return isVerdict(choice) || "until" in choice ? choice : choice.agent.name;
  };

  test("is the first of its role that can work, and the run's where the role has none of its own", () => {
    expect(chosen(soFar([]), shared("critic"))).toBe("codex");
    expect(chosen(soFar([]), shared("draft"))).toBe("claude");
    expect(chosen(soFar([]), unit("p1"))).toBe("claude");
  });

  test("falls back within the role, and names whom it stands in for", () => {
    const limited = soFar([past(failed("rate-limit"), 0, "p1", { agent: "codex" })]);
    expect(choose(limited, shared("critic"))).toMatchObject({ agent: { name: "amp" }, first: "codex" });
    expect(chosen(limited, shared("draft"))).toBe("claude");
  });

  test("waits for its own service alone: what another role's agent met is not its failure", () => {
    const limited = soFar([past(failed("network"), 0, "p1", { agent: "codex" })]);
    expect(chosen(limited, shared("reviewer"))).toBe("claude");
    const own = soFar([past(failed("network"), 0, "p1", { agent: "claude" })]);
    expect(choose(own, shared("reviewer"))).toMatchObject({ until: start + 2_000 });
  });
});

test("a unit that agents share in turn starts each of them, says whose part it is, and changes no agent by that", async () => {
  const parts = [shared("draft"), shared("critic"), shared("answer"), unit("p2")];
  const started: string[] = [];
  const agent = (name: string): Agent => ({
    ...named(name),
    async *run(): AsyncGenerator<AgentEvent> {
      started.push(name);
      yield { type: "end", message: "done" };
    },
  });
  let done = 0;
  const clock = fakeClock();
  const { tell, events } = listener(clock);
  const agents = [agent("claude")];
  const access = { web: false, read: false, everything: false };
  const verdict = await runLoop(
    {
      name: "shared",
      load: async () => done,
      next: (state) => parts[state] ?? { verdict: "complete", reason: "Done." },
      progress: (state) => ({ done: state, total: parts.length }),
      brief: async (state) => ({
        brief: { iteration: state + 1, text: "", tokens: 0, workspace: "/nowhere", access },
        context: undefined,
      }),
      accept: async (): Promise<Outcome> => {
        done += 1;
        return done < 3 ? { outcome: "noted", summary: "kept" } : { outcome: "accepted", summary: "fine" };
      },
    },
    agents[0] as Agent,
    {
      ...rulesFor({ ...settings, agents, roles: { critic: [agent("codex")] } }),
      tell,
      jobs: 1,
      clock,
      finish: settings.finish,
      abort: settings.finish,
    },
  );
  expect(verdict.verdict).toBe("complete");
  expect(started).toEqual(["claude", "codex", "claude", "claude"]);
  const begun = events.filter((event) => event.type === "iteration-started");
  expect(begun.map(({ role, round, agent: by }) => [role, round, by])).toEqual([
    ["draft", 1, "claude"],
    ["critic", 1, "codex"],
    ["answer", 1, "claude"],
    [undefined, undefined, "claude"],
  ]);
  expect(events.filter(({ type }) => type === "agent-changed")).toEqual([]);
});
