import { EventEmitter } from "node:events";
import { PassThrough, Writable } from "node:stream";
import type { LoopEvent } from "../../engine/loop/types.js";
import { isObject } from "../../engine/lib/json-fields.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Problem } from "../../engine/tools/tool.js";
import type { CallAnswer, CallProgress } from "../../engine/tools/mcp-server.js";
import type { Io, RunCommand } from "../../engine/ui/io.js";

/** Who calls commands, and from where. */
export interface Caller {
  readonly io: Io;
  readonly run: RunCommand;
}

/** One call of a tool. */
export interface Call {
  readonly signal: AbortSignal;
  progress(come: CallProgress): void;
}

/** What a command printed with `--json`. */
export interface Printed {
  readonly exitCode: number;
  /** Each JSON value on stdout, in order. */
  readonly values: readonly unknown[];
  /** What it said besides, a line each. */
  readonly said: readonly string[];
}

type Option = string | number | boolean | readonly string[] | undefined;

/**
 * A command line. What comes from a client is never read as an option: values stand behind an equals sign, words behind
 * two dashes.
 */
export const commandLine = (
  command: string,
  options: Readonly<Record<string, Option>>,
  words: readonly (string | undefined)[],
): string[] => [
  command,
  ...Object.entries(options).flatMap(([name, value]) =>
    value === undefined || value === false
      ? []
      : value === true
        ? [`--${name}`]
        : [value].flat().map((each) => `--${name}=${each}`),
  ),
  "--",
  ...words.filter((word) => word !== undefined),
];

/**
 * Runs a command in this process with `--json`, as a terminal would, and keeps what it prints. Aborting the call ends
 * the command as SIGTERM does, its agent included.
 */
export async function callCommand(
  [command = "", ...args]: readonly string[],
  { io, run }: Caller,
  call: Call,
): Promise<Printed> {
  let out = "";
  let err = "";
  let heard = 0;
  const tellOf = progressOf(call);
  const { keyboard: _, ...outside } = io;
  const exitCode = await run([command, "--json", ...args], {
    ...outside,
    signals: signalsOf(call.signal),
    stdin: new PassThrough().end(),
    terminal: new Writable({ write: (_chunk, _encoding, done) => done() }),
    stdout: (text) => {
      out += text;
      for (let end = out.indexOf("\n", heard); end >= 0; end = out.indexOf("\n", heard)) {
        tellOf(parsed(out.slice(heard, end)));
        heard = end + 1;
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
  const said = err.split("\n").flatMap((line) => (line.trim() === "" ? [] : [oneLine(line)]));
  return { exitCode, values: valuesIn(out), said };
}

/** The last JSON value as the answer of a tool; the command's own sentence where it has none. `name`: of an array. */
export function answerOf({ exitCode, values, said }: Printed, name = "items"): CallAnswer | Problem {
  const last = values.at(-1);
  if (isObject(last) && typeof last["error"] === "string") return { problem: last["error"] };
  if (last === undefined)
    return { problem: said.join(" ") || `The command ended with exit code ${exitCode} and said nothing.` };
  const notes = said.length === 0 ? {} : { notes: said };
  return answer({ ...(isObject(last) ? last : { [name]: last }), ...notes });
}

/** An answer with its text. Lists are cut, so that what a model reads stays bounded however large a project is. */
export function answer(full: Readonly<Record<string, unknown>>): CallAnswer {
  const left: Record<string, number> = {};
  const structured: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(full)) {
    const isLong = Array.isArray(value) && value.length > maxItems;
    if (isLong) left[name] = value.length - maxItems;
    structured[name] = isLong ? value.slice(0, maxItems) : value;
  }
  if (Object.keys(left).length > 0) structured["left_out"] = left;
  return { text: JSON.stringify(structured), structured };
}

/** Most entries of a list in an answer. */
const maxItems = 40;

/** One JSON value that may be of many lines, or one in each line, as commands that run print them. */
function valuesIn(out: string): unknown[] {
  const whole = parsed(out);
  if (whole !== undefined) return [whole];
  return out.split("\n").flatMap((line) => parsed(line) ?? []);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Signals of a command in this process: only that its call was taken back. */
function signalsOf(signal: AbortSignal): Io["signals"] {
  const emitter = new EventEmitter();
  signal.addEventListener("abort", () => emitter.emit("SIGTERM"), { once: true });
  return {
    underNohup: false,
    on: (name, handler) => {
      emitter.on(name, handler);
      // Taken back before the command listened.
      if (name === "SIGTERM" && signal.aborted) queueMicrotask(handler);
    },
    off: (name, handler) => emitter.off(name, handler),
  };
}

/** Tells the client what a command at work prints, one notification an event that a person would want to know. */
function progressOf({ progress }: Call): (value: unknown) => void {
  let done = 0;
  return (value) => {
    // What commands that run an agent print; anything else says nothing.
    const message = isObject(value) ? messageOf(value as unknown as LoopEvent) : undefined;
    if (message !== undefined) progress({ done: (done += 1), message: oneLine(message).slice(0, 200) });
  };
}

function messageOf(event: LoopEvent): string | undefined {
  switch (event.type) {
    case "preparing":
      return `${event.title}: preparing`;
    case "iteration-started":
      return `${event.title}: ${event.agent ?? "an agent"} is at work`;
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
