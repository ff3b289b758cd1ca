import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { ExpectedError } from "../../../../src/engine/lib/errors.js";
import type { Keyboard } from "../../../../src/engine/ui/terminal/keyboard.js";
import { askOnTerminal, type Question } from "../../../../src/engine/ui/terminal/questions.js";
import { scriptedKeyboard } from "../scripted-keyboard.js";

/** What waits, one after the other, and what is painted. */
function asking(waiting: Question[], keyboard?: Keyboard) {
  const painted: string[] = [];
  const released: true[] = [];
  const view = {
    paint: (permanent: readonly string[] = []) => void painted.push(...permanent),
    showCursor: () => void released.push(true),
  };
  const asked = askOnTerminal(() => Promise.resolve(waiting[0]), keyboard, view);
  return { asked, painted, released };
}

function question(about: string, waiting: Question[], fails = false): { it: Question; answers: boolean[] } {
  const answers: boolean[] = [];
  const it: Question = {
    subject: about,
    answerCommand: "do approve",
    detailLines: [`${about} changed:`, "+ Always give 5."],
    text: `Let briefs use ${about}?`,
    answer: async (yes) => {
      if (fails) throw new ExpectedError("The disk is full.");
      answers.push(yes);
      waiting.shift();
      return yes ? "approved" : "as before";
    },
  };
  return { it, answers };
}

it("the keyboard is read only while something waits", async () => {
  const waiting: Question[] = [];
  const keys = scriptedKeyboard();
  const { asked } = asking(waiting, keys);
  await asked.update();
  expect([keys.isRead(), asked.line()]).toEqual([false, undefined]);
  const one = question("AGENTS.md", waiting);
  waiting.push(one.it);
  await asked.update();
  expect([keys.isRead(), asked.line()]).toEqual([true, "AGENTS.md waits for your approval · a: show it"]);
  keys.press("a", "y");
  await turn();
  expect(one.answers).toEqual([true]);
  expect([keys.isRead(), asked.line()]).toEqual([false, undefined]);
});

it("a key counts also while it is looked what waits, and what it answered is not asked again", async () => {
  const waiting: Question[] = [];
  const one = question("AGENTS.md", waiting);
  waiting.push(one.it);
  const keys = scriptedKeyboard();
  const looks: (() => void)[] = [];
  const view = { paint: () => undefined, showCursor: () => undefined };
  const asked = askOnTerminal(
    () => {
      const [found] = waiting;
      return new Promise((resolve) => void looks.push(() => resolve(found)));
    },
    keys,
    view,
  );
  const first = asked.update();
  looks.shift()?.();
  await first;
  const second = asked.update();
  keys.press("a");
  expect(asked.line()).toBe("Let briefs use AGENTS.md? y/n, Esc: later");
  keys.press("y");
  await turn();
  expect(one.answers).toEqual([true]);
  // It was looked before the answer, and tells of it only now.
  for (const told of looks.splice(0)) told();
  await second;
  expect(asked.line()).toBeUndefined();
  const third = asked.update();
  for (const told of looks.splice(0)) told();
  await third;
  expect(keys.isRead()).toBe(false);
});

it("what waits is shown before y or n counts, Escape puts it off, and the next one follows", async () => {
  const waiting: Question[] = [];
  const keys = scriptedKeyboard();
  const [first, second] = [question("AGENTS.md", waiting), question("prompt.md", waiting)];
  waiting.push(first.it, second.it);
  const { asked, painted } = asking(waiting, keys);
  await asked.update();
  keys.press("y", "n", "\r", "\u001b[A");
  expect([painted, first.answers]).toEqual([[], []]);
  keys.press("a");
  expect(painted).toEqual(["", "AGENTS.md changed:", "+ Always give 5.", ""]);
  expect(asked.line()).toBe("Let briefs use AGENTS.md? y/n, Esc: later");
  keys.press("\u001b", "y");
  expect(first.answers).toEqual([]);
  keys.press("a", "x", "n");
  await turn();
  expect(first.answers).toEqual([false]);
  expect(painted.at(-1)).toBe("· as before");
  expect(asked.line()).toBe("prompt.md waits for your approval · a: show it");
  expect(keys.isRead()).toBe(true);
  asked.close();
  expect(keys.isRead()).toBe(false);
});

it("Ctrl+C, Ctrl+Z and Ctrl+\\ do what they do on any terminal, also while a question stands", async () => {
  const waiting: Question[] = [];
  waiting.push(question("AGENTS.md", waiting).it);
  const keys = scriptedKeyboard();
  const { asked, released } = asking(waiting, keys);
  await asked.update();
  keys.press("\u0003", "a", "\u0003", "\u001c");
  expect(keys.sent).toEqual(["SIGINT", "SIGINT", "SIGQUIT"]);
  keys.press("\u001a");
  expect(keys.sent.at(-1)).toBe("SIGTSTP");
  expect([keys.isRead(), released]).toEqual([false, [true]]);
  // Once the job has the terminal again.
  await asked.update();
  expect(keys.isRead()).toBe(true);
});

it("without a keyboard, or while another job has the terminal, the line names the command", async () => {
  const waiting: Question[] = [];
  waiting.push(question("AGENTS.md", waiting).it);
  for (const keyboard of [undefined, { ...scriptedKeyboard(), listen: () => undefined }]) {
    const { asked } = asking(waiting, keyboard);
    await asked.update();
    expect(asked.line()).toBe("AGENTS.md waits for your approval · do approve");
  }
});

it("an answer that can't be kept is told, and it waits on", async () => {
  const waiting: Question[] = [];
  waiting.push(question("AGENTS.md", waiting, true).it);
  const keys = scriptedKeyboard();
  const { asked, painted } = asking(waiting, keys);
  await asked.update();
  keys.press("a", "y");
  await turn();
  await turn();
  expect(painted.at(-1)).toBe("· The disk is full.");
  expect(asked.line()).toBe("AGENTS.md waits for your approval · a: show it");
});
