import { describe, expect, it } from "vitest";
import { never, opened, said } from "./opened-session.js";

describe("a session", () => {
  it("counts what it used, and forgets a message that got no answer", async () => {
    let isDown = true;
    const { session, bodies } = await opened(8192, () => {
      if (isDown) throw new Error("down");
      return said({ content: "fine" });
    });
    const stop = new AbortController();
    stop.abort();
    await session.answer("lost", stop.signal, () => undefined);
    expect([session.messages, session.spent.usage.requests]).toEqual([[], 0]);
    isDown = false;
    await session.answer("hello", never, () => undefined);
    expect(session.spent.usage).toMatchObject({ input: 10, output: 5, requests: 1 });
    expect(JSON.stringify(bodies.at(-1)?.messages)).not.toContain("lost");
    await session.close();
  });
});
