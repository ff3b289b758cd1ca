import { saysComplete } from "../../loop/sentinel.js";
import type { Reader } from "../definition.js";

/** Characters of a final message that are kept; the sentinel stands at its end. */
const maxMessage = 20_000;

/**
 * Reads an agent that prints plain text: the exit code says how it ended, and the final message is the last block of
 * lines, after the last blank one, with the one before it where it is the sentinel alone. Bounded, however much is
 * printed.
 */
export function readPlainText(): Reader {
  let block: string[] = [];
  let before: string[] = [];
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
        before = block;
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
    lastLine: () => block.at(-1) ?? "",
    // Programs like to say the sentinel apart, behind a blank line: then the block before it is the answer.
    answer: () => ({
      message: block.length === 1 && saysComplete(block[0] ?? "") ? [...before, ...block].join("\n") : block.join("\n"),
    }),
  };
}
