import type { ModelMessage, ToolModelMessage } from "ai";
import { type KeptHistory, usualHistory } from "../settings.js";

/** A message of the user and all that came of it: tool calls with their results, and the answer. */
type Exchange = readonly ModelMessage[];

/**
 * A conversation without what is long ago: its last exchanges, the newest of them whole. Of an older one stay the
 * beginnings of message and answer; a tool call goes with its result.
 */
export const compacted = (messages: readonly ModelMessage[], kept = usualHistory): readonly ModelMessage[] =>
  keeping(messages, kept);

/**
 * The conversation with as little left out as makes `fits` true; undefined where nothing does. The user's last message
 * always stays whole, and a call never stands without its result, nor a result without its call.
 */
export function fitted(
  messages: readonly ModelMessage[],
  fits: (messages: readonly ModelMessage[]) => boolean,
  kept = usualHistory,
): readonly ModelMessage[] | undefined {
  for (const shorter of steps) {
    const tried = shorter(messages, kept);
    if (fits(tried)) return tried;
  }
  return undefined;
}

/** From what costs nothing to what costs most. */
const steps: readonly ((messages: readonly ModelMessage[], kept: KeptHistory) => readonly ModelMessage[])[] = [
  (messages) => messages,
  compacted,
  (messages, kept) => withoutLongParts(compacted(messages, kept), 2000, { last: false }),
  (messages, kept) => withoutLongParts(keeping(messages, { ...kept, whole: 1 }), 2000, { last: false }),
  (messages, kept) => keeping(messages, { ...kept, exchanges: Math.min(3, kept.exchanges), whole: 1 }),
  (messages) => lastOf(messages),
  (messages) => withoutLongParts(lastOf(messages), 8000, { last: true }),
  (messages) => withoutLongParts(lastOf(messages), 2000, { last: true }),
  (messages) => withoutLongParts(lastRounds(lastOf(messages), 4), 2000, { last: true }),
  (messages) => withoutLongParts(lastRounds(lastOf(messages), 1), 500, { last: true }),
];

const lastOf = (messages: readonly ModelMessage[]): Exchange => exchangesOf(messages).at(-1) ?? [];

function exchangesOf(messages: readonly ModelMessage[]): Exchange[] {
  const exchanges: ModelMessage[][] = [];
  for (const message of messages) {
    if (message.role === "user" || exchanges.length === 0) exchanges.push([message]);
    else exchanges.at(-1)?.push(message);
  }
  return exchanges;
}

function keeping(messages: readonly ModelMessage[], kept: KeptHistory): ModelMessage[] {
  const last = exchangesOf(messages).slice(-kept.exchanges);
  return last.flatMap((exchange, index) =>
    index < last.length - kept.whole ? shortened(exchange, kept) : [...exchange],
  );
}

/** The words of an exchange without its tools, cut. One without an answer no longer counts. */
function shortened(exchange: Exchange, { messageChars, answerChars }: KeptHistory): ModelMessage[] {
  const [question] = exchange;
  const answer = exchange.findLast((message) => message.role === "assistant" && textOf(message) !== "");
  if (question?.role !== "user" || answer === undefined) return [];
  return [
    { role: "user", content: beginning(textOf(question), messageChars) },
    { role: "assistant", content: beginning(textOf(answer), answerChars) },
  ];
}

const beginning = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, safeEnd(text, length - 1))}…`;

/** A character of two units is not cut in half. */
const safeEnd = (text: string, end: number): number =>
  end > 0 && /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end;

/** All text of a message. */
export const textOf = ({ content }: ModelMessage): string =>
  typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("");

/** The last exchange with its last rounds of calls and results only. */
function lastRounds(exchange: Exchange, rounds: number): Exchange {
  const [question, ...rest] = exchange;
  if (question === undefined) return exchange;
  const starts = rest.flatMap((message, index) => (message.role === "assistant" ? [index] : []));
  return [question, ...rest.slice(starts.at(-rounds) ?? 0)];
}

/**
 * Long arguments and results of tools cut to their beginning and end; those of the last exchange only where `last` says
 * so.
 */
function withoutLongParts(
  messages: readonly ModelMessage[],
  length: number,
  { last }: { readonly last: boolean },
): ModelMessage[] {
  const from = messages.findLastIndex(({ role }) => role === "user");
  return messages.map((message, index) => (index >= from && !last ? message : withShortParts(message, length)));
}

function withShortParts(message: ModelMessage, length: number): ModelMessage {
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

/** Providers want an object with the arguments' names. */
function shortInput(input: unknown, length: number): unknown {
  if (typeof input !== "object" || input === null || JSON.stringify(input).length <= length) return input;
  const fields = Object.entries(input).slice(0, 20);
  const each = Math.floor(length / Math.max(1, fields.length));
  return Object.fromEntries(
    fields.map(([name, value]) => {
      const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
      return [name, text.length <= each ? value : headAndTail(text, each)];
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
