import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellWord } from "../../../src/engine/lib/sanitise.js";

test.each(["/home/me/researches/a-1", "/My Papers/Über uns", 'a "b" $HOME `id` \\ c', "it's"])(
  "%s is one word to a shell",
  (path) => {
    expect(execFileSync("sh", ["-c", `printf %s ${shellWord(path)}`], { encoding: "utf8" })).toBe(path);
  },
);

test("a plain path stays as it is", () => {
  expect(shellWord("/home/me/researches/a-1")).toBe("/home/me/researches/a-1");
});
