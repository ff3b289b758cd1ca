import { StringDecoder } from "node:string_decoder";
import { Transform, type TransformCallback } from "node:stream";
import { partialMarkLength } from "../conversation/thinking.js";
import type { Pastes } from "./pastes.js";

const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";
/** https://invisible-island.net/xterm/ctlseqs/ctlseqs.html#h2-Bracketed-Paste-Mode */
export const bracketedPaste = { on: "\u001b[?2004h", off: "\u001b[?2004l" } as const;

const ctrlC = "\u0003";
const escape = "\u001b";
const backspace = "\u007f";
/** Maximum milliseconds until the rest of a mark arrives. A mark is `pasteStart` or `pasteEnd`. */
const partialMarkMs = 50;

/** The connection from the filter to the dialogue. */
export interface KeyListener {
  /** Called for Ctrl+C or Escape while the model answers. */
  onInterrupt(): void;
  /** The line up to the cursor. It is needed to delete a pasted text as a whole. */
  lineBeforeCursor(): string;
}

/**
 * A filter between the terminal and the line editor. It replaces a pasted text by its label. While the model answers,
 * it holds keys back, and Ctrl+C and Escape interrupt the answer. While a question is shown, the next key answers it.
 */
export class Keys extends Transform {
  readonly #decoder = new StringDecoder("utf8");
  readonly #pastes: Pastes;
  readonly #listener: KeyListener;
  #isHeld = false;
  /** The text that is held back: the user typed it while the model answered. */
  #heldText = "";
  /** The beginning of a mark, the rest of which has not arrived yet. */
  #partialMark = "";
  #partialMarkTimer: NodeJS.Timeout | undefined;
  #pastedParts: string[] | undefined;
  /** The input has ended. */
  #hasEnded = false;
  /** Returns whether a key answers the current question. */
  #question: ((key: string) => boolean) | undefined;

  constructor(pastes: Pastes, listener: KeyListener) {
    super();
    this.#pastes = pastes;
    this.#listener = listener;
  }

  hold(): void {
    this.#isHeld = true;
  }

  /** Passes the held keys to the line editor. */
  release(): void {
    this.#isHeld = false;
    const ahead = this.#heldText;
    this.#heldText = "";
    if (ahead !== "") this.#handle(ahead);
  }

  /** Drops the held keys. */
  forget(): void {
    this.#heldText = "";
  }

  /**
   * Waits for a key to which `answerOf` gives an answer; other keys are ignored. Ctrl+C and Escape count as keys. If
   * the terminal is gone, the key is Ctrl+C, so `answerOf` must accept it.
   */
  async answer<Answer>(answerOf: (key: string) => Answer | undefined): Promise<Answer> {
    return await new Promise((resolve) => {
      if (this.#hasEnded) return resolve(answerOf(ctrlC) as Answer);
      this.#question = (key) => {
        const answer = answerOf(key);
        if (answer !== undefined) resolve(answer);
        return answer !== undefined;
      };
    });
  }

  override _transform(chunk: Buffer | string, _encoding: BufferEncoding, done: TransformCallback): void {
    const text = typeof chunk === "string" ? chunk : this.#decoder.write(chunk);
    if (this.#question !== undefined && text !== "") {
      // Keys that arrive together with an answer are not for the next question.
      if ([...text].some(this.#question)) this.#question = undefined;
    } else if (this.#isHeld) this.#holdText(text);
    else this.#handle(text);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#hasEnded = true;
    this.#question?.(ctrlC);
    this.#question = undefined;
    done();
  }

  #holdText(text: string): void {
    if (text === escape || text.includes(ctrlC)) {
      this.#listener.onInterrupt();
      this.#heldText = "";
    } else this.#heldText += text;
  }

  #handle(text: string): void {
    clearTimeout(this.#partialMarkTimer);
    let remaining = this.#partialMark + text;
    this.#partialMark = "";
    while (remaining !== "") {
      const mark = this.#pastedParts === undefined ? pasteStart : pasteEnd;
      const markIndex = remaining.indexOf(mark);
      if (markIndex === -1) {
        const partialLength = partialMarkLength(mark, remaining);
        this.#partialMark = remaining.slice(remaining.length - partialLength);
        this.#handleText(remaining.slice(0, remaining.length - partialLength));
        // If nothing follows an Escape, it is a key and not the beginning of a mark.
        if (partialLength > 0 && this.#pastedParts === undefined)
          this.#partialMarkTimer = setTimeout(() => this.#releasePartialMark(), partialMarkMs);
        return;
      }
      this.#handleText(remaining.slice(0, markIndex));
      if (this.#pastedParts === undefined) this.#pastedParts = [];
      else {
        const pastedText = this.#pastedParts.join("");
        this.#pastedParts = undefined;
        this.push(this.#pastes.lineTextFor(pastedText));
      }
      remaining = remaining.slice(markIndex + mark.length);
    }
  }

  #releasePartialMark(): void {
    const partialMark = this.#partialMark;
    this.#partialMark = "";
    this.#handleText(partialMark);
  }

  /** Handles text between two marks. */
  #handleText(text: string): void {
    if (text === "") return;
    if (this.#pastedParts !== undefined) return void this.#pastedParts.push(text);
    const label = text === backspace ? this.#pastes.labelAtEnd(this.#listener.lineBeforeCursor()) : undefined;
    this.push(label === undefined ? text : backspace.repeat(label.length));
  }
}
