import { totalUsage } from "../engine/agents/shared/messages.js";
import type { JSONValue, LanguageModel, ModelMessage, ToolSet } from "ai";
import type { Clock } from "../engine/lib/clock.js";
import type { Failure, Usage } from "../engine/loop/types.js";
import type { ToolResult } from "../engine/tools/tool.js";
import { duration } from "../engine/lib/words.js";
import { failureOf, retryAfter } from "./model/failure.js";
import { fitted } from "./conversation/compact.js";
import { answerRoom, promptRoom, tokensIn } from "./conversation/room.js";
import { opensThinking, type Parted, ThinkingTags, withoutThinking } from "./conversation/thinking.js";
import type { Settings } from "./settings.js";
import { type Action, actionInstructions, actionsIn, callInText, isBrokenAction } from "./tools/actions.js";
import { type BoundTool, callByName } from "./tools/call.js";

/** What a conversation says while it goes on. */
export type Said =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "tool"; readonly name: string; readonly input: unknown }
  | { readonly type: "tool-result"; readonly name: string; readonly result: ToolResult }
  | { readonly type: "usage"; readonly usage: Usage }
  /** Older parts of the conversation were shortened, as the answer had no room. */
  | { readonly type: "compacted" }
  /** What was said of this answer so far does not count: it is asked for again. */
  | { readonly type: "again"; readonly reason: string };

