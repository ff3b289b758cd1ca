import { StringDecoder } from "node:string_decoder";
import { Transform, type TransformCallback } from "node:stream";
import { partOf } from "../conversation/thinking.js";
import type { Pastes } from "./pastes.js";

const pasteBegins = "\u001b[200~";
const pasteEnds = "\u001b[201~";
/** https://invisible-island.net/xterm/ctlseqs/ctlseqs.html#h2-Bracketed-Paste-Mode */
export const bracketedPaste = { on: "\u001b[?2004h", off: "\u001b[?2004l" } as const;

const ctrlC = "\u0003";
const escape = "\u001b";
const backspace = "\u007f";
/** Milliseconds that the rest of a mark may take. */
const partMs = 50;

/** Who is told of keys that are not for the line. */
export interface KeyListener {
  /** Ctrl+C or Escape while an answer is awaited. */
  interrupted(): void;
  /** The line up to the cursor, so that a pasted text is deleted as a whole. */
  lineBeforeCursor(): string;
}

/**
 * What stands between the terminal and the line that is edited. A pasted text reaches the line as its label. While an
 * answer is awaited, keys wait, and Ctrl+C and Escape interrupt it; a question takes the next key for itself.
 */
export class Keys extends Transform {
  readonly #decoder = new StringDecoder("utf8");
  readonly #pastes: Pastes;
  readonly #listener: KeyListener;
  #isHeld = false;
  /** Typed while an answer is awaited. */
  #ahead = "";
  /** A mark of a paste that has come in part. */
  #begun = "";
  #timer: NodeJS.Timeout | undefined;
  #pasted: string[] | undefined;
  /** No key will come any more. */
  #isOver = false;
  /** Whether a key answers what is asked. */
  #question: ((key: string) => boolean) | undefined;

  constructor(pastes: Pastes, listener: KeyListener) {
    super();
    this.#pastes = pastes;
    this.#listener = listener;
  }

  /** From now on keys wait. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Gives the line what was typed meanwhile. */
  release(): void {
    this.#isHeld = false;
    const ahead = this.#ahead;
    this.#ahead = "";
    if (ahead !== "") this.#take(ahead);
  }

  /** Forgets what was typed ahead: after an answer that was interrupted nobody means it any more. */
  forget(): void {
    this.#ahead = "";
  }

  /**
   * The answer that the next fitting key gives; others are ignored. Ctrl+C and Escape count as keys; where the terminal
   * is gone it is Ctrl+C, which must be one.
   */
  async answer<Answer>(given: (key: string) => Answer | undefined): Promise<Answer> {
    return await new Promise((resolve) => {
      if (this.#isOver) return resolve(given(ctrlC) as Answer);
      this.#question = (key) => {
        const answer = given(key);
        if (answer !== undefined) resolve(answer);
        return answer !== undefined;
      };
    });
  }

  override _transform(chunk: Buffer | string, _encoding: BufferEncoding, done: TransformCallback): void {
    const text = typeof chunk === "string" ? chunk : this.#decoder.write(chunk);
    if (this.#question !== undefined && text !== "") {
      // What follows an answer in one go is not meant for what comes next.
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
    let rest = this.#begun + text;
    this.#begun = "";
    while (rest !== "") {
      const mark = this.#pasted === undefined ? pasteBegins : pasteEnds;
      const at = rest.indexOf(mark);
      if (at === -1) {
        const kept = partOf(mark, rest);
        this.#begun = rest.slice(rest.length - kept);
        this.#some(rest.slice(0, rest.length - kept));
        // An Escape alone is a key.
        if (kept > 0 && this.#pasted === undefined) this.#timer = setTimeout(() => this.#flush(), partMs);
        return;
      }
      this.#some(rest.slice(0, at));
      if (this.#pasted === undefined) this.#pasted = [];
      else {
        const whole = this.#pasted.join("");
        this.#pasted = undefined;
        this.push(this.#pastes.shown(whole));
      }
      rest = rest.slice(at + mark.length);
    }
  }

  #flush(): void {
    const begun = this.#begun;
    this.#begun = "";
    this.#some(begun);
  }

  /** Text between two marks. */
  #some(text: string): void {
    if (text === "") return;
    if (this.#pasted !== undefined) return void this.#pasted.push(text);
    const label = text === backspace ? this.#pastes.labelAtEnd(this.#listener.lineBeforeCursor()) : undefined;
    this.push(label === undefined ? text : backspace.repeat(label.length));
  }
}
