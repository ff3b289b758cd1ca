/** Beginning of a line that may be a call as JSON, perhaps in a code block; also an end of the text before that. */
const possibleCall = /^\s*(?:`{0,2}(?![^])|(?:```\w*\s*)?(?:(?![^])|[[{]))/;

/**
 * Holds back text of a message that may be a call of a tool, which is not part of the answer. `isAnyLine`: a call may
 * begin on each line, as in messages of models without tool calls; otherwise only at the beginning.
 */
export class CallText {
  #heldText = "";
  #canBegin = true;
  readonly #isAnyLine: boolean;

  constructor(isAnyLine: boolean) {
    this.#isAnyLine = isAnyLine;
  }

  /** Adds the next piece and returns the text that belongs to the answer in any case. */
  add(piece: string): string {
    this.#heldText += piece;
    let start = this.#canBegin ? 0 : this.#nextLine(0);
    while (start < this.#heldText.length && !possibleCall.test(this.#heldText.slice(start)))
      start = this.#nextLine(start);
    const text = this.#heldText.slice(0, start);
    this.#heldText = this.#heldText.slice(start);
    if (text !== "") this.#canBegin = this.#isAnyLine && text.endsWith("\n");
    return text;
  }

  /** The text that is held back. Call it after the last piece. */
  get heldText(): string {
    return this.#heldText;
  }

  /** The start of the next line on which a call may begin, or the length of the held text. */
  #nextLine(start: number): number {
    const lineEnd = this.#isAnyLine ? this.#heldText.indexOf("\n", start) : -1;
    return lineEnd === -1 ? this.#heldText.length : lineEnd + 1;
  }
}
