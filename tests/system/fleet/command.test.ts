import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connectFleet, type RunSettings } from "../../../src/compose/agents.js";
import type { ResolvedConfig } from "../../../src/compose/config.js";
import { readLimit } from "../../../src/fleet/worker.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder, sampleResearch } from "../../support/projects/research-folder.js";

const nowhere = "redis://127.0.0.1:1";

describe("what can't be done with agents on other machines", () => {
  test.each([
    ["a fleet without an agent", ["run", "--agent", "fleet:"], "fleet:claude"],
    ["a fleet within a fleet", ["run", "--agent", "fleet:fleet:baseline"], "a fleet within a fleet"],
    ["an agent that nobody knows", ["run", "--agent", "fleet:cluade"], "Did you mean claude?"],
    ["classic mode", ["run", "--agent", "fleet:claude", "--classic"], "classic mode"],
    ["no address", ["run", "--agent", "fleet:baseline"], "whose address is not set"],
    ["an address that is none", ["run", "--agent", "fleet:baseline", "--redis", "queue.lab"], "rediss://"],
    [
      "no TLS to another machine",
      ["run", "--agent", "fleet:baseline", "--redis", "redis://queue.lab"],
      "--insecure-redis",
    ],
    ["a worker without an address", ["worker", "--agent", "baseline"], "whose address is not set"],
    ["a worker of a fleet", ["worker", "--agent", "fleet:claude", "--redis", nowhere], "--agent claude"],
    [
      "a worker of two agents",
      ["worker", "--agent", "claude,codex", "--redis", nowhere],
      "one worker for each of claude, codex",
    ],
    ["no place", ["worker", "--agent", "baseline", "--concurrency", "0", "--redis", nowhere], "--concurrency is 0"],
    ["half a place", ["worker", "--agent", "baseline", "--concurrency", "1.5", "--redis", nowhere], "whole number"],
    ["a limit that is none", ["worker", "--agent", "baseline", "--limit", "often", "--redis", nowhere], "60/min"],
    ["at most none", ["worker", "--agent", "baseline", "--at-most", "0", "--redis", nowhere], "--at-most"],
    [
      "a worker of an agent that nobody knows",
      ["worker", "--agent", "nobody", "--redis", nowhere],
      "Unknown agent 'nobody'",
    ],
    ["the fleet without an address", ["fleet"], "whose address is not set"],
    ["the list of workers without an address", ["worker", "--list"], "whose address is not set"],
    [
      "more agents here than a machine bears",
      ["run", "--agent", "baseline", "--jobs", "40"],
      "at most 16 agents work on this one",
    ],
  ])("%s: exit code 2, and what to do", async (_, args, hint) => {
    const cwd = freshFolder();
    sampleResearch(cwd);
    if (args.includes("--classic")) writeFileSync(join(cwd, "prompt.md"), "Work in {{RESEARCH_DIR}}.\n");
    const { code, err } = await cli([...args], cwd);
    expect([code, err]).toEqual([2, expect.stringContaining(hint)]);
    expect(err.trim().split("\n")).toHaveLength(1);
  });

  test("a server that is not there: exit code 1, naming host and port, and nothing is begun", async () => {
    const cwd = freshFolder();
    sampleResearch(cwd);
    for (const args of [["run", "--agent", "fleet:baseline"], ["worker", "--agent", "baseline"], ["fleet"]]) {
      const { code, err } = await cli(args, cwd, { RESEARCH_RALPH_REDIS: "redis://:pass-word@127.0.0.1:1" });
      expect([code, err]).toEqual([1, expect.stringContaining("redis://127.0.0.1:1 could not be reached")]);
      expect(err).not.toContain("pass-word");
    }
  });
});

test("a setting of more lanes than one machine bears is no obstacle to agents of this one", async () => {
  const asked: string[] = [];
  const settings = { fleet: { connect: async () => void asked.push("Redis") } } as unknown as RunSettings;
  const lanes = (names: readonly string[], origin: string) =>
    connectFleet(names, { jobs: 40, origins: { jobs: origin } } as unknown as ResolvedConfig, settings);
  expect(await lanes(["baseline", "fleet:claude"], "default")).toBe(16);
  expect(await lanes(["fleet:claude", "fleet:codex"], "--jobs")).toBe(40);
  expect(asked).toEqual(["Redis", "Redis"]);
  expect(await lanes(["baseline"], "RESEARCH_RALPH_JOBS")).toBe(16);
  expect(asked).toHaveLength(2);
});

test("a project folder can't say where its work is sent until the user trusts it", async () => {
  const cwd = freshFolder();
  const folder = sampleResearch(cwd);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "ralph.config.yaml"), "redis: rediss://evil.example\n");
  const stranger = { RESEARCH_RALPH_TRUST: "" };
  const { code, err } = await cli(["run", "--agent", "fleet:baseline"], folder, stranger);
  expect([code, err]).toEqual([
    2,
    expect.stringContaining("ralph.config.yaml sets redis, and you have not trusted it"),
  ]);
  expect((await cli(["config"], folder, stranger)).out).toMatch(/^redis .*\(not trusted\)$/m);
});

test("config shows the address without its password", async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "ralph.config.yaml"), "redis: rediss://user:ab@queue.lab:6379\n");
  for (const args of [["config"], ["config", "redis"], ["config", "--json"]]) {
    const { out } = await cli(args, cwd);
    expect(out).toContain("@queue.lab:6379");
    expect(out).not.toMatch(/:ab@|user:/);
  }
});

test("doctor says what is wrong with the address, and needs it only for agents on other machines", async () => {
  const cwd = freshFolder();
  const env = { RESEARCH_RALPH_REDIS: "redis://:pass-word@127.0.0.1:1" };
  const usual = await cli(["doctor", "--json"], cwd, { ...env, RESEARCH_RALPH_AGENT: "baseline" });
  const found = (
    JSON.parse(usual.out) as { findings: { name: string; ok: boolean; needed: boolean; detail: string }[] }
  ).findings;
  expect(found).toContainEqual({
    name: "Redis",
    ok: false,
    needed: false,
    detail: expect.stringContaining("127.0.0.1:1"),
  });
  const distant = await cli(["doctor"], cwd, { ...env, RESEARCH_RALPH_AGENT: "fleet:baseline" });
  expect([distant.code, distant.out]).toEqual([1, expect.stringMatching(/^✗ Redis /m)]);
  expect(usual.out + distant.out).not.toContain("pass-word");
});

test("limits are jobs in a time", () => {
  expect(readLimit("60/min")).toEqual({ jobs: 60, ms: 60_000 });
  expect(readLimit("5/s")).toEqual({ jobs: 5, ms: 1_000 });
  expect(readLimit("500/h")).toEqual({ jobs: 500, ms: 3_600_000 });
  expect(readLimit("1000/day")).toEqual({ jobs: 1_000, ms: 86_400_000 });
  expect(readLimit("none")).toBeNull();
  for (const wrong of ["0/min", "60", "60/year", "-1/s", "", "1.5/s"]) expect(() => readLimit(wrong)).toThrow("60/min");
});
