import { totalUsage } from "../engine/agents/shared/messages.js";
import type { JSONValue, LanguageModel, ModelMessage, ToolSet } from "ai";
import type { Clock } from "../engine/lib/clock.js";
import type { Failure, Usage } from "../engine/loop/types.js";
import type { ToolResult } from "../engine/tools/tool.js";
import { shortDuration } from "../engine/lib/words.js";
import { failureOf, isLocalServerDown, retryDelayMs } from "./model/failure.js";
import { shortenToFit } from "./conversation/compact.js";
import { maxAnswerTokens, maxPromptTokens, tokensIn } from "./conversation/room.js";
import { CallText } from "./conversation/call-text.js";
import { startsWithThinking, type SplitText, ThinkingTags, withoutThinking } from "./conversation/thinking.js";
import type { Settings } from "./settings.js";
import { type Action, actionInstructions, actionsIn, callInText, isBrokenAction } from "./tools/actions.js";
import { type BoundTool, callByName } from "./tools/call.js";

/** An event of a conversation. */
export type ConversationEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "tool"; readonly name: string; readonly input: unknown }
  | { readonly type: "tool-result"; readonly name: string; readonly result: ToolResult }
  | { readonly type: "usage"; readonly usage: Usage }
  /** Older messages were shortened, because there was no room for an answer. */
  | { readonly type: "compacted" }
  /** The text of this answer so far is not valid: the model is asked again. */
  | { readonly type: "retry"; readonly reason: string };

