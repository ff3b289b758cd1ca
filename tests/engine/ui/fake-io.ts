import type { Io } from "../../../src/engine/ui/io.js";

export interface FakeIo extends Io {
  /** All that was printed so far. */
  out(): string;
  err(): string;
}

/** An Io that keeps what is printed. Off a terminal unless told otherwise. */
export function fakeIo(overrides: Partial<Io> = {}): FakeIo {
  const printed = { out: "", err: "" };
  const base = {
    cwd: "/nowhere",
    env: {},
    stdout: (text: string) => void (printed.out += text),
    stderr: (text: string) => void (printed.err += text),
    isTTY: false,
    columns: 80,
    tableWidth: 80,
    color: false,
    canAsk: false,
    readerGone: new AbortController().signal,
    ...overrides,
  };
  return Object.assign(base, { out: () => printed.out, err: () => printed.err });
}
