import fc from "../../support/runner/fast-check.js";
import { describe, expect, it } from "vitest";
import { splitLines } from "../../../src/engine/process/lines.js";

function all(chunks: readonly Buffer[], most = 1000): string[] {
  const splitter = splitLines(most);
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
}

describe("splitLines", () => {
  it("gives the same lines wherever the chunks are cut", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "é", "漢", "😀", "\n") }), fc.nat(), (text, cut) => {
        const bytes = Buffer.from(text);
        const at = cut % (bytes.length + 1);
        const whole = text.endsWith("\n") ? text.split("\n").slice(0, -1) : text === "" ? [] : text.split("\n");
        expect(all([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
      }),
    );
  });

  it("takes CRLF for a line end", () => {
    expect(all([Buffer.from("a\r"), Buffer.from("\nb\r\n")])).toEqual(["a", "b"]);
  });

  it("gives a thousand empty lines in a row, and what stands behind more of them", () => {
    const noise = Buffer.alloc(5000, "\n");
    const lines = all([Buffer.from("a\n"), noise, noise, Buffer.from("b\n\nc")]);
    expect([lines.length, lines[0], lines.slice(-3)]).toEqual([1004, "a", ["b", "", "c"]]);
  });

  it("cuts a long line with a note and reads the next one whole", () => {
    expect(all([Buffer.from("12345"), Buffer.from("67890\nnext")], 7)).toEqual([
      "1234567 [cut: the line was longer than 7 characters]",
      "next",
    ]);
  });
});
