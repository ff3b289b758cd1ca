import { describe, expect, it } from "vitest";
import { CallText } from "../../../src/assistant/conversation/call-text.js";

/** What is told at once and what is held back, with the text in pieces of one character and as a whole. */
function told(text: string, isAnyLine: boolean): readonly [told: string, held: string] {
  const [byCharacter, atOnce] = [new CallText(isAnyLine), new CallText(isAnyLine)];
  const pieces = [...text].map((piece) => byCharacter.add(piece)).join("");
  const result = [atOnce.add(text), atOnce.heldText] as const;
  expect([pieces, byCharacter.heldText]).toEqual(result);
  return result;
}

const call = '{"action": "ls"}';

describe("text that may be a call", () => {
  it.each([call, `\n\n ${call}`, `\`\`\`json\n${call}\n\`\`\``, `[${call}]`, "``", "\n"])(
    "%j is held back at the beginning of any message",
    (text) => {
      expect(told(text, false)).toEqual(["", text]);
      expect(told(text, true)).toEqual(["", text]);
    },
  );

  it.each([call, `\`\`\`json\n${call}\n\`\`\`\nThen I go on.`, `  ${call}\nmore`])(
    "%j is held back after an introduction where a model can call by text alone",
    (text) => {
      expect(told(`I look:\n${text}`, true)).toEqual(["I look:\n", text]);
      expect(told(`I look:\n${text}`, false)).toEqual([`I look:\n${text}`, ""]);
    },
  );

  it.each(["Plain words {a}.", "```js\nrun()\n```\nDone.", "`ls` lists.", "Two\n\nparagraphs [1]."])(
    "%j is told at once",
    (text) => {
      expect(told(text, true)).toEqual([text, ""]);
    },
  );
});
