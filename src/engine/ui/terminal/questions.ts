import { oneLine } from "../../lib/sanitise.js";
import type { Keyboard } from "./keyboard.js";

/** A question that the user answers with yes or no. */
export interface Question {
  /** The subject of the question in a few words: "AGENTS.md". */
  readonly subject: string;
  /** The command that answers the question from another terminal. */
  readonly answerCommand: string;
  /** Lines that the user must see in full before the answer. */
  readonly detailLines: readonly string[];
  /** The question; it says what happens after a yes. */
  readonly text: string;
  /** Carries out the answer and returns the result as one sentence. Throws ExpectedError if that fails. */
  answer(yes: boolean): Promise<string>;
}

/** Finds the first question without an answer; undefined if all are answered. */
export type Questions = () => Promise<Question | undefined>;

interface View {
  /** Repaints the view. `permanent`: lines that stay above the live lines. */
  paint(permanent?: readonly string[]): void;
  /** Shows the cursor, before the job is stopped. */
  showCursor(): void;
}

/** Shows a question that waits for the user in a live view, and reads the keys that answer it. */
export interface Prompt {
  /** Checks whether a question waits. Never throws. */
  update(): Promise<void>;
  /** The live line; undefined if no question waits. */
  line(): string | undefined;
  close(): void;
}

const [ctrlC, ctrlZ, ctrlBackslash, escape] = ["\u0003", "\u001a", "\u001c", "\u001b"];

/** The key that shows the question with its details. */
const detailsKey = "a";

/** Asks the user on the terminal. Keys are read only while a question waits. */
export function askOnTerminal(questions: Questions, keyboard: Keyboard | undefined, view: View): Prompt {
  let pendingQuestion: Question | undefined;
  /** The question whose details are on the screen; the user answers it with y or n. */
  let shownQuestion: Question | undefined;
  let stopListening: (() => void) | undefined;
  let [isBusy, isUpdating, isClosed] = [false, false, false];
  let answerCount = 0;

  function stopKeys(): void {
    stopListening?.();
    stopListening = undefined;
  }

  async function update(): Promise<void> {
    if (isBusy || isUpdating || isClosed || shownQuestion !== undefined) return;
    isUpdating = true;
    const countBefore = answerCount;
    const newQuestion = await questions().catch(() => undefined);
    isUpdating = false;
    // The user may have pressed a key while `questions` ran; then a question is shown, or was answered.
    if (isBusy || isClosed || shownQuestion !== undefined || answerCount !== countBefore) return;
    const isNew = newQuestion?.subject !== pendingQuestion?.subject;
    pendingQuestion = newQuestion;
    if (pendingQuestion === undefined) stopKeys();
    else stopListening ??= keyboard?.listen((key) => void press(key));
    if (isNew) view.paint();
  }

  async function press(key: string): Promise<void> {
    if (key === ctrlC || key === ctrlBackslash) return keyboard?.send(key === ctrlC ? "SIGINT" : "SIGQUIT");
    if (key === ctrlZ) {
      stopKeys();
      shownQuestion = undefined;
      view.showCursor();
      return keyboard?.send("SIGTSTP");
    }
    if (isBusy || pendingQuestion === undefined) return;
    if (shownQuestion === undefined) {
      if (key.toLowerCase() !== detailsKey) return;
      shownQuestion = pendingQuestion;
      return view.paint(["", ...shownQuestion.detailLines.map(oneLine), ""]);
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
    await update();
  }

  return {
    update: update,
    line() {
      if (shownQuestion !== undefined) return `${shownQuestion.text} y/n, Esc: later`;
      if (pendingQuestion === undefined) return undefined;
      const hint = stopListening === undefined ? pendingQuestion.answerCommand : `${detailsKey}: show it`;
      return `${pendingQuestion.subject} waits for your approval · ${hint}`;
    },
    close() {
      isClosed = true;
      stopKeys();
    },
  };
}
