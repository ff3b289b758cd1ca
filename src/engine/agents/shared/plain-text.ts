import type { Reader } from "../definition.js";

/** Characters of a final message that are kept; the sentinel stands at its end. */
const maxMessage = 20_000;

/**
 * Reads an agent that prints plain text: the exit code says how it ended, and the final message is the last block of
 * lines, after the last blank one. Bounded, however much is printed.
 */
export function readPlainText(): Reader {
  let block: string[] = [];
  let size = 0;
  let ended = false;
  return {
    line(line) {
      const text = line.trimEnd();
      if (text.trim() === "") {
        ended = true;
        return [];
      }
      if (ended) {
        block = [];
        size = 0;
        ended = false;
      }
      const kept = text.slice(-maxMessage);
      block.push(kept);
      size += kept.length + 1;
      while (size > maxMessage && block.length > 1) size -= (block.shift() ?? "").length + 1;
      return [{ type: "text", text: text.slice(0, maxMessage) }];
    },
    finished: () => false,
    answer: () => ({ message: block.join("\n") }),
  };
}
