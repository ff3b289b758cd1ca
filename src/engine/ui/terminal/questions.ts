import { oneLine } from "../../lib/sanitise.js";
import type { Keyboard } from "./keyboard.js";

/** Something that waits for a person's yes or no. */
export interface Question {
  /** What waits, a few words: "AGENTS.md". */
  readonly about: string;
  /** How to answer without a key: a command. */
  readonly otherwise: string;
  /** What the person is to see before they answer, a line each, whole. */
  readonly shows: readonly string[];
  /** What a yes does, as a question. */
  readonly asks: string;
  /** Does it, and says what came of it, one sentence; throws ExpectedError where it can't. */
  answer(yes: boolean): Promise<string>;
}

/** The first thing that waits for an answer; undefined where nothing does. */
export type Questions = () => Promise<Question | undefined>;

interface View {
  /** `permanent`: lines that stay above the live ones. */
  paint(permanent?: readonly string[]): void;
  /** Shows the cursor again, before the job is stopped. */
  release(): void;
}

/** What waits for a person during a live view, and their keys. */
export interface Asking {
  /** Looks whether something waits. Never throws. */
  look(): Promise<void>;
  /** The live line; undefined where nothing waits. */
  line(): string | undefined;
  close(): void;
}

const [ctrlC, ctrlZ, ctrlBackslash, escape] = ["\u0003", "\u001a", "\u001c", "\u001b"];

/** The key that shows what waits. */
const lookKey = "a";

/** Asks a person on the terminal; keys are read only while something waits. */
export function askOn(questions: Questions, keyboard: Keyboard | undefined, view: View): Asking {
  let waiting: Question | undefined;
  /** What is shown, and awaits y or n. */
  let shown: Question | undefined;
  let stopListening: (() => void) | undefined;
  let [isBusy, isLooking, isClosed] = [false, false, false];
  let answered = 0;

  function stop(): void {
    stopListening?.();
    stopListening = undefined;
  }

  async function look(): Promise<void> {
    if (isBusy || isLooking || isClosed || shown !== undefined) return;
    isLooking = true;
    const before = answered;
    const found = await questions().catch(() => undefined);
    isLooking = false;
    // A key may have come meanwhile: what it shows stays, and what it has answered waits no more.
    if (isBusy || isClosed || shown !== undefined || answered !== before) return;
    const isNew = found?.about !== waiting?.about;
    waiting = found;
    if (waiting === undefined) stop();
    else stopListening ??= keyboard?.listen((key) => void press(key));
    if (isNew) view.paint();
  }

  async function press(key: string): Promise<void> {
    if (key === ctrlC || key === ctrlBackslash) return keyboard?.send(key === ctrlC ? "SIGINT" : "SIGQUIT");
    if (key === ctrlZ) {
      stop();
      shown = undefined;
      view.release();
      return keyboard?.send("SIGTSTP");
    }
    if (isBusy || waiting === undefined) return;
    if (shown === undefined) {
      if (key.toLowerCase() !== lookKey) return;
      shown = waiting;
      return view.paint(["", ...shown.shows.map(oneLine), ""]);
    }
    const word = key.toLowerCase();
    if (word !== "y" && word !== "n" && key !== escape) return;
    const question = shown;
    shown = undefined;
    if (key === escape) return view.paint();
    isBusy = true;
    const said = await question.answer(word === "y").catch((error: unknown) => String((error as Error).message));
    isBusy = false;
    answered += 1;
    if (isClosed) return;
    waiting = undefined;
    view.paint([`· ${oneLine(said)}`]);
    await look();
  }

  return {
    look,
    line() {
      if (shown !== undefined) return `${shown.asks} y/n, Esc: later`;
      if (waiting === undefined) return undefined;
      const how = stopListening === undefined ? waiting.otherwise : `${lookKey}: show it`;
      return `${waiting.about} waits for your approval · ${how}`;
    },
    close() {
      isClosed = true;
      stop();
    },
  };
}
