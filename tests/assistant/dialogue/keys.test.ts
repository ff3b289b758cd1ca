import { describe, expect, it } from "vitest";
import { Keys } from "../../../src/assistant/dialogue/keys.js";
import { Pastes } from "../../../src/assistant/dialogue/pastes.js";
import fc from "../../support/runner/fast-check.js";

const begins = "\u001b[200~";
const ends = "\u001b[201~";

function keyboard(before = "") {
  const pastes = new Pastes();
  let interrupts = 0;
  const keys = new Keys(pastes, { onInterrupt: () => (interrupts += 1), lineBeforeCursor: () => before });
  let reached = "";
  keys.on("data", (chunk: Buffer) => (reached += chunk.toString("utf8")));
  return { keys, pastes, reached: () => reached, interrupts: () => interrupts };
}
const settled = async () => await new Promise((resolve) => setImmediate(resolve));

describe("what is pasted", () => {
  it("reaches the line as its label, however the terminal cuts it, and is whole in the message", async () => {
    const text = fc.stringMatching(/^[a-z \u001b[\]0-9~é日]{0,300}$/);
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 2, maxLength: 12 }), fc.nat(40), async (lines, cut) => {
        const { keys, pastes, reached } = keyboard();
        const pasted = lines.join("\r").replaceAll("\u001b", "");
        const sent = Buffer.from(`a${begins}${pasted}${ends}b`);
        for (let at = 0; at < sent.length; at += cut + 1) keys.write(sent.subarray(at, at + cut + 1));
        await settled();
        const whole = `a${pasted.replaceAll("\r", "\n").trimEnd()}b`;
        expect(pastes.expand(reached())).toBe(whole);
        if (pasted.trimEnd().includes("\r")) expect(reached()).toMatch(/^a\[\d+ lines\]b$/);
      }),
    );
  });

  it("of 1 MB is a label too, and control characters in it do nothing", async () => {
    const { keys, pastes, reached } = keyboard();
    const big = "x".repeat(1024 * 1024);
    keys.write(`${begins}${big}\u0003\u001b[2J${ends}`);
    await settled();
    expect(reached()).toBe("[1,048,576 characters]");
    expect(pastes.expand(reached())).toBe(big);
  });

  it("of one short line is typed as it is", async () => {
    const { keys, reached } = keyboard();
    keys.write(`${begins}git status\n${ends}`);
    await settled();
    expect(reached()).toBe("git status");
  });

  it("twice, with other words, has two labels; the same words have one", () => {
    const pastes = new Pastes();
    expect([pastes.lineTextFor("a\nb"), pastes.lineTextFor("c\nd"), pastes.lineTextFor("a\nb")]).toEqual([
      "[2 lines]",
      "[2 lines, no. 2]",
      "[2 lines]",
    ]);
    expect(pastes.expand("x [2 lines, no. 2] [7 lines]")).toBe("x c\nd [7 lines]");
  });

  it("is deleted as a whole", async () => {
    const pastes = new Pastes();
    const label = pastes.lineTextFor("a\nb");
    const keys = new Keys(pastes, { onInterrupt: () => undefined, lineBeforeCursor: () => `say ${label}` });
    let reached = "";
    keys.on("data", (chunk: Buffer) => (reached += chunk.toString("utf8")));
    keys.write("\u007f");
    await settled();
    expect(reached).toBe("\u007f".repeat(label.length));
  });
});

describe("while an answer is awaited", () => {
  it("keys wait, and reach the line afterwards", async () => {
    const { keys, reached } = keyboard();
    keys.hold();
    keys.write("next ");
    keys.write("question");
    await settled();
    expect(reached()).toBe("");
    keys.release();
    await settled();
    expect(reached()).toBe("next question");
  });

  it.each(["\u0003", "\u001b"])("%j interrupts it, and what was typed before is forgotten", async (key) => {
    const { keys, reached, interrupts } = keyboard();
    keys.hold();
    keys.write("yes");
    keys.write(key);
    keys.release();
    await settled();
    expect([interrupts(), reached()]).toEqual([1, ""]);
  });

  it("a question takes the next key that fits, not one that was typed before it", async () => {
    const { keys } = keyboard();
    keys.hold();
    keys.write("y");
    const key = keys.answer((pressed) => (/[yn]/.test(pressed) ? pressed : undefined));
    keys.write("xz");
    keys.write("n");
    expect(await key).toBe("n");
  });

  it("a question is answered as by Ctrl+C once the terminal is gone", async () => {
    const { keys } = keyboard();
    const asked = keys.answer((pressed) => (pressed === "\u0003" ? "stop" : undefined));
    keys.end();
    expect([await asked, await keys.answer((pressed) => pressed)]).toEqual(["stop", "\u0003"]);
  });
});
