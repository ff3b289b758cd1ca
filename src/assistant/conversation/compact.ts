import type { ModelMessage, ToolModelMessage } from "ai";
import { type HistoryLimits, defaultHistory } from "../settings.js";

/** A message of the user with the tool calls, results and answer that follow. */
type Exchange = readonly ModelMessage[];

/**
 * The last exchanges of a conversation, the newest of them whole. Of the older ones, only the beginnings of message and
 * answer are kept, without tool calls.
 */
export const compacted = (messages: readonly ModelMessage[], limits = defaultHistory): readonly ModelMessage[] =>
  keepLast(messages, limits);

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

/** From the smallest loss to the largest. */
const shorteningSteps: readonly ((
  messages: readonly ModelMessage[],
  kept: HistoryLimits,
) => readonly ModelMessage[])[] = [
  (messages) => messages,
  compacted,
  (messages, kept) => withoutLongParts(compacted(messages, kept), 2000, { last: false }),
  (messages, kept) => withoutLongParts(keepLast(messages, { ...kept, whole: 1 }), 2000, { last: false }),
  (messages, kept) => keepLast(messages, { ...kept, exchanges: Math.min(3, kept.exchanges), whole: 1 }),
  (messages) => lastExchange(messages),
  (messages) => withoutLongParts(lastExchange(messages), 8000, { last: true }),
  (messages) => withoutLongParts(lastExchange(messages), 2000, { last: true }),
  (messages) => withoutLongParts(lastRounds(lastExchange(messages), 4), 2000, { last: true }),
  (messages) => withoutLongParts(lastRounds(lastExchange(messages), 1), 500, { last: true }),
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

function keepLast(messages: readonly ModelMessage[], limits: HistoryLimits): ModelMessage[] {
  const lastExchanges = exchangesOf(messages).slice(-limits.exchanges);
  return lastExchanges.flatMap((exchange, index) =>
    index < lastExchanges.length - limits.whole ? shortenExchange(exchange, limits) : [...exchange],
  );
}

/** The message and answer of an exchange, cut and without tools. An exchange without an answer is dropped. */
function shortenExchange(exchange: Exchange, { messageChars, answerChars }: HistoryLimits): ModelMessage[] {
  const [question] = exchange;
  const answer = exchange.findLast((message) => message.role === "assistant" && textOf(message) !== "");
  if (question?.role !== "user" || answer === undefined) return [];
  return [
    { role: "user", content: firstChars(textOf(question), messageChars) },
    { role: "assistant", content: firstChars(textOf(answer), answerChars) },
  ];
}

const firstChars = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, safeEnd(text, length - 1))}…`;

/** An end that does not cut a character of two UTF-16 units in half. */
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
 * The messages with long tool arguments and results cut in their middle. The last exchange is cut only if `last` is
 * true.
 */
function withoutLongParts(
  messages: readonly ModelMessage[],
  length: number,
  { last }: { readonly last: boolean },
): ModelMessage[] {
  const lastUserIndex = messages.findLastIndex(({ role }) => role === "user");
  return messages.map((message, index) => (index >= lastUserIndex && !last ? message : shortenParts(message, length)));
}

function shortenParts(message: ModelMessage, length: number): ModelMessage {
  if (message.role === "tool") return { ...message, content: message.content.map((part) => shortResult(part, length)) };
  if (message.role !== "assistant" || typeof message.content === "string") return message;
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === "tool-call" ? { ...part, input: shortInput(part.input, length) } : part,
    ),
  };
}

function shortResult(part: ToolModelMessage["content"][number], length: number): typeof part {
  if (part.type !== "tool-result") return part;
  const { output } = part;
  const text =
    "value" in output ? (typeof output.value === "string" ? output.value : JSON.stringify(output.value)) : "";
  return text.length <= length ? part : { ...part, output: { type: "text", value: headAndTail(text, length) } };
}

/** Providers need an object with the names of the arguments, so its values are cut. */
function shortInput(input: unknown, length: number): unknown {
  if (typeof input !== "object" || input === null || JSON.stringify(input).length <= length) return input;
  const fields = Object.entries(input).slice(0, 20);
  const maxFieldChars = Math.floor(length / Math.max(1, fields.length));
  return Object.fromEntries(
    fields.map(([name, value]) => {
      const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
      return [name, text.length <= maxFieldChars ? value : headAndTail(text, maxFieldChars)];
    }),
  );
}

function headAndTail(text: string, length: number): string {
  const head = safeEnd(text, Math.floor(length * 0.7));
  const tail = text.length - Math.floor(length * 0.2);
  return `${text.slice(0, head)}\n[… ${tail - head} characters are left out …]\n${text.slice(/[\uDC00-\uDFFF]/.test(text.charAt(tail)) ? tail + 1 : tail)}`;
}

/** The conversation without calls that have no result and results that have no call, as a broken file may hold. */
export function paired(messages: readonly ModelMessage[]): ModelMessage[] {
  const kept: ModelMessage[] = [];
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at] as ModelMessage;
    if (message.role === "tool") continue;
    const calls = callsIn(message);
    const next = messages[at + 1];
    if (calls.length === 0) kept.push(message);
    else if (next?.role === "tool" && sameIds(calls, resultsIn(next))) kept.push(message, next);
  }
  return kept;
}

const callsIn = ({ role, content }: ModelMessage): string[] =>
  role !== "assistant" || typeof content === "string"
    ? []
    : content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));

const resultsIn = ({ content }: ToolModelMessage): string[] =>
  content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : []));

const sameIds = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((id) => other.includes(id));
