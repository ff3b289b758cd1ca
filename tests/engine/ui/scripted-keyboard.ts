import type { Keyboard } from "../../../src/engine/ui/terminal/keyboard.js";

/** A keyboard that a test presses keys of. */
export interface ScriptedKeyboard extends Keyboard {
  press(...keys: readonly string[]): void;
  isRead(): boolean;
  /** The signals of Ctrl+C, Ctrl+Z and Ctrl+\, in their order. */
  readonly sent: string[];
}

export function scriptedKeyboard(): ScriptedKeyboard {
  let listener: ((key: string) => void) | undefined;
  const sent: string[] = [];
  return {
    sent,
    press: (...keys) => keys.forEach((key) => listener?.(key)),
    isRead: () => listener !== undefined,
    listen(onKey) {
      listener = onKey;
      return () => (listener = undefined);
    },
    send: (signal) => void sent.push(signal),
  };
}
