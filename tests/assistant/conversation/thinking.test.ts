import { describe, expect, it } from "vitest";
import { ThinkingTags, withoutThinking } from "../../../src/assistant/conversation/thinking.js";

/** What is told of a text that comes in pieces of a length. */
function parted(text: string, length: number): readonly [thinking: string, words: string] {
  const tags = new ThinkingTags();
  let [thinking, words] = ["", ""];
  const hear = (heard: ReturnType<ThinkingTags["add"]>) => {
    thinking += heard.thinking;
    words += heard.words;
  };
  for (let at = 0; at < text.length; at += length) hear(tags.add(text.slice(at, at + length)));
  hear(tags.end());
  return [thinking, words];
}

describe("thinking between tags", () => {
  it.each([
    ["\n<think>\nOne <b> two.\n</think>\n\nThe answer.\n", "\nOne <b> two.\n", "The answer.\n"],
    ["<think></think>42", "", "42"],
    ["<think>never ended </thi", "never ended </thi", ""],
    ["Say <think>x</think>.", "", "Say <think>x</think>."],
    ["  <thin air", "", "  <thin air"],
    ["", "", ""],
  ])("stands apart from the words of %j, in pieces of any length", (text, thinking, words) => {
    for (const length of [1, 2, 3, 7, 1000]) expect(parted(text, length)).toEqual([thinking, words]);
    expect(withoutThinking(text)).toBe(words);
  });
});
