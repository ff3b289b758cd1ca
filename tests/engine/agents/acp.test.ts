import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as sdk from "@agentclientprotocol/sdk";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Line, takeTurn, type Turn } from "../../../src/engine/agents/acp/client.js";
import { watchRetries } from "../../../src/engine/agents/acp/retry-watch.js";
import { readAcp } from "../../../src/engine/agents/acp/stream.js";
import type { AgentEvent } from "../../../src/engine/loop/types.js";
import { place } from "./support.js";

const here = place();

type Update = sdk.SessionUpdate;
type Permission = Omit<sdk.RequestPermissionRequest, "sessionId" | "options">;

interface Script {
  readonly session?: object;
  /** What the agent does in its turn; `ask` asks for leave, and answers with the option that was chosen. */
  turn?(say: (update: Update) => Promise<void>, ask: (permission: Permission) => Promise<string>): Promise<object>;
}

const options: sdk.PermissionOption[] = [
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "once", name: "Once", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

const text = (said: string): Update => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text: said },
});

/** An agent of the SDK, driven by our client: what our reader makes of it, and what the agent was asked. */
async function turnWith(script: Script, over: Partial<Turn> = {}, signal = new AbortController().signal) {
  const asked: Record<string, unknown> = {};
  const agent = sdk
    .agent({ name: "scripted" })
    .onRequest(sdk.methods.agent.initialize, ({ params }) => {
      asked["capabilities"] = params.clientCapabilities;
      return { protocolVersion: 1, agentInfo: { name: "scripted", version: "3.2.1" }, agentCapabilities: {} };
    })
    .onRequest(sdk.methods.agent.session.new, ({ params }) => {
      asked["session"] = params;
      return { sessionId: "s", ...script.session };
    })
    .onRequest(sdk.methods.agent.session.setConfigOption, ({ params }) => {
      asked["choice"] = params;
      return { configOptions: [] };
    })
    .onNotification(sdk.methods.agent.session.cancel, () => void (asked["cancelled"] = true))
    .onRequest(sdk.methods.agent.session.prompt, async ({ params, client }) => {
      asked["prompt"] = params.prompt;
      const say = (update: Update) => client.notify(sdk.methods.client.session.update, { sessionId: "s", update });
      const ask = async (permission: Permission) => {
        const request = { sessionId: "s", options, ...permission };
        const { outcome } = await client.request(sdk.methods.client.session.requestPermission, request);
        return outcome.outcome === "selected" ? outcome.optionId : outcome.outcome;
      };
      return ((await script.turn?.(say, ask)) ?? { stopReason: "end_turn" }) as sdk.PromptResponse;
    });
  const reader = readAcp();
  const events: AgentEvent[] = [];
  const print = (line: Line) => void events.push(...reader.line(JSON.stringify(line)));
  const turn: Turn = {
    prompt: "the brief",
    cwd: here.workspace,
    isUnrestricted: false,
    web: false,
    patienceMs: 60_000,
    version: "0.1.0",
    ...over,
  };
  await takeTurn(agent, turn, print, signal);
  return { asked, events, reader };
}

describe("an agent that can't reach its model service", () => {
  const refused = "Attempt 1 failed with status 429. Retrying with backoff...";
  afterEach(() => void vi.useRealTimers());

  it("is given up where it tells nothing else for a time, by the line of its first try", () => {
    vi.useFakeTimers();
    const given: string[] = [];
    const tries = watchRetries(60_000, (line) => given.push(line));
    tries.onLogLine("Starting.");
    vi.advanceTimersByTime(100_000);
    tries.onLogLine(refused);
    vi.advanceTimersByTime(30_000);
    tries.onLogLine(refused.replace("1", "2"));
    vi.advanceTimersByTime(29_999);
    expect(given).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(given).toEqual([refused]);
  });

  it("is not where a later try was answered", () => {
    vi.useFakeTimers();
    const given: string[] = [];
    const tries = watchRetries(60_000, (line) => given.push(line));
    tries.onLogLine(refused);
    tries.onEvent();
    vi.advanceTimersByTime(100_000);
    expect(given).toEqual([]);
  });
});

