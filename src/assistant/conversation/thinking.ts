const openTag = "<think>";
const closeTag = "</think>";

/** A piece of text, split into thinking and words. */
export interface SplitText {
  readonly thinking: string;
  readonly words: string;
  /** The words so far were thinking. */
  readonly anew?: true;
}

/** Models whose template contains the opening tag: their text begins with thinking and has only the closing tag. */
const modelsWithOpenTag = /deepseek-r1|\bqwq\b|-thinking\b/i;
export const opensThinking = (model: string): boolean => modelsWithOpenTag.test(model);

/**
 * Separates the thinking of a model from its answer, if a server sends both as one text. Models such as Qwen and
 * DeepSeek write their thinking between tags before their answer. Tags later in the answer belong to the answer.
 * `isOpen`: the text is expected to begin with thinking; if the closing tag never comes, all of it is the answer.
 */
export class ThinkingTags {
  /** Text that can't be classified yet: a tag may begin or end in it. */
  #held = "";
  #place: "before" | "thinking" | "behind" | "words" = "before";
  /** All text so far, while a closing tag could still show that it was thinking; undefined afterwards. */
  #unsure: string | undefined = "";
  readonly #isOpen: boolean;

  constructor(isOpen = false) {
    this.#isOpen = isOpen;
  }

  /** Adds the next piece of the text and returns what is now certain. */
  add(piece: string): SplitText {
    this.#held += piece;
    if (this.#place === "words") return this.#words(false);
    if (this.#place === "behind") return { thinking: "", words: this.#firstWords() };
    if (this.#place === "before") {
      const start = this.#held.trimStart();
      if (start.length < openTag.length && openTag.startsWith(start)) return { thinking: "", words: "" };
      const isMarked = start.startsWith(openTag);
      if (!isMarked && !this.#isOpen) {
        this.#place = "words";
        return this.#words(false);
      }
      this.#place = "thinking";
      if (isMarked) {
        this.#held = start.slice(openTag.length);
        this.#unsure = undefined;
      }
    }
    const closeIndex = this.#held.indexOf(closeTag);
    const safeLength = closeIndex === -1 ? this.#held.length - partialMarkLength(closeTag, this.#held) : closeIndex;
    const thinking = this.#held.slice(0, safeLength);
    if (this.#unsure !== undefined) this.#unsure += thinking;
    if (closeIndex === -1) {
      this.#held = this.#held.slice(safeLength);
      return { thinking, words: "" };
    }
    this.#held = this.#held.slice(closeIndex + closeTag.length);
    this.#place = "behind";
    this.#unsure = undefined;
    return { thinking, words: this.#firstWords() };
  }

  /** Ends the text and returns the rest. */
  end(): SplitText {
    if (this.#place === "words") return this.#words(true);
    const remaining = this.#held;
    const isThinking = this.#place === "thinking";
    this.#held = "";
    this.#place = "words";
    if (!isThinking) return { thinking: "", words: remaining };
    // The text was expected to be thinking, but no closing tag came: so it is the answer.
    return this.#unsure === undefined
      ? { thinking: remaining, words: "" }
      : { thinking: "", words: `${this.#unsure}${remaining}`, anew: true };
  }

  /** Returns the held text as words. If a closing tag stands alone in it, returns only the text after the tag. */
  #words(isAll: boolean): SplitText {
    if (this.#unsure === undefined) return { thinking: "", words: this.#take(this.#held.length) };
    const closeIndex = this.#held.indexOf(closeTag);
    if (closeIndex === -1)
      return {
        thinking: "",
        words: this.#take(this.#held.length - (isAll ? 0 : partialMarkLength(closeTag, this.#held))),
      };
    const afterTag = this.#held.slice(closeIndex + closeTag.length);
    // The text after the tag is needed to decide whether the tag is a mark or is only mentioned.
    if (!isAll && afterTag.trimStart() === "" && !afterTag.includes("\n"))
      return { thinking: "", words: this.#take(closeIndex) };
    const beforeTag = this.#unsure + this.#held.slice(0, closeIndex);
    const isAloneOnLine = /(?:^|\n)[ \t]*$/.test(beforeTag) || /^[ \t]*(?:\n|$)/.test(afterTag);
    if (!isAloneOnLine || beforeTag.includes(openTag) || /["'`]$/.test(beforeTag)) {
      this.#unsure = undefined;
      return { thinking: "", words: this.#take(this.#held.length) };
    }
    this.#held = afterTag;
    this.#place = "behind";
    this.#unsure = undefined;
    return { thinking: "", words: this.#firstWords(), anew: true };
  }

  #take(length: number): string {
    const words = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    if (this.#unsure !== undefined) this.#unsure += words;
    return words;
  }

  /** Removes the spaces between the closing tag and the answer. */
  #firstWords(): string {
    this.#held = this.#held.trimStart();
    return this.#held === "" ? "" : this.end().words;
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
  return last.anew === true ? last.words : first.words + last.words;
}
