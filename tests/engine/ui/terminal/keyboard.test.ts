import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { isInBackground, isInForeground, keyboardOf } from "../../../../src/engine/ui/terminal/keyboard.js";

it("a job has the terminal where its process group is the terminal's, whatever its program is called", () => {
  expect(isInForeground("812 (node) S 700 812 700 34816 812 4194304 1 2")).toBe(true);
  expect(isInForeground("812 (a) S 1 2 3 4 5 (b) S 700 812 700 34816 812 4194304")).toBe(true);
  expect(isInForeground("812 (node) S 700 812 700 34816 700 4194304 1 2")).toBe(false);
  expect(isInForeground("812 (node) S 700 812 812 0 -1 4194304 1 2")).toBe(false);
  expect(isInForeground("")).toBe(false);
});

it("a job is in the background where its terminal belongs to another one; without a terminal it is not", () => {
  expect(isInBackground("812 (node) S 700 812 700 34816 700 4194304 1 2")).toBe(true);
  expect(isInBackground("812 (node) S 700 812 700 34816 812 4194304 1 2")).toBe(false);
  expect(isInBackground("812 (node) S 700 812 812 0 -1 4194304 1 2")).toBe(false);
  expect(isInBackground("")).toBe(false);
});

it("a terminal that is another job's, or none, is not touched", () => {
  // Where the tests have one of their own there is nothing to see here.
  if (isInForeground(readFileSync("/proc/self/stat", "utf8"))) return;
  const modes: boolean[] = [];
  const stdin = Object.assign(new EventEmitter(), {
    setRawMode: (mode: boolean) => void modes.push(mode),
    resume: () => undefined,
    pause: () => undefined,
  });
  const keyboard = keyboardOf(stdin as unknown as Parameters<typeof keyboardOf>[0]);
  expect(keyboard.listen(() => undefined)).toBeUndefined();
  expect(modes).toEqual([]);
});
