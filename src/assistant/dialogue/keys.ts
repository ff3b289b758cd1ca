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
/** Maximum milliseconds until the rest of a partial mark arrives. */
const partialMarkMs = 50;

/** Handles keys that are not for the line. */
export interface KeyListener {
  /** Called for Ctrl+C or Escape while the model answers. */
  interrupted(): void;
  /** The line up to the cursor. It is needed to delete a pasted text as a whole. */
  lineBeforeCursor(): string;
}

/**
 * A filter between the terminal and the line editor. In the line, a pasted text is replaced by its label. While the
 * model answers, keys are held, and Ctrl+C and Escape interrupt the answer. A question takes the next key.
 */
export class Keys extends Transform {
  readonly #decoder = new StringDecoder("utf8");
  readonly #pastes: Pastes;
  readonly #listener: KeyListener;
  #isHeld = false;
  /** Text that was typed while the model answers. */
  #ahead = "";
  /** The first part of a mark for pasted text. */
  #begun = "";
  #timer: NodeJS.Timeout | undefined;
  #pasted: string[] | undefined;
  /** The input has ended. */
  #isOver = false;
  /** Returns whether a key answers the current question. */
  #question: ((key: string) => boolean) | undefined;

  constructor(pastes: Pastes, listener: KeyListener) {
    super();
    this.#pastes = pastes;
    this.#listener = listener;
  }

  /** Holds keys from now on. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Passes the held keys to the line editor. */
  release(): void {
    this.#isHeld = false;
    const ahead = this.#ahead;
    this.#ahead = "";
    if (ahead !== "") this.#take(ahead);
  }

  /** Drops the held keys, for example after an interrupted answer. */
  forget(): void {
    this.#ahead = "";
  }

  /**
   * Waits for a key to which `answerOf` gives an answer; other keys are ignored. Ctrl+C and Escape count as keys. If
   * the terminal is gone, the key is Ctrl+C, so `answerOf` must accept it.
   */
  async answer<Answer>(answerOf: (key: string) => Answer | undefined): Promise<Answer> {
    return await new Promise((resolve) => {
      if (this.#isOver) return resolve(answerOf(ctrlC) as Answer);
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
    } else if (this.#isHeld) this.#wait(text);
    else this.#take(text);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#isOver = true;
    this.#question?.(ctrlC);
    this.#question = undefined;
    done();
  }

  #wait(text: string): void {
    if (text === escape || text.includes(ctrlC)) {
      this.#listener.interrupted();
      this.#ahead = "";
    } else this.#ahead += text;
  }

  #take(text: string): void {
    clearTimeout(this.#timer);
    let remaining = this.#begun + text;
    this.#begun = "";
    while (remaining !== "") {
      const mark = this.#pasted === undefined ? pasteStart : pasteEnd;
      const markIndex = remaining.indexOf(mark);
      if (markIndex === -1) {
        const partialLength = partialMarkLength(mark, remaining);
        this.#begun = remaining.slice(remaining.length - partialLength);
        this.#some(remaining.slice(0, remaining.length - partialLength));
        // A lone Escape is a key and not the beginning of a mark.
        if (partialLength > 0 && this.#pasted === undefined)
          this.#timer = setTimeout(() => this.#flush(), partialMarkMs);
        return;
      }
      this.#some(remaining.slice(0, markIndex));
      if (this.#pasted === undefined) this.#pasted = [];
      else {
        const pastedText = this.#pasted.join("");
        this.#pasted = undefined;
        this.push(this.#pastes.shown(pastedText));
      }
      remaining = remaining.slice(markIndex + mark.length);
    }
  }

  #flush(): void {
    const partialMark = this.#begun;
    this.#begun = "";
    this.#some(partialMark);
  }

  /** Handles text between two marks. */
  #some(text: string): void {
    if (text === "") return;
    if (this.#pasted !== undefined) return void this.#pasted.push(text);
    const label = text === backspace ? this.#pastes.labelAtEnd(this.#listener.lineBeforeCursor()) : undefined;
    this.push(label === undefined ? text : backspace.repeat(label.length));
  }
}
