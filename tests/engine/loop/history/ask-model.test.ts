import { existsSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { createAgent } from "../../../../src/engine/agents/registry.js";
import { askForSummary, summaryEnv } from "../../../../src/engine/loop/history/ask-model.js";
import { runProcess } from "../../../../src/engine/process/run-process.js";
import { fakeClock } from "../../../support/clock.js";
import { temporaryFolder } from "../../../support/projects/research.js";

const ask = (command: string, stateDir: string) => {
  const cwd = temporaryFolder();
  const env = { PATH: process.env["PATH"], ...summaryEnv };
  const settings = {
    iterationMs: 60_000,
    idleMs: 0,
    unconfined: true,
    classic: false,
    stateDir,
    exec: runProcess,
    transcript: () => undefined,
    adapters: [],
    secrets: [],
    agents: {},
    cwd,
    env,
  };
  return askForSummary(createAgent(`cmd:${command}`, settings), "what happened", {
    stateDir,
    clock: fakeClock(),
    signal: new AbortController().signal,
    redact: (text) => text.replaceAll("hunter-2", "[gone]"),
  });
};

test("an agent's final message is the summary, and it is told how long and how freely to answer", async () => {
  const stateDir = temporaryFolder();
  const answer = await ask(
    'read -r asked; printf "Of \\"$asked\\": $RESEARCH_RALPH_MAX_TOKENS at $RESEARCH_RALPH_TEMPERATURE\\n"',
    stateDir,
  );
  expect(answer).toMatchObject({ summary: 'Of "what happened": 1000 at 0.3' });
  expect(readdirSync(stateDir)).toEqual([]);
});

test("a summary holds no secret", async () => {
  expect(await ask("echo It was hunter-2.", temporaryFolder())).toMatchObject({ summary: "It was [gone]." });
});

test("an agent that fails or says nothing gives a reason and leaves no folder", async () => {
  const stateDir = temporaryFolder();
  expect(await ask("exit 3", stateDir)).toMatchObject({ reason: expect.stringContaining("exit code 3") });
  expect(await ask("true", stateDir)).toMatchObject({ reason: expect.stringMatching(/nothing/) });
  expect(existsSync(stateDir) && readdirSync(stateDir)).toEqual([]);
});
