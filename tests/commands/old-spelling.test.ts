import { expect, test } from "vitest";
import { withCommandFirst } from "../../src/commands/old-spelling.js";

const surroundings = {
  commands: ["run", "new", "list", "status", "reset", "config", "help"],
  isFolder: (word: string) => word.startsWith("researches/"),
};

test.each([
  ["", "run"],
  ["--agent codex", "run --agent codex"],
  ["run researches/a -p 30", "run researches/a -p 30"],
  ["--new topic -p 30", "new topic -p 30"],
  ["-p 30 --agent amp --new topic", "new topic -p 30 --agent amp"],
  ["--new=topic", "new topic"],
  ["--run researches/a --papers 30 --force", "run researches/a --papers 30 --force"],
  ["--list", "list"],
  ["--status researches/a", "status researches/a"],
  ["--reset=researches/a", "reset researches/a"],
  ["--config papers=30", "config papers=30"],
  ["--config=papers=30", "config papers=30"],
  ["--config=", "config"],
  ["--config", "config"],
  ["researches/a", "run researches/a"],
  ["researches/a 12 --agent amp", "run researches/a -i 12 --agent amp"],
  ["researches/a -p 30", "run researches/a -p 30"],
  ["-h", "--help"],
  ["lsit", "lsit"],
  ["new --list", "new --list"],
])("%j means %j", (typed, meant) => {
  expect(withCommandFirst(typed === "" ? [] : typed.split(" "), surroundings).join(" ")).toBe(meant);
});
