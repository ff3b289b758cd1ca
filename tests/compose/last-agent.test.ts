import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ResolvedConfig } from "../../src/compose/config.js";
import { rememberAgent, withLastAgent } from "../../src/compose/agents.js";
import { freshFolder, makeResearch, paper } from "../support/projects/research-folder.js";

/** A project whose last work was done by `agent`, or failed, and an environment with a state folder of its own. */
function readBy(agent: string, outcome: "accepted" | "failed" = "accepted") {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "hands-2026-03-01", { papers_pool: [paper("p1", "pending")] });
  const line = { iteration: 1, at: "2026-03-01T10:00:00.000Z", unit: "p1", phase: "ANALYSIS", outcome, agent };
  writeFileSync(join(folder, "ledger.jsonl"), `${JSON.stringify({ ...line, format: 3 })}\n`);
  return { folder, env: { RESEARCH_RALPH_STATE_DIR: join(cwd, "state"), RESEARCH_RALPH_TRUST: "false", PATH: "" } };
}

const config = (agent: string, origin: string): ResolvedConfig =>
  ({ agent, fallbacks: [], agents: {}, origins: { agent: origin } }) as unknown as ResolvedConfig;

describe("the agent of a project", () => {
  test("is the one that did its last work, if the user chooses none", async () => {
    const { folder, env } = readBy("baseline");
    expect((await withLastAgent(config("claude", "default"), folder, { env })).agent).toBe("baseline");
    expect((await withLastAgent(config("codex", "--agent"), folder, { env })).agent).toBe("codex");
  });

  test("is the one that was tried last, if nothing was accepted yet", async () => {
    const { folder, env } = readBy("baseline", "failed");
    expect((await withLastAgent(config("claude", "default"), folder, { env })).agent).toBe("baseline");
  });

  test("is the last agent also behind work that code did alone", async () => {
    const { folder, env } = readBy("baseline");
    const alone = { iteration: 2, at: "2026-03-01T11:00:00.000Z", unit: "discovery-2", phase: "DISCOVERY" };
    appendFileSync(join(folder, "ledger.jsonl"), `${JSON.stringify({ ...alone, outcome: "accepted", format: 3 })}\n`);
    expect((await withLastAgent(config("claude", "default"), folder, { env })).agent).toBe("baseline");
  });

  test("is the one that was typed for it last, before any work", async () => {
    const { folder, env } = readBy("baseline");
    writeFileSync(join(folder, "ledger.jsonl"), "");
    const asked = async () => (await withLastAgent(config("claude", "default"), folder, { env })).agent;
    expect(await asked()).toBe("claude");
    for (const agent of ["cmd:mine", "codex", "cmd:mine"]) {
      await rememberAgent(config(agent, "--agent"), folder, { env });
      expect(await asked()).toBe(agent);
    }
  });

  test("is a command only if the user typed that command for that project", async () => {
    const { folder, env } = readBy("cmd:mine");
    const asked = () => withLastAgent(config("claude", "default"), folder, { env });
    expect((await asked()).agent).toBe("claude");
    await rememberAgent(config("cmd:mine", "ralph.config.yaml"), folder, { env });
    await rememberAgent(config("cmd:other", "--agent"), folder, { env });
    expect((await asked()).agent).toBe("claude");
    await rememberAgent(config("cmd:mine", "--agent"), folder, { env });
    expect((await asked()).agent).toBe("cmd:mine");
    const elsewhere = readBy("cmd:mine");
    expect((await withLastAgent(config("claude", "default"), elsewhere.folder, { env })).agent).toBe("claude");
  });
});
