import { defaultHistoryLimits } from "../../../src/engine/lib/history-limits.js";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resolveConfig } from "../../../src/compose/config.js";
import { temporaryFolder } from "../../support/projects/research.js";

const hooks = [{ on: ["complete"], run: "true" }];

test("hooks come from the user's config, whole, and there are none by default", async () => {
  const cwd = temporaryFolder();
  expect((await resolveConfig({ env: {}, cwd, home: cwd })).hooks).toEqual([]);
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ hooks }));
  expect((await resolveConfig({ env: {}, cwd, isOnlyShown: true })).hooks).toEqual(hooks);
});

test("a point that does not exist is refused", async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ hooks: [{ on: ["sometimes"], run: "true" }] }));
  await expect(resolveConfig({ env: {}, cwd, home: cwd })).rejects.toThrow(/hooks/);
});

test("the history is summarised every five iterations by code unless somebody says otherwise", async () => {
  const cwd = temporaryFolder();
  expect((await resolveConfig({ env: {}, cwd, home: cwd })).history).toEqual({
    every: 5,
    limits: defaultHistoryLimits,
  });
  const env = {
    RESEARCH_RALPH_HISTORY_EVERY: "0",
    RESEARCH_RALPH_HISTORIAN: "codex",
    RESEARCH_RALPH_STAGNATION_LIMIT: "3",
  };
  expect((await resolveConfig({ env, cwd, home: cwd })).history).toEqual({
    every: 0,
    agent: "codex",
    limits: { ...defaultHistoryLimits, stagnation: 3 },
  });
});
