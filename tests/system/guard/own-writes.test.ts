import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { useBuiltCli } from "../hostile/support/built.js";
import type { House } from "../hostile/support/house.js";

const house = useBuiltCli();
const waits = fileURLToPath(new URL("agents/waits.mjs", import.meta.url));
const claude = { agents: { claude: { command: waits, env: { WAITS_AS: "claude" } } } };

/** A project whose second paper code settles by itself, as it is retracted, while an agent reads the first. */
function withRetracted({ research }: House): void {
  const path = join(research, "rrd.json");
  const rrd = JSON.parse(readFileSync(path, "utf8")) as Rrd;
  writeFileSync(
    path,
    JSON.stringify({
      ...rrd,
      papers_pool: rrd.papers_pool.map((paper) => (paper.id === "second" ? { ...paper, retracted: true } : paper)),
    }),
  );
}

const accused = /changed while|were? (?:restored|put back)|wrote to the journal|deleted|set aside|until you approve/;

describe.concurrent("what research-ralph itself writes while an agent works is its own:", () => {
  test.for([
    ["an agent that nothing confines", `cmd:${waits}`, {}, []],
    ["one of a list with such an agent", "claude,cmd:cat", claude, []],
    ["with two lanes", `cmd:${waits}`, {}, ["--jobs", "2"]],
    ["thought over by such a critic", "claude", claude, ["think"]],
  ] as const)("%s", async ([, agent, options, more], { expect }) => {
    const its = house(options);
    withRetracted(its);
    const isThought = (more as readonly string[]).includes("think");
    if (isThought) {
      const path = join(its.root, "ralph.config.json");
      const config = JSON.parse(readFileSync(path, "utf8")) as object;
      const critic = `cmd:echo '{"verdict": "good"}' > result.json; cat > /dev/null; echo done`;
      writeFileSync(path, JSON.stringify({ ...config, think: { critic, rounds: 1 } }));
    }
    const { notices } = await its.run(agent, "-i", "4", ...more.filter((each) => each !== "think"));
    expect(notices.filter((notice) => accused.test(notice))).toEqual([]);
    expect(existsSync(join(its.research, ".ralph", "set-aside"))).toBe(false);
    const outcomes = its.ledger().map(({ unit, outcome }) => `${unit} ${outcome}`);
    expect(outcomes).toContain("second accepted");
    if (!isThought) expect(outcomes).toContain("first accepted");
    expect(its.paper("second")?.status).toBe("rejected");
    expect(its.progress()).toContain("second");
  });
});