export interface Conversation {
  readonly model: LanguageModel;
  readonly settings: Settings;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly BoundTool[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds that one wait for the service may take; a longer one is left to the caller. */
  readonly maxWaitMs: number;
  /** Most requests for one answer: a model that goes on calling tools is stopped. */
  readonly maxRounds?: number;
  readonly tell: (said: Said) => void;
}

/**
 * How a conversation ended: with the model's last words, or with why they are missing. `messages`: all that were said,
 * a result behind each call, so that the conversation can go on with them.
 */
export type Spoken = { readonly messages: readonly ModelMessage[]; readonly usage: Usage } & (
  | { readonly message: string }
  | { readonly failure: Failure }
);

/** Most requests for one answer, where nobody says how many. */
const usualRounds = 50;
/** Tries of one request, the first one included. */
const maxTries = 4;
/** Milliseconds before the second try; they double. */
const firstWaitMs = 2_000;
/** The share of the room that is used once a service says that a request is too long, in spite of our count. */
const narrower = 0.7;

/**
 * Asks a model until it has said its last words, running the tools it calls. A request that a busy or lost service
 * does not answer is made again, up to four times, after the time that the service names or 2, 4 and 8 seconds. Never
 * throws for a failure of the service.
 */
export async function converse(conversation: Conversation): Promise<Spoken> {
  const { settings, tools, signal, tell, maxRounds = usualRounds } = conversation;
  let messages: ModelMessage[] = [...conversation.messages];
  let usage: Usage = { input: 0, cached: 0, output: 0, requests: 0 };
  /** Shortens what is long ago until an answer has room; says whether it has. */
  const makeRoom = (share = 1): boolean => {
    const room = promptRoom(settings) * share;
    const fits = (tried: readonly ModelMessage[]) => tokensIn({ ...conversation, messages: tried }) <= room;
    const kept = fitted(messages, fits, settings.history);
    if (kept === undefined) return false;
    if (kept === messages) return true;
    tell({ type: "compacted" });
    messages = [...kept];
    return true;
  };
  let broken = 0;
  for (let round = 0; round < maxRounds; round += 1) {
    if (!makeRoom()) return { failure: needsMoreRoom(conversation, messages), messages, usage };
    const withoutCalls = noCalls.has(nameOf(conversation));
    const asked = withoutCalls ? inWords(conversation) : conversation;
    let answer = await oneAnswer(asked, messages);
    const sent = messages;
    // The same request again would be refused again.
    if ("failure" in answer && answer.failure.kind === "context" && makeRoom(narrower) && messages !== sent)
      answer = await oneAnswer(asked, messages);
    if ("failure" in answer && !withoutCalls && tools.length > 0 && refusesTools(answer.failure)) {
      noCalls.add(nameOf(conversation));
      continue;
    }
    if ("failure" in answer) return { failure: answer.failure, messages, usage };
    const largest = Math.max(usage.largest ?? 0, answer.usage.largest ?? 0);
    usage = { ...totalUsage([usage, answer.usage]), largest };
    tell({ type: "usage", usage });
    messages.push(...answer.messages);
    if (answer.calls.length === 0) {
      if (answer.reason === "length") return { failure: cutShort(settings), messages, usage };
      if (answer.reason === "content-filter") return { failure: withheld(settings), messages, usage };
      const actions = withoutCalls ? actionsIn(answer.text, tools) : callInText(answer.text, tools);
      if (actions.length === 0 && settings.json !== true && tools.length > 0 && isBrokenAction(answer.text)) {
        broken += 1;
        if (broken > maxBroken) return { failure: brokenAction(settings), messages, usage };
        tell({
          type: "again",
          reason: "The model wrote an action whose JSON is broken; it is asked to write it again.",
        });
        messages.push({ role: "user", content: askedAgain });
        continue;
      }
      if (actions.length === 0) return { message: answer.text, messages, usage };
      messages.push(await resultsOf(actions, conversation));
      continue;
    }
    const results: ModelMessage = { role: "tool", content: [] };
    for (const { toolCallId, toolName, input } of answer.calls) {
      tell({ type: "tool", name: toolName, input });
      const result = await callByName(tools, toolName, input, signal);
      tell({ type: "tool-result", name: toolName, result });
      const value = result as unknown as JSONValue;
      results.content.push({ type: "tool-result", toolCallId, toolName, output: { type: "json", value } });
    }
    messages.push(results);
  }
  return {
    failure: { kind: "no-answer", message: `${settings.model} called tools ${maxRounds} times without an answer.` },
    messages,
    usage,
  };
}

/** How often a model is asked to write an action again. */
const maxBroken = 2;
const askedAgain =
  "Your last message begins an action, and its JSON ends too early or is not valid. Nothing was done. Write the whole action again as one JSON object, or answer in plain words.";

const brokenAction = ({ model }: Settings): Failure => ({
  kind: "no-answer",
  message: `${model} wrote an action whose JSON is broken, ${maxBroken + 1} times in a row, so nothing was done; ask for less at a time.`,
});

/** Models whose servers refused tools: they are asked for actions in their own words from then on. */
const noCalls = new Set<string>();
const nameOf = ({ settings: { url, model } }: Conversation): string => `${url.href} ${model}`;

/** Whether a service does not take tools: Ollama, vLLM and OpenRouter each say so in a sentence. */
const refusesTools = ({ kind, message }: Failure): boolean =>
  kind === "unusable" && /\btools?\b|\btool[ _-]?(?:use|choice|calls?)|function call/i.test(message);

/** The same conversation for a model without tool calls. */
const inWords = (conversation: Conversation): Conversation => ({
  ...conversation,
  system: [conversation.system, actionInstructions(conversation.tools)]
    .filter((part) => part !== undefined)
    .join("\n\n"),
  tools: [],
});

/** Does what a model asked for in its words; the results, each behind its action, are the next message. */
async function resultsOf(actions: readonly Action[], { tools, signal, tell }: Conversation): Promise<ModelMessage> {
  const results: string[] = [];
  for (const { tool, input } of actions.slice(0, maxActions)) {
    tell({ type: "tool", name: tool, input });
    const result = await callByName(tools, tool, input, signal);
    tell({ type: "tool-result", name: tool, result });
    results.push(`Result of ${tool}:\n${JSON.stringify(result)}`);
  }
  if (actions.length > maxActions) results.push(`Only the first ${maxActions} actions were done.`);
  return { role: "user", content: results.join("\n\n") };
}

/** Most actions of one text. */
const maxActions = 20;

interface Call {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

interface Answered {
  readonly text: string;
  readonly calls: readonly Call[];
  readonly messages: readonly ModelMessage[];
  readonly usage: Usage;
  readonly reason: string;
}

/** One request and its answer, tried again where that may help. */
async function oneAnswer(
  conversation: Conversation,
  messages: readonly ModelMessage[],
): Promise<Answered | { readonly failure: Failure }> {
  const { clock, signal, maxWaitMs, settings, tell } = conversation;
  for (let tried = 1; ; tried += 1) {
    try {
      return await request(conversation, messages);
    } catch (error) {
      const failure = signal.aborted
        ? { kind: "aborted" as const, message: "The answer was interrupted." }
        : failureOf(error, settings, clock.now());
      const mayPass = failure.kind === "rate-limit" || failure.kind === "network";
      const waitMs = retryAfter(error, clock.now()) ?? firstWaitMs * 2 ** (tried - 1);
      if (!mayPass || tried >= maxTries || waitMs > maxWaitMs) return { failure };
      tell({
        type: "again",
        reason: `${failure.message} Trying again in ${Math.ceil(waitMs / 1000)} s (${tried + 1} of ${maxTries}).`,
      });
      await clock.sleep(clock.now() + waitMs, signal);
    }
  }
}

/** Milliseconds after which a stream of words lets other events in. */
const breathMs = 50;

/** Not every service can be held to JSON, and some that can want to be told. */
const jsonOnly = "Your last answer is one JSON value and nothing else.";

/** Throws what the service or the network did wrong. */
async function request(
  { model, settings, system, tools, signal, tell }: Conversation,
  messages: readonly ModelMessage[],
): Promise<Answered> {
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  const { jsonSchema, Output, streamText, tool } = await import("ai");
  const offered: ToolSet = Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters) }),
    ]),
  );
  const result = streamText({
    model,
    messages: [...messages],
    maxRetries: 0,
    abortSignal: signal,
    // The stream tells of it.
    onError: () => undefined,
    ...(settings.json === true ? { output: Output.json() } : {}),
    system: settings.json === true ? [system, jsonOnly].filter((part) => part !== undefined).join("\n\n") : system,
    tools: tools.length === 0 ? undefined : offered,
    temperature: settings.temperature,
    maxOutputTokens: answerRoom(settings, tokensIn({ messages, tools, system })),
  });
  let text = "";
  let tags = new ThinkingTags(opensThinking(settings.model));
  const heard = ({ thinking, words, anew }: Parted): void => {
    if (anew === true && text !== "")
      tell({ type: "again", reason: "So far the model was thinking; here it answers." });
    if (anew === true) text = "";
    if (thinking !== "") tell({ type: "thinking", text: thinking });
    if (words !== "") tell({ type: "text", text: words });
    text += words;
  };
  const calls: Call[] = [];
  let usage: Usage | undefined;
  let reason = "";
  let breathedAt = performance.now();
  for await (const part of result.fullStream) {
    // What has come already is not a reason to go on, and Ctrl+C must be heard while much is coming.
    if (performance.now() - breathedAt > breathMs) {
      await new Promise((resolve) => setImmediate(resolve));
      breathedAt = performance.now();
    }
    if (signal.aborted) throw new Error("aborted");
    if (part.type === "error") throw part.error;
    if (part.type === "abort") throw new Error("aborted");
    if (part.type === "text-delta") heard(tags.add(part.text));
    else if (part.type === "reasoning-delta") {
      // The service tells the two apart itself.
      if (text === "") tags = new ThinkingTags();
      tell({ type: "thinking", text: part.text });
    } else if (part.type === "tool-call") calls.push(part);
    else if (part.type === "finish-step") {
      const { inputTokens: input = 0, outputTokens: output = 0, inputTokenDetails } = part.usage;
      const cached = inputTokenDetails.cacheReadTokens ?? 0;
      usage = { input, cached, output, requests: 1, largest: input + output };
      reason = part.finishReason;
    }
  }
  heard(tags.end());
  if (usage === undefined || reason === "error") throw new Error("The answer broke off before its end.");
  if (text === "" && calls.length === 0 && reason !== "length" && reason !== "content-filter")
    throw new Error("The answer is empty.");
  // The package answers calls that it can't read by itself; here every call has one result, written here.
  const said = (await result.response).messages.filter(({ role }) => role === "assistant");
  return { text, calls, messages: said.map(withoutBulk), usage, reason };
}

