import { describe, expect, it } from "vitest";
import {
  startsWithThinking,
  type SplitText,
  ThinkingTags,
  withoutThinking,
} from "../../../src/assistant/conversation/thinking.js";

/** What is told of a text that comes in pieces of a length, once all is known. */
function parted(text: string, length: number, isOpen = false): readonly [thinking: string, words: string] {
  const tags = new ThinkingTags(isOpen);
  let [thinking, words] = ["", ""];
  const hear = (heard: SplitText) => {
    thinking += heard.thinking;
    words = heard.isRestart === true ? heard.answer : words + heard.answer;
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

  it.each([
    ["Two and two.\n</think>\n\nFour.", "Four."],
    ["So it is 4.</think>\n\nFour.\n", "Four.\n"],
    ["</think>Four", "Four"],
    ["Let me see.</think>", ""],
    // The tag is spoken of, or was opened further up.
    ["Write `</think>` at the end.", "Write `</think>` at the end."],
    ['The tag "</think>"\nends it.', 'The tag "</think>"\nends it.'],
    ["As in\n<think>\nx\n</think>\ny", "As in\n<think>\nx\n</think>\ny"],
    ["a </think> b </think>\nc", "a </think> b </think>\nc"],
    ["a < b </thi", "a < b </thi"],
  ])("ends at a tag that was opened before the text of %j", (text, words) => {
    for (const length of [1, 2, 3, 7, 1000]) expect([length, parted(text, length)[1]]).toEqual([length, words]);
    expect(withoutThinking(text)).toBe(words);
  });

  it.each([
    ["Two and two.\n</think>\n\nFour.", "Two and two.\n", "Four."],
    ["<think>\nTwo.</think>Four", "\nTwo.", "Four"],
    ["Four, at once.", "", "Four, at once."],
    ["Say `</think>`.", "Say `", "`."],
  ])("is expected at once of a model whose template opens it: %j", (text, thinking, words) => {
    for (const length of [1, 3, 1000]) {
      const [thought, said] = parted(text, length, true);
      expect(said).toBe(words);
      if (thinking !== "") expect(thought).toBe(thinking);
    }
  });

  it("is opened by the templates of models that are known for it", () => {
    expect(["deepseek-r1:14b", "qwen/qwq-32b", "Qwen3-4B-Thinking-2507"].every(startsWithThinking)).toBe(true);
    expect(["deepseek-chat", "qwen3:8b", "gpt-4o", "claude-sonnet-4-5"].some(startsWithThinking)).toBe(false);
  });
});
