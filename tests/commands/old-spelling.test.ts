import { expect, test } from "vitest";
import { withCommandFirst } from "../../src/commands/command-line/old-spelling.js";

const surroundings = {
  commands: ["run", "new", "status", "reset", "config", "help"],
  optionsWithValue: new Set(["-p", "--agent", "--papers"]),
  kindOf: (word: string) =>
    word.startsWith("researches/")
      ? ("project" as const)
      : /\/$|\.ris$/.test(word)
        ? ("documents" as const)
        : undefined,
};

test.each([
  ["", "run"],
  ["--agent codex", "run --agent codex"],
  ["run researches/a -p 30", "run researches/a -p 30"],
  ["--new topic -p 30", "new topic -p 30"],
  ["-p 30 --agent amp --new topic", "new topic -p 30 --agent amp"],
  ["--new=topic", "new topic"],
  ["--run researches/a --papers 30 --force", "run researches/a --papers 30 --force"],
  ["--list", "status --all"],
  ["list --json", "status --all --json"],
  ["brief researches/a --json", "show researches/a --json next"],
  ["patterns researches/a --accept 2", "show researches/a --accept 2 patterns"],
  ["approve researches/a --reject", "trust --edits researches/a --reject"],
  ["export researches/a --as csv", "report --as= researches/a --as csv"],
  ["duplicates researches/a", "join researches/a"],
  ["--agent codex brief", "show --agent codex next"],
  ["help resume", "help stop"],
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
  ["--agent codex researches/a", "run researches/a --agent codex"],
  ["--agent codex new topic", "new topic --agent codex"],
  ["does simulation prepare hands --quick", "begin does simulation prepare hands --quick"],
  ["--agent codex does simulation prepare hands", "begin does simulation prepare hands --agent codex"],
  ["papers/ --yes", "begin papers/ --yes"],
  ["one.ris two.ris -p 7", "begin one.ris two.ris -p 7"],
  ["sim2real transfer", "sim2real transfer"],
  ["staus of it", "staus of it"],
])("%j means %j", (typed, meant) => {
  expect(withCommandFirst(typed === "" ? [] : typed.split(" "), surroundings).join(" ")).toBe(meant);
});

test("a question in quotes is one, whatever words it holds and wherever it stands", () => {
  const question = "how do hospitals report and list incidents?";
  expect(withCommandFirst([question, "--yes"], surroundings)).toEqual(["begin", question, "--yes"]);
  expect(withCommandFirst(["--agent", "codex", question], surroundings)).toEqual([
    ...["begin", question, "--agent", "codex"],
  ]);
  // The value of an option is no question.
  expect(withCommandFirst(["--agent", "cmd:./my agent here"], surroundings)[0]).toBe("run");
});
