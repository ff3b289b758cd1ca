import { describe, expect, test } from "vitest";
import { block, cell, inline, line } from "../../../src/research/project-files/markdown.js";

describe("prose of an agent", () => {
  test.each([
    "Plain prose, with 87.5 % & more.",
    "*Emphasis*, **strong** and ***both***; a_b_c and 2 * 3.",
    "`code` and ``code with ` in it``.",
    "$x_1$ and $$\\sum_{i=1}^{n} x_i^2$$, f(x) and A[i].",
    "As [3, 4] say, [12] first; see [the page] (https://example.org/a_(b)).",
    "https://example.org/x and C:\\path, #1, 1.5, ~10 and a | b.",
    "- one - two",
    "1. First",
    "> said",
    "[x] is done: see below",
  ])("stays as it is: %s", (text) => {
    for (const render of [inline, line, block]) expect(render(text)).toBe(text);
  });

  test("keeps its paragraphs", () => {
    expect(block("One\nline.\n\n\nTwo.\r\n\r\nThree.\n\n \n")).toBe("One line.\n\nTwo.\n\nThree.");
  });
});

describe("text that begins a line", () => {
  test.each([
    ["````", "\\````"],
    ["~~~js", "\\~~~js"],
    ["- ```", "- \\```"],
    [">> 1. ~~~", ">> 1. \\~~~"],
    ["# A heading", "\\# A heading"],
    ["> ###### A heading", "> \\###### A heading"],
    ["##", "\\##"],
    ["| a | b |", "\\| a | b |"],
    ["===", "\\==="],
    ["---", "\\---"],
    ["* * *", "\\* * *"],
    ["- - -", "\\- - -"],
    ["___", "\\___"],
    ["[ref]: http://example.org", "[ref]\\: http://example.org"],
    ["1) [a\\]b]: x", "1) [a\\]b]\\: x"],
  ])("starts nothing that the rest of the page would be part of: %s", (text, shown) => {
    expect(line(text)).toBe(shown);
    expect(block(`Before.\n\n${text}\n\nAfter.`)).toBe(`Before.\n\n${shown}\n\nAfter.`);
  });
});

describe("anywhere in a text", () => {
  test.each([
    ["![px](https://evil.example/p.png)", "!\\[px]\\(https://evil.example/p.png)"],
    ["\\![px](https://evil.example/p.png)", "\\!\\[px]\\(https://evil.example/p.png)"],
    ["![px][1]", "!\\[px][1\\]"],
    ["[1]", "[1\\]"],
    ["[1\\]", "[1\\]"],
    ["[x](javascript:alert(1))", "[x]\\(javascript:alert(1))"],
    ["[x]( JavaScript:alert(1))", "[x]\\( JavaScript:alert(1))"],
    ["[x](&#106;avascript:alert(1))", "[x]\\(&#106;avascript:alert(1))"],
    ["[x](&lt;data:text/html,x>)", "[x]\\(&lt;data:text/html,x>)"],
    [
      "[x](file:///etc/passwd) [y](../secret) [z](//evil.example)",
      "[x]\\(file:///etc/passwd) [y]\\(../secret) [z]\\(//evil.example)",
    ],
  ])("nothing is fetched, and no link leads anywhere: %s", (text, shown) => {
    for (const render of [inline, line, block]) expect(render(text)).toBe(shown);
  });

  test("no tag is one, and no character moves a cursor or turns the text around", () => {
    expect(inline("<script>\u001b]52;c;ZQ==\u0007\u009b31m\u202ea\u2066b\u0085c\u007f")).toBe("&lt;script>ab c");
  });
});

describe("a cell of a table", () => {
  test("is the text it was given, whatever bars and backslashes stand in them", () => {
    expect(cell("a | b")).toBe("a \\| b");
    expect(cell("a \\| b \\\\| c")).toBe("a \\| b \\| c");
    expect(cell("z\nw")).toBe("z w");
  });
});
