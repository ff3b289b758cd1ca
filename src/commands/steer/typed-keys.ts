import type { Io } from "../../engine/ui/io.js";

/** Keys that a person presses, one after the other. */
export interface Keys {
  next(): Promise<string>;
  /** A line that is typed, with a text to begin with; undefined where it was left with Esc. */
  line(label: string, before?: string): Promise<string | undefined>;
  close(): void;
}

const [escape, enter, backspace, ctrlC, ctrlU] = ["\u001b", "\r", "\u007f", "\u0003", "\u0015"];

/** Listens for keys; undefined where nobody is at a terminal. */
export function openKeys({ keyboard, stdout }: Pick<Io, "keyboard" | "stdout">): Keys | undefined {
  const waiting: ((key: string) => void)[] = [];
  const typed: string[] = [];
  const stop = keyboard?.listen((key) => {
    const heard = waiting.shift();
    if (heard === undefined) typed.push(key);
    else heard(key);
  });
  if (stop === undefined) return undefined;
  const next = async (): Promise<string> =>
    typed.shift() ?? (await new Promise<string>((heard) => void waiting.push(heard)));
  return {
    next,
    close: stop,
    async line(label, before = "") {
      let text = before;
      for (;;) {
        stdout(`\r\u001b[K${label}${text}`);
        const key = await next();
        if (key === enter || key === "\n") {
          stdout("\n");
          return text.trim();
        }
        if (key === escape || key === ctrlC) return undefined;
        if (key === backspace || key === "\b") text = [...text].slice(0, -1).join("");
        else if (key === ctrlU) text = "";
        // An arrow, say, types nothing.
        else if (!key.startsWith(escape) && key >= " ") text += key;
      }
    },
  };
}
