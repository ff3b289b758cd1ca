import { describe, expect, test } from "vitest";
import { readClaude } from "../../../src/engine/agents/claude/stream.js";
import { readCodex } from "../../../src/engine/agents/codex/stream.js";
import { models, modelNamed, priced, priceOf } from "../../../src/engine/agents/prices.js";

describe("the list of models", () => {
  test("holds each name once, with prices of which none is negative and cached input is never dearer", () => {
    expect(new Set(models.map(({ name }) => name)).size).toBe(models.length);
    for (const { window, input = 0, cached = 0, output = 1 } of models) {
      expect(window).toBeGreaterThan(8_000);
      expect(cached).toBeLessThanOrEqual(input);
      expect(output).toBeGreaterThan(input);
    }
  });

  test.each([
    ["claude-sonnet-5-5", "claude-sonnet-5-5"],
    ["claude-sonnet-5-5-20260901", "claude-sonnet-5-5"],
    ["anthropic/claude-haiku-4-5@20251001", "claude-haiku-4-5"],
    ["claude-opus-4-6[1m]", "claude-opus-4-6"],
    ["gpt-5.5-2026-04-23", "gpt-5.5"],
    ["gpt-5.5", "gpt-5.5"],
    ["gpt-4o-2024-08-06", "gpt-4o"],
    ["o3", "o3"],
    ["gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"],
    ["gemini-1.5-pro-002", "gemini-1.5-pro"],
    ["deepseek-chat", "deepseek-chat"],
    ["sonnet", "claude-sonnet-5-5"],
    ["opus[1m]", "claude-opus-5-5"],
  ])("finds %s as %s", (name, known) => {
    expect(modelNamed(name)?.name).toBe(known);
  });

  test.each(["claude-sonnet-5-9", "gpt-5.55", "gpt-5-turbo", "some-model", undefined])(
    "knows no %s: a wrong price is worse than none",
    (name) => {
      expect(modelNamed(name)).toBeUndefined();
    },
  );

  test("a model that was asked for with its larger window has that", () => {
    expect(modelNamed("claude-opus-4-6[1m]")?.window).toBe(1_000_000);
  });
});

test("of a model without a listed price the window alone is known, and no cost is made up", () => {
  const usage = { input: 10, cached: 0, output: 1, requests: 1 };
  const event = priced({ type: "usage", usage, model: "gpt-4.1-2025-04-14" }, undefined);
  expect(event).toMatchObject({ window: 1_047_576 });
  expect(event).not.toHaveProperty("cost_usd");
});

describe("the price of a use", () => {
  const usage = { input: 1_000_000, cached: 400_000, output: 100_000, requests: 3 };
  const sonnet = { name: "s", window: 200_000, input: 3, cached: 0.3, output: 15 };

  test("counts fresh input, cached input and output each at its own", () => {
    expect(priceOf(usage, sonnet)).toBeCloseTo(0.6 * 3 + 0.4 * 0.3 + 0.1 * 15);
  });

  test("is estimated where the CLI tells none, and marked", () => {
    expect(priced({ type: "usage", usage, model: "gpt-5.5" }, undefined)).toMatchObject({
      estimated: true,
      window: 400_000,
      cost_usd: expect.any(Number),
    });
    expect(priced({ type: "usage", usage }, "gpt-5.5")).toMatchObject({ estimated: true });
  });

  test("stays as the CLI tells it, unmarked", () => {
    const event = priced({ type: "usage", usage, model: "claude-sonnet-5-5", cost_usd: 0.5 }, undefined);
    expect(event).toMatchObject({ cost_usd: 0.5, window: 1_000_000 });
    expect(event).not.toHaveProperty("estimated");
  });

  test("is not invented for a model that is not known", () => {
    expect(priced({ type: "usage", usage, model: "some-model" }, "gpt-5.5")).toEqual({
      type: "usage",
      usage,
      model: "some-model",
    });
  });
});

describe("what streams tell of requests and of who pays", () => {
  const feed = (lines: object[], reader = readClaude()) => lines.flatMap((line) => reader.line(JSON.stringify(line)));
  const assistant = (id: string, input: number, output: number) => ({
    type: "assistant",
    message: {
      id,
      content: [],
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: input - 10,
        cache_creation_input_tokens: 0,
        output_tokens: output,
      },
    },
  });

  test("the largest request of claude is that of one answer, cached input and the answer counted in", () => {
    const events = feed([assistant("a", 1000, 50), assistant("b", 3000, 20), assistant("c", 2000, 10)]);
    expect(events.at(-1)).toMatchObject({ usage: { requests: 3, largest: 3020, input: 6000 } });
  });

  test.each([
    ["none", "subscription"],
    ["ANTHROPIC_API_KEY", "api"],
  ])("a claude whose key comes from %s is paid by %s", (apiKeySource, billing) => {
    expect(
      feed([{ type: "system", subtype: "init", model: "m", apiKeySource }, assistant("a", 20, 1)]).at(-1),
    ).toMatchObject({ billing });
  });

  test("a claude that kept to its budget says so", () => {
    const reader = readClaude();
    feed(
      [{ type: "result", subtype: "error_max_budget_usd", is_error: true, errors: ["Reached maximum budget"] }],
      reader,
    );
    expect(reader.answer()).toMatchObject({ failure: { kind: "budget" } });
  });

  test("codex, which tells totals alone, has a largest request only where it made one", () => {
    const done = { type: "turn.completed", usage: { input_tokens: 900, cached_input_tokens: 0, output_tokens: 100 } };
    const work = { type: "item.completed", item: { type: "file_change", changes: [] } };
    expect(feed([done], readCodex())).toMatchObject([{ usage: { largest: 1000 } }]);
    expect(feed([work, done], readCodex()).at(-1)).not.toHaveProperty("usage.largest");
  });
});
