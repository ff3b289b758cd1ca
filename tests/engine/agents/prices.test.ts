import { describe, expect, test } from "vitest";
import { readClaude } from "../../../src/engine/agents/claude/stream.js";
import { readCodex } from "../../../src/engine/agents/codex/stream.js";
import { models, modelByName, withPrice, priceOf, windowOf } from "../../../src/engine/agents/prices.js";

describe("the list of models", () => {
  test("holds each name once, with prices of which none is negative and cached input is never dearer", () => {
    expect(new Set(models.map(({ name }) => name)).size).toBe(models.length);
    for (const { window, input = 0, cached = 0, output = 1 } of models) {
      expect(window).toBeGreaterThan(4_000);
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
    expect(modelByName(name)?.name).toBe(known);
  });

  test.each(["claude-sonnet-5-9", "gpt-5.55", "gpt-5-turbo", "some-model", undefined])(
    "knows no %s: a wrong price is worse than none",
    (name) => {
      expect(modelByName(name)).toBeUndefined();
    },
  );

  test("a model that was asked for with its larger window has that", () => {
    expect(modelByName("claude-opus-4-6[1m]")?.window).toBe(1_000_000);
  });
});

describe("the window of a name that is not in the list", () => {
  test.each([
    ["claude-sonnet-4.5", 200_000],
    ["us.anthropic.claude-sonnet-4-6-20260301-v1:0", 200_000],
    ["claude-haiku-6", 200_000],
    ["gpt-5.1-codex", 400_000],
    ["gpt-5-nano", 400_000],
    ["gpt-4.5-preview", 128_000],
    ["gpt-4-0613", 8_192],
    ["gemini-2.0-pro", 1_048_576],
    ["ft:gpt-4o-mini:org", 128_000],
    ["qwen3:8b", 32_768],
    ["Qwen/Qwen3-Coder-30B", 262_144],
    ["llama3:8b", 8_192],
    ["llama3.1:70b-instruct", 131_072],
    ["local-model", undefined],
  ])("%s has that of its nearest kin: %s", (name, window) => {
    expect(windowOf(name)).toBe(window);
  });

  // The families of November 2024 to November 2026; a new one is added here and to the list.
  test.each(
    `claude-3-5-sonnet-latest claude-3-7-sonnet-latest claude-opus-4-1 claude-opus-4.5 claude-opus-5 claude-sonnet-4-20250514
    claude-sonnet-4-5-20250929 claude-sonnet-4-6 claude-sonnet-5 claude-haiku-4-5 claude-haiku-5-5 claude-fable-5 claude-next
    gpt-4o-2024-11-20 gpt-4.1-nano gpt-4.5-preview gpt-5-mini gpt-5-pro gpt-5-codex gpt-5.1 gpt-5.2-codex gpt-5.4-nano gpt-5.6-sol gpt-6 o1-pro
    o3-mini o4-mini gpt-oss:20b gpt-oss-120b gemini-2.0-flash-lite gemini-2.0-pro-exp gemini-2.5-flash gemini-3-flash gemini-3.1-pro gemini-3.5-pro gemini-3.7-flash
    deepseek-chat deepseek-r1:14b deepseek-v3.2-exp qwen2.5:7b qwen2.5-coder:32b qwen3:4b qwen3-max qwen3.5-plus qwq:32b llama3.3
    llama-4-scout mistral-small-3.2 mistral-large-2411 devstral-small magistral-medium codestral-2501 ministral-8b gemma3:12b gemma4:27b phi4
    grok-3-mini grok-4-fast grok-code-fast-1 kimi-k2-instruct glm-4.5-air glm-4.6 glm-5 command-a-03-2025 amazon.nova-pro-v1:0
    granite4:small nemotron-nano minimax-m2`.split(/\s+/),
  )("%s has a family", (name) => {
    expect(windowOf(name)).toBeGreaterThan(8_192);
  });
});

test("of a model without a listed price the window alone is known, and no cost is made up", () => {
  const usage = { input: 10, cached: 0, output: 1, requests: 1 };
  const event = withPrice({ type: "usage", usage, model: "gpt-4.1-2025-04-14" }, undefined);
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
    expect(withPrice({ type: "usage", usage, model: "gpt-5.5" }, undefined)).toMatchObject({
      estimated: true,
      window: 400_000,
      cost_usd: expect.any(Number),
    });
    expect(withPrice({ type: "usage", usage }, "gpt-5.5")).toMatchObject({ estimated: true });
  });

  test("stays as the CLI tells it, unmarked", () => {
    const event = withPrice({ type: "usage", usage, model: "claude-sonnet-5-5", cost_usd: 0.5 }, undefined);
    expect(event).toMatchObject({ cost_usd: 0.5, window: 1_000_000 });
    expect(event).not.toHaveProperty("estimated");
  });

  test("is not invented for a model that is not known", () => {
    expect(withPrice({ type: "usage", usage, model: "some-model" }, "gpt-5.5")).toEqual({
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