/** Characters of one argument that stay in the conversation after its call: it is sent again with every request. */
const maxKept = 50_000;

/** A model's words without what nobody has to read again: its thinking between tags, and long arguments. */
function withoutBulk(message: ModelMessage): ModelMessage {
  if (message.role !== "assistant" || typeof message.content === "string") return message;
  const words = message.content.flatMap((part) => {
    const text = part.type === "text" ? withoutThinking(part.text) : undefined;
    return text === undefined ? [part] : text === "" ? [] : [{ ...part, text } as typeof part];
  });
  const content = words.map((part) => {
    if (part.type !== "tool-call" || JSON.stringify(part.input).length <= maxKept) return part;
    const input = typeof part.input === "object" && part.input !== null ? Object.entries(part.input) : [];
    const short = input.map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return [name, text.length > 1000 ? `${text.slice(0, 1000)} [… ${text.length} characters]` : value];
    });
    return { ...part, input: Object.fromEntries(short) };
  });
  return { ...message, content };
}

/** Why a request can't fit into the model's window. */
function needsMoreRoom({ settings, system, tools }: Conversation, messages: readonly ModelMessage[]): Failure {
  const last = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
  const tokens = tokensIn({ messages: last, tools, system });
  const ofTools = tokensIn({ messages: [], tools });
  const share = ofTools > tokens / 2 ? `, ${ofTools} of them for its tools,` : "";
  const shorter =
    share !== "" && tools.some(({ name }) => name.startsWith("mcp_"))
      ? "Pick some of them by `tools` in mcpServers, or choose"
      : "Shorten it, or choose";
  const advice = settings.isWindowKnown
    ? `${shorter} a model with a larger window.`
    : "That window is the default for a model that is not known: set context_window if it takes more.";
  return {
    kind: "context",
    message: `The request has about ${tokens} tokens${share || ","} and ${settings.model} takes ${settings.window}, its answer included. ${advice}`,
  };
}

const cutShort = ({ model, maxTokens }: Settings): Failure => ({
  kind: "no-answer",
  message: `${model} was cut off at its longest answer${maxTokens === undefined ? "" : ` (max_tokens ${maxTokens})`}; allow a longer one, or ask for less.`,
});

const withheld = ({ model }: Settings): Failure => ({
  kind: "no-answer",
  message: `The content filter of the service withheld the answer of ${model}, or its end; ask in other words.`,
});

/** A failure for the person who waits: also when to ask again. `now`: milliseconds since the epoch. */
export const toldFailure = ({ message, reset_at }: Failure, now: number): string =>
  reset_at === undefined ? message : `${message} Ask again in ${duration(Math.max(0, Date.parse(reset_at) - now))}.`;