export interface Conversation {
  readonly model: LanguageModel;
  readonly settings: Settings;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly BoundTool[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Maximum milliseconds of one wait for the service. If it asks for a longer wait, the conversation fails. */
  readonly maxWaitMs: number;
  /** Maximum number of requests for one answer. It stops a model that calls tools without end. */
  readonly maxRounds?: number;
  readonly tell: (event: ConversationEvent) => void;
}

/**
 * The result of a conversation: the model's last message, or the reason why it is missing. `messages`: all messages,
 * with a result after each tool call, so that the conversation can continue with them.
 */
export type ConversationResult = { readonly messages: readonly ModelMessage[]; readonly usage: Usage } & (
  | { readonly message: string }
  | { readonly failure: Failure }
);

/** Default for the maximum number of requests for one answer. */
const defaultMaxRequests = 50;
/** Maximum number of tries of one request, with the first one. */
const maxTries = 4;
/** Milliseconds before the second try. They double with each further try. */
const firstWaitMs = 2_000;
/** If a service refuses a request as too long although our estimate fits, only this share of the room is used. */
const smallerRoomShare = 0.7;

/**
 * Asks a model until it gives its last message, and runs the tools that it calls. If a service is busy or can't be
 * reached, a request is tried up to four times, after the time that the service names, or after 2, 4 and 8 seconds.
 * Never throws for a failure of the service.
 */
export async function converse(conversation: Conversation): Promise<ConversationResult> {
  const { settings, tools, signal, tell, maxRounds = defaultMaxRequests } = conversation;
  let messages: ModelMessage[] = [...conversation.messages];
  let usage: Usage = { input: 0, cached: 0, output: 0, requests: 0 };
  /** Shortens older messages until there is room for an answer. Returns false if that is impossible. */
  const ensureRoom = (roomShare = 1): boolean => {
    const maxTokens = maxPromptTokens(settings) * roomShare;
    const fits = (candidate: readonly ModelMessage[]) =>
      tokensIn({ ...conversation, messages: candidate }) <= maxTokens;
    const shortened = shortenToFit(messages, fits, settings.history);
    if (shortened === undefined) return false;
    if (shortened === messages) return true;
    tell({ type: "compacted" });
    messages = [...shortened];
    return true;
  };
  let brokenCount = 0;
  for (let round = 0; round < maxRounds; round += 1) {
    if (!ensureRoom()) return { failure: noRoomFailure(conversation, messages), messages, usage };
    const usesTextActions = modelsWithoutTools.has(modelId(settings));
    const request = usesTextActions ? withTextActions(conversation) : conversation;
    let answer = await requestWithRetries(request, messages, usage.requests > 0);
    const sentMessages = messages;
    // The same request would be refused again, so it is repeated only if it became shorter.
    if (
      "failure" in answer &&
      answer.failure.kind === "context" &&
      ensureRoom(smallerRoomShare) &&
      messages !== sentMessages
    )
      answer = await requestWithRetries(request, messages, usage.requests > 0);
    if ("failure" in answer && !usesTextActions && tools.length > 0 && refusesTools(answer.failure)) {
      modelsWithoutTools.add(modelId(settings));
      continue;
    }
    if ("failure" in answer) return { failure: answer.failure, messages, usage };
    const largest = Math.max(usage.largest ?? 0, answer.usage.largest ?? 0);
    usage = { ...totalUsage([usage, answer.usage]), largest };
    tell({ type: "usage", usage });
    messages.push(...answer.messages);
    if (answer.calls.length === 0) {
      const actions = usesTextActions ? actionsIn(answer.text, tools) : callInText(answer.text, tools);
      const mayBeBroken = actions.length === 0 && settings.json !== true && tools.length > 0;
      const isBroken = mayBeBroken && isBrokenAction(answer.text, usesTextActions);
      if (actions.length === 0 && !isBroken && answer.heldText !== "") tell({ type: "text", text: answer.heldText });
      if (answer.finishReason === "length") return { failure: lengthFailure(settings), messages, usage };
      if (answer.finishReason === "content-filter") return { failure: filterFailure(settings), messages, usage };
      if (isBroken) {
        brokenCount += 1;
        if (brokenCount > maxBrokenActions) return { failure: brokenActionFailure(settings), messages, usage };
        tell({
          type: "retry",
          reason: "The model wrote an action with invalid JSON; it is asked to write the action again.",
        });
        messages.push({ role: "user", content: askAgainText });
        continue;
      }
      if (actions.length === 0) return { message: answer.text, messages, usage };
      messages.push(await runActions(actions, conversation));
      continue;
    }
    const isCallAsText = callInText(answer.text, tools).length > 0 || isBrokenAction(answer.text, false);
    if (!isCallAsText && answer.heldText.trim() !== "") tell({ type: "text", text: answer.heldText });
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

/** Maximum number of times that a model is asked to write a broken action again. */
const maxBrokenActions = 2;
const askAgainText =
  "Your last message begins an action, and its JSON ends too early or is not valid. Nothing was done. Write the whole action again as one JSON object, or answer in plain words.";

const brokenActionFailure = ({ model }: Settings): Failure => ({
  kind: "no-answer",
  message: `${model} wrote an action with invalid JSON ${maxBrokenActions + 1} times in a row, so nothing was done; ask for less at a time.`,
});

/** Addresses and names of models whose servers refused tools. They are asked to write actions as text. */
const modelsWithoutTools = new Set<string>();
const modelId = ({ url, model }: Settings): string => `${url.href} ${model}`;

/** Whether a service refuses tools. Ollama, vLLM and OpenRouter report it in different sentences. */
const refusesTools = ({ kind, message }: Failure): boolean =>
  kind === "unusable" && /\btools?\b|\btool[ _-]?(?:use|choice|calls?)|function call/i.test(message);

/** The same conversation for a model without tool calls: the prompt explains how to write actions. */
const withTextActions = (conversation: Conversation): Conversation => ({
  ...conversation,
  system: [conversation.system, actionInstructions(conversation.tools)].join("\n\n"),
  tools: [],
});

/** Runs the actions that a model wrote as text. Their results are the next message. */
async function runActions(actions: readonly Action[], { tools, signal, tell }: Conversation): Promise<ModelMessage> {
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

/** Maximum number of actions in one message. */
const maxActions = 20;

interface Call {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

interface ModelAnswer {
  readonly text: string;
  /** The part of the text that was not told yet, because it may be a call. */
  readonly heldText: string;
  readonly calls: readonly Call[];
  readonly messages: readonly ModelMessage[];
  readonly usage: Usage;
  readonly finishReason: string;
}

/**
 * Sends one request, and tries again if that may help. `isReached`: the service has answered before in this
 * conversation. If a local server stops after it has answered, it may be restarting; otherwise, the user must start it.
 */
async function requestWithRetries(
  conversation: Conversation,
  messages: readonly ModelMessage[],
  isReached: boolean,
): Promise<ModelAnswer | { readonly failure: Failure }> {
  const { clock, signal, maxWaitMs, settings, tell } = conversation;
  for (let tryNumber = 1; ; tryNumber += 1) {
    try {
      return await request(conversation, messages);
    } catch (error) {
      const failure = signal.aborted
        ? { kind: "aborted" as const, message: "The answer was interrupted." }
        : failureOf(error, settings, clock.now());
      const isRestarting = isLocalServerDown(error, settings) && (isReached || tryNumber > 1);
      const isTemporary = failure.kind === "rate-limit" || failure.kind === "network" || isRestarting;
      const waitMs = retryDelayMs(error, clock.now()) ?? firstWaitMs * 2 ** (tryNumber - 1);
      if (!isTemporary || tryNumber >= maxTries || waitMs > maxWaitMs) return { failure };
      tell({
        type: "retry",
        reason: `${failure.message} Trying again in ${Math.ceil(waitMs / 1000)} s (${tryNumber + 1} of ${maxTries}).`,
      });
      await clock.sleep(clock.now() + waitMs, signal);
    }
  }
}

/** While a stream is read, other events are handled at least this often, in milliseconds. */
const yieldIntervalMs = 50;

/** Added to the prompt: not every service can enforce JSON, and some that can also need this sentence. */
const jsonOnly = "Your last answer is one JSON value and nothing else.";

/** Sends one request and reads its answer. Throws errors of the service and the network. */
async function request(
  { model, settings, system, tools, signal, tell }: Conversation,
  messages: readonly ModelMessage[],
): Promise<ModelAnswer> {
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  const { jsonSchema, Output, streamText, tool } = await import("ai");
  const toolSet: ToolSet = Object.fromEntries(
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
    // Errors are in the stream too.
    onError: () => undefined,
    ...(settings.json === true ? { output: Output.json() } : {}),
    system: settings.json === true ? [system, jsonOnly].join("\n\n") : system,
    tools: tools.length === 0 ? undefined : toolSet,
    temperature: settings.temperature,
    maxOutputTokens: maxAnswerTokens(settings, tokensIn({ messages, tools, system })),
  });
  let text = "";
  let tags = new ThinkingTags(startsWithThinking(settings.model));
  const newCallText = () => new CallText(modelsWithoutTools.has(modelId(settings)));
  let callText = newCallText();
  const handleText = ({ thinking, answer, isRestart }: SplitText): void => {
    if (isRestart === true && text !== "")
      tell({ type: "retry", reason: "The text above was the model's thinking; its answer begins here." });
    if (isRestart === true) {
      text = "";
      callText = newCallText();
    }
    if (thinking !== "") tell({ type: "thinking", text: thinking });
    const certainText = callText.add(answer);
    if (certainText !== "") tell({ type: "text", text: certainText });
    text += answer;
  };
  const calls: Call[] = [];
  let usage: Usage | undefined;
  let finishReason = "";
  let yieldedAt = performance.now();
  for await (const part of result.fullStream) {
    // Buffered parts would be processed without a pause, but Ctrl+C must work meanwhile.
    if (performance.now() - yieldedAt > yieldIntervalMs) {
      await new Promise((resolve) => setImmediate(resolve));
      yieldedAt = performance.now();
    }
    if (signal.aborted) throw new Error("aborted");
    if (part.type === "error") throw part.error;
    if (part.type === "abort") throw new Error("aborted");
    if (part.type === "text-delta") handleText(tags.add(part.text));
    else if (part.type === "reasoning-delta") {
      // The service sends the thinking separately, so the text contains no tags.
      if (text === "") tags = new ThinkingTags();
      tell({ type: "thinking", text: part.text });
    } else if (part.type === "tool-call") calls.push(part);
    else if (part.type === "finish-step") {
      const { inputTokens: input = 0, outputTokens: output = 0, inputTokenDetails } = part.usage;
      const cached = inputTokenDetails.cacheReadTokens ?? 0;
      usage = { input, cached, output, requests: 1, largest: input + output };
      finishReason = part.finishReason;
    }
  }
  handleText(tags.end());
  if (usage === undefined || finishReason === "error") throw new Error("The answer broke off before its end.");
  if (text === "" && calls.length === 0 && finishReason !== "length" && finishReason !== "content-filter")
    throw new Error("The answer is empty.");
  // The AI package adds its own results for calls that it can't parse. They are removed, because `converse` writes one
  // result for each call.
  const assistantMessages = (await result.response).messages.filter(({ role }) => role === "assistant");
  const { heldText } = callText;
  return { text, heldText, calls, messages: assistantMessages.map(shortenMessage), usage, finishReason };
}

/** If the arguments of a call have more characters, they are shortened, because each request sends them again. */
const maxInputChars = 50_000;

/** Removes from a model's message its thinking between tags, and shortens long arguments. */
function shortenMessage(message: ModelMessage): ModelMessage {
  if (message.role !== "assistant" || typeof message.content === "string") return message;
  const parts = message.content.flatMap((part) => {
    const text = part.type === "text" ? withoutThinking(part.text) : undefined;
    return text === undefined ? [part] : text === "" ? [] : [{ ...part, text } as typeof part];
  });
  const content = parts.map((part) => {
    if (part.type !== "tool-call" || JSON.stringify(part.input).length <= maxInputChars) return part;
    const fields = typeof part.input === "object" && part.input !== null ? Object.entries(part.input) : [];
    const shortFields = fields.map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return [name, text.length > 1000 ? `${text.slice(0, 1000)} [… ${text.length} characters]` : value];
    });
    return { ...part, input: Object.fromEntries(shortFields) };
  });
  return { ...message, content };
}

/** The failure if a request does not fit into the model's context window. */
function noRoomFailure({ settings, system, tools }: Conversation, messages: readonly ModelMessage[]): Failure {
  const lastMessages = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
  const tokens = tokensIn({ messages: lastMessages, tools, system });
  const toolTokens = tokensIn({ messages: [], tools });
  const toolText = toolTokens > tokens / 2 ? `, ${toolTokens} of them for its tools,` : "";
  const shorterAdvice =
    toolText !== "" && tools.some(({ name }) => name.startsWith("mcp_"))
      ? "Select fewer tools with `tools` in mcpServers, or choose"
      : "Shorten it, or choose";
  const advice = settings.isWindowKnown
    ? `${shorterAdvice} a model with a larger window.`
    : "This number is the default for an unknown model; if the model has more room, set context_window.";
  return {
    kind: "context",
    message: `The request has about ${tokens} tokens${toolText || ","} and ${settings.model} has room for ${settings.window}, including its answer. ${advice}`,
  };
}

const lengthFailure = ({ model, maxTokens }: Settings): Failure => ({
  kind: "no-answer",
  message: `The answer of ${model} was cut off at its maximum length${maxTokens === undefined ? "" : ` (max_tokens ${maxTokens})`}; allow a longer one, or ask for less.`,
});

const filterFailure = ({ model }: Settings): Failure => ({
  kind: "no-answer",
  message: `The content filter of the service blocked the answer of ${model}, or its end; ask in other words.`,
});

/** The text of a failure for the user, with the time at which to ask again. `now`: milliseconds since the epoch. */
export const failureText = ({ message, reset_at }: Failure, now: number): string =>
  reset_at === undefined
    ? message
    : `${message} Ask again in ${shortDuration(Math.max(0, Date.parse(reset_at) - now))}.`;
