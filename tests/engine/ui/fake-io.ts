import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { systemClock } from "../../../src/engine/lib/clock.js";
import { runProcess } from "../../../src/engine/process/run-process.js";
import type { Io } from "../../../src/engine/ui/io.js";
import type { SignalSource } from "../../../src/engine/ui/signals.js";

/** Signals that a test sends with `emit`. */
export type FakeSignals = EventEmitter & SignalSource;

export const fakeSignals = ({ underNohup = false } = {}): FakeSignals =>
  Object.assign(new EventEmitter(), { underNohup });

export interface FakeIo extends Io {
  readonly signals: FakeSignals;
  /** All that was printed so far. */
  out(): string;
  err(): string;
}

/** An Io that keeps what is printed. Off a terminal unless told otherwise; time and programs are real. */
export function fakeIo(overrides: Partial<Omit<Io, "signals">> & { readonly signals?: FakeSignals } = {}): FakeIo {
  const printed = { out: "", err: "" };
  const base = {
    cwd: "/nowhere",
    env: {},
    clock: systemClock,
    signals: fakeSignals(),
    stdin: new PassThrough(),
    terminal: new PassThrough(),
    runProgram: runProcess,
    stdout: (text: string) => void (printed.out += text),
    unread: 0,
    stderr: (text: string) => void (printed.err += text),
    isTTY: false,
    columns: 80,
    tableWidth: 80,
    isShown: true,
    color: false,
    canAsk: false,
    readerGone: new AbortController().signal,
    ...overrides,
  };
  return Object.assign(base, { out: () => printed.out, err: () => printed.err });
}
