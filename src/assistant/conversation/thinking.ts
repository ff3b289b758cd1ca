const begins = "<think>";
const ends = "</think>";

/** A piece of a text, parted. */
export interface Parted {
  readonly thinking: string;
  readonly words: string;
  /** What was taken for words before was thinking. */
  readonly anew?: true;
}

/** Models whose own template opens the tag, so that their text begins with what they think, and has its end alone. */
const openers = /deepseek-r1|\bqwq\b|-thinking\b/i;
export const opensThinking = (model: string): boolean => openers.test(model);

/**
 * Tells the thinking of a model from its words, where a server hands on both as one text: models such as Qwen and
 * DeepSeek put what they think between tags before their answer. Tags elsewhere in an answer are words of it.
 * `isOpen`: the text is expected to begin within the tags; without their end all of it are words.
 */
export class ThinkingTags {
  /** What came before it was known whether the answer begins with the tag, or whether the thinking is over. */
  #held = "";
  #place: "before" | "thinking" | "behind" | "words" = "before";
  /** All that came, while the end of the thinking may still come: as words, or as thinking by expectation alone. */
  #unsure: string | undefined = "";
  readonly #isOpen: boolean;

  constructor(isOpen = false) {
    this.#isOpen = isOpen;
  }

  /** The next piece of the text, parted. */
  add(piece: string): Parted {
    this.#held += piece;
    if (this.#place === "words") return this.#words(false);
    if (this.#place === "behind") return { thinking: "", words: this.#firstWords() };
    if (this.#place === "before") {
      const start = this.#held.trimStart();
      if (start.length < begins.length && begins.startsWith(start)) return { thinking: "", words: "" };
      const isMarked = start.startsWith(begins);
      if (!isMarked && !this.#isOpen) {
        this.#place = "words";
        return this.#words(false);
      }
      this.#place = "thinking";
      if (isMarked) {
        this.#held = start.slice(begins.length);
        this.#unsure = undefined;
      }
    }
    const at = this.#held.indexOf(ends);
    const known = at === -1 ? this.#held.length - partOf(ends, this.#held) : at;
    const thinking = this.#held.slice(0, known);
    if (this.#unsure !== undefined) this.#unsure += thinking;
    if (at === -1) {
      this.#held = this.#held.slice(known);
      return { thinking, words: "" };
    }
    this.#held = this.#held.slice(at + ends.length);
    this.#place = "behind";
    this.#unsure = undefined;
    return { thinking, words: this.#firstWords() };
  }

  /** What is left once the text is over. */
  end(): Parted {
    if (this.#place === "words") return this.#words(true);
    const left = this.#held;
    const isThought = this.#place === "thinking";
    this.#held = "";
    this.#place = "words";
    if (!isThought) return { thinking: "", words: left };
    // Nothing has closed what was only expected to be thinking.
    return this.#unsure === undefined
      ? { thinking: left, words: "" }
      : { thinking: "", words: `${this.#unsure}${left}`, anew: true };
  }

  /** What is held, as words; where the end of the thinking stands alone in it, what is behind that. */
  #words(isAll: boolean): Parted {
    if (this.#unsure === undefined) return { thinking: "", words: this.#take(this.#held.length) };
    const at = this.#held.indexOf(ends);
    if (at === -1)
      return { thinking: "", words: this.#take(this.#held.length - (isAll ? 0 : partOf(ends, this.#held))) };
    const behind = this.#held.slice(at + ends.length);
    // What stands behind it says whether it is a mark or spoken of.
    if (!isAll && behind.trimStart() === "" && !behind.includes("\n")) return { thinking: "", words: this.#take(at) };
    const before = this.#unsure + this.#held.slice(0, at);
    const isAlone = /(?:^|\n)[ \t]*$/.test(before) || /^[ \t]*(?:\n|$)/.test(behind);
    if (!isAlone || before.includes(begins) || /["'`]$/.test(before)) {
      this.#unsure = undefined;
      return { thinking: "", words: this.#take(this.#held.length) };
    }
    this.#held = behind;
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

  /** Behind the tag, an answer begins with its first word. */
  #firstWords(): string {
    this.#held = this.#held.trimStart();
    return this.#held === "" ? "" : this.end().words;
  }
}

/** How many characters at the end of a text may be the beginning of a mark. */
export function partOf(mark: string, text: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length >= 1; length -= 1)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}

/** A whole text without the thinking at its beginning. */
export function withoutThinking(text: string): string {
  const tags = new ThinkingTags();
  const [first, last] = [tags.add(text), tags.end()];
  return last.anew === true ? last.words : first.words + last.words;
}
