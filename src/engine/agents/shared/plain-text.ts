import { saysComplete } from "../../loop/sentinel.js";
import type { Reader } from "../definition.js";

/** Maximum length of a final message, in characters; the end is kept, because the sentinel is there. */
const maxMessageChars = 20_000;

/**
 * Reads an agent that prints plain text. The exit code shows success or failure. The final message is the last block of
 * lines, after the last blank line. If that block is only the sentinel, the block before it is included. Memory is
 * bounded, however much is printed.
 */
export function readPlainText(): Reader {
  let lastBlock: string[] = [];
  let previousBlock: string[] = [];
  let blockChars = 0;
  let isBlockEnded = false;
  return {
    line(line) {
      const text = line.trimEnd();
      if (text.trim() === "") {
        isBlockEnded = true;
        return [];
      }
      if (isBlockEnded) {
        previousBlock = lastBlock;
        lastBlock = [];
        blockChars = 0;
        isBlockEnded = false;
      }
      const lineEnd = text.slice(-maxMessageChars);
      lastBlock.push(lineEnd);
      blockChars += lineEnd.length + 1;
      while (blockChars > maxMessageChars && lastBlock.length > 1) blockChars -= (lastBlock.shift() ?? "").length + 1;
      return [{ type: "text", text: text.slice(0, maxMessageChars) }];
    },
    isFinished: () => false,
    lastLine: () => lastBlock.at(-1) ?? "",
    // Many programs print the sentinel after a blank line: then the block before it is the answer.
    answer: () => ({
      message:
        lastBlock.length === 1 && saysComplete(lastBlock[0] ?? "")
          ? [...previousBlock, ...lastBlock].join("\n")
          : lastBlock.join("\n"),
    }),
  };
}
