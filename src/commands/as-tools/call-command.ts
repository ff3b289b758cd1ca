import { EventEmitter } from "node:events";
import { PassThrough, Writable } from "node:stream";
import type { LoopEvent } from "../../engine/loop/types.js";
import { isObject, jsonIn } from "../../engine/lib/json-fields.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Problem } from "../../engine/tools/tool.js";
import type { CallAnswer, CallProgress } from "../../engine/tools/mcp-server.js";
import type { Io, RunCommand } from "../../engine/ui/io.js";

/** What a call needs to run a command in this process. */
export interface Caller {
  readonly io: Io;
  readonly run: RunCommand;
}

/** One call of a tool. */
export interface Call {
  /** Aborted if the client cancels the call. */
  readonly signal: AbortSignal;
  /** Tells the client the progress of the call. */
  progress(progressFields: CallProgress): void;
}

/** The output of a command with `--json`. */
export interface CommandOutput {
  readonly exitCode: number;
  /** Each JSON value on stdout, in order. */
  readonly values: readonly unknown[];
  /** The lines on stderr that are not empty. */
  readonly messages: readonly string[];
}

type OptionValue = string | number | boolean | readonly string[] | undefined;

/**
 * The arguments of a command line. A text from a client can't act as an option: option values follow an equals sign,
 * and `words` follow two dashes.
 */
export const commandLine = (
  command: string,
  options: Readonly<Record<string, OptionValue>>,
  words: readonly (string | undefined)[],
): string[] => [
  command,
  ...Object.entries(options).flatMap(([name, value]) =>
    value === undefined || value === false
      ? []
      : value === true
        ? [`--${name}`]
        : [value].flat().map((singleValue) => `--${name}=${singleValue}`),
  ),
  "--",
  ...words.filter((word) => word !== undefined),
];

/**
 * Runs a command in this process with `--json`, and returns its output. If the call is aborted, the command gets a
 * SIGTERM and ends, with its agent.
 */
export async function callCommand(
  [command = "", ...args]: readonly string[],
  { io, run }: Caller,
  call: Call,
): Promise<CommandOutput> {
  let out = "";
  let err = "";
  /** The length of the part of `out` whose lines were reported. */
  let readLength = 0;
  const reportValue = progressReporter(call);
  const { keyboard: _, ...callerIo } = io;
  const exitCode = await run([command, "--json", ...args], {
    ...callerIo,
    signals: signalsFrom(call.signal),
    stdin: new PassThrough().end(),
    terminal: new Writable({ write: (_chunk, _encoding, callback) => callback() }),
    stdout: (text) => {
      out += text;
      for (let end = out.indexOf("\n", readLength); end >= 0; end = out.indexOf("\n", readLength)) {
        reportValue(jsonIn(out.slice(readLength, end)));
        readLength = end + 1;
      }
    },
    stderr: (text) => void (err += text),
    unread: 0,
    isTTY: false,
    columns: 100,
    tableWidth: Number.POSITIVE_INFINITY,
    isShown: false,
    color: false,
    canAsk: false,
    readerGone: new AbortController().signal,
  });
  const messages = err.split("\n").flatMap((line) => (line.trim() === "" ? [] : [oneLine(line)]));
  return { exitCode, values: jsonValuesIn(out), messages };
}

/**
 * Makes the answer of a tool from the last JSON value of a command. If there is no value, the messages of the command
 * are a problem. `arrayName`: the field of the answer for a value that is an array.
 */
export function toAnswer({ exitCode, values, messages }: CommandOutput, arrayName = "items"): CallAnswer | Problem {
  const lastValue = values.at(-1);
  if (isObject(lastValue) && typeof lastValue["error"] === "string") return { problem: lastValue["error"] };
  if (lastValue === undefined)
    return { problem: messages.join(" ") || `The command ended with exit code ${exitCode} and without a message.` };
  const notes = messages.length === 0 ? {} : { notes: messages };
  return answerWithText({ ...(isObject(lastValue) ? lastValue : { [arrayName]: lastValue }), ...notes });
}

/** An answer with its text. Long lists are shortened, so that the answer for a large project is not too long. */
export function answerWithText(fields: Readonly<Record<string, unknown>>): CallAnswer {
  const omittedCounts: Record<string, number> = {};
  const shortenedFields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const isLong = Array.isArray(value) && value.length > maxListItems;
    if (isLong) omittedCounts[name] = value.length - maxListItems;
    shortenedFields[name] = isLong ? value.slice(0, maxListItems) : value;
  }
  if (Object.keys(omittedCounts).length > 0) shortenedFields["left_out"] = omittedCounts;
  return { text: JSON.stringify(shortenedFields), structured: shortenedFields };
}

/** Maximum number of entries of a list in an answer. */
const maxListItems = 40;

/** The JSON values in a command's output: one value, which may have several lines, or one value in each line. */
function jsonValuesIn(out: string): unknown[] {
  const wholeValue = jsonIn(out);
  if (wholeValue !== undefined) return [wholeValue];
  return out.split("\n").flatMap((line) => jsonIn(line) ?? []);
}

/** The signals of a command in this process: a SIGTERM when the call is aborted. */
function signalsFrom(signal: AbortSignal): Io["signals"] {
  const emitter = new EventEmitter();
  signal.addEventListener("abort", () => emitter.emit("SIGTERM"), { once: true });
  return {
    underNohup: false,
    on: (name, handler) => {
      emitter.on(name, handler);
      // The call was aborted before the command listened.
      if (name === "SIGTERM" && signal.aborted) queueMicrotask(handler);
    },
    off: (name, handler) => emitter.off(name, handler),
  };
}

/** Returns a function that tells the client each printed event that is of interest to a person. */
function progressReporter({ progress }: Call): (value: unknown) => void {
  let eventCount = 0;
  return (value) => {
    // Only commands that run an agent print events; for other values there is no message.
    const message = isObject(value) ? messageOf(value as unknown as LoopEvent) : undefined;
    if (message !== undefined) progress({ done: (eventCount += 1), message: oneLine(message).slice(0, 200) });
  };
}

/** One sentence about an event; undefined for an event that is not reported. */
function messageOf(event: LoopEvent): string | undefined {
  switch (event.type) {
    case "preparing":
      return `${event.title}: preparing`;
    case "iteration-started":
      return `${event.title}: ${event.agent ?? "an agent"} is working`;
    case "agent":
      return event.event.type === "tool" ? `${event.event.name} ${event.event.detail}` : undefined;
    case "searching":
      return `${event.source}: ${event.found} records found`;
    case "waiting":
      return event.reason;
    case "notice":
      return event.message;
    case "iteration-ended":
      return `The iteration has ended: ${event.outcome.outcome}`;
    default:
      return undefined;
  }
}
