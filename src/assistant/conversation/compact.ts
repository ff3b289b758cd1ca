import type { ModelMessage, ToolModelMessage } from "ai";
import { type HistoryLimits, defaultHistory } from "../settings.js";

/** A message of the user with the tool calls, results and answer that follow. */
type Exchange = readonly ModelMessage[];

/**
 * The last exchanges of a conversation. The newest are complete; of the older ones, only the beginnings of message and
 * answer are kept, without tool calls.
 */
export function compactMessages(messages: readonly ModelMessage[], limits = defaultHistory): readonly ModelMessage[] {
  const lastExchanges = exchangesOf(messages).slice(-limits.maxExchanges);
  return lastExchanges.flatMap((exchange, index) =>
    index < lastExchanges.length - limits.wholeExchanges ? shortenExchange(exchange, limits) : [...exchange],
  );
}

/**
 * The conversation, shortened as little as possible until `fits` returns true; undefined if that is impossible. The
 * user's last message always stays whole, and a tool call always stays together with its result.
 */
export function shortenToFit(
  messages: readonly ModelMessage[],
  fits: (messages: readonly ModelMessage[]) => boolean,
  limits = defaultHistory,
): readonly ModelMessage[] | undefined {
  for (const step of shorteningSteps) {
    const shortened = step(messages, limits);
    if (fits(shortened)) return shortened;
  }
  return undefined;
}

/** The ways to shorten a conversation, from the smallest loss to the largest. */
const shorteningSteps: readonly ((
  messages: readonly ModelMessage[],
  limits: HistoryLimits,
) => readonly ModelMessage[])[] = [
  (messages) => messages,
  compactMessages,
  (messages, limits) => shortenLongParts(compactMessages(messages, limits), 2000, { shortensLast: false }),
  (messages, limits) =>
    shortenLongParts(compactMessages(messages, { ...limits, wholeExchanges: 1 }), 2000, { shortensLast: false }),
  (messages, limits) =>
    compactMessages(messages, { ...limits, maxExchanges: Math.min(3, limits.maxExchanges), wholeExchanges: 1 }),
  (messages) => lastExchange(messages),
  (messages) => shortenLongParts(lastExchange(messages), 8000, { shortensLast: true }),
  (messages) => shortenLongParts(lastExchange(messages), 2000, { shortensLast: true }),
  (messages) => shortenLongParts(lastRounds(lastExchange(messages), 4), 2000, { shortensLast: true }),
  (messages) => shortenLongParts(lastRounds(lastExchange(messages), 1), 500, { shortensLast: true }),
];

const lastExchange = (messages: readonly ModelMessage[]): Exchange => exchangesOf(messages).at(-1) ?? [];

function exchangesOf(messages: readonly ModelMessage[]): Exchange[] {
  const exchanges: ModelMessage[][] = [];
  for (const message of messages) {
    if (message.role === "user" || exchanges.length === 0) exchanges.push([message]);
    else exchanges.at(-1)?.push(message);
  }
  return exchanges;
}

/** The beginnings of the message and the answer, without tool calls. An exchange without an answer is dropped. */
function shortenExchange(exchange: Exchange, { maxMessageChars, maxAnswerChars }: HistoryLimits): ModelMessage[] {
  const [question] = exchange;
  const answer = exchange.findLast((message) => message.role === "assistant" && textOf(message) !== "");
  if (question?.role !== "user" || answer === undefined) return [];
  return [
    { role: "user", content: firstChars(textOf(question), maxMessageChars) },
    { role: "assistant", content: firstChars(textOf(answer), maxAnswerChars) },
  ];
}

const firstChars = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, safeEnd(text, maxChars - 1))}…`;

/** `end`, or one less if it would cut a character of two UTF-16 units in half. */
const safeEnd = (text: string, end: number): number =>
  end > 0 && /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end;

/** All text of a message. */
export const textOf = ({ content }: ModelMessage): string =>
  typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("");

/** The question of an exchange with its last rounds of calls and results. */
function lastRounds(exchange: Exchange, rounds: number): Exchange {
  const [question, ...others] = exchange;
  if (question === undefined) return exchange;
  const roundStarts = others.flatMap((message, index) => (message.role === "assistant" ? [index] : []));
  return [question, ...others.slice(roundStarts.at(-rounds) ?? 0)];
}

/**
 * Cuts the middle out of long tool arguments and results. In the last exchange, it does so only if `shortensLast` is
 * true.
 */
function shortenLongParts(
  messages: readonly ModelMessage[],
  maxChars: number,
  { shortensLast }: { readonly shortensLast: boolean },
): ModelMessage[] {
  const lastUserIndex = messages.findLastIndex(({ role }) => role === "user");
  return messages.map((message, index) =>
    index >= lastUserIndex && !shortensLast ? message : shortenParts(message, maxChars),
  );
}

function shortenParts(message: ModelMessage, maxChars: number): ModelMessage {
  if (message.role === "tool")
    return { ...message, content: message.content.map((part) => shortenResult(part, maxChars)) };
  if (message.role !== "assistant" || typeof message.content === "string") return message;
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === "tool-call" ? { ...part, input: shortenInput(part.input, maxChars) } : part,
    ),
  };
}

function shortenResult(part: ToolModelMessage["content"][number], maxChars: number): typeof part {
  if (part.type !== "tool-result") return part;
  const { output } = part;
  const text =
    "value" in output ? (typeof output.value === "string" ? output.value : JSON.stringify(output.value)) : "";
  return text.length <= maxChars ? part : { ...part, output: { type: "text", value: headAndTail(text, maxChars) } };
}

/** Providers need an object with the names of the arguments, so only its values are cut. */
function shortenInput(input: unknown, maxChars: number): unknown {
  if (typeof input !== "object" || input === null || JSON.stringify(input).length <= maxChars) return input;
  const fields = Object.entries(input).slice(0, 20);
  const maxFieldChars = Math.floor(maxChars / Math.max(1, fields.length));
  return Object.fromEntries(
    fields.map(([name, value]) => {
      const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
      return [name, text.length <= maxFieldChars ? value : headAndTail(text, maxFieldChars)];
    }),
  );
}

function headAndTail(text: string, maxChars: number): string {
  const head = safeEnd(text, Math.floor(maxChars * 0.7));
  const tail = text.length - Math.floor(maxChars * 0.2);
  return `${text.slice(0, head)}\n[… ${tail - head} characters are left out …]\n${text.slice(/[\uDC00-\uDFFF]/.test(text.charAt(tail)) ? tail + 1 : tail)}`;
}

/** Removes calls without a result and results without a call: a damaged file may contain them. */
export function keepPairedCalls(messages: readonly ModelMessage[]): ModelMessage[] {
  const pairedMessages: ModelMessage[] = [];
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index] as ModelMessage;
    if (message.role === "tool") continue;
    const calls = callsIn(message);
    const next = messages[index + 1];
    if (calls.length === 0) pairedMessages.push(message);
    else if (next?.role === "tool" && haveSameIds(calls, resultsIn(next))) pairedMessages.push(message, next);
  }
  return pairedMessages;
}

const callsIn = ({ role, content }: ModelMessage): string[] =>
  role !== "assistant" || typeof content === "string"
    ? []
    : content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));

const resultsIn = ({ content }: ToolModelMessage): string[] =>
  content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : []));

const haveSameIds = (ids: readonly string[], otherIds: readonly string[]): boolean =>
  ids.length === otherIds.length && ids.every((id) => otherIds.includes(id));
