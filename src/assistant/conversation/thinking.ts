const begins = "<think>";
const ends = "</think>";

/**
 * Tells the thinking of a model from its words, where a server hands on both as one text: models such as Qwen and
 * DeepSeek put what they think between tags before their answer. Tags elsewhere in an answer are words of it.
 */
export class ThinkingTags {
  /** What came before it was known whether the answer begins with the tag, or whether the thinking is over. */
  #held = "";
  #place: "before" | "thinking" | "behind" | "words" = "before";

  /** The next piece of the text, parted. */
  add(piece: string): { readonly thinking: string; readonly words: string } {
    if (this.#place === "words") return { thinking: "", words: piece };
    this.#held += piece;
    if (this.#place === "before") {
      const start = this.#held.trimStart();
      if (start.length < begins.length && begins.startsWith(start)) return { thinking: "", words: "" };
      if (!start.startsWith(begins)) return { thinking: "", words: this.end().words };
      this.#place = "thinking";
      this.#held = start.slice(begins.length);
    }
    if (this.#place === "behind") return { thinking: "", words: this.#firstWords() };
    const at = this.#held.indexOf(ends);
    if (at === -1) {
      const known = this.#held.length - partOf(ends, this.#held);
      const thinking = this.#held.slice(0, known);
      this.#held = this.#held.slice(known);
      return { thinking, words: "" };
    }
    const thinking = this.#held.slice(0, at);
    this.#held = this.#held.slice(at + ends.length);
    this.#place = "behind";
    return { thinking, words: this.#firstWords() };
  }

  /** What is left once the text is over. */
  end(): { readonly thinking: string; readonly words: string } {
    const left = this.#held;
    const isThought = this.#place === "thinking";
    this.#held = "";
    this.#place = "words";
    return isThought ? { thinking: left, words: "" } : { thinking: "", words: left };
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
  return tags.add(text).words + tags.end().words;
}
