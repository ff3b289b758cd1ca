import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import fc from "../../support/runner/fast-check.js";
import { oneLine, sanitise, shellWord } from "../../../src/engine/lib/sanitise.js";

test.each(["/home/me/researches/a-1", "/My Papers/Über uns", 'a "b" $HOME `id` \\ c', "it's"])(
  "%s is one word to a shell",
  (path) => {
    expect(execFileSync("sh", ["-c", `printf %s ${shellWord(path)}`], { encoding: "utf8" })).toBe(path);
  },
);

test("a plain path stays as it is", () => {
  expect(shellWord("/home/me/researches/a-1")).toBe("/home/me/researches/a-1");
});

test("a number keeps its no-break spaces on one line, and all other spaces become one", () => {
  expect(oneLine("2\u202f010\u00a0000\nparents,\u00a0 3\u202f%")).toBe("2\u202f010\u00a0000 parents, 3\u202f%");
  expect(oneLine("3\u00a0\u00a04\u202fm, a\u00a0b")).toBe("3 4 m, a b");
});

test("a text is put on one line the same way whether or not it was looked at first", () => {
  const sign = fc.constantFrom(
    " ",
    "\t",
    "\n",
    "\r",
    "\u00a0",
    "\u2028",
    "\u200b",
    "\u202e",
    "\u001b[31m",
    "a",
    "é",
    "ن",
    "~",
  );
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 8 }), (signs) => {
      const text = signs.join("");
      const whole = sanitise(text.replace(/\r\n|[\r\v\f\u0085\u2028\u2029]/g, "\n"));
      expect(oneLine(text)).toBe(whole.replace(/\s+/gu, " ").trim());
    }),
  );
});
