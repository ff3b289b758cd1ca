import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { reservedTokens } from "../../src/assistant/conversation/room.js";
import { estimateTokens } from "../../src/engine/lib/tokens.js";
import { never, opened, said } from "./opened-session.js";

describe("a session", () => {
  it("in a window of 8,192 tokens leaves 5,000 for question and answer, whatever rides on it", async () => {
    const { session, bodies, folder } = await opened(8192, () => said({ content: "fine" }));
    writeFileSync(join(folder, "AGENTS.md"), "Write plain English. ".repeat(2_000));
    const memory = await session.memory({ create: true });
    for (let at = 0; at < 5; at += 1)
      await memory?.add("long_term_memory", [{ content: `staging server ${at} ${"is called hermes ".repeat(50)}` }]);
    await session.answer("what is the staging server called?", never, () => undefined);
    const [{ messages, tools } = { messages: [], tools: [] }] = bodies;
    const text = JSON.stringify(messages);
    expect(text).toContain("remembered in earlier sessions");
    expect(text).toContain("Write plain English.");
    expect(8192 - reservedTokens(8192) - estimateTokens(text + JSON.stringify(tools))).toBeGreaterThanOrEqual(5_000);
    const names = JSON.stringify(tools);
    for (const name of ["file_write", "shell_execute", "remember", "fetch_url"]) expect(names).toContain(`"${name}"`);
    expect(await session.omittedToolCount()).toBeGreaterThan(0);
    await session.close();
  });

  it("counts what it used, and forgets a message that got no answer", async () => {
    let isDown = true;
    const { session, bodies } = await opened(8192, () => {
      if (isDown) throw new Error("down");
      return said({ content: "fine" });
    });
    const stop = new AbortController();
    stop.abort();
    await session.answer("lost", stop.signal, () => undefined);
    expect([session.messages, session.spending.usage.requests]).toEqual([[], 0]);
    isDown = false;
    await session.answer("hello", never, () => undefined);
    expect(session.spending.usage).toMatchObject({ input: 10, output: 5, requests: 1 });
    expect(JSON.stringify(bodies.at(-1)?.messages)).not.toContain("lost");
    await session.close();
  });
});
