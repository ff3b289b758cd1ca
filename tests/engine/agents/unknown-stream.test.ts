import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { amp } from "../../../src/engine/agents/amp.js";
import { claude } from "../../../src/engine/agents/claude/claude.js";
import { codex } from "../../../src/engine/agents/codex/codex.js";
import { readUnknownAgent } from "../../../src/engine/agents/registry.js";

const read = (reader: ReturnType<typeof readUnknownAgent>, lines: readonly string[]) => ({
  events: lines.flatMap((line) => reader.line(line)),
  answer: reader.answer(),
});

test.each([
  ["claude", claude],
  ["codex", codex],
] as const)("a stream of %s is read as its own adapter reads it", (name, { reader }) => {
  const lines = readFileSync(`tests/fixtures/agents/${name}-success.jsonl`, "utf8").split("\n");
  const { events } = read(readUnknownAgent(), lines);
  expect(events).toEqual(read(reader(), lines).events);
  expect(events.length).toBeGreaterThan(2);
});

test("what Amp says and does is shown, though its stream is much like another's", () => {
  const lines = readFileSync("tests/fixtures/agents/amp-success.jsonl", "utf8").split("\n");
  const said = (events: readonly { readonly type: string }[]) => events.filter(({ type }) => type !== "usage");
  expect(said(read(readUnknownAgent(), lines).events)).toEqual(said(read(amp.reader(), lines).events));
});

test("what is no JSON is read as plain text, and so is what follows", () => {
  const { events, answer } = read(readUnknownAgent(), ["", "Begun.", '{"type":"assistant"}', "Done."]);
  expect(events).toEqual(["Begun.", '{"type":"assistant"}', "Done."].map((text) => ({ type: "text", text })));
  expect(answer.message).toBe('Begun.\n{"type":"assistant"}\nDone.');
});
