import { expect, test } from "vitest";
import { collectorIn } from "../../../src/engine/traces/otlp.js";
import { type Span, createSpanRecorder } from "../../../src/engine/traces/spans.js";
import type { LoopEvent, NewEvent } from "../../../src/engine/loop/types.js";

/** The spans that a run's events make, by their names; each event comes a second after the one before. */
function spansFrom(told: readonly NewEvent[]): Map<string, Span> {
  let ids = 0;
  const ended = new Map<string, Span>();
  const hear = createSpanRecorder(
    () => `id${(ids += 1)}`,
    (span) => ended.set(span.name, span),
  );
  for (const [second, event] of told.entries())
    hear({ ...event, at: new Date(second * 1000).toISOString() } as LoopEvent);
  return ended;
}

const usage = { input: 900, cached: 100, output: 50, requests: 2 };
const unit = { unit: "arxiv_1", title: "A paper" };
const started = (agent: string): NewEvent => ({
  type: "iteration-started",
  iteration: 1,
  phase: "ANALYSIS",
  ...unit,
  brief_tokens: 10,
  workspace: "/secret/place",
  progress: { done: 0, total: 1 },
  agent,
});
const said = (event: object): NewEvent => ({ type: "agent", iteration: 1, event }) as NewEvent;
const ended = (outcome: object): NewEvent =>
  ({
    type: "iteration-ended",
    iteration: 1,
    unit: "arxiv_1",
    outcome,
    duration_seconds: 1,
    usage,
    cost_usd: 0.5,
  }) as NewEvent;
const begun: NewEvent = { type: "run-started", workflow: "research", agent: "claude" };
const over: NewEvent = {
  type: "run-ended",
  verdict: { verdict: "complete", reason: "Done." },
  progress: { done: 1, total: 1 },
};

test("a run holds its units, a unit its preparation and iterations, an iteration its tools, each with its time", () => {
  const spans = spansFrom([
    begun,
    { type: "preparing", phase: "ANALYSIS", ...unit },
    { type: "prepared", ...unit, outcome: "ready", duration_seconds: 1 },
    started("claude"),
    said({ type: "tool", name: "Read", detail: "paper/01.txt" }),
    said({ type: "usage", usage, model: "claude-sonnet-5" }),
    said({ type: "text", text: "PRIVATE" }),
    said({ type: "end", message: "PRIVATE" }),
    ended({ outcome: "accepted", summary: "PRIVATE" }),
    over,
  ]);
  const [run, of, prepare, iteration, tool] = [
    ...["invoke_workflow research", "unit ANALYSIS", "prepare", "invoke_agent claude", "execute_tool Read"],
  ].map((name) => spans.get(name));
  expect(spans.size).toBe(5);
  expect([of, prepare, iteration, tool].map((span) => span?.parent)).toEqual([run?.id, of?.id, of?.id, iteration?.id]);
  expect([run, of, prepare, iteration, tool].map((span) => [span?.start, span?.end])).toEqual([
    ...[
      [0, 9000],
      [1000, 8000],
      [1000, 2000],
    ],
    ...[
      [3000, 8000],
      [4000, 6000],
    ],
  ]);
  expect(iteration?.attributes).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "claude",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-sonnet-5",
    "gen_ai.usage.input_tokens": 900,
    "gen_ai.usage.output_tokens": 50,
    "research_ralph.outcome": "accepted",
  });
  expect(tool?.attributes).toEqual({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Read" });
  expect(JSON.stringify([...spans.values()])).not.toMatch(/PRIVATE|secret|paper\/01/);
});

test("a refused result leaves its unit open for the next iteration, a failure marks its span, and an end closes all", () => {
  const spans = spansFrom([
    begun,
    started("cmd:./agent --token abc"),
    ended({ outcome: "refused", reasons: ["no quote"] }),
    started("codex"),
    said({ type: "tool", name: "exec cat /etc/hosts", detail: "" }),
    said({ type: "end", message: "", failure: { kind: "timeout", message: "PRIVATE" } }),
    ended({ outcome: "failed", failure: { kind: "timeout", message: "PRIVATE" } }),
    started("codex"),
    over,
  ]);
  expect(spans.get("invoke_agent cmd")?.attributes).toMatchObject({ "research_ralph.outcome": "refused" });
  expect(spans.get("execute_tool exec")?.end).toBe(5000);
  expect([...spans.values()].filter(({ name }) => name === "unit ANALYSIS")).toHaveLength(1);
  expect(spans.get("unit ANALYSIS")).toMatchObject({ start: 1000, end: 6000, failure: "timeout" });
  expect(spans.get("invoke_agent codex")).toMatchObject({ start: 7000, end: 8000 });
  expect(JSON.stringify([...spans.values()])).not.toMatch(/PRIVATE|abc|hosts/);
});

test("the collector is the one that OpenTelemetry's variables name, and wrong ones are told without their values", () => {
  expect(collectorIn({})).toEqual({
    address: "http://localhost:4318/v1/traces",
    headers: {},
    serviceName: "research-ralph",
  });
  const named = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "https://collect.lab/in/",
    OTEL_SERVICE_NAME: "reviews",
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%3Db, Tenant = lab=2",
  };
  expect(collectorIn(named)).toEqual({
    address: "https://collect.lab/in/v1/traces",
    serviceName: "reviews",
    headers: { "api-key": "a=b", tenant: "lab=2" },
  });
  expect(collectorIn({ ...named, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://other/x" }).address).toBe(
    "http://other/x",
  );
  expect(() => collectorIn({ OTEL_EXPORTER_OTLP_ENDPOINT: "grpc:4317" })).toThrow(
    "OTEL_EXPORTER_OTLP_ENDPOINT is not an address for OTLP over HTTP",
  );
  for (const headers of ["SECRET", "a b=SECRET", "a=%SECRET", "a=SECRET%0A"])
    expect(() => collectorIn({ OTEL_EXPORTER_OTLP_HEADERS: headers })).toThrow(
      /^OTEL_EXPORTER_OTLP_HEADERS: header 1 is not of the form name=value/,
    );
});
