import { expect, test } from "vitest";
import { shortCount, shortDuration, usdText } from "../../../../src/engine/lib/words.js";
import { progressBar, say, statusLines, truncate, textWidth, wrap } from "../../../../src/engine/ui/terminal/format.js";
import { oneLine, sanitise } from "../../../../src/engine/lib/sanitise.js";

test.each([
  [0, "<1s"],
  [999, "<1s"],
  [59_999, "59s"],
  [60_000, "1m 00s"],
  [3_599_999, "59m 59s"],
  [3_660_000, "1h 01m"],
  [90_000_000, "1d 01h"],
])("%i ms are %s", (ms, text) => expect(shortDuration(ms)).toBe(text));

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1.0k"],
  [36_149, "36.1k"],
  [99_949, "99.9k"],
  [99_950, "100k"],
  [999_499, "999k"],
  [999_500, "1.0M"],
  [1_240_000, "1.2M"],
])("%i tokens are %s", (value, text) => expect(shortCount(value)).toBe(text));

test("small sums of money keep two digits that say something", () => {
  expect([0, 0.004_21, 0.01, 12.4].map(usdText)).toEqual(["$0.00", "$0.0042", "$0.01", "$12.40"]);
});

test("a bar is full only when everything is done, and survives odd numbers", () => {
  expect(progressBar(11, 12, 10)).toBe("█████████░");
  expect(progressBar(12, 12, 10)).toBe("██████████");
  expect(progressBar(0, 0, 4)).toBe("░░░░");
  expect(progressBar(9, 3, 4)).toBe("████");
});

test("the width of a text counts what the terminal shows", () => {
  expect(textWidth("abc")).toBe(3);
  expect(textWidth("抓取")).toBe(4);
  expect(textWidth("e\u0301")).toBe(1);
});

test("a cut text fits and says that it was cut", () => {
  expect(truncate("grasping", 8)).toBe("grasping");
  expect(truncate("grasping", 5)).toBe("gras…");
  expect(textWidth(truncate("抓取抓取", 4))).toBeLessThanOrEqual(4);
  expect(truncate("grasping", 0)).toBe("");
});

test("wrapping breaks at spaces and loses no word", () => {
  const text = "one two three four five six";
  const lines = wrap(text, 10);
  expect(lines.every((line) => line.length <= 10)).toBe(true);
  expect(lines.join(" ")).toBe(text);
});

test("a number is not broken at its no-break spaces", () => {
  const text = "We asked 2\u202f010 parents and 12\u00a0500 pupils.";
  for (const columns of [10, 12, 14]) {
    const lines = wrap(oneLine(text), columns);
    expect(lines.join(" ")).toBe(text);
    expect(lines.join("\n")).toMatch(/2\u202f010[^]*12\u00a0500/);
  }
});

test("a command of ours in quotes is never broken: people copy it", () => {
  const command = "'research-ralph run hands -p 40 --force'";
  const text = `Raise the target with ${command}; then it goes on.`;
  for (const columns of [10, 40, 60]) {
    const lines = wrap(text, columns);
    expect(lines.filter((line) => line.includes(command))).toHaveLength(1);
    expect(lines.join(" ")).toBe(text);
    expect(lines.every((line) => line.length <= columns || !line.includes(" ") || line.includes(command))).toBe(true);
  }
});

test("wrapping breaks between signs of scripts without spaces, and parts no mark from its sign", () => {
  const text = "我们（在三个地点）没有发现“证据”，结束。 Then in English.";
  const lines = wrap(text, 10);
  expect(lines.every((line) => textWidth(line) <= 11)).toBe(true);
  expect(lines.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
  for (const line of lines) expect(line).not.toMatch(/^[）”，。]|[（“]$/);
});

test("a sentence on stderr is broken at words on a terminal, behind its label, and stays one line in a log", () => {
  const said = (isTTY: boolean, label?: string) => {
    let text = "";
    say({ isTTY, columns: 31, stderr: (more) => void (text += more) }, "one two three\nfour five six seven", label);
    return text;
  };
  expect(said(true)).toBe("one two three four five six\nseven\n");
  expect(said(true, "  Undo   ")).toBe("  Undo   one two three four\n         five six seven\n");
  expect(said(false, "  Undo   ")).toBe("  Undo   one two three four five six seven\n");
});

test("the rows of a status stand below each other behind their label", () => {
  expect(statusLines("Last run", "complete: all papers are read", 34)).toEqual([
    "  Last run   complete: all papers",
    "             are read",
  ]);
});

test("text of others loses everything that would act on a terminal, and keeps its words", () => {
  expect(sanitise("a\u001b[31mb\u001b[0m\u0007c\u009bd\r\ne\tf")).toBe("abcd\ne\tf");
  expect(sanitise("x\u001b]8;;http://evil\u0007link\u001b]8;;\u0007y")).toBe("xlinky");
  expect(sanitise("safe\u202eevil\u2066")).toBe("safeevil");
  expect(sanitise("a\u007fb\u0085c\u200bd\u{e0041}e")).toBe("abcde");
  expect(sanitise("می\u200cخواهم, 👩\u200d🔬")).toBe("می\u200cخواهم, 👩\u200d🔬");
  expect(oneLine("  two\r\n lines\tand\u0000 more ")).toBe("two lines and more");
  expect(oneLine("a\rb\vc\fd\u0085e\u2028f\u2029g")).toBe("a b c d e f g");
});
