const openTag = "<think>";
const closeTag = "</think>";

/** A piece of text, split into thinking and answer. */
export interface SplitText {
  readonly thinking: string;
  readonly answer: string;
  /** What was returned before as answer was thinking; the answer begins with this piece. */
  readonly isRestart?: true;
}

/**
 * The chat template of these models contains the opening tag, so their text begins with thinking and has only the
 * closing tag.
 */
const modelsWithOpenTag = /deepseek-r1|\bqwq\b|-thinking\b/i;
export const startsWithThinking = (model: string): boolean => modelsWithOpenTag.test(model);

/**
 * Separates the thinking of a model from its answer, if a server sends both as one text. Models such as Qwen and
 * DeepSeek write their thinking between tags before their answer. Tags later in the answer belong to the answer.
 * `isOpen`: the text should begin with thinking; if the closing tag never comes, all of it is the answer.
 */
export class ThinkingTags {
  /** Text that can't be classified yet: a tag may begin or end in it. */
  #heldText = "";
  #position: "before" | "thinking" | "after-tag" | "answer" = "before";
  /** All text so far, while a closing tag could still show that it was thinking; undefined afterwards. */
  #undecidedText: string | undefined = "";
  readonly #expectsThinking: boolean;

  constructor(isOpen = false) {
    this.#expectsThinking = isOpen;
  }

  /** Adds the next piece of the text and returns the part that can be classified now. */
  add(piece: string): SplitText {
    this.#heldText += piece;
    if (this.#position === "answer") return this.#takeAnswer(false);
    if (this.#position === "after-tag") return { thinking: "", answer: this.#beginAnswer() };
    if (this.#position === "before") {
      const start = this.#heldText.trimStart();
      if (start.length < openTag.length && openTag.startsWith(start)) return { thinking: "", answer: "" };
      const isMarked = start.startsWith(openTag);
      if (!isMarked && !this.#expectsThinking) {
        this.#position = "answer";
        return this.#takeAnswer(false);
      }
      this.#position = "thinking";
      if (isMarked) {
        this.#heldText = start.slice(openTag.length);
        this.#undecidedText = undefined;
      }
    }
    const closeIndex = this.#heldText.indexOf(closeTag);
    const safeLength =
      closeIndex === -1 ? this.#heldText.length - partialMarkLength(closeTag, this.#heldText) : closeIndex;
    const thinking = this.#heldText.slice(0, safeLength);
    if (this.#undecidedText !== undefined) this.#undecidedText += thinking;
    if (closeIndex === -1) {
      this.#heldText = this.#heldText.slice(safeLength);
      return { thinking, answer: "" };
    }
    this.#heldText = this.#heldText.slice(closeIndex + closeTag.length);
    this.#position = "after-tag";
    this.#undecidedText = undefined;
    return { thinking, answer: this.#beginAnswer() };
  }

  /** Returns the rest. Call it after the last piece. */
  end(): SplitText {
    if (this.#position === "answer") return this.#takeAnswer(true);
    const remaining = this.#heldText;
    const isThinking = this.#position === "thinking";
    this.#heldText = "";
    this.#position = "answer";
    if (!isThinking) return { thinking: "", answer: remaining };
    // The text should have begun with thinking, but there was no closing tag, so all of it is the answer.
    return this.#undecidedText === undefined
      ? { thinking: remaining, answer: "" }
      : { thinking: "", answer: `${this.#undecidedText}${remaining}`, isRestart: true };
  }

  /**
   * Returns the held text as answer. If it contains a closing tag without an opening tag, the answer begins after it.
   */
  #takeAnswer(isAll: boolean): SplitText {
    if (this.#undecidedText === undefined) return { thinking: "", answer: this.#takeText(this.#heldText.length) };
    const closeIndex = this.#heldText.indexOf(closeTag);
    if (closeIndex === -1)
      return {
        thinking: "",
        answer: this.#takeText(this.#heldText.length - (isAll ? 0 : partialMarkLength(closeTag, this.#heldText))),
      };
    const afterTag = this.#heldText.slice(closeIndex + closeTag.length);
    // Only the text after the tag shows whether the model ends its thinking here, or just mentions the tag.
    if (!isAll && afterTag.trimStart() === "" && !afterTag.includes("\n"))
      return { thinking: "", answer: this.#takeText(closeIndex) };
    const beforeTag = this.#undecidedText + this.#heldText.slice(0, closeIndex);
    const isAloneOnLine = /(?:^|\n)[ \t]*$/.test(beforeTag) || /^[ \t]*(?:\n|$)/.test(afterTag);
    if (!isAloneOnLine || beforeTag.includes(openTag) || /["'`]$/.test(beforeTag)) {
      this.#undecidedText = undefined;
      return { thinking: "", answer: this.#takeText(this.#heldText.length) };
    }
    this.#heldText = afterTag;
    this.#position = "after-tag";
    this.#undecidedText = undefined;
    return { thinking: "", answer: this.#beginAnswer(), isRestart: true };
  }

  #takeText(length: number): string {
    const answer = this.#heldText.slice(0, length);
    this.#heldText = this.#heldText.slice(length);
    if (this.#undecidedText !== undefined) this.#undecidedText += answer;
    return answer;
  }

  /** Removes the spaces between the closing tag and the answer. */
  #beginAnswer(): string {
    this.#heldText = this.#heldText.trimStart();
    return this.#heldText === "" ? "" : this.end().answer;
  }
}

/** The number of characters at the end of a text that may be the beginning of a mark. */
export function partialMarkLength(mark: string, text: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length >= 1; length -= 1)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}

/** A complete text without the thinking at its beginning. */
export function withoutThinking(text: string): string {
  const tags = new ThinkingTags();
  const [first, last] = [tags.add(text), tags.end()];
  return last.isRestart === true ? last.answer : first.answer + last.answer;
}
