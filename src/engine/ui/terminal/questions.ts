import { oneLine } from "../../lib/sanitise.js";
import type { Keyboard } from "./keyboard.js";

/** A question that the user answers with yes or no. */
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

/** Finds the first question without an answer; undefined if all are answered. */
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
export function askOnTerminal(questions: Questions, keyboard: Keyboard | undefined, view: View): Asking {
  let pendingQuestion: Question | undefined;
  /** The question on the screen, for which the user presses y or n. */
  let shownQuestion: Question | undefined;
  let stopListening: (() => void) | undefined;
  let [isBusy, isLooking, isClosed] = [false, false, false];
  let answerCount = 0;

  function stop(): void {
    stopListening?.();
    stopListening = undefined;
  }

  async function look(): Promise<void> {
    if (isBusy || isLooking || isClosed || shownQuestion !== undefined) return;
    isLooking = true;
    const countBefore = answerCount;
    const newQuestion = await questions().catch(() => undefined);
    isLooking = false;
    // The user may have pressed a key meanwhile: then a question is on the screen, or was answered.
    if (isBusy || isClosed || shownQuestion !== undefined || answerCount !== countBefore) return;
    const isNew = newQuestion?.about !== pendingQuestion?.about;
    pendingQuestion = newQuestion;
    if (pendingQuestion === undefined) stop();
    else stopListening ??= keyboard?.listen((key) => void press(key));
    if (isNew) view.paint();
  }

  async function press(key: string): Promise<void> {
    if (key === ctrlC || key === ctrlBackslash) return keyboard?.send(key === ctrlC ? "SIGINT" : "SIGQUIT");
    if (key === ctrlZ) {
      stop();
      shownQuestion = undefined;
      view.release();
      return keyboard?.send("SIGTSTP");
    }
    if (isBusy || pendingQuestion === undefined) return;
    if (shownQuestion === undefined) {
      if (key.toLowerCase() !== lookKey) return;
      shownQuestion = pendingQuestion;
      return view.paint(["", ...shownQuestion.shows.map(oneLine), ""]);
    }
    const lowerKey = key.toLowerCase();
    if (lowerKey !== "y" && lowerKey !== "n" && key !== escape) return;
    const question = shownQuestion;
    shownQuestion = undefined;
    if (key === escape) return view.paint();
    isBusy = true;
    const message = await question.answer(lowerKey === "y").catch((error: unknown) => String((error as Error).message));
    isBusy = false;
    answerCount += 1;
    if (isClosed) return;
    pendingQuestion = undefined;
    view.paint([`· ${oneLine(message)}`]);
    await look();
  }

  return {
    look,
    line() {
      if (shownQuestion !== undefined) return `${shownQuestion.asks} y/n, Esc: later`;
      if (pendingQuestion === undefined) return undefined;
      const hint = stopListening === undefined ? pendingQuestion.otherwise : `${lookKey}: show it`;
      return `${pendingQuestion.about} waits for your approval · ${hint}`;
    },
    close() {
      isClosed = true;
      stop();
    },
  };
}