describe("a turn with an agent over the Agent Client Protocol", () => {
  it("gives it the brief in the workspace, and keeps what it said after its last tool as the message", async () => {
    const call = { toolCallId: "1", title: "read_file", kind: "read" as const };
    const { asked, events, reader } = await turnWith({
      turn: async (say) => {
        await say(text("I look"));
        await say(text(" at it."));
        await say({ sessionUpdate: "tool_call", ...call, status: "pending", rawInput: {} });
        await say({
          sessionUpdate: "tool_call_update",
          ...call,
          status: "in_progress",
          rawInput: { path: "paper.md" },
        });
        await say({ sessionUpdate: "tool_call_update", ...call, status: "completed", rawOutput: "x".repeat(100_000) });
        await say(text("Done.\n"));
        await say(text("<promise>COMPLETE</promise>"));
        return { stopReason: "end_turn", usage: { inputTokens: 800, cachedReadTokens: 200, outputTokens: 50 } };
      },
    });
    expect(asked["prompt"]).toEqual([{ type: "text", text: "the brief" }]);
    expect(asked["session"]).toEqual({ cwd: here.workspace, mcpServers: [] });
    expect(asked["capabilities"]).toMatchObject({ fs: { readTextFile: false, writeTextFile: false }, terminal: false });
    expect(events).toEqual([
      { type: "text", text: "I look at it." },
      { type: "tool", name: "read_file", detail: "paper.md", key: expect.any(String) },
      { type: "text", text: "Done.\n<promise>COMPLETE</promise>" },
      { type: "usage", usage: { input: 1000, cached: 200, output: 50, requests: 2 }, version: "3.2.1" },
    ]);
    expect([reader.isFinished(), reader.answer()]).toEqual([true, { message: "Done.\n<promise>COMPLETE</promise>" }]);
  });

  it("reads the tokens and the model of Gemini CLI where it puts them", async () => {
    const quota = {
      token_count: { input_tokens: 2000, output_tokens: 100 },
      model_usage: [{ model: "gemini-2.5-pro", token_count: { input_tokens: 2000, output_tokens: 100 } }],
    };
    const { events } = await turnWith({ turn: async () => ({ stopReason: "end_turn", _meta: { quota } }) });
    expect(events).toMatchObject([{ usage: { input: 2000, output: 100 }, model: "gemini-2.5-pro" }]);
  });

  it("keeps the window and the cost that an agent tells while it works", async () => {
    const cost = { amount: 0.25, currency: "USD" };
    const { events } = await turnWith({
      turn: async (say) => {
        await say({ sessionUpdate: "usage_update", used: 10, size: 200_000, cost });
        return { stopReason: "end_turn" };
      },
    });
    expect(events).toMatchObject([{ type: "usage", window: 200_000, cost_usd: 0.25 }]);
  });

  it("allows reading and writing in the workspace, once, and nothing else", async () => {
    writeFileSync(join(here.folder, "outside.md"), "");
    writeFileSync(join(here.workspace, "paper.md"), "");
    symlinkSync(here.folder, join(here.workspace, "out"));
    symlinkSync(join(here.folder, "not-yet"), join(here.workspace, "dangling"));
    mkdirSync(join(here.workspace, "deep"));
    const wanted: readonly [sdk.ToolKind, readonly string[], string][] = [
      ["read", ["paper.md"], "once"],
      ["edit", ["result.json"], "once"],
      ["edit", [join(here.workspace, "deep", "x.json")], "once"],
      ["read", [join(here.folder, "outside.md")], "no"],
      ["read", ["paper.md", "../outside.md"], "no"],
      ["read", ["out/outside.md"], "no"],
      ["edit", ["out/new.json"], "no"],
      ["edit", ["dangling"], "no"],
      ["read", [], "no"],
      ["execute", ["paper.md"], "no"],
      ["delete", ["paper.md"], "no"],
      ["fetch", [], "no"],
      ["other", [], "no"],
    ];
    const { events } = await turnWith({
      turn: async (_say, ask) => {
        for (const [kind, paths, answer] of wanted) {
          const locations = paths.map((path) => ({ path }));
          const toolCall = { toolCallId: "1", title: `${kind} ${paths.join()}`, kind, locations };
          expect([kind, paths, await ask({ toolCall })]).toEqual([kind, paths, answer]);
        }
        return { stopReason: "end_turn" };
      },
    });
    expect(events.filter(({ type }) => type === "notice")).toHaveLength(10);
  });

  it("allows the web, the tools it handed over, and everything, where the unit may", async () => {
    const server: sdk.McpServer = { name: "rr", command: "node", args: ["tools"], env: [] };
    const toolCall = (kind: sdk.ToolKind, title: string) => ({ toolCall: { toolCallId: "1", kind, title } });
    const answers = async (over: Partial<Turn>) => {
      const given: string[] = [];
      const { asked } = await turnWith(
        {
          turn: async (_say, ask) => {
            given.push(await ask(toolCall("fetch", "a page")), await ask(toolCall("other", "outline (rr MCP Server)")));
            given.push(
              await ask(toolCall("other", "mcp__rr__outline")),
              await ask(toolCall("execute", "rm -rf outlines")),
            );
            return { stopReason: "end_turn" };
          },
        },
        over,
      );
      return [given, (asked["session"] as { mcpServers: unknown[] }).mcpServers.length];
    };
    expect(await answers({})).toEqual([["no", "no", "no", "no"], 0]);
    expect(await answers({ web: true })).toEqual([["once", "no", "no", "no"], 0]);
    expect(await answers({ tools: { server, names: ["outline"] } })).toEqual([["no", "once", "once", "no"], 1]);
    expect(await answers({ isUnrestricted: true })).toEqual([["once", "once", "once", "once"], 0]);
  });

  it("chooses the model that is asked for, or says which there are", async () => {
    const select = { id: "model", name: "Model", category: "model", type: "select", currentValue: "small" };
    const configOptions = [
      {
        ...select,
        options: [
          { value: "small", name: "S" },
          { value: "large", name: "L" },
        ],
      },
    ];
    const chosen = await turnWith({ session: { configOptions } }, { model: "large" });
    expect(chosen.asked["choice"]).toEqual({ sessionId: "s", configId: "model", value: "large" });
    expect(chosen.events).toMatchObject([{ type: "usage", model: "large" }]);
    expect((await turnWith({ session: { configOptions } })).events).toMatchObject([{ model: "small" }]);
    const missing = await turnWith({ session: { configOptions } }, { model: "huge" });
    expect(missing.reader.answer().failure).toMatchObject({
      kind: "unusable",
      message: expect.stringMatching(/no model 'huge'.*small, large/),
    });
    const none = await turnWith({}, { model: "huge" });
    expect(none.reader.answer().failure).toMatchObject({
      kind: "unusable",
      message: expect.stringMatching(/does not let a client choose its model/),
    });
  });

  it.each([
    ["max_tokens", "context"],
    ["max_turn_requests", "no-answer"],
    ["refusal", "unusable"],
    ["cancelled", "aborted"],
  ])("takes a turn that stopped by %s for no answer", async (stopReason, kind) => {
    const { reader } = await turnWith({
      turn: async (say) => {
        await say(text("<promise>COMPLETE</promise>"));
        return { stopReason };
      },
    });
    expect(reader.answer()).toMatchObject({ failure: { kind } });
  });

  it.each([
    [new sdk.RequestError(-32_000, "Authentication required"), "auth"],
    [new sdk.RequestError(-32_603, "Internal error", { details: "429 Too Many Requests" }), "rate-limit"],
    [new sdk.RequestError(-32_603, "Internal error", { details: "fetch failed: ECONNREFUSED" }), "network"],
    [new sdk.RequestError(-32_603, "Internal error", { details: "no idea" }), "crashed"],
  ])("tells what kind of failure an error of the protocol is: %s", async (error, kind) => {
    const { reader } = await turnWith({
      turn: async () => {
        throw error;
      },
    });
    expect(reader.answer().failure).toMatchObject({ kind });
  });

  it("asks the agent to cancel where the run ends", async () => {
    const stop = new AbortController();
    const { asked, reader } = await turnWith(
      {
        turn: async () => {
          stop.abort();
          await new Promise((resolve) => setTimeout(resolve, 20));
          return { stopReason: "cancelled" };
        },
      },
      {},
      stop.signal,
    );
    expect([asked["cancelled"], reader.answer().failure?.kind]).toEqual([true, "aborted"]);
  });
});
