import type { Io } from "../../engine/ui/io.js";
import { pad, textWidth } from "../../engine/ui/terminal/format.js";

/** Reads the keys that the user presses. */
export interface Keys {
  /** Waits for the next key. */
  next(): Promise<string>;
  /** Makes this key the next one. */
  unread(key: string): void;
  /**
   * Lets the user edit a line, which begins with `initialText`. Undefined if the user cancels with Esc or Ctrl+C;
   * Ctrl+C is then also the next key.
   */
  line(label: string, initialText: string): Promise<string | undefined>;
  close(): void;
}

export const ctrlC = "\u0003";
const [escape, enter, backspace, ctrlU] = ["\u001b", "\r", "\u007f", "\u0015"];

/** Starts reading keys; undefined if there is no terminal. */
export function openKeys(io: Pick<Io, "keyboard" | "stdout" | "columns">): Keys | undefined {
  const { keyboard, stdout } = io;
  const waitingReaders: ((key: string) => void)[] = [];
  const typedKeys: string[] = [];
  const stop = keyboard?.listen((key) => {
    const reader = waitingReaders.shift();
    if (reader === undefined) typedKeys.push(key);
    else reader(key);
  });
  if (stop === undefined) return undefined;
  const next = async (): Promise<string> =>
    typedKeys.shift() ?? (await new Promise<string>((resolve) => void waitingReaders.push(resolve)));
  const unread = (key: string): void => void typedKeys.unshift(key);
  return {
    next,
    unread,
    close: stop,
    async line(label, initialText) {
      let text = initialText;
      for (;;) {
        // Spaces overwrite the old text, also on a dumb terminal. This works only for a line that is not wrapped.
        const visibleText = `${label}${lastColumns(text, io.columns - 1 - textWidth(label))}`;
        stdout(`\r${pad(visibleText, io.columns - 1)}\r${visibleText}`);
        const key = await next();
        if (key === enter || key === "\n") {
          stdout("\n");
          return text.trim();
        }
        if (key === ctrlC) unread(key);
        if (key === escape || key === ctrlC) return undefined;
        if (key === backspace || key === "\b") text = [...text].slice(0, -1).join("");
        else if (key === ctrlU) text = "";
        // Other escape sequences, such as arrow keys, are ignored.
        else if (!key.startsWith(escape) && key >= " ") text += key;
      }
    },
  };
}

/** The end of `text` with at most `columns` columns; begins with an ellipsis if it was cut. */
function lastColumns(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let end = text;
  while (end !== "" && textWidth(end) > columns - 1) end = [...end].slice(1).join("");
  return `…${end}`;
}
